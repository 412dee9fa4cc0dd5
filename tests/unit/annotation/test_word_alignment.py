"""Word alignments: their text, and one of two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.symmetrization import grow_diag

from margent.annotation import WordAlignment, symmetrized
from margent.errors import CorpusError

LINKS = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 4)), max_size=12)


@given(LINKS, LINKS)
def test_one_alignment_of_two_is_that_of_the_twin(forward, backward):
    one, other = WordAlignment(forward), WordAlignment(backward)
    assert symmetrized(one, other, "intersection").links == forward & backward
    assert symmetrized(one, other, "union").links == forward | backward
    for method, final in (("grow-diag", ""), ("grow-diag-final", "final"), ("grow-diag-final-and", "final-and")):
        assert symmetrized(one, other, method).links == grow_diag(forward, backward, final, 6, 5)


@given(LINKS, LINKS)
def test_an_alignment_is_what_its_text_says(links, possible):
    alignment = WordAlignment(links, possible)
    assert WordAlignment.parse(str(alignment)) == alignment
    assert alignment.inverted().inverted() == alignment
    assert not alignment.links & alignment.possible


@pytest.mark.parametrize("text", ["0", "0-", "-1", "a-b", "0-1-2", "0-1 x", "1?", "0.5-1", "12345678901-0", "²-1"])
def test_what_is_not_a_link_is_refused(text):
    with pytest.raises(CorpusError, match=r"expected a (link|position)"):
        WordAlignment.parse(text)


def test_links_outside_of_the_sentences_are_refused():
    WordAlignment.parse("0-2").check_fits(1, 3)
    with pytest.raises(CorpusError, match="pair 3: link 0-2 points outside sentences of 1 and 2 words"):
        WordAlignment.parse("0-2").check_fits(1, 2, "pair 3")
    with pytest.raises(CorpusError, match=r"positions from 0 on, got \(-1, 0\)"):
        WordAlignment(frozenset({(-1, 0)}))
    with pytest.raises(ValueError, match="method should be one of intersection, union, grow-diag"):
        symmetrized(WordAlignment(), WordAlignment(), "grow")
