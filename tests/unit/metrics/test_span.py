from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import conlleval

from margent.annotation.schemes import SCHEMES, convert
from margent.errors import CorpusError
from margent.metrics import conlleval_text, span_scores

Pair = tuple[list[list[str]], list[list[str]]]


@st.composite
def pairs(draw: st.DrawFn, prefixes: str, kinds: tuple[str, ...] = ("X", "Y", "NP-TMP", "")) -> Pair:
    """Gold and predicted labels with mistakes, in any order, so mostly malformed."""
    names = sorted({p if p == "O" or not kind else f"{p}-{kind}" for p in prefixes for kind in kinds})
    label = st.sampled_from(names)
    gold = draw(st.lists(st.lists(label, max_size=8), max_size=5))
    wrong = draw(st.lists(st.tuples(st.integers(0, 2), label), min_size=40, max_size=40))
    places = iter(wrong)
    predicted = [[other if change == 0 else g for g, (change, other) in zip(s, places)] for s in gold]
    return gold, [s + g[len(s) :] for s, g in zip(predicted, gold)]


def same(gold: list[list[str]], predicted: list[list[str]], scheme: str | None, extended: bool) -> None:
    counts = conlleval.count(gold, predicted, extended)
    report = span_scores(gold, predicted, scheme)
    assert (report.tokens, report.correct_tokens) == (counts.tokens, counts.correct_tags)
    assert report.total[1:] == (counts.correct_chunks, counts.found_correct, counts.found_guessed)
    for row in report.rows:
        kind = row.label
        assert row[1:] == (counts.correct_by_kind[kind], counts.gold_by_kind[kind], counts.guessed_by_kind[kind])
    precision, recall, f1 = conlleval.ratios(*report.total[1:])
    assert 100 * report.precision == pytest.approx(precision)
    assert 100 * report.recall == pytest.approx(recall)
    assert 100 * report.f1 == pytest.approx(f1)
    assert str(report) == conlleval_text(report) == conlleval.text(counts)


@pytest.mark.parametrize("prefixes", ["BIO", "IEO"])
@settings(deadline=None, max_examples=250)
@given(st.data())
def test_same_as_the_script_on_labels_that_it_knows(prefixes: str, data: st.DataObject) -> None:
    gold, predicted = data.draw(pairs(prefixes))
    same(gold, predicted, None, extended=False)
    same(gold, predicted, "conlleval", extended=False)
    same(gold, predicted, "iob1" if prefixes == "BIO" else "ioe2", extended=False)


@settings(deadline=None, max_examples=250)
@given(pairs("BIEO"), pairs("BIESO", ("X", "Y", "NP-TMP")))
def test_to_the_letter_of_the_script_on_labels_that_it_does_not_know(first: Pair, second: Pair) -> None:
    same(*first, "conlleval", extended=False)
    same(*second, "conlleval", extended=False)


@settings(deadline=None, max_examples=250)
@given(pairs("BIESO"), pairs("BILUO"))
def test_same_as_the_extended_script_on_iobes_and_bilou(first: Pair, second: Pair) -> None:
    for gold, predicted in (first, second):
        same(gold, predicted, None, extended=True)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(pairs("BIO"))
def test_the_scheme_does_not_change_the_span_counts(scheme: str, case: Pair) -> None:
    """Written in any scheme, the same spans give the numbers of the script on IOB2."""
    gold, predicted = ([convert(labels, None, "iob2") for labels in side] for side in case)
    counts = conlleval.count(gold, predicted)
    written = ([convert(labels, "iob2", scheme) for labels in side] for side in (gold, predicted))
    report = span_scores(*written, scheme)
    assert report.total[1:] == (counts.correct_chunks, counts.found_correct, counts.found_guessed)


def test_the_layout() -> None:
    gold = [["B-NP", "I-NP", "O", "B-VP"], ["B-NP"]]
    predicted = [["B-NP", "I-NP", "B-NP", "B-VP"], ["I-PP"]]
    assert conlleval_text(span_scores(gold, predicted)) == (
        "processed 5 tokens with 3 phrases; found: 4 phrases; correct: 2.\n"
        "accuracy:  60.00%; precision:  50.00%; recall:  66.67%; FB1:  57.14\n"
        "               NP: precision:  50.00%; recall:  50.00%; FB1:  50.00  2\n"
        "               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "               VP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
    )


def test_nothing_at_all() -> None:
    report = span_scores([], [])
    assert (report.accuracy, report.precision, report.recall, report.f1, report.rows) == (0, 0, 0, 0, ())
    assert str(report) == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0.\n"
    assert report.averages[0].f1 == report.averages[1].f1 == 0


def test_generators_are_read_once() -> None:
    gold = [["B-X", "O"], ["O"]]
    assert span_scores(iter(map(iter, gold)), (tuple(s) for s in gold)).f1 == 1


def test_wrong_input_is_named() -> None:
    with pytest.raises(CorpusError, match="sentence 1 has 2 gold labels, but 1 predicted ones"):
        span_scores([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(CorpusError, match="the predicted labels end after 1 sentences, but there are more gold ones"):
        span_scores([["O"], ["O"]], [["O"]])
    with pytest.raises(CorpusError, match="sentence 0 of the gold labels is 'O', but a list of labels was expected"):
        span_scores(["O", "B-X"], ["O", "O"])
    with pytest.raises(CorpusError, match="sentence 0, token 1 has no predicted label"):
        span_scores([["O", "O"]], [["O", None]])  # type: ignore[list-item]
    with pytest.raises(CorpusError, match="sentence 1: token 0 has the label 'E-X', but the scheme iob2"):
        span_scores([["O"], ["O"]], [["O"], ["E-X"]], "iob2")
