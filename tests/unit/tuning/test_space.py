from __future__ import annotations

from dataclasses import dataclass

import pytest

from margent import MIRA, Features, PassiveAggressive, Perceptron, Range, Tagger, Templates
from margent.learners import LEARNERS
from margent.tuning import default_space
from margent.tuning.space import SearchSpace


def parameters(space, trials=None, seed=0, tagger=None):
    return [c.parameters for c in SearchSpace(tagger or Tagger(learner="pa"), space).candidates(trials, seed)]


def test_lists_make_a_grid():
    found = parameters({"k": [1, 2], "order": [1, 2, 3]})
    assert found == [{"k": k, "order": order} for k in (1, 2) for order in (1, 2, 3)]


def test_a_sample_of_a_grid_has_no_repetitions():
    grid = parameters({"k": [1, 2], "order": [1, 2, 3]})
    found = parameters({"k": [1, 2], "order": [1, 2, 3]}, trials=4)
    assert len(found) == 4 and [p for p in grid if p in found] == found
    assert any(parameters({"k": [1, 2], "order": [1, 2, 3]}, 4, seed) != found for seed in range(1, 5))
    assert parameters({"k": [1, 2]}, trials=10) == [{"k": 1}, {"k": 2}]


def test_ranges_are_drawn_with_the_seed():
    space = {"C": Range(0.01, 10, log=True), "epochs": Range(1, 9), "k": [1, 5]}
    found = parameters(space, trials=20, seed=3)
    assert found == parameters(space, trials=20, seed=3) != parameters(space, trials=20, seed=4)
    assert len({repr(p) for p in found}) == 20
    assert {type(p["epochs"]) for p in found} == {int}
    assert {p["k"] for p in found} == {1, 5}
    assert len(parameters(space)) == 27


def test_a_small_range_gives_no_more_than_it_holds():
    assert sorted(p["epochs"] for p in parameters({"epochs": Range(1, 3)}, trials=10)) == [1, 2, 3]


def test_learners_take_turns_and_keep_to_their_own_parameters():
    found = parameters({"learner": ["pa", "perceptron"], "C": Range(0.1, 1), "epochs": [5, 10]}, trials=10)
    assert [p["learner"] for p in found[:2]] == ["pa", "perceptron"]
    assert all(("C" in p) == (p["learner"] == "pa") for p in found)
    assert sum(p["learner"] == "perceptron" for p in found) == 2  # there are no more


def test_several_spaces():
    found = parameters([{"learner": "pa", "C": [1, 2]}, {"learner": "perceptron", "k": [1, 2]}])
    assert found == [
        *({"learner": "pa", "C": C} for C in (1, 2)),
        *({"learner": "perceptron", "k": k} for k in (1, 2)),
    ]


def test_candidates_become_taggers():
    templates = Templates(["U:%x[0,0]"])
    base = Tagger(features=Features(min_count=2), learner=MIRA(k=3), seed=5)
    space = {"learner__C": [0.5], "features": {"mine": templates}, "constrain": True}
    (candidate,) = SearchSpace(base, space).candidates(None, 0)
    assert candidate.parameters == {"C": 0.5, "features": "mine", "constrain": True}
    tagger = candidate.tagger(base)
    assert tagger.get_params(deep=False) == {
        **base.get_params(deep=False),
        "learner": MIRA(C=0.5, k=3),
        "features": templates,
        "constrain": True,
    }
    assert base.learner == MIRA(k=3)


def test_learners_as_objects():
    space = {"learner": {"short": Perceptron(epochs=1), "long": Perceptron(epochs=9)}}
    found = SearchSpace(Tagger(), {**space, "k": [1]}).candidates(None, 0)
    assert [c.parameters["learner"] for c in found] == ["short", "long"]
    assert [c.tagger(Tagger()).learner.epochs for c in found] == [1, 9]


def test_default_spaces():
    assert SearchSpace(Tagger(learner=PassiveAggressive(epochs=3)), None).parameters == ["C", "k", "epochs"]
    assert SearchSpace(Tagger(learner="perceptron"), {}).parameters == ["k", "epochs"]
    both = SearchSpace(Tagger(), {"learner": ["perceptron", "pa"]})
    assert both.parameters == ["learner", "k", "epochs", "C"]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_default_space_of_values_it_takes(name):
    assert default_space(name)
    for candidate in SearchSpace(Tagger(learner=name), None).candidates(10, 0):
        assert candidate.tagger(Tagger()).learner is not None


@dataclass(frozen=True)
class Own:
    rate: float = 1.0
    patience: int | None = None

    def rule(self):
        raise NotImplementedError


def test_a_learner_of_the_users_needs_a_space():
    with pytest.raises(ValueError, match="no default space for the learner Own, only for perceptron, pa"):
        SearchSpace(Tagger(learner=Own()), None)
    assert parameters({"rate": [1, 2]}, tagger=Tagger(learner=Own())) == [{"rate": 1}, {"rate": 2}]


@pytest.mark.parametrize(
    ("space", "error", "message"),
    [
        (
            {"c": [1]},
            ValueError,
            "the learner pa has no parameter 'c' to search; expected one of epochs.*, C, k.*order",
        ),
        ({"learner": ["pa", "mira"], "margin": [1]}, ValueError, "none of pa, mira has a parameter 'margin' to search"),
        ({"seed": [1, 2]}, ValueError, "no parameter 'seed' to search"),
        ({"learner": ["nothing"]}, ValueError, "learner='nothing' is not known; expected one of perceptron"),
        ({"learner": [PassiveAggressive], "k": [1]}, TypeError, "learner should be a learner such as"),
        ({"learner": Range(1, 2), "k": [1]}, TypeError, "learner should be a list of learners"),
        ({"patience": [1]}, ValueError, "patience watches development data"),
        ([], TypeError, "space should be a dict from parameter to values or a list of such dicts"),
        (["k"], TypeError, "space should be a dict"),
    ],
)
def test_wrong_spaces(space, error, message):
    with pytest.raises(error, match=message):
        SearchSpace(Tagger(learner="pa"), space)
