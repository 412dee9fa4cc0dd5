"""Taggers of symbols: all that a tagger can be asked, against enumeration and against the table itself."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import CRF, Constraints, Kernel, Perceptron, Spectral, Tagger, storage
from margent.annotation.schemes import labels_of, spans
from margent.capability import Capability
from margent.errors import CorpusError, ModelFileError, RestrictionWarning
from margent.spectral import KGramOracle, KGramTable
from margent.spectral.weights import KGramWeights

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")

BORDERS = {"k": 2, "up-to-k": 2, "short": 1, "one": 0}
LEARNERS = {
    "k": Spectral(tau=0.3, step=30, iterations=8),
    "up-to-k": Spectral(tau=0.3, step=30, iterations=8, loss="up-to-k"),
    "short": Spectral(tau=0.3, step=30, iterations=8, order=2),
    "one": Spectral(tau=0.3, step=3, iterations=8, order=1),
}


def spoken(word: str) -> list[str]:
    """`c` is `s` before `e` and `i` and else `k`; a last `e` is silent."""
    sounds = ["s" if a == "c" and b in "ei" else "k" if a == "c" else a for a, b in zip(word, word[1:] + "#")]
    return [*sounds[:-1], "-" if word[-1] == "e" else sounds[-1]]


RANDOM = np.random.default_rng(0)
WORDS = ["".join(RANDOM.choice(list("cceia"), size=RANDOM.integers(1, 6))) for _ in range(60)]
SOUNDS = [spoken(word) for word in WORDS]
NEW = ["cecia", "ee", "c", "", "cxe", "xx", "acecc"]  # x was never seen


@pytest.fixture(scope="module", params=LEARNERS)
def case(request: pytest.FixtureRequest) -> tuple[Tagger, int]:
    return Tagger(learner=LEARNERS[request.param], threads=1).fit(WORDS, SOUNDS), BORDERS[request.param]


def labellings(tagger: Tagger, word: str, n_boundaries: int) -> dict[tuple[str, ...], float]:
    """All outputs that the symbols of a word may have, and their scores by the table."""
    table, boundary = tagger.k_gram_table(), [None] * n_boundaries
    x = [*boundary, *word, *boundary]
    candidates = [table.bi_symbols.outputs_with(letter) for letter in word]
    return {y: table.score(x, [*boundary, *y, *boundary]) for y in product(*candidates)}


def best_of(found: dict[tuple[str, ...], float]) -> list[str]:
    return list(max(found, key=found.__getitem__))


# --- learning


def test_it_learns_what_the_learner_learns_from_words_with_boundarys() -> None:
    learner = Spectral(tau=1, iterations=10)
    tagger = Tagger(learner=learner).fit(WORDS, SOUNDS)
    X = [[None, None, *word, None, None] for word in WORDS]
    oracle = KGramOracle(X, [[None, None, *sounds, None, None] for sounds in SOUNDS])
    result = margent.train(learner, oracle)
    assert [epoch["objective"] for epoch in tagger.history_] == [epoch.objective for epoch in result.history]
    table = KGramTable(oracle.bi_symbols, result.weights)
    assert [[None, None, *found, None, None] for found in tagger.predict(WORDS)] == table.predict(X)
    own = tagger.k_gram_table()
    for pair in table.bi_symbols.symbols:
        i, j = (found.bi_symbols.symbols.index(pair) for found in (table, own))
        assert own.scores[3][j, j, j] == pytest.approx(table.scores[3][i, i, i], abs=1e-6)


def test_words_and_lists_of_letters_are_the_same() -> None:
    one = Tagger(learner=LEARNERS["k"]).fit(WORDS, SOUNDS)
    other = Tagger("symbols", LEARNERS["k"]).fit([list(word) for word in WORDS], SOUNDS)
    assert one.predict(NEW) == other.predict([list(word) for word in NEW])
    assert one.score(WORDS, SOUNDS) == other.score([list(word) for word in WORDS], SOUNDS) > 0.9
    columns = margent.Columns.from_sentences([list(zip(x, y)) for x, y in zip(WORDS, SOUNDS)])
    assert Tagger(learner=LEARNERS["k"]).fit(columns).predict(NEW) == one.predict(NEW)


def test_threads_do_not_change_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("margent.spectral.tagging._EDGES_AT_ONCE", 40)
    results = []
    for threads in (1, 3):
        tagger = Tagger(learner=LEARNERS["k"], threads=threads).fit(WORDS, SOUNDS)
        marginals = [table.tolist() for table in tagger.predict_marginals(WORDS)]
        results.append((tagger.predict(WORDS), tagger.predict_k_best(WORDS), marginals, tagger.sample(WORDS, 2)))
    assert results[0] == results[1]


def test_threads_search_in_native_code(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, predict = [], KGramTable.predict

    def watched(table: KGramTable, X: Any, threads: int = 1) -> Any:
        seen.append(threads)
        return predict(table, X, threads)

    tagger = Tagger(learner=LEARNERS["k"], threads=3).fit(WORDS, SOUNDS)
    monkeypatch.setattr(KGramTable, "predict", watched)
    tagger.predict(WORDS)
    assert seen == [3]


def test_development_data_choose_the_iteration_and_the_temperature() -> None:
    tagger = Tagger(learner=Spectral(tau=0.3, iterations=15, patience=4))
    tagger.fit(WORDS[:40], SOUNDS[:40], X_dev=WORDS[40:], y_dev=SOUNDS[40:])
    scores = [epoch["dev_score"] for epoch in tagger.history_]
    assert tagger.best_epoch_ == 1 + int(np.argmax(scores))
    assert tagger.score(WORDS[40:], SOUNDS[40:]) == pytest.approx(max(scores))
    assert tagger.calibrated_ and tagger.temperature_ != 1
    held = Tagger(learner=LEARNERS["k"], calibration=0.2).fit(WORDS, SOUNDS)
    assert held.calibrated_


def test_going_on_keeps_what_was_learned_and_takes_new_symbols_and_labels() -> None:
    tagger = Tagger(learner=Spectral(tau=0.3, iterations=20)).fit(WORDS, SOUNDS)
    before = copy.deepcopy(tagger)
    tagger.partial_fit(["xex", "cex"], [["X", "e", "X"], ["s", "e", "X"]])
    assert tagger.predict(["xex"]) == [["X", "e", "X"]]
    assert list(tagger.classes_) == [*before.classes_, "X"]
    assert len(tagger.history_) > len(before.history_)
    assert tagger.score(WORDS, SOUNDS) > 0.8
    assert before.predict(["x"]) == [[most_frequent()]]
    assert tagger.predict(["z"]) == [[most_frequent()]]


def most_frequent() -> str:
    return most_frequent_of(SOUNDS)


def test_a_search_over_tau_by_scikit_learn() -> None:
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    tagger = Tagger(learner=Spectral(step=30, iterations=4))
    assert clone(tagger).get_params()["learner__tau"] == 3.0
    search = GridSearchCV(tagger, {"learner__tau": [0.1, 1e6]}, cv=2)
    search.fit(np.array(WORDS, dtype=object), np.fromiter(SOUNDS, dtype=object))
    assert search.best_params_ == {"learner__tau": 0.1}
    assert search.best_estimator_.k_gram_table().n_scores > 0


# --- prediction, against enumeration


def test_the_best_outputs(case: tuple[Tagger, int]) -> None:
    tagger, n_boundaries = case
    for word, found in zip(NEW, tagger.predict(NEW)):
        wanted = labellings(tagger, word, n_boundaries)
        assert wanted[tuple(found)] == pytest.approx(max(wanted.values()), abs=1e-9)


def test_the_k_best_outputs(case: tuple[Tagger, int]) -> None:
    tagger, n_boundaries = case
    for word, readings in zip(NEW, tagger.predict_k_best(NEW, k=6)):
        wanted = labellings(tagger, word, n_boundaries)
        assert [reading.score for reading in readings] == pytest.approx(sorted(wanted.values(), reverse=True)[:6])
        assert len({tuple(reading.labels) for reading in readings}) == len(readings) == min(6, len(wanted))
        assert all(wanted[tuple(reading.labels)] == pytest.approx(reading.score) for reading in readings)


def probabilities(wanted: dict[tuple[str, ...], float], temperature: float) -> dict[tuple[str, ...], float]:
    weights = {y: np.exp(score / temperature) for y, score in wanted.items()}
    return {y: weight / sum(weights.values()) for y, weight in weights.items()}


def test_marginals_confidences_and_samples(case: tuple[Tagger, int]) -> None:
    tagger, n_boundaries = copy.deepcopy(case[0]), case[1]
    tagger.model_ = replace(tagger.model_, temperature=10.0)
    names = list(tagger.classes_)
    for word, table, found in zip(NEW, tagger.predict_marginals(NEW), tagger.predict_spans(NEW)):
        shares = probabilities(labellings(tagger, word, n_boundaries), 10.0)
        wanted = np.zeros((len(word), len(names)))
        for y, share in shares.items():
            wanted[np.arange(len(y)), [names.index(name) for name in y]] += share
        np.testing.assert_allclose(table, wanted, atol=1e-9)
        best = tagger.predict([word])[0]
        assert [span.confidence for span in found] == pytest.approx(
            [wanted[t, names.index(name)] for t, name in enumerate(best)]
        )
    drawn = tagger.sample(["cec", "ee"], n=2000, seed=1)
    assert drawn == tagger.sample(["cec", "ee"], n=2000, seed=1) != tagger.sample(["cec", "ee"], n=2000, seed=2)
    for y, share in probabilities(labellings(tagger, "cec", n_boundaries), 10.0).items():
        assert sum(tuple(labels) == y for labels in drawn[0]) / 2000 == pytest.approx(share, abs=0.05)


def test_constraints(case: tuple[Tagger, int]) -> None:
    tagger, n_boundaries = case
    wanted = labellings(tagger, "cecia", n_boundaries)
    for fixed in ({0: "k"}, {0: "k", 2: "k"}, {1: ["-"]}):
        found = tagger.predict(["cecia"], [fixed])[0]
        left = {y: s for y, s in wanted.items() if all(y[t] in names for t, names in fixed.items())}
        assert left[tuple(found)] == pytest.approx(max(left.values()))
        assert len(tagger.predict_k_best(["cecia"], 10**4, [fixed])[0]) == len(left)
    forbidden = tagger.predict(["cecia"], [Constraints(forbidden={0: "s"})])[0]
    assert forbidden[0] == "k"


def test_a_label_never_seen_with_a_symbol_can_be_forced_and_the_symbol_counts_as_unknown(case: Any) -> None:
    tagger, n_boundaries = case
    table = tagger.k_gram_table()
    found = tagger.predict(["cecia"], [{2: "a"}])[0]
    boundary = [None] * n_boundaries
    scores = {
        (*y[:2], "a", *y[2:]): table.score(
            [*boundary, *"cecia", *boundary], [*boundary, *y[:2], "a", *y[2:], *boundary]
        )
        for y in product(*(table.bi_symbols.outputs_with(letter) for letter in "ceia"))
    }
    assert scores[tuple(found)] == pytest.approx(max(scores.values()))
    assert tagger.predict(["x", "x"], [{0: "s"}, {0: ["-", "k"]}]) == [["s"], ["k"]]  # k is more frequent than -


def test_unseen_symbols_take_whatever_label_the_pairs_leave() -> None:
    """Scored 0, so that of those left the most frequent is taken; each has its share of the probability."""
    X = ["xabbb", "yabbbb", "abbb", "xy"]
    y = [["O", "B-X", *["I-X"] * 3], ["O", "B-X", *["I-X"] * 4], ["B-X", *["I-X"] * 3], ["O", "O"]]
    tagger = Tagger(learner=Spectral(iterations=10, step=10, tau=0.3), constrain=True).fit(X, y)
    assert most_frequent_of(y) == "I-X"  # which cannot be the first label
    found = tagger.predict(["zx", "zab", "z", "zz", "az"])
    assert found[0] == ["O", "O"] and found[2] == ["O"] and found[4][0] == "B-X"
    assert found[1][0] == "O" and found[3] == ["B-X", "I-X"]  # of many that score 0, the last is the most frequent
    table = tagger.predict_marginals(["z"])[0]
    shares = dict(zip(tagger.classes_, table[0]))
    assert shares == pytest.approx({"O": 0.5, "B-X": 0.5, "I-X": 0})
    assert tagger.predict(["zab"], [Constraints(spans=[(0, 2, "X")])])[0][:2] == ["B-X", "I-X"]
    assert len(tagger.predict_k_best(["z"], k=5)[0]) == 2
    assert tagger.score(X, y) > 0.9


def most_frequent_of(y: list[list[str]]) -> str:
    names, counts = np.unique([label for labels in y for label in labels], return_counts=True)
    return str(names[np.argmax(counts)])


@pytest.mark.parametrize("name", LEARNERS)
def test_pairs_that_may_not_follow_each_other(name: str) -> None:
    pairs = [("k", "e"), (None, "k"), ("-", None), ("s", "a")]
    tagger = Tagger(learner=LEARNERS[name], constrain=pairs).fit(WORDS, SOUNDS)

    def free(y: tuple[str, ...]) -> bool:
        return not {(a, b) for a, b in zip((None, *y), (*y, None))} & set(pairs)

    words = ["eca", "aceci", "ice", "ece", ""]
    found, tables = tagger.predict(words), tagger.predict_marginals(words)
    for word, labels, table in zip(words, found, tables):
        wanted = {y: s for y, s in labellings(tagger, word, BORDERS[name]).items() if free(y) or not y}
        assert wanted[tuple(labels)] == pytest.approx(max(wanted.values()))
        shares = probabilities(wanted, 1)
        first = [sum(share for y, share in shares.items() if y[:1] == (label,)) for label in tagger.classes_]
        np.testing.assert_allclose(table[:1], np.array([first])[: len(word)], atol=1e-9)
    tagger.constrain = [(None, "k"), (None, "s")]
    free_of_pairs = Tagger(learner=LEARNERS[name]).fit(WORDS, SOUNDS)
    for ask in ("predict", "predict_marginals", "predict_spans", "predict_k_best"):
        with pytest.warns(RestrictionWarning, match=r"constrain for 1 sentence \(the first: 1\)"):
            found = getattr(copy.deepcopy(tagger), ask)(["a", "ca", "a"])
        assert str(found[1]) == str(getattr(free_of_pairs, ask)(["ca"])[0])


def test_spans_with_confidence() -> None:
    random = np.random.default_rng(1)
    X = ["".join(random.choice(list("ab.."), size=7)) for _ in range(40)]
    found = [[(i, i + 2, "X") for i in range(6) if word[i : i + 2] == "ab"] for word in X]
    y = [labels_of(of_word, 7, "iob2") for of_word in found]
    tagger = Tagger(learner=LEARNERS["k"]).fit(X, y)
    assert tagger.scheme_ == "iob2"
    for word, sure in zip(X[:8], tagger.predict_spans(X[:8])):
        shares = probabilities(labellings(tagger, word, 2), 1)
        for span in sure:
            wanted = sum(share for labels, share in shares.items() if span[:3] in spans(list(labels)))
            assert span.confidence == pytest.approx(wanted)
    assert sum(map(len, tagger.predict_spans(X))) > 10
    assert tagger.predict([X[0]], [Constraints(spans=[(0, 2, "X")])])[0][:2] == ["B-X", "I-X"]


def test_an_explanation_adds_up(case: tuple[Tagger, int]) -> None:
    tagger, n_boundaries = case
    wanted = labellings(tagger, "cecia", n_boundaries)
    best = best_of(wanted)
    for t, why in enumerate(tagger.explain("cecia", top=100)):
        others = [score for y, score in wanted.items() if y[t] != best[t]]
        assert (why.rival is None) == (not others)
        if others:
            assert why.margin == pytest.approx(max(wanted.values()) - max(others))
            assert sum(part.weight for part in why.contributions) + why.rest == pytest.approx(why.margin)
    assert "no other label is possible" in str(tagger.explain("a")[0])


def test_the_pieces_that_speak_for_a_label() -> None:
    tagger = Tagger(learner=LEARNERS["short"]).fit(WORDS, SOUNDS)
    table = tagger.k_gram_table()
    ending = [i for i, (_, label) in enumerate(table.bi_symbols.symbols) if label == "-"]
    scores = np.sort(table.scores[2][:, ending].ravel())[::-1]
    rows = tagger.top_features("-", n=2)
    assert [score for _, score in rows] == pytest.approx([*scores[:2], *scores[-2:]])
    assert rows[0][0].endswith("-") and ": " in rows[0][0]
    # A boundary within a k-gram cannot be, whatever its score.
    weights = Tagger(learner=LEARNERS["k"]).fit(WORDS, SOUNDS).weights_
    changed = {3: weights.table.scores[3].copy()}
    e = next(i for i, pair in enumerate(weights.table.bi_symbols.symbols) if pair[0] >= 0)
    boundary = weights.table.bi_symbols.symbols.index((-2, -2))
    changed[3][e, boundary, :] = 1e6
    changed_weights = replace(weights, table=KGramTable(weights.table.bi_symbols, changed))
    tagger.model_ = replace(tagger.model_, weights=changed_weights)
    assert all(abs(score) < 1e6 for _, score in tagger.top_features("-", n=5))
    with pytest.raises(ValueError, match="no transitions between labels"):
        tagger.top_transitions()


# --- recovered operators


@pytest.fixture(scope="module")
def recovered() -> Tagger:
    learner = Spectral(tau=0.3, step=30, iterations=8, loss="up-to-k", recover=True)
    return Tagger(learner=learner).fit(WORDS, SOUNDS)


def test_operators_predict_in_the_place_of_the_table(recovered: Tagger) -> None:
    plain = Tagger(learner=LEARNERS["up-to-k"]).fit(WORDS, SOUNDS).k_gram_table()
    states = plain.rank()
    wanted = KGramTable.from_operators(plain.operators(states), [0, 1, 2, 3], plain.bi_symbols)
    found = recovered.k_gram_table()
    for length in range(4):
        np.testing.assert_allclose(found.scores[length], wanted.scores[length], atol=1e-5)
    for word, readings in zip(NEW, recovered.predict_k_best(NEW, k=3)):
        scores = sorted(labellings(recovered, word, 2).values(), reverse=True)
        assert [reading.score for reading in readings] == pytest.approx(scores[:3])
    weights = recovered.weights_
    assert isinstance(weights, KGramWeights) and weights.operators is not None
    assert weights.operators.n_states <= states


def test_development_data_judge_the_recovered_operators() -> None:
    """With the rank of the scores that are kept, not of those with the lowest objective."""
    learner = Spectral(tau=3, step=30, iterations=30, loss="up-to-k", recover=True)
    tagger = Tagger(learner=learner).fit(WORDS[:40], SOUNDS[:40], X_dev=WORDS[40:], y_dev=SOUNDS[40:])
    assert tagger.score(WORDS[40:], SOUNDS[40:]) == tagger.history_[tagger.best_epoch_ - 1]["dev_score"]
    plain = Tagger(learner=replace(learner, recover=False)).fit(
        WORDS[:40], SOUNDS[:40], callbacks=[lambda epoch: epoch.epoch == tagger.best_epoch_]
    )
    assert plain.score(WORDS, SOUNDS) > 0
    assert tagger.weights_.operators.n_states == tagger.k_gram_table().rank()


def test_operators_in_a_file(recovered: Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recovered.save(tmp_path / "m")
    file = storage.read(tmp_path / "m")
    assert "operators" in file.arrays and "k_grams3" not in file.arrays
    loaded = margent.load(tmp_path / "m")
    for other in (loaded, copy.deepcopy(recovered)):
        assert other.predict_k_best(WORDS, 3) == recovered.predict_k_best(WORDS, 3)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    recovered.save(tmp_path / "compact", compact=True)
    assert margent.load(tmp_path / "compact").score(WORDS, SOUNDS) == pytest.approx(
        recovered.score(WORDS, SOUNDS), abs=0.05
    )
    monkeypatch.setattr("margent.spectral.weights._MOST_FROM_OPERATORS", 100)
    with pytest.raises(ModelFileError, match="too many for 3-grams by operators"):
        margent.load(tmp_path / "m")
    recovered.save(tmp_path / "table")  # that of a large table is stored as the table
    assert "k_grams3" in storage.read(tmp_path / "table").arrays
    assert margent.load(tmp_path / "table").predict(WORDS) == recovered.predict(WORDS)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("operators", lambda array: array[:, :-1], "shape"),
        ("operators", lambda array: array * np.nan, "should hold numbers between"),
        ("operators", lambda array: array * 0 + 1e25, "scores beyond 1e"),
        ("final", lambda array: array[:-1], "shape"),
        ("initial", lambda array: array[:0], "shape"),
        ("initial", lambda array: array.astype(np.float32), "type"),
    ],
)
def test_operators_that_lie(recovered: Tagger, tmp_path: Path, name: str, change: Any, words: str) -> None:
    recovered.save(tmp_path / "m")
    file = storage.read(tmp_path / "m")
    with pytest.raises(ModelFileError, match=words):
        Tagger.from_file(replace(file, arrays={**file.arrays, name: change(file.arrays[name])}))


def test_nothing_learned_has_operators_too() -> None:
    tagger = Tagger(learner=Spectral(tau=1e6, iterations=2, loss="up-to-k", recover=True)).fit(WORDS, SOUNDS)
    assert not tagger.k_gram_table().scores[3].any()


# --- what it does not do


@pytest.mark.parametrize("features", ["generic", "vectors", ["U:%x[0,0]"], Kernel(), str.split])
def test_other_features_are_refused(features: Any) -> None:
    with pytest.raises(
        ValueError, match=r"Spectral learns from symbols, .* features should be None or 'symbols', got "
    ):
        Tagger(features, Spectral()).fit(WORDS, SOUNDS)


@pytest.mark.parametrize(
    ("parameters", "options", "message"),
    [
        ({"order": 2}, {}, r"order is 2, .* leave order at 1, and give Spectral\(order=\.\.\.\)"),
        ({"tag_dictionary": 2}, {}, "tag_dictionary is not for Spectral"),
        ({"label_costs": {"a": 2}}, {}, "label_costs are not for Spectral"),
        ({}, {"sample_weight": np.arange(60)}, "sample_weight is not for Spectral"),
    ],
)
def test_parameters_for_other_learners_are_refused(parameters: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tagger(learner=Spectral(), **parameters).fit(WORDS, SOUNDS, **options)


def test_data_that_cannot_be_learned_from() -> None:
    tagger = Tagger(learner=Spectral(step=1, iterations=1))
    with pytest.raises(CorpusError, match="sentence 1, token 1 has no label, and Spectral needs one for each token"):
        tagger.fit(["ab", "ab"], [["A", "B"], ["A", None]])
    with pytest.raises(CorpusError, match="symbols are in one column, and the data have 2"):
        tagger.fit([[("a", "b")]], [["A"]])
    with pytest.raises(CorpusError, match="expected str or a tuple of str, got int"):
        tagger.fit([[1, 2]], [["A", "B"]])
    with pytest.raises(CorpusError, match="sentence 1, token 0 is a symbol that min_count or freeze_features leaves"):
        tagger.set_params(features__min_count=2).fit(["aa", "b"], [["A", "A"], ["B"]])
    tagger.set_params(features__min_count=1).fit(["aa"], [["A", "A"]])
    with pytest.raises(CorpusError, match="sentence 0, token 1 is a symbol that min_count or freeze_features leaves"):
        tagger.partial_fit(["ab"], [["A", "B"]], freeze_features=True)
    assert tagger.predict(["ab"]) == [["A", "A"]]


def test_a_learner_for_a_structure_that_there_is_not() -> None:
    @dataclass(frozen=True)
    class Other(Spectral):
        @property
        def needs(self) -> frozenset[Capability]:
            return frozenset({Capability.FRAME_STATISTICS})

    with pytest.raises(
        TypeError, match="Other fits densities to the frames of segments, and the structure 'chain' has no"
    ):
        Tagger(learner=Other()).fit(WORDS, SOUNDS)


def test_another_kind_of_learner_cannot_go_on() -> None:
    tagger = Tagger("symbols", Perceptron(epochs=1)).fit(WORDS, SOUNDS)
    assert not isinstance(tagger.weights_, KGramWeights)
    with pytest.raises(ValueError, match="no table of k-gram scores: it comes with Spectral"):
        tagger.k_gram_table()
    with pytest.raises(ValueError, match="Spectral learns other weights than this Tagger has"):
        tagger.set_params(learner=Spectral()).partial_fit(WORDS, SOUNDS)
    for change in ({"learner__order": 2}, {"learner__loss": "up-to-k"}):
        with pytest.raises(ValueError, match=r"now, but this Tagger was fitted with order=3 and loss='k'"):
            Tagger(learner=LEARNERS["k"]).fit(WORDS, SOUNDS).set_params(**change).partial_fit(WORDS, SOUNDS)


def test_symbols_are_features_for_other_learners_too() -> None:
    tagger = Tagger("symbols", CRF(l2=0.1), order=2).fit(WORDS, SOUNDS)
    assert {name for name, _ in tagger.top_features("k")} <= set("ceia")
    assert tagger.feature_map_.n_unigrams == 4
    assert tagger.predict(["x", "ai"])[1] == ["a", "i"]
