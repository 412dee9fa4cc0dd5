"""Learning with beam search: which part of an answer is learned from when the search goes wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from margent.answer import Answer, Rival
from margent.errors import CorpusError
from margent.parameters import check_count
from margent.structures.transitions import (
    Action,
    Expand,
    Feature,
    Features,
    Found,
    Item,
    Layers,
    State,
    TransitionSystem,
    beam_layers,
    check_beam,
    found,
)

Doubles = npt.NDArray[np.float64]

UPDATES = ("max-violation", "early", "standard", "skip")


class BeamOracle:
    """A transition system with training data, for `margent.train`.

    A perceptron that moves towards the right answer and away from the one that the beam found may move for ever: the
    right one may score more, and only have fallen out of the beam (paper 003, Fig. 3.1). `update` chooses what is
    learned from when the answer is wrong:

        max-violation   both answers up to the step at which the best in the beam is furthest ahead of the right one
        early           both up to the step at which the right one falls out of the beam
        skip            the whole answers, and only where the wrong one scores no less
        standard        the whole answers, as if the search were exact

    With the first three every update is about a wrong answer that scores no less than the right one, which is what
    makes the perceptron converge (Huang, Fayong and Guo 2012): with `skip` where whole answers can be separated, with
    the others where all prefixes of the same length can, as they learn from these. Learners with a margin
    want max-violation: costs push the right answer out of the beam as long as one of its first steps lacks its margin,
    so that early updates hardly ever see the later ones.

    Parameters
    ----------
    system : a `TransitionSystem` with `gold_actions` or `correct`
    X, y : inputs and right answers
    beam : how many states go on at each step; None: all
    update : see above
    sample_weight : (n_examples,) what each example counts
    max_steps : more actions than that are an error

    Features are numbered when they are first seen; `n_features` grows in training. `weights` of `margent.train` go into
    `predict`. A `CRF` learns the probabilities of answers among those in the last beam and the right one.
    """

    structure = "transitions"

    def __init__(
        self,
        system: TransitionSystem,
        X: Iterable[Any],
        y: Iterable[Any],
        *,
        beam: int | None = 8,
        update: Literal["max-violation", "early", "standard", "skip"] = "max-violation",
        sample_weight: Sequence[float] | None = None,
        max_steps: int = 10_000,
    ) -> None:
        check_beam(beam)
        if update not in UPDATES:
            raise ValueError(f"update should be one of {', '.join(UPDATES)}, got {update!r}")
        self.system, self.beam, self.update, self.max_steps = system, beam, update, max_steps
        self._X, self._y = list(X), list(y)
        if len(self._X) != len(self._y):
            raise CorpusError(f"there are {len(self._X)} inputs and {len(self._y)} answers; expected as many")
        self._weights = [1.0] * len(self._X) if sample_weight is None else [float(w) for w in sample_weight]
        if len(self._weights) != len(self._X):
            raise CorpusError(f"there are {len(self._X)} inputs and {len(self._weights)} sample_weights")
        if not (hasattr(system, "gold_actions") or hasattr(system, "correct")):
            raise TypeError(
                f"{type(system).__name__} has neither gold_actions(x, y) nor correct(state, y); to learn, a transition "
                "system needs one of them"
            )
        self.features: dict[Any, int] = {}
        """The number of each feature seen."""
        for example in range(len(self)):
            self._layers(example, np.zeros(0), 0.0)  # to know the features of the first searches

    def __len__(self) -> int:
        return len(self._X)

    @property
    def n_features(self) -> int:
        return len(self.features)

    def with_beam(self, beam: int) -> BeamOracle:
        """The same with another width."""
        other = object.__new__(BeamOracle)
        other.__dict__.update(self.__dict__)
        other.beam = beam
        check_beam(beam)
        return other

    # Learning

    def answer(self, example: int, weights: Doubles, k: int, cost: float) -> Answer:
        layers, gold = self._layers(example, weights, cost)
        weight = self._weights[example]
        chosen = self._chosen(layers, gold)
        if chosen is None:
            return Answer({}, [], n_positions=0, weight=weight)
        rivals, right = layers[chosen], _at(gold, chosen)[0]
        return Answer(
            _vector(right),
            [Rival(_vector(item), loss=item.cost, errors=_errors(item, right)) for item in rivals[:k]],
            n_positions=max(1, _at(gold, len(gold))[0].length),
            weight=weight,
        )

    def log_loss(self, example: int, weights: Doubles) -> tuple[float, dict[int, float]]:
        """Among the answers in the last beam, without recombination, and the right ones (paper 003, Section 3.2.2)."""
        layers, gold = self._layers(example, weights, 0.0, recombine=False)
        try:
            right = {tuple(item.actions()): item for item in [*gold[-1], *layers[-1]] if item.right}
        except TypeError:
            raise TypeError(
                f"a CRF has to tell actions apart: expected actions of {type(self.system).__name__} that can be "
                f"hashed, such as strings or tuples, got {gold[-1][0].actions()[0]!r}"
            ) from None
        candidates = [*right.values(), *(item for item in layers[-1] if not item.right)]
        scores = np.array([item.score for item in candidates])
        log_p = scores - _log_sum(scores)
        log_right = log_p[: len(right)] - _log_sum(log_p[: len(right)])
        shares = np.exp(log_p)
        shares[: len(right)] -= np.exp(log_right)
        gradient: dict[int, float] = {}
        for item, share in zip(candidates, (self._weights[example] * shares).tolist()):
            for feature, value in _vector(item).items():
                if feature < len(weights):
                    gradient[feature] = gradient.get(feature, 0.0) + share * value
        return -self._weights[example] * _log_sum(log_p[: len(right)]), gradient

    def _chosen(self, layers: Layers, gold: Layers) -> int | None:
        """The step to learn from: the last where all is right."""
        last = max(len(layers), len(gold)) - 1
        if layers[-1] and (layers[-1][0].right or self.update == "standard"):
            return len(layers) - 1
        best: int | None = None
        violation, lost = 0.0, False
        for step in range(1, last + 1):
            items, right = _at(layers, step), _at(gold, step)[0]
            if not items:
                break
            lost = lost or not self._holds(items, right)
            ahead = items[0].score - right.score
            if items[0].right or not ahead >= 0:
                continue
            if self.update == "skip":
                best = step if step == last else None
            elif self.update == "early" and (lost or step == last):
                return min(step, len(layers) - 1)
            elif self.update == "max-violation" and ahead >= violation:
                best, violation = step, ahead
        return best if best is None else min(best, len(layers) - 1)

    def _holds(self, items: list[Item], gold: Item) -> bool:
        signature = getattr(self.system, "signature", None)
        if any(item.right for item in items):
            return True
        return signature is not None and signature(gold.state) in {signature(item.state) for item in items}

    def _layers(self, example: int, weights: Doubles, cost: float, *, recombine: bool = True) -> tuple[Layers, Layers]:
        """What the beam holds after each step, and what is right there."""
        system, x, y = self.system, self._X[example], self._y[example]
        actions = list(system.gold_actions(x, y)) if hasattr(system, "gold_actions") else None
        own_cost = getattr(system, "cost", None)

        def follow(item: Item, action: Action, *, only_right: bool) -> Item | None:
            state = system.step(item.state, action)
            if actions is not None:
                same = item.length < len(actions) and action == actions[item.length]
                right = item.right and same
            else:
                right = item.right and bool(system.correct(state, y))  # type: ignore[attr-defined]
                same = right or not item.right
            if only_right and not right:
                return None
            paid = float(own_cost(item.state, action, y)) if own_cost is not None else float(not same)
            seen = self._numbered(item.state, action)
            score = item.score + sum(weights[f] * v for f, v in seen if f < len(weights)) + cost * paid
            return Item(score, state, item, action, seen, item.cost + paid, right, item.length + 1)

        def layers(only_right: bool) -> Layers:
            expand: Expand = lambda item, action: follow(item, action, only_right=only_right)  # noqa: E731
            return beam_layers(system, x, self.beam, expand, recombine=recombine, max_steps=self.max_steps)

        gold = layers(True)
        if not gold[-1] or (actions is not None and gold[-1][0].length != len(actions)):
            raise CorpusError(
                f"example {example}: the right actions lead nowhere; expected each of them to be among `actions` of "
                "its state, and the last to reach a final one"
            )
        return layers(False), gold

    def _numbered(self, state: State, action: Action) -> list[tuple[int, float]]:
        seen = _pairs(self.system.features(state, action))
        try:
            return [(self.features.setdefault(feature, len(self.features)), float(value)) for feature, value in seen]
        except TypeError as error:
            raise TypeError(
                f"features of {type(self.system).__name__} should be hashable names, such as strings or tuples: {error}"
            ) from None

    # Prediction

    def predict(self, x: Any, weights: Doubles, k: int = 1) -> list[Found]:
        """The k best answers in the last beam for an input, best first."""
        check_count("k", k, 1)
        known = {feature: weights[i] for feature, i in self.features.items() if i < len(weights)}

        def expand(item: Item, action: Action) -> Item:
            gained = sum(known.get(f, 0.0) * v for f, v in _pairs(self.system.features(item.state, action)))
            state = self.system.step(item.state, action)
            return Item(item.score + gained, state, item, action, length=item.length + 1)

        last = beam_layers(self.system, x, self.beam, expand, max_steps=self.max_steps)[-1]
        return [found(self.system, item) for item in last[:k]]


def _pairs(features: Features) -> Iterable[tuple[Feature, float]]:
    return features.items() if isinstance(features, Mapping) else ((feature, 1.0) for feature in features)


def _at(layers: Layers, step: int) -> list[Item]:
    """What is there after so many steps; final states stay."""
    return layers[min(step, len(layers) - 1)]


def _vector(item: Item) -> dict[int, float]:
    total: dict[int, float] = {}
    for passed in item.way():
        for feature, value in passed.features:
            total[feature] = total.get(feature, 0.0) + value
    return total


def _errors(item: Item, gold: Item) -> int:
    """Actions that are not the right ones of their step; 1 at least, if anything is wrong."""
    if item.right:
        return 0
    ours, theirs = item.actions(), gold.actions()
    return max(1, sum(bool(a != b) for a, b in zip(ours, theirs)) + abs(len(ours) - len(theirs)))


def _log_sum(values: Doubles) -> float:
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))
