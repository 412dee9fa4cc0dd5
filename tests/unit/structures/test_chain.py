"""The label chain: every question against the list of all labellings, against the forest, and, where sequences or label
sets are large, against plain recursions; with both sets of kernels and both float types."""

from __future__ import annotations

import doctest
import itertools
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import margent.structures.chain_scores
from margent import _core
from margent.annotation import schemes
from margent.errors import ConstraintError
from margent.structures import ChainScores, chain, chain_forest
from oracle import enumeration, recursions

DTYPES = [np.float32, np.float64]
WIDTHS = [1, 7, 8, 9, 16, 17, 23, 33, 65, 100]


@pytest.fixture(params=["avx2", "portable"])
def kernels(request):
    if _core.use_avx2(request.param == "avx2") != (request.param == "avx2"):
        pytest.skip("this machine has no AVX2")
    yield request.param
    _core.use_avx2(True)


def random_scores(rng, n_tokens, n_labels, order=1, dtype=np.float64, forbidden=0.0, ties=False, end=True, edges=False):
    base = n_labels + 1
    shapes = {"emissions": (n_tokens, n_labels), "transitions": (base**order, n_labels)}
    if end:
        shapes["end"] = (base ** (order - 1), n_labels)
    if edges:
        shapes["edges"] = (n_tokens, base, n_labels)
    arrays = {}
    for name, shape in shapes.items():
        array = rng.integers(-1, 2, shape) if ties else rng.normal(size=shape) * 2
        arrays[name] = array.astype(dtype)
        arrays[name][rng.random(shape) < forbidden] = -np.inf
    return ChainScores(**arrays)


def arrays_of(scores):
    """What the oracle and the forest want."""
    double = [None if a is None else a.astype(np.float64) for a in (scores.emissions, scores.transitions, scores.end)]
    edges = None if scores.edges is None else scores.edges.astype(np.float64)
    return dict(zip(("emissions", "transitions", "end"), double), order=scores.order, edges=edges)


def matrices_of(scores):
    """What the recursions want."""
    end = np.zeros(scores.n_labels) if scores.end is None else scores.end[0]
    return scores.emissions, scores.transitions, end, scores.edges


def tolerance(scores):
    return {"rel": 1e-5, "abs": 1e-4} if scores.emissions.dtype == np.float32 else {"rel": 1e-11, "abs": 1e-11}


chains = st.builds(
    lambda seed, n_tokens, n_labels, order, **options: random_scores(
        np.random.default_rng(seed), n_tokens, n_labels, order, **options
    ),
    seed=st.integers(0, 2**32 - 1),
    n_tokens=st.integers(0, 6),
    n_labels=st.integers(1, 4),
    order=st.integers(1, 3),
    dtype=st.sampled_from(DTYPES),
    forbidden=st.sampled_from([0.0, 0.1, 0.3]),
    ties=st.booleans(),
    end=st.booleans(),
    edges=st.booleans(),
).filter(lambda scores: scores.n_labels**scores.n_tokens <= 1024)


@settings(deadline=None, max_examples=250)
@given(chains, st.integers(1, 40), st.booleans())
def test_every_question_agrees_with_enumeration_and_forest(scores, k, avx2):
    _core.use_avx2(avx2)
    try:
        check_every_question(scores, k)
    finally:
        _core.use_avx2(True)


def check_every_question(scores, k):
    listed = enumeration.labellings(**arrays_of(scores))
    near = tolerance(scores)
    if not listed:
        for ask in (chain.best, chain.log_partition, chain.marginals, lambda s: chain.k_best(s, k)):
            with pytest.raises(ConstraintError, match="has no labelling"):
                ask(scores)
        with pytest.raises(ConstraintError, match="has no labelling"):
            chain.sample(scores, 1)
        return
    known = {labels: score for score, labels in listed}

    top = chain.best(scores)
    assert top.labels.dtype == np.int32
    assert top.score == pytest.approx(enumeration.best(listed)[0], **near)
    assert top.score == chain.score(scores, top.labels) == pytest.approx(known[tuple(top.labels)], **near)
    whole = all(np.all(a[a > -np.inf] % 1 == 0) for a in arrays_of(scores).values() if isinstance(a, np.ndarray))
    if whole:  # no rounding: the rule for ties decides
        equals = [labels for score, labels in listed if score == top.score]
        assert tuple(top.labels) == min(equals, key=lambda labels: labels[::-1])

    found = chain.k_best(scores, k)
    assert [f.score for f in found] == pytest.approx([s for s, _ in enumeration.k_best(listed, k)], **near)
    assert [known[tuple(f.labels)] for f in found] == pytest.approx([f.score for f in found], **near)
    assert len({tuple(f.labels) for f in found}) == len(found)
    assert all(a.score >= b.score for a, b in pairwise(found))
    if whole:
        assert found[0].labels.tolist() == top.labels.tolist()

    n_tokens, n_labels = scores.emissions.shape
    log_z = enumeration.log_partition(listed)
    assert chain.log_partition(scores) == pytest.approx(log_z, **near)
    found = chain.marginals(scores, pairs=True)
    assert found.log_partition == pytest.approx(log_z, **near)
    for table, twin in (
        (found.labels, enumeration.label_marginals(listed, n_tokens, n_labels)),
        (found.pairs, enumeration.transition_marginals(listed, n_tokens, n_labels)),
    ):
        np.testing.assert_allclose(table, twin, atol=near["abs"])
        np.testing.assert_allclose(table.sum(axis=tuple(range(1, table.ndim))), 1, rtol=1e-12)
    assert chain.marginals(scores).pairs is None

    for labels in chain.sample(scores, 3, seed=k):
        assert tuple(labels) in known

    forest = chain_forest(**arrays_of(scores))
    assert top.score == pytest.approx(forest.forest.best().score, **near)
    np.testing.assert_allclose(found.pairs, forest.transition_marginals(), atol=near["abs"])


@settings(deadline=None, max_examples=60)
@given(chains)
def test_k_best_lists_all_labellings_when_k_is_large(scores):
    listed = enumeration.labellings(**arrays_of(scores))
    assume(listed)
    found = chain.k_best(scores, 10**12)
    assert sorted(tuple(f.labels) for f in found) == sorted(labels for _, labels in listed)


@settings(deadline=None, max_examples=60)
@given(chains, st.data())
def test_modes_compose_as_conditions_on_the_labellings(scores, data):
    n_tokens, n_labels = scores.emissions.shape
    assume(n_tokens > 0)
    positions, some = st.integers(0, n_tokens - 1), st.sets(st.integers(0, n_labels - 1))
    fixed = data.draw(st.dictionaries(positions, st.integers(0, n_labels - 1), max_size=2))
    allowed = data.draw(st.dictionaries(positions, some, max_size=2))
    forbidden = data.draw(st.dictionaries(positions, some, max_size=2))
    pairs = data.draw(st.sets(st.tuples(st.integers(0, n_labels), st.integers(0, n_labels)), max_size=3))
    gold = data.draw(st.lists(st.integers(0, n_labels - 1), min_size=n_tokens, max_size=n_tokens))
    mask = np.array([[(i, j) not in pairs for j in range(n_labels + 1)] for i in range(n_labels + 1)])

    def holds(labels):
        return (
            all(labels[t] == y for t, y in fixed.items())
            and all(labels[t] in ys for t, ys in allowed.items())
            and all(labels[t] not in ys for t, ys in forbidden.items())
            and not pairs & set(pairwise([n_labels, *labels, n_labels]))
        )

    listed = [
        (score + sum(a != b for a, b in zip(labels, gold)), labels)
        for score, labels in enumeration.labellings(**arrays_of(scores), allowed=holds)
    ]
    augmented = chain.with_costs(scores, chain.hamming_costs(gold, n_labels))
    for transitions in (sorted(pairs), mask):
        if not listed:
            with pytest.raises(ConstraintError):
                chain.best(chain.constrain(augmented, fixed, allowed, forbidden, transitions))
            continue
        constrained = chain.constrain(augmented, fixed, allowed, forbidden, transitions)
        assert constrained.emissions.dtype == scores.emissions.dtype
        top = chain.best(constrained)
        assert holds(top.labels.tolist())
        assert top.score == pytest.approx(enumeration.best(listed)[0], **tolerance(scores))
        log_z = enumeration.log_partition(listed)
        assert chain.log_partition(constrained) == pytest.approx(log_z, **tolerance(scores))


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_the_mask_of_a_scheme_leaves_well_formed_sequences_only(scheme, order):
    names = ["O", "B-X", "I-X", "I-Y"] + (["E-X", "S-X"] if scheme == "iobes" else [])
    mask = schemes.transition_mask(names, scheme)
    scores = random_scores(np.random.default_rng(4), 4, len(names), order, dtype=np.float32, end=order == 2)
    every = chain.k_best(chain.constrain(scores, forbidden_transitions=mask), 10**6)
    boundary = len(names)
    well_formed = [
        labels
        for labels in itertools.product(range(len(names)), repeat=4)
        if all(mask[i, j] for i, j in pairwise([boundary, *labels, boundary]))
    ]
    assert sorted(tuple(f.labels) for f in every) == well_formed


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_labels", WIDTHS)
def test_label_counts_around_the_width_of_a_vector(kernels, n_labels, dtype):
    rng = np.random.default_rng(n_labels)
    for n_tokens, edges, ties, forbidden in [
        (1, True, False, 0),
        (40, False, True, 0.2),
        (300, False, False, 0.05),
        (40, True, True, 0.2),
        (150, True, False, 0.05),
    ]:
        forbidden = forbidden if n_labels > 1 else 0
        scores = random_scores(rng, n_tokens, n_labels, 1, dtype, forbidden, ties, edges=edges)
        value, labels = recursions.viterbi(*matrices_of(scores))
        near = tolerance(scores)
        top = chain.best(scores)
        assert top.score == pytest.approx(value, **near)
        if ties or dtype == np.float64:
            assert top.labels.tolist() == labels.tolist()
        log_z, twin, pair_twin = recursions.forward_backward(*matrices_of(scores))
        found = chain.marginals(scores, pairs=True)
        assert found.log_partition == pytest.approx(log_z, **near)
        np.testing.assert_allclose(found.labels, twin, atol=near["abs"])
        np.testing.assert_allclose(found.pairs, pair_twin, atol=near["abs"])


@pytest.mark.parametrize("order", [2, 3])
@pytest.mark.parametrize("dtype", DTYPES)
def test_higher_orders_agree_with_the_forest(kernels, order, dtype):
    scores = random_scores(np.random.default_rng(order), 30, 9 if order == 2 else 4, order, dtype, 0.05, edges=True)
    forest = chain_forest(**arrays_of(scores))
    near = tolerance(scores)
    assert [f.score for f in chain.k_best(scores, 20)] == pytest.approx(
        [d.score for d in forest.forest.k_best(20)], **near
    )
    found = chain.marginals(scores, pairs=True)
    assert found.log_partition == pytest.approx(forest.forest.log_partition(), **near)
    np.testing.assert_allclose(found.pairs, forest.transition_marginals(), atol=near["abs"])


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("n_labels", [4, 8, 9, 33, 70])
@pytest.mark.parametrize("dtype", DTYPES)
def test_k_best_of_order_1_agrees_with_the_forest(kernels, n_labels, dtype, edges):
    rng = np.random.default_rng(n_labels)
    for n_tokens, forbidden, ties in ((1, 0, True), (7, 0.1, True), (25, 0.1, False), (25, 0, True)):
        scores = random_scores(rng, n_tokens, n_labels, 1, dtype, forbidden, ties=ties, edges=edges)
        wanted = [d.score for d in chain_forest(**arrays_of(scores)).forest.k_best(60)]
        for k in (2, 5, 60):
            found = chain.k_best(scores, k)
            assert [f.score for f in found] == pytest.approx(wanted[:k], **tolerance(scores))
            assert [chain.score(scores, f.labels) for f in found] == pytest.approx(
                [f.score for f in found], **tolerance(scores)
            )
            assert len({tuple(f.labels) for f in found}) == len(found)
            if ties:  # no rounding: the order in which they were split off decides, whatever k is
                assert [f.labels.tolist() for f in found] == [f.labels.tolist() for f in chain.k_best(scores, 60)[:k]]


def test_a_chain_of_order_1_may_be_written_as_one_of_a_higher_order():
    first = random_scores(np.random.default_rng(0), 12, 3, ties=True, edges=True)
    for order in (2, 3):
        contexts = 4 ** (order - 1)
        same = ChainScores(
            first.emissions, np.tile(first.transitions, (contexts, 1)), np.tile(first.end, (contexts, 1)), first.edges
        )
        assert same.order == order
        assert chain.best(same).score == chain.best(first).score
        assert chain.best(same).labels.tolist() == chain.best(first).labels.tolist()
        assert chain.log_partition(same) == pytest.approx(chain.log_partition(first))


@pytest.mark.parametrize("n_labels", [256, 300, 400, 1000])
@pytest.mark.parametrize("case", ["normal", "ties", "equal", "peaked", "few labels", "dead ends"])
def test_the_search_that_stops_early_is_complete(case, n_labels):
    rng = np.random.default_rng(n_labels)
    scores = random_scores(rng, 8, n_labels, 1, np.float32, ties=case in ("ties", "few labels"))
    emissions, transitions = scores.emissions.copy(), scores.transitions.copy()
    if case == "equal":
        emissions[:], transitions[:] = 1, -1
    if case == "peaked":
        emissions *= 50
    if case == "few labels":
        emissions[rng.random(emissions.shape) < 0.98] = -np.inf
        emissions[:, 3] = -40
    if case == "dead ends":
        transitions[rng.random(transitions.shape) < 0.995] = -np.inf
    model, examples = chain_of(ChainScores(emissions, transitions, scores.end))
    labels, complete = model.best(examples, 1, pruned=False)
    stopped, value = model.best(examples, 1)
    assert value.tolist() == complete.tolist()
    assert stopped.tolist() == labels.tolist()


def chain_of(scores):
    """Frozen weights with a feature for each token that has its emissions, padded with nan, and the examples of it."""
    n_tokens, n_labels = scores.emissions.shape
    arrays = scores.emissions, scores.transitions, scores.end
    padding = (0, 0), (0, _core.padded_width(n_labels) - n_labels)
    rows, transitions, end = (np.pad(a, padding, constant_values=np.nan) for a in arrays)
    model = _core.LinearChain(n_labels, scores.order, rows, None, transitions, end)
    nothing = dict.fromkeys(("edge_ids", "edge_values", "edge_ptr", "allowed", "allowed_ptr", "labels", "weights"))
    each = np.arange(n_tokens + 1)
    ids = each[:-1].astype(np.int32)
    return model, _core.Examples(np.array([0, n_tokens]), ids, None, each, **nothing)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("n_labels", [3, 9, 33])
def test_padding_is_never_read(kernels, n_labels, order, edges):
    for dtype in DTYPES:
        scores = random_scores(np.random.default_rng(1), 6, n_labels, order, dtype, 0.1, edges=edges)
        width = _core.padded_width(n_labels)

        def padded(array, width=width):
            if array is None:
                return None
            wide = np.full((*array.shape[:-1], width), np.nan, array.dtype)
            wide[..., : array.shape[-1]] = array
            return wide

        make = _core.ChainScores32 if dtype == np.float32 else _core.ChainScores64
        arrays = [padded(a) for a in (scores.emissions, scores.transitions, scores.end, scores.edges)]
        poisoned, clean = make(n_labels, order, *arrays), scores.native()
        for ask in (
            lambda n: n.best(),
            lambda n: n.k_best(7),
            lambda n: n.marginals(True),
            lambda n: n.sample(5, 1),
            lambda n: (n.log_partition(),),
        ):
            for left, right in zip(ask(poisoned), ask(clean)):
                np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sequences_of_a_hundred_thousand_tokens(dtype):
    scores = random_scores(np.random.default_rng(5), 100_000, 4, dtype=dtype)
    value, labels = recursions.viterbi(*matrices_of(scores))
    top = chain.best(scores)
    single = dtype == np.float32
    assert top.score == pytest.approx(value, abs=1e-2 if single else 1e-6)
    if not single:
        np.testing.assert_array_equal(top.labels, labels)
    second = chain.k_best(scores, 2)[1]
    assert second.score <= top.score
    assert second.score == pytest.approx(top.score, abs=1e-2)
    assert np.any(second.labels != top.labels)
    log_z, twin, _ = recursions.forward_backward(*matrices_of(scores))
    found = chain.marginals(scores)
    assert found.log_partition == pytest.approx(log_z, rel=1e-7 if single else 1e-11)
    np.testing.assert_allclose(found.labels, twin, atol=1e-5 if single else 1e-6)
    drawn = chain.sample(scores, 2, seed=1)
    assert drawn.shape == (2, 100_000)
    # Each position is a draw from its marginal: the mean probability of what was drawn is that of its square.
    assert np.mean(twin[np.arange(100_000), drawn[0]]) == pytest.approx(np.mean(np.sum(twin**2, axis=1)), abs=0.01)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("size", [1e4, 1e30])
def test_extreme_scores_stay_numbers(size, order, dtype):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = random_scores(rng, 7, 3, order, dtype, 0.1, ties=True, edges=seed % 2 == 0)
        scaled = {
            name: None if array is None else np.where(array == 0, array, array * dtype(size))
            for name, array in (
                ("emissions", scores.emissions),
                ("transitions", scores.transitions),
                ("end", scores.end),
                ("edges", scores.edges),
            )
        }
        scores = ChainScores(**scaled)
        listed = enumeration.labellings(**arrays_of(scores))
        if not listed:
            continue
        top = chain.best(scores)
        assert top.score == pytest.approx(enumeration.best(listed)[0], rel=1e-5)
        assert np.isfinite([f.score for f in chain.k_best(scores, 50)]).all()
        found = chain.marginals(scores, pairs=True)
        assert found.log_partition == pytest.approx(enumeration.log_partition(listed), rel=1e-5)
        for table in (found.labels, found.pairs.reshape(7, -1)):
            np.testing.assert_allclose(table.sum(axis=1), 1)
            assert (table >= 0).all()
        assert all(chain.score(scores, labels) > -np.inf for labels in chain.sample(scores, 20))


def test_samples_follow_the_distribution():
    from scipy import stats

    for order in (1, 2):
        scores = random_scores(np.random.default_rng(order), 3, 3, order, forbidden=0.05, edges=True)
        scores = scores.replace(emissions=scores.emissions / 4, transitions=scores.transitions / 4)
        listed = enumeration.labellings(**arrays_of(scores))
        n = 30_000
        seen = Counter(map(tuple, chain.sample(scores, n, seed=7).tolist()))
        assert set(seen) <= {labels for _, labels in listed}
        expected = np.array(enumeration.probabilities(listed)) * n
        observed = np.array([seen[labels] for _, labels in listed])
        rare = expected < 5  # Pearson's test needs about 5 expected per class: rarer labellings count as one class
        pooled = [np.append(x[~rare], x[rare].sum()) for x in (observed, expected)]
        assert stats.chisquare(pooled[0] + 1e-9, pooled[1] + 1e-9).pvalue > 1e-4
    assert chain.sample(scores, 5, seed=3).tolist() == chain.sample(scores, 5, seed=3).tolist()
    assert chain.sample(scores, 50, seed=3).tolist() != chain.sample(scores, 50, seed=4).tolist()
    assert chain.sample(scores, 0).shape == (0, 3)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_probability_of_a_span_of_labels(order):
    n_tokens, n_labels, rng = 5, 3, np.random.default_rng(order)
    scores = random_scores(rng, n_tokens, n_labels, order, np.float32, 0.05)
    model, examples = chain_of(scores)
    listed = enumeration.labellings(**arrays_of(scores))
    probabilities = enumeration.probabilities(listed)
    assert len(listed) > 50

    places = [(a, b) for a in range(n_tokens) for b in range(a + 1, n_tokens + 1)] * 4
    labels = [rng.integers(0, n_labels, b - a).astype(np.int32) for a, b in places]
    before, after = rng.integers(0, 2, (2, len(places), n_labels + 1)).astype(np.uint8)
    begins, ends = np.array(places, dtype=np.int32).T.copy()
    span_ptr = np.concatenate([[0], np.cumsum(ends - begins)])
    zeros = np.zeros(len(places), dtype=np.int64)
    found = model.span_log_probabilities(
        examples, 1.0, zeros, begins, ends, span_ptr, np.concatenate(labels), before, after, 1
    )
    for (a, b), run, left, right, log_probability in zip(places, labels, before, after, found):
        total = sum(
            p
            for p, (_, y) in zip(probabilities, listed)
            if y[a:b] == tuple(run) and left[(n_labels, *y)[a]] and right[(*y, n_labels)[b]]
        )
        assert np.exp(log_probability) == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_an_empty_sequence_has_one_labelling_of_score_zero(order):
    scores = ChainScores(np.zeros((0, 3)), np.ones((4**order, 3)), np.ones((4 ** (order - 1), 3)))
    assert scores.order == order
    assert chain.best(scores).score == chain.log_partition(scores) == chain.score(scores, []) == 0.0
    assert chain.best(scores).labels.shape == (0,)
    assert [f.score for f in chain.k_best(scores, 5)] == [0.0]
    found = chain.marginals(scores, pairs=True)
    assert found.labels.shape == (0, 3)
    assert found.pairs.shape == (0, 4, 3)
    assert chain.sample(scores, 2).shape == (2, 0)
    assert chain.hamming_costs([], 3).shape == (0, 3)
    assert chain.best(chain.constrain(scores, forbidden_transitions=[(3, 0)])).score == 0.0
    with pytest.raises(ConstraintError, match="the sequence is empty"):
        chain.constrain(scores, forbidden_transitions=[(3, 3)])


def test_first_order_puts_start_and_end_in_their_places():
    scores = ChainScores.first_order([[1, 2], [3, 4]], [[10, 20], [30, 40]], start=[100, 200], end=[0, 1000])
    assert scores.order == 1
    assert chain.score(scores, [1, 0]) == 2 + 3 + 200 + 30
    assert chain.score(scores, [0, 1]) == 1 + 4 + 100 + 20 + 1000
    single = np.zeros((2, 2), np.float32)
    assert ChainScores.first_order(single, single, start=single[0]).emissions.dtype == np.float32
    assert ChainScores.first_order(single, single.astype(float)).emissions.dtype == np.float64
    assert ChainScores.first_order(single.astype(np.float16), single).emissions.dtype == np.float32


def test_scores_are_values():
    emissions = np.zeros((2, 2))
    scores = ChainScores.first_order(emissions, np.zeros((2, 2)))
    emissions[0, 1] = 5
    assert chain.best(scores).labels.tolist() == [0, 0]
    with pytest.raises(ValueError, match="read-only"):
        scores.emissions[0, 0] = 1
    chain.constrain(scores, fixed={0: 1}, forbidden_transitions=[(0, 0)])
    assert chain.best(scores).labels.tolist() == [0, 0]


def test_costs_of_mistakes_may_have_weights():
    assert chain.hamming_costs([1, 0], 2, weights=[2, 0.5]).tolist() == [[2, 0], [0, 0.5]]
    scores = ChainScores.first_order([[0.0, 0.5], [0.0, 0.0]], np.zeros((2, 2)))
    assert chain.best(chain.with_costs(scores, chain.hamming_costs([1, 1], 2))).labels.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"emissions": np.zeros(3)}, r"emissions has shape \(3,\)"),
        ({"emissions": np.zeros((2, 0))}, "at least one label"),
        ({"transitions": np.zeros((2, 2))}, r"transitions has shape \(2, 2\); expected \(3\^order, 2\)"),
        ({"transitions": np.zeros((8, 2))}, r"transitions has shape \(8, 2\)"),
        ({"transitions": np.zeros(3)}, r"transitions has shape \(3,\)"),
        ({"end": np.zeros((3, 2))}, r"end has shape \(3, 2\); expected \(1, 2\)"),
        ({"edges": np.zeros((2, 2, 2))}, r"edges has shape .* expected \(2, 3, 2\)"),
        ({"emissions": [[0, 0], [np.nan, 0]]}, r"emissions\[1, 0\] is nan"),
        ({"transitions": [[0, 0], [0, 0], [np.inf, 0]]}, r"transitions\[2, 0\] is inf"),
        ({"emissions": [["a", "b"]]}, "emissions has type <U1"),
        ({"emissions": np.full((2, 2), 1e38, np.float32), "transitions": np.zeros((3, 2), np.float32)}, "too large"),
    ],
)
def test_wrong_scores_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        ChainScores(**{"emissions": np.zeros((2, 2)), "transitions": np.zeros((3, 2)), **change})


SCORES = ChainScores.first_order(np.zeros((3, 2)), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: chain.k_best(SCORES, 0), "k is 0"),
        (lambda: chain.sample(SCORES, -1), "n is -1"),
        (lambda: chain.sample(SCORES, 1, seed=-1), "seed is -1"),
        (lambda: chain.score(SCORES, [0, 1]), r"labels has shape \(2,\)"),
        (lambda: chain.score(SCORES, [0, 1, 2]), r"labels\[2\] is 2; expected a label from 0 to 1"),
        (lambda: chain.score(SCORES, [0.0, 1.0, 1.0]), "type float64"),
        (lambda: chain.with_costs(SCORES, np.zeros((2, 2))), r"costs has shape \(2, 2\)"),
        (lambda: chain.with_costs(SCORES, np.full((3, 2), np.nan)), r"costs\[0, 0\] is nan"),
        (lambda: chain.hamming_costs([0, 5], 3), r"gold\[1\] is 5"),
        (lambda: chain.hamming_costs([0, 1], 3, weights=[1]), r"weights has shape \(1,\)"),
        (lambda: chain.constrain(SCORES, forbidden_transitions=np.ones((2, 2), bool)), "the mask of transitions"),
        (lambda: ChainScores.first_order(np.zeros((3, 2)), np.zeros((3, 2))), r"expected \(L, L\)"),
        (lambda: ChainScores.first_order(np.zeros((3, 2)), np.zeros((2, 2)), start=[0]), "start has shape"),
        (lambda: ChainScores.first_order(np.zeros((3, 2)), np.zeros((2, 2)), end=[0, np.nan]), r"end\[1\] is nan"),
    ],
)
def test_wrong_arguments_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask()


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"fixed": {3: 0}}, "is for token 3; expected one of the 3 tokens"),
        ({"fixed": {-1: 0}}, "is for token -1"),
        ({"fixed": {0: 2}}, "token 0 names label 2; expected 0 to 1"),
        ({"allowed": {1: [0, "B"]}}, "token 1 names label 'B'"),
        ({"allowed": {1: []}}, "no label for token 1"),
        ({"fixed": {2: 0}, "forbidden": {2: [0]}}, "no label for token 2"),
        ({"forbidden_transitions": [(0, 3)]}, r"transition is \(0, 3\)"),
    ],
)
def test_wrong_constraints_are_named(constraints, message):
    with pytest.raises(ConstraintError, match=message):
        chain.constrain(SCORES, **constraints)


def test_constraints_that_leave_no_labelling_are_found_by_every_question():
    stuck = chain.constrain(SCORES, fixed={0: 0, 1: 1}, forbidden_transitions=[(0, 1)])
    for ask in (chain.best, chain.log_partition, chain.marginals):
        with pytest.raises(ConstraintError, match=r"ChainScores.*has no labelling"):
            ask(stuck)
    assert chain.score(stuck, [0, 1, 0]) == -np.inf


def test_the_examples_of_the_documentation_are_true():
    for module in (chain, margent.structures.chain_scores):
        results = doctest.testmod(module)
        assert results.attempted > 0
        assert results.failed == 0
    page = Path(__file__).parents[3] / "docs" / "chain.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
