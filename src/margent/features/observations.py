"""Tokens in their surroundings, each distinct one stored once, and the inner products between them.

An observation is a window of tokens, and its vector is theirs side by side. So the inner product of two observations is
the sum over the places of the window of inner products of tokens, and nothing larger than distinct tokens is ever
multiplied: a row over n observations costs `window` rows over the V distinct tokens, and `window` look-ups for each
observation. On 3,000 sentences of CoNLL-2000 (n = 62,997, V = 10,903, 61 features a window) this takes a fifth of the
time of the best product of the windows themselves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.extras import optional
from margent.features.encoded import FloatArray, IntArray, PtrArray, sequence_ptr

NOTHING = 0
"""The number of the token of which nothing is seen, which also stands for what is beyond the ends of a sentence."""


class TokenVectors(ABC):
    """One vector for each of n tokens."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def keys(self) -> Iterator[bytes]:
        """Bytes that are the same for equal vectors alone."""

    @abstractmethod
    def nothing(self) -> Any:
        """One token of the same kind of which nothing is seen."""

    @abstractmethod
    def taken(self, numbers: NDArray[Any]) -> Any:
        """The vectors of these numbers (or of a mask)."""

    @abstractmethod
    def followed_by(self, others: Any) -> Any:
        """These and the others, of the same kind."""

    @abstractmethod
    def products(self, others: Any, numbers: NDArray[Any]) -> FloatArray:
        """(len(numbers), n): the inner products of some of the others with all of these."""

    @abstractmethod
    def matrix(self, n_features: int) -> Any:
        """(n, n_features) a scipy CSR matrix or an array."""

    @property
    @abstractmethod
    def squared_norms(self) -> FloatArray: ...


@dataclass(frozen=True)
class SparseVectors(TokenVectors):
    """Token t has the features `ids[ptr[t]:ptr[t + 1]]`, which rise, with `values`, none of them zero."""

    ptr: PtrArray
    ids: IntArray
    values: FloatArray

    @classmethod
    def of(cls, ids: IntArray, ptr: PtrArray, values: FloatArray | None) -> SparseVectors:
        """From rows in any order, in which a feature may come more than once."""
        tokens = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
        numbers = np.ones(len(ids)) if values is None else values.astype(np.float64)
        order = np.lexsort((ids, tokens))
        tokens, ids, numbers = tokens[order], ids[order], numbers[order]
        if len(ids):
            first = np.flatnonzero(np.append(True, (np.diff(tokens) != 0) | (np.diff(ids) != 0)))
            tokens, ids, numbers = tokens[first], ids[first], np.add.reduceat(numbers, first)
        there = numbers.astype(np.float32) != 0
        counts = np.bincount(tokens[there], minlength=len(ptr) - 1)
        return cls(sequence_ptr(counts), ids[there], numbers[there].astype(np.float32))

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def keys(self) -> Iterator[bytes]:
        for start, end in zip(self.ptr[:-1].tolist(), self.ptr[1:].tolist()):
            yield self.ids[start:end].tobytes() + self.values[start:end].tobytes()

    def nothing(self) -> SparseVectors:
        return SparseVectors(np.zeros(2, dtype=np.int64), self.ids[:0], self.values[:0])

    def taken(self, numbers: NDArray[Any]) -> SparseVectors:
        numbers = np.arange(len(self))[numbers]
        counts = np.diff(self.ptr)[numbers]
        ptr = sequence_ptr(counts)
        places = np.arange(ptr[-1]) + np.repeat(self.ptr[numbers] - ptr[:-1], counts)
        return SparseVectors(ptr, self.ids[places], self.values[places])

    def followed_by(self, others: SparseVectors) -> SparseVectors:
        return SparseVectors(
            np.concatenate([self.ptr, others.ptr[1:] + self.ptr[-1]]),
            np.concatenate([self.ids, others.ids]),
            np.concatenate([self.values, others.values]),
        )

    @cached_property
    def _postings(self) -> tuple[dict[int, slice], NDArray[np.int64], NDArray[np.float64] | None]:
        """For each feature that is there, which of the tokens (and of their values; None: all 1) have it.

        Ids may be of any size, as those of vectors with few values that are not zero.
        """
        order = np.argsort(self.ids, kind="stable")
        features, starts = np.unique(self.ids[order], return_index=True)
        bounds = [*starts.tolist(), len(order)]
        places = dict(zip(features.tolist(), map(slice, bounds[:-1], bounds[1:])))
        tokens = np.repeat(np.arange(len(self)), np.diff(self.ptr))[order]
        values = None if (self.values == 1).all() else self.values[order].astype(np.float64)
        return places, tokens, values

    def products(self, others: SparseVectors, numbers: NDArray[Any]) -> FloatArray:
        """One pass over the tokens that share a feature; the sums are in 64 bits and in the order of the features."""
        places, tokens, values = self._postings
        result = np.zeros((len(numbers), len(self)), dtype=np.float32)
        for row, number in zip(result, np.asarray(numbers).tolist()):
            own = slice(others.ptr[number], others.ptr[number + 1])
            pairs = zip(others.ids[own].tolist(), others.values[own].tolist())
            known = [(places[f], v) for f, v in pairs if f in places]
            if not known:
                continue
            shared = np.concatenate([tokens[part] for part, _ in known])
            weights = None
            if values is not None or any(v != 1 for _, v in known):
                weights = np.concatenate(
                    [np.full(p.stop - p.start, v) if values is None else values[p] * v for p, v in known]
                )
            row[:] = np.bincount(shared, weights, minlength=len(self))
        return result

    def matrix(self, n_features: int) -> Any:
        csr_matrix = optional("scipy.sparse", "matrices of sparse vectors need", "scipy").csr_matrix
        return csr_matrix((self.values, self.ids, self.ptr), shape=(len(self), n_features))

    @cached_property
    def squared_norms(self) -> FloatArray:
        # Each token by itself: in a running sum a large value would swallow the small ones of all tokens after it.
        tokens = np.repeat(np.arange(len(self)), np.diff(self.ptr))
        sums = np.bincount(tokens, self.values.astype(np.float64) ** 2, minlength=len(self))
        norms: FloatArray = sums.astype(np.float32)
        return norms


@dataclass(frozen=True)
class DenseVectors(TokenVectors):
    """A row of numbers for each token: `rows` (n, d)."""

    rows: FloatArray

    @classmethod
    def of(cls, rows: NDArray[Any]) -> DenseVectors:
        return cls(np.ascontiguousarray(rows, dtype=np.float32) + np.float32(0))  # no -0, which equals 0

    def __len__(self) -> int:
        return len(self.rows)

    def keys(self) -> Iterator[bytes]:
        return (row.tobytes() for row in self.rows)

    def nothing(self) -> DenseVectors:
        return DenseVectors(np.zeros((1, self.rows.shape[1]), dtype=np.float32))

    def taken(self, numbers: NDArray[Any]) -> DenseVectors:
        return DenseVectors(self.rows[numbers])

    def followed_by(self, others: DenseVectors) -> DenseVectors:
        return DenseVectors(np.concatenate([self.rows, others.rows]))

    def products(self, others: DenseVectors, numbers: NDArray[Any]) -> FloatArray:
        """One matrix product, by BLAS."""
        result: FloatArray = others.rows[numbers] @ self.rows.T
        return result

    def matrix(self, n_features: int) -> Any:
        return self.rows

    @cached_property
    def squared_norms(self) -> FloatArray:
        norms: FloatArray = np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64).astype(np.float32)
        return norms


@dataclass(frozen=True)
class Observations:
    """Distinct windows of distinct tokens.

    tokens : V vectors, the first (`NOTHING`) zero
    windows : (n, window) the number of the token at each place
    """

    tokens: TokenVectors
    windows: IntArray

    def __len__(self) -> int:
        return len(self.windows)

    def extended(self, vectors: TokenVectors, starts: PtrArray) -> tuple[Observations, IntArray, PtrArray]:
        """These and the observations of all tokens of some sequences, that begin at `starts`.

        Returns them, the number of the observation at each token, and which tokens were the first with a vector that
        is new. Those that were there keep their numbers.
        """
        known = dict(zip(self.tokens.keys(), range(len(self.tokens))))
        numbers = _numbered(vectors.keys(), known)
        fresh = _first(numbers, len(self.tokens))
        tokens = self.tokens.followed_by(vectors.taken(fresh)) if len(fresh) else self.tokens
        windows = _windows(numbers, starts, self.windows.shape[1])
        known = dict(zip(_row_keys(self.windows), range(len(self))))
        ids = _numbered(_row_keys(windows), known)
        return Observations(tokens, np.concatenate([self.windows, windows[_first(ids, len(self))]])), ids, fresh

    def kept(self, keep: NDArray[np.bool_]) -> tuple[Observations, PtrArray]:
        """The observations of a mask (n,) with their tokens alone, and which tokens (V',) these were."""
        used, places = np.unique(np.append(NOTHING, self.windows[keep]), return_inverse=True)
        windows = places.ravel()[1:].reshape(-1, self.windows.shape[1]).astype(np.int32)
        return Observations(self.tokens.taken(used), windows), used

    @cached_property
    def _columns(self) -> list[NDArray[np.intp]]:
        return [np.ascontiguousarray(column, dtype=np.intp) for column in self.windows.T]

    def products(self, others: Observations, ids: NDArray[Any], kept: KeptRows | None = None) -> FloatArray:
        """(len(ids), n) the inner products of some of the others with all of these.

        `kept`: rows of inner products of tokens from earlier calls with the same others.
        """
        windows = others.windows[ids]
        rows, places = np.unique(windows, return_inverse=True)
        if kept is None:
            of_tokens: Sequence[FloatArray] | FloatArray = self.tokens.products(others.tokens, rows)
        else:
            of_tokens = kept.of(rows.tolist(), lambda missing: self.tokens.products(others.tokens, missing))
        result = np.zeros((len(ids), len(self)), dtype=np.float32)
        part = np.empty(len(self), dtype=np.float32)
        for row, window in zip(result, places.reshape(windows.shape).tolist()):
            for column, place in zip(self._columns, window):
                if rows[place] != NOTHING:
                    row += np.take(of_tokens[place], column, out=part, mode="clip")
        return result

    @cached_property
    def squared_norms(self) -> FloatArray:
        norms: FloatArray = self.tokens.squared_norms[self.windows].sum(axis=1, dtype=np.float32)
        return norms

    def vectors(self, n_features: int) -> Any:
        """(n, window * n_features) the vectors themselves: feature f at place p is column p * n_features + f."""
        tokens = self.tokens.matrix(n_features)
        parts = [tokens[column] for column in self._columns]
        if isinstance(tokens, np.ndarray):
            return np.concatenate(parts, axis=1)
        return optional("scipy.sparse", "matrices of sparse vectors need", "scipy").hstack(parts, format="csr")


class KeptRows:
    """The rows that were used last, as many as fit into a limit of bytes.

    They are worth keeping: neighbours share tokens, and texts repeat them.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._rows: dict[int, FloatArray] = {}  # the last used at the end

    def of(self, numbers: list[int], compute: Callable[[NDArray[np.int64]], FloatArray]) -> list[FloatArray]:
        """The rows of these numbers; `compute` makes the missing ones, all at once."""
        missing = [number for number in numbers if number not in self._rows]
        if missing:
            # A copy each, so that one that is forgotten does not stay for the sake of the others.
            fresh = compute(np.array(missing))
            self._rows |= {number: row.copy() for number, row in zip(missing, fresh)}
        result = []
        for number in numbers:
            row = self._rows.pop(number)
            self._rows[number] = row
            result.append(row)
        while self._rows and len(self._rows) * next(iter(self._rows.values())).nbytes > self._limit:
            del self._rows[next(iter(self._rows))]
        return result


def _windows(numbers: IntArray, starts: PtrArray, window: int) -> IntArray:
    """(n, window) the tokens around each token, `NOTHING` beyond the ends of its sequence."""
    n = len(numbers)
    sequence = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    result = np.full((n, window), NOTHING, dtype=np.int32)
    for place in range(window):
        there = np.arange(n) + place - window // 2
        inside = (there >= 0) & (there < n)
        inside[inside] = sequence[there[inside]] == sequence[inside]
        result[inside, place] = numbers[there[inside]]
    return result


def _numbered(keys: Iterable[bytes], known: dict[bytes, int]) -> IntArray:
    """The number of each key; new ones are numbered in the order in which they come."""
    return np.fromiter((known.setdefault(key, len(known)) for key in keys), dtype=np.int32)


def _first(numbers: IntArray, known: int) -> PtrArray:
    """Where each number from `known` on comes first, in their order."""
    found, first = np.unique(numbers, return_index=True)
    return first[found >= known].astype(np.int64)


def _row_keys(rows: IntArray) -> Iterator[bytes]:
    return (row.tobytes() for row in rows)
