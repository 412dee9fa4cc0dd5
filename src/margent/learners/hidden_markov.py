"""The hidden Markov model: counts of known labels, and expected counts of others by the algorithm of Baum and Welch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.capability import Capabilities, Capability
from margent.learners.base import BatchLearner, Step
from margent.learners.capabilities import declared
from margent.parameters import check_number, check_whole

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class HiddenMarkov(BatchLearner):
    """The hidden Markov model with overlapping features (the baseline of paper 001, section 8), learned by counting.

    The score of a labelling y of the tokens x is the logarithm of

        product over t of  P(y_t | the labels before)  *  product over the features f of token t of  P(f | y_t),

    times the probability of ending there. Each feature of a token is an observation of its own. With c for counts
    in the training data, V features and L labels:

        P(f | y)   = (c(f, y) + smoothing) / (c(y) + smoothing V),      c(y) the sum of c(f, y) over f
        P_j(y | h) = (c(h, y) + s P_{j-1}(y | h)) / (c(h) + s),         s = transition_smoothing (L + 1)

    where h is the last j labels, y a label or the end, and P_0 is 1 / (L + 1) for each: what was seen after a long
    history is mixed with what is expected after a shorter one. In a chain of order k, level j of the transitions
    holds log P_j - log P_{j-1}, so that their sum is log P_k.

    When to use it: as a baseline, when training must cost nothing (one pass that counts, no search), or when little is
    known of the labels. Features that say the same thing twice count twice, so the more features overlap, the worse it
    gets beside all other learners, and the more overconfident: probabilities are too close to 0 and 1, and need a
    temperature, like those of the max-margin learners.

    With `iterations`, labels that are missing are counted, too: by what is expected of them under the present model,
    which the counts then make anew (Baum and Welch; EM, paper 003, section 4.4). It begins with the counts of the
    known labels, or with the random weights of hidden labels. So sentences without any label help, and with
    `HiddenLabels` the hidden ones are learned. Each step raises the likelihood of what is known, features and labels
    together, or with smoothing its product with a Dirichlet density (in chains of order 1; of higher order, what is
    mixed in changes with the counts). It stops when a step gains less than `tol` for each token.

    A feature that was not seen in training has no effect. Features of label pairs (`B` templates with columns) are left
    out. Without label transitions (templates without `B`), P(y) takes the place of P(y | h). Values of features count
    as often as they say, and must not be negative. The weight of a sentence multiplies its counts. Where labels are
    missing, what depends on them is not counted without `iterations`. Label costs c raise a label of probability p to
    c p. `partial_fit` is an error without `iterations`: it would need the counts, which a model does not hold; with
    them, the model is where they begin, and what is counted are the new sentences alone. The `objective` in the
    history is minus the logarithm of the probability of the training data, known labels and features together; with
    `iterations`, under the model before the step.
    """

    smoothing: float = field(default=0.01, metadata={"help": "added to each count of a feature with a label"})
    transition_smoothing: float = field(
        default=0.1, metadata={"help": "added to each count of one label after another"}
    )

    iterations: int = field(default=0, metadata={"help": "steps of EM for labels that are missing; 0: count once"})
    tol: float = field(default=1e-5, metadata={"help": "stop when a step of EM gains less than this for each token"})

    def __post_init__(self) -> None:
        check_whole(self, "iterations", minimum=0)
        check_number(self, "tol", minimum=0)
        for name in ("smoothing", "transition_smoothing"):
            check_number(self, name, minimum=0, above=True)

    @property
    def epochs(self) -> int:
        return max(int(self.iterations), 1)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.SOFT_COUNTS if self.iterations else Capability.COUNTS})

    def objective(self, oracle: Any, threads: int) -> Counting:
        return Counting(oracle, threads, soft=self.iterations > 0)

    def steps(self, objective: Counting, random: np.random.Generator, advance: Callable[[int], None]) -> Iterator[Step]:
        """The weights are set to the logarithms of smoothed counts: once, or after each expectation."""
        smoothing = float(self.smoothing), float(self.transition_smoothing)
        if not objective.counted:  # weights that are no probabilities yet
            objective.expect()
        value = objective.set_weights(*smoothing)
        if not self.iterations:
            advance(len(objective))
            yield Step(value, value, 1)
        before = np.inf
        for _ in range(self.iterations):
            value = objective.expect()
            objective.set_weights(*smoothing)
            advance(len(objective))
            yield Step(value, value, 1)
            if before - value < float(self.tol) * objective.n_tokens:
                return
            before = value


class Counting:
    """The counts of a native chain oracle, as weights.

    counted : whether there are counts; False where expectation has to come first
    """

    def __init__(self, oracle: Any, threads: int, *, soft: bool) -> None:
        self._weights = oracle.weights(False)
        unigrams = self._weights["unigrams"]
        self._sparse = isinstance(unigrams, tuple)
        levels = [*self._weights["transitions"], *self._weights["ends"]]
        begun = any(map(np.any, [unigrams[2] if self._sparse else unigrams, *levels]))
        if begun and not soft:
            raise ValueError(
                "HiddenMarkov cannot continue from a model (partial_fit), which does not hold the counts of its "
                "training data: call fit with all data together, or give it iterations"
            )
        self._oracle, self._n_labels = oracle, oracle.n_labels
        self._costs = oracle.label_costs
        if self._costs.size != self._n_labels:
            raise ValueError("HiddenMarkov takes label_costs of labels, not of pairs of labels")
        if not np.all(self._costs > 0):
            raise ValueError("label_costs should be above 0 for HiddenMarkov")
        self._threads = threads
        self.counted = not begun and Capability.COUNTS in declared(oracle)[1]
        if self.counted:
            self._take(oracle.counts())

    def _take(self, counts: dict[str, Any]) -> None:
        if counts["negative"]:
            raise ValueError("HiddenMarkov counts features by their values, which must not be negative")
        self._counts = counts

    def __len__(self) -> int:
        return len(self._oracle)

    @property
    def n_tokens(self) -> int:
        return int(self._oracle.n_tokens)

    def expect(self) -> float:
        """The expected counts under the present weights; minus the log-likelihood of what is known."""
        counts, value = self._oracle.soft_counts(self._threads)
        self._take(counts)
        return -float(value)

    def set_weights(self, smoothing: float, transition_smoothing: float) -> float:
        """Sets the weights of the oracle; minus the log of the probability of the training data."""
        emissions, emission_value = self._emissions(smoothing)
        transitions, ends, transition_value = self._transitions(transition_smoothing)
        transitions[0][:, : self._n_labels] += np.log(self._costs)
        rows: Any = emissions
        if self._sparse:  # the sparse layout, whose rows are full here
            ptr = np.arange(len(emissions) + 1, dtype=np.int64) * self._n_labels
            labels = np.tile(np.arange(self._n_labels, dtype=np.int32), len(emissions))
            rows = ptr, labels, emissions[:, : self._n_labels].ravel()
        self._oracle.start_from({**self._weights, "unigrams": rows, "transitions": transitions, "ends": ends})
        return emission_value + transition_value

    def _emissions(self, smoothing: float) -> tuple[NDArray[np.float32], float]:
        """log P(f | y), (V, width), with zeros past the labels; and the sum of - c log P."""
        ptr, labels, counts = self._counts["unigrams"]
        n_features, width = len(ptr) - 1, self._counts["transitions"][0].shape[1]
        of_label = np.bincount(labels, counts, minlength=self._n_labels)
        total = np.log(of_label + smoothing * max(n_features, 1))
        weights = np.zeros((n_features, width), dtype=np.float32)
        weights[:, : self._n_labels] = np.log(smoothing) - total
        found = np.log(counts + smoothing) - total[labels]
        weights[np.repeat(np.arange(n_features), np.diff(ptr)), labels] = found
        return weights, -float(counts @ found)

    def _transitions(self, smoothing: float) -> tuple[list[NDArray[np.float32]], list[NDArray[np.float32]], float]:
        """The levels of transitions and ends, in the shapes of their counts; and the sum of - c log P."""
        base = self._n_labels + 1
        shorter: Doubles = np.full((1, base), 1 / base)
        transitions: list[NDArray[np.float32]] = []
        ends: list[NDArray[np.float32]] = []
        value = 0.0
        for into, end in zip(self._counts["transitions"], self._counts["ends"]):
            counts = np.zeros((len(into), base))  # a row for each history, a column for each label, and for the end
            counts[:, :-1] = into[:, : self._n_labels]
            counts.reshape(-1, base, base)[:, :-1, -1] = end[:, : self._n_labels]
            known = counts
            if not self._oracle.learn_transitions:  # all histories are alike
                known = np.tile(counts.sum(axis=0) if len(counts) == base else 0.0 * counts[0], (len(counts), 1))
            prior = np.tile(shorter, (len(counts) // len(shorter), 1))
            mass = smoothing * base
            found = (known + mass * prior) / (known.sum(axis=1, keepdims=True) + mass)
            value = -float(np.vdot(counts, np.log(found)))
            level = np.log(found) - (np.log(prior) if transitions else 0.0)
            transitions.append(np.zeros(into.shape, dtype=np.float32))
            transitions[-1][:, : self._n_labels] = level[:, :-1]
            ends.append(np.zeros(end.shape, dtype=np.float32))
            ends[-1][:, : self._n_labels] = level.reshape(-1, base, base)[:, :-1, -1]
            shorter = found
        return transitions, ends, value
