"""The scores of a label chain for one sequence: checked, read-only, of any order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from margent import _core


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class ChainScores:
    """The scores of all labellings of one sequence by a chain of order k. A value: its arrays are read-only.

    A labelling y of T tokens scores

        sum over t of emissions[t, y_t] + transitions[h_t, y_t] + edges[t, y_{t-1}, y_t],   plus end[c, y_{T-1}],

    where the history h_t = (y_{t-k}, ..., y_{t-1}) is read as a number in base L + 1, the most recent label its last
    digit, and digit L standing for what lies before the first token; c are the k - 1 labels before the last one. An
    empty sequence has one labelling, of score 0.

    Parameters
    ----------
    emissions : (T, L)
        What each label scores at each token. -inf forbids, here and below.
    transitions : ((L + 1)^k, L)
        What each label scores after each history. The number of rows says what k is. For k = 1, row i is the previous
        label and row L the start.
    end : ((L + 1)^(k - 1), L), optional
        What it scores to end in each label, after each k - 1 labels; one row for k = 1.
    edges : (T, L + 1, L), optional
        Scores of their own for each pair of neighbouring labels at each position; previous label L at token 0.

    The computation is in float32 if no array needs more, else in float64.
    """

    emissions: npt.NDArray[Any]
    transitions: npt.NDArray[Any]
    end: npt.NDArray[Any] | None
    edges: npt.NDArray[Any] | None
    order: int

    def __init__(
        self,
        emissions: npt.ArrayLike,
        transitions: npt.ArrayLike,
        end: npt.ArrayLike | None = None,
        edges: npt.ArrayLike | None = None,
    ) -> None:
        given = {"emissions": emissions, "transitions": transitions, "end": end, "edges": edges}
        arrays = {name: real_array(value, name) for name, value in given.items() if value is not None}
        order = _check_shapes(arrays)
        for name, array in arrays.items():
            check_values(array, name)
        dtype = np.float32 if np.can_cast(np.result_type(*arrays.values()), np.float32) else np.float64
        _check_range(arrays, dtype)
        for name in given:
            object.__setattr__(self, name, _frozen(arrays[name], dtype) if name in arrays else None)
        object.__setattr__(self, "order", order)

    @classmethod
    def first_order(
        cls,
        emissions: npt.ArrayLike,
        transitions: npt.ArrayLike,
        start: npt.ArrayLike | None = None,
        end: npt.ArrayLike | None = None,
    ) -> ChainScores:
        """A chain of order 1 from transitions (L, L), row the previous label; start (L,) and end (L,) are 0 if absent.

        >>> ChainScores.first_order(np.zeros((4, 2)), np.eye(2), start=[0, -np.inf])
        ChainScores(n_tokens=4, n_labels=2, order=1, dtype=float64)
        """
        matrix = real_array(transitions, "transitions")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"transitions has shape {matrix.shape}; expected (L, L)")
        rows = {"start": start, "end": end}
        boundaries = {name: real_array(row, name) for name, row in rows.items() if row is not None}
        for name, boundary in boundaries.items():
            if boundary.shape != matrix.shape[:1]:
                raise ValueError(f"{name} has shape {boundary.shape}; expected {matrix.shape[:1]}, one score per label")
            check_values(boundary, name)
        first = boundaries.get("start", np.zeros(len(matrix), matrix.dtype))
        last = boundaries["end"][None] if "end" in boundaries else None
        return cls(emissions, np.concatenate([matrix, first[None]]), last)

    def __repr__(self) -> str:
        return (
            f"ChainScores(n_tokens={self.n_tokens}, n_labels={self.n_labels}, order={self.order}, "
            f"dtype={self.emissions.dtype})"
        )

    @property
    def n_tokens(self) -> int:
        return len(self.emissions)

    @property
    def n_labels(self) -> int:
        return int(self.emissions.shape[1])

    def replace(self, **changes: npt.ArrayLike | None) -> ChainScores:
        """The same scores but for the arrays named."""
        kept = {"emissions": self.emissions, "transitions": self.transitions, "end": self.end, "edges": self.edges}
        return ChainScores(**{**kept, **changes})  # type: ignore[arg-type]

    def native(self) -> Any:
        """For `margent.structures.chain`: the native search on these scores, each row padded to whole vectors."""
        width = _core.padded_width(self.n_labels)

        def padded(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            if self.n_labels == width:
                return array
            wide = np.zeros((*array.shape[:-1], width), array.dtype)
            wide[..., : self.n_labels] = array
            return wide

        make = _core.ChainScores32 if self.emissions.dtype == np.float32 else _core.ChainScores64
        contexts = len(self.transitions) // (self.n_labels + 1)
        end = np.zeros((contexts, width), self.emissions.dtype) if self.end is None else padded(self.end)
        edges = None if self.edges is None else padded(self.edges)
        return make(self.n_labels, self.order, padded(self.emissions), padded(self.transitions), end, edges)


def real_array(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """The values as an array of whatever real type they have."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iuf":
        raise ValueError(f"{name} has type {array.dtype}; expected real numbers")
    return array if array.dtype.kind in "iuf" else array.astype(np.float64)


def check_values(array: npt.NDArray[Any], name: str) -> None:
    """NaN and +inf are no scores."""
    wrong = ~(array < np.inf)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(at)} is {array[at]}; expected a finite number, or -inf where it is forbidden")


def _check_shapes(arrays: Mapping[str, npt.NDArray[Any]]) -> int:
    """The order of the chain, once all shapes fit."""
    emissions, transitions = arrays["emissions"], arrays["transitions"]
    if emissions.ndim != 2 or emissions.shape[1] == 0:
        raise ValueError(f"emissions has shape {emissions.shape}; expected (T, L) with at least one label")
    n_tokens, n_labels = emissions.shape
    base, order, histories = n_labels + 1, 1, n_labels + 1
    while transitions.ndim == 2 and histories < len(transitions):
        order, histories = order + 1, histories * base
    if transitions.shape != (histories, n_labels):
        raise ValueError(
            f"transitions has shape {transitions.shape}; expected ({base}^order, {n_labels}), the last row for the "
            f"start of the sequence, as emissions has {n_labels} labels"
        )
    for name, shape in (("end", (histories // base, n_labels)), ("edges", (n_tokens, base, n_labels))):
        if name in arrays and arrays[name].shape != shape:
            raise ValueError(f"{name} has shape {arrays[name].shape}; expected {shape}")
    return order


def _check_range(arrays: Mapping[str, npt.NDArray[Any]], dtype: Any) -> None:
    """A sum of finite scores must not become infinite: it would look forbidden."""
    sizes = [np.abs(array, where=array > -np.inf, out=np.zeros(array.shape)) for array in arrays.values()]
    largest = max(float(size.max(initial=0)) for size in sizes)
    if largest * 8 * (len(arrays["emissions"]) + 1) > float(np.finfo(dtype).max):
        raise ValueError(
            f"the largest score is {largest:g}, too large to be added up over {len(arrays['emissions'])} tokens in "
            f"{np.dtype(dtype)}; expected -inf for what is forbidden, and scores of ordinary size"
        )


def _frozen(array: npt.NDArray[Any], dtype: Any) -> npt.NDArray[Any]:
    """The array itself if nobody can change it, or else a copy of which that is true."""
    if array.flags.writeable or not array.flags.owndata or not array.flags.c_contiguous or array.dtype != dtype:
        array = np.array(array, dtype=dtype, order="C")
        array.flags.writeable = False
    return array
