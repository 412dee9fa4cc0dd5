"""Where the scores of k-grams stand in a Hankel matrix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

_MOST_SCORES, _LONGEST = 2**27, 64


def check_n_scores(n_symbols: int, length: int) -> None:
    """Before memory is asked for: m bi-symbols have m^l scores of l-grams, 8 bytes each."""
    if length > _LONGEST:
        raise ValueError(f"k-grams of {length} symbols are too long; expected at most {_LONGEST}")
    if n_symbols**length > _MOST_SCORES:
        raise ValueError(
            f"{n_symbols} bi-symbols have {n_symbols**length:.2g} {length}-grams, whose scores take "
            f"{n_symbols**length * 8 / 2**30:.2g} GiB, in training several times; expected at most 2^27, 1 GiB: "
            "choose shorter ones, or fewer symbols"
        )


@dataclass(frozen=True)
class HankelBasis:
    """The prefixes and suffixes of a Hankel matrix for l-grams of m bi-symbols (paper 000, section 3.2).

    A row is a prefix and a column a suffix, each a sequence of bi-symbols, short ones first and those of equal length
    in the order of their numbers. The entry is the score of both together.

    Parameters
    ----------
    n_symbols : m
    order : k
    shorter : False: prefixes have k - k // 2 bi-symbols and suffixes k // 2, so that the matrix is the table of k-grams
        in another shape, m^2 x m for k = 3, and no two entries must be equal. True: prefixes and suffixes have from
        none to that many. All shorter l-grams have a place then, the empty one too, and most have several, which must
        be equal: (a)(b) and (ab)().
    """

    n_symbols: int
    order: int
    shorter: bool

    @property
    def lengths(self) -> range:
        """The lengths of the l-grams that have a place."""
        return range(0 if self.shorter else self.order, self.order + 1)

    def size(self, rank: int | None = None) -> int:
        """In how many numbers a matrix can be written: two factors of its rank, or all entries if these are fewer."""
        rows, columns = self.shape
        return rows * columns if rank is None else min(rank * (rows + columns), rows * columns)

    @property
    def rank_cut(self) -> float:
        """Singular values up to this share of the largest do not count for the rank.

        Entries that were made equal keep them from being 0, or the rounding of scores to 32 bits does.
        """
        return 1e-3 if self.shorter else 1e-6

    def rank(self, matrix: Doubles) -> int:
        """How many singular values are above `rank_cut` times the largest. O(P S min(P, S))."""
        sizes = np.linalg.svd(matrix, compute_uv=False)
        return int(np.count_nonzero(sizes > self.rank_cut * sizes.max(initial=0.0)))

    @property
    def prefix_lengths(self) -> range:
        longest = self.order - self.order // 2
        return range(0 if self.shorter else longest, longest + 1)

    @property
    def suffix_lengths(self) -> range:
        longest = self.order // 2
        return range(0 if self.shorter else longest, longest + 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Prefixes x suffixes."""
        return self._size(self.prefix_lengths), self._size(self.suffix_lengths)

    def matrix(self, scores: Mapping[int, npt.ArrayLike]) -> Doubles:
        """The Hankel matrix of the scores, for each length l an array (m, ..., m) with l dimensions."""
        if not self.shorter:
            return np.array(scores[self.order], dtype=np.float64).reshape(self.shape)
        matrix = np.empty(self.shape)
        for length, block in self._blocks():
            matrix[block] = np.reshape(scores[length], matrix[block].shape)
        return matrix

    def scores(self, matrix: Doubles) -> dict[int, Doubles]:
        """For each length, the scores in the matrix (m, ..., m); where they have several places, their mean.

        Where none has, the array is the matrix itself in another shape.
        """
        if not self.shorter:
            return {self.order: matrix.reshape((self.n_symbols,) * self.order)}
        sums = {length: np.zeros((self.n_symbols,) * length) for length in self.lengths}
        for length, block in self._blocks():
            sums[length] += matrix[block].reshape((self.n_symbols,) * length)
        return {length: total / self.places(length) for length, total in sums.items()}

    def places(self, length: int) -> int:
        """How often an l-gram of this length stands in the matrix."""
        return sum(length - before in self.suffix_lengths for before in self.prefix_lengths)

    def tied(self, matrix: Doubles) -> Doubles:
        """The nearest matrix whose entries are equal where they must be: each is replaced by the mean of its equals."""
        return self.matrix(self.scores(matrix)) if self.shorter else matrix

    def _size(self, lengths: range) -> int:
        return sum(self.n_symbols**length for length in lengths)

    def _blocks(self) -> Iterator[tuple[int, tuple[slice, slice]]]:
        """The length of the l-grams, and the rows and columns, of each block of prefixes and suffixes of one length."""
        for before in self.prefix_lengths:
            for after in self.suffix_lengths:
                yield before + after, (self._part(self.prefix_lengths, before), self._part(self.suffix_lengths, after))

    def _part(self, lengths: range, length: int) -> slice:
        start = self._size(range(lengths.start, length))
        return slice(start, start + self.n_symbols**length)
