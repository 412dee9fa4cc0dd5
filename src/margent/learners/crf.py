"""The conditional random field: the learner whose scores are log-probabilities."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np

from margent import _core
from margent.capability import Capabilities, Capability
from margent.learners.base import BatchLearner, Step
from margent.learners.likelihood import Likelihood, PythonLikelihood
from margent.learners.protocol import NativeOracle
from margent.learners.quasi_newton import Point, Vector, minimise
from margent.learners.stochastic_descent import calibrated_step, descend_pass
from margent.parameters import check_choice, check_flag, check_number, check_whole

# A search for more to sum over comes late enough to learn something of the curvature, and early enough not to go far
# where rivals are missing.
_ITERATIONS_PER_SEARCH = 3
_METHODS = ("lbfgs", "owlqn", "sgd")


@dataclass(frozen=True)
class CRF(BatchLearner):
    """The conditional random field (Lafferty et al. 2001; paper 003, chapter 3).

    With p(y | x) = exp(w . F(x, y)) / Z(x), finds the weights w that minimise

        sum over examples of  weight * (- log p(gold | x))  +  l2 * |w|^2  +  l1 * |w|_1,

    the objective of CRFsuite with c1 = l1 and c2 = l2. Where labels are missing, p(gold | x) is the probability of all
    completions together. Label costs c lower the scores of labels by log c while learning, which is not taken away in
    prediction: a label of probability p scores log(c p), and the best one is that whose mistakes would cost most.

    When to use it: when probabilities matter, or the last bit of accuracy. The result does not depend on the order of
    the examples. An iteration costs forward and backward sums over all examples, about three times an epoch of the
    perceptron, and there are some ten times as many; sums of different examples run in parallel.

    Methods
        lbfgs   L-BFGS: `epochs` counts its iterations; `memory` vectors of the size of w are kept, twice
        owlqn   OWL-QN, which can do l1 > 0: weights that help little become exactly 0, and the model small
        sgd     stochastic gradient descent (Bottou 2010), one example at a time with steps 1 / (lambda (t0 + t)),
                lambda = 2 l2 / examples: faster at first, less exact in the end, one thread. t0 is found by trying
                steps on a sample, unless `eta`, the first step, is given. With l2 = 0 all steps are as long as the
                first, so that the weights keep oscillating around the optimum

    Where several labellings are right, because labels are missing or hidden (`Tagger(hidden=)`), p(gold | x) is the
    probability of all of them together (paper 003, equation 4.9), or with completion="best" that of the best (4.8).
    Differs from (4.8) in that Z sums over all labellings rather than over the best completion of each, a sum that no
    recursion makes. Both objectives have local minima.

    search="beam": the sums run only over the answers that survive a beam search with the current weights, and the
    right one (paper 003, Section 3.2.2). Differs on a chain: there they run over all labellings each of whose labels
    survives at its token or is right there, which are more than the survivors themselves. For structures whose sums
    cannot be had otherwise, such as `margent.structures.BeamOracle`; on a chain exact sums are about as fast. In a
    `Transcriber` what was once in a beam stays in the sum, and every third iteration (with sgd, every pass) searches
    for more, after which the objective in the history may be higher. With a beam that holds all states the result is
    the exact one; with less, the objective is no longer smooth and probabilities are too large.

    Training ends when `period` iterations have lowered the objective by less than a share of `tol`, after `epochs`, or
    when the development score has not risen for `patience` iterations. The history has the objective of each iteration.
    """

    method: Literal["lbfgs", "owlqn", "sgd"] = field(default="lbfgs", metadata={"help": "lbfgs, owlqn or sgd"})
    l1: float = field(default=0.0, metadata={"help": "penalty on the absolute values of weights; owlqn only"})
    l2: float = field(default=0.3, metadata={"help": "penalty on the squares of weights"})
    epochs: int = field(default=200, metadata={"help": "maximum number of iterations (sgd: of passes)"})
    tol: float = field(default=1e-3, metadata={"help": "stop when the objective falls by less than this share"})
    period: int = field(default=10, metadata={"help": "over this many iterations"})
    memory: int = field(default=8, metadata={"help": "number of steps that lbfgs and owlqn remember"})
    eta: float | None = field(default=None, metadata={"help": "first step size of sgd; none: found by trying"})
    all_pairs: bool = field(
        default=False, metadata={"help": "also have weights for features with labels they never occurred with"}
    )
    all_transitions: bool = field(default=False, metadata={"help": "also have weights for unseen transitions"})
    boundaries: bool = field(default=True, metadata={"help": "weights for the first and last label of a sequence"})
    completion: Literal["all", "best"] = field(
        default="all", metadata={"help": "if several labellings are right: all together, or the best alone"}
    )
    search: Literal["exact", "beam"] = field(
        default="exact", metadata={"help": "sum over all labellings, or over what survives a beam"}
    )
    beam: int = field(default=8, metadata={"help": "states kept at each token; search=beam only"})
    patience: int | None = field(
        default=None, metadata={"help": "stop after this many epochs without improvement on the development data"}
    )

    @property
    def probabilistic(self) -> bool:
        """Probabilities among the survivors of a beam are larger than true ones."""
        return self.search == "exact"

    def __post_init__(self) -> None:
        check_choice(self, "method", _METHODS)
        for name in ("l1", "l2", "tol"):
            check_number(self, name, minimum=0)
        check_choice(self, "completion", ("all", "best"))
        check_choice(self, "search", ("exact", "beam"))
        for name in ("epochs", "period", "memory", "beam"):
            check_whole(self, name, minimum=1)
        if self.eta is not None:
            check_number(self, "eta", minimum=0, above=True)
        for name in ("all_pairs", "all_transitions", "boundaries"):
            check_flag(self, name)
        check_whole(self, "patience", minimum=1, optional=True)
        if self.l1 and self.method != "owlqn":
            raise ValueError(f"l1={self.l1!r} of CRF needs method='owlqn'; method={self.method!r} has l2 only")
        if self.eta is not None and self.method != "sgd":
            raise ValueError(f"eta={self.eta!r} of CRF is the first step of method='sgd', got method={self.method!r}")

    @property
    def needs(self) -> Capabilities:
        asked = {
            Capability.LIKELIHOOD: self.search == "exact",
            Capability.BEAM_LIKELIHOOD: self.search == "beam",
            Capability.EXAMPLE_LIKELIHOOD: self.method == "sgd",
            Capability.BEST_COMPLETION: self.completion == "best",
            Capability.LABEL_PARAMETERS: self.all_pairs or self.all_transitions or not self.boundaries,
        }
        return frozenset(capability for capability, wanted in asked.items() if wanted)

    def objective(self, oracle: Any, threads: int) -> Likelihood:
        beam = int(self.beam) if self.search == "beam" else 0
        if not isinstance(oracle, NativeOracle):
            return PythonLikelihood(oracle.with_beam(beam) if beam else oracle)
        return oracle.likelihood(
            all_pairs=bool(self.all_pairs),
            all_transitions=bool(self.all_transitions),
            boundaries=bool(self.boundaries),
            beam=beam,
            best_completion=self.completion == "best",
            threads=threads,
        )

    def steps(
        self, objective: Likelihood, random: np.random.Generator, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        """Leaves the weights at the last step it yielded, also when interrupted; `sgd` at the last example."""
        recent: deque[float] = deque(maxlen=self.period)

        def rose(by: float) -> None:
            values = [value + by for value in recent]
            recent.clear()
            recent.extend(values)

        if self.method == "sgd":
            steps = self._descent(objective, random, advance, rose)
        else:
            steps = self._iterations(objective, rose)
        for step in steps:
            yield step
            assert step.objective is not None
            if len(recent) == self.period and recent[0] - step.objective < self.tol * abs(step.objective):
                return
            recent.append(step.objective)

    def _iterations(self, likelihood: Likelihood, rose: Callable[[float], None]) -> Iterator[Step]:
        """`rose` is called with the rise of the objective at the same weights where a search found more to sum over."""
        last: Point | None = None
        before: float | None = None  # the objective at the last point, where it was another function then
        iterations = 0

        shrinking: Vector = np.empty(0)

        def regularised(w: Vector) -> tuple[float, Vector]:
            nonlocal before, shrinking
            value, gradient = likelihood.evaluate(w)
            if len(shrinking) != len(w):
                shrinking = np.empty_like(w)
            np.multiply(w, 2 * self.l2, out=shrinking)
            gradient += shrinking
            if before is not None:
                rose(value + self._penalty(w) - before)
                before = None
            return value + self.l2 * _core.dot(w, w, likelihood.threads), gradient

        def step(found: Point, evaluated: int) -> Step:
            return Step(found.value - self._penalty(found.parameters), found.value, found.evaluations - evaluated)

        def changed(w: Vector) -> bool:
            nonlocal before
            if iterations % _ITERATIONS_PER_SEARCH or last is None or last.evaluations == 1:
                return False
            likelihood.set_parameters(w)
            grown = likelihood.grow()
            before = last.value if grown else None
            return grown

        minimised = partial(
            minimise,
            regularised,
            l1=float(self.l1),
            memory=int(self.memory),
            threads=likelihood.threads,
            changed=None if likelihood.widens else changed,  # it may have more parameters then: that needs a new start
        )
        likelihood.grow()
        start, grown = likelihood.parameters(), True
        try:
            while grown:
                evaluations, grown = 0, False
                for last in minimised(start):
                    if last.evaluations == 1:  # the start
                        continue
                    iterations += 1
                    yield step(last, evaluations)
                    evaluations = last.evaluations
                    if likelihood.widens:
                        likelihood.set_parameters(last.parameters)
                        grown = likelihood.grow()
                    if grown:
                        break
                assert last is not None
                if not evaluations:  # it began at the optimum
                    yield step(last, 0)
                if not grown:  # there may be more to find where it ended
                    likelihood.set_parameters(last.parameters)
                    grown = likelihood.grow()
                if grown:  # on from here, with more to sum over or in a larger space
                    before = None if likelihood.widens else last.value
                    start, last = likelihood.parameters(), None
        finally:  # a search that was interrupted, or found nothing better, has tried others since
            likelihood.set_parameters(start if last is None else last.parameters)

    def _descent(
        self,
        likelihood: Likelihood,
        random: np.random.Generator,
        advance: Callable[[int], None],
        rose: Callable[[float], None],
    ) -> Iterator[Step]:
        n = len(likelihood)
        if n == 0:
            yield Step(0.0, self._penalty(likelihood.parameters()), 0)
            return
        decay = 2 * self.l2 / n
        likelihood.grow()
        eta = calibrated_step(likelihood, decay, random) if self.eta is None else float(self.eta)
        done = 0
        while True:
            descend_pass(likelihood, random.permutation(n), eta, decay, done, advance)
            done += n
            loss = likelihood.value()
            yield Step(loss, loss + self._penalty(likelihood.parameters()), n)
            if likelihood.grow() and not likelihood.widens:
                rose(likelihood.value() - loss)

    def _penalty(self, w: Vector) -> float:
        return float(self.l2) * _core.dot(w, w) + (float(self.l1) * float(np.abs(w).sum()) if self.l1 else 0.0)
