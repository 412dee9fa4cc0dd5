from __future__ import annotations

from dataclasses import dataclass

import pytest

from margent import (
    EM,
    MIRA,
    EntailmentClassifier,
    Features,
    Kernel,
    MaximumLikelihood,
    Network,
    PassiveAggressive,
    Perceptron,
    Range,
    Segmenter,
    Tagger,
    Templates,
    Transcriber,
)
from margent.learners import LEARNERS, RuleLearner
from margent.tuning import default_space
from margent.tuning.space import SearchSpace
from margent.tuning.study import planned, quiet


def candidates(space, sampler="random", trials=None, seed=0, model=None):
    """The candidates of a search whose candidates are known before it."""
    import optuna

    searched = SearchSpace(model or Tagger(learner="pa"), space)
    with quiet():
        found, n = planned(searched, sampler, trials, seed)
        assert n == len(found)
        study = optuna.create_study()
        for each in found:
            study.enqueue_trial(each)
        return [searched.suggest(study.ask()) for _ in found]


def parameters(*arguments, **options):
    return [candidate.parameters for candidate in candidates(*arguments, **options)]


@pytest.mark.parametrize("sampler", ["tpe", "random", "grid"])
def test_lists_make_a_grid(sampler):
    found = parameters({"k": [1, 2], "order": [1, 2, 3]}, sampler)
    assert found == [{"k": k, "order": order} for k in (1, 2) for order in (1, 2, 3)]


@pytest.mark.parametrize("sampler", ["random", "grid"])
def test_a_sample_of_a_grid_has_no_repetitions(sampler):
    grid = parameters({"k": [1, 2], "order": [1, 2, 3]})
    found = parameters({"k": [1, 2], "order": [1, 2, 3]}, sampler, trials=4)
    assert len(found) == 4 and len([p for p in grid if p in found]) == 4
    assert any(parameters({"k": [1, 2], "order": [1, 2, 3]}, sampler, 4, seed) != found for seed in range(1, 5))
    assert parameters({"k": [1, 2]}, sampler, trials=10) == [{"k": 1}, {"k": 2}]


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


def test_a_grid_of_a_range_is_refused():
    with pytest.raises(ValueError, match="a grid needs lists of values, and there is a range in the space"):
        parameters({"C": Range(1, 2)}, "grid")


def test_learners_keep_to_their_own_parameters():
    found = parameters({"learner": ["pa", "perceptron"], "C": Range(0.1, 1), "epochs": [5, 10]}, trials=10)
    assert {p["learner"] for p in found} == {"pa", "perceptron"}
    assert all(("C" in p) == (p["learner"] == "pa") for p in found)
    assert sum(p["learner"] == "perceptron" for p in found) == 2  # there are no more


def test_several_spaces():
    spaces = [{"learner": "pa", "C": [1, 2]}, {"learner": "perceptron", "k": [1, 2]}]
    expected = [
        *({"learner": "pa", "C": C} for C in (1, 2)),
        *({"learner": "perceptron", "k": k} for k in (1, 2)),
    ]
    assert parameters(spaces) == expected
    # The same parameter with other values, and the same learner twice.
    spaces = [{"C": [1, 2], "k": [1]}, {"C": [3], "k": [2, 5]}]
    assert parameters(spaces) == [{"C": C, "k": 1} for C in (1, 2)] + [{"C": 3, "k": k} for k in (2, 5)]


def test_candidates_become_models():
    templates = Templates(["U:%x[0,0]"])
    base = Tagger(Features(min_count=2), MIRA(k=3), seed=5)
    space = {"learner__C": [0.5], "features": {"mine": templates}, "constrain": True}
    (candidate,) = candidates(space, model=base)
    assert candidate.parameters == {"C": 0.5, "features": "mine", "constrain": True}
    tagger = candidate.model(base)
    assert tagger.get_params(deep=False) == {
        **base.get_params(deep=False),
        "learner": MIRA(C=0.5, k=3),
        "features": templates,
        "constrain": True,
    }
    assert base.learner == MIRA(k=3)


def test_parameters_of_every_part_of_a_model():
    tagger = Tagger(Kernel("rbf", window=5), "hmsvm")
    (candidate,) = candidates({"gamma": [0.5], "features__coef0": [2.0], "C": [3.0]}, model=tagger)
    assert candidate.parameters == {"gamma": 0.5, "features__coef0": 2.0, "C": 3.0}
    found = candidate.model(tagger)
    assert found.features == Kernel("rbf", window=5, gamma=0.5, coef0=2.0) and found.learner.C == 3.0

    transcriber = Transcriber(em=EM(order=3), learner=MIRA())
    (candidate,) = candidates({"iterations": [1], "candidates": [4], "C": [0.1]}, model=transcriber)
    found = candidate.model(transcriber)
    assert (found.em, found.candidates, found.learner) == (EM(order=3, iterations=1), 4, MIRA(C=0.1))

    segmenter = Segmenter(learner=MaximumLikelihood())
    (candidate,) = candidates({"shrinkage": [0.5], "repeat": [False]}, model=segmenter)
    found = candidate.model(segmenter)
    assert found.learner == MaximumLikelihood(shrinkage=0.5) and found.repeat is False


def test_learners_as_objects():
    space = {"learner": {"short": Perceptron(epochs=1), "long": Perceptron(epochs=9)}}
    found = candidates({**space, "k": [1]})
    assert [c.parameters["learner"] for c in found] == ["short", "long"]
    assert [c.model(Tagger()).learner.epochs for c in found] == [1, 9]


def test_default_spaces():
    assert SearchSpace(Tagger(learner=PassiveAggressive(epochs=3)), None).parameters == ["C", "k", "epochs"]
    assert SearchSpace(Tagger(), None).parameters == ["C", "k", "epochs"]
    assert SearchSpace(Tagger(learner="perceptron"), {}).parameters == ["k", "epochs"]
    both = SearchSpace(Tagger(), {"learner": ["perceptron", "pa"]})
    assert both.parameters == ["learner", "k", "epochs", "C"]
    assert SearchSpace(Transcriber(), None).parameters == ["order"]
    assert SearchSpace(Transcriber(learner="mira"), None).parameters == ["C", "k", "epochs"]
    assert SearchSpace(Segmenter(learner=MaximumLikelihood()), None).parameters == ["shrinkage"]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_has_a_default_space_of_values_it_takes(name):
    assert default_space(name)
    if name == "adam":
        pytest.importorskip("torch", reason="Adam learns networks, which need torch")
    model = Tagger(learner=name) if name != "adam" else EntailmentClassifier(learner=name, network=Network())
    for candidate in candidates(None, trials=10, model=model):
        assert candidate.model(model).learner is not None


@dataclass(frozen=True)
class Own(RuleLearner):
    rate: float = 1.0

    def rule(self):
        raise NotImplementedError


def test_a_learner_of_the_users_needs_a_space():
    with pytest.raises(ValueError, match="no default space for the learner Own, only for perceptron, pa"):
        SearchSpace(Tagger(learner=Own()), None)
    assert parameters({"rate": [1, 2]}, model=Tagger(learner=Own())) == [{"rate": 1}, {"rate": 2}]


@pytest.mark.parametrize(
    ("space", "error", "message"),
    [
        (
            {"c": [1]},
            ValueError,
            "a Tagger with the learner pa has no parameter 'c' to search; expected one of epochs.*, C, k.*order",
        ),
        (
            {"learner": ["pa", "mira"], "margin": [1]},
            ValueError,
            "with any of the learners pa, mira has no parameter 'margin' to search",
        ),
        ({"seed": [1, 2]}, ValueError, "no parameter 'seed' to search"),
        ({"learner": ["nothing"]}, ValueError, "learner='nothing' is not known; expected one of perceptron"),
        ({"learner": [PassiveAggressive], "k": [1]}, TypeError, "learner should be a learner such as"),
        ({"learner": Range(1, 2), "k": [1]}, TypeError, "learner should be a list of learners"),
        ({"learner": ["pa", "pa"]}, ValueError, "learner should have different values to try, got pa 2 times"),
        ({"patience": [1]}, ValueError, "patience watches development data"),
        ({"learner__patience": [1]}, ValueError, "patience watches development data"),
        ([], TypeError, "space should be a dict from parameter to values or a list of such dicts"),
        (["k"], TypeError, "space should be a dict"),
        ({"k": []}, ValueError, "k should have at least one value to try"),
        ({"k": [1, 1]}, ValueError, "k should have different values to try, got 1 2 times"),
        # What the learner or the model refuses
        (
            {"C": [1, -1]},
            ValueError,
            "C cannot be -1 in this search: C of PassiveAggressive should be a number above 0",
        ),
        ({"C": Range(-1, 1)}, ValueError, "C cannot be -1.0 in this search: C of PassiveAggressive should be"),
        ({"k": Range(0, 3)}, ValueError, "k cannot be 0 in this search: k of PassiveAggressive should be"),
        ({"order": [1, 0]}, ValueError, "order cannot be 0 in this search: order of Tagger should be"),
        (
            {"features": ["ner", "nix"]},
            ValueError,
            "features cannot be nix in this search: features='nix' is not known",
        ),
        ({"average": ["maybe"]}, ValueError, "average cannot be maybe in this search: average of PassiveAggressive"),
    ],
)
def test_wrong_spaces(space, error, message):
    with pytest.raises(error, match=message):
        SearchSpace(Tagger(learner="pa"), space)


@dataclass(frozen=True)
class Part:
    size: int = 1


class TwoParts(Tagger):
    def __init__(self, features=None, learner=None, first=None, second=None):
        super().__init__(features, learner)
        self.first, self.second = first, second


def test_a_name_that_two_parts_have_needs_its_path():
    model = TwoParts(first=Part(), second=Part())
    with pytest.raises(ValueError, match="no parameter 'size' to search"):
        SearchSpace(model, {"size": [1]})
    assert SearchSpace(model, {"second__size": [1, 2]}).branches[0].paths == {"second__size": "second__size"}
    assert SearchSpace(TwoParts(first=Part()), {"size": Range(1, 2)}).branches[0].values["size"].integer
