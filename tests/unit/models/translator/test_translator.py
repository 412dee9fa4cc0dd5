"""The translator as users know it: translations, derivations, explanations, what is left out, refusals."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import margent
from margent import CubePruning, DenseStart, Perceptron, Translator
from margent.datasets import make_translations
from margent.errors import CorpusError, TrainingWarning
from margent.models import derivation_svg
from margent.models.translator.alignment import aligned
from margent.models.translator.drawing import drawn
from margent.models.translator.groups import folds_of, groups_of, left_out_together
from margent.models.translator.rule_table import RuleTable
from margent.models.translator.templates import budgeted, parsed_templates

X, Y, LINKS = make_translations(120, seed=0, longest=10)
X_DEV, Y_DEV, _ = make_translations(30, seed=1, longest=10)
FEW = ["source.first.word target.first", "span.after.word target.last", "target.shape"]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator(FEW, Perceptron(epochs=3), dense=DenseStart(10), threads=1).fit(
        X, Y, alignments=LINKS, X_dev=X_DEV, y_dev=Y_DEV
    )


def test_learning_helps_and_does_not_depend_on_threads(translator: Translator) -> None:
    start = Translator([], Perceptron(epochs=1), threads=1).fit(X, Y, alignments=LINKS)
    assert start.weights_.dense == {
        name: 1000 * weight for name, weight in _initial().items()
    }  # there is nothing else to learn
    assert translator.score(X_DEV, Y_DEV) > start.score(X_DEV, Y_DEV)
    other = Translator(FEW, Perceptron(epochs=3), dense=DenseStart(10), threads=3).fit(
        X, Y, alignments=LINKS, X_dev=X_DEV, y_dev=Y_DEV
    )
    assert other.predict(X_DEV) == translator.predict(X_DEV)
    first, second = translator.weights_.table.arrays(), other.weights_.table.arrays()
    assert all(np.array_equal(first[name], second[name]) for name in first)


def _initial() -> dict[str, float]:
    from margent.models.translator.rule_table import DENSE_FEATURES
    from margent.models.translator.weights import INITIAL

    return {name: INITIAL.get(name, 0.0) for name in DENSE_FEATURES}


def test_readings_derivations_and_explanations_agree(translator: Translator) -> None:
    best = translator.predict(X_DEV)
    for words, found, readings in zip(X_DEV, best, translator.predict_k_best(X_DEV, 3)):
        assert readings[0].words == found and readings[0].derivation.words == found
        assert len({tuple(reading.words) for reading in readings}) == len(readings)
        scores = [reading.score for reading in readings]
        assert scores == sorted(scores, reverse=True)
        why = translator.explain(words)
        assert list(why.translation) == found and why.score == pytest.approx(scores[0], rel=1e-6)
        assert sum(step.score for step in why.steps) == pytest.approx(why.score, rel=1e-4, abs=1e-3)
        if len(readings) > 1:
            assert why.margin == pytest.approx(scores[0] - scores[1], rel=1e-6)
        assert found == why.derivation.words and str(why).startswith(" ".join(why.words))
    several = translator.predict_k_best(X_DEV[:1], 6, distinct=False)[0]
    assert len({tuple(reading.words) for reading in several}) < len(several) == 6


def test_pictures_show_all_words(translator: Translator) -> None:
    words = X_DEV[0]
    reading = translator.predict_k_best([words], 1)[0][0]
    picture = derivation_svg(reading.derivation, translator.tokens(words))
    shown = re.findall(r'<text x="[^"]*" y="[^"]*">([^<]*)</text>', picture)
    assert all(word in shown for word in (*words, *reading.words))
    lines = drawn(reading.derivation).splitlines()
    assert lines[0].endswith(" ".join(reading.words)) and lines[0].startswith(f"[0:{len(words)}]")


def test_forests_hold_what_was_found(translator: Translator) -> None:
    forests = translator.forests(X_DEV[:5])
    for number, readings in enumerate(translator.predict_k_best(X_DEV[:5], 1)):
        assert forests.forest(number).best().score == pytest.approx(readings[0].score, rel=1e-6)
    assert (forests.log_partition() >= [r[0].score - 1e-6 for r in translator.predict_k_best(X_DEV[:5], 1)]).all()
    assert forests.expected_features().shape == (5, 18)


def test_words_that_no_rule_has(translator: Translator) -> None:
    assert translator.predict([["zzz"], []]) == [["zzz"], []]
    assert translator.predict_k_best([[]], 2) == [[]]
    known = X[0][0]
    assert translator.tokens([known + known]) == [known, known]
    assert translator.explain(["zzz"]).unknown == ("zzz",)


def test_pairs_that_share_a_sentence_are_left_out_together() -> None:
    sources, targets = [["a", "b"], ["a", "b"], ["c"]], [["x", "y"], ["z"], ["z"]]
    links = [margent.WordAlignment.parse(text) if hasattr(margent, "WordAlignment") else _parsed(text)
             for text in ("0-0 1-1", "0-0 1-0", "0-0")]  # fmt: skip
    table, own = RuleTable.extracted(sources, targets, links, left_out=True)
    groups = groups_of(sources, targets)
    assert groups.tolist() == [0, 0, 0]
    together = left_out_together(own, groups)
    for sentence in range(3):
        assert np.isnan(table.features(together, sentence)).all()
    assert not np.isnan(table.features(own, 2)).all()
    assert len(set(folds_of(groups_of([["a"], ["b"], ["c"]], [["x"], ["y"], ["z"]]), 2, 0).tolist())) == 2


def _parsed(text: str) -> Any:
    from margent.annotation import WordAlignment

    return WordAlignment.parse(text)


def test_alignments_are_made_where_none_are_given() -> None:
    found = aligned(X, Y)
    right = sum(len(one.links & other.links) for one, other in zip(found, LINKS))
    assert right > 0.6 * sum(len(one.links) for one in found)
    assert all(not one.links for one in aligned([[], ["a"]], [["x"], []]))


def test_files(translator: Translator, tmp_path: Any) -> None:
    translator.save(tmp_path / "m")
    again = margent.load(tmp_path / "m")
    assert again.predict(X_DEV) == translator.predict(X_DEV) and again.coverage_ == translator.coverage_
    translator.save(tmp_path / "c", compact=True)
    assert margent.load(tmp_path / "c").score(X_DEV, Y_DEV) == pytest.approx(translator.score(X_DEV, Y_DEV), abs=0.1)


def test_reports(translator: Translator) -> None:
    report = translator.evaluate(X_DEV, Y_DEV)
    assert report.bleu == pytest.approx(translator.score(X_DEV, Y_DEV))
    assert report.total.sentences == len(X_DEV) and "brevity penalty" in str(report)
    several = [[right, ["something", "else"]] for right in Y_DEV]
    assert translator.score(X_DEV, several) == pytest.approx(report.bleu, abs=1e-9)


def test_templates() -> None:
    assert "source.first.word target.first" in budgeted()
    assert len(parsed_templates([])) == 0
    for wrong, said in (
        ("target.word", "names no atom"),
        ("nothing", "known address"),
        ("rule.lower", "names no atom"),
    ):
        with pytest.raises(CorpusError, match=said):
            Translator([wrong]).fit(X, Y)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Translator().fit(X), "translations are missing"),
        (lambda: Translator().fit(X, Y[:3]), "expected as many"),
        (lambda: Translator().fit(X, Y, alignments=LINKS[:2]), "expected as many"),
        (lambda: Translator().fit(X[:1], Y[:1], alignments=["99-0"]), "points outside"),
        (lambda: Translator().fit([["a b"]], [["c"]]), "without blanks"),
        (lambda: Translator().fit([["a"]], [[]]), "nothing to learn"),
        (lambda: Translator(learner="crf").fit(X, Y), "chain|sums|beam"),
        (lambda: Translator(search=margent.Beam(3)).fit(X, Y), "CubePruning"),
        (lambda: Translator(dense=DenseStart(weights={"no": 1.0})).fit(X, Y), "no dense feature"),
        (lambda: CubePruning(update="early"), "one of"),
        (lambda: Translator().fit(X, Y, dev_metric="f1"), "dev_metric"),
    ],
)
def test_refusals(call: Any, said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        call()


def test_what_cannot_be_reached_is_told() -> None:
    with pytest.raises(CorpusError, match="none of the 1 sentences"):
        Translator().fit([["a", "b"]], [["x", "y"]], alignments=["0-0 1-1"])
    pairs = [(["a"], ["x"])] * 2 + [([f"w{i}"], [f"v{i}"]) for i in range(30)] + [(["a", "a"], ["x", "x"])] * 2
    with pytest.warns(TrainingWarning, match="have a derivation"):
        Translator(FEW, Perceptron(epochs=1)).fit(*zip(*pairs), alignments=["0-0"] * 32 + ["0-0 1-1"] * 2)
