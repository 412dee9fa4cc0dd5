"""Pruned charts against the list of all trees, and what is seen in them against plain text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import phrases as twin

from margent import _core
from margent.features.span_templates import SpanTemplates

PIECE_COST = 100.0
TAGS, SYMBOLS = (0, 1), 5
SCORES = st.floats(-4, 0).map(lambda x: round(x, 3))


@st.composite
def problems(draw, max_words=4, rooted=True):
    """A random grammar of two tags and three more symbols, and a sentence."""
    binary = draw(st.dictionaries(
        st.tuples(st.integers(2, 4), st.integers(0, 4), st.integers(0, 4)), SCORES, min_size=4, max_size=14
    ))  # fmt: skip
    chains = draw(st.dictionaries(st.tuples(st.integers(2, 4), st.integers(0, 4)), SCORES, max_size=4))
    unary = {(s, s): draw(SCORES) for s in range(SYMBOLS)} | {k: v for k, v in chains.items() if k[0] != k[1]}
    roots = {s: draw(SCORES) for s in (2, 3)} if rooted else {}
    words = draw(st.lists(
        st.dictionaries(st.sampled_from(TAGS), SCORES, min_size=1), min_size=1, max_size=max_words
    ))  # fmt: skip
    pieces = draw(st.sets(st.integers(0, 4), min_size=0, max_size=3)) | {0, 1}
    return (
        words,
        [(*rule, score) for rule, score in binary.items()],
        [(*rule, score) for rule, score in unary.items()],
        roots,
        pieces,
    )


def native_grammar(binary, unary, roots, pieces):
    return _core.PhraseGrammar(
        np.array([rule[:3] for rule in binary], np.int32).reshape(-1, 3),
        np.array([rule[3] for rule in binary], float),
        np.array([rule[:2] for rule in unary], np.int32),
        np.array([rule[2] for rule in unary], float),
        np.array([roots.get(s, -np.inf) for s in range(SYMBOLS)]),
        np.array([s in pieces for s in range(SYMBOLS)], np.uint8),
    )


def native_charts(sentences, grammar, margin, right=None, threads=1):
    rows = [list(tags.items()) for words in sentences for tags in words]
    spans = [np.array(r, np.int32).reshape(-1, 5) for r in right or []]
    return _core.PhraseForests(
        grammar,
        np.cumsum([0, *map(len, sentences)]),
        np.cumsum([0, *map(len, rows)]),
        np.array([tag for row in rows for tag, _ in row], np.int32),
        np.array([score for row in rows for _, score in row], float),
        margin,
        np.cumsum([0, *map(len, spans)]) if right else None,
        np.concatenate(spans) if right else None,
        threads=threads,
    )


def derivations(charts, scores, k=10_000):
    """[(score, steps)] of each sentence."""
    totals, ptr, edges, sentence_ptr = charts.k_best(scores, k, 1)
    rows = np.column_stack([charts.kinds.astype(np.int32), charts.places])
    return [
        [
            (totals[d], [tuple(rows[charts.edge_ptr[s] + e].tolist()) for e in edges[ptr[d] : ptr[d + 1]]])
            for d in range(a, z)
        ]
        for s, (a, z) in enumerate(pairwise(sentence_ptr))
    ]


def by_steps(trees):
    return {frozenset(steps): score for score, steps in trees}


@settings(max_examples=60, deadline=None)
@given(problems())
def test_without_a_limit_a_chart_has_all_trees(problem):
    words, binary, unary, roots, pieces = problem
    listed = twin.trees(words, binary, unary, roots)
    if not listed:
        listed = twin.rows_of_pieces(words, binary, unary, pieces, PIECE_COST)
    if len(listed) > 3000:
        return
    charts = native_charts([words], native_grammar(binary, unary, roots, pieces), 1e5)
    (found,) = derivations(charts, charts.scores)
    known = by_steps(listed)
    assert len(found) == len(listed) and set(by_steps(found)) == set(known)
    assert all(score == pytest.approx(known[frozenset(steps)]) for score, steps in found)
    if listed:
        log_z, uses = charts.marginals(charts.scores, 1)
        scores = np.array([score for score, _ in listed])
        shares = np.exp(scores - np.logaddexp.reduce(scores))
        assert log_z[0] == pytest.approx(np.logaddexp.reduce(scores))
        rows = np.column_stack([charts.kinds.astype(np.int32), charts.places]).tolist()
        expected = [sum(p for p, (_, steps) in zip(shares, listed) if tuple(row) in steps) for row in rows]
        assert uses == pytest.approx(expected, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(problems(), st.floats(0, 6))
def test_a_chart_has_what_lies_within_the_margin_and_nothing_that_does_not(problem, margin):
    words, binary, unary, roots, pieces = problem
    listed = twin.trees(words, binary, unary, roots)
    if not 0 < len(listed) < 3000:
        return
    best = max(score for score, _ in listed)
    charts = native_charts([words], native_grammar(binary, unary, roots, pieces), margin)
    (found,) = derivations(charts, charts.scores)
    within = {frozenset(steps) for score, steps in listed if score >= best - margin}
    assert within <= set(by_steps(found))
    assert found[0][0] == pytest.approx(best)
    # Each step is one of a tree within the margin.
    steps = {step for score, steps in listed if score >= best - margin - 1e-6 for step in steps}
    assert all(tuple(row) in steps for row in np.column_stack([charts.kinds.astype(np.int32), charts.places]).tolist())


def right_rows(steps):
    """The rows of a tree as the kernel takes it."""
    unary = {(b, e): rule for kind, b, e, _, rule in steps if kind == 2}
    return [(b, e, split, rule, unary[b, e]) for kind, b, e, split, rule in steps if kind < 2]


@settings(max_examples=60, deadline=None)
@given(problems(), st.data())
def test_the_right_tree_is_in_the_chart_and_costs_nothing(problem, data):
    words, binary, unary, roots, pieces = problem
    listed = twin.trees(words, binary, unary, roots)
    if not 0 < len(listed) < 1000:
        return
    _, right = data.draw(st.sampled_from(listed))
    charts = native_charts([words], native_grammar(binary, unary, roots, pieces), 0.5, [right_rows(right)])
    (found,) = derivations(charts, charts.scores)
    assert frozenset(right) in by_steps(found)
    rows = np.column_stack([charts.kinds.astype(np.int32), charts.places]).tolist()
    assert {tuple(row) for row, flag in zip(rows, charts.right) if flag} == set(right)

    def parts(steps):
        """What a tree says of its words: (words, symbol) and (words, chain)."""
        symbols = {(0, b, e, rule if kind == 0 else binary[rule][0]) for kind, b, e, _, rule in steps if kind < 2}
        return symbols, {(b, e): rule for kind, b, e, _, rule in steps if kind == 2}

    symbols, chains = parts(right)
    for row, cost in zip(map(tuple, rows), charts.costs):
        kind, b, e, _, rule = row
        if kind < 2:
            assert cost == ((0, b, e, rule if kind == 0 else binary[rule][0]) not in symbols)
        elif kind == 2:
            none = unary[rule][0] == unary[rule][1]
            assert cost == (chains[b, e] != rule if (b, e) in chains else not none)
        else:
            assert cost == 0


def test_threads_do_not_change_charts():
    binary = [(2, 0, 1, -0.5), (2, 2, 2, -1.0), (3, 0, 2, -0.3), (3, 2, 1, -0.2), (2, 3, 0, -2.0)]
    unary = [(s, s, 0.0) for s in range(SYMBOLS)] + [(3, 2, -0.7)]
    grammar = native_grammar(binary, unary, {2: 0.0, 3: -1.0}, {0, 1})
    generator = np.random.default_rng(0)
    sentences = [[{0: -1.0, 1: -float(generator.random())}] * n for n in generator.integers(1, 9, 20).tolist()]
    one, two = (native_charts(sentences, grammar, 4.0, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.places, two.places) and np.array_equal(one.scores, two.scores)


@pytest.mark.parametrize("change", ["symbol", "no tag", "no word", "right"])
def test_what_cannot_be_is_refused_before_native_work(change):
    grammar = native_grammar([(2, 0, 1, 0.0)], [(s, s, 0.0) for s in range(SYMBOLS)], {2: 0.0}, {0})
    words = [{0: 0.0}, {1: 0.0}]
    with pytest.raises(ValueError):
        if change == "symbol":
            native_charts([[{7: 0.0}]], grammar, 1.0)
        elif change == "no tag":
            native_charts([[{}]], grammar, 1.0)
        elif change == "no word":
            native_charts([words, []], grammar, 1.0)
        else:
            native_charts([words], grammar, 1.0, [[(0, 2, 2, 0, 0)]])


# What is seen


LINES = [
    "length", "first.word last.upos", "before.word", "after2.upos second.upos", "second_last.word before2.upos", "tags",
    "left.word right.upos", "left_length right_length", "first.word right.word",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 2), st.integers(1, 2)), min_size=1, max_size=8), st.data())
def test_keys_are_equal_where_the_text_is(tokens, data):
    templates = SpanTemplates.of(LINES)
    assert templates.atoms == ("word", "upos")
    atoms = np.array(tokens, np.int32)
    values = np.array([[f"w{w}", f"t{t}"] for w, t in tokens], dtype=object)
    seen = {}
    n = len(tokens)
    for begin in range(n):
        for end in range(begin + 1, n + 1):
            for split in (-1, *range(begin + 1, end)):
                for template, key in templates.native().keys(atoms, begin, end, split):
                    text = templates.text(template, values, (begin, end, split))
                    name = (template, end - begin == 1, _rough(text))
                    assert seen.setdefault(key, name) == name
    assert len(set(seen.values())) == len(seen)


def _rough(text):
    """Lengths in the classes that they are seen in, and places outside of the span told from those of the sentence."""
    bounds = (1, 2, 3, 4, 5, 7, 10)
    pieces = (piece.split("=") for piece in text.split())
    return tuple(
        sum(int(value) > bound for bound in bounds) if name.endswith("length") else (name, value)
        for name, value in pieces
    )


def test_gradients_of_the_likelihood_are_those_of_finite_differences():
    binary = [(2, 0, 1, -0.5), (2, 2, 2, -1.0), (3, 0, 2, -0.3), (3, 2, 1, -0.2), (2, 3, 0, -2.0)]
    unary = [(s, s, -0.1) for s in range(SYMBOLS)] + [(3, 2, -0.7)]
    words = [{0: -0.5, 1: -1.0}, {1: -0.3}, {0: -0.2, 1: -0.9}, {1: 0.0}]
    roots = {2: -0.2, 3: -1.0}
    listed = sorted(twin.trees(words, binary, unary, roots))
    grammar = native_grammar(binary, unary, roots, {0, 1})
    charts = native_charts([words, words], grammar, 3.0, [right_rows(listed[0][1]), right_rows(listed[-1][1])])
    templates, keys = SpanTemplates.of(LINES), _core.PhraseKeys()
    atoms = np.array([[1, 1], [2, 2], [1, 1], [2, 2]] * 2, np.int32)
    keys.add_right(charts, templates.native(), atoms, 1)
    columns = np.array([0, 1, 0, 1, 2], np.int32)
    chains = np.array([-1] * 5 + [3], np.int32)
    places = _core.PhrasePlaces(charts, templates.native(), 4, columns, chains, atoms, keys)
    assert places.n_weights == 4 * len(keys) + len(binary) + len(unary) + SYMBOLS + 2
    oracle = places.oracle(np.array([1.0, 2.0]))
    likelihood = oracle.likelihood()
    generator = np.random.default_rng(1)
    at = generator.normal(size=places.n_weights) * 0.3
    value, gradient = likelihood.evaluate(at)

    def loss(weights):
        """By the scores of edges alone."""
        found = derivations(charts, places.scores(weights, 1))
        total = 0.0
        for weight, trees, right in zip((1.0, 2.0), found, (listed[0][1], listed[-1][1])):
            known = by_steps(trees)
            total += weight * (np.logaddexp.reduce(list(known.values())) - known[frozenset(right)])
        return total

    assert value == pytest.approx(loss(at))
    for direction in generator.normal(size=(12, len(at))):
        step = 1e-5 * direction
        numeric = (loss(at + step) - loss(at - step)) / 2e-5
        assert gradient @ direction == pytest.approx(numeric, rel=1e-5, abs=1e-6)
    # A step of a learner moves the score of the right tree as much as its features say.
    _, rivals = oracle.ask(0, 2, 1.0)[0], oracle.ask(0, 2, 1.0)
    assert rivals is not None
