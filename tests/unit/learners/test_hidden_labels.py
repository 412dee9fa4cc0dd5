"""Labels that stand for several hidden ones: searches, sums and gradients against a listing of all labellings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr
from margent.learners import CRF, Perceptron
from oracle import perceptron as plain

VISIBLE, HIDDEN, FEATURES, LENGTHS = 2, 2, 3, (3, 1, 4, 2)
LABELS = VISIBLE * HIDDEN
WAYS = np.tile(np.arange(HIDDEN, 0, -1, dtype=np.int32), VISIBLE)  # to the end of the labels that are one


class Problem:
    """Random tokens and weights; gold labels count the hidden ones before theirs, None where nothing is known."""

    def __init__(self, seed: int, order: int = 1, *, missing: bool = False, edges: bool = False) -> None:
        self.random = random = np.random.default_rng([seed, order])
        self.order, self.edges = order, edges
        self.gold = [
            [None if missing and random.random() < 0.3 else HIDDEN * int(random.integers(VISIBLE)) for _ in range(n)]
            for n in LENGTHS
        ]
        self.examples = [
            plain.Example(
                [{i: float(np.float32(random.normal())) for i in range(FEATURES)} for _ in gold],
                [{0: float(np.float32(random.normal()))} if edges else {} for _ in gold],
                gold,
            )
            for gold in self.gold
        ]
        ids, values, ptr = self._rows([token for e in self.examples for token in e.tokens])
        edge_ids, edge_values, edge_ptr = self._rows([token for e in self.examples for token in e.edges])
        labels = [-1 if y is None else y for gold in self.gold for y in gold]
        encoded = Encoded(
            sequence_ptr(LENGTHS), ids, ptr, values, *((edge_ids, edge_ptr, edge_values) if edges else (None,) * 3)
        )
        examples = encoded.examples(np.array(labels, dtype=np.int32), hidden=WAYS)
        self.costs = [1.0, 1.0, 2.5, 2.5]
        self.oracle = _core.ChainOracle(examples, LABELS, order, True, FEATURES, int(edges), False, self.costs)
        plain_costs = _core.ChainOracle(examples, LABELS, order, True, FEATURES, int(edges), False, [])
        self.likelihood = plain_costs.likelihood(all_pairs=True, all_transitions=True)
        self.best = plain_costs.likelihood(all_pairs=True, all_transitions=True, best_completion=True)

    @staticmethod
    def _rows(tokens: list[dict[int, float]]) -> Any:
        ids = np.array([i for token in tokens for i in token], dtype=np.int32)
        values = np.array([v for token in tokens for v in token.values()], dtype=np.float32)
        return ids, values, sequence_ptr([len(token) for token in tokens])

    def fits(self, number: int, labels: Any) -> list[bool]:
        return [gold is None or gold <= y < gold + HIDDEN for gold, y in zip(self.gold[number], labels)]

    def loss(self, number: int, labels: Any) -> float:
        wrong = zip(self.gold[number], self.fits(number, labels))
        return float(sum(self.costs[gold] for gold, right in wrong if gold is not None and not right))


def names(order: int, edges: bool) -> list[Any]:
    """The parameters of the likelihood in their order."""
    symbols: list[Any] = [*range(LABELS), None]
    out: list[Any] = [("token", i, y) for i in range(FEATURES) for y in range(LABELS)]
    if edges:
        out += [("edge", 0, p, y) for p in symbols for y in range(LABELS)]
    histories: list[Any] = [()]
    for _ in range(order):
        out += [("end", history, y) for history in histories for y in range(LABELS)]
        histories = [(symbol, *history) for symbol in symbols for history in histories]
        out += [("step", history, y) for history in histories for y in range(LABELS)]
    return out


def exported(problem: Problem) -> dict[Any, float]:
    """The weights of the oracle by name."""
    weights = problem.oracle.weights(False)
    named: dict[Any, float] = {}
    symbols: list[Any] = [*range(LABELS), None]
    for i, row in enumerate(weights["unigrams"]):
        named |= {("token", i, y): float(row[y]) for y in range(LABELS)}
    for kind, fewer, levels in (("step", 0, weights["transitions"]), ("end", 1, weights["ends"])):
        for j, level in enumerate(levels):
            for code, row in enumerate(level):
                digits = [code // (LABELS + 1) ** d % (LABELS + 1) for d in range(j + 1 - fewer)][::-1]
                named |= {(kind, tuple(symbols[d] for d in digits), y): float(row[y]) for y in range(LABELS)}
    return named


def start(problem: Problem) -> None:
    weights = problem.oracle.weights(False)
    noise = lambda a: problem.random.normal(size=a.shape).astype(np.float32)  # noqa: E731
    problem.oracle.start_from(
        {
            "unigrams": noise(weights["unigrams"]),
            "edges": None,
            "transitions": [noise(level) for level in weights["transitions"]],
            "ends": [noise(level) for level in weights["ends"]],
        }
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("cost", [0.0, 0.75])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("order", [1, 2])
def test_gold_is_the_best_of_what_is_right(order: int, k: int, cost: float, missing: bool) -> None:
    problem = Problem(3, order, missing=missing)
    start(problem)
    weights = exported(problem)
    for number, example in enumerate(problem.examples):
        if all(y is None for y in problem.gold[number]):
            continue
        score = {y: plain.dot(weights, plain.features(example, y, order)) for y in plain.labellings(example, LABELS)}
        right = max(s for y, s in score.items() if all(problem.fits(number, y)))
        ranked = sorted(score, key=lambda y: -score[y] - cost * problem.loss(number, y))[:k]
        gold_score, rivals = problem.oracle.ask(number, k, cost)
        assert gold_score == pytest.approx(right, abs=1e-4)
        assert len(rivals) == min(k, len(score))
        for found, y in zip(rivals, ranked):
            assert found[0] == pytest.approx(score[y], abs=1e-4)
            assert found[1] == pytest.approx(problem.loss(number, y))
            assert found[2] == problem.fits(number, y).count(False)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("completion", ["all", "best"])
def test_the_likelihood_of_what_is_right(completion: str, order: int, edges: bool, missing: bool) -> None:
    """Value by enumeration, gradient by finite differences."""
    problem = Problem(5, order, edges=edges, missing=missing)
    likelihood = problem.likelihood if completion == "all" else problem.best
    keys = names(order, edges)
    assert likelihood.n_parameters <= len(keys)
    w = problem.random.normal(size=likelihood.n_parameters)
    value, gradient = likelihood.evaluate(w)
    for f in range(0, len(w), 3):
        step = np.zeros_like(w)
        step[f] = 1e-3
        slope = (likelihood.evaluate(w + step)[0] - likelihood.evaluate(w - step)[0]) / 2e-3
        assert gradient[f] == pytest.approx(slope, abs=1e-2)
    if order == 1 and not edges:
        named = dict(zip(keys, w.tolist()))
        assert len(keys) == likelihood.n_parameters
        total = 0.0
        for number, example in enumerate(problem.examples):
            if all(y is None for y in problem.gold[number]):
                continue
            score = {y: plain.dot(named, plain.features(example, y, 1)) for y in plain.labellings(example, LABELS)}
            right = [s for y, s in score.items() if all(problem.fits(number, y))]
            top = max(right) if completion == "best" else np.logaddexp.reduce(right)
            total += np.logaddexp.reduce(list(score.values())) - top
        assert value == pytest.approx(total, rel=1e-5)


def test_separable_data_stay_separable() -> None:
    """Theorem 4 of paper 003: splitting labels leaves a margin, so the latent perceptron converges."""
    random = np.random.default_rng(0)
    lengths = [5] * 40
    n = sum(lengths)
    ids = random.integers(0, 12, n).astype(np.int32)
    labels = (ids % 3).astype(np.int32)
    for hidden in (1, 2, 4):
        encoded = Encoded(sequence_ptr(lengths), ids, np.arange(n + 1), None)
        ways = np.tile(np.arange(hidden, 0, -1, dtype=np.int32), 3)
        oracle = _core.ChainOracle(
            encoded.examples(labels * hidden, hidden=ways), 3 * hidden, 1, True, 12, 0, False, []
        )
        weights = oracle.weights(False)
        weights["unigrams"] = random.normal(size=weights["unigrams"].shape).astype(np.float32)
        oracle.start_from(weights)
        rule = Perceptron().rule()
        updates = [_core.run(oracle, rule, random.permutation(len(lengths))).updates for _ in range(30)]
        assert updates[0] > 0
        assert updates[-1] == 0


def test_a_field_says_what_counts_as_right() -> None:
    with pytest.raises(ValueError, match="completion of CRF should be one of all, best, got 'some'"):
        CRF(completion="some")  # type: ignore[arg-type]
