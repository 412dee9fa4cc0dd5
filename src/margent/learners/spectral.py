"""The spectral max-margin learner: tables of k-gram scores of low rank."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count, islice
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.learners.parameters import check_choice, check_number, check_whole
from margent.learners.protocol import HankelLoss, Step

Doubles = NDArray[np.float64]

_STEPS = tuple(first * 10.0**-tenths for tenths in range(-2, 4) for first in (10, 3))
"""Those that are tried: 1000, 300, 100, ... 0.003."""
_TRIAL = 5
"""Iterations for which a step is tried."""


class _Iterate(NamedTuple):
    matrix: Doubles
    loss: float
    objective: float
    rank: int | None


@dataclass(frozen=True)
class Spectral:
    """Max-margin learning of a Hankel matrix with the nuclear norm (paper 000, equation 8 and algorithm 1).

    Finds the matrix H of scores of k-grams of bi-symbols (input symbol, output symbol) that minimises

        sum over examples of  max over z of [F(x, z) - F(x, y) + (places where z is not y)]  +  tau * |H|,

    F(x, y) being the sum of the scores of all k-grams of x and y, and |H| the nuclear norm: the sum of the singular
    values, which makes most of them 0. The rank of H is the number of hidden states that the scores need. No features
    are designed: symbols that behave alike in their contexts share states.

    The problem is convex. It is solved by forward-backward splitting (FOBOS, Duchi and Singer 2009): iteration t takes
    a step along a subgradient of the loss, eta_t = step / (examples * sqrt(t)), and then makes all singular values
    smaller by eta_t * tau, those below it 0. A subgradient step may go up, so that the iterate with the lowest
    objective so far is what counts: `loss`, `objective` and `rank` in the history are its own, and the objective never
    rises. An iteration costs a search for each example and a decomposition of the smaller side of H.

    loss
        k         k-grams alone, k = `order`
        up-to-k   all l-grams with 1 <= l <= k. H has places for all of them, some for the same l-gram, and is replaced
                  by its nearest matrix with equal entries there after each step (section 4). Operators can be recovered
                  from the result (`KGramTable.operators`), as many as the rank says
    regulariser
        nuclear     as above
        frobenius   the root of the sum of all squares in the place of the nuclear norm: does not share anything
        None        the same as tau = 0

    Differs: the paper's step is c / sqrt(t), c chosen on development data, which must be the smaller the more examples
    there are; here c is step / examples. Unless it is given, `step` is found by trying 1000, 300, 100 and so on for a
    few iterations each, until it gets no better; this takes as long as some thirty iterations.

    Training ends when `period` iterations have lowered the objective by less than a share of `tol`, after `iterations`,
    or when the development score has not risen for `patience` iterations.

    It learns from a `margent.structures.KGramOracle`, and its weights are what `margent.structures.KGramTable` takes.
    """

    structure: ClassVar[str] = "k-grams"

    tau: float = field(default=3.0, metadata={"help": "penalty on the singular values of the scores"})
    step: float | None = field(
        default=None, metadata={"help": "first step, times the number of examples; none: found by trying"}
    )
    iterations: int = field(default=100, metadata={"help": "most iterations"})
    order: int = field(default=3, metadata={"help": "symbols in a piece that is scored"})
    loss: Literal["k", "up-to-k"] = field(
        default="k", metadata={"help": "k: pieces of that many symbols; up-to-k: shorter ones, too"}
    )
    regulariser: Literal["nuclear", "frobenius"] | None = field(
        default="nuclear", metadata={"help": "nuclear: few hidden states; frobenius: small scores; or none"}
    )
    tol: float = field(default=1e-4, metadata={"help": "stop when the objective falls by less than this share"})
    period: int = field(default=20, metadata={"help": "over so many iterations"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after so many epochs without gain on the development data"}
    )

    def __post_init__(self) -> None:
        check_number(self, "tau", minimum=0)
        check_number(self, "step", minimum=0, above=True, optional=True)
        for name in ("iterations", "order", "period"):
            check_whole(self, name, minimum=1)
        check_choice(self, "loss", ("k", "up-to-k"))
        if self.regulariser is not None:
            check_choice(self, "regulariser", ("nuclear", "frobenius"))
        check_number(self, "tol", minimum=0)
        check_whole(self, "patience", minimum=1, optional=True)

    @property
    def epochs(self) -> int:
        return self.iterations

    def objective(self, oracle: Any, threads: int) -> HankelLoss:
        if not hasattr(oracle, "hinge"):
            raise TypeError(
                f"Spectral learns from pairs of symbol sequences, such as margent.structures.KGramOracle has them, and "
                f"{type(oracle).__name__} has none"
            )
        found: HankelLoss = oracle.hinge(int(self.order), self.loss == "up-to-k", threads)
        return found

    def steps(
        self, objective: HankelLoss, random: np.random.Generator, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        """Leaves the matrix at the best iterate so far, also when interrupted."""
        start = objective.matrix
        loss = objective.evaluate(start)[0]
        best = Step(loss, loss + self._penalty(start), 1, self._rank(start))
        step = self._found_step(objective) if self.step is None else float(self.step)
        recent: deque[float] = deque(maxlen=self.period)
        for iterate in self._iterates(objective, start, step):
            advance(len(objective))
            if iterate.objective < best.objective:
                best = Step(iterate.loss, iterate.objective, 1, iterate.rank)
                objective.set_matrix(iterate.matrix)
            yield best
            if len(recent) == self.period and recent[0] - best.objective < self.tol * abs(best.objective):
                return
            recent.append(best.objective)

    def _iterates(self, objective: HankelLoss, matrix: Doubles, step: float) -> Iterator[_Iterate]:
        """Algorithm 1 from a matrix on, without end."""
        slope = objective.evaluate(matrix)[1]
        for t in count(1):
            eta = step / (max(len(objective), 1) * t**0.5)
            moved, rank = self._shrunk(matrix - eta * slope, eta * self._tau)
            matrix = objective.tied(moved)
            loss, slope = objective.evaluate(matrix)
            yield _Iterate(matrix, loss, loss + self._penalty(matrix), rank)

    def _found_step(self, objective: HankelLoss) -> float:
        """The first of ever shorter steps whose next is no better after a few iterations.

        They are tried from nothing: near a good start, the shortest step would look best for as long as a trial takes.
        """
        start = np.zeros_like(objective.matrix)
        chosen, lowest = _STEPS[0], np.inf
        for step in _STEPS:
            reached = min(iterate.objective for iterate in islice(self._iterates(objective, start, step), _TRIAL))
            if reached >= lowest:
                break
            chosen, lowest = step, reached
        return chosen

    @property
    def _tau(self) -> float:
        return 0.0 if self.regulariser is None else float(self.tau)

    def _penalty(self, matrix: Doubles) -> float:
        return self._tau * self._norm(matrix) if self._tau else 0.0

    def _rank(self, matrix: Doubles) -> int | None:
        return threshold_singular_values(matrix, 0.0)[1] if self.regulariser == "nuclear" else None

    def _norm(self, matrix: Doubles) -> float:
        if self.regulariser == "nuclear":
            return float(_right_singular(matrix)[0].sum())
        return float(np.linalg.norm(matrix))

    def _shrunk(self, matrix: Doubles, threshold: float) -> tuple[Doubles, int | None]:
        """The H for which |H - matrix|^2 / 2 + threshold * (norm of H) is smallest, and its rank where it is known."""
        if self.regulariser == "nuclear":
            return threshold_singular_values(matrix, threshold)
        size = float(np.linalg.norm(matrix))
        return matrix * max(1 - threshold / size, 0.0) if size else matrix, None


def threshold_singular_values(matrix: Doubles, threshold: float) -> tuple[Doubles, int]:
    """U max(D - threshold, 0) V' for the matrix U D V', and its rank: the proximal step of the nuclear norm.

    With V and D^2 from the product of the matrix with itself, which is as large as its smaller side: O(P S min(P, S)),
    several times quicker than a decomposition of the whole where one side is long. Singular values are right to about
    1e-8 of the largest one, and smaller ones count as 0.
    """
    if matrix.shape[0] < matrix.shape[1]:
        turned, rank = threshold_singular_values(matrix.T, threshold)
        return turned.T, rank
    sizes, right = _right_singular(matrix)
    kept = sizes > max(threshold, _NOISE * sizes.max(initial=0.0))
    right = right[:, kept]
    return ((matrix @ right) * (1 - threshold / sizes[kept])) @ right.T, int(kept.sum())


# Roots of the eigenvalues of a product are known to the root of the rounding error.
_NOISE = 2e-8


def _right_singular(matrix: Doubles) -> tuple[Doubles, Doubles]:
    """Singular values and right singular vectors, as columns, of a matrix that is not wider than tall."""
    tall = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
    values, vectors = np.linalg.eigh(tall.T @ tall)
    return np.sqrt(np.maximum(values, 0.0)), vectors
