"""Tables of k-gram scores: what each k-gram of bi-symbols is worth, and the outputs that are worth most."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent.spectral.bi_symbols import UNSEEN, BiSymbols
from margent.spectral.forest import KGramForest, checked_length, k_gram_forest
from margent.spectral.hankel_basis import HankelBasis, check_n_scores
from margent.spectral.native_search import NativeSearch
from margent.spectral.operator_model import OperatorModel, pairs_up_to
from margent.spectral.symbol_sequences import symbol_sequence, symbol_sequences


class Outputs(NamedTuple):
    """An output symbol for each input symbol, and what they score."""

    score: float
    symbols: list[Hashable]


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class KGramTable:
    """Scores of the l-grams of bi-symbols, for some lengths l. A value: its arrays are read-only.

    Two tables are equal (==) only if they are the same object; compare their `scores`.

    Outputs y for inputs x score the sum of all k-grams,

        sum over the lengths l of  sum over t of  scores[l][(x, y)_{t-l+1}, ..., (x, y)_t],

    which is F_k of paper 000 (equation 4) with the one length k, and F_[k] with all lengths from 1 to k. It is the
    score of a chain of order k - 1, and its searches are exact.

    A k-gram with a bi-symbol that is not known scores 0. Outputs are searched among the candidates of each input symbol
    (`BiSymbols`); an input symbol that was never seen gets the fallback, and all k-grams that it is part of score 0. A
    sequence shorter than every length of the table has no k-gram at all: it gets the first candidate of each symbol,
    the most frequent one if the bi-symbols were `observed`.

    Differs: equation 4 writes the k-grams as t - k to t, which would be k + 1 symbols; here they have k, as the
    text and the experiments of the paper have them.

    Parameters
    ----------
    bi_symbols : the m bi-symbols, a `BiSymbols` or pairs from which to make one
    scores : length l to an array (m, ..., m) with l dimensions
        Length 0, the score of no symbol at all, may be there for `operators`, and is in no sum.

    Example
    -------
    >>> table = KGramTable([("a", "A"), ("a", "B")], {2: [[0, 1], [3, 0]]})
    >>> table.best("aa")
    Outputs(score=3.0, symbols=['B', 'A'])
    """

    bi_symbols: BiSymbols
    scores: Mapping[int, npt.NDArray[np.float64]]

    def __init__(self, bi_symbols: BiSymbols | Iterable[Any], scores: Mapping[int, npt.ArrayLike]) -> None:
        known = bi_symbols if isinstance(bi_symbols, BiSymbols) else BiSymbols(bi_symbols)
        if not scores:
            raise ValueError("scores is empty; expected an array for at least one length of k-grams")
        checked = {}
        for length in sorted(checked_length(length) if length != 0 else 0 for length in scores):
            array = np.asarray(scores[length])
            if array.shape != (len(known),) * length or array.dtype.kind not in "iuf":
                raise ValueError(
                    f"scores[{length!r}] has shape {array.shape} and type {array.dtype}; expected "
                    f"{(len(known),) * length} real numbers, as there are {len(known)} bi-symbols"
                )
            if not np.isfinite(array).all():
                at = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
                raise ValueError(f"scores[{length}]{at} is {array[tuple(at)]}; expected a finite number")
            checked[length] = np.array(array, dtype=np.float64)
            checked[length].flags.writeable = False
        if not max(checked):
            raise ValueError("scores has length 0 alone; expected an array for at least one length of k-grams")
        object.__setattr__(self, "bi_symbols", known)
        object.__setattr__(self, "scores", checked)

    @classmethod
    def observed(
        cls,
        X: Sequence[Sequence[Hashable]],
        y: Sequence[Sequence[Hashable]],
        k: int = 3,
        bi_symbols: BiSymbols | None = None,
    ) -> KGramTable:
        """How frequent each l-gram is among all l-grams of training data, for all l from 0 to k; the empty one is 1.

        No learning, only counting. Its `operators` are the spectral hidden Markov model of pairs of symbols (Hsu et al.
        2009), with as many states as are wanted: a baseline of paper 000.

        Differs: Hsu et al. count the first three symbols of each sequence; here all k-grams of each length are counted,
        wherever they stand, as it is by them that outputs are searched.

        `bi_symbols`: what outputs each input may have; None: those that occur.

        >>> table = KGramTable.observed(["aab", "ab"], ["AAB", "AB"], k=2)
        >>> [table.scores[length].tolist() for length in (0, 1, 2)]
        [1.0, [0.6, 0.4], [[0.3333333333333333, 0.6666666666666666], [0.0, 0.0]]]
        """
        X, y = symbol_sequences(X, "X"), symbol_sequences(y, "y")
        seen = BiSymbols.observed(X, y)
        known = seen if bi_symbols is None else bi_symbols
        numbers = [known.numbers(*pair) for pair in zip(X, y)]
        scores: dict[int, npt.NDArray[np.float64]] = {0: np.ones(())}
        check_n_scores(len(known), checked_length(k))
        for length in range(1, k + 1):
            counts = known.gram_counts(numbers, length)
            scores[length] = (counts / max(counts.sum(), 1.0)).reshape((len(known),) * length)
        return cls(known, scores)

    @classmethod
    def from_operators(
        cls, model: OperatorModel, lengths: Iterable[int], bi_symbols: BiSymbols | None = None
    ) -> KGramTable:
        """The scores that an operator model gives to all l-grams of its bi-symbols, for each l in `lengths`.

        `bi_symbols` says in which order they are numbered here, and what the fallback is; those that the model does not
        know score 0. None: the order of the model. O(m^k n) for n states.
        """
        if not isinstance(lengths, Iterable):
            raise ValueError(f"lengths is {lengths!r}; expected a list of lengths of k-grams, such as [3]")
        known = BiSymbols(model.bi_symbols) if bi_symbols is None else bi_symbols
        operators = model.operators
        zero = np.zeros((model.n_states, model.n_states))
        renumbered = OperatorModel(
            model.initial, model.final, {symbol: operators.get(symbol, zero) for symbol in known.symbols}
        )
        return cls(known, {length: renumbered.k_gram_scores(length) for length in lengths})

    def __repr__(self) -> str:
        return f"KGramTable(n_bi_symbols={len(self.bi_symbols)}, lengths={list(self.scores)})"

    @property
    def _pieces(self) -> dict[int, npt.NDArray[np.float64]]:
        return {length: scores for length, scores in self.scores.items() if length}

    @property
    def n_scores(self) -> int:
        """How many numbers the table holds."""
        return sum(array.size for array in self.scores.values())

    @property
    def _basis(self) -> HankelBasis | None:
        """Of the matrix that the scores fill: of all lengths from 0 to k, or of k alone."""
        k = max(self.scores)
        basis = HankelBasis(len(self.bi_symbols), k, shorter=0 in self.scores)
        return basis if list(self.scores) == list(basis.lengths) else None

    def rank(self) -> int | None:
        """Of the Hankel matrix of the scores: how many hidden states they need, or nearly.

        With all lengths from 0 to k, singular values up to a thousandth of the largest do not count, and with length k
        alone up to a millionth. None for other lengths, whose scores do not fill a matrix. O(P S min(P, S)) for P
        prefixes and S suffixes.

        >>> KGramTable([("a", "A"), ("a", "B")], {2: [[1, 2], [2, 4]]}).rank()
        1
        """
        return None if self._basis is None else self._basis.rank(self._basis.matrix(self.scores))

    def size(self, rank: int | None) -> int:
        """In how many numbers scores of such a rank can be written: two factors, or all entries if these are fewer."""
        return self.n_scores if self._basis is None else self._basis.size(rank)

    def operators(self, states: int | None = None, tolerance: float | None = None) -> OperatorModel:
        """The operator model that gives these scores, or nearly; the table must have all lengths from 0 to k, k >= 3.

        By `OperatorModel.from_hankel` on the Hankel matrix of the table, which see for `states` and `tolerance`.
        """
        if 0 not in self.scores or self._basis is None or self._basis.order < 3:
            raise ValueError(
                f"the table has scores of lengths {list(self.scores)}; expected all from 0 to k, with k of at least 3, "
                "to recover operators from"
            )
        basis = self._basis
        prefixes = pairs_up_to(self.bi_symbols.symbols, basis.prefix_lengths[-1])
        suffixes = pairs_up_to(self.bi_symbols.symbols, basis.suffix_lengths[-1])
        return OperatorModel.from_hankel(basis.matrix(self.scores), prefixes, suffixes, states, tolerance)

    def recovered(self, states: int | None = None, tolerance: float | None = None) -> KGramTable:
        """The table of the scores that the `operators` of this one give: what `recover=True` of `Spectral` asks for."""
        return self.from_operators(self.operators(states, tolerance), self.scores, self.bi_symbols)

    def score(self, x: Sequence[Hashable], y: Sequence[Hashable]) -> float:
        """What outputs y score for inputs x of the same length. O(T k)."""
        numbers = self.bi_symbols.numbers(symbol_sequence(x, "x"), symbol_sequence(y, "y"))
        total = 0.0
        for length, scores in self._pieces.items():
            for t in range(length, len(numbers) + 1):
                gram = numbers[t - length : t]
                if not (gram == UNSEEN).any():
                    total += float(scores[tuple(gram)])
        return total

    def forest(self, x: Sequence[Hashable]) -> KGramForest:
        """All candidate outputs of one sequence, with their scores, to put any question to. O(T c^k) edges."""
        return self._scored(k_gram_forest(self.bi_symbols, [symbol_sequence(x, "x")], self._pieces))

    def best(self, x: Sequence[Hashable]) -> Outputs:
        """The outputs with the highest score; of equals, those that stand earlier in `bi_symbols`. O(T c^k)."""
        found = NativeSearch(self.bi_symbols, [symbol_sequence(x, "x")], max(self.scores)).best(self._pieces)
        return Outputs(float(found.scores[0]), self._outputs(found.symbols))

    def k_best(self, x: Sequence[Hashable], k: int) -> list[Outputs]:
        """The k best outputs, all different, best first; fewer if there are fewer. Exact."""
        found = self.forest(x)
        derivations = [found.forest.best()] if k == 1 else found.forest.k_best(k)
        return [Outputs(derivation.score, self._outputs(found.symbols_of(derivation))) for derivation in derivations]

    def predict(self, X: Iterable[Sequence[Hashable]], threads: int = 1) -> list[list[Hashable]]:
        """The best outputs of many sequences, a list of them even for one. Threads do not change them."""
        sequences = symbol_sequences(X, "X")
        search = NativeSearch(self.bi_symbols, sequences, max(self.scores))
        symbols = iter(self._outputs(search.best(self._pieces, threads=threads).symbols))
        return [[next(symbols) for _ in sequence] for sequence in sequences]

    def _scored(self, found: KGramForest) -> KGramForest:
        total = np.zeros(found.forest.n_edges)
        for length, scores in self._pieces.items():
            numbers = found.grams[length]
            total += np.where(numbers == UNSEEN, 0.0, scores.ravel()[numbers])
        return found._replace(forest=found.forest.with_scores(total))

    def _outputs(self, numbers: npt.NDArray[np.integer[Any]]) -> list[Hashable]:
        return [self.bi_symbols.output(number) for number in numbers.tolist()]
