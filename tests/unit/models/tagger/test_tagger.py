"""The tagger's answers against a listing of all labellings under its own weights."""

from __future__ import annotations

import copy
from collections import Counter
from itertools import pairwise, permutations, product
from typing import Any

import numpy as np
import pytest

import margent
from margent import Features, Perceptron, Tagger, _core
from margent.annotation.schemes import SCHEMES, labels_of, spans
from margent.datasets.generated import make_chain
from margent.errors import CorpusError, RestrictionWarning
from margent.formats.columns import Columns
from margent.learners import LEARNERS
from margent.models.labels import LabelSet
from margent.models.tagger.label_costs import costs_of
from oracle.tagging import labellings, probability

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")

LINES = ["U0:%x[0,0]", "U1:%x[-1,0]/%x[0,0]", "Us:%x[0,0.suffix1]", "B1:%x[0,0]", "B"]


def random_spans(random: np.random.Generator, length: int) -> list[tuple[int, int, str]]:
    found, t = [], 0
    while t < length:
        size = int(random.integers(1, 4))
        if random.random() < 0.6 and t + size <= length:
            found.append((t, t + size, str(random.choice(["X", "Y"]))))
        t += size
    return found


def corpus(n: int, seed: int = 0, scheme: str | None = None, length: tuple[int, int] = (1, 6)) -> tuple[Any, Any]:
    """Sentences of few words, so that mistakes remain; labels at random, or random spans in a scheme."""
    random = np.random.default_rng(seed)
    X = [[str(w) for w in random.choice(list("abcde"), random.integers(*length))] for _ in range(n)]
    if scheme is None:
        return X, [[str(y) for y in random.choice(["N", "V", "D"], len(x))] for x in X]
    return X, [labels_of(random_spans(random, len(x)), len(x), scheme) for x in X]


def listed(tagger: Tagger, sentence: Any, admit: Any = lambda labels: True) -> Any:
    """All labellings of a sentence as names, best first."""
    names = tagger.classes_
    encoded = tagger.feature_map_.encode([sentence])
    found = labellings(tagger.weights_, encoded, lambda ids: admit([names[i] for i in ids]))
    return [(score, [str(names[i]) for i in ids]) for score, ids in found]


def label_probability(readings: Any, t: int, name: str) -> float:
    return probability(readings, lambda labels: labels[t] == name)


def span_probability(readings: Any, best: list[str], span: tuple[int, int, str], *, plain: bool) -> float:
    """Of the labellings that have the labels of the best one in the span, and the span itself."""
    start, end, _ = span
    return probability(
        readings, lambda labels: labels[start:end] == best[start:end] and (plain or span in spans(labels))
    )


def fitted(order: int = 1, layout: str = "auto", **options: Any) -> Tagger:
    X, y = corpus(30, seed=order)
    return Tagger(Features(LINES, layout=layout), Perceptron(epochs=3), order=order, **options).fit(X, y)


TEST = [["a", "b"], ["e"], [], ["c", "c", "a", "z"], ["d", "a", "d", "b"]]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_answers_are_those_of_enumeration(order: int, layout: str) -> None:
    tagger = fitted(order, layout)
    best = tagger.predict(TEST)
    readings = tagger.predict_k_best(TEST, k=7)
    marginals = tagger.predict_marginals(TEST)
    for s, sentence in enumerate(TEST):
        wanted = listed(tagger, sentence)
        assert best[s] == wanted[0][1]
        assert len(readings[s]) == min(7, len(wanted))
        for reading, (score, _) in zip(readings[s], wanted):
            assert reading.score == pytest.approx(score, abs=1e-4)
            assert reading.score == pytest.approx({tuple(y): v for v, y in wanted}[tuple(reading.labels)], abs=1e-4)
        assert len({tuple(reading.labels) for reading in readings[s]}) == len(readings[s])
        table = [[label_probability(wanted, t, name) for name in tagger.classes_] for t in range(len(sentence))]
        np.testing.assert_allclose(marginals[s], np.array(table).reshape(len(sentence), 3), atol=1e-5)


@pytest.mark.parametrize("values", [False, True])
def test_real_values_count(values: bool) -> None:
    random = np.random.default_rng(3)
    X = [random.normal(size=(random.integers(1, 5), 4)) for _ in range(30)]
    y = [[str(label) for label in random.choice(["A", "B"], len(x))] for x in X]
    if values:
        X = [[{f"f{i}": v for i, v in enumerate(row)} for row in x] for x in X]
    tagger = Tagger(learner=Perceptron(epochs=2)).fit(X, y)
    for sentence, found in zip(X[:10], tagger.predict(X[:10])):
        assert listed(tagger, sentence)[0][1] == found


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scheme", ["iob1", "iob2", "ioe2", "iobes", None])
def test_confidences_of_spans_are_sums_over_labellings(scheme: str | None, order: int) -> None:
    X, y = corpus(40, seed=9, scheme=scheme)
    tagger = Tagger(LINES, Perceptron(epochs=2), order=order).fit(X, y)
    assert tagger.scheme_ == scheme
    seen = 0
    short = [sentence[:3] for sentence in X]
    for sentence, best, found in zip(short, tagger.predict(short), tagger.predict_spans(short)):
        wanted = listed(tagger, sentence)
        if scheme is None:
            assert [(s.start, s.end, s.label) for s in found] == [(t, t + 1, label) for t, label in enumerate(best)]
        else:
            assert [(s.start, s.end, s.label) for s in found] == [tuple(span) for span in spans(best)]
        for start, end, label, confidence in found:
            seen += 1
            p = span_probability(wanted, best, (start, end, label), plain=scheme is None)
            assert confidence == pytest.approx(p, abs=1e-5)
    assert seen >= 5


def test_samples_come_with_their_probabilities() -> None:
    tagger = Tagger(LINES, Perceptron(epochs=1)).fit(*corpus(30, seed=1))
    sentence = ["a", "b"]
    drawn = Counter(map(tuple, tagger.sample([["e"], sentence], n=20_000, seed=3)[1]))
    wanted = listed(tagger, sentence)
    for _, labels in wanted:
        p = probability(wanted, labels.__eq__)
        assert abs(drawn[tuple(labels)] / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-9
    assert tagger.sample(TEST, n=3, seed=5) == tagger.sample(TEST, n=3, seed=5)
    assert [len(s) for s in tagger.sample(TEST, n=2)] == [2] * 5
    # A sentence's numbers are not those of its neighbour under the next seed.
    assert tagger.sample([sentence] * 2, n=50, seed=0)[1] != tagger.sample([sentence], n=50, seed=1)[0]
    for wrong in ({"n": 0}, {"n": -1}, {"n": 1.5}, {"seed": -1}, {"seed": "a"}):
        with pytest.raises(ValueError, match="should be an integer"):
            tagger.sample(TEST, **wrong)


# --- constraints built into the model


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_constrained_output_is_always_well_formed(scheme: str, order: int) -> None:
    X, y = corpus(40, seed=2, scheme=scheme, length=(1, 9))
    tagger = Tagger(LINES, Perceptron(epochs=2), constrain=True, scheme=scheme, order=order).fit(X, y)
    X_test, _ = corpus(50, seed=77, length=(1, 9))
    everything = [
        *tagger.predict(X_test),
        *(reading.labels for readings in tagger.predict_k_best(X_test, k=4) for reading in readings),
        *(labels for samples in tagger.sample(X_test, n=3) for labels in samples),
    ]
    for labels in everything:
        assert labels_of(spans(labels, scheme), len(labels), scheme) == labels


def test_a_list_of_forbidden_pairs() -> None:
    X, y = corpus(40, seed=4)
    pairs = [("N", "N"), (None, "D"), ("V", None), ("D", "V")]
    tagger = Tagger(LINES, Perceptron(epochs=2), constrain=pairs).fit(X, y)

    def admit(labels: list[str]) -> bool:
        return not any(pair in pairs for pair in pairwise([None, *labels, None]))

    for sentence, found in zip(TEST, tagger.predict(TEST)):
        if sentence:
            wanted = listed(tagger, sentence, admit)
            assert found == wanted[0][1]
            assert len(tagger.predict_k_best([sentence], k=100)[0]) == len(wanted)
    assert tagger.predict([[]]) == [[]]
    impossible = Tagger(LINES, constrain=[(None, "N"), (None, "V"), (None, "D")]).fit(X, y)
    for ask in ("predict", "predict_k_best", "predict_marginals", "predict_spans", "sample"):
        with pytest.warns(RestrictionWarning, match=r"constrain for 1 sentence \(the first: 1\)"):
            found = getattr(copy.deepcopy(impossible), ask)([[], ["a"]])
        free = copy.deepcopy(impossible)
        free.constrain = False
        if ask != "sample":  # which depends on the place among those that are searched together
            assert str(found) == str(getattr(free, ask)([[], ["a"]]))
    with pytest.warns(RestrictionWarning):
        assert len(impossible.explain(["a"])) == 1


@pytest.mark.parametrize(
    ("constrain", "words"),
    [
        ([("N", "Q")], "constrain names the label 'Q'"),
        (True, "constrain=True needs labels in a scheme"),
        ([("N",)], "list of pairs of labels"),
        (["NV"], "list of pairs of labels"),
        ([(1, 2)], "list of pairs of labels"),
    ],
)
def test_wrong_constraints_of_the_model_are_found_before_training(constrain: Any, words: str) -> None:
    X, y = corpus(10)
    with pytest.raises(ValueError, match=words):
        Tagger(LINES, constrain=constrain).fit(X, y)


def test_a_dictionary_of_labels() -> None:
    X = [["run", "the", "run"], ["the", "cat"], ["run"], ["odd"]]
    y = [["V", "D", "N"], ["D", "N"], ["V"], ["X"]]
    tagger = Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=2), tag_dictionary=2).fit(X, y)
    allowed = {"run": {"V", "N"}, "the": {"D"}}
    for sentence in product(["run", "the", "cat", "new"], repeat=3):
        (found,) = tagger.predict([list(sentence)])
        score = {
            tuple(labels): score
            for score, labels in listed(tagger, list(sentence))
            if all(label in allowed.get(word, {"V", "D", "N", "X"}) for word, label in zip(sentence, labels))
        }
        assert score[tuple(found)] == pytest.approx(max(score.values()), abs=1e-5)
    table = tagger.predict_marginals([["the"]])[0][0]
    assert table[list(tagger.classes_).index("D")] == 1 and (table > 0).sum() == 1
    # What the caller says holds even against the dictionary.
    assert tagger.predict([["the"]], constraints=[{0: "N"}]) == [["N"]]
    # It goes on counting, and knows new labels.
    tagger.partial_fit([["the", "the"], ["odd"]], [["Q", "Q"], ["N"]])
    assert {r.labels[0] for r in tagger.predict_k_best([["the"]], k=9)[0]} == {"D", "Q"}
    assert {r.labels[0] for r in tagger.predict_k_best([["odd"]], k=9)[0]} == {"X", "N"}
    with pytest.raises(CorpusError, match="expected str or a tuple of str, got dict"):
        Tagger(tag_dictionary=1).fit([[{"a": 1}]], [["N"]])


# --- going on


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_new_labels_and_features_leave_old_weights_alone(order: int, layout: str) -> None:
    tagger = fitted(order, layout)
    before = copy.deepcopy(tagger)
    old = {tuple(s): tagger.predict_k_best([s], k=200)[0] for s in map(tuple, TEST)}
    # A sentence of weight 0 moves nothing, but its labels and features are new to the model.
    tagger.partial_fit([["new", "a", "words"]], [["Z", "A", "N"]], sample_weight=[0])
    assert list(tagger.classes_) == ["D", "N", "V", "A", "Z"]
    assert tagger.weights_.n_features > before.weights_.n_features
    assert tagger.weights_.n_edge_features > before.weights_.n_edge_features
    for sentence, readings in old.items():
        now = {
            tuple(r.labels): r.score for r in tagger.predict_k_best([list(sentence)], k=5 ** max(1, len(sentence)))[0]
        }
        for reading in readings:
            assert now[tuple(reading.labels)] == pytest.approx(reading.score, abs=1e-4)
    for i in range(before.feature_map_.n_unigrams):
        assert tagger.feature_map_.name(i) == before.feature_map_.name(i)
        np.testing.assert_array_equal(tagger.weights_.label_weights(i)[:3], before.weights_.label_weights(i))


def test_frozen_features() -> None:
    tagger = fitted()
    n = tagger.feature_map_.n_unigrams, tagger.feature_map_.n_edges
    tagger.partial_fit([["quite", "new", "a"]], [["N", "V", "Q"]], freeze_features=True)
    assert (tagger.feature_map_.n_unigrams, tagger.feature_map_.n_edges) == n
    assert "Q" in tagger.classes_ and tagger.predict([["quite"]])
    tagger.partial_fit([["quite"]], [["N"]])
    assert tagger.feature_map_.n_unigrams > n[0]


def test_partial_fit_learns_what_fit_did_not_see() -> None:
    tagger = Tagger(["U:%x[0,0]"]).partial_fit([["the", "cat"]], [["D", "N"]])
    assert len(tagger.history_) == 10
    tagger.partial_fit([["she", "sleeps"]] * 3, [["P", "V"]] * 3)
    assert tagger.predict([["the", "cat"], ["she", "sleeps"]]) == [["D", "N"], ["P", "V"]]
    assert len(tagger.history_) == 20
    assert len(tagger.fit([["a"]], [["X"]]).history_) == 10 and list(tagger.classes_) == ["X"]


@pytest.mark.parametrize(
    ("X", "y", "options", "error"),
    [
        ([["brand", "new"]], [["Q"]], {}, CorpusError),  # unequal lengths
        ([["brand", "new"]], [["Q", 5]], {}, CorpusError),
        ([["brand", "new"]], [["Q", "R"]], {"sample_weight": [-1]}, CorpusError),
        ([["brand", "new"], ["x", 5]], [["Q", "R"], ["Q", "R"]], {}, CorpusError),
        ([["brand", "new"]], [["Q", "R"]], {"X_dev": [["a"]], "y_dev": [["Q", "Q"]]}, CorpusError),
        ([["brand", "new"]], [["Q", "R"]], {"callbacks": [lambda epoch: 1 / 0]}, ZeroDivisionError),
    ],
)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_a_failed_partial_fit_leaves_the_model_as_it_was(
    X: Any, y: Any, options: Any, error: Any, layout: str, tmp_path: Any
) -> None:
    tagger = fitted(layout=layout, tag_dictionary=3)
    before, classes = tagger.predict_k_best(TEST, k=5), list(tagger.classes_)
    with pytest.raises(error):
        tagger.partial_fit(X, y, **options)
    assert tagger.predict_k_best(TEST, k=5) == before and list(tagger.classes_) == classes
    assert len(tagger.predict([["brand", "new"]])[0]) == 2
    tagger.save(tmp_path / "m")
    assert margent.load(tmp_path / "m").predict_k_best(TEST, k=5) == before
    tagger.partial_fit([["brand", "new"]], [["Q", "R"]])
    assert tagger.predict([["brand", "new"]]) == [["Q", "R"]]


def test_attributes_that_fail_half_way_leave_the_model_as_it_was() -> None:
    tagger = Tagger().fit([[{"a": 1}, {"b": 1}]], [["A", "B"]])
    with pytest.raises(CorpusError):
        tagger.partial_fit([[{"c": 1}, {"d": None}]], [["A", "B"]])
    assert tagger.predict([[{"a": 1, "c": 1}, {"b": 1, "d": 1}]]) == [["A", "B"]]


def test_the_scheme_is_kept_when_going_on() -> None:
    X, y = corpus(30, scheme="iob2")
    tagger = Tagger(LINES, constrain=True).fit(X, y)
    tagger.partial_fit([["a", "b"]], [["O", "O"]])
    assert tagger.scheme_ == "iob2"
    tagger.partial_fit([["a", "b"]], [["B-Z", "I-Z"]])
    assert tagger.scheme_ == "iob2" and "I-Z" in tagger.classes_
    plain = Tagger(LINES).fit(X, y).partial_fit([["a"]], [["Noun"]])
    assert plain.scheme_ is None
    with pytest.raises(CorpusError, match="scheme='iob2' was given, but some of the labels are not in it"):
        Tagger(LINES, scheme="iob2").fit([["a"]], [["Noun"]])
    with pytest.raises(ValueError, match="order is 2 now, but this Tagger was fitted with order 1"):
        plain.set_params(order=2).partial_fit(X, y)


# --- the same answers whatever the machine does


@pytest.mark.parametrize("order", [1, 2])
def test_threads_do_not_change_the_answers(order: int) -> None:
    X, y = corpus(60, seed=3, scheme="iob2")
    X_test, _ = corpus(120, seed=4)
    answers = []
    for threads in (1, 2, 5, 100_000):
        tagger = Tagger(LINES, Perceptron(epochs=2), order=order, threads=threads).fit(X, y)
        answers.append(
            (
                tagger.predict(X_test),
                tagger.predict_k_best(X_test, k=3),
                [m.tolist() for m in tagger.predict_marginals(X_test)],
                tagger.predict_spans(X_test),
                tagger.sample(X_test, n=2, seed=1),
            )
        )
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("order", [1, 2])
def test_layout_does_not_change_the_answers(order: int) -> None:
    X, y = corpus(60, seed=3)
    X_test, _ = corpus(60, seed=4)
    one, two = (Tagger(Features(LINES, layout=layout), order=order).fit(X, y) for layout in ("dense", "sparse"))
    assert one.predict_k_best(X_test, k=3) == two.predict_k_best(X_test, k=3)
    assert [e["loss"] for e in one.history_] == [e["loss"] for e in two.history_]
    assert not one.weights_.sparse and two.weights_.sparse


def test_the_instruction_set_does_not_change_the_answers() -> None:
    random = np.random.default_rng(0)
    try:
        for n_labels in (2, 9, 23, 260):  # 260: the pruned search
            names = [f"L{i}" for i in range(n_labels)]
            X = [random.normal(size=(random.integers(1, 9), 5)) for _ in range(40)]
            y = [[str(label) for label in random.choice(names, len(x))] for x in X]
            answers = []
            for wanted in (True, False):
                _core.use_avx2(wanted)
                tagger = Tagger(learner=Perceptron(epochs=2)).fit(X, y)
                answers.append((tagger.predict(X), tagger.predict_k_best(X[:10], k=2)))
                answers[-1] += ([m.tolist() for m in tagger.predict_marginals(X[:10])],)
            assert answers[0] == answers[1]
    finally:
        _core.use_avx2(True)


@pytest.mark.parametrize("restrict", [None, 1])
def test_the_pruned_search_is_exact(restrict: int | None) -> None:
    """From 256 labels on the search leaves out what cannot win: the best score is still that of the complete search."""
    X, y, _ = make_chain(120, 400, 40, length=(1, 8), seed=1)
    tagger = Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=2), tag_dictionary=restrict).fit(X, y)
    assert len(tagger.classes_) >= 256
    best = [readings[0].score for readings in tagger.predict_k_best(X, k=1)]
    chain = tagger.weights_.native()
    encoded, restrictions = tagger.model_.encode(X)
    examples = encoded.examples(allowed=restrictions.seen)
    pruned, scores = chain.best(examples, 1)
    complete, _ = chain.best(examples, 1, pruned=False)
    np.testing.assert_allclose(scores, best, rtol=1e-4)
    np.testing.assert_array_equal(pruned, complete)


def test_same_seed_same_model() -> None:
    X, y = corpus(60)
    one, two, three = (Tagger(LINES, seed=seed).fit(X, y).weights_.unigrams for seed in (1, 1, 2))
    assert np.array_equal(one, two) and not np.array_equal(one, three)


# --- sizes


def test_empty_and_one_token_sentences() -> None:
    tagger = Tagger().fit([[], ["a"], [], ["b"], []], [[], ["A"], [], ["B"], []])
    assert tagger.predict([[], ["a"], ["b"], []]) == [[], ["A"], ["B"], []]
    assert tagger.predict([]) == []
    assert tagger.predict_k_best([[]], k=3)[0] == [margent.models.Reading(0.0, [])]
    assert tagger.predict_marginals([[], ["a"]])[0].shape == (0, 2)
    assert tagger.predict_spans([[]]) == [[]] and tagger.sample([[]], n=2) == [[[], []]]
    assert tagger.explain([]) == []
    assert tagger.predict(margent.read_columns(b"")) == []
    assert Tagger(tag_dictionary=1).fit([["a"]], [["A"]]).predict(margent.read_columns(b"\n")) == []
    assert tagger.score([[], ["a"]], [[], ["A"]]) == 1


def test_a_single_label() -> None:
    tagger = Tagger().fit([["a", "b"], ["c"]], [["X", "X"], ["X"]])
    assert tagger.predict([["q", "r"]]) == [["X", "X"]]
    assert tagger.predict_marginals([["q"]])[0].tolist() == [[1.0]]
    assert len(tagger.predict_k_best([["q", "r"]], k=5)[0]) == 1
    (why,) = tagger.explain(["q"])
    assert why.rival is None and "no other label is possible" in str(why)


@pytest.mark.parametrize("order", [1, 2])
def test_a_very_long_sentence(order: int) -> None:
    tagger = Tagger(["U:%x[0,0]", "B"], order=order, constrain=True).fit(
        [["x", "y", "z"] * 3], [["B-A", "I-A", "O"] * 3]
    )
    sentence = ["x", "y", "z", "y"] * 25_000
    (labels,) = tagger.predict([sentence])
    assert labels[:4] == tagger.predict([sentence[:40]])[0][:4] and len(labels) == 100_000
    (marginals,) = tagger.predict_marginals([sentence])
    np.testing.assert_allclose(marginals.sum(axis=1), 1, atol=1e-6)
    (found,) = tagger.predict_spans([sentence])
    assert found[0].start == 0 and 0 < found[0].confidence <= 1
    assert len(tagger.predict_k_best([sentence], k=3)[0]) == 3
    assert len(tagger.sample([sentence])[0][0]) == 100_000


def test_k_may_be_larger_than_what_there_is() -> None:
    tagger = fitted()
    assert len(tagger.predict_k_best([["a"]], k=10**12)[0]) == 3
    for k in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="k should be an integer of at least 1"):
            tagger.predict_k_best([["a"]], k=k)  # type: ignore[arg-type]


# --- learning


def test_missing_labels_are_completed() -> None:
    X, y, _ = make_chain(200, 3, 15, seed=2)
    random = np.random.default_rng(0)
    some = [[label if random.random() < 0.6 else None for label in row] for row in y]
    tagger = Tagger(["U:%x[0,0]", "B"]).fit(X[:150], some[:150])
    full = Tagger(["U:%x[0,0]", "B"]).fit(X[:150], y[:150])
    assert tagger.score(X[150:], y[150:]) > 0.9 * full.score(X[150:], y[150:])
    assert tagger.score(X, some) > 0
    assert list(tagger.classes_) == ["L0", "L1", "L2"]


def test_label_costs_pull_towards_the_costly_label() -> None:
    X = [["w"]] * 10
    y = [["A"]] * 8 + [["B"]] * 2
    assert Tagger(label_costs={"B": 50}).fit(X, y).predict([["w"]]) == [["B"]]
    assert Tagger(label_costs={"B": 0}).fit(X, y).predict([["w"]]) == [["A"]]
    assert Tagger().fit(X, y, sample_weight=[0] * 8 + [1] * 2).predict([["w"]]) == [["B"]]


@pytest.mark.parametrize("learner", ["perceptron", "pa", "rpa", "mira", "sdm", "larank", "ssvm", "arow"])
def test_costs_of_single_mistakes(learner: str) -> None:
    """The word is an A, a B or a C as often as not: what is predicted is what is cheap to be wrong with."""
    X, y = [["w"]] * 3, [["A"], ["B"], ["C"]]
    kind = LEARNERS[learner]
    for cheap in "ABC":
        costs = {(right, predicted): 0.1 if predicted == cheap else 5.0 for right, predicted in permutations("ABC", 2)}
        tagger = Tagger(learner=kind(epochs=60), label_costs=costs).fit(X, y)
        assert tagger.predict([["w"]]) == [[cheap]]


def test_a_pair_goes_before_its_label() -> None:
    labels = LabelSet(["A", "B", "C"])
    costs = costs_of({"A": 3, ("A", "C"): 0.5, ("B", "A"): 2}, labels)
    matrix = np.array(costs).reshape(3, 3)
    assert [matrix[right, predicted] for right, predicted in permutations(range(3), 2)] == [3, 0.5, 2, 1, 1, 1]
    assert costs_of({"A": 3}, labels) == [3, 1, 1] and costs_of(None, labels) == []


def test_development_data_choose_the_epoch() -> None:
    X, y, _ = make_chain(80, 3, 30, seed=4)
    scores: list[float] = []
    tagger = Tagger(learner=Perceptron(epochs=8)).fit(
        X[:60], y[:60], X_dev=X[60:], y_dev=y[60:], callbacks=[lambda e: scores.append(e.dev_score)]
    )
    assert tagger.best_epoch_ == 1 + int(np.argmax(scores)) and len(scores) == 8
    assert tagger.score(X[60:], y[60:]) == pytest.approx(max(scores))
    assert [epoch["dev_score"] for epoch in tagger.history_] == scores
    short = Tagger(learner=Perceptron(epochs=50, patience=2))
    short.fit(X[:60], y[:60], X_dev=X[60:], y_dev=[[*row[:-1], "new"] for row in y[60:]])
    assert len(short.history_) < 50 and "new" not in short.classes_
    with pytest.raises(ValueError, match="patience=2 needs development data"):
        short.fit(X, y)


def test_the_development_metric_can_be_chosen() -> None:
    from margent.metrics import span_scores, token_scores

    X, y = corpus(60, scheme="iob2")
    y_dev = [[*row[:-1], "B-new"] if len(row) > 3 else row for row in y[40:]]
    for metric, wanted in {
        "span_f1": lambda found: span_scores(y_dev, found).f1,
        "inside_f1": lambda found: token_scores(y_dev, found).inside.f1,
        "accuracy": lambda found: token_scores(y_dev, found).accuracy,
    }.items():
        tagger = Tagger(learner=Perceptron(epochs=2)).fit(X[:40], y[:40], X_dev=X[40:], y_dev=y_dev, dev_metric=metric)
        best = max(epoch["dev_score"] for epoch in tagger.history_)
        assert best == pytest.approx(wanted(tagger.predict(X[40:]))), metric
        assert 0 < best < 1
    for wrong, options, message in (
        (
            ValueError,
            {"dev_metric": "f1"},
            "dev_metric should be one of span_f1, inside_f1, accuracy or None, got 'f1'",
        ),
        (CorpusError, {"dev_metric": "accuracy"}, "dev_metric was given without X_dev"),
        (
            CorpusError,
            {"dev_metric": "inside_f1", "X_dev": [["a", "b"]], "y_dev": [["O", None]]},
            "the metric 'inside_f1' needs a label for each token",
        ),
    ):
        with pytest.raises(wrong, match=message):
            Tagger().fit(X, y, **options)


def test_the_development_score_of_spans_is_their_f1() -> None:
    X, y = corpus(60, scheme="iobes")
    tagger = Tagger(learner=Perceptron(epochs=1), constrain=True).fit(X[:40], y[:40], X_dev=X[40:], y_dev=y[40:])
    from margent.metrics import span_scores

    wanted = span_scores(y[40:], tagger.predict(X[40:])).f1
    assert tagger.history_[0]["dev_score"] == pytest.approx(wanted) == pytest.approx(tagger.score(X[40:], y[40:]))


def test_ctrl_c_leaves_a_model() -> None:
    def interrupt(epoch: Any) -> None:
        raise KeyboardInterrupt

    tagger = Tagger().fit([["a"], ["b"]], [["A"], ["B"]], callbacks=[interrupt])
    assert tagger.interrupted_ and len(tagger.history_) == 1 and len(tagger.predict([["a"]])[0]) == 1


def test_data_may_come_in_many_forms() -> None:
    X, y = corpus(20)
    columns = Columns.from_sentences([[*zip(x, labels)] for x, labels in zip(X, y)])
    wanted = Tagger(seed=1).fit(X, y).predict(TEST)
    for given in (
        (columns,),
        columns.split(),
        (iter(X), iter(y)),
        ([tuple(x) for x in X], [np.array(labels) for labels in y]),
    ):
        tagger = Tagger(seed=1).fit(*given)
        assert tagger.predict(iter(TEST)) == wanted
        assert {type(label) for label in tagger.classes_} == {str}
    assert copy.deepcopy(tagger).predict(TEST) == wanted
