"""Which outputs were seen with which inputs."""

from __future__ import annotations

import re

import pytest

from margent.errors import CorpusError
from margent.spectral import BiSymbols

X = ["cat", "city", "act"]
Y = [["k", "@", "t"], ["s", "I", "t", "i"], ["@", "k", "t"]]


def test_an_input_is_paired_with_the_outputs_seen_with_it_only():
    seen = BiSymbols.observed(X, Y)
    assert set(seen.symbols) == {("c", "k"), ("c", "s"), ("a", "@"), ("t", "t"), ("i", "I"), ("y", "i")}
    assert len(seen) == 6
    assert seen.outputs_with("c") == ["k", "s"]
    assert repr(seen) == "BiSymbols(n_inputs=5, n_bi_symbols=6, fallback='t')"


def test_the_most_frequent_come_first():
    seen = BiSymbols.observed(["aaaa", "ab"], [["A", "B", "B", "C"], ["C", "C"]])
    assert seen.outputs_with("a") == ["B", "C", "A"]  # B and C are equally frequent with a, and B was there first
    assert seen.fallback == "C"


def test_what_was_not_seen():
    seen = BiSymbols.observed(X, Y)
    assert seen.outputs_with("z") == ["t"]
    assert seen.candidates("z").tolist() == [-1]
    assert seen.output(-1) == "t"
    assert seen.numbers("ca", ["k", "s"]).tolist() == [seen.symbols.index(("c", "k")), -1]
    assert BiSymbols([("a", 1)]).fallback == 1
    assert BiSymbols([("a", 1)], fallback=0).output(-1) == 0


def test_counts_of_pieces():
    seen = BiSymbols([("a", "A"), ("b", "B")])
    numbers = [seen.numbers("aab", "AAB"), seen.numbers("ab", "AB"), seen.numbers("", ""), seen.numbers("ba", "BX")]
    assert seen.gram_counts(numbers, 1).tolist() == [3, 3]
    assert seen.gram_counts(numbers, 2).tolist() == [1, 2, 0, 0]
    assert seen.gram_counts(numbers, 4).tolist() == [0] * 16


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["ab"], [], "found outputs for 0 sequences, expected them for 1"),
        (["ab", "ab"], ["AB", "A"], "sequence 1 has 2 input symbols, but 1 output symbols"),
        (["", ""], ["", ""], "there is nothing to learn from"),
    ],
)
def test_data_that_do_not_fit(X, y, message):
    with pytest.raises(CorpusError, match=re.escape(message)):
        BiSymbols.observed(X, y)


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        ([], "there is no bi-symbol"),
        ([("a", "A"), ("a", "A")], "bi-symbol 1, ('a', 'A'), was given before"),
        (["aA"], "bi-symbol 0 is 'aA'; expected a pair"),
    ],
)
def test_wrong_symbols(symbols, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        BiSymbols(symbols)


def test_sequences_of_different_length():
    with pytest.raises(CorpusError, match="x has 2 input symbols, but y has 1"):
        BiSymbols([("a", "A")]).numbers("aa", "A")
