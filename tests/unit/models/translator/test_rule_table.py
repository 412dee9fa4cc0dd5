"""Rules of a hierarchical grammar against a plain twin, and the table they are kept in."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import hierarchical_rules as twin

from margent import storage
from margent.annotation import WordAlignment
from margent.errors import CorpusError, ModelFileError
from margent.models.translator.rule_table import (
    DENSE_FEATURES,
    TABLE_FEATURES,
    Rule,
    RuleArrays,
    RuleExtraction,
    RuleTable,
)

# The sentences of Table 5.4 of paper 003: with Sharon Bush held talks; Bush held talks.
BUSH = (
    [["Bùshí", "yǔ", "Shālóng", "jǔxíng", "huìtán"], ["Bùshí", "jǔxíng", "huìtán"]],
    [["Bush", "held", "talks", "with", "Sharon"], ["Bush", "held", "talks"]],
    [WordAlignment.parse("0-0 1-3 2-4 3-1 4-2"), WordAlignment.parse("0-0 1-1 2-2")],
)


@st.composite
def corpora(draw):
    """Up to four small aligned pairs over few words, so that rules come more than once."""
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        source = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
        target = draw(st.lists(st.sampled_from("xyz"), min_size=1, max_size=5))
        every = [(i, j) for i in range(len(source)) for j in range(len(target))]
        pairs.append((source, target, sorted(draw(st.sets(st.sampled_from(every), max_size=6)))))
    return pairs


def extracted(corpus, **options):
    sources, targets, links = zip(*corpus)
    alignments = [WordAlignment(frozenset(each)) for each in links]
    return RuleTable.extracted(sources, targets, alignments, RuleExtraction(**options), left_out=True)


def as_pairs(table):
    return [tuple(table.rule(number)) for number in range(len(table))]


def test_the_rules_of_table_5_4_are_found():
    table, _ = RuleTable.extracted(*BUSH)
    found = set(as_pairs(table))
    for source, target in (
        ("Bùshí", "Bush"),
        ("Shālóng", "Sharon"),
        ("huìtán", "talks"),
        ("yǔ 1 jǔxíng 2", "held 2 with 1"),
        ("yǔ Shālóng", "with Sharon"),
        ("1 jǔxíng 2", "1 held 2"),
    ):
        rule = tuple(
            tuple(int(symbol) if symbol in "12" else symbol for symbol in side.split()) for side in (source, target)
        )
        assert rule in found, rule
    # No initial phrase crosses a link, and nonterminals do not meet on the source side.
    assert not any("yǔ" in source and "held" in target and "jǔxíng" not in source for source, target in found)
    assert all(isinstance(a, str) or isinstance(b, str) for source, _ in found for a, b in itertools.pairwise(source))


@settings(deadline=None, max_examples=60)
@given(
    corpora(),
    st.sampled_from([10, 3]),
    st.sampled_from([5, 2]),
    st.integers(0, 2),
    st.booleans(),
    st.sampled_from(["unit", "fractional"]),
)
def test_rules_and_features_are_those_of_the_twin(corpus, max_span, max_symbols, max_gaps, tight, counts):
    limits = {
        "max_span": max_span,
        "max_source_symbols": max_symbols,
        "max_nonterminals": max_gaps,
        "tight": tight,
    }
    table, own = extracted(corpus, counts=counts, **limits)
    wanted = twin.counted(corpus, fractional=counts == "fractional", **limits)
    rules = as_pairs(table)
    assert dict(zip(rules, table.arrays.rule_counts)) == {rule: float(n) for rule, n in sum(wanted, Counter()).items()}
    for left_out in (None, *range(len(corpus))):
        features = table.features() if left_out is None else table.features(own, left_out)
        expected = twin.table_features(corpus, left_out, fractional=counts == "fractional", **limits)
        kept = ~np.isnan(features[:, 0])
        assert {rule for rule, there in zip(rules, kept) if there} == set(expected)
        for rule, row in zip(rules, features):
            if rule in expected:
                np.testing.assert_allclose(row, expected[rule], rtol=1e-5, atol=1e-6)
    for sentence, mine in enumerate(wanted):
        row = slice(*own.ptr[sentence : sentence + 2])
        assert {rules[r]: n for r, n in zip(own.rules[row], own.counts[row])} == {r: float(n) for r, n in mine.items()}


def test_rules_are_found_by_their_source_side_the_most_frequent_first():
    corpus = [(["a"], [e], [(0, 0)]) for e in "xyxzzx"]
    table, _ = extracted(corpus)
    assert [table.rule(number).target for number in table.find(["a"])] == [("x",), ("z",), ("y",)]
    assert list(table.find(["b"])) == list(table.find(["a", 1])) == []
    table, _ = RuleTable.extracted(*BUSH)
    assert [str(table.rule(n)) for n in table.find(["yǔ", 1, "jǔxíng", 2])] == [
        "yǔ [X,1] jǔxíng [X,2] ||| held [X,2] with [X,1]"
    ]
    assert table.known_words() == {"Bùshí", "yǔ", "Shālóng", "jǔxíng", "huìtán"}
    assert sum(1 for _ in table.lines()) == len(table)


def test_the_most_frequent_rules_of_a_source_side_may_be_kept_alone():
    corpus = [(["a", "b"], [e, "w"], [(0, 0), (1, 1)]) for e in "xyxzzx"]
    whole, _ = extracted(corpus)
    table, own = extracted(corpus, max_targets=2)
    assert [table.rule(number).target for number in table.find(["a"])] == [("x",), ("z",)]
    everything = dict(zip(as_pairs(whole), whole.features().tolist()))
    assert all(everything[rule] == row for rule, row in zip(as_pairs(table), table.features().tolist()))
    assert len(own.ptr) == 7 and own.rules.max() < len(table)
    table, _ = extracted(corpus, min_count=2)
    assert [table.rule(number).target for number in table.find(["a"])] == [("x",), ("z",)]
    assert ("y",) not in [tuple(s for s in side) for _, side in as_pairs(table)]


def test_tables_do_not_depend_on_threads_or_on_the_order_of_sentences():
    random = np.random.default_rng(5)
    corpus = []
    for _ in range(700):
        n, m = random.integers(1, 9, 2)
        links = {(int(random.integers(n)), int(random.integers(m))) for _ in range(n)}
        corpus.append(([str(x) for x in random.integers(0, 9, n)], [str(x) for x in random.integers(0, 9, m)], links))
    sources, targets, links = zip(*corpus)
    alignments = [WordAlignment(frozenset(each)) for each in links]
    one, own = RuleTable.extracted(sources, targets, alignments, left_out=True)
    many, same = RuleTable.extracted(sources, targets, alignments, left_out=True, threads=3)
    for a, b in zip((*one.arrays, *own), (*many.arrays, *same)):
        np.testing.assert_array_equal(a, b)
    backwards, _ = RuleTable.extracted(sources[::-1], targets[::-1], alignments[::-1])
    assert dict(zip(as_pairs(one), one.arrays.rule_counts)) == dict(
        zip(as_pairs(backwards), backwards.arrays.rule_counts)
    )


def test_nothing_is_extracted_from_nothing():
    table, own = RuleTable.extracted([], [], [], left_out=True)
    assert len(table) == 0 and own.ptr.tolist() == [0] and len(table.find(["a"])) == 0
    table, _ = RuleTable.extracted([["a"]], [["x"]], [WordAlignment()])
    assert len(table) == 0 and table.known_words() == set()


def test_a_table_comes_back_from_a_file(tmp_path):
    table, _ = RuleTable.extracted(*BUSH)
    storage.write(tmp_path / "table", {}, table.stored())
    for mapped in (False, True):
        again = RuleTable.restored(storage.read(tmp_path / "table", mmap=mapped))
        assert as_pairs(again) == as_pairs(table) and again.features().tolist() == table.features().tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("child_ptr", lambda a: a[::-1]),
        ("child_symbol", lambda a: a + 100),
        ("child_symbol", lambda a: a * 0 - 1),
        ("source_counts", lambda a: a * np.nan),
        ("rule_ptr", lambda a: a * 0),
        ("rule_target", lambda a: a - 1),
        ("rule_counts", lambda a: a + 100),
        ("rule_counts", lambda a: a * 0),
        ("lexical", lambda a: a + 50),
        ("lexical", lambda a: a[:-1]),
        ("target_ptr", lambda a: a * 0),
        ("target_symbols", lambda a: np.where(a == -1, -2, a)),
        ("target_symbols", lambda a: np.where(a == -2, 0, a)),
        ("target_symbols", lambda a: a + 100),
        ("target_counts", lambda a: -a),
    ],
)
def test_a_file_with_wrong_rules_is_refused(tmp_path, name, change):
    table, _ = RuleTable.extracted(*BUSH)
    arrays = table.stored()
    kind = arrays[f"rules.{name}"].dtype
    arrays[f"rules.{name}"] = change(arrays[f"rules.{name}"]).astype(kind)
    storage.write(tmp_path / "table", {}, arrays)
    with pytest.raises(ModelFileError, match="its rules are wrong"):
        RuleTable.restored(storage.read(tmp_path / "table"))


def test_wrong_pairs_are_refused():
    good = [["a"]], [["x"]]
    with pytest.raises(CorpusError, match="pair 0: link 1-0 points outside sentences of 1 and 1 words"):
        RuleTable.extracted(*good, [WordAlignment.parse("1-0")])
    with pytest.raises(CorpusError, match="differ in number"):
        RuleTable.extracted(*good, [])
    with pytest.raises(ValueError, match="max_nonterminals of RuleExtraction should be an integer of at most 2, got 3"):
        RuleExtraction(max_nonterminals=3)


def test_there_are_eighteen_dense_features():
    assert len(DENSE_FEATURES) == len(set(DENSE_FEATURES)) == 18 and len(TABLE_FEATURES) == 9
    table, _ = RuleTable.extracted(*BUSH)
    assert table.features().shape == (len(table), 9)
    assert str(Rule(("a", 1), (1, "x"))) == "a [X,1] ||| [X,1] x"
    assert isinstance(table.arrays, RuleArrays)
