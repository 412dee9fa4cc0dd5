"""Maximum likelihood by counting: a semi-Markov model whose parts are fitted to the right segments one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from margent.capability import Capabilities, Capability
from margent.learners.base import Learner
from margent.learners.gaussians import Gaussian, bin_shares, fit_mixture, gamma_weights, markov_weights, statistics
from margent.parameters import check_number, check_whole

REALIGNMENTS = 10
"""How often labels without times are put where they fit best, and counted there."""

Rows = NDArray[np.int32]
Parts = dict[str, NDArray[np.float64]]
"""Weights: content (statistics, columns), durations (features, L), transitions (L, L), start (L,), end (L,)."""


@dataclass(frozen=True)
class FrameStatistics:
    """Sequences of frames, and what a model of segments with L labels sees of them.

    frames, sequence_ptr : (n, D), of which sequence s is [sequence_ptr[s], sequence_ptr[s + 1])
    bins : (L,) into how many parts a segment of each label is cut
    components : Gaussians for each label and bin
    full : all products of two values of a frame, or only squares
    mean : statistics are averaged over each bin instead of added up
    gamma : durations have the features log d, d and 1, or none
    shape : (statistics, columns) of the weights of content; `columns[label, bin]` are those of its components
    """

    frames: NDArray[np.float32]
    sequence_ptr: NDArray[np.int64]
    bins: Sequence[int]
    components: int
    full: bool
    mean: bool
    gamma: bool
    shape: tuple[int, int]
    columns: NDArray[np.int32]


@dataclass(frozen=True)
class MaximumLikelihood(Learner):
    """The generative semi-Markov model (paper 002, section 4): where large-margin training begins, and its baseline.

    Frames of each label and bin are Gaussian, durations of each label gamma distributed, labels a Markov chain; all are
    fitted to the right segments by counting, without any search. For a `Segmenter` of frames: as its learner, or as
    the start of another one, which is what it does unless told otherwise.

    With several components the frames of a bin are split in as many parts by k-means, and each frame belongs to the one
    that gives it the largest density (classification EM, `rounds` times).
    """

    shrinkage: float = field(
        default=20.0,
        metadata={"help": "shrink each covariance towards the overall one, as if it had been seen in this many frames"},
    )
    smoothing: float = field(default=0.5, metadata={"help": "added to each count of one label after another"})
    rounds: int = field(default=10, metadata={"help": "rounds of reassigning frames to components"})

    def __post_init__(self) -> None:
        for name in ("shrinkage", "smoothing"):
            check_number(self, name, minimum=0, above=True)
        check_whole(self, "rounds", minimum=1)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.FRAME_STATISTICS})

    def fitted(
        self,
        data: FrameStatistics,
        segments: Sequence[Rows | None],
        labels: Sequence[Sequence[int]],
        sample_weight: NDArray[np.float64],
        *,
        align: Callable[[Parts], list[Rows]],
        align_all: bool,
        seed: int,
    ) -> Parts:
        """The weights for right segments (J, 3) of begin, end and label; None where only the `labels` are known.

        If none has times, labels are spread evenly over each sequence (the flat start of speech recognition), counted,
        put where they fit best by `align`, counted again, until nothing moves or ten times. With `align_all` the same
        is done with the sequences that have no times, beginning with those that have.
        """

        def counted(rows: Sequence[Rows | None]) -> Parts:
            """The model of those that have times; the others count nothing."""
            there = np.where([each is not None for each in rows], sample_weight, 0.0)
            return self.counted(data, [_NONE if each is None else each for each in rows], there, seed)

        timed = any(rows is not None and len(rows) for rows in segments)
        lengths = np.diff(data.sequence_ptr).tolist()
        spread = [_spread(*each) if rows is None else rows for rows, each in zip(segments, zip(labels, lengths))]
        begun = counted(segments if timed else spread)
        if all(rows is not None for rows in segments) or (timed and not align_all):
            return begun
        before: list[Rows] | None = None
        for _ in range(REALIGNMENTS):
            found = align(begun)
            if before is not None and all(map(np.array_equal, found, before)):
                break
            before = found
            begun = counted([own if rows is None else rows for rows, own in zip(segments, found)])
        return begun

    def counted(
        self, data: FrameStatistics, segments: Sequence[Rows], sample_weight: NDArray[np.float64], seed: int
    ) -> Parts:
        """The weights for segments with times: `segments` (J, 3) of each sequence, which counts sample_weight (n,)."""
        random = np.random.default_rng(seed)
        content = np.zeros(data.shape)
        offsets = data.sequence_ptr[:-1]
        moved = [rows + np.array([offset, offset, 0]) for rows, offset in zip(segments, offsets)]
        rows = np.concatenate(moved) if moved else np.zeros((0, 3), dtype=np.int64)
        weights = np.repeat(sample_weight, [len(s) for s in segments])  # of segments
        frames, n_labels, n_values = data.frames, len(data.bins), data.frames.shape[1]
        overall = np.cov(frames.astype(np.float64).T, bias=True).reshape(n_values, -1) + 1e-6 * np.eye(n_values)
        # Means do not add up to the log-likelihood of frames: a segment would cost or gain the same however short, and
        # there would be as few or as many as can be. So Gaussians are compared with that of all frames, weighed as a
        # segment of usual length would be, and what a right segment gains on average is taken away again.
        total = 0.0
        usual = float(np.average(rows[:, 1] - rows[:, 0], weights=weights)) if weights.any() else 1.0
        everything = Gaussian(np.zeros(n_values), overall).weights(data.full)
        background = everything if data.mean else np.zeros(data.shape[0])
        durations = np.zeros((3 if data.gamma else 0, n_labels))
        for label, bins in enumerate(data.bins):
            own, own_weights = rows[rows[:, 2] == label], weights[rows[:, 2] == label]
            lasting = (own[:, 1] - own[:, 0]).astype(np.float64)
            if data.gamma:
                durations[:, label] = gamma_weights(lasting, own_weights)
            where = np.concatenate([np.arange(b, e) for b, e, _ in own]) if len(own) else np.zeros(0, dtype=int)
            cut = [w * bin_shares(int(d), bins) for d, w in zip(lasting, own_weights)]
            shares = np.concatenate(cut) if cut else np.zeros((0, bins))
            per_frame = np.repeat(bins / np.maximum(lasting, 1), lasting.astype(int))
            factor = usual / bins if data.mean else 1.0
            for k in range(bins):
                inside = shares[:, k] > 0
                chosen = frames[where[inside]].astype(np.float64)
                gaussians = fit_mixture(
                    chosen,
                    shares[inside, k],
                    data.components,
                    overall,
                    float(self.shrinkage),
                    int(self.rounds),
                    data.full,
                    random,
                )
                columns = data.columns[label, k]
                content[:, columns] = factor * (np.array([g.weights(data.full) for g in gaussians]) - background).T
                if data.mean and inside.any():
                    z = statistics(chosen, data.full)
                    total += float((shares[inside, k] * per_frame[inside]) @ (z @ content[:, columns]).max(axis=1))
        gain = total / max(float(weights.sum()), 1e-9)
        if data.mean and data.gamma:
            durations[2] -= gain
        elif data.mean:  # each bin has a constant of its own: it takes its share
            for label, bins in enumerate(data.bins):
                for k in range(bins):
                    content[-1, data.columns[label, k]] -= gain / bins
        transitions, first, last = markov_weights(
            [s[:, 2] for s in segments], sample_weight, n_labels, float(self.smoothing)
        )
        return {"content": content, "durations": durations, "transitions": transitions, "start": first, "end": last}


_NONE: Rows = np.zeros((0, 3), dtype=np.int32)


def _spread(labels: Sequence[int], length: int) -> Rows:
    """Labels without times, each as long as the others of its sequence."""
    boundaries = np.arange(len(labels) + 1) * length // len(labels)
    return np.stack([boundaries[:-1], boundaries[1:], labels], axis=1).astype(np.int32)
