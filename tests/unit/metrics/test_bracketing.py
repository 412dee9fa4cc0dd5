from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import bracketing
from tests.unit.phrase_trees import trees

from margent.annotation import PhraseTree
from margent.errors import CorpusError
from margent.metrics import (
    BracketingRules,
    bracketing_metric,
    bracketing_scores,
    classification_table,
    paired_bootstrap,
)


@st.composite
def pairs(draw):
    """Two trees of the same words; the tags may differ where none of them is left out."""
    gold = draw(trees(tags=("DT", "NN", ",")))
    guess = draw(trees(n_words=len(gold)))
    tags = [tag if tag == "," else draw(st.sampled_from(["DT", "NN"])) for tag in gold.tags]
    return gold, PhraseTree(gold.words, tags, guess.phrases)


@given(st.lists(pairs(), min_size=1, max_size=4))
def test_counts_are_those_of_the_twin(made):
    gold, guess = zip(*made)
    report = bracketing_scores(gold, guess)
    rows = [bracketing.counts(a.brackets(), b.brackets()) for a, b in made]
    totals = tuple(map(sum, zip(*rows)))
    found = (report.total.correct, report.total.gold, report.total.found, report.crossing, report.right_tags)
    assert (*found, report.words) == totals
    assert report.exact == sum(a == b == c for a, b, c, *_ in rows) and report.trees == len(rows)
    assert report.few_crossing == sum(row[3] <= 2 for row in rows)


def test_punctuation_does_not_count_and_repeated_phrases_do():
    gold = PhraseTree.from_brackets("(TOP (S (S (NP (NN a) (, ,) (NN b)) (PRN (, ,)) (PRT (RP up)))))")
    guess = PhraseTree.from_brackets("(TOP (S (NP (NN a) (, ,) (NN b)) (, ,) (ADVP (RP up))))")
    report = bracketing_scores([gold], [guess])
    assert (report.total.correct, report.total.gold, report.total.found) == (3, 4, 3)
    assert [row.label for row in report.rows] == ["ADVP", "NP", "S"]
    assert bracketing_scores([gold], [guess], longest=2).trees == 0
    assert bracketing_scores([gold], [guess], longest=3).trees == 1
    assert bracketing_scores([gold], [guess], rules=BracketingRules(alike={})).total.correct == 2


def test_reports_are_tables():
    tree = PhraseTree.from_brackets("(S (NP (DT a) (NN dog)) (VP (VBZ barks)))")
    text = classification_table(bracketing_scores([tree], [tree]))
    assert "all phrases" in text and "100.00 % of 1 trees are right" in text
    flat = PhraseTree(tree.words, tree.tags, [(0, 3, "S")])
    result = paired_bootstrap([tree] * 20, [tree] * 20, [flat] * 20, bracketing_metric())
    assert result.first == 1 and result.second == 0.5


def test_what_cannot_be_compared_is_refused():
    one, two = PhraseTree(["a"], ["N"]), PhraseTree(["a", "b"], ["N", "N"], [(0, 2, "S")])
    with pytest.raises(CorpusError, match="tree 0 has 1 words, but the predicted one 2"):
        bracketing_scores([one], [two])
    with pytest.raises(CorpusError, match="the predicted trees end after 1"):
        bracketing_scores([one, one], [one])
    with pytest.raises(CorpusError, match="tree 0, predicted: expected a PhraseTree, got str"):
        bracketing_scores([one], ["(N a)"])
