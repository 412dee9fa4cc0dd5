"""Input-output observable operator models: scores of pairs of sequences by products of small matrices."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from numbers import Real

import numpy as np
import numpy.typing as npt

from margent.spectral.hankel_basis import check_n_scores
from margent.spectral.symbol_sequences import symbol_sequence

BiSymbol = tuple[Hashable, Hashable]
"""An input symbol and the output symbol that stands at its place."""
Pair = tuple[Sequence[Hashable], Sequence[Hashable]]
"""An input sequence and an output sequence of the same length: ("cat", "k@t"). The empty pair is ("", "")."""
Gram = tuple[BiSymbol, ...]
Doubles = npt.NDArray[np.float64]


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class OperatorModel:
    """An input-output observable operator model <alpha, beta, {A_ab}> (paper 000, section 2.3). A value: read-only.

    The score of an input sequence x with an output sequence y of the same length T is a product of matrices,

        F(x, y) = alpha' A_{x_1, y_1} ... A_{x_T, y_T} beta,

    which is the sum of the scores of all paths through n hidden states. Any real numbers will do: hidden Markov models
    are the special case in which they are probabilities. A bi-symbol that has no operator has the operator 0: every
    pair of sequences in which it occurs scores 0.

    Two models are equal (==) only if they are the same object: other states may give the same scores, so that it is
    scores that are worth comparing.

    Parameters
    ----------
    initial : (n,)
        alpha, the weight of each state before the first symbol.
    final : (n,)
        beta, the weight of each state after the last symbol.
    operators : bi-symbol (a, b) to the matrix A_ab (n, n)
        Row the state before, column the state after. Symbols are strings, numbers, or whatever can be a key.

    Example
    -------
    Two states; "a" is spoken "A" in the first and "B" in the second, and each "a" leads to the other state:

    >>> model = OperatorModel([1, 0], [1, 1], {("a", "A"): [[0, 1], [0, 0]], ("a", "B"): [[0, 0], [1, 0]]})
    >>> model.score("aaa", "ABA"), model.score("aaa", "AAB")
    (1.0, 0.0)
    """

    initial: Doubles
    final: Doubles
    bi_symbols: tuple[BiSymbol, ...]
    stack: Doubles
    """(m, n, n): the operators of the m bi-symbols, in their order."""

    def __init__(
        self, initial: npt.ArrayLike, final: npt.ArrayLike, operators: Mapping[BiSymbol, npt.ArrayLike]
    ) -> None:
        if not isinstance(operators, Mapping):
            raise ValueError(f"operators is {operators!r}; expected a dict from bi-symbols to matrices")
        alpha, beta = _real(initial, "initial", 1), _real(final, "final", 1)
        if alpha.shape != beta.shape:
            raise ValueError(f"initial has {len(alpha)} states and final has {len(beta)}; expected as many")
        n = len(alpha)
        stack = np.zeros((len(operators), n, n))
        for i, (key, matrix) in enumerate(operators.items()):
            if not isinstance(key, tuple) or len(key) != 2:
                raise ValueError(f"operators has the key {key!r}; expected a pair (input symbol, output symbol)")
            operator = _real(matrix, f"the operator of {key!r}", 2)
            if operator.shape != (n, n):
                raise ValueError(
                    f"the operator of {key!r} has shape {operator.shape}; expected {(n, n)}, as of initial"
                )
            stack[i] = operator
        for name, array in (("initial", alpha), ("final", beta), ("stack", stack)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        object.__setattr__(self, "bi_symbols", tuple(operators))

    @classmethod
    def from_hankel(
        cls,
        matrix: npt.ArrayLike,
        prefixes: Iterable[Pair],
        suffixes: Iterable[Pair],
        states: int | None = None,
        tolerance: float | None = None,
    ) -> OperatorModel:
        """The model that gives these scores, by one singular value decomposition (paper 000, section 3.1).

        Parameters
        ----------
        matrix : (P, S)
            ``matrix[i, j]`` is F of prefix i followed by suffix j, as `hankel` gives it.
        prefixes : P different pairs of sequences, the empty one among them
            The bi-symbols of the model are those at the ends of prefixes. Prefixes u with u(a, b) a prefix for each of
            them are the inner prefixes P'; there must be some, and no bi-symbol may occur that is not at an end.
        suffixes : S different pairs of sequences, the empty one among them
        states : the most states that are wanted; None: as many as the rank
        tolerance : singular values up to this share of the largest count as 0; None: max(P', S) times the rounding
            error of a double

        With H the rows of inner prefixes, H = U D V' its decomposition cut to n states, and H_ab the rows of inner
        prefixes followed by (a, b), all found in the matrix,

            A_ab = (H V)^+ H_ab V,    alpha' = (row of the empty prefix) V,    beta = (H V)^+ (column of the empty
            suffix),    where (H V)^+ = D^-1 U'.

        Where the scores are those of a model of n states and H has rank n, the scores of all sequences, however long,
        are those of that model, up to rounding. Scores that are a little wrong give a model that is a little wrong.
        O(P S n + P' S min(P', S)).

        Differs: the paper says alpha' = h_P' V and beta = (H V)^+ h_S, which exchanges the scores h_P of prefixes alone
        and h_S of suffixes alone. It is the same where both sets are the same, as in its experiments; in general only
        what stands here has shapes that fit.
        """
        rows, columns = _numbered(prefixes, "prefixes"), _numbered(suffixes, "suffixes")
        values = _real(matrix, "matrix", 2)
        if values.shape != (len(rows), len(columns)):
            raise ValueError(
                f"matrix has shape {values.shape}; expected {(len(rows), len(columns))}, prefixes by suffixes"
            )
        bi_symbols = tuple(dict.fromkeys(gram[-1] for gram in rows if gram))
        _check_covered(rows, columns, bi_symbols)
        inner = [gram for gram in rows if all((*gram, symbol) in rows for symbol in bi_symbols)]
        if not inner:
            raise ValueError(
                f"no prefix is followed by each of the {len(bi_symbols)} bi-symbols within the prefixes; expected at "
                "least one such prefix, say the empty one with each bi-symbol alone as a prefix"
            )
        numbers = [rows[gram] for gram in inner]
        left, sizes, right = np.linalg.svd(values[numbers], full_matrices=False)
        n = _n_states(sizes, states, tolerance, max(len(inner), len(columns)))
        inverse = left[:, :n].T / sizes[:n, None]
        reduced = values @ right[:n].T  # (P, n)
        operators = {}
        for symbol in bi_symbols:
            followed = [(*gram, symbol) for gram in inner]
            operators[symbol] = inverse @ reduced[[rows[gram] for gram in followed]]
        return cls(reduced[rows[()]], inverse @ values[numbers, columns[()]], operators)

    def __repr__(self) -> str:
        return f"OperatorModel(n_states={self.n_states}, n_bi_symbols={len(self.bi_symbols)})"

    @property
    def operators(self) -> dict[BiSymbol, Doubles]:
        """Bi-symbol (a, b) to its operator A_ab (n, n)."""
        return dict(zip(self.bi_symbols, self.stack))

    @property
    def n_states(self) -> int:
        return len(self.initial)

    @property
    def n_parameters(self) -> int:
        """How many numbers the model is made of: m n^2 + 2 n for m bi-symbols."""
        return self.stack.size + 2 * self.n_states

    def compression_ratio(self, k: int) -> float:
        """How many times more numbers a table of the scores of all k-grams of its bi-symbols would hold: m^k of them.

        A model without states holds nothing at all, and its ratio is infinite.
        """
        table = len(self.bi_symbols) ** _whole(k, "k", 1)
        return table / self.n_parameters if self.n_parameters else float("inf")

    def score(self, x: Sequence[Hashable], y: Sequence[Hashable]) -> float:
        """F(x, y). 0 where a bi-symbol has no operator. O(T n^2).

        The product is made as it stands: over thousands of symbols it may leave the range of a float.
        """
        state = self.initial
        for bi_symbol in _gram((x, y), "the pair"):
            number = self._numbers.get(bi_symbol)
            if number is None:
                return 0.0
            state = state @ self.stack[number]
        return float(state @ self.final)

    def hankel(self, prefixes: Iterable[Pair], suffixes: Iterable[Pair]) -> Doubles:
        """(P, S): the score of each prefix followed by each suffix (equation 6); its rank is at most n.

        >>> model = OperatorModel([1], [3], {("a", "A"): [[2]]})
        >>> model.hankel([("", ""), ("a", "A")], [("", ""), ("a", "A"), ("a", "B")]).tolist()
        [[3.0, 6.0, 0.0], [6.0, 12.0, 0.0]]

        O((P + S) T n^2 + P S n) for prefixes and suffixes of length T.
        """
        before = [_gram(pair, f"prefix {i}") for i, pair in enumerate(prefixes)]
        after = [_gram(pair, f"suffix {i}")[::-1] for i, pair in enumerate(suffixes)]
        backward = self._states(self.final, after, lambda number: self.stack[number].T)
        forward = self._states(self.initial, before, lambda number: self.stack[number])
        matrix: Doubles = forward @ backward.T
        return matrix

    def k_gram_scores(self, k: int) -> Doubles:
        """(m, ..., m), k times: the score of each k-gram of bi-symbols, numbered as in `bi_symbols`. O(m^k n).

        With k = 0, an array of no dimension: the score of the empty pair.

        >>> model = OperatorModel([1], [3], {("a", "A"): [[2]], ("b", "B"): [[5]]})
        >>> model.k_gram_scores(2).tolist()
        [[12.0, 30.0], [30.0, 75.0]]
        """
        k, m = _whole(k, "k", 0), len(self.bi_symbols)
        check_n_scores(m, k)
        n, forward, backward = self.n_states, self.initial[None], self.final[:, None]
        for length in range(1, k - k // 2 + 1):
            forward = np.moveaxis(forward @ self.stack, 0, 1).reshape(m**length, n)
        for length in range(1, k // 2 + 1):
            backward = np.moveaxis(self.stack @ backward, 0, 1).reshape(n, m**length)
        return (forward @ backward).reshape((m,) * k)

    @cached_property
    def _numbers(self) -> dict[BiSymbol, int]:
        return {bi_symbol: number for number, bi_symbol in enumerate(self.bi_symbols)}

    def _states(self, start: Doubles, grams: Sequence[Gram], operator: Callable[[int], Doubles]) -> Doubles:
        """(len(grams), n): start' A ... A along each gram; all grams with the same symbol at a place move together."""
        states = np.repeat(start[None], len(grams), axis=0)
        for t in range(max(map(len, grams), default=0)):
            together: dict[int | None, list[int]] = {}
            for i, gram in enumerate(grams):
                if t < len(gram):
                    together.setdefault(self._numbers.get(gram[t]), []).append(i)
            for number, members in together.items():
                states[members] = 0.0 if number is None else states[members] @ operator(number)
        return states


def pairs_up_to(bi_symbols: Iterable[BiSymbol], longest: int) -> list[Pair]:
    """All pairs of sequences of these bi-symbols with 0 to `longest` of them, the short ones first.

    As prefixes with one length and as suffixes with another they are what `OperatorModel.from_hankel` needs.

    >>> pairs_up_to([("a", "A"), ("b", "B")], 1)
    [((), ()), (('a',), ('A',)), (('b',), ('B',))]
    """
    longest, symbols = _whole(longest, "longest", 0), list(bi_symbols)
    grams = (gram for length in range(longest + 1) for gram in product(symbols, repeat=length))
    return [(tuple(a for a, _ in gram), tuple(b for _, b in gram)) for gram in grams]


def _gram(pair: Pair, name: str) -> Gram:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(f"{name} is {pair!r}; expected a pair of an input and an output sequence")
    x, y = (symbol_sequence(side, f"{name}, {which},") for side, which in zip(pair, ("input", "output")))
    if len(x) != len(y):
        raise ValueError(
            f"{name} has {len(x)} input symbols and {len(y)} output symbols; expected an output for each input"
        )
    return tuple(zip(x, y))


def _numbered(pairs: Iterable[Pair], name: str) -> dict[Gram, int]:
    numbers: dict[Gram, int] = {}
    for i, pair in enumerate(pairs):
        before = numbers.setdefault(_gram(pair, f"{name}[{i}]"), i)
        if before != i:
            raise ValueError(f"{name}[{i}] is the same as {name}[{before}], {pair!r}; expected each only once")
    if () not in numbers:
        raise ValueError(f"the empty pair is not among the {len(numbers)} {name}; expected it, ('', '') or ((), ())")
    return numbers


def _check_covered(rows: Mapping[Gram, int], columns: Mapping[Gram, int], bi_symbols: Sequence[BiSymbol]) -> None:
    """A bi-symbol at no end of a prefix would be left without an operator, and its sequences would score 0."""
    known = set(bi_symbols)
    for name, grams in (("prefixes", rows), ("suffixes", columns)):
        for gram, number in grams.items():
            for bi_symbol in gram:
                if bi_symbol not in known:
                    raise ValueError(
                        f"{name}[{number}] has the bi-symbol {bi_symbol!r}, with which no prefix ends; expected "
                        "prefixes that end with each bi-symbol"
                    )


def _n_states(sizes: Doubles, states: int | None, tolerance: float | None, larger_side: int) -> int:
    """How many of the singular values, largest first, are kept."""
    if tolerance is None:
        tolerance = larger_side * float(np.finfo(np.float64).eps)
    if not isinstance(tolerance, Real) or not 0 <= tolerance < 1:
        raise ValueError(f"tolerance is {tolerance!r}; expected a share of the largest singular value, from 0 to 1")
    rank = int(np.count_nonzero(sizes > tolerance * sizes[0]))
    return rank if states is None else min(rank, _whole(states, "states", 1))


def _whole(value: int, name: str, least: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value!r}; expected an integer of at least {least}")
    return int(value)


def _real(values: npt.ArrayLike, name: str, dimensions: int) -> Doubles:
    """A copy in double precision."""
    array = np.asarray(values)
    if array.ndim != dimensions or (array.size and array.dtype.kind not in "iuf"):
        wanted = "one dimension" if dimensions == 1 else f"{dimensions} dimensions"
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}; expected {wanted} of real numbers")
    if not np.isfinite(array).all():
        at = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise ValueError(f"{name}{at} is {array[tuple(at)]}; expected a finite number")
    return np.array(array, dtype=np.float64)
