from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.tuning.halving import Rung, best_of, mean_and_error, rungs


def test_ladders():
    assert rungs(27, 9000, 3, 100) == [Rung(27, 1000), Rung(9, 3000), Rung(3, 9000)]
    assert rungs(27, 300, 3, 100) == [Rung(27, 100), Rung(9, 300)]  # too little data for three
    assert rungs(27, 250, 3, 100) == [Rung(27, 250)]
    assert rungs(16, 800, 2, 1) == [Rung(16, 100), Rung(8, 200), Rung(4, 400), Rung(2, 800)]
    assert rungs(100, 900, 1, 1) == [Rung(100, 900)]
    assert rungs(5, 900, 3, 1) == [Rung(5, 900)]  # one alone could not be chosen


@given(st.integers(1, 200), st.integers(1, 5000), st.integers(1, 6), st.integers(1, 300))
@settings(deadline=None, max_examples=200)
def test_what_holds_for_every_ladder(candidates, sentences, factor, least):
    ladder = rungs(candidates, sentences, factor, least)
    assert ladder[0].candidates == candidates and ladder[-1].sentences == sentences
    assert len(ladder) == 1 or (ladder[0].sentences >= least and ladder[-1].candidates >= 2)
    for below, above in pairwise(ladder):
        assert above.candidates == below.candidates // factor
        assert below.sentences < above.sentences
        assert abs(above.sentences - factor * below.sentences) < factor


def test_the_best_go_on():
    scores = {0: 0.5, 1: 0.9, 2: None, 3: 0.9, 4: 0.1}
    assert best_of(scores, 3) == [1, 3, 0]
    assert best_of(dict(reversed(scores.items())), 3) == [1, 3, 0]
    assert best_of(scores, 9) == [1, 3, 0, 4]
    assert best_of({0: None}, 1) == []


def test_means():
    assert mean_and_error([0.5]) == (0.5, None)
    mean, error = mean_and_error([0.1, 0.2, 0.6])
    assert mean == pytest.approx(0.3)
    assert error == pytest.approx(((0.04 + 0.01 + 0.09) / 2 / 3) ** 0.5)
