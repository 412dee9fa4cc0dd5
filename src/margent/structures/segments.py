"""Segmentations on scores of one's own: segment and label at once, exactly.

Pure functions on `SegmentScores`. The questions are `best`, `k_best`, `log_partition`, `marginals`, `sample`, `score`;
`with_costs`, `constrain` and `force` return new scores, to which any of the questions can be put. All run in native
code without the GIL, in O(T L (L + R)) for T frames, L labels and durations up to R (core/segments/segments.hpp).

>>> scores = SegmentScores(transitions=[[0, 0], [0, 0]], segments=lambda begin, end: [end - begin - 1, begin == 2],
...                        max_duration=2, length=3)
>>> best(scores).segments.tolist()
[[0, 2, 0], [2, 3, 1]]
>>> best(force(scores, [1, 0])).segments.tolist()
[[0, 1, 1], [1, 3, 0]]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import ConstraintError
from margent.structures.chain_scores import real_array
from margent.structures.segment_scores import SegmentScores

__all__ = [
    "SegmentMarginals",
    "SegmentScores",
    "Segmented",
    "best",
    "constrain",
    "force",
    "k_best",
    "log_partition",
    "marginals",
    "possible",
    "sample",
    "score",
    "with_costs",
]

Segments = npt.NDArray[np.int32]
LARGEST_EXACT = 1e11
"""Of scores, where probabilities are wanted: a double of this size is right to 1e-5."""


class Segmented(NamedTuple):
    """Segments (J, 3), rows of begin, end (exclusive) and label, and what they score together."""

    score: float
    segments: Segments


class SegmentMarginals(NamedTuple):
    """Probabilities under exp(score) / Z, and log Z.

    labels (T, L): of each label at each frame. boundaries (T + 1,): that a segment ends, or the sequence begins, there.
    segments (T, R, L) or None: of each segment, by begin, duration - 1 and label.
    """

    labels: npt.NDArray[np.float64]
    boundaries: npt.NDArray[np.float64]
    segments: npt.NDArray[np.float64] | None
    log_partition: float


# --- questions -----------------------------------------------------------------------------------------------------


def best(scores: SegmentScores) -> Segmented:
    """The segmentation with the highest score. Ties go to the smaller label and the shorter segment, from the end."""
    native = scores.native()
    value, found = native.best()
    _check_total(scores, value)
    return Segmented(native.score(found), _named(scores, found))


def possible(scores: SegmentScores) -> bool:
    """Whether there is a segmentation at all that is not forbidden."""
    return bool(scores.native().best()[0] > -np.inf)


def k_best(scores: SegmentScores, k: int) -> list[Segmented]:
    """The k best segmentations, all different, best first; fewer if there are fewer. Exact.

    O(J (L + R)) for each after the first, of J segments.
    """
    native = scores.native()
    _, rows = native.k_best(_number(k, "k", 1, 2**31 - 1))
    if not rows:
        _check_total(scores, -np.inf)
    found = [Segmented(native.score(segments), _named(scores, segments)) for segments in rows]
    # The search compares sums made in another order than `score` makes them: equal up to rounding.
    return sorted(found, key=lambda segmented: -segmented.score)


def log_partition(scores: SegmentScores) -> float:
    """log Z: the log of the sum of exp(score) over all segmentations."""
    return _check_total(scores, scores.native().log_partition())


def marginals(scores: SegmentScores, segments: bool = False) -> SegmentMarginals:
    """The probability of each label at each frame, of each boundary and, if wanted, of each segment.

    Scores beyond 1e11 are a ValueError: in a double nothing is left of what tells segmentations apart.
    """
    _check_exact(scores)
    total, labels, boundaries, all_segments = scores.native().marginals(bool(segments))
    _check_total(scores, total)
    if scores.names is not None:  # several places of a forced label sequence may have one label
        members = np.eye(int(scores.names.max()) + 1)[scores.names]
        labels = labels @ members
        all_segments = None if all_segments is None else all_segments @ members
    return SegmentMarginals(labels, boundaries, all_segments, total)


def sample(scores: SegmentScores, n: int, seed: int = 0) -> list[Segments]:
    """`n` independent segmentations, drawn with probability exp(score) / Z. The seed fixes them. See `marginals`."""
    _check_exact(scores)
    total, found = scores.native().sample(_number(n, "n", 0, 2**31 - 1), _number(seed, "seed", 0, 2**64 - 1))
    _check_total(scores, float(total[0]))
    return [_named(scores, segments) for segments in found]


def score(scores: SegmentScores, segments: npt.ArrayLike) -> float:
    """What one segmentation, rows of (begin, end, label), scores; -inf if it is forbidden."""
    return float(scores.native().score(_segmentation(segments, scores)))


# --- modes ---------------------------------------------------------------------------------------------------------


def with_costs(
    scores: SegmentScores,
    costs: npt.ArrayLike | None = None,
    *,
    boundaries: Iterable[int] | None = None,
    boundary_cost: float = 1.0,
) -> SegmentScores:
    """The scores with costs of mistakes added: loss-augmented search.

    costs : (T, L), what each label costs at each frame; `chain.hamming_costs(gold, n_labels)` for frame errors
    boundaries : where the right segments end; each that is missing, and each other one, costs `boundary_cost`

    Both are sums over what begins and what ends where, so that the search is as fast as without.
    """
    shape = (scores.length + 1, scores.n_labels)
    added = np.zeros(shape)
    last = np.zeros(scores.length + 1)
    if costs is not None:
        frames = real_array(_places(costs, scores), "costs").astype(np.float64)
        if frames.shape != (scores.length, scores.n_labels) or not np.isfinite(frames).all():
            raise ValueError(
                f"costs has shape {frames.shape}; expected finite numbers of shape {(scores.length, scores.n_labels)}"
            )
        added[1:] = np.cumsum(frames, axis=0)
    before = np.zeros(scores.length + 1)
    if boundaries is not None:
        right = np.zeros(scores.length + 1, dtype=bool)
        right[_boundaries(boundaries, scores)] = True
        inner = right.copy()
        inner[[0, -1]] = False
        counted = np.cumsum(inner)
        before = -boundary_cost * counted
        last[1:] = boundary_cost * counted[:-1]
        last[1:-1] += boundary_cost * ~right[1:-1]
    begins = np.zeros(shape) if scores.begins is None else scores.begins
    ends = np.zeros(shape) if scores.ends is None else scores.ends
    return scores.replace(begins=begins - added + before[:, None], ends=ends + added + last[:, None])


def constrain(
    scores: SegmentScores,
    allowed: Mapping[int, Iterable[int]] | npt.NDArray[np.bool_] | None = None,
    boundaries: Iterable[int] | None = None,
    segments: Iterable[Sequence[int]] | None = None,
) -> SegmentScores:
    """The scores in which what is not wanted is forbidden. All conditions hold together.

    Parameters
    ----------
    allowed : position to the labels that it may have, or a boolean array (T, L)
    boundaries : where segments end, all of them; 0 and T need not be named
    segments : (begin, end, label) that must be there; the rest is free

    A `ConstraintError` names a frame or label that does not exist. A sequence that is left without a segmentation is
    one when a question is put to it.
    """
    length, n_labels = scores.length, scores.n_labels
    may = np.ones((length, n_labels), dtype=bool)
    if isinstance(allowed, np.ndarray):
        if allowed.shape != (length, n_labels) or allowed.dtype != np.bool_:
            raise ValueError(f"allowed has shape {allowed.shape} and type {allowed.dtype}; expected bools, {may.shape}")
        may &= allowed
    else:
        for position, labels in (allowed or {}).items():
            row = np.zeros(n_labels, dtype=bool)
            row[[_within(label, n_labels, "label") for label in labels]] = True
            may[_within(position, length, "frame")] &= row
    required = np.zeros(length + 1, dtype=bool)
    possible = np.ones(length + 1, dtype=bool)
    if boundaries is not None:
        required[_boundaries(boundaries, scores)] = True
        possible[1:-1] &= required[1:-1]
    for given in segments or ():
        begin, end, label = (int(part) for part in given)
        _within(label, n_labels, "label")
        if not 0 <= begin < end <= length:
            raise ConstraintError(f"a segment is from {begin} to {end}; expected it within the {length} frames")
        only = np.zeros(n_labels, dtype=bool)
        only[label] = True
        may[begin:end] &= only
        required[[begin, end]] = True
        possible[begin + 1 : end] = False
    # How long a segment may last that ends here: back to the last boundary that must be, or label that may not.
    limits = np.zeros((length + 1, n_labels), dtype=np.int32)
    for end in range(1, length + 1):
        limits[end] = np.where(may[end - 1], 1 + (0 if required[end - 1] else limits[end - 1]), 0)
    if scores.limits is not None:
        limits = np.minimum(limits, scores.limits)
    ends = np.zeros((length + 1, n_labels)) if scores.ends is None else scores.ends
    return scores.replace(limits=limits, ends=np.where(possible[:, None], ends, -np.inf))


def force(scores: SegmentScores, labels: Sequence[int]) -> SegmentScores:
    """The scores of only those segmentations whose labels are these, in this order: where are they?

    Questions put to it are answered with the labels themselves. Cost: as of len(labels) labels.
    """
    if scores.names is not None:
        raise ConstraintError("the labels of these scores are forced already")
    names = np.array([_within(label, scores.n_labels, "label") for label in labels], dtype=np.int32)
    if not 1 <= len(names) <= scores.length:
        raise ConstraintError(
            f"{len(names)} labels are given for {scores.length} frames; expected 1 to {scores.length}"
        )
    place = np.arange(len(names))
    steps = np.where(place[:, None] + 1 == place, scores.transitions[names[:, None], names], -np.inf)
    taken: dict[str, Any] = {
        name: None if getattr(scores, name) is None else getattr(scores, name)[..., names]
        for name in ("durations", "begins", "ends", "segments", "limits")
    }
    return scores.replace(
        **taken,
        transitions=steps,
        start=np.where(place == 0, scores.start[names], -np.inf),
        end=np.where(place == len(names) - 1, scores.end[names], -np.inf),
        names=names,
    )


# --- checks --------------------------------------------------------------------------------------------------------


def _check_total(scores: SegmentScores, total: float) -> float:
    if total == -np.inf:
        raise ConstraintError(f"{scores} has no segmentation: each one has a part that scores -inf")
    return float(total)


def _check_exact(scores: SegmentScores) -> None:
    for name in ("transitions", "start", "end", "durations", "begins", "ends", "segments"):
        array = getattr(scores, name)
        if array is not None and (np.abs(array[np.isfinite(array)]) > LARGEST_EXACT).any():
            raise ValueError(
                f"{name} has scores so large that probabilities are lost in rounding; "
                f"expected at most {LARGEST_EXACT:g}"
            )


def _number(value: int, name: str, low: int, high: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}; expected an integer from {low} to {high}")
    return int(value)


def _within(value: Any, n: int, what: str) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value < n:
        raise ConstraintError(f"a constraint names {what} {value!r}; expected 0 to {n - 1}")
    return int(value)


def _boundaries(boundaries: Iterable[int], scores: SegmentScores) -> list[int]:
    return [_within(at, scores.length + 1, "boundary") for at in boundaries]


def _places(costs: npt.ArrayLike, scores: SegmentScores) -> npt.ArrayLike:
    """Costs by label, as costs by place where labels are forced."""
    return costs if scores.names is None else np.asarray(costs)[:, scores.names]


def _named(scores: SegmentScores, segments: Segments) -> Segments:
    if scores.names is None:
        return segments
    named: Segments = segments.copy()
    named[:, 2] = scores.names[segments[:, 2]]
    return named


def _segmentation(segments: npt.ArrayLike, scores: SegmentScores) -> Segments:
    array = np.asarray(segments)
    if array.size == 0:
        array = np.zeros((0, 3), dtype=np.int32)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iu":
        raise ValueError(f"segments has shape {array.shape} and type {array.dtype}; expected rows of three integers")
    begins, ends, labels = array.T.astype(np.int64)
    expected = np.concatenate([[0], ends])
    wrong = (begins != expected[:-1]) | (ends <= begins)
    if wrong.any() or expected[-1] != scores.length:
        at = int(np.argmax(wrong)) if wrong.any() else len(array) - 1
        raise ValueError(f"segment {at} does not fit: expected segments without gaps from 0 to {scores.length}")
    n_labels = scores.n_labels if scores.names is None else int(scores.names.max()) + 1
    if ((labels < 0) | (labels >= n_labels)).any():
        raise ValueError(f"a label is {labels.min()} or {labels.max()}; expected 0 to {n_labels - 1}")
    if scores.names is not None:
        if not np.array_equal(labels, scores.names):
            raise ConstraintError("the labels of the segments are not those that are forced")
        array = np.stack([begins, ends, np.arange(len(array))], axis=1)
    checked: Segments = np.ascontiguousarray(array, dtype=np.int32)
    return checked
