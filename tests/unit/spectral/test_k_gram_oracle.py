"""The hinge loss of k-gram scores against the list of all outputs, and its subgradient against differences."""

from __future__ import annotations

import numpy as np
import pytest

from margent.errors import CorpusError
from margent.spectral import BiSymbols, KGramOracle
from oracle import spectral

X = ["abab", "ba", "a", "bbab", "", "abab"]
Y = ["ABCB", "-A", "C", "B-AB", "", "A-BB"]


def listed(oracle, lengths):
    seen = oracle.bi_symbols
    return [
        spectral.rivals([seen.candidates(a).tolist() for a in x], seen.numbers(x, y).tolist(), lengths, len(seen))
        for x, y in zip(X, Y)
    ]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("shorter", [False, True])
def test_loss_and_subgradient(k, shorter):
    oracle = KGramOracle(X, Y)
    hinge = oracle.hinge(k, shorter)
    lengths = [length for length in hinge.basis.lengths if length]
    examples = listed(oracle, lengths)
    random = np.random.default_rng(k)
    for _ in range(5):
        matrix, direction = (hinge.tied(random.normal(size=hinge.basis.shape)) for _ in range(2))
        scores = hinge.basis.scores(matrix)
        vector = np.concatenate([scores[length].ravel() for length in lengths])
        loss, slope = hinge.evaluate(matrix)
        assert loss == pytest.approx(spectral.hinge(vector, examples))
        ahead = hinge.evaluate(matrix + 1e-7 * direction)[0]
        assert (ahead - loss) / 1e-7 == pytest.approx(np.vdot(slope, direction), abs=1e-4)
        np.testing.assert_allclose(hinge.tied(slope), slope, atol=1e-12)


def test_without_scores_every_symbol_with_a_choice_can_be_wrong():
    hinge = KGramOracle(["ab", "aa"], ["AX", "BA"]).hinge(2, False)
    assert hinge.evaluate(hinge.matrix)[0] == 3


@pytest.mark.parametrize("shorter", [False, True])
def test_threads_do_not_change_the_results(shorter):
    one = KGramOracle(X * 20, Y * 20).hinge(3, shorter)
    matrix = one.tied(np.random.default_rng(0).normal(size=one.basis.shape))
    loss, slope = one.evaluate(matrix)
    for threads in (2, 5):
        found, same = KGramOracle(X * 20, Y * 20).hinge(3, shorter, threads).evaluate(matrix)
        assert found == loss and same.tolist() == slope.tolist()


def test_a_table_of_too_many_scores():
    inputs = [str(i) for i in range(1300)]
    with pytest.raises(ValueError, match=r"1300 bi-symbols have 2.2e\+09 3-grams, whose scores take 16 GiB"):
        KGramOracle([inputs], [inputs]).hinge(3, False)


def test_more_bi_symbols_than_occur_are_more_rivals():
    seen = BiSymbols([*KGramOracle(X, Y).bi_symbols.symbols, ("a", "new")])
    hinge = KGramOracle(X, Y, seen).hinge(1, False)
    assert hinge.basis.shape == (len(seen), 1)


def test_where_a_training_starts():
    oracle = KGramOracle(X, Y)
    first = oracle.hinge(2, True)
    assert not first.matrix.any()
    first.set_matrix(first.tied(np.random.default_rng(0).normal(size=first.basis.shape)))
    oracle.start_from(first.weights())
    np.testing.assert_allclose(oracle.hinge(2, True).matrix, first.matrix)
    with pytest.raises(ValueError, match="the training should start from scores of shapes"):
        oracle.hinge(2, False)


def test_data_that_do_not_fit():
    with pytest.raises(CorpusError, match=r"sequence 1, symbol 0: \('b', 'B'\) is not among the 1 bi-symbols given"):
        KGramOracle(["a", "b"], ["A", "B"], BiSymbols([("a", "A")]))
    with pytest.raises(CorpusError, match="sequence 0 has 2 input symbols, but 1 output symbols"):
        KGramOracle(["ab"], ["A"])
