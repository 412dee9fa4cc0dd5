"""The forest pass in every semiring, against the list of all derivations."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from margent.errors import ConstraintError
from margent.structures import Forest, ForestBuilder, chain_forest
from oracle import enumeration

# Whole numbers make ties; -inf forbids.
SCORES = st.one_of(st.sampled_from([-np.inf, -1.0, 0.0, 0.0, 1.0]), st.floats(-30, 30))


@st.composite
def hypergraphs(draw):
    """(heads, tails, scores, root) with at most 400 derivations; edges unsorted, nodes that nothing reaches."""
    n_nodes = draw(st.integers(1, 6))
    edges = draw(
        st.lists(
            st.integers(0, n_nodes - 1).flatmap(
                lambda head: st.tuples(
                    st.just(head), st.lists(st.integers(0, head - 1), max_size=3) if head else st.just([]), SCORES
                )
            ),
            max_size=12,
        )
    )
    root = draw(st.sampled_from([n_nodes - 1, n_nodes - 1, draw(st.integers(0, n_nodes - 1))]))
    numbers = [0] * n_nodes
    for node in range(n_nodes):
        numbers[node] = sum(int(np.prod([numbers[t] for t in tails])) for head, tails, _ in edges if head == node)
        assume(numbers[node] <= 400)
    return [e[0] for e in edges], [e[1] for e in edges], [e[2] for e in edges], root


def to_forest(heads, tails, scores, root):
    tail_ptr = np.cumsum([0, *map(len, tails)])
    return Forest(heads, tail_ptr, [t for ts in tails for t in ts], scores, root=root)


@settings(deadline=None, max_examples=300)
@given(hypergraphs(), st.integers(1, 8), st.data())
def test_every_semiring_agrees_with_enumeration(graph, k, data):
    forest, listed = to_forest(*graph), enumeration.derivations(*graph)
    known = {edges: score for score, edges in listed}
    assert forest.count() == len(known) == len(listed)
    if not listed:
        for ask in (forest.best, forest.log_partition, forest.marginals, lambda: forest.k_best(k)):
            with pytest.raises(ConstraintError, match="no derivation"):
                ask()
        return

    assert forest.best().score == pytest.approx(enumeration.best(listed)[0])
    assert known[tuple(forest.best().edges)] == pytest.approx(forest.best().score)
    assert forest.log_partition() == pytest.approx(enumeration.log_partition(listed))

    found = forest.k_best(k)
    assert [d.score for d in found] == pytest.approx([s for s, _ in enumeration.k_best(listed, k)])
    assert [known[tuple(d.edges)] for d in found] == pytest.approx([d.score for d in found])
    assert len({tuple(d.edges) for d in found}) == len(found)
    assert found[0].score == forest.best().score
    assert found[0].edges.tolist() == forest.best().edges.tolist()

    marginals = enumeration.edge_marginals(listed, forest.n_edges)
    np.testing.assert_allclose(forest.marginals(), marginals, rtol=1e-9, atol=1e-12)
    values = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=forest.n_edges, max_size=forest.n_edges)))
    expected = enumeration.expectation(listed, lambda edges: sum(values[list(edges)]))
    assert forest.expectation(values) == pytest.approx(expected, abs=1e-9)
    np.testing.assert_allclose(
        forest.expectation(np.stack([values, -values], axis=1)), [expected, -expected], atol=1e-9
    )

    for derivation in forest.sample(3, seed=k):
        assert known[tuple(derivation.edges)] == pytest.approx(derivation.score)


@settings(deadline=None, max_examples=50)
@given(hypergraphs())
def test_k_best_lists_all_derivations_when_k_is_large(graph):
    listed = enumeration.derivations(*graph)
    assume(listed)
    found = to_forest(*graph).k_best(10**9)
    assert sorted(tuple(d.edges) for d in found) == sorted(edges for _, edges in listed)
    assert all(a.score >= b.score for a, b in pairwise(found))


@settings(deadline=None, max_examples=50)
@given(hypergraphs(), st.data())
def test_restricting_a_forest_drops_the_derivations_with_other_edges(graph, data):
    n = len(graph[0])
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    restricted = to_forest(*graph).restrict(keep)
    wanted = [(s, e) for s, e in enumeration.derivations(*graph) if keep[list(e)].all()]
    assert restricted.count() == len(wanted)
    if wanted:
        assert restricted.best().score == pytest.approx(enumeration.best(wanted)[0])
        assert restricted.log_partition() == pytest.approx(enumeration.log_partition(wanted))


def random_chain(rng, n_tokens, n_labels, order, forbidden=0.0, with_edges=True):
    base = n_labels + 1
    shapes = [
        (n_tokens, n_labels),
        (base**order, n_labels),
        (base ** (order - 1), n_labels),
        (n_tokens, base, n_labels),
    ]
    arrays = [rng.normal(size=shape) * 2 for shape in shapes]
    for array in arrays:
        array[rng.random(array.shape) < forbidden] = -np.inf
    emissions, transitions, end, edges = arrays
    return {
        "emissions": emissions,
        "transitions": transitions,
        "end": end,
        "order": order,
        "edges": edges if with_edges else None,
    }


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_tokens=st.integers(0, 5),
    n_labels=st.integers(1, 3),
    order=st.integers(1, 3),
    forbidden=st.sampled_from([0.0, 0.0, 0.1]),
    with_edges=st.booleans(),
)
def test_chain_of_any_order_agrees_with_enumeration(seed, n_tokens, n_labels, order, forbidden, with_edges):
    scores = random_chain(np.random.default_rng(seed), n_tokens, n_labels, order, forbidden, with_edges)
    chain, listed = chain_forest(**scores), enumeration.labellings(**scores)
    assert chain.forest.count() == len(listed)
    if not listed:
        return
    assert chain.forest.log_partition() == pytest.approx(enumeration.log_partition(listed))
    best = chain.forest.best()
    assert best.score == pytest.approx(enumeration.best(listed)[0])
    assert tuple(chain.labels_of(best)) == enumeration.best(listed)[1]
    found = [(d.score, tuple(chain.labels_of(d))) for d in chain.forest.k_best(7)]
    assert [labels for _, labels in found] == [labels for _, labels in enumeration.k_best(listed, 7)]
    assert [score for score, _ in found] == pytest.approx([score for score, _ in enumeration.k_best(listed, 7)])
    np.testing.assert_allclose(
        chain.label_marginals(), enumeration.label_marginals(listed, n_tokens, n_labels), atol=1e-12
    )
    np.testing.assert_allclose(
        chain.transition_marginals(), enumeration.transition_marginals(listed, n_tokens, n_labels), atol=1e-12
    )


def test_a_label_can_be_fixed_and_costs_added_through_the_map_of_the_edges():
    scores = random_chain(np.random.default_rng(3), 4, 3, 2)
    chain = chain_forest(**scores)
    fixed = chain.forest.restrict((chain.positions != 2) | (chain.labels == 1))
    listed = enumeration.labellings(**scores, allowed=lambda labels: labels[2] == 1)
    assert tuple(chain.labels_of(fixed.best())) == enumeration.best(listed)[1]
    assert fixed.log_partition() == pytest.approx(enumeration.log_partition(listed))

    gold = np.array([0, 2, 1, 1])
    wrong = (chain.labels >= 0) & (chain.labels != np.append(gold, -1)[chain.positions])
    augmented = chain.forest.with_scores(chain.forest.scores + wrong).best()
    hardest = max(enumeration.labellings(**scores), key=lambda pair: pair[0] + np.sum(np.array(pair[1]) != gold))
    assert tuple(chain.labels_of(augmented)) == hardest[1]


def test_an_empty_sequence_has_one_labelling_of_score_zero():
    chain = chain_forest(np.zeros((0, 3)), np.ones((4, 3)), np.ones((1, 3)))
    assert chain.forest.count() == 1
    assert chain.forest.log_partition() == chain.forest.best().score == 0.0
    assert chain.labels_of(chain.forest.best()).shape == (0,)
    assert chain.label_marginals().shape == (0, 3)


def test_samples_follow_the_distribution():
    from scipy import stats

    scores = random_chain(np.random.default_rng(0), 3, 3, 1)
    scores["emissions"] /= 4
    chain, listed = chain_forest(**scores), enumeration.labellings(**scores)
    n = 50_000
    seen = Counter(tuple(chain.labels_of(d)) for d in chain.forest.sample(n, seed=11))
    expected = np.array(enumeration.probabilities(listed)) * n
    observed = np.array([seen[labels] for _, labels in listed])
    # Pearson's test needs about 5 expected per class: rarer labellings count as one class.
    rare = expected < 5
    pooled = [np.append(x[~rare], x[rare].sum()) for x in (observed, expected)]
    keep = pooled[1] > 0
    assert stats.chisquare(pooled[0][keep], pooled[1][keep]).pvalue > 1e-3


def test_the_seed_fixes_the_samples_on_every_machine():
    builder = ForestBuilder()
    node = builder.add_node()
    for _ in range(16):
        builder.add_edge(node)
    forest = builder.build()
    drawn = [int(d.edges[0]) for d in forest.sample(12, seed=42)]
    assert drawn == [int(d.edges[0]) for d in forest.sample(12, seed=42)]
    assert drawn == [int(u * 16) for u in xoshiro(42, 12)]
    assert drawn != [int(d.edges[0]) for d in forest.sample(12, seed=43)]
    assert forest.sample(0) == []


def xoshiro(seed, n):
    """The generator of core/random.hpp in plain integers: splitmix64 for the state, then xoshiro256**."""
    mask, state, numbers = 2**64 - 1, [], []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        state.append(z ^ (z >> 31))

    def rotate(x, by):
        return ((x << by) | (x >> (64 - by))) & mask

    s0, s1, s2, s3 = state
    for _ in range(n):
        numbers.append((((rotate((s1 * 5) & mask, 7) * 9) & mask) >> 11) / 2**53)
        shifted = (s1 << 17) & mask
        s2, s3 = s2 ^ s0, s3 ^ s1
        s1, s0 = s1 ^ s2, s0 ^ s3
        s2, s3 = s2 ^ shifted, rotate(s3, 45)
    return numbers


def test_a_forest_a_hundred_thousand_nodes_deep():
    n = 100_000
    heads = np.repeat(np.arange(n), 2)
    tail_ptr = np.concatenate([[0, 0], np.arange(2 * n - 1)])
    scores = np.where(np.arange(2 * n) % 2, -1.0, 0.0)
    forest = Forest(heads, tail_ptr, heads[2:] - 1, scores)
    assert forest.best().edges.tolist() == list(range(0, 2 * n, 2))
    assert [d.score for d in forest.k_best(3)] == [0.0, -1.0, -1.0]
    each = np.log1p(np.exp(-1.0))
    assert forest.log_partition() == pytest.approx(n * each, rel=1e-10)
    np.testing.assert_allclose(forest.marginals()[::2], np.exp(-each), rtol=1e-9)
    assert forest.expectation(-scores) == pytest.approx(n * np.exp(-1 - each), rel=1e-9)
    assert len(forest.sample(1)[0].edges) == n
    with pytest.raises(OverflowError, match=r"2\*\*64 - 1"):
        forest.count()
    assert forest.restrict(scores == 0).count() == 1


def test_shared_tails_make_counts_square_and_derivations_too_large_to_write_down():
    builder = ForestBuilder()
    node = builder.add_node()
    builder.add_edge(node, [], 0.0)
    builder.add_edge(node, [], 0.0)
    for level in range(40):
        if level == 5:
            assert builder.build().count() == 2**32
            assert builder.build().marginals().tolist() == pytest.approx([16, 16, 16, 8, 4, 2, 1])
        node = builder.add_node()
        builder.add_edge(node, [node - 1, node - 1], 0.0)
    with pytest.raises(ValueError, match="more than 33554432"):
        builder.build().best()


def test_counts_are_exact_as_far_as_64_bits_reach():
    builder = ForestBuilder()
    node = builder.add_node()
    builder.add_edge(node)
    for _ in range(62):  # twice the number before, and one more: 2**63 - 1 at last
        node = builder.add_node()
        builder.add_edge(node, [node - 1])
        builder.add_edge(node, [node - 1])
        builder.add_edge(node)
    top = builder.add_node()
    builder.add_edge(top, [node])
    builder.add_edge(top, [node])
    assert builder.build().count() == 2**64 - 2
    builder.add_edge(top)
    with pytest.raises(OverflowError, match="too many to count"):
        builder.build().count()
    dead = builder.add_node()
    builder.add_edge(builder.add_node(), [top, dead])
    assert builder.build().count() == 0  # too many, times none


def test_extreme_scores_never_give_nan():
    high = Forest([0, 0], [0, 0, 0], [], [1e308, -1e308])
    assert high.log_partition() == 1e308
    assert high.marginals().tolist() == [1.0, 0.0]
    assert high.expectation([2.0, 7.0]) == 2.0
    overflow = Forest([0, 1], [0, 0, 1], [0], [1.7e308, 1.7e308])
    for ask in (overflow.log_partition, overflow.marginals, lambda: overflow.sample(1)):
        with pytest.raises(OverflowError, match="infinity"):
            ask()


def test_a_forest_is_a_value():
    scores = np.array([0.5, 1.0, 1.0])
    forest = Forest([0, 1, 1], [0, 0, 0, 1], [0], scores)
    scores[:] = 9
    assert forest.scores.tolist() == [0.5, 1.0, 1.0]
    with pytest.raises(ValueError):
        forest.scores[0] = 3
    with pytest.raises(AttributeError):
        forest.root = 0
    other = forest.with_scores([0, 2, 0])
    assert other.heads is forest.heads
    assert (forest.best().score, other.best().score) == (1.5, 2.0)
    assert pickle.loads(pickle.dumps(forest)).best().score == 1.5
    assert repr(forest) == "Forest(n_nodes=2, n_edges=3, root=1)"
    assert Forest([0, 1, 1], [0, 0, 0, 1], [0], scores, root=0).count() == 1


GOOD = {"heads": [0, 1], "tail_ptr": [0, 0, 1], "tails": [0], "scores": [0.0, 0.0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"heads": [0.0, 1.0]}, "heads has shape .* float64; expected one dimension of integers"),
        ({"heads": [[0, 1]]}, "heads has shape"),
        ({"heads": [0, -1]}, "heads holds -1 to 0"),
        ({"heads": [0, 2**31]}, "heads holds 0 to 2147483648"),
        ({"tail_ptr": [0, 1]}, "tail_ptr has 2 entries"),
        ({"tail_ptr": [0, 0, 2]}, "expected 3 entries, from 0 to 1"),
        ({"tail_ptr": []}, "tail_ptr has 0 entries"),
        ({"tail_ptr": [0, 2, 1]}, "tail_ptr falls after edge 1"),
        ({"tails": [1]}, "edge 1 leads from node 1 to node 1; expected tails with smaller numbers"),
        ({"heads": [1, 0]}, "edge 1 leads from node 0 to node 0"),
        ({"tails": [True]}, "tails has shape"),
        ({"scores": [0.0]}, r"scores has shape \(1,\) .* expected \(2,\)"),
        ({"scores": [0.0, np.nan]}, "the score of edge 1 is nan"),
        ({"scores": [np.inf, 0.0]}, "the score of edge 0 is inf"),
        ({"scores": ["a", "b"]}, "expected .* real numbers"),
        ({"root": 2, "n_nodes": 2}, "root is 2; expected an integer from 0 to 1"),
        ({"root": -1}, "root is -1"),
        ({"root": "top"}, "root is 'top'"),
        ({"heads": [0, 2**31 - 1]}, "n_nodes is 2147483648"),
        ({"n_nodes": 1}, "head of edge 1 is node 1; expected one below n_nodes = 1"),
        ({"n_nodes": 0}, "n_nodes is 0"),
    ],
)
def test_invalid_arrays_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Forest(**{**GOOD, **change})


def test_invalid_questions_are_named():
    forest = Forest(**GOOD)
    for ask, message in [
        (lambda: forest.k_best(0), "k is 0; expected an integer of at least 1"),
        (lambda: forest.k_best(1.5), "k is 1.5"),
        (lambda: forest.sample(-1), "n is -1"),
        (lambda: forest.sample(1, seed=-1), "seed is -1"),
        (lambda: forest.restrict([1, 0]), "booleans"),
        (lambda: forest.restrict([True]), r"keep has shape \(1,\)"),
        (lambda: forest.expectation([1.0]), r"expected \(2,\) or \(2, D\)"),
        (lambda: forest.expectation([1.0, np.nan]), "values of edge 1 are not finite"),
        (lambda: forest.with_scores([1.0]), r"scores has shape \(1,\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            ask()


def test_a_forest_without_edges_has_no_derivation():
    forest = Forest([], [0], [], [])
    assert forest.count() == 0
    assert forest.sample(0) == []
    with pytest.raises(ConstraintError):
        forest.sample(1)
    with pytest.raises(ConstraintError):
        forest.expectation([])


def test_the_builder_checks_the_order():
    builder = ForestBuilder()
    with pytest.raises(ValueError, match="the head of edge 0 is 0; expected a node made by add_node"):
        builder.add_edge(0)
    first, second = builder.add_node(), builder.add_node()
    with pytest.raises(ValueError, match="tail 1 of edge 0 is 1; expected a node made before its head, node 1"):
        builder.add_edge(second, [first, second])
    with pytest.raises(ValueError, match="the score of edge 0 is nan"):
        builder.add_edge(second, [first], float("nan"))
    assert builder.add_edge(second, [first]) == 0  # what failed left nothing behind
    assert builder.add_edge(first) == 1
    assert builder.build().best().edges.tolist() == [1, 0]
    assert builder.build(root=first).count() == 1
    with pytest.raises(ValueError, match="n_nodes is 0"):
        ForestBuilder().build()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": 0}, "order is 0"),
        ({"emissions": np.zeros(3)}, r"emissions has shape \(3,\)"),
        ({"transitions": np.zeros((2, 2))}, r"transitions has shape \(2, 2\); expected \(3, 2\)"),
        ({"end": np.zeros((3, 2))}, r"end has shape \(3, 2\); expected \(1, 2\)"),
        ({"edges": np.zeros((2, 2, 2))}, r"edges has shape .* expected \(2, 3, 2\)"),
        ({"emissions": [[0, 0], [np.nan, 0]]}, r"emissions\[1, 0\] is nan"),
    ],
)
def test_invalid_chains_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        chain_forest(**{"emissions": np.zeros((2, 2)), "transitions": np.zeros((3, 2)), **change})
