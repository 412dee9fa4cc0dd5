"""Taggers with hidden labels: every answer against a listing of all hidden labellings."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import margent
from margent import (
    CRF,
    MIRA,
    SDM,
    Beam,
    Constraints,
    DualPerceptron,
    Features,
    HiddenLabels,
    HiddenMarkov,
    HiddenMarkovSVM,
    Kernel,
    LatentSVM,
    PassiveAggressive,
    Perceptron,
    Spectral,
    StructuredSVM,
    Tagger,
)
from margent.errors import CapabilityError, ConstraintError
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.hidden.sublabels import Sublabels
from margent.models.tagger.hidden.weights import HiddenWeights

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")

LABELS = ["B-A", "I-A", "O"]
SIZES = np.array([2, 1, 3], dtype=np.int32)
WORDS = ["a", "b", "c", "d"]
LINES = ["U0:%x[0,0]", "U1:%x[-1,0]", "B"]
EDGES = ["U0:%x[0,0]", "B1:%x[0,0]", "B"]


def sentences(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 5, n)
    X = [random.choice(WORDS, length).tolist() for length in lengths]
    y = [
        ["B-A" if w == "a" else "I-A" if t and x[t - 1] == "a" and w == "b" else "O" for t, w in enumerate(x)]
        for x in X
    ]
    return X, y


def random_tagger(seed: int, order: int = 1, lines: list[str] = LINES, **parameters: Any) -> Tagger:
    """A tagger with random weights and labels that are split into different numbers of hidden ones."""
    X, y = sentences(12, seed)
    X, y = [*X, ["a", "b", "c", "d"]], [*y, ["B-A", "I-A", "O", "O"]]
    tagger = Tagger(lines, Perceptron(epochs=1), hidden=3, order=order, scheme="iob2", **parameters).fit(X, y)
    random = np.random.default_rng(seed)
    old: ChainWeights = tagger.weights_.chain  # type: ignore[attr-defined]
    n_labels = int(SIZES.sum())
    width = margent._core.padded_width(n_labels)

    def noise(n_rows: int) -> Any:
        found = np.zeros((n_rows, width), dtype=np.float32)
        found[:, :n_labels] = random.normal(size=(n_rows, n_labels))
        return found

    edges = old.edges
    if edges is not None:
        n = len(edges.ptr) - 1
        columns = np.array([p * width + q for p in range(n_labels + 1) for q in range(n_labels)])
        edges = type(edges)(
            np.arange(n + 1) * len(columns),
            np.tile(columns, n).astype(np.int32),
            random.normal(size=n * len(columns)).astype(np.float32),
        )
    levels = range(order)
    unigrams, base = noise(old.n_features), n_labels + 1
    transitions, ends = [noise(base ** (j + 1)) for j in levels], [noise(base**j) for j in levels]
    chain = ChainWeights(n_labels, order, unigrams, edges, transitions, ends)
    weights = HiddenWeights(chain, Sublabels(SIZES), 3)
    tagger.model_ = replace(tagger.model_, weights=weights, calibrated=True)
    return tagger


def hidden_scores(tagger: Tagger, sentence: list[str]) -> dict[tuple[int, ...], float]:
    """The score of every hidden labelling, added up weight by weight."""
    weights: Any = tagger.weights_
    chain, n, order = weights.chain, len(sentence), weights.chain.order
    encoded = tagger.feature_map_.encode([sentence])
    base = chain.n_labels + 1
    result = {}
    for labels in product(range(chain.n_labels), repeat=n):
        total = 0.0
        before = [chain.n_labels] * order
        for t, label in enumerate(labels):
            for feature in encoded.ids[encoded.ptr[t] : encoded.ptr[t + 1]]:
                total += float(chain.unigrams[feature, label])
            if encoded.edge_ids is not None:
                for feature in encoded.edge_ids[encoded.edge_ptr[t] : encoded.edge_ptr[t + 1]]:
                    total += float(chain.edge_weights(int(feature))[before[-1], label])
            for j in range(order):
                history = sum(y * base**i for i, y in enumerate(reversed(before[order - 1 - j :])))
                total += float(chain.transitions[j][history, label])
            before = [*before[1:], label]
        whole = [chain.n_labels] * order + list(labels)
        for j in range(order):
            context = sum(y * base**i for i, y in enumerate(reversed(whole[len(whole) - 1 - j : -1])))
            total += float(chain.ends[j][context, labels[-1]])
        result[labels] = total
    return result


def seen_scores(tagger: Tagger, sentence: list[str]) -> tuple[dict[Any, float], dict[Any, float]]:
    """By labelling: the best score of its hidden ones, and the log of the sum over them."""
    seen = [LABELS[i] for i in np.repeat(np.arange(3), SIZES)]
    groups: dict[Any, list[float]] = defaultdict(list)
    for labels, score in hidden_scores(tagger, sentence).items():
        groups[tuple(seen[y] for y in labels)].append(score)
    sums = {y: float(np.logaddexp.reduce(scores)) for y, scores in groups.items()}
    return {y: max(scores) for y, scores in groups.items()}, sums


SENTENCES = [["a"], ["b", "a"], ["a", "b", "c"], ["d", "d", "b", "a"]]


CASES = [(1, LINES, 0), (1, LINES, 1), (2, LINES, 2), (1, EDGES, 3), (2, EDGES, 4), (3, LINES, 5)]


@pytest.mark.parametrize(("order", "lines", "seed"), CASES)
def test_the_best_and_the_k_best_are_those_of_all(order: int, lines: list[str], seed: int) -> None:
    tagger = random_tagger(seed, order, lines)
    for sentence in SENTENCES[: 4 - (order > 1)]:
        best, _ = seen_scores(tagger, sentence)
        ranked = sorted(best.items(), key=lambda item: -item[1])
        assert tagger.predict([sentence]) == [list(ranked[0][0])]
        for k in (1, 4, 100):
            found = tagger.predict_k_best([sentence], k)[0]
            assert len(found) == min(k, len(ranked))
            assert [tuple(reading.labels) for reading in found] == [y for y, _ in ranked[:k]]
            np.testing.assert_allclose([reading.score for reading in found], [s for _, s in ranked[:k]], atol=1e-4)


@pytest.mark.parametrize(("order", "lines", "seed"), CASES)
def test_probabilities_are_sums_over_hidden_labellings(order: int, lines: list[str], seed: int) -> None:
    tagger = random_tagger(seed, order, lines)
    tagger.model_ = replace(tagger.model_, temperature=1.0)
    for sentence in SENTENCES[: 4 - (order > 1)]:
        _, sums = seen_scores(tagger, sentence)
        total = np.logaddexp.reduce(list(sums.values()))
        wanted = np.zeros((len(sentence), 3))
        for labels, value in sums.items():
            for t, label in enumerate(labels):
                wanted[t, LABELS.index(label)] += np.exp(value - total)
        np.testing.assert_allclose(tagger.predict_marginals([sentence])[0], wanted, atol=1e-5)
        for span in tagger.predict_spans([sentence])[0]:
            inside = ["B-A", *["I-A"] * (span.end - span.start - 1)]
            there = [
                value
                for labels, value in sums.items()
                if list(labels[span.start : span.end]) == inside and labels[span.end : span.end + 1] != ("I-A",)
            ]
            if labels_start(tagger, sentence, span.start) == "B-A":
                assert span.confidence == pytest.approx(np.exp(np.logaddexp.reduce(there) - total), abs=1e-5)


def labels_start(tagger: Tagger, sentence: list[str], start: int) -> str:
    return tagger.predict([sentence])[0][start]


@pytest.mark.parametrize(("order", "lines", "seed"), CASES)
def test_decoding_by_sums(order: int, lines: list[str], seed: int) -> None:
    tagger = random_tagger(seed, order, lines)
    for temperature in (1.0, 3.0):
        tagger.model_ = replace(tagger.model_, temperature=temperature)
        for sentence in SENTENCES[:3]:
            scores = hidden_scores(tagger, sentence)
            seen = [LABELS[i] for i in np.repeat(np.arange(3), SIZES)]
            groups: dict[Any, list[float]] = defaultdict(list)
            for labels, score in scores.items():
                groups[tuple(seen[y] for y in labels)].append(score / temperature)
            best, sums = (
                {y: max(s) for y, s in groups.items()},
                {y: float(np.logaddexp.reduce(s)) for y, s in groups.items()},
            )
            candidates = sorted(best, key=lambda y: -best[y])[:16]
            ranked = sorted(candidates, key=lambda y: -sums[y])
            tagger.search = "sum"
            assert tagger.predict([sentence]) == [list(ranked[0])]
            found = tagger.predict_k_best([sentence], 3)[0]
            assert [tuple(reading.labels) for reading in found] == ranked[:3]
            np.testing.assert_allclose([reading.score for reading in found], [sums[y] for y in ranked[:3]], atol=1e-4)
            tagger.search = "posterior"
            columns = tagger.predict_marginals([sentence])[0].argmax(axis=1)
            assert tagger.predict([sentence]) == [[LABELS[i] for i in columns]]


def test_samples_come_with_their_probabilities() -> None:
    tagger, sentence = random_tagger(7), ["a", "c"]
    _, sums = seen_scores(tagger, sentence)
    total = np.logaddexp.reduce(list(sums.values()))
    drawn = tagger.sample([sentence], 4000, seed=1)[0]
    for labels, value in sums.items():
        share = np.mean([tuple(found) == labels for found in drawn])
        assert share == pytest.approx(np.exp(value - total), abs=0.04)


@pytest.mark.parametrize("decode", ["viterbi", "sum", "posterior"])
def test_constraints_hold_for_hidden_labels(decode: str) -> None:
    tagger = random_tagger(8, constrain=True, search=decode)
    sentence = ["c", "a", "b"]
    best, sums = seen_scores(tagger, sentence)
    legal = [y for y in best if all(b != "I-A" or a != "O" for a, b in zip(("O", *y), y))]
    assert tuple(tagger.predict([sentence])[0]) in legal
    found = tagger.predict([sentence], [Constraints(labels={1: "I-A"}, forbidden={2: ["O"]})])[0]
    assert found[1] == "I-A" and found[2] != "O" and tuple(found) in legal
    if decode == "viterbi":
        assert tagger.predict([sentence]) == [list(max(legal, key=lambda y: best[y]))]
        readings = tagger.predict_k_best([sentence], 100)[0]
        assert sorted(tuple(reading.labels) for reading in readings) == sorted(legal)
    if decode == "posterior":
        total = np.logaddexp.reduce([sums[y] for y in legal])

        def expected(labels: Any) -> float:
            right = [np.exp(sums[y] - total) * sum(map(str.__eq__, y, labels)) for y in legal]
            return float(sum(right))

        assert expected(tagger.predict([sentence])[0]) == pytest.approx(max(map(expected, legal)))
    with pytest.raises(ConstraintError, match="the constraints leave no labelling"):
        tagger.predict([["a"]], [{0: "I-A"}])


def test_explanations_add_up_and_name_hidden_labels() -> None:
    tagger, sentence = random_tagger(9), ["a", "b", "d"]
    best, _ = seen_scores(tagger, sentence)
    winner = max(best, key=lambda y: best[y])
    for t, why in enumerate(tagger.explain(sentence, top=100)):
        rival = max((y for y in best if y[t] != winner[t]), key=lambda y: best[y])
        assert (why.label, why.rival) == (winner[t], rival[t])
        assert why.margin == pytest.approx(best[winner] - best[rival], abs=1e-4)
        assert sum(part.weight for part in why.contributions) + why.rest == pytest.approx(why.margin, abs=1e-4)
    text = "\n".join(map(str, tagger.explain(sentence)))
    assert "O/" in text or "B-A/" in text
    names = [name for name, _ in tagger.top_features("O", 3)]
    assert len(names) == 6 and all(name.endswith(("(O/1)", "(O/2)", "(O/3)")) for name in names)
    assert {left for left, _, _ in tagger.top_transitions(100)} == {"B-A/1", "B-A/2", "I-A", "O/1", "O/2", "O/3"}


# --- learning


LEARNERS: dict[str, Any] = {
    "perceptron": Perceptron(epochs=30, average=False),
    "pa": PassiveAggressive(epochs=30),
    "mira": MIRA(k=3, epochs=30),
    "sdm": SDM(epochs=10),
    "ssvm": StructuredSVM(epochs=10),
    "crf": CRF(),
    "crf best": CRF(completion="best"),
    "latent-svm": LatentSVM(),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_learn_with_hidden_labels(name: str) -> None:
    X, y = sentences(40)
    tagger = Tagger(LINES, LEARNERS[name], hidden=2).fit(X, y)
    assert tagger.score(X, y) > 0.9
    if name == "perceptron":  # Theorem 4: what is separable stays so, and the perceptron stops making mistakes
        assert tagger.predict(X) == y
        assert tagger.history_[-1]["updates"] == 0 < tagger.history_[0]["updates"]
        assert len(tagger.history_) < 30


def alternating(n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Every third x is X, the others Y: no chain of labels of order 1 can count to three."""
    lengths = [3 + i % 7 for i in range(n)]
    return [["x"] * length for length in lengths], [["XYY"[t % 3] for t in range(length)] for length in lengths]


@pytest.mark.parametrize("learner", [Perceptron(epochs=60), CRF(l2=0.01, tol=1e-6), LatentSVM(epochs=20, C=10)])
def test_hidden_labels_tell_apart_what_labels_do_not(learner: Any) -> None:
    X, y = alternating(30)
    X_more, y_more = [["x"] * 20], [["XYY"[t % 3] for t in range(20)]]
    plain = Tagger(["U", "B"], learner).fit(X, y)
    hidden = Tagger(["U", "B"], learner, hidden=HiddenLabels(3, restarts=8)).fit(X, y)
    assert plain.score(X_more, y_more) < 1
    assert hidden.score(X_more, y_more) == 1


def test_one_hidden_label_is_none() -> None:
    X, y = sentences(30)
    plain, one = Tagger(LINES).fit(X, y), Tagger(LINES, hidden=HiddenLabels(1, restarts=3)).fit(X, y)
    assert type(one.weights_) is ChainWeights
    np.testing.assert_array_equal(plain.weights_.unigrams, one.weights_.unigrams)  # type: ignore[attr-defined]


def test_the_seed_decides_and_nothing_else() -> None:
    X, y = sentences(30)

    def weights(**parameters: Any) -> Any:
        return Tagger(LINES, Perceptron(epochs=2), hidden=2, **parameters).fit(X, y).weights_.chain.unigrams  # type: ignore[attr-defined]

    np.testing.assert_array_equal(weights(), weights(threads=1))
    assert (weights() != weights(seed=1)).any()
    dense = Tagger(LINES, Perceptron(epochs=2), hidden=2).fit(X, y)
    sparse = Tagger(Features(LINES, layout="sparse"), Perceptron(epochs=2), hidden=2).fit(X, y)
    for mine, other in zip(dense.predict_k_best(X, 3), sparse.predict_k_best(X, 3)):
        assert [reading.labels for reading in mine] == [reading.labels for reading in other]


def test_the_best_restart_is_kept() -> None:
    X, y = alternating(20)
    seeds = [Tagger(["U", "B"], CRF(), hidden=HiddenLabels(3, restarts=n), seed=0).fit(X, y) for n in (1, 2, 4)]
    objectives = [tagger.history_[-1]["objective"] for tagger in seeds]
    assert objectives == sorted(objectives, reverse=True)
    learner = Perceptron(epochs=3)
    dev = [Tagger(["U", "B"], learner, hidden=HiddenLabels(3, restarts=n)).fit(X, y, X_dev=X, y_dev=y) for n in (1, 5)]
    best = [max(epoch["dev_score"] for epoch in tagger.history_) for tagger in dev]
    assert best[0] <= best[1] == dev[1].score(X, y)


def test_training_goes_on_with_new_labels_and_features() -> None:
    X, y = sentences(30)
    tagger = Tagger(LINES, Perceptron(epochs=5), hidden=2).fit(X, y)
    tagger.partial_fit([["q", "a"]] * 3, [["N", "B-A"]] * 3, sample_weight=[1.0, 2.0, 0.0])
    assert list(tagger.classes_) == [*LABELS, "N"]
    assert tagger.weights_.labels.sizes.tolist() == [2, 2, 2, 2]  # type: ignore[attr-defined]
    assert tagger.predict([["q", "a"]]) == [["N", "B-A"]]
    assert tagger.score(X, y) > 0.9
    with pytest.raises(ValueError, match="hidden is 3 now, but this Tagger was fitted with hidden 2"):
        tagger.set_params(hidden=3).partial_fit(X, y)


def test_missing_labels_weights_and_words_that_are_known() -> None:
    X, y = sentences(40)
    holes: Any = [[None if (s + t) % 5 == 0 else label for t, label in enumerate(labels)] for s, labels in enumerate(y)]
    tagger = Tagger(LINES, CRF(), hidden=2, tag_dictionary=1).fit(X, holes, sample_weight=np.arange(40) % 3)
    assert tagger.score(X, y) > 0.9
    marginals = np.concatenate(tagger.predict_marginals(X))
    words = [word for sentence in X for word in sentence]
    outside = list(tagger.classes_).index("O")
    assert all(row[outside] == 0 for word, row in zip(words, marginals) if word == "a")


def test_probabilities_can_be_calibrated() -> None:
    X, y = margent.make_addresses(150, seed=2)
    tagger = Tagger(learner=Perceptron(epochs=3), hidden=2, calibration=0.3).fit(X, y)
    assert tagger.calibrated_ and tagger.temperature_ > 0
    tagger.calibrate(X[:50], y[:50])
    spans = [span.confidence for sentence in tagger.predict_spans(X[:20]) for span in sentence]
    assert spans and all(0 < confidence <= 1 + 1e-9 for confidence in spans)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"hidden": 0}, "n of HiddenLabels should be an integer of at least 1, got 0"),
        ({"hidden": 2.0}, r"hidden of Tagger should be HiddenLabels\(...\), a number or None, got 2.0"),
        ({"hidden": 257}, "n of HiddenLabels should be an integer of at most 256, got 257"),
        ({"search": "path"}, "search of Tagger should be one of viterbi, sum, posterior or a Beam"),
        ({"hidden": 2, "features": Kernel("linear")}, "hidden=2 is not for a kernel"),
    ],
)
def test_what_cannot_be_is_said_before_training(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Tagger(**parameters).fit([["a"]], [["A"]])


@pytest.mark.parametrize("learner", [Spectral(), HiddenMarkov(), HiddenMarkovSVM(), DualPerceptron()])
def test_a_learner_of_known_labels_is_refused_before_training(learner: Any) -> None:
    with pytest.raises(CapabilityError, match=f"{type(learner).__name__} .* the structure 'chain of hidden labels'"):
        Tagger(hidden=2, learner=learner).fit([["a"]], [["A"]])


def test_wrong_values_are_named_when_they_are_made() -> None:
    with pytest.raises(ValueError, match="restarts of HiddenLabels should be an integer of at least 1"):
        HiddenLabels(2, restarts=0)
    with pytest.raises(ValueError, match="decode of Beam should be one of viterbi, sum, posterior, got 'x'"):
        Beam(2, decode="x")


def test_an_interrupted_training_keeps_what_there_is() -> None:
    X, y = sentences(30)
    epochs = []

    def interrupt(epoch: Any) -> None:
        epochs.append(epoch)
        if len(epochs) == 6:  # in the second training
            raise KeyboardInterrupt

    tagger = Tagger(LINES, Perceptron(epochs=4), hidden=HiddenLabels(2, restarts=3)).fit(X, y, callbacks=[interrupt])
    assert tagger.interrupted_ and len(epochs) == 6
    assert tagger.score(X, y) > 0.8


def test_ctrl_c_between_trainings(monkeypatch: pytest.MonkeyPatch) -> None:
    from margent.models.tagger.hidden import weights

    started: list[int] = []
    noise = weights.with_noise

    def interrupt(*arguments: Any) -> None:
        started.append(1)
        if len(started) == 2:
            raise KeyboardInterrupt
        noise(*arguments)

    X, y = sentences(30)
    monkeypatch.setattr(weights, "with_noise", interrupt)
    tagger = Tagger(LINES, Perceptron(epochs=4), hidden=HiddenLabels(2, restarts=3)).fit(X, y)
    assert tagger.interrupted_ and len(started) == 2 and tagger.score(X, y) > 0.8


def test_without_transitions_and_with_a_beam() -> None:
    X, y = sentences(30)
    tagger: Any = Tagger(LINES[:2], Perceptron(epochs=5), hidden=2).fit(X, y)
    assert not tagger.weights_.chain.transitions[0].any()
    for beam in (1, 4, 100):
        found = Tagger(LINES, Perceptron(epochs=5), hidden=2, search=Beam(beam)).fit(X, y)
        assert found.score(X, y) > 0.9
    exact = Tagger(LINES, Perceptron(epochs=5), hidden=2).fit(X, y)
    assert exact.set_params(search=Beam(100)).predict_k_best(X, 3) == exact.set_params(search="viterbi").predict_k_best(
        X, 3
    )


def test_decoding_is_checked_when_it_is_set_later() -> None:
    tagger = Tagger(LINES).fit(*sentences(5))
    with pytest.raises(ValueError, match="search of Tagger should be one of viterbi, sum, posterior"):
        tagger.set_params(search="x").predict([["a"]])


def test_posterior_decoding_is_for_plain_chains_too() -> None:
    X, y = sentences(20)
    tagger = Tagger(LINES, CRF(), search="posterior").fit(X, y, X_dev=X, y_dev=y)
    columns = [table.argmax(axis=1) for table in tagger.predict_marginals(X)]
    assert tagger.predict(X) == [[str(tagger.classes_[i]) for i in row] for row in columns]
    assert tagger.set_params(search="sum").predict(X) == tagger.set_params(search="viterbi").predict(X)


def test_decoding_by_sums_of_scores_that_are_not_calibrated_warns() -> None:
    X, y = sentences(20)
    tagger = Tagger(LINES, Perceptron(epochs=2), hidden=2, search="sum").fit(X, y)
    with pytest.warns(margent.CalibrationWarning, match="not calibrated"):
        tagger.predict(X)
