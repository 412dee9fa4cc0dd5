"""Random trees of phrases, for tests."""

from __future__ import annotations

from hypothesis import strategies as st

from margent.annotation import PhraseTree
from margent.annotation.schemes import Span

LABELS = ("S", "NP", "VP", "PRT", "ADVP", "A@b", "X^Y|")
TAGS = ("DT", "NN", "VB", ",", "@S")


@st.composite
def trees(draw, n_words=None, labels=LABELS, tags=TAGS):
    """Any tree, with chains of phrases over the same words."""
    n = n_words or draw(st.integers(1, 7))

    def phrases(start, end, above):
        spans = []
        least = 1 if above is None and n > 1 else 0
        for label in draw(st.lists(st.sampled_from(labels), min_size=least, max_size=2)):
            spans.append(Span(start, end, label))
        if end - start > 1:
            cuts = sorted(draw(st.sets(st.integers(start + 1, end - 1), min_size=1, max_size=3)))
            for a, b in zip([start, *cuts], [*cuts, end]):
                spans += phrases(a, b, spans)
        return spans

    words = draw(st.lists(st.sampled_from(["a", "dog", "of", "1,000", "Ann"]), min_size=n, max_size=n))
    chosen = draw(st.lists(st.sampled_from(tags), min_size=n, max_size=n))
    return PhraseTree(words, chosen, phrases(0, n, None))
