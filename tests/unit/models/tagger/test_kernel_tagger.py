"""Taggers whose features are a kernel: all that a tagger does, and what only a kernel can."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import margent
from margent import CRF, HiddenMarkovSVM, Kernel, Perceptron, Tagger
from margent.errors import CorpusError
from margent.features.kernel_map import KernelMap
from margent.learners import LEARNERS

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")

DICE = np.random.default_rng(0)
BITS = [DICE.integers(0, 2, (DICE.integers(3, 8), 2)).astype(np.float64) for _ in range(60)]
XOR = [["odd" if a != b else "even" for a, b in rows] for rows in BITS]
X, Y = margent.make_addresses(60, seed=2)
SMALL = Kernel("polynomial", gamma=0.03)


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(SMALL, HiddenMarkovSVM(epochs=4)).fit(X[:40], Y[:40])


@pytest.mark.parametrize("kind", ["polynomial", "rbf"])
def test_a_kernel_learns_what_no_line_separates(kind: str) -> None:
    linear = Tagger(learner=Perceptron(epochs=30)).fit(BITS[:40], XOR[:40])
    kernel = Tagger(Kernel(kind, window=1), Perceptron(epochs=30)).fit(BITS[:40], XOR[:40])
    assert linear.score(BITS[40:], XOR[40:]) < 0.8
    assert kernel.score(BITS[40:], XOR[40:]) == 1
    assert kernel.n_features_in_ == 2 and kernel.feature_map_.n_unigrams <= 4  # all the tokens there are


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if hasattr(learner, "rule")])
def test_every_learner_that_moves_example_by_example(name: str) -> None:
    learner = LEARNERS[name](epochs=10)
    tagger = Tagger(Kernel("polynomial", window=1, gamma=1), learner).fit(BITS[:40], XOR[:40])
    assert tagger.score(BITS[40:], XOR[40:]) > 0.95


def test_a_learner_of_another_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="CRF sums over all answers, and the structure 'chain with a kernel' has no"):
        Tagger(SMALL, CRF()).fit(X, Y)


def test_a_linear_kernel_is_the_linear_tagger() -> None:
    lines = ["Uw=%x[0,0]", "Us=%x[0,0.suffix2]", "B"]
    learner = Perceptron(epochs=3)
    linear = Tagger(lines, learner).fit(X[:40], Y[:40])
    kernel = Tagger(Kernel("linear", gamma=1, window=1, features=lines), learner).fit(X[:40], Y[:40])
    for one, other in zip(linear.predict_k_best(X[40:], k=2), kernel.predict_k_best(X[40:], k=2)):
        assert [reading.score for reading in other] == pytest.approx([reading.score for reading in one], rel=1e-3)
        assert other[0].labels == one[0].labels


def test_scores_are_sums_of_kernel_values(tagger: Tagger) -> None:
    map_, weights = tagger.feature_map_, tagger.weights_
    assert isinstance(map_, KernelMap) and isinstance(weights.unigrams, np.ndarray)
    assert weights.unigrams.any(axis=1).all()  # support alone is kept
    sentence = X[50]
    (best,) = tagger.predict_k_best([sentence], k=1)[0]
    ids = [tagger.model_.labels.ids[label] for label in best.labels]
    encoded = map_.encode([sentence])
    total = float(weights.ends[0][0, ids[-1]])
    for t, label in enumerate(ids):
        support, values = map_.contributions(encoded, t)
        total += float(values.astype(np.float64) @ weights.unigrams[support, label])
        total += float(weights.transitions[0][ids[t - 1] if t else weights.n_labels, label])
    assert best.score == pytest.approx(total, rel=1e-4)


def test_sentences_alone_and_together(tagger: Tagger) -> None:
    together = tagger.predict(X[40:])
    assert [tagger.predict([sentence])[0] for sentence in X[40:]] == together
    assert tagger.predict([]) == [] and tagger.predict([[]]) == [[]]
    assert tagger.set_params(threads=2).predict(X[40:]) == together
    tables = tagger.predict_marginals(X[40:])
    assert all(np.allclose(table.sum(axis=1), 1) for table in tables)
    assert [len(spans) for spans in tagger.predict_spans(X[40:])] == [
        len(margent.annotation.spans(labels)) for labels in together
    ]
    assert len(tagger.sample(X[40:42], n=3, seed=1)[0]) == 3


def test_an_explanation_names_the_tokens_that_pulled(tagger: Tagger) -> None:
    for why in tagger.explain(X[45], top=100_000):
        assert why.margin == pytest.approx(sum(part.weight for part in why.contributions) + why.rest, abs=1e-4)
    (few,) = tagger.explain(X[45], 1, top=4)
    assert len(few.contributions) == 4
    seen = {" ".join(word) for word in (["[" + word + "]"] for sentence in X[:40] for word in sentence)}
    names = [part.name for part in few.contributions if "->" not in part.name]
    assert names and all(any(word in name for word in seen) for name in names)
    for name, weight in tagger.top_features("O", 3):
        assert "[" in name and weight != 0


def test_constraints_schemes_and_dictionaries(tagger: Tagger) -> None:
    label = next(str(name) for name in tagger.classes_ if str(name).startswith("B-"))
    for labels in tagger.predict(X[40:45], [{0: label}] * 5):
        assert labels[0] == label
    tight = Tagger(SMALL, Perceptron(epochs=2), constrain=True, tag_dictionary=1).fit(X[:40], Y[:40])
    seen = {(word, label) for x, y in zip(X[:40], Y[:40]) for word, label in zip(x, y)}
    known = {word for word, _ in seen}
    predicted = tight.predict(X[40:])
    assert all((w, y) in seen for x, ys in zip(X[40:], predicted) for w, y in zip(x, ys) if w in known)
    assert not any(a == "O" and b.startswith("I-") for labels in predicted for a, b in pairwise(labels))


def test_calibration(tagger: Tagger) -> None:
    assert tagger.calibrate(X[40:], Y[40:]).calibrated_
    held = Tagger(SMALL, Perceptron(epochs=2), calibration=0.2).fit(X[:40], Y[:40])
    assert held.calibrated_ and held.temperature_ > 0


def test_development_data_choose_the_epoch() -> None:
    data = {"X_dev": X[40:], "y_dev": Y[40:], "dev_metric": "accuracy"}
    tagger = Tagger(SMALL, Perceptron(epochs=5)).fit(X[:40], Y[:40], **data)
    scores = [epoch["dev_score"] for epoch in tagger.history_]
    assert tagger.best_epoch_ == 1 + int(np.argmax(scores))
    right = sum(a == b for p, y in zip(tagger.predict(X[40:]), Y[40:]) for a, b in zip(p, y))
    assert max(scores) == pytest.approx(right / sum(map(len, Y[40:])))


def test_the_cache_changes_nothing() -> None:
    found = []
    for megabytes in (0.001, 1, 1000):
        tagger = Tagger(Kernel("rbf", cache_mb=megabytes), HiddenMarkovSVM(epochs=2)).fit(X[:8], Y[:8])
        found.append([reading.score for (reading,) in tagger.predict_k_best(X, k=1)])
    assert found[0] == found[1] == found[2]


def test_going_on_keeps_the_support_and_adds_to_it() -> None:
    tagger = Tagger(SMALL, HiddenMarkovSVM(epochs=4)).fit(X[:30], Y[:30])
    names = [tagger.feature_map_.name(i) for i in range(tagger.feature_map_.n_unigrams)]
    before = tagger.score(X[30:], Y[30:])
    tagger.partial_fit(X[30:], Y[30:])
    after = {tagger.feature_map_.name(i) for i in range(tagger.feature_map_.n_unigrams)}
    assert tagger.score(X[30:], Y[30:]) > max(before, 0.9) and len(after & set(names)) > 0.9 * len(names)
    tagger.partial_fit([["Oxford", "Road"]] * 3, [["B-NEW", "I-NEW"]] * 3)
    assert tagger.predict([["Oxford", "Road"]]) == [["B-NEW", "I-NEW"]]


def test_a_training_that_fails_leaves_the_tagger_as_good_as_before() -> None:
    tagger = Tagger(SMALL, Perceptron(epochs=2)).fit(X[:20], Y[:20])
    wanted = tagger.predict_k_best(X, k=1)

    def fail(epoch: Any) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        tagger.partial_fit(X[20:], Y[20:], callbacks=[fail])
    found = tagger.predict_k_best(X, k=1)
    assert [a[0].labels for a in found] == [a[0].labels for a in wanted]
    with pytest.raises(ValueError, match="freeze_features is not for a kernel"):
        tagger.partial_fit(X[20:], Y[20:], freeze_features=True)
    with pytest.raises(CorpusError, match="nothing to learn from"):
        Tagger(SMALL, Perceptron()).fit([[]], [[]])


def test_an_interruption_in_the_kernel_keeps_what_was_learned() -> None:
    calls = iter(range(1_000_000))

    def interrupted(A: Any, B: Any) -> Any:
        if next(calls) == 20:
            raise KeyboardInterrupt
        return (A @ B.T).toarray()

    tagger = Tagger(Kernel(interrupted), HiddenMarkovSVM(epochs=5)).fit(X[:40], Y[:40])
    assert tagger.interrupted_ and tagger.feature_map_.n_unigrams > 0
    assert len(tagger.predict(X)) == len(X)

    def broken(A: Any, B: Any) -> Any:
        raise ZeroDivisionError("broken")

    with pytest.raises(ZeroDivisionError, match="broken"):  # as it is, so that its author finds it
        Tagger(Kernel(broken), HiddenMarkovSVM(epochs=5)).fit(X[:40], Y[:40])


def test_same_seed_same_model() -> None:
    for data, labels in ((X, Y), (BITS, XOR)):
        taggers = [
            Tagger(Kernel("rbf"), HiddenMarkovSVM(epochs=2), threads=threads).fit(data[:20], labels[:20])
            for threads in (1, 2)
        ]
        assert np.array_equal(*(tagger.weights_.unigrams for tagger in taggers))  # type: ignore[misc]
        scores = [[reading.score for (reading,) in tagger.predict_k_best(data, k=1)] for tagger in taggers]
        assert scores[0] == scores[1]


def test_scikit_learn_sets_its_parameters() -> None:
    tagger = Tagger(Kernel("rbf", window=1), Perceptron(epochs=5))
    assert clone(tagger).features == tagger.features
    search = GridSearchCV(tagger, {"features__gamma": [1e-6, 1.0]}, cv=2).fit(BITS, XOR)
    assert search.best_params_ == {"features__gamma": 1.0} and search.best_score_ > 0.95


def mine(A: Any, B: Any) -> Any:
    return (A @ B.T).toarray() ** 2


def lengths(sentence: list[str]) -> list[dict[str, Any]]:
    return [{"w": word, "n": len(word) / 10} for word in sentence]


def test_code_is_given_again_after_loading(tmp_path: Path) -> None:
    path = tmp_path / "m"
    tagger = Tagger(Kernel(mine, features=lengths), Perceptron(epochs=2)).fit(X[:20], Y[:20])
    tagger.save(path)
    assert margent.load(path, function=(mine, lengths)).predict(X) == tagger.predict(X)
    for wrong in (mine, (mine,), (mine, 1)):
        with pytest.raises(TypeError, match="function should be a pair, the kernel function and the feature function"):
            margent.load(path, function=wrong)
    with pytest.raises(CorpusError, match="trained with the feature function lengths; code is not stored"):
        margent.load(path).predict(X)
    Tagger(Kernel(mine), Perceptron(epochs=2)).fit(X[:20], Y[:20]).save(path)
    with pytest.raises(CorpusError, match="trained with the kernel function mine; code is not stored in model files"):
        margent.load(path).predict(X)
    with pytest.raises(TypeError, match="function should be the kernel function of the training"):
        margent.load(path, function=3)
    assert margent.load(path, function=mine).features == Kernel(mine)
    Tagger(SMALL, Perceptron(epochs=2)).fit(X[:20], Y[:20]).save(path)
    with pytest.raises(ValueError, match="not trained with a feature function; leave out"):
        margent.load(path, function=mine)


def test_dense_and_sparse_rows_may_follow_each_other() -> None:
    matrices = [sparse.csr_matrix(rows) for rows in BITS]
    for first, then in ((BITS, matrices), (matrices, BITS)):
        tagger = Tagger(Kernel(window=1), Perceptron(epochs=10)).fit(first[:40], XOR[:40])
        assert tagger.predict(then) == tagger.predict(first) == XOR
        assert tagger.partial_fit(then[:40], XOR[:40]).predict(first) == XOR


def test_support_sequences_make_up_the_weights(tagger: Tagger, tmp_path: Path) -> None:
    """Transitions are sums over support sequences (paper 001, equation 9b), so the two must agree."""
    from_alphas = np.zeros_like(tagger.weights_.transitions[0])
    names, n = tagger.classes_.tolist(), len(tagger.classes_)
    shown = [tagger.support_sequences(i) for i in range(40)]
    for support in shown:
        for weight, labels in support.sequences:
            for sequence, sign in ((support.gold, 1), (labels, -1)):
                ids = [n, *(names.index(label) for label in sequence)]
                for before, label in pairwise(ids):
                    from_alphas[before, label] += sign * weight
    np.testing.assert_allclose(from_alphas, tagger.weights_.transitions[0], atol=1e-3)
    first = next(support for support in shown if support.sequences)
    assert first.tokens == tuple(X[first.number]) and first.gold == tuple(Y[first.number])
    # They are stored, but not in a compact file, and other learners have none.
    tagger.save(tmp_path / "whole.margent")
    tagger.save(tmp_path / "compact.margent", compact=True)
    assert margent.load(tmp_path / "whole.margent").support_sequences(first.number) == first
    for other in (margent.load(tmp_path / "compact.margent"), Tagger().fit(X[:5], Y[:5])):
        with pytest.raises(ValueError, match="keeps no support sequences"):
            other.support_sequences(0)
    with pytest.raises(ValueError, match="there is no sentence 40: training had 40, counted from 0"):
        tagger.support_sequences(40)
    with pytest.raises(ValueError, match="sentence should be"):
        tagger.support_sequences(-1)
