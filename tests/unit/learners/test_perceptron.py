"""The perceptron and the chain oracle against a textbook twin, weight by weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.datasets.generated import make_separable
from margent.features.encoded import Encoded, sequence_ptr
from margent.learners import Perceptron, learner_named
from oracle import perceptron as plain

N_LABELS, N_FEATURES, N_EDGES = 3, 4, 2
Weights = dict[Any, float]


def rows(tokens: list[dict[int, float]]) -> tuple[Any, Any, Any]:
    ids = np.array([i for token in tokens for i in token], dtype=np.int32)
    values = np.array([v for token in tokens for v in token.values()], dtype=np.float32)
    return ids, values, sequence_ptr([len(token) for token in tokens])


def encoded(examples: list[plain.Example], edges: bool) -> _core.Examples:
    ids, values, ptr = rows([token for example in examples for token in example.tokens])
    edge_ids, edge_values, edge_ptr = rows([token for example in examples for token in example.edges])
    labels = [-1 if label is None else label for example in examples for label in example.labels]
    allowed = None
    if examples[0].allowed:
        sets = [sorted(labels) for example in examples for labels in example.allowed]
        allowed = np.array([i for s in sets for i in s], dtype=np.int32), sequence_ptr([len(s) for s in sets])
    return Encoded(
        sequence_ptr([len(example.labels) for example in examples]),
        ids,
        ptr,
        values,
        *((edge_ids, edge_ptr, edge_values) if edges else (None, None, None)),
    ).examples(np.array(labels, dtype=np.int32), np.array([e.weight for e in examples], dtype=np.float32), allowed)


class Problem:
    """A few random examples, random weights to start from, and the native oracle of both."""

    def __init__(
        self,
        seed: int,
        order: int,
        *,
        sparse: bool = False,
        edges: bool = False,
        missing: bool = False,
        costs: bool = False,
        pair_costs: bool = False,
        weights: bool = False,
        allowed: bool = False,
        transitions: bool = True,
    ) -> None:
        self.random = np.random.default_rng([seed, order])
        self.order, self.transitions = order, transitions
        self.examples = [self._example(n, edges, missing, weights, allowed) for n in (3, 1, 4, 2, 0, 3)]
        self.costs: list[Any] = [1.0, 2.5, 0.25] if costs else [1.0] * N_LABELS
        if pair_costs:
            self.costs = [[0.0, 2.5, 0.25], [1.5, 0.0, 3.0], [0.0, 0.75, 0.0]]
        self.oracle = _core.ChainOracle(
            encoded(self.examples, edges),
            N_LABELS,
            order,
            transitions,
            N_FEATURES,
            N_EDGES if edges else 0,
            sparse,
            np.ravel(self.costs).tolist() if costs or pair_costs else [],
        )
        # With zero weights all labellings are equally good, and which one is taken would be a matter of taste.
        start = self.oracle.weights(False)
        self.oracle.start_from(self._random_weights(start))
        self.start = self.weights(False)

    def _example(self, n: int, edges: bool, missing: bool, weights: bool, allowed: bool) -> plain.Example:
        def some(size: int) -> dict[int, float]:
            chosen = self.random.permutation(size)[: self.random.integers(0, size + 1)]
            return {int(i): float(np.float32(self.random.normal())) for i in chosen}

        labels: list[int | None] = self.random.integers(0, N_LABELS, n).tolist()
        sets = [{int(i) for i in self.random.permutation(N_LABELS)[:2]} | {y} for y in labels if y is not None]
        if missing:
            labels = [None if self.random.random() < 0.4 else y for y in labels]
        return plain.Example(
            [some(N_FEATURES) for _ in range(n)],
            [some(N_EDGES) if edges else {} for _ in range(n)],
            labels,
            float(np.float32(self.random.uniform(0.5, 2))) if weights else 1.0,
            sets if allowed else [],
        )

    def _random_weights(self, exported: dict[str, Any]) -> dict[str, Any]:
        def noise(array: Any) -> Any:
            random = np.zeros_like(array)
            random[..., :N_LABELS] = self.random.normal(size=(*array.shape[:-1], N_LABELS))
            return random

        def sparse_noise(n_rows: int, n_previous: int, width: int) -> Any:
            columns = np.array([p * width + y for p in range(n_previous) for y in range(N_LABELS)], dtype=np.int32)
            values = self.random.normal(size=n_rows * len(columns)).astype(np.float32)
            return np.arange(n_rows + 1) * len(columns), np.tile(columns, n_rows), values

        width = _core.padded_width(N_LABELS)
        unigrams, edges = exported["unigrams"], exported["edges"]
        levels = (lambda array: noise(array)) if self.transitions else np.zeros_like
        return {
            "unigrams": sparse_noise(N_FEATURES, 1, width) if isinstance(unigrams, tuple) else noise(unigrams),
            "edges": None if edges is None else sparse_noise(N_EDGES, N_LABELS + 1, width),
            "transitions": [levels(level) for level in exported["transitions"]],
            "ends": [levels(level) for level in exported["ends"]],
        }

    def weights(self, average: bool) -> Weights:
        """The oracle's weights under the names of the twin."""
        exported = self.oracle.weights(average)
        width = _core.padded_width(N_LABELS)
        symbols = [*range(N_LABELS), None]
        named: Weights = {}

        def table(rows_: Any, n_rows: int, columns: int) -> Any:
            if not isinstance(rows_, tuple):
                return rows_
            dense = np.zeros((n_rows, columns))
            for r in range(n_rows):
                part = slice(rows_[0][r], rows_[0][r + 1])
                dense[r, rows_[1][part]] = rows_[2][part]
            return dense

        for i, row in enumerate(table(exported["unigrams"], N_FEATURES, width)):
            named |= {("token", i, y): float(row[y]) for y in range(N_LABELS)}
        if exported["edges"] is not None:
            for i, row in enumerate(table(exported["edges"], N_EDGES, (N_LABELS + 1) * width)):
                matrix = row.reshape(N_LABELS + 1, width)
                named |= {
                    ("edge", i, p, y): float(matrix[q, y]) for q, p in enumerate(symbols) for y in range(N_LABELS)
                }
        for kind, fewer, levels in (("step", 0, exported["transitions"]), ("end", 1, exported["ends"])):
            for j, level in enumerate(levels):
                for code, row in enumerate(level):
                    digits = [code // (N_LABELS + 1) ** d % (N_LABELS + 1) for d in range(j + 1 - fewer)][::-1]
                    history = tuple(symbols[d] for d in digits)
                    named |= {(kind, history, y): float(row[y]) for y in range(N_LABELS)}
        return {key: value for key, value in named.items() if value != 0}

    def name_of(self) -> dict[int, Any]:
        """Index in the space of all weights to the name of the twin, found by adding 1 to each of them."""
        width, base = _core.padded_width(N_LABELS), N_LABELS + 1
        n_edges = 0 if self.oracle.weights(False)["edges"] is None else N_EDGES
        size = width * (N_FEATURES + n_edges * base + sum(base**j + base ** (j - 1) for j in range(1, self.order + 1)))
        names = {}
        for index in range(size):
            if index % width >= N_LABELS:
                continue
            before = self.weights(False)
            self.oracle.add({index: 1.0}, 1.0)
            after = self.weights(False)
            (name,) = [k for k in {**before, **after} if abs(after.get(k, 0) - before.get(k, 0)) > 0.5]
            names[index] = name
            self.oracle.add({index: 1.0}, -1.0)
        return names


def same(found: Weights, wanted: Weights) -> None:
    for key in {**found, **wanted}:
        assert found.get(key, 0.0) == pytest.approx(wanted.get(key, 0.0), abs=2e-4), key


CASES: list[dict[str, Any]] = [
    {},
    {"edges": True},
    {"missing": True},
    {"costs": True, "weights": True},
    {"margin": 1.5},
    {"margin": 0.5, "costs": True, "edges": True, "missing": True, "weights": True},
    {"allowed": True, "missing": True},
    {"transitions": False, "edges": True},
    {"margin": 0.5, "pair_costs": True, "missing": True},
]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_weights_are_those_of_the_textbook(order: int, sparse: bool, case: dict[str, Any]) -> None:
    options = dict(case)
    margin = options.pop("margin", 0.0)
    for seed in range(3):
        problem = Problem(seed, order, sparse=sparse, **options)
        sequence = np.concatenate([problem.random.permutation(6) for _ in range(3)])
        raw, average, mistakes = plain.train(
            problem.examples,
            sequence.tolist(),
            problem.start,
            N_LABELS,
            order,
            problem.costs,
            margin,
            problem.transitions,
        )
        outcome = _core.run(problem.oracle, Perceptron(margin=margin).rule(), sequence)
        assert outcome.wrong_examples == mistakes
        assert outcome.n_positions == 3 * sum(y is not None for e in problem.examples for y in e.labels)
        same(problem.weights(False), raw)
        same(problem.weights(True), average)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("costs", ["costs", "pair_costs"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_answers_are_those_of_enumeration(order: int, costs: str, sparse: bool) -> None:
    problem = Problem(7, order, sparse=sparse, edges=True, missing=True, **{costs: True})
    names = problem.name_of()
    for number, example in enumerate(problem.examples):
        weights = problem.weights(False)
        gold_score, rivals = problem.oracle.ask(number, 4, 0.75)
        if all(label is None for label in example.labels):
            assert rivals == []
            continue
        gold = plain.gold_side(example, weights, N_LABELS, order)
        gold_vector = plain.features(example, gold, order)
        assert gold_score == pytest.approx(plain.dot(weights, gold_vector), abs=1e-4)
        wanted = plain.rivals(example, weights, N_LABELS, order, problem.costs, 0.75)[:4]
        assert len(rivals) == len(wanted)
        for (score, loss, errors, delta), labels in zip(rivals, wanted):
            vector = plain.features(example, labels, order)
            assert score == pytest.approx(plain.dot(weights, vector), abs=1e-4)
            assert loss == pytest.approx(plain.loss(example, labels, problem.costs))
            assert errors == plain.errors(example, labels)
            difference = {key: gold_vector[key] - vector[key] for key in {**gold_vector, **vector}}
            same({names[index]: value for index, value in delta.items()}, difference)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_moving_along_a_rival_is_adding_its_delta(order: int, edges: bool, sparse: bool) -> None:
    one, two = (Problem(3, order, sparse=sparse, edges=edges, missing=True) for _ in range(2))
    for number in (0, 2, 5, 0):
        _, rivals = one.oracle.ask(number, 3, 1.0)
        again = two.oracle.ask(number, 3, 1.0)[1]
        for j, (_, _, _, delta) in enumerate(rivals):
            assert delta == again[j][3]
            one.oracle.move(j, 0.3 + j)
            two.oracle.add(delta, 0.3 + j)
        one.oracle.tick(), two.oracle.tick()
    same(one.weights(False), two.weights(False))
    same(one.weights(True), two.weights(True))
    assert one.oracle.ask(2, 1, 0.0)[0] == pytest.approx(two.oracle.ask(2, 1, 0.0)[0], abs=1e-4)


def test_a_move_without_an_answer_is_an_error() -> None:
    oracle = Problem(0, 1).oracle
    with pytest.raises(IndexError):
        oracle.move(0, 1.0)
    oracle.ask(0, 2, 0.0)
    with pytest.raises(IndexError):
        oracle.move(2, 1.0)
    for index in (-1, 10**9):
        with pytest.raises(IndexError):
            oracle.add({index: 1.0}, 1.0)
    with pytest.raises(IndexError):
        oracle.ask(6, 1, 0.0)
    with pytest.raises(IndexError):
        _core.run(oracle, Perceptron().rule(), np.array([6]))


@pytest.mark.parametrize("missing", [False, True])
def test_gold_that_is_not_allowed_moves_nothing(missing: bool) -> None:
    example = plain.Example([{0: 1.0}, {0: 1.0}], [{}, {}], [0, None if missing else 1], allowed=[{1, 2}, {0, 1, 2}])
    oracle = _core.ChainOracle(encoded([example], False), N_LABELS, 1, True, N_FEATURES, 0, False, [])
    outcome = _core.run(oracle, Perceptron().rule(), np.array([0]))
    assert outcome.updates == 0 and not oracle.weights(False)["unigrams"].any()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_mistakes_on_separable_data_keep_to_their_bound(seed: int, order: int) -> None:
    """At most (R |u| / gamma)^2 mistakes (Collins 2002, theorem 1; paper 004, theorem 2), R over the updates made."""
    sentences, labels, model = make_separable(60, 3, 8, margin=2, seed=seed)
    map_ = margent.features.feature_map_for(["U:%x[0,0]", "B"], sentences)
    ids = np.array([model.labels.index(y) for row in labels for y in row], dtype=np.int32)
    oracle = _core.ChainOracle(
        map_.encode(sentences, grow=True).examples(ids), 3, order, True, map_.n_unigrams, 0, False, []
    )
    mistakes, radius, left = 0, 0.0, len(sentences)
    while left:
        left = 0
        for number in range(len(sentences)):
            _, [(_, _, errors, delta)] = oracle.ask(number, 1, 0.0)
            if errors:
                left, mistakes = left + 1, mistakes + 1
                radius = max(radius, sum(value**2 for value in delta.values()) ** 0.5)
                oracle.move(0, 1.0)
        assert mistakes <= (radius * model.norm / model.margin) ** 2
    assert mistakes > 5


def test_separable_data_are_learned_without_an_error() -> None:
    sentences, labels, _ = make_separable(100, 4, 12, margin=1, seed=5)
    tagger = margent.Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=300, average=False)).fit(sentences, labels)
    assert tagger.history_[-1]["updates"] == 0 and tagger.history_[-1]["accuracy"] == 1
    assert len(tagger.history_) < 300  # nothing can change any more
    assert tagger.predict(sentences) == labels


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epochs": 0}, "epochs of Perceptron should be an integer of at least 1, got 0"),
        ({"epochs": 1.5}, "epochs"),
        ({"epochs": True}, "epochs"),
        ({"patience": 0}, "patience of Perceptron should be an integer of at least 1 or None"),
        ({"margin": -1}, "margin of Perceptron should be a number of at least 0"),
        ({"margin": float("nan")}, "margin"),
        ({"margin": "1"}, "margin"),
        ({"average": "yes"}, "average of Perceptron should be True or False"),
        ({"shuffle": None}, "shuffle"),
    ],
)
def test_wrong_parameters_are_explained(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Perceptron(**parameters)
    with pytest.raises(ValueError, match=words):
        learner_named("perceptron", **parameters)


def test_numbers_of_numpy_are_numbers() -> None:
    assert Perceptron(epochs=np.int64(3), margin=np.float32(0.5), average=np.bool_(True)).epochs == 3  # type: ignore[arg-type]


def test_unknown_learners_and_parameters_are_explained() -> None:
    with pytest.raises(ValueError, match="learner='perception' is not known; expected one of perceptron"):
        learner_named("perception")
    with pytest.raises(ValueError, match="the learner perceptron has no parameter 'epoch'; expected one of epochs"):
        learner_named("perceptron", epoch=3)
