"""Explanations add up to the difference of two scores; lists of weights are sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import Features, Perceptron, Tagger
from oracle.tagging import labellings

LINES = ["U0:%x[0,0]", "U1->:%x[1,0]", "B1:%x[-1,0]/%x[0,0]", "Ubias", "B"]


def tagger_of(order: int, **options: Any) -> Tagger:
    random = np.random.default_rng(order)
    X = [[str(w) for w in random.choice(list("abcde"), random.integers(1, 6))] for _ in range(30)]
    y = [[str(label) for label in random.choice(["N", "V", "D"], len(x))] for x in X]
    return Tagger(options.pop("features", LINES), Perceptron(epochs=3), order=order, **options).fit(X, y)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_contributions_and_rest_are_the_lead_over_the_best_rival(order: int, layout: str) -> None:
    tagger = tagger_of(order, features=Features(LINES, layout=layout))
    names = [str(name) for name in tagger.classes_]
    for sentence in (["a", "b", "c", "d"], ["e"], ["c", "z", "c"]):
        listed = labellings(tagger.weights_, tagger.feature_map_.encode([sentence]))
        best_score, best = listed[0]
        for top in (2, 1000):
            for why in tagger.explain(sentence, top=top):
                t = why.position
                rival_score, rival = next(pair for pair in listed if pair[1][t] != best[t])
                assert (why.label, why.rival) == (names[best[t]], names[rival[t]])
                assert why.margin == pytest.approx(best_score - rival_score, abs=1e-4)
                assert sum(c.weight for c in why.contributions) + why.rest == pytest.approx(why.margin, abs=1e-9)
                assert len(why.contributions) <= top
                weights = [c.weight for c in why.contributions]
                assert weights == sorted(weights, reverse=True) and 0 not in weights
                assert f"token {t}: {why.label} over {why.rival} by" in str(why)


@pytest.mark.parametrize("order", [1, 2])
def test_where_one_label_changes_nothing_is_left_over(order: int) -> None:
    """All that a label can change is its token's features, the transitions that look at it, and the end."""
    tagger = tagger_of(order)
    left = 0
    for sentence in (["a", "b", "c", "d"], ["b", "c"], ["e", "a", "a", "b", "d"]):
        listed = labellings(tagger.weights_, tagger.feature_map_.encode([sentence]))
        for why in tagger.explain(sentence, top=1000):
            rival = next(labels for _, labels in listed if labels[why.position] != listed[0][1][why.position])
            if sum(a != b for a, b in zip(rival, listed[0][1])) == 1:
                left += 1
                assert why.rest == pytest.approx(0, abs=1e-6)
                assert "the rest" not in str(why)
    assert left > 2


def test_names_of_features_and_transitions_are_readable() -> None:
    tagger = tagger_of(1)
    names = {c.name for why in tagger.explain(["a", "b"], top=1000) for c in why.contributions}
    assert any(name.startswith("U0:") for name in names) and any(name.startswith("B1:") for name in names)
    assert any(name.startswith("(start) -> ") for name in names) and any(" -> (end)" in name for name in names)
    # A feature of the next token is not about this one, whatever its name.
    assert not any(c.name == "U1->:_B+1" for c in tagger.explain(["a", "b"], 0, top=1000)[0].contributions)


def test_one_position_may_be_asked_for() -> None:
    tagger = tagger_of(1)
    everything = tagger.explain(["a", "b", "c"])
    assert tagger.explain(["a", "b", "c"], 1) == [everything[1]] == tagger.explain(["a", "b", "c"], position=-2)
    for wrong in (3, -4):
        with pytest.raises(ValueError, match="position should be within the sentence of 3 tokens"):
            tagger.explain(["a", "b", "c"], wrong)


def test_real_values_are_part_of_a_contribution() -> None:
    X = [[{"x": 2.0}], [{"x": -2.0}]]
    tagger = Tagger(learner=Perceptron(epochs=1, average=False, shuffle=False)).fit(X, [["B"], ["A"]])
    (why,) = tagger.explain([{"x": 10.0}])
    weights = tagger.weights_.label_weights(0)
    assert [c.weight for c in why.contributions if c.name == "x"] == [pytest.approx(10 * abs(weights[1] - weights[0]))]


def test_constraints_of_the_model_hold_for_rivals_too() -> None:
    tagger = tagger_of(1, constrain=[("N", "V"), ("D", "V"), ("V", "V"), (None, "V")])
    assert all(why.label != "V" and why.rival != "V" for why in tagger.explain(["a", "b"]))
    only = tagger_of(1, constrain=[(None, "V"), (None, "N")])
    assert only.explain(["a", "b"])[0].rival is None


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_top_features_are_the_largest_and_the_smallest(layout: str) -> None:
    tagger = tagger_of(1, features=Features(LINES, layout=layout))
    column = list(tagger.classes_).index("N")
    weights = {
        tagger.feature_map_.name(i): float(tagger.weights_.label_weights(i)[column])
        for i in range(tagger.weights_.n_features)
    }
    kept = sorted((w for w in weights.values() if w != 0), reverse=True)
    top = tagger.top_features("N", n=3)
    assert [w for _, w in top] == [*kept[:3], *kept[-3:]]
    assert all(weights[name] == w for name, w in top)
    assert len(tagger.top_features("N", n=10_000)) == len(kept)
    with pytest.raises(ValueError, match="there is no label 'Q'; expected one of D, N, V"):
        tagger.top_features("Q")
    for n in (0, -1, 1.5):
        with pytest.raises(ValueError, match="n should be an integer of at least 1"):
            tagger.top_features("N", n=n)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="n should be an integer of at least 1"):
            tagger.top_transitions(n=n)  # type: ignore[arg-type]


def test_top_transitions_are_the_largest_and_the_smallest() -> None:
    tagger = tagger_of(1)
    matrix = tagger.weights_.transitions[0][:3, :3]
    top = tagger.top_transitions(n=2)
    flat = sorted(matrix.ravel().tolist(), reverse=True)
    assert [w for _, _, w in top] == [*flat[:2], *flat[-2:]]
    names = list(tagger.classes_)
    assert all(matrix[names.index(a), names.index(b)] == w for a, b, w in top)
    assert len(tagger.top_transitions(n=100)) == 9
