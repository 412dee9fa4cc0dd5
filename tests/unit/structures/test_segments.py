"""Segmentations: every question against the list of all of them, against the forest, and against the chain."""

from __future__ import annotations

import doctest
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.structures.segment_forest import segment_forest

import margent.structures.segments
from margent import _core
from margent.errors import ConstraintError
from margent.structures import ChainScores, chain, segments
from margent.structures.segments import SegmentScores
from oracle import enumeration, segmentations


def random_scores(seed, length, n_labels, longest, forbidden, ties, parts, limited):
    rng = np.random.default_rng(seed)
    shapes = {
        "transitions": (n_labels, n_labels),
        "segments": (length, longest, n_labels),
        "durations": (longest, n_labels),
        "begins": (length + 1, n_labels),
        "ends": (length + 1, n_labels),
        "start": (n_labels,),
        "end": (n_labels,),
    }
    arrays = {}
    for name, shape in shapes.items():
        if name != "transitions" and name not in parts:
            continue
        array = rng.integers(-1, 2, shape).astype(float) if ties else rng.normal(size=shape) * 2
        array[rng.random(shape) < forbidden] = -np.inf
        arrays[name] = array
    shortest = rng.integers(1, longest + 1, n_labels) if limited else np.ones(n_labels, dtype=int)
    most = np.minimum(longest, shortest + rng.integers(0, longest, n_labels)) if limited else np.full(n_labels, longest)
    return SegmentScores(**arrays, min_duration=shortest, max_duration=most, length=length)


cases = st.builds(
    random_scores,
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(0, 5),
    n_labels=st.integers(1, 3),
    longest=st.integers(1, 4),
    forbidden=st.sampled_from([0.0, 0.1, 0.3]),
    ties=st.booleans(),
    parts=st.sets(st.sampled_from(["segments", "durations", "begins", "ends", "start", "end"])),
    limited=st.booleans(),
)


def score_of(scores):
    """The score of a segmentation as the docstring of SegmentScores says it, by hand."""

    def segment(begin, end, label):
        value = scores.durations[end - begin - 1, label]
        if scores.segments is not None:
            value = value + scores.segments[begin, end - begin - 1, label]
        if scores.begins is not None:
            value = value + scores.begins[begin, label]
        if scores.ends is not None:
            value = value + scores.ends[end, label]
        return value

    return lambda s: segmentations.total_score(s, scores.transitions, scores.start, scores.end, segment)


def listing(scores, wanted=lambda segments: True):
    listed = segmentations.segmentations(scores.length, scores.n_labels, scores.longest, score_of(scores))
    return [(score, item) for score, item in listed if wanted(item)]


def as_tuple(array):
    return tuple(map(tuple, array.tolist()))


NEAR = {"rel": 1e-10, "abs": 1e-10}


def check_questions(scores, listed, k, n_labels):
    if not listed:
        for ask in (segments.best, segments.log_partition, segments.marginals, lambda s: segments.k_best(s, k)):
            with pytest.raises(ConstraintError, match="no segmentation"):
                ask(scores)
        with pytest.raises(ConstraintError, match="no segmentation"):
            segments.sample(scores, 1)
        return
    known = {item: score for score, item in listed}
    found = segments.best(scores)
    assert found.score == pytest.approx(enumeration.best(listed)[0], **NEAR)
    assert known[as_tuple(found.segments)] == pytest.approx(found.score, **NEAR)
    assert segments.score(scores, found.segments) == found.score

    several = segments.k_best(scores, k)
    assert [s.score for s in several] == pytest.approx([s for s, _ in enumeration.k_best(listed, k)], **NEAR)
    items = [as_tuple(s.segments) for s in several]
    assert len(set(items)) == len(items)
    assert [known[item] for item in items] == pytest.approx([s.score for s in several], **NEAR)

    assert segments.log_partition(scores) == pytest.approx(enumeration.log_partition(listed), **NEAR)
    p = enumeration.probabilities(listed)
    given_back = segments.marginals(scores, segments=True)
    assert given_back.log_partition == pytest.approx(enumeration.log_partition(listed), **NEAR)
    length, longest = scores.length, scores.longest
    labels = segmentations.label_marginals(listed, p, length, n_labels)
    found_labels = np.zeros_like(labels)
    found_labels[:, : given_back.labels.shape[1]] = given_back.labels
    np.testing.assert_allclose(found_labels, labels, atol=1e-9)
    each = segmentations.segment_marginals(listed, p, length, longest, n_labels)
    np.testing.assert_allclose(given_back.segments, each[:, :, : given_back.segments.shape[2]], atol=1e-9)
    boundaries = np.zeros(length + 1)
    for probability, (_, item) in zip(p, listed):
        boundaries[[0, *(end for _, end, _ in item)]] += probability
    np.testing.assert_allclose(given_back.boundaries, boundaries, atol=1e-9)
    assert all(as_tuple(s) in known for s in segments.sample(scores, 5, seed=k))


@settings(deadline=None, max_examples=200)
@given(cases, st.integers(1, 40), st.booleans())
def test_every_question_agrees_with_enumeration(scores, k, avx2):
    _core.use_avx2(avx2)
    try:
        check_questions(scores, listing(scores), k, scores.n_labels)
    finally:
        _core.use_avx2(True)


@settings(deadline=None, max_examples=60)
@given(cases.filter(lambda scores: scores.length > 0))
def test_the_forest_agrees(scores):
    try:
        total = segments.log_partition(scores)
    except ConstraintError:
        return
    reference = segment_forest(scores)
    assert reference.forest.log_partition() == pytest.approx(total, **NEAR)
    best = reference.forest.best()
    assert best.score == pytest.approx(segments.best(scores).score, **NEAR)
    assert segments.score(scores, reference.segments_of(best)) == pytest.approx(best.score, **NEAR)
    ours = [s.score for s in segments.k_best(scores, 7)]
    assert [d.score for d in reference.forest.k_best(7)] == pytest.approx(ours, **NEAR)


@settings(deadline=None, max_examples=60)
@given(cases, st.integers(1, 20), st.data())
def test_forced_labels_without_times(scores, k, data):
    labels = data.draw(st.lists(st.integers(0, scores.n_labels - 1), min_size=1, max_size=4))
    if len(labels) > scores.length:
        with pytest.raises(ConstraintError, match="labels are given"):
            segments.force(scores, labels)
        return
    listed = listing(scores, lambda item: [label for _, _, label in item] == labels)
    check_questions(segments.force(scores, labels), listed, k, scores.n_labels)


@settings(deadline=None, max_examples=100)
@given(cases.filter(lambda scores: scores.length > 0), st.integers(1, 20), st.data())
def test_constraints(scores, k, data):
    length, n_labels = scores.length, scores.n_labels
    frames = st.integers(0, length - 1)
    some = st.sets(st.integers(0, n_labels - 1), min_size=1)
    allowed = data.draw(st.dictionaries(frames, some, max_size=2))
    boundaries = data.draw(st.none() | st.sets(st.integers(0, length)))
    begin = data.draw(frames)
    fixed = data.draw(
        st.none() | st.tuples(st.just(begin), st.integers(begin + 1, length), st.integers(0, n_labels - 1))
    )

    def wanted(item):
        labels = [label for b, e, label in item for _ in range(e - b)]
        inner = {e for _, e, _ in item if e < length}
        return (
            all(labels[t] in may for t, may in allowed.items())
            and (boundaries is None or inner == boundaries - {0, length})
            and (fixed is None or fixed in item)
        )

    one = [] if fixed is None else [fixed]
    constrained = segments.constrain(scores, allowed, boundaries, one)
    check_questions(constrained, listing(scores, wanted), k, n_labels)
    mask = np.ones((length, n_labels), dtype=bool)
    for t, may in allowed.items():
        mask[t] = [label in may for label in range(n_labels)]
    again = segments.constrain(segments.constrain(scores, segments=one), mask, boundaries)
    check_questions(again, listing(scores, wanted), 1, n_labels)


@settings(deadline=None, max_examples=60)
@given(cases.filter(lambda scores: scores.length > 0), st.data())
def test_costs_of_frames_and_boundaries(scores, data):
    listed = listing(scores)
    if not listed:
        return
    gold = data.draw(st.sampled_from(listed))[1]
    frames = [label for begin, end, label in gold for _ in range(end - begin)]
    costs = chain.hamming_costs(frames, scores.n_labels)
    with_costs = segments.with_costs(scores, costs, boundaries=[end for _, end, _ in gold], boundary_cost=0.7)
    for score, item in listed:
        expected = score + segmentations.losses(item, gold, 0.7)
        assert segments.score(with_costs, np.array(item)) == pytest.approx(expected, **NEAR)
    expected = max(score + segmentations.losses(item, gold, 0.7) for score, item in listed)
    assert segments.best(with_costs).score == pytest.approx(expected, **NEAR)


def test_a_chain_is_the_case_of_segments_of_one_frame():
    rng = np.random.default_rng(3)
    emissions, transitions, start, end = (rng.normal(size=shape) for shape in ((30, 5), (5, 5), 5, 5))
    one = SegmentScores(transitions, emissions[:, None, :], start=start, end=end)
    same = ChainScores.first_order(emissions, transitions, start, end)
    assert segments.best(one).segments[:, 2].tolist() == chain.best(same).labels.tolist()
    for ours, theirs in zip(segments.k_best(one, 20), chain.k_best(same, 20), strict=True):
        assert ours.score == pytest.approx(theirs.score, **NEAR)
        assert ours.segments[:, 2].tolist() == theirs.labels.tolist()
    np.testing.assert_allclose(segments.marginals(one).labels, chain.marginals(same).labels, atol=1e-10)
    assert segments.log_partition(one) == pytest.approx(chain.log_partition(same), **NEAR)


def test_kernels_agree_to_the_bit_and_long_sequences_do_not_overflow():
    rng = np.random.default_rng(0)
    scores = SegmentScores(
        rng.normal(size=(19, 19)) * 30, rng.normal(size=(400, 12, 19)) * 100, max_duration=rng.integers(3, 13, 19)
    )
    answers = []
    for avx2 in (True, False):
        _core.use_avx2(avx2)
        answers.append((segments.best(scores), segments.marginals(scores)))
    _core.use_avx2(True)
    (first, p), (second, q) = answers
    assert first.score == second.score
    assert as_tuple(first.segments) == as_tuple(second.segments)
    np.testing.assert_array_equal(p.labels, q.labels)
    np.testing.assert_allclose(p.labels.sum(axis=1), 1, atol=1e-9)
    assert p.log_partition >= first.score


def test_paths_of_very_different_scores_are_not_lost():
    """The only way on leads through a label whose score is hopeless beside the others."""
    scores = SegmentScores([[0, -np.inf], [-np.inf, 0]], np.array([[[0, -2000]], [[-np.inf, 0]]]).astype(float))
    assert segments.log_partition(scores) == -2000
    np.testing.assert_allclose(segments.marginals(scores).labels, [[0, 1], [0, 1]])


def test_samples_have_the_right_frequencies():
    scores = random_scores(5, 3, 2, 2, 0.0, False, {"segments"}, False)
    listed = listing(scores)
    counts = Counter(as_tuple(s) for s in segments.sample(scores, 20000, seed=1))
    for p, (_, item) in zip(enumeration.probabilities(listed), listed):
        assert counts[item] / 20000 == pytest.approx(p, abs=0.02)
    same = [segments.sample(scores, 5, seed=2), segments.sample(scores, 5, seed=2)]
    assert [as_tuple(s) for s in same[0]] == [as_tuple(s) for s in same[1]]


def test_a_function_of_segments():
    rows = np.random.default_rng(1).normal(size=(4, 2, 3))
    given = SegmentScores(np.zeros((3, 3)), rows)
    called = SegmentScores(np.zeros((3, 3)), lambda b, e: rows[b, e - b - 1], max_duration=2, length=4)
    assert segments.best(given).score == segments.best(called).score


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"transitions": np.zeros((2, 3))}, r"transitions has shape \(2, 3\)"),
        ({"segments": np.zeros((4, 2, 3))}, "expected 2 labels"),
        ({"segments": np.full((4, 2, 2), np.nan)}, "is nan; expected a finite number"),
        ({"segments": np.zeros((4, 2, 2)), "length": 3}, "the length is 3 by length, but 4 by segments"),
        ({"segments": np.zeros((4, 2, 2)), "max_duration": 3}, "max_duration is 3; expected at most 2"),
        ({"length": 3}, "nothing says the longest duration"),
        ({"max_duration": 3}, "nothing says the length"),
        ({"max_duration": 0, "length": 3}, "max_duration is 0; expected an integer of at least 1"),
        ({"min_duration": [1, 1, 1], "max_duration": 2, "length": 3}, "min_duration is"),
        ({"start": [0.0], "max_duration": 2, "length": 3}, r"start has shape \(1,\)"),
        ({"begins": np.zeros((3, 2)), "ends": np.zeros((4, 2)), "max_duration": 2}, "the length is 2 by begins"),
    ],
)
def test_wrong_scores_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        SegmentScores(**({"transitions": np.zeros((2, 2))} | arguments))


@pytest.mark.parametrize("name", ["transitions", "durations"])
def test_scores_that_leave_no_probabilities_are_refused(name):
    """They were 0 for all labels of a frame, or 1 for segments that exclude each other."""
    given = {"transitions": np.zeros((3, 3)), "durations": np.zeros((4, 3))}
    scores = SegmentScores(**{**given, name: given[name] + 1e30}, length=8)
    for ask in (segments.marginals, lambda scores: segments.sample(scores, 2)):
        with pytest.raises(ValueError, match=f"{name} has scores so large that probabilities are lost in rounding"):
            ask(scores)
    assert segments.best(scores).score > 1e30


def test_wrong_questions_are_named():
    scores = SegmentScores(np.zeros((2, 2)), max_duration=2, length=3)
    for ask, message in [
        (lambda: segments.k_best(scores, 0), "k is 0"),
        (lambda: segments.force(scores, [2]), "label 2; expected 0 to 1"),
        (lambda: segments.force(scores, []), "0 labels are given for 3 frames"),
        (lambda: segments.force(segments.force(scores, [1, 0]), [1]), "forced already"),
        (lambda: segments.constrain(scores, {3: [0]}), "frame 3; expected 0 to 2"),
        (lambda: segments.constrain(scores, boundaries=[4]), "boundary 4"),
        (lambda: segments.constrain(scores, segments=[(0, 4, 1)]), "a segment is from 0 to 4"),
        (lambda: segments.with_costs(scores, np.zeros((2, 2))), "costs has shape"),
        (lambda: segments.score(scores, [(0, 1, 0), (2, 3, 0)]), "segment 1 does not fit"),
        (lambda: segments.score(scores, [(0, 1, 0)]), "without gaps from 0 to 3"),
        (lambda: segments.score(scores, [(0, 2, 0), (2, 3, 7)]), "expected 0 to 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            ask()


def test_examples_in_the_documentation():
    assert doctest.testmod(margent.structures.segments).failed == 0
