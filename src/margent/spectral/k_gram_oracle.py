"""The hinge loss of tables of k-gram scores on training data: what the spectral learner lowers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError
from margent.spectral.bi_symbols import UNSEEN, BiSymbols
from margent.spectral.hankel_basis import HankelBasis, check_n_scores
from margent.spectral.native_search import NativeSearch
from margent.spectral.symbol_sequences import symbol_sequences

Doubles = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


class KGramOracle:
    """Pairs of input and output sequences to learn a table of k-gram scores from.

    Parameters
    ----------
    X : input sequences of symbols, for example words
    y : output sequences, as long as their inputs
    bi_symbols : what outputs each input may have, which must be all that occur at least; None: those that occur

    >>> oracle = KGramOracle(["cat", "city"], [["k", "@", "t"], ["s", "I", "t", "i"]])
    >>> len(oracle), len(oracle.bi_symbols)
    (2, 6)

    `start`: the scores that trainings begin with, see `start_from`; None: all are 0.
    """

    structure = "k-grams"

    def __init__(
        self,
        X: Sequence[Sequence[Hashable]],
        y: Sequence[Sequence[Hashable]],
        bi_symbols: BiSymbols | None = None,
    ) -> None:
        X, y = symbol_sequences(X, "X"), symbol_sequences(y, "y")
        observed = BiSymbols.observed(X, y)
        self.bi_symbols = observed if bi_symbols is None else bi_symbols
        self._X = list(X)
        self.start: dict[int, npt.ArrayLike] | None = None
        self._laid_out: tuple[HankelBasis, _Layout] | None = None
        gold = [self.bi_symbols.numbers(*pair) for pair in zip(X, y)]
        for s, numbers in enumerate(gold):
            if (numbers == UNSEEN).any():
                t = int(np.argmax(numbers == UNSEEN))
                raise CorpusError(
                    f"sequence {s}, symbol {t}: {(X[s][t], y[s][t])!r} is not among the {len(self.bi_symbols)} "
                    "bi-symbols given; expected all that occur in the training data"
                )
        self._gold = np.concatenate(gold).astype(np.int32)

    def __len__(self) -> int:
        return len(self._X)

    def start_from(self, weights: Mapping[int, npt.ArrayLike]) -> None:
        """The scores that the next training begins with, in the form in which a training of such k-grams gives them.

        Without them, all scores begin with 0.
        """
        self.start = dict(weights)

    def hinge(self, order: int, shorter: bool, threads: int = 1) -> KGramHinge:
        """The loss with k-grams, k = `order`, and all shorter ones too if `shorter`.

        The layout of the searches is kept, for another training with the same k-grams.
        """
        check_n_scores(len(self.bi_symbols), order)
        basis = HankelBasis(len(self.bi_symbols), order, shorter)
        if self._laid_out is None or self._laid_out[0] != basis:
            lengths = [length for length in basis.lengths if length]
            self._laid_out = basis, _layout(self.bi_symbols, self._X, self._gold, lengths)
        hinge = KGramHinge(basis, self._laid_out[1], threads)
        if self.start is not None:
            hinge.set_matrix(_start_matrix(basis, self.start))
        return hinge


def _start_matrix(basis: HankelBasis, weights: Mapping[int, npt.ArrayLike]) -> Doubles:
    shapes = {length: np.shape(scores) for length, scores in weights.items()}
    wanted = {length: (basis.n_symbols,) * length for length in basis.lengths}
    if shapes != wanted:
        raise ValueError(f"the training should start from scores of shapes {shapes}; expected {wanted}")
    return basis.matrix(weights)


class KGramHinge:
    """The hinge loss of all examples as a function of a Hankel matrix H (paper 000, sections 2.1 and 2.4),

        sum over examples of  max over z of  F(x, z) - F(x, y) + (places where z is not y),

    F being the sum of the scores in H of all k-grams, or of all l-grams with 1 <= l <= k. Convex and piecewise linear
    in H. A value and a subgradient cost a search for each example, O(T c^k) for c candidates (`NativeSearch`).
    """

    def __init__(self, basis: HankelBasis, layout: _Layout, threads: int = 1) -> None:
        self.basis, self.threads = basis, threads
        self._layout = layout
        self._matrix: Doubles = np.zeros(basis.shape)
        self._iterate: Doubles | None = None

    def __len__(self) -> int:
        return len(self._layout.search.sequence_ptr) - 1

    @property
    def matrix(self) -> Doubles:
        """(P, S): the matrix as it stands; zero at first."""
        return self._matrix

    @property
    def rank_cut(self) -> float:
        """Singular values up to this share of the largest do not count for the rank of a matrix."""
        return self.basis.rank_cut

    def set_matrix(self, matrix: Doubles) -> None:
        self._matrix = matrix

    def set_iterate(self, matrix: Doubles) -> None:
        """What development data look at (`current_weights`), good or bad; `set_matrix`: what is kept without them."""
        self._iterate = matrix

    def tied(self, matrix: Doubles) -> Doubles:
        """The nearest matrix in which entries are equal where they stand for the same l-gram."""
        return self.basis.tied(matrix)

    def weights(self, average: bool = False) -> dict[int, Doubles]:
        """For each length the scores of l-grams, as `KGramTable` takes them; for length 0, that of no symbol at all."""
        return self.basis.scores(self._matrix)

    def current_weights(self) -> dict[int, Doubles]:
        """The same for the last iterate, which need not be the one that is kept."""
        return self.basis.scores(self._matrix if self._iterate is None else self._iterate)

    def evaluate(self, matrix: Doubles) -> tuple[float, Doubles]:
        """The loss at a matrix whose entries are equal where they must be, and a subgradient (P, S), tied as well."""
        search, gold, grams = self._layout
        scores = self.basis.scores(matrix)
        found = search.best({length: scores[length] for length in grams}, gold, self.threads)
        loss = float(found.scores.sum())
        slopes: dict[int, Doubles] = {0: np.zeros(())}
        for length, (windows, right) in grams.items():
            loss -= float(scores[length].reshape(-1)[right].sum())
            wrong = search.grams(found.symbols, length, windows)
            slopes[length] = _differences(wrong, right, 1 / self.basis.places(length), scores[length].size)
        return loss, self.basis.matrix(slopes)


def _differences(wrong: Positions, right: Positions, unit: float, size: int) -> Doubles:
    """(size,): `unit` times how much more often each number is in `wrong` than in `right`."""
    signs = np.repeat([unit, -unit], [len(wrong), len(right)])
    counts: Doubles = np.bincount(np.concatenate([wrong, right]), signs, size)  # type: ignore[assignment]
    return counts


class _Layout(NamedTuple):
    """All examples: the search, the right bi-symbols, and for each length where its l-grams end and the right ones."""

    search: NativeSearch
    gold: npt.NDArray[np.int32]
    grams: dict[int, tuple[Positions, Positions]]


def _layout(
    bi_symbols: BiSymbols, X: Sequence[Sequence[Hashable]], gold: npt.NDArray[np.int32], lengths: Sequence[int]
) -> _Layout:
    search = NativeSearch(bi_symbols, X, max(lengths))
    grams = {}
    for length in lengths:
        windows = search.windows(length)
        grams[length] = windows, search.grams(gold, length, windows)
    return _Layout(search, gold, grams)
