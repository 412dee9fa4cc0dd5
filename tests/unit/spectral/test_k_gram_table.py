"""Tables of k-gram scores against the list of all outputs, and against the dense chain where it says the same."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.learners import train
from margent.spectral import BiSymbols, KGramOracle, KGramTable, OperatorModel, Spectral, k_gram_forest
from margent.structures import ChainScores, chain
from oracle import enumeration, k_grams

SYMBOLS = [("a", "A"), ("b", "B"), ("a", "B"), ("a", "C"), ("b", "-")]
CANDIDATES = {"a": ["A", "B", "C"], "b": ["B", "-"], "z": ["A"]}
LENGTHS = st.sampled_from([[1], [2], [3], [1, 2], [1, 2, 3], [1, 3], [2, 4]])


def random_table(lengths, seed: int) -> KGramTable:
    random = np.random.default_rng(seed)
    return KGramTable(SYMBOLS, {length: random.normal(size=(5,) * length) for length in lengths})


def as_dicts(table: KGramTable):
    return {
        length: {tuple(SYMBOLS[i] for i in index): array[index] for index in np.ndindex(array.shape)}
        for length, array in table.scores.items()
    }


@settings(deadline=None, max_examples=80)
@given(LENGTHS, st.text("abz", max_size=5), st.integers(1, 5), st.integers(0, 1000))
def test_searches_agree_with_the_list_of_all_outputs(lengths, x, k, seed):
    """z is an input that was never seen: it gets the fallback, and no k-gram with it scores."""
    table = random_table(lengths, seed)
    listed = sorted(k_grams.outputs(as_dicts(table), CANDIDATES, x), key=lambda item: -item[0])
    found = table.k_best(x, k)
    assert [outputs.score for outputs in found] == pytest.approx([score for score, _ in listed[:k]])
    assert len({tuple(outputs.symbols) for outputs in found}) == len(found) == min(k, len(listed))
    for outputs in found:
        assert outputs.score == pytest.approx(table.score(x, outputs.symbols))
    assert table.best(x).symbols == found[0].symbols == table.predict([x])[0]
    forest = table.forest(x).forest
    assert forest.count() == len(listed)
    assert forest.log_partition() == pytest.approx(enumeration.log_partition(listed))


@settings(deadline=None, max_examples=30)
@given(LENGTHS, st.lists(st.text("abz", max_size=6), max_size=6), st.integers(0, 1000))
def test_many_sequences_together_are_as_one_by_one(lengths, X, seed):
    table = random_table(lengths, seed)
    assert table.predict(X) == [table.best(x).symbols for x in X]


@settings(deadline=None, max_examples=40)
@given(LENGTHS, st.lists(st.text("abz", max_size=9), max_size=20), st.integers(1, 3), st.integers(0, 1000))
def test_the_native_search_is_that_of_the_forest(lengths, X, threads, seed):
    """Small integers, so that there are ties, which must go the same way."""
    scores = {n: np.random.default_rng(seed).integers(-1, 2, size=(5,) * n) for n in lengths}
    table = KGramTable(SYMBOLS, scores)
    for x, outputs in zip(X, table.predict(iter(X), threads=threads)):
        found = table.forest(x)
        best = found.forest.best()
        assert outputs == [table.bi_symbols.output(number) for number in found.symbols_of(best).tolist()]
        assert table.best(x) == (best.score, outputs)


def test_more_threads_than_there_could_be():
    table = random_table([2], 0)
    assert table.predict(["ab", "ba"], threads=2**31 - 1) == table.predict(["ab", "ba"])


@pytest.mark.parametrize("k", [2, 3])
def test_with_one_input_symbol_it_is_the_dense_chain_of_order_k_less_one(k):
    """All places are then alike, so that the scores are transitions."""
    n_labels, n_tokens = 3, 9
    scores = np.random.default_rng(k).normal(size=(n_labels,) * k)
    transitions = np.zeros((n_labels + 1,) * (k - 1) + (n_labels,))
    transitions[(slice(n_labels),) * k] = scores
    dense = ChainScores(np.zeros((n_tokens, n_labels)), transitions.reshape(-1, n_labels))
    table = KGramTable([("a", label) for label in range(n_labels)], {k: scores})
    for found, expected in zip(table.k_best("a" * n_tokens, 5), chain.k_best(dense, 5)):
        assert found.score == pytest.approx(expected.score)
        assert chain.score(dense, found.symbols) == pytest.approx(found.score)  # different ones may score the same


def test_ties_go_to_the_more_frequent_output_also_where_there_is_no_piece():
    seen = BiSymbols.observed(["aab", "a", "b"], ["BBX", "A", "Y"])
    table = KGramTable(seen, {3: np.zeros((4, 4, 4))})
    assert table.best("").symbols == []
    assert table.best("ab").symbols == ["B", "X"]
    assert table.best("abaz").symbols == ["B", "X", "B", "B"]


def test_pieces_with_unseen_pairs_score_zero():
    table = random_table([1, 2], 0)
    a = table.scores[1][0]
    assert table.score("az", "AA") == pytest.approx(a)
    assert table.score("ab", "AC") == pytest.approx(a)  # b was not seen with C


def test_long_sequences():
    table = random_table([3], 1)
    x = "ab" * 5000
    best = table.best(x)
    assert len(best.symbols) == 10_000
    assert best.score == pytest.approx(table.score(x, best.symbols))


def test_constrained_search_is_a_restricted_forest():
    table = random_table([1, 2], 3)
    found = table.forest("aba")
    first_is_c = (found.positions != 0) | (found.symbols == SYMBOLS.index(("a", "C")))
    derivation = found.forest.restrict(first_is_c).best()
    listed = [item for item in k_grams.outputs(as_dicts(table), CANDIDATES, "aba") if item[1][0] == "C"]
    assert derivation.score == pytest.approx(max(listed)[0])
    assert [SYMBOLS[i][1] for i in found.symbols_of(derivation)] == list(max(listed)[1])


def test_the_scores_of_an_operator_model():
    random = np.random.default_rng(0)
    model = OperatorModel([1, 0], [1, 1], {symbol: random.normal(size=(2, 2)) for symbol in SYMBOLS[:4]})
    table = KGramTable.from_operators(model, [1, 3])
    assert table.score("aba", "ABC") == pytest.approx(
        model.score("a", "A") + model.score("b", "B") + model.score("a", "C") + model.score("aba", "ABC")
    )
    other = KGramTable.from_operators(model, [1, 3], BiSymbols(SYMBOLS[::-1], fallback="?"))
    assert other.score("aba", "ABC") == pytest.approx(table.score("aba", "ABC"))
    assert other.score("b", "-") == 0
    assert other.best("z").symbols == ["?"]


def test_operators_come_back_from_a_table():
    random = np.random.default_rng(0)
    model = OperatorModel([1, 0], [1, 1], {symbol: random.normal(size=(2, 2)) for symbol in SYMBOLS})
    table = KGramTable.from_operators(model, range(4))
    assert table.score("aba", "ABC") == KGramTable.from_operators(model, [1, 2, 3]).score("aba", "ABC")
    found = table.operators()
    assert found.n_states == 2
    assert found.score("abaaba", "A-CBBA") == pytest.approx(model.score("abaaba", "A-CBBA"))
    assert table.operators(states=1).n_states == 1


def test_the_rank_of_a_table():
    random = np.random.default_rng(0)
    model = OperatorModel([1, 0], [1, 1], {symbol: random.normal(size=(2, 2)) for symbol in SYMBOLS})
    for lengths in (range(4), [3], [2]):
        table = KGramTable.from_operators(model, lengths)
        assert table.rank() == 2
        assert table.size(2) < table.size(None)
    assert KGramTable(SYMBOLS, {3: np.zeros((5, 5, 5))}).rank() == 0
    uneven = random_table([1, 3], 0)
    assert uneven.rank() is None and uneven.size(None) == uneven.n_scores


def hidden_markov(n, seed):
    """Pairs from a hidden Markov model with two states: in one "a" is mostly A, in the other mostly B; b is itself."""
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        state, x, z = random.integers(2), "", ""
        for _ in range(8):
            symbol = random.choice(3, p=([0.6, 0.1, 0.3], [0.1, 0.6, 0.3])[state])
            x, z = x + "aab"[symbol], z + "ABB"[symbol]
            state = state if random.random() < 0.9 else 1 - state
        X.append(x)
        y.append(z)
    return X, y


def test_a_hidden_markov_model_is_found_by_counting():
    """The scores of its operators are close to the probabilities, of k-grams longer than those counted, too."""
    first, second = hidden_markov(3000, 0), hidden_markov(3000, 1)
    table = KGramTable.observed(*first)
    assert [float(scores.sum()) for scores in table.scores.values()] == pytest.approx([1, 1, 1, 1])
    model = table.operators(states=2)
    assert model.n_states == 2
    longer = KGramTable.observed(*second, k=5, bi_symbols=table.bi_symbols).scores[5]
    assert np.abs(model.k_gram_scores(5) - longer).max() < 0.1 * longer.max()
    independent = np.multiply.outer(table.scores[1], np.multiply.outer(table.scores[2], table.scores[2]))
    assert np.abs(model.k_gram_scores(5) - longer).sum() < 0.5 * np.abs(independent - longer).sum()


def test_counting_what_is_shorter_than_k():
    assert not KGramTable.observed(["a"], ["A"], k=3).scores[3].any()


@pytest.mark.parametrize("lengths", [[3], [1, 2, 3], [0, 1, 3], [0, 1, 2]])
def test_operators_need_all_lengths(lengths):
    with pytest.raises(ValueError, match="expected all from 0 to k, with k of at least 3"):
        random_table(lengths, 0).operators()


def test_a_table_is_a_value():
    scores = np.zeros((2, 2))
    table = KGramTable(SYMBOLS[:2], {2: scores})
    scores[0, 0] = 1
    assert table.score("aa", "AA") == 0
    with pytest.raises(ValueError, match="read-only"):
        table.scores[2][0, 0] = 1
    assert table.n_scores == 4
    assert repr(table) == "KGramTable(n_bi_symbols=2, lengths=[2])"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "scores is empty"),
        ({2: np.zeros((2, 3))}, "scores[2] has shape (2, 3) and type float64; expected (2, 2) real numbers"),
        ({0: 1.0}, "scores has length 0 alone"),
        ({-1: 1.0}, "a length of k-grams is -1; expected an integer of at least 1"),
        ({"k": 1.0}, "a length of k-grams is 'k'"),
        ({1: [0, np.inf]}, "scores[1][1] is inf; expected a finite number"),
    ],
)
def test_wrong_scores(scores, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        KGramTable(SYMBOLS[:2], scores)


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda table: table.predict("ab"), CorpusError, "X is 'ab'; expected a list of sequences of symbols"),
        (lambda table: table.predict(["ab", 3]), CorpusError, "sequence 1 of X is 3; expected a sequence of symbols"),
        (lambda table: table.predict(["ab"], threads=0), ValueError, "expected an integer of at least 1"),
        (
            lambda table: table.predict(["ab"], threads=1.5),
            ValueError,
            "expected an integer of at least 1",
        ),
        (lambda table: table.best(None), CorpusError, "x is None; expected a sequence of symbols"),
        (
            lambda table: table.best([["a"]]),
            CorpusError,
            "x has a symbol of an unhashable type: 'list'; expected what can be a key",
        ),
        (lambda table: table.from_operators(table, 3), ValueError, "lengths is 3; expected a list of lengths"),
        (
            lambda table: table.observed([range(100)], [range(100)], k=12),
            ValueError,
            "100 bi-symbols have 1e+24 12-grams",
        ),
        (lambda table: KGramOracle("ab", ["A"]), CorpusError, "X is 'ab'; expected a list of sequences"),
        (lambda table: train(Spectral(), KGramOracle(["ab"], ["AB"]), threads=0), ValueError, "threads is 0; expected"),
    ],
)
def test_wrong_use(ask, error, message):
    with pytest.raises(error, match=re.escape(message)):
        ask(random_table([2], 0))


def test_too_many_pieces_are_refused_before_memory_is_asked_for():
    oracle = KGramOracle([range(600)], [range(600)])
    with pytest.raises(ValueError, match=r"600 bi-symbols have 2.2e\+08 3-grams, whose scores take 1.6 GiB"):
        oracle.hinge(3, False)
    model = OperatorModel([1.0], [1.0], {(i, i): [[1.0]] for i in range(100)})
    with pytest.raises(ValueError, match="expected at most 2\\^27, 1 GiB"):
        model.k_gram_scores(6)
    with pytest.raises(ValueError, match="k-grams of 100 symbols are too long"):
        model.k_gram_scores(100)


def test_iterators_are_sequences_too():
    table = KGramTable.observed(iter(["ab", "a"]), iter(["AB", iter("A")]), k=2)
    assert table.scores[2].tolist() == KGramTable.observed(["ab", "a"], ["AB", "A"], k=2).scores[2].tolist()
    assert table.best(iter("ab")) == table.best("ab")
    assert table.predict(map(iter, ["ab"])) == table.predict(["ab"])
    assert table.score(iter("ab"), iter("AB")) == table.score("ab", "AB")
    assert len(KGramOracle(iter(["ab"]), iter(["AB"]))) == 1


def test_wrong_lengths():
    with pytest.raises(ValueError, match="lengths is empty"):
        k_gram_forest(BiSymbols(SYMBOLS), ["ab"], [])
