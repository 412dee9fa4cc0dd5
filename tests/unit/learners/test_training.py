"""The training loop: history, early stopping, interruption, order, and oracles written in Python."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import margent
from margent import Answer, Perceptron, Rival, train
from margent.learners import Epoch, learner_named
from margent.learners.progress import ProgressBar


class Classes:
    """The smallest structure: one label for each example, real features."""

    def __init__(self, n: int = 40, noise: float = 0.0, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.y = random.integers(0, 3, n)
        self.X = np.eye(3)[self.y] * 2 + random.normal(size=(n, 3)) * noise
        self.asked: list[int] = []

    n_features = 9

    def __len__(self) -> int:
        return len(self.y)

    def features(self, i: int, label: int) -> dict[int, float]:
        return {3 * label + j: float(x) for j, x in enumerate(self.X[i])}

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        self.asked.append(i)
        scores = weights.reshape(3, 3) @ self.X[i] + cost * (np.arange(3) != self.y[i])
        best = int(np.argmax(scores))
        wrong = int(best != self.y[i])
        return Answer(self.features(i, int(self.y[i])), [Rival(self.features(i, best), loss=wrong, errors=wrong)])


class Matching:
    """Permutations: which of n things goes with which of n others. Margent has no such structure."""

    def __init__(self, n_examples: int = 30, size: int = 4, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.size = size
        truth = random.normal(size=5)
        self.X = random.normal(size=(n_examples, size, size, 5))  # features of each pair
        self.gold = [self.best(x @ truth) for x in self.X]

    def best(self, scores: Any) -> tuple[int, ...]:
        return max(itertools.permutations(range(self.size)), key=lambda p: sum(scores[i, j] for i, j in enumerate(p)))

    n_features = 5

    def __len__(self) -> int:
        return len(self.X)

    def features(self, i: int, permutation: tuple[int, ...]) -> dict[int, float]:
        total = sum(self.X[i, a, b] for a, b in enumerate(permutation))
        return dict(enumerate(total.tolist()))

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        found = self.best(self.X[i] @ weights)
        wrong = sum(a != b for a, b in zip(found, self.gold[i]))
        return Answer(
            self.features(i, self.gold[i]),
            [Rival(self.features(i, found), loss=wrong, errors=wrong)],
            n_positions=self.size,
        )


class Bracketing:
    """Binary trees over words, found by the CKY algorithm; a tree is known by its spans."""

    def __init__(self, sentences: list[str], trees: list[set[tuple[int, int]]]) -> None:
        self.sentences = [sentence.split() for sentence in sentences]
        self.trees = trees
        pairs = {
            (words[i], words[j - 1], j - i)
            for words in self.sentences
            for i in range(len(words))
            for j in range(i + 1, len(words) + 1)
        }
        self.ids = {pair: number for number, pair in enumerate(sorted(pairs))}

    @property
    def n_features(self) -> int:
        return len(self.ids)

    def __len__(self) -> int:
        return len(self.sentences)

    def span_id(self, words: list[str], i: int, j: int) -> int:
        return self.ids[words[i], words[j - 1], j - i]

    def best(self, words: list[str], weights: Any) -> set[tuple[int, int]]:
        n = len(words)
        chart: dict[tuple[int, int], tuple[float, frozenset[tuple[int, int]]]] = {
            (i, i + 1): (0.0, frozenset()) for i in range(n)
        }
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                j = i + width
                score, spans = max(
                    ((chart[i, m][0] + chart[m, j][0], chart[i, m][1] | chart[m, j][1]) for m in range(i + 1, j)),
                    key=lambda option: option[0],
                )
                chart[i, j] = score + float(weights[self.span_id(words, i, j)]), spans | {(i, j)}
        return set(chart[0, n][1])

    def features(self, i: int, tree: set[tuple[int, int]]) -> dict[int, float]:
        vector: dict[int, float] = {}
        for a, b in tree:
            feature = self.span_id(self.sentences[i], a, b)
            vector[feature] = vector.get(feature, 0.0) + 1
        return vector

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        found = self.best(self.sentences[i], weights)
        wrong = len(found - self.trees[i])
        return Answer(
            self.features(i, self.trees[i]),
            [Rival(self.features(i, found), loss=wrong, errors=wrong)],
            n_positions=len(self.trees[i]),
        )


@pytest.mark.parametrize("average", [False, True])
def test_a_structure_that_margent_does_not_have_is_learned(average: bool) -> None:
    oracle = Matching()
    result = train(Perceptron(epochs=100, average=average), oracle)
    assert result.history[0].updates > 0
    errors = [
        sum(a != b for a, b in zip(oracle.best(x @ result.weights), gold)) for x, gold in zip(oracle.X, oracle.gold)
    ]
    assert sum(errors) == 0
    assert result.history[-1].accuracy == 1 and result.history[-1].loss == 0


def test_trees_are_learned() -> None:
    sentences = ["the old man saw a dog", "a dog saw the man", "the dog with a bone saw the man"]
    trees = [
        {(0, 6), (0, 3), (1, 3), (3, 6), (4, 6)},
        {(0, 5), (0, 2), (2, 5), (3, 5)},
        {(0, 8), (0, 5), (0, 2), (2, 5), (3, 5), (5, 8), (6, 8)},
    ]
    oracle = Bracketing(sentences, trees)
    result = train(Perceptron(epochs=50, average=False), oracle)
    assert [oracle.best(words, result.weights) for words in oracle.sentences] == trees
    assert result.history[-1].accuracy == 1


def test_the_example_of_the_protocol_works_as_it_stands() -> None:
    import margent.learners.protocol as protocol

    text = protocol.__doc__ or ""
    code = "\n".join(line[4:] for line in text.split("one that runs:")[1].splitlines())
    code = code.replace(
        "def __init__(self, X, y, n_classes): ...",
        "def __init__(self, X, y, n_classes):\n        self.X, self.y, self.n_classes = X, y, n_classes",
    )
    data = Classes()
    space: dict[str, Any] = {"Answer": Answer, "Rival": Rival, "margent": margent, "X": data.X, "y": data.y}
    exec(code, space)
    assert (np.argmax(data.X @ space["result"].weights.reshape(3, 3).T, axis=1) == data.y).all()


def test_history_tells_of_every_epoch() -> None:
    result = train(Perceptron(epochs=4), Classes(noise=1.5))
    assert [epoch.epoch for epoch in result.history] == [1, 2, 3, 4]
    assert result.best_epoch is None and not result.interrupted
    for epoch in result.history:
        assert epoch.seconds > 0 and epoch.dev_score is None
        assert epoch.accuracy == 1 - epoch.updates / 40 and epoch.loss == epoch.updates
        known = {"epoch", "loss", "accuracy", "updates", "seconds", "dev_score"}
        assert set(epoch.as_dict()) == known | {"objective", "primal", "gap", "rank", "dev_lifted"}


def test_the_order_of_examples() -> None:
    plain = Classes(10, noise=2)
    train(Perceptron(epochs=2, shuffle=False), plain)
    assert plain.asked == [*range(10)] * 2
    orders = []
    for seed in (1, 1, 2):
        oracle = Classes(10, noise=2)
        train(Perceptron(epochs=2), oracle, seed=seed)
        orders.append(oracle.asked)
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0][:10]) == [*range(10)] and orders[0][:10] != orders[0][10:]


def test_same_seed_same_weights() -> None:
    runs = [train(Perceptron(epochs=3), Classes(noise=2), seed=seed).weights for seed in (4, 4, 5)]
    assert (runs[0] == runs[1]).all() and not (runs[0] == runs[2]).all()


def test_training_ends_when_nothing_can_change() -> None:
    assert len(train(Perceptron(epochs=50, average=False), Classes()).history) < 10
    assert len(train(Perceptron(epochs=50, average=True), Classes()).history) == 50  # the average goes on moving


def test_the_average_is_that_of_all_steps() -> None:
    kept: list[Any] = []

    class Watched(Classes):
        def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
            kept.append(weights)
            return super().answer(i, weights, k, cost)

    result = train(Perceptron(epochs=2), Watched(noise=2))
    last = train(Perceptron(epochs=2, average=False), Classes(noise=2)).weights
    np.testing.assert_allclose(result.weights, np.mean([*kept, last], axis=0), atol=1e-9)


def scores(*values: float) -> Any:
    remaining = list(values)
    return lambda weights: remaining.pop(0)


def test_the_best_epoch_is_kept() -> None:
    seen: list[Any] = []

    def evaluate(weights: Any) -> float:
        seen.append(weights)
        return [0.1, 0.9, 0.9, 0.2][len(seen) - 1]

    result = train(Perceptron(epochs=4), Classes(noise=2), evaluate=evaluate)
    assert result.best_epoch == 2
    assert (result.weights == seen[1]).all() and not (result.weights == seen[3]).all()
    assert [epoch.dev_score for epoch in result.history] == [0.1, 0.9, 0.9, 0.2]


def test_patience_ends_the_training() -> None:
    learner = Perceptron(epochs=20, patience=2)
    result = train(learner, Classes(noise=2), evaluate=scores(0.1, 0.5, 0.4, 0.5, 0.9))
    assert len(result.history) == 4 and result.best_epoch == 2
    rising = train(learner, Classes(noise=2), evaluate=scores(*np.linspace(0, 1, 20)))
    assert len(rising.history) == 20 and rising.best_epoch == 20
    with pytest.raises(ValueError, match="patience=2 needs development data"):
        train(learner, Classes())


def test_a_callback_may_end_the_training() -> None:
    seen: list[int] = []

    def stop(epoch: Any) -> bool:
        return epoch.epoch == 3

    result = train(
        Perceptron(epochs=9), Classes(noise=2), callbacks=(c for c in (lambda e: seen.append(e.epoch), stop))
    )
    assert seen == [1, 2, 3] and len(result.history) == 3 and not result.interrupted


def test_ctrl_c_keeps_the_best_weights() -> None:
    kept: list[Any] = []

    def evaluate(weights: Any) -> float:
        kept.append(weights)
        return [0.3, 0.7, 0.5][len(kept) - 1]

    def interrupt(epoch: Any) -> None:
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    result = train(Perceptron(epochs=9), Classes(noise=2), evaluate=evaluate, callbacks=[interrupt])
    assert result.interrupted and result.best_epoch == 2 and (result.weights == kept[1]).all()
    assert len(result.history) == 3
    plain = train(Perceptron(epochs=9), Classes(noise=2), callbacks=[interrupt])
    assert plain.interrupted and (plain.weights == train(Perceptron(epochs=3), Classes(noise=2)).weights).all()


def test_ctrl_c_within_an_epoch_keeps_what_was_learned() -> None:
    class Interrupted(Classes):
        def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
            if len(self.asked) == 30:
                raise KeyboardInterrupt
            return super().answer(i, weights, k, cost)

    result = train(Perceptron(epochs=3), Interrupted(noise=2))
    assert result.interrupted and result.history == [] and result.weights.any()


def test_errors_of_an_oracle_come_through() -> None:
    class Broken(Classes):
        def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
            if i == 7:
                raise ZeroDivisionError("in my oracle")
            return super().answer(i, weights, k, cost)

    with pytest.raises(ZeroDivisionError, match="in my oracle"):
        train(Perceptron(), Broken())


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (Answer({9: 1.0}, []), IndexError, r"feature index outside 0 \.\. n_features - 1"),
        (Answer({-1: 1.0}, []), IndexError, "feature index outside"),
        (Answer({0: 1.0}, [Rival({9: 1.0})]), IndexError, "feature index outside"),
        (Answer({2**70: 1.0}, []), IndexError, "fit"),
        (Answer({0: float("nan")}, []), ValueError, "a feature value that is not finite"),
        (Answer({0: 1.0}, [Rival({0: float("inf")})]), ValueError, "a feature value that is not finite"),
        (Answer({0: 1.0}, [Rival({0: 1.0}, loss=float("nan"))]), ValueError, "a loss that is not finite"),
        (Answer({0: 1.0}, [Rival({0: 1.0}, errors=-1)]), ValueError, "negative number of errors"),
        (Answer({0: 1.0}, [], n_positions=-1), ValueError, "negative number of positions"),
        (Answer({0: 1.0}, [], weight=float("inf")), ValueError, "a weight that is not finite"),
        (Answer({0.5: 1.0}, []), TypeError, "float"),
        (Answer({"a": 1.0}, []), TypeError, "str"),
        (Answer({0: "a"}, []), TypeError, "str"),
        (Answer(5, []), TypeError, "int"),
        (Answer({0: 1.0}, 5), TypeError, "int"),
        (({0: 1.0}, []), AttributeError, "gold"),
        (None, AttributeError, "gold"),
    ],
)
def test_a_wrong_answer_is_explained(answer: Any, error: type[Exception], words: str) -> None:
    class Wrong(Classes):
        def answer(self, *_: Any) -> Answer:
            return answer  # type: ignore[no-any-return]

    with pytest.raises(error, match=words):
        train(Perceptron(), Wrong())


@pytest.mark.parametrize("name", ["perceptron", "pa", "rpa", "mira", "sdm", "larank", "ssvm", "arow"])
def test_more_rivals_than_were_asked_for_are_refused(name: str) -> None:
    class Generous(Classes):
        def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
            gold = int(self.y[i])
            rivals = [Rival(self.features(i, (gold + j) % 3)) for j in (1, 2)]
            return Answer(self.features(i, gold), rivals * (100 * k))

    learner = learner_named(name)
    k = getattr(learner, "k", 1)
    with pytest.raises(ValueError, match=f"answered with {200 * k} rivals, at most k = {k} were asked for"):
        train(learner, Generous())


def test_weights_that_are_no_numbers_are_an_error() -> None:
    class Huge(Classes):
        def features(self, i: int, label: int) -> dict[int, float]:
            return {index: 1e30 * value for index, value in super().features(i, label).items()}

    with pytest.raises(ValueError, match=r"training diverged: .* scale the features"):
        train(Perceptron(epochs=1), Huge())
    X = np.random.default_rng(0).normal(size=(20, 4, 2)) * 1e30
    with pytest.raises(ValueError, match="training diverged"):
        margent.Tagger(learner=Perceptron(epochs=2)).fit(list(X), [["A", "B", "A", "B"]] * 20)


def test_feature_vectors_may_be_any_mapping_of_numbers() -> None:
    class Other(Classes):
        def features(self, i: int, label: int) -> Any:
            vector: Mapping[Any, Any] = {np.int64(k): np.float32(v) for k, v in super().features(i, label).items()}
            return MappingProxyType(vector)

    found, wanted = (train(Perceptron(epochs=2), kind()) for kind in (Other, Classes))
    np.testing.assert_allclose(found.weights, wanted.weights, rtol=1e-6)


def test_what_is_no_oracle_is_refused() -> None:
    with pytest.raises(TypeError, match=r"and the structure 'list' does not find them \(it has no `answer`\)"):
        train(Perceptron(), [])  # type: ignore[arg-type]


def test_no_examples() -> None:
    result = train(Perceptron(epochs=2), Classes(0))
    assert not result.weights.any() and result.history[0].accuracy == 1


def test_example_weights_scale_the_step() -> None:
    class Weighted(Classes):
        def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
            return super().answer(i, weights, k, cost)._replace(weight=0.25)

    one = train(Perceptron(epochs=1, average=False), Classes(noise=2)).weights
    quarter = train(Perceptron(epochs=1, average=False), Weighted(noise=2)).weights
    np.testing.assert_allclose(quarter, one / 4)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is written to standard error goes to a terminal that is wide enough, as far as rich knows."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("terminal")
def test_a_progress_bar_is_shown_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    train(Perceptron(epochs=2), Classes(), progress=True, evaluate=lambda weights: 0.5)
    shown = capsys.readouterr()
    assert shown.out == "" and "epoch 2: accuracy 1.0000, development 0.5000" in shown.err
    train(Perceptron(epochs=2), Classes(), progress=False)
    assert capsys.readouterr() == ("", "")
    train(Perceptron(epochs=2), Classes())  # not a terminal
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(
    ("accuracy", "objective", "text"),
    [
        (0.5, None, "epoch 3: accuracy 0.5000 "),
        (0.5, 3.0, "epoch 3: accuracy 0.5000 "),
        (None, 3.25, "epoch 3: objective 3.25 "),
        (None, None, "epoch 3: "),
    ],
)
def test_the_bar_shows_what_is_known_of_an_epoch(
    capsys: pytest.CaptureFixture[str], accuracy: float | None, objective: float | None, text: str
) -> None:
    for shown in (True, False):
        with ProgressBar(1, 1, shown=shown) as bar:
            bar.epoch_done(Epoch(3, 0.0, accuracy, 1, 0.1, objective=objective))
        written = capsys.readouterr()
        assert written.out == "" and (text in written.err if shown else written.err == "")
        assert "accuracy" not in written.err or accuracy is not None
        assert "objective" not in written.err or accuracy is None
