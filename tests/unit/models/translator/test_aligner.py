"""Word alignments by eflomal, and what unknown words are made of."""

from __future__ import annotations

import importlib.util
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margent.datasets import make_translations
from margent.errors import CorpusError, MissingExtraError
from margent.metrics import alignment_scores
from margent.models.translator.aligner import align_words
from margent.models.translator.unknown_words import known_pieces

INSTALLED = bool(importlib.util.find_spec("eflomal"))


@pytest.mark.skipif(not INSTALLED, reason="eflomal is not installed")
def test_eflomal_aligns_the_generated_language():
    sources, targets, gold = make_translations(500, seed=0)
    found = align_words(sources, targets)
    assert len(found) == 500 and alignment_scores(gold, found).error_rate < 0.4
    assert align_words([], []) == []


@pytest.mark.skipif(not INSTALLED, reason="eflomal is not installed")
def test_wrong_pairs_are_refused():
    with pytest.raises(CorpusError, match="1 source and 0 target sentences"):
        align_words([["a"]], [])
    with pytest.raises(CorpusError, match="pair 0: expected words without blanks"):
        align_words([["a b"]], [["x"]])


@pytest.mark.skipif(INSTALLED, reason="eflomal is installed")
def test_without_eflomal_its_extra_is_named():
    with pytest.raises(MissingExtraError, match=r"needs eflomal; install it with: pip install 'margent\[translate\]'"):
        align_words([["a"]], [["x"]])


def segmentations(word):
    for k in range(len(word)):
        for cuts in combinations(range(1, len(word)), k):
            ends = [0, *cuts, len(word)]
            yield [word[a:b] for a, b in pairwise(ends)]


@given(st.text("abc", min_size=1, max_size=7), st.sets(st.text("abc", min_size=1, max_size=3)))
def test_pieces_leave_the_fewest_characters_unknown_and_are_few(word, known):
    found = known_pieces(word, known)
    assert "".join(found) == word

    def unknown(pieces):
        return sum(len(piece) for piece in pieces if piece not in known)

    best = min((unknown(pieces), len(pieces)) for pieces in segmentations(word))
    assert unknown(found) == best[0]
    if best[0] == 0:
        assert len(found) == best[1]
