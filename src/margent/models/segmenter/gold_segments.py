"""Right segmentations as users give them, and as native code sees them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.schemes import Span
from margent.annotation.segments import check_segmentation
from margent.errors import ConstraintError, CorpusError
from margent.features.segment_map import SegmentLimits
from margent.parameters import is_text


@dataclass(frozen=True)
class GoldSegments:
    """For each sequence its segments, or, where only these are known, its labels in order."""

    sequences: list[list[Span | str]]
    lengths: list[int]

    @classmethod
    def of(cls, y: Any, lengths: Sequence[int], outside: str | None) -> GoldSegments:
        """From what a user gave: lists of (start, end, label), or of labels without times.

        outside : the label of what lies between segments, each frame or token one of its own; None: nothing may.
        """
        if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
            raise CorpusError(f"expected a list of segmentations, got {type(y).__name__}")
        given = list(y)
        if len(given) != len(lengths):
            raise CorpusError(f"found segments for {len(given)} sequences, expected them for {len(lengths)}")
        lengths = [int(length) for length in lengths]
        return cls([_checked(each, i, lengths[i], outside) for i, each in enumerate(given)], lengths)

    def labels(self) -> list[str]:
        """All that occur, sorted."""
        return sorted({each if isinstance(each, str) else each.label for s in self.sequences for each in s})

    def longest(self, labels: Sequence[str]) -> NDArray[np.int32]:
        """(L,): how long segments of each label last at most; 0 where none has times."""
        most = dict.fromkeys(labels, 0)
        for sequence in self.sequences:
            for each in sequence:
                if not isinstance(each, str):
                    most[each.label] = max(most[each.label], each.end - each.start)
        return np.array(list(most.values()), dtype=np.int32)

    def arrays(self, labels: Sequence[str]) -> list[NDArray[np.int32] | None]:
        """For each sequence (J, 3) of begin, end and label; None where times are not known."""
        ids = {label: i for i, label in enumerate(labels)}
        rows = [[(s.start, s.end, ids[s.label]) for s in q if isinstance(s, Span)] for q in self.sequences]
        return [
            np.array(row, dtype=np.int32).reshape(-1, 3) if is_timed(q) else None
            for row, q in zip(rows, self.sequences)
        ]

    def native(
        self, limits: SegmentLimits, follows: NDArray[np.bool_] | None, weights: NDArray[np.float32] | None
    ) -> _core.GoldSegments:
        """As an oracle wants them, once they are within the limits: a model could not learn what it cannot say.

        follows : (L, L), which label may follow which; None: any
        """
        ids = {label: i for i, label in enumerate(limits.labels)}
        flat_labels: list[int] = []
        ends: list[int] = []
        ptr = [0]
        for i, sequence in enumerate(self.sequences):
            for j, each in enumerate(sequence):
                name = each if isinstance(each, str) else each.label
                if name not in ids:
                    raise CorpusError(f"sequence {i}: label {name!r} is not known to the model")
                flat_labels.append(ids[name])
                ends.append(0 if isinstance(each, str) else each.end)
                if not isinstance(each, str):
                    _check_duration(each, i, j, limits, ids[name])
                if j and follows is not None and not follows[flat_labels[-2], flat_labels[-1]]:
                    before = limits.labels[flat_labels[-2]]
                    raise CorpusError(
                        f"sequence {i}, segment {j}: {name!r} follows {before!r}, which repeat=False rules out; "
                        "expected neighbours with different labels"
                    )
            if not is_timed(sequence):
                _check_fill(i, flat_labels[ptr[-1] :], self.lengths[i], limits)
            ptr.append(len(ends))
        timed = np.array([is_timed(s) for s in self.sequences], dtype=np.uint8)
        return _core.GoldSegments(
            np.array(ptr, dtype=np.int64),
            np.array(flat_labels, dtype=np.int32),
            np.array(ends, dtype=np.int32),
            timed,
            weights,
        )


def forced_labels(
    labels: Any, n: int, names: Sequence[str], errors: dict[int, Exception] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Offsets (n + 1,) and ids of the labels that each of n sequences must have. `errors`, where they are given, get
    what is wrong with the labels of a sequence, which then has none."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ConstraintError(f"expected a list with the labels of each sequence, got {labels!r}")
    labels = list(labels)
    if len(labels) != n:
        raise ConstraintError(f"labels are given for {len(labels)} sequences, expected {n}")
    ids = {name: i for i, name in enumerate(names)}
    for i, row in enumerate(labels):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise ConstraintError(f"sequence {i}: expected a list of labels, got {row!r}")
        unknown = [name for name in row if name not in ids]
        if unknown:
            error = ConstraintError(
                f"sequence {i}: there is no label {unknown[0]!r}; expected one of {', '.join(names)}"
            )
            if errors is None:
                raise error
            errors[i], labels[i] = error, []
    ptr = np.concatenate([[0], np.cumsum([len(row) for row in labels])]).astype(np.int64)
    return ptr, np.array([ids[name] for row in labels for name in row], dtype=np.int32)


def is_timed(sequence: Sequence[Any]) -> bool:
    return not sequence or not isinstance(sequence[0], str)


def _check_duration(segment: Span, i: int, j: int, limits: SegmentLimits, label: int) -> None:
    lasts = segment.end - segment.start
    if not limits.shortest[label] <= lasts <= limits.longest[label]:
        raise CorpusError(
            f"sequence {i}, segment {j}: {segment.label!r} lasts {lasts}; expected "
            f"{limits.shortest[label]} to {limits.longest[label]}, as its durations say"
        )


def _check_fill(i: int, labels: list[int], length: int, limits: SegmentLimits) -> None:
    least, most = int(limits.shortest[labels].sum()), int(limits.longest[labels].sum(dtype=np.int64))
    if not least <= length <= most:
        raise CorpusError(
            f"sequence {i}: its {len(labels)} labels last {least} to {most} together, as its durations "
            f"say; expected them to fill its length, {length}"
        )


def _checked(given: Any, i: int, length: int, outside: str | None) -> list[Span | str]:
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise CorpusError(f"sequence {i}: expected a list of segments, got {given!r}")
    listed = list(given)
    if listed and all(isinstance(each, str) for each in listed):
        for each in listed:
            if not is_text(each):
                raise CorpusError(f"sequence {i}: expected labels that are valid text, got {each!r}")
        if len(listed) > length:
            raise CorpusError(f"sequence {i} has {length} frames, but {len(listed)} labels")
        return listed
    if not listed and outside is None and length:
        raise CorpusError(f"sequence {i} has no segments; expected them from 0 to {length}")
    filled = listed if outside is None else _filled(listed, length, outside)
    return [*check_segmentation(filled, length, f"sequence {i}")]


def _filled(listed: list[Any], length: int, outside: str) -> list[Any]:
    """With a segment of its own for each frame or token that is in none, or in one that is outside."""
    filled: list[Any] = []
    end = 0
    for segment in listed:
        whole = hasattr(segment, "__len__") and len(segment) == 3
        if not whole or not all(isinstance(at, (int, np.integer)) for at in segment[:2]):
            return [*filled, segment]  # which will be told to be wrong
        filled += [Span(t, t + 1, outside) for t in range(end, int(segment[0]))]
        end = int(segment[1])
        if segment[2] == outside and end > segment[0]:
            filled += [Span(t, t + 1, outside) for t in range(int(segment[0]), end)]
        else:
            filled.append(segment)
    return filled + [Span(t, t + 1, outside) for t in range(end, length)]
