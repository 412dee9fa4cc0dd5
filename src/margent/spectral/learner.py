"""The spectral max-margin learner: tables of k-gram scores of low rank."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.capability import Capabilities, Capability
from margent.errors import TrainingWarning
from margent.learners.base import BatchLearner, Step
from margent.parameters import check_choice, check_flag, check_number, check_whole
from margent.spectral.singular_values import Decomposition, singular_values, threshold_singular_values

if TYPE_CHECKING:
    from margent.spectral.k_gram_oracle import KGramHinge, KGramOracle

Doubles = NDArray[np.float64]

_STEPS = tuple(first * 10.0**-tenths for tenths in range(-2, 4) for first in (10, 3))
"""Those that are tried: 1000, 300, 100, ... 0.003."""
_TRIAL = {"fobos": 5, "momentum": 20}
"""Iterations for which a step is tried."""
_MOMENTUM = 0.8
"""How much of a move is made again with the next."""
_LONGEST = 16
"""The most symbols in a k-gram: what a model file may hold."""
_SHORTER = 0.25
"""What becomes of a step that gains too little."""


class _Iterate(NamedTuple):
    matrix: Doubles
    loss: float
    objective: float
    rank: int | None


@dataclass(frozen=True)
class Spectral(BatchLearner):
    """Max-margin learning of a Hankel matrix with the nuclear norm (paper 000, equation 8 and algorithm 1).

    Finds the matrix H of scores of k-grams of bi-symbols (input symbol, output symbol) that minimises

        sum over examples of  max over z of [F(x, z) - F(x, y) + (places where z is not y)]  +  tau * |H|,

    F(x, y) being the sum of the scores of all k-grams of x and y, and |H| the nuclear norm: the sum of the singular
    values, which makes most of them 0. The rank of H is the number of hidden states that the scores need. No features
    are designed: symbols that behave alike in their contexts share states.

    The problem is convex. Iteration t takes a step along a subgradient G of the loss, and then makes all singular
    values smaller by eta_t * tau, those below it 0:

        H <- argmin over H' of  |H' - (H - eta_t G + m (H - H before))|^2 / 2  +  eta_t * tau * |H'|

    solver
        fobos      m = 0, eta_t = step / (examples * sqrt(t)): forward-backward splitting as in the paper (Duchi and
                   Singer 2009)
        momentum   m = 0.8, eta_t = step / (2 * examples) * (1 - t / (iterations + 1)): moves go on, and the steps
                   shrink to nothing at the end. On 2,000 words of NETtalk about half the iterations to the same
                   objective; on small problems it is no faster

    A subgradient step may go up, so that the iterate with the lowest objective so far is what counts: `loss`,
    `objective` and `rank` in the history are its own, and the objective never rises. Where development data choose,
    they look at each iterate. The rank of tied entries (up-to-k) is that of H after they were made equal, which leaves
    small singular values: those up to a thousandth of the largest do not count. An iteration costs a search for each
    example and a decomposition of the smaller side of H.

    loss
        k         k-grams alone, k = `order`
        up-to-k   all l-grams with 1 <= l <= k. H has places for all of them, some for the same l-gram, and is replaced
                  by its nearest matrix with equal entries there after each step (section 4). Operators can be recovered
                  from the result (`KGramTable.operators`), as many as the rank says
    regulariser
        nuclear     as above
        frobenius   the root of the sum of all squares instead of the nuclear norm: does not share anything
        None        the same as tau = 0
    svd
        how the singular values of H are found: full, the decomposition of the whole matrix; gram, that of its smaller
        side; partial, of that only what is above the threshold; auto, gram or partial by the size of H
        (`margent.spectral.singular_values`). All give the same result, to rounding
    recover
        True: outputs are to be found with the scores of the operators recovered from H, as many states as its rank,
        and not with those in H (section 3.1). Needs up-to-k and an order of 3 at least: H of k-grams alone does not
        hold what recovery is made from, and the paper gives it up there (section 3.2). Differs: False unless asked for,
        as recovery changes scores that are only nearly of low rank

    Differs: the paper's step is c / sqrt(t), c chosen on development data, which must be the smaller the more examples
    there are; here c is step / examples. Unless it is given, `step` is found by trying 1000, 300, 100 and so on, each
    from nothing for a few iterations (5 with fobos, 20 with momentum), until it gets no better; this takes as long as
    some thirty iterations with fobos and 50 to 100 with momentum.

    Training ends after `iterations`, or when the development score has not risen for `patience` iterations, or when
    `period` iterations have lowered the objective by less than a share of `tol`. With momentum this may also say that
    the steps are still too long, as they shrink only towards the end: it then continues from the best iterate, with
    a quarter of the step and for the iterations that are left, until that gains less than a share of `tol`, too. Where
    no iteration comes below the objective at the start, whose scores are then kept, there is a `TrainingWarning`.

    It learns from a `margent.spectral.KGramOracle`, and its weights are what `margent.spectral.KGramTable` takes.
    """

    tau: float = field(default=3.0, metadata={"help": "penalty on the singular values of the scores"})
    step: float | None = field(
        default=None, metadata={"help": "first step size, times the number of examples; none: found by trying"}
    )
    iterations: int = field(default=100, metadata={"help": "maximum number of iterations"})
    order: int = field(default=3, metadata={"help": "number of symbols in a k-gram"})
    loss: Literal["k", "up-to-k"] = field(
        default="k", metadata={"help": "k: k-grams of exactly that many symbols; up-to-k: shorter ones, too"}
    )
    regulariser: Literal["nuclear", "frobenius"] | None = field(
        default="nuclear", metadata={"help": "nuclear: few hidden states; frobenius: small scores; or none"}
    )
    solver: Literal["momentum", "fobos"] = field(
        default="momentum", metadata={"help": "momentum, or fobos as in the paper; both find the same optimum"}
    )
    svd: Decomposition = field(
        default="auto",
        metadata={
            "help": "how singular values are computed: auto, full, gram or partial; affects the time, not the results"
        },
    )
    recover: bool = field(
        default=False, metadata={"help": "predict with the recovered operators instead of the scores; up-to-k only"}
    )
    tol: float = field(default=1e-4, metadata={"help": "stop when the objective falls by less than this share"})
    period: int = field(default=20, metadata={"help": "over this many iterations"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after this many epochs without improvement on the development data"}
    )

    def __post_init__(self) -> None:
        check_number(self, "tau", minimum=0)
        check_number(self, "step", minimum=0, above=True, optional=True)
        for name in ("iterations", "period"):
            check_whole(self, name, minimum=1)
        check_whole(self, "order", minimum=1, maximum=_LONGEST)
        check_choice(self, "loss", ("k", "up-to-k"))
        if self.regulariser is not None:
            check_choice(self, "regulariser", ("nuclear", "frobenius"))
        check_choice(self, "solver", ("momentum", "fobos"))
        check_choice(self, "svd", ("auto", "full", "gram", "partial"))
        check_flag(self, "recover")
        if self.recover and (self.loss != "up-to-k" or self.order < 3):
            raise ValueError(
                f"recover of Spectral needs loss='up-to-k' and an order of at least 3, got loss={self.loss!r} and "
                f"order={self.order}: operators are recovered from the scores of all lengths"
            )
        check_number(self, "tol", minimum=0)
        check_whole(self, "patience", minimum=1, optional=True)

    @property
    def epochs(self) -> int:
        return self.iterations

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.K_GRAM_HINGE})

    def objective(self, oracle: KGramOracle, threads: int) -> KGramHinge:
        return oracle.hinge(int(self.order), self.loss == "up-to-k", threads)

    def steps(
        self, objective: KGramHinge, random: np.random.Generator, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        """Leaves the matrix at the best iterate so far, also when interrupted."""
        start = objective.matrix
        loss, slope = objective.evaluate(start)
        penalty, rank = self._measured(objective, start)
        begun = best = Step(loss, loss + penalty, 1, rank)
        step = self.found_step(objective) if self.step is None else float(self.step)
        optimal = not begun.objective or (not start.any() and self._nothing_is_best(slope))
        left, goes_on = self.iterations, True
        while left and goes_on:
            before = best.objective
            for found in self._descent(objective, best, step, left, advance):
                left, best = left - 1, found
                if not left:
                    self._check_gain(begun, best, optimal)
                yield best
            # Steps that were too long from the first on say nothing about shorter ones.
            goes_on = self._is_gain(before, best.objective) or (best is begun and not optimal)
            goes_on &= self.solver == "momentum"
            step *= _SHORTER
        if left:
            self._check_gain(begun, best, optimal)

    def _descent(
        self, objective: KGramHinge, best: Step, step: float, length: int, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        """The best so far after each of so many iterations from there on, or until too little is gained."""
        recent: deque[float] = deque(maxlen=self.period)
        for iterate in self._iterates(objective, objective.matrix, step, length):
            advance(len(objective))
            objective.set_iterate(iterate.matrix)
            if iterate.objective < best.objective:
                best = Step(iterate.loss, iterate.objective, 1, iterate.rank)
                objective.set_matrix(iterate.matrix)
            yield best
            if len(recent) == self.period and self.tol and not self._is_gain(recent[0], best.objective):
                return
            recent.append(best.objective)

    def _check_gain(self, begun: Step, best: Step, optimal: bool) -> None:
        if best is begun and not optimal:
            what = "the first step was too long" if self.step is None else f"step={self.step:g} was too long"
            warnings.warn(
                f"no iteration of Spectral came below the objective at the start, {begun.objective:.6g}: {what}. "
                "Unless development data chose another iterate, the scores are those of the start: all 0, if it is not "
                "a training that continues. Try a smaller step, step=None to have one found, or more iterations; or a "
                "smaller tau, if scores of 0 are the best with this one",
                TrainingWarning,
                stacklevel=3,
            )

    def _is_gain(self, before: float, after: float) -> bool:
        return before - after >= self.tol * abs(after) and before > after

    def _nothing_is_best(self, slope: Doubles) -> bool:
        """Whether a subgradient of the loss at 0 shows that 0 is the optimum: the norm's are all up to tau."""
        if self.regulariser == "nuclear":
            return float(self._sizes(slope).max(initial=0.0)) <= self._tau
        return float(np.linalg.norm(slope)) <= self._tau

    def _iterates(self, objective: KGramHinge, matrix: Doubles, step: float, length: int) -> Iterator[_Iterate]:
        """So many iterations from a matrix on."""
        slope, before, rank = objective.evaluate(matrix)[1], matrix, None
        for t in range(1, length + 1):
            eta = step / max(len(objective), 1) * (t**-0.5 if self.solver == "fobos" else (1 - t / (length + 1)) / 2)
            ahead, norm = matrix - eta * slope, None
            if self.solver == "momentum":
                ahead += _MOMENTUM * (matrix - before)
            if self.regulariser == "nuclear" and self._tau:
                ahead, rank, norm = threshold_singular_values(ahead, eta * self._tau, self.svd, rank)
            elif self._tau:
                ahead = _shrunk_to_frobenius(ahead, eta * self._tau)
            before, matrix = matrix, objective.tied(ahead)
            loss, slope = objective.evaluate(matrix)
            if norm is not None and matrix is ahead:
                yield _Iterate(matrix, loss, loss + self._tau * norm, rank)
            else:
                penalty, rank_of_tied = self._measured(objective, matrix)
                yield _Iterate(matrix, loss, loss + penalty, rank_of_tied)

    def found_step(self, objective: KGramHinge) -> float:
        """The first of ever shorter steps whose next is no better after a few iterations.

        They are tried from nothing: near a good start, the shortest step would look best for as long as a trial takes.
        """
        start, length = np.zeros_like(objective.matrix), _TRIAL[self.solver]
        chosen, lowest = _STEPS[0], np.inf
        for step in _STEPS:
            reached = min(iterate.objective for iterate in self._iterates(objective, start, step, length))
            if reached >= lowest:
                break
            chosen, lowest = step, reached
        return chosen

    @property
    def _tau(self) -> float:
        return 0.0 if self.regulariser is None else float(self.tau)

    def _measured(self, objective: KGramHinge, matrix: Doubles) -> tuple[float, int | None]:
        """What a matrix is penalised with, and its rank."""
        if self.regulariser != "nuclear":
            return self._tau * float(np.linalg.norm(matrix)), None
        sizes = self._sizes(matrix)
        rank = int(np.count_nonzero(sizes > objective.rank_cut * sizes.max(initial=0.0)))
        return self._tau * float(sizes.sum()), rank

    def _sizes(self, matrix: Doubles) -> Doubles:
        return singular_values(matrix, self.svd)


def _shrunk_to_frobenius(matrix: Doubles, threshold: float) -> Doubles:
    """The H for which |H - matrix|^2 / 2 + threshold * |H| is smallest."""
    size = float(np.linalg.norm(matrix))
    return matrix * max(1 - threshold / size, 0.0) if size else matrix
