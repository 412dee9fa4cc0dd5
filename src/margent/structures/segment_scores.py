"""The scores of all segmentations of one sequence: checked, read-only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.structures.chain_scores import check_values, real_array

Doubles = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class SegmentScores:
    """The scores of all segmentations of T frames or tokens into labelled segments. A value: its arrays are read-only.

    A segmentation is a row of segments (begin, end, label) without gaps from 0 to T. It scores

        start[first label] + end[last label] + sum over neighbours of transitions[label, next label] +
        sum over segments of segments[begin, d - 1, label] + durations[d - 1, label] + begins[begin, label]
                             + ends[end, label],                           where d = end - begin <= R.

    What depends on begin, end or duration alone is best given as such: it costs nothing in the search, while
    `segments` has T R L numbers. An empty sequence has one segmentation, of score 0.

    Parameters
    ----------
    transitions : (L, L)
        Row the label, column the next one. -inf forbids, here and below: on the diagonal, that neighbours have the
        same label.
    segments : (T, R, L), or a function of (begin, end) that gives (L,) scores; optional
        Of what lies beyond the end nothing is used.
    durations : (R, L), optional
    begins, ends : (T + 1, L), optional
        Row T of begins and row 0 of ends are not used.
    start, end : (L,), optional
        For the first label of the sequence, and for the last one.
    min_duration, max_duration : int or (L,) ints, optional
        How long segments of each label last, at least and at most. R is the largest of these where neither `segments`
        nor `durations` says what it is; max_duration is at most R.
    length : T, where no array says it
    """

    transitions: Doubles
    start: Doubles
    end: Doubles
    durations: Doubles
    begins: Doubles | None
    ends: Doubles | None
    segments: Doubles | None
    limits: npt.NDArray[np.int32] | None
    names: npt.NDArray[np.int32] | None
    length: int

    def __init__(
        self,
        transitions: npt.ArrayLike,
        segments: npt.ArrayLike | Callable[[int, int], npt.ArrayLike] | None = None,
        durations: npt.ArrayLike | None = None,
        begins: npt.ArrayLike | None = None,
        ends: npt.ArrayLike | None = None,
        start: npt.ArrayLike | None = None,
        end: npt.ArrayLike | None = None,
        min_duration: int | npt.ArrayLike = 1,
        max_duration: int | npt.ArrayLike | None = None,
        length: int | None = None,
    ) -> None:
        pairs = _scores(transitions, "transitions", 2)
        n_labels = pairs.shape[1]
        if pairs.shape != (n_labels, n_labels) or not n_labels:
            raise ValueError(f"transitions has shape {pairs.shape}; expected (L, L) with at least one label")
        shortest = _durations(min_duration, "min_duration", n_labels)
        longest = None if max_duration is None else _durations(max_duration, "max_duration", n_labels)
        lasting = None if durations is None else _scores(durations, "durations", 2)
        called = segments if callable(segments) else None
        rows = None if segments is None or callable(segments) else _scores(segments, "segments", 3)
        edges = {"begins": begins, "ends": ends}
        tables = {name: None if table is None else _scores(table, name, 2) for name, table in edges.items()}

        length = _agreed(
            "the length",
            {"length": length}
            | {name: None if table is None else len(table) - 1 for name, table in tables.items()}
            | {"segments": None if rows is None else len(rows)},
        )
        most = _agreed(
            "the longest duration",
            {
                "segments": None if rows is None else rows.shape[1],
                "durations": None if lasting is None else len(lasting),
            },
            otherwise=None if longest is None else int(longest.max()),
        )
        for name, array in {"durations": lasting, "segments": rows, **tables}.items():
            if array is not None and array.shape[-1] != n_labels:
                raise ValueError(f"{name} has shape {array.shape}; expected {n_labels} labels as the last size")
        if most < 1:
            raise ValueError("segments of no duration are allowed; expected at least 1")
        if longest is not None and longest.max() > most:
            raise ValueError(
                f"max_duration is {longest.max()}; expected at most {most}, as there are scores for no more"
            )
        wanted = np.arange(1, most + 1)[:, None]
        allowed = (wanted >= shortest) & (wanted <= (most if longest is None else longest))
        values: dict[str, Any] = {
            "transitions": pairs,
            "durations": np.where(allowed, 0.0 if lasting is None else lasting, -np.inf),
            "start": _row(start, "start", n_labels),
            "end": _row(end, "end", n_labels),
            "segments": rows if called is None else _called(called, length, most, n_labels),
            **tables,
        }
        self._set(values | {"limits": None, "names": None, "length": length})

    def _set(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value = np.array(value, order="C")
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def replace(self, **changes: Any) -> SegmentScores:
        """The scores with some arrays replaced by others of the same shape."""
        new = object.__new__(SegmentScores)
        new._set({field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | changes)
        return new

    @property
    def n_labels(self) -> int:
        return len(self.transitions)

    @property
    def longest(self) -> int:
        """R: no segment lasts longer."""
        return len(self.durations)

    def __repr__(self) -> str:
        return f"SegmentScores(length={self.length}, n_labels={self.n_labels}, longest={self.longest})"

    def native(self) -> _core.SegmentScores:
        """The scores as native code wants them: rows padded to whole vectors."""
        width = _core.padded_width(self.n_labels)

        def padded(array: Doubles | None, before: int = 0) -> Any:
            if array is None:
                return None
            out = np.full((*array.shape[:-1], width), -np.inf)
            out[..., : self.n_labels] = array
            return np.concatenate([np.full((before, width), -np.inf), out]) if before else out

        return _core.SegmentScores(
            self.n_labels,
            self.length,
            padded(self.transitions),
            padded(self.start),
            padded(self.end),
            padded(self.durations, 1),
            padded(self.begins),
            padded(self.ends),
            padded(self.segments),
            self.limits,
        )


def _scores(values: npt.ArrayLike, name: str, dimensions: int) -> Doubles:
    array = real_array(values, name).astype(np.float64)
    if array.ndim != dimensions:
        raise ValueError(f"{name} has shape {array.shape}; expected {dimensions} dimensions")
    check_values(array, name)
    return array


def _row(values: npt.ArrayLike | None, name: str, n_labels: int) -> Doubles:
    row = np.zeros(n_labels) if values is None else _scores(values, name, 1)
    if row.shape != (n_labels,):
        raise ValueError(f"{name} has shape {row.shape}; expected ({n_labels},)")
    return row


def _durations(values: Any, name: str, n_labels: int) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" or array.shape not in ((), (n_labels,)) or (array < 1).any():
        raise ValueError(f"{name} is {values!r}; expected an integer of at least 1, or one for each label")
    return np.broadcast_to(array.astype(np.int64), (n_labels,))


def _agreed(what: str, said: dict[str, int | None], otherwise: int | None = None) -> int:
    """The one number that all who say one agree on."""
    found = {name: number for name, number in said.items() if number is not None}
    if not found:
        if otherwise is None:
            raise ValueError(f"nothing says {what}: give one of {', '.join(said)} or a bound")
        return otherwise
    first, number = next(iter(found.items()))
    for name, other in found.items():
        if other != number:
            raise ValueError(f"{what} is {number} by {first}, but {other} by {name}; expected the same")
    if not isinstance(number, (int, np.integer)) or isinstance(number, bool) or number < 0:
        raise ValueError(f"{first} is {number!r}; expected an integer of at least 0")
    return int(number)


def _called(function: Callable[[int, int], npt.ArrayLike], length: int, longest: int, n_labels: int) -> Doubles:
    rows = np.zeros((length, longest, n_labels))
    for begin in range(length):
        for end in range(begin + 1, min(begin + longest, length) + 1):
            rows[begin, end - begin - 1] = _row(
                function(begin, end), f"the score of segment {begin} to {end}", n_labels
            )
    return rows
