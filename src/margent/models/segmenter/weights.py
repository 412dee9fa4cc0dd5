"""The weights of a semi-Markov model: one vector, and what its parts are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.segment_map import SegmentLimits, SegmentMap
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

Floats = NDArray[np.float32]
Durations = Callable[[int], NDArray[np.float64]]


@dataclass(frozen=True)
class SegmentWeights:
    """weights (n,): of the content of segments, of durations, of transitions, of the first and of the last label.

    durations: from the longest one that is wanted to the features (longest + 1, F) of all up to it. follows (L, L) bool
    or None: which label may follow which.
    """

    limits: SegmentLimits
    durations: Durations
    follows: NDArray[np.bool_] | None
    learn_transitions: bool
    weights: Floats

    @property
    def n_labels(self) -> int:
        return len(self.limits.labels)

    @property
    def n_durations(self) -> int:
        """How many features durations have."""
        return int(self.durations(1).shape[1])

    def native(self, length: int) -> _core.SegmentModel:
        """For sequences of at most so many positions. A file may say that segments last for a million, and no table has
        a row for each unless there is such a sequence."""
        limits = self.limits.within(length)
        return _core.SegmentModel(
            self.n_labels,
            limits.shortest.tolist(),
            limits.longest.tolist(),
            np.ascontiguousarray(self.durations(limits.most)),
            None if self.follows is None else np.ascontiguousarray(self.follows, dtype=np.uint8),
            self.learn_transitions,
        )

    def without_restrictions(self) -> SegmentWeights:
        """The same weights where segments may be of any length up to the longest, and any label may follow any."""
        limits = replace(self.limits, shortest=np.ones_like(self.limits.shortest))
        return replace(self, limits=limits, follows=None)

    def with_weights(self, weights: Floats) -> SegmentWeights:
        return SegmentWeights(self.limits, self.durations, self.follows, self.learn_transitions, weights)

    @classmethod
    def zeros(
        cls,
        limits: SegmentLimits,
        durations: Durations,
        follows: NDArray[np.bool_] | None,
        learn_transitions: bool,
        n_content: int,
    ) -> SegmentWeights:
        nothing = cls(limits, durations, follows, learn_transitions, np.zeros(0, np.float32))
        return nothing.with_weights(np.zeros(n_content + nothing._tail, dtype=np.float32))

    def overlaid(
        self,
        known: SegmentWeights,
        content: Callable[[Floats, Floats, SegmentLimits, SegmentLimits], Floats],
    ) -> SegmentWeights:
        """These weights, with those that are known, of fewer features and labels, where they belong; `content` says
        where that is for the content of segments."""
        new, old, n = self.with_weights(self.weights.copy()), known.parts(), known.n_labels
        parts = new.parts()
        parts["content"][...] = content(parts["content"], old["content"], self.limits, known.limits)
        parts["durations"][: len(old["durations"]), :n] = old["durations"]
        parts["transitions"][:n, :n] = old["transitions"]
        parts["start"][:n], parts["end"][:n] = old["start"], old["end"]
        return new

    @property
    def _tail(self) -> int:
        """How many weights are not of the content."""
        return int(_core.padded_width(self.n_labels) * (self.n_durations + self.n_labels + 2))

    def parts(self) -> dict[str, Floats]:
        """Views: content (n,), durations (F, L), transitions (L, L), start (L,), end (L,)."""
        n, width, features = self.n_labels, _core.padded_width(self.n_labels), self.n_durations
        rows = self.weights[len(self.weights) - self._tail :].reshape(-1, width)[:, :n]
        return {
            "content": self.weights[: len(self.weights) - self._tail],
            "durations": rows[:features],
            "transitions": rows[features : features + n],
            "start": rows[-2],
            "end": rows[-1],
        }

    def filled(self, parts: dict[str, NDArray[np.float64]]) -> SegmentWeights:
        """New weights from their parts; transitions only where they are learned."""
        new = self.with_weights(np.zeros_like(self.weights))
        for name, view in new.parts().items():
            if name in ("transitions", "start", "end") and not self.learn_transitions:
                continue
            if view.size:
                view[...] = parts[name].reshape(view.shape)
        return new

    def top_transitions(self, n: int) -> list[tuple[str, str, float]]:
        """The n pairs of neighbours with the largest weights and the n with the smallest, from high to low."""
        matrix, labels = self.parts()["transitions"], self.limits.labels
        possible = np.flatnonzero(np.ones(matrix.size, bool) if self.follows is None else self.follows)
        order = possible[np.argsort(-matrix.reshape(-1)[possible], kind="stable")]
        chosen = order if len(order) <= 2 * n else np.concatenate([order[:n], order[-n:]])
        pairs = (divmod(int(i), len(labels)) for i in chosen)
        return [(labels[i], labels[j], float(matrix[i, j])) for i, j in pairs]

    def stored(self, keep: NDArray[np.bool_] | None = None) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header entries and arrays for a model file; `keep`: only these features of tokens, rounded to 16 bits."""
        half = keep is not None
        header = {"learn_transitions": self.learn_transitions, "has_follows": self.follows is not None, "half": half}
        content = self.parts()["content"]
        kept = content if keep is None else content.reshape(len(keep), -1)[keep].reshape(-1)
        arrays: dict[str, NDArray[Any]] = {
            "weights": stored_numbers(np.concatenate([kept, self.weights[len(content) :]]), half),
            "shortest": self.limits.shortest,
            "longest": self.limits.longest,
        }
        if self.follows is not None:
            arrays["follows"] = self.follows
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, labels: tuple[str, ...], feature_map: SegmentMap) -> SegmentWeights:
        """The weights in a file, for what the feature map sees."""
        n = len(labels)
        shortest = file.array("shortest", np.int32, (n,), minimum=1)
        longest = file.array("longest", np.int32, (n,), minimum=1)
        if (shortest > longest).any() or longest.max() > MOST:
            raise file.error(f"its durations should be from 1 to {MOST}, the longest no less than the shortest")
        limits = SegmentLimits(labels, shortest, longest)
        follows = file.array("follows", np.bool_, (n, n)) if file.value("has_follows", bool) else None
        durations = partial(feature_map.duration_features, limits.most)
        empty = cls(limits, durations, follows, file.value("learn_transitions", bool), np.zeros(0, np.float32))
        try:
            n_content = feature_map.n_content(limits)
        except ValueError as error:
            raise file.error(str(error)) from None
        half = "half" in file.header and file.value("half", bool)  # older files are never compact
        return empty.with_weights(restored_numbers(file, "weights", half, (n_content + empty._tail,)))


MOST = 1 << 20
"""No segment lasts longer."""
