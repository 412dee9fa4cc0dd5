"""The hinge loss of tables of k-gram scores on training data: what the spectral learner lowers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError
from margent.structures.bi_symbols import UNSEEN, BiSymbols
from margent.structures.forest import Forest
from margent.structures.hankel_basis import HankelBasis
from margent.structures.k_gram_forest import batches, k_gram_forest

Doubles = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# A batch is one task of a thread: large enough that numpy is called seldom, and several for each thread.
_EDGES_AT_ONCE = 1 << 19


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
    """

    def __init__(
        self,
        X: Sequence[Sequence[Hashable]],
        y: Sequence[Sequence[Hashable]],
        bi_symbols: BiSymbols | None = None,
    ) -> None:
        observed = BiSymbols.observed(X, y)
        self.bi_symbols = observed if bi_symbols is None else bi_symbols
        self._X = list(X)
        self._start: dict[int, npt.ArrayLike] | None = None
        self._laid_out: tuple[HankelBasis, _Layout] | None = None
        self._gold = [self.bi_symbols.numbers(*pair) for pair in zip(X, y)]
        for s, numbers in enumerate(self._gold):
            if (numbers == UNSEEN).any():
                t = int(np.argmax(numbers == UNSEEN))
                raise CorpusError(
                    f"sequence {s}, symbol {t}: {(X[s][t], y[s][t])!r} is not among the {len(self.bi_symbols)} "
                    "bi-symbols given; expected all that occur in the training data"
                )

    def __len__(self) -> int:
        return len(self._X)

    def start_from(self, weights: Mapping[int, npt.ArrayLike]) -> None:
        """The scores that the next training begins with, in the form in which a training of the same pieces gives them.

        Without them, all scores begin with 0.
        """
        self._start = dict(weights)

    def hinge(self, order: int, shorter: bool, threads: int = 1) -> KGramHinge:
        """The loss with k-grams, k = `order`, and all shorter ones too if `shorter`.

        The layout of the searches is kept, for another training with the same pieces.
        """
        basis = HankelBasis(len(self.bi_symbols), order, shorter)
        if self._laid_out is None or self._laid_out[0] != basis:
            lengths = [length for length in basis.lengths if length]
            self._laid_out = basis, _layout(self.bi_symbols, self._X, self._gold, lengths)
        hinge = KGramHinge(basis, self._laid_out[1], len(self), threads)
        if self._start is not None:
            hinge.set_matrix(_start_matrix(basis, self._start))
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
    in H. A value and a subgradient cost a search for each example, O(T c^k) for c candidates; the forests of all
    examples are kept, 28 bytes for each of T c^k edges with k-grams alone, and 4 more for each shorter length.
    """

    def __init__(self, basis: HankelBasis, layout: _Layout, n_examples: int, threads: int = 1) -> None:
        self.basis, self.threads, self._n_examples = basis, threads, n_examples
        self._right, self._batches = layout
        self._matrix: Doubles = np.zeros(basis.shape)

    def __len__(self) -> int:
        return self._n_examples

    @property
    def matrix(self) -> Doubles:
        """(P, S): the matrix as it stands; zero at first."""
        return self._matrix

    def set_matrix(self, matrix: Doubles) -> None:
        self._matrix = matrix

    def tied(self, matrix: Doubles) -> Doubles:
        """The nearest matrix in which entries are equal where they stand for the same l-gram."""
        return self.basis.tied(matrix)

    def weights(self, average: bool = False) -> dict[int, Doubles]:
        """For each length the scores of l-grams, as `KGramTable` takes them; for length 0, that of no symbol at all."""
        return self.basis.scores(self._matrix)

    def evaluate(self, matrix: Doubles) -> tuple[float, Doubles]:
        """The loss at a matrix whose entries are equal where they must be, and a subgradient (P, S), tied as well."""
        scores = self.basis.scores(matrix)
        # What stands for no l-gram has the number after the last, and scores nothing.
        flat = {length: np.append(scores[length].ravel(), 0.0) for length in self._right}
        if self.threads == 1:
            answers = [batch.search(flat) for batch in self._batches]
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                answers = list(pool.map(lambda batch: batch.search(flat), self._batches))
        loss = sum(answer.score for answer in answers)
        slopes: dict[int, Doubles] = {0: np.zeros(())}
        for length in self._right:
            found = np.concatenate([answer.grams[length] for answer in answers])
            counts = np.bincount(found, minlength=len(flat[length]))[:-1] - self._right[length]
            loss -= float(self._right[length] @ flat[length][:-1])
            slopes[length] = counts / self.basis.places(length)
        return loss, self.basis.matrix(slopes)


class _Answer(NamedTuple):
    """The best outputs of a batch, costs added: their score, and the numbers of their l-grams."""

    score: float
    grams: dict[int, npt.NDArray[np.int32]]


class _Batch(NamedTuple):
    """The forest of some examples, whose scores are the costs of mistakes, and the l-grams of its edges."""

    forest: Forest
    grams: dict[int, npt.NDArray[np.int32]]

    def search(self, flat: dict[int, Doubles]) -> _Answer:
        total = self.forest.scores.copy()
        for length, grams in self.grams.items():
            total += flat[length][grams]
        total.flags.writeable = False  # so that the forest takes it as it is
        best = self.forest.with_scores(total).best()
        return _Answer(best.score, {length: grams[best.edges] for length, grams in self.grams.items()})


class _Layout(NamedTuple):
    """For each length how often each l-gram is in the right outputs; and the examples in batches."""

    right: dict[int, Doubles]
    batches: list[_Batch]


def _layout(
    bi_symbols: BiSymbols, X: Sequence[Sequence[Hashable]], gold: Sequence[Integers], lengths: Sequence[int]
) -> _Layout:
    made = _Layout({length: bi_symbols.gram_counts(gold, length) for length in lengths}, [])
    done = 0
    for sequences in batches(bi_symbols, X, max(lengths), _EDGES_AT_ONCE):
        made.batches.append(_batch(bi_symbols, sequences, gold[done : done + len(sequences)], lengths))
        done += len(sequences)
    return made


def _batch(
    bi_symbols: BiSymbols, sequences: Sequence[Sequence[Hashable]], gold: Sequence[Integers], lengths: Iterable[int]
) -> _Batch:
    made = k_gram_forest(bi_symbols, sequences, lengths)
    right = np.concatenate([*gold, [UNSEEN]])  # position -1, of edges without a symbol, has the last
    costs = (made.symbols != right[made.positions]).astype(np.float64)
    costs.flags.writeable = False
    grams = {}
    for length, numbers in made.grams.items():
        size = len(bi_symbols) ** length
        if size >= 2**31:
            raise ValueError(
                f"there are {size} {length}-grams of {len(bi_symbols)} bi-symbols; expected less than 2^31"
            )
        grams[length] = np.where(numbers == UNSEEN, size, numbers).astype(np.int32)
    return _Batch(made.forest.with_scores(costs), grams)
