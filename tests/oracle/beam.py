"""Plain twin of beam search through transition systems, and of what is learned from where it goes wrong.

A system is an object with start, actions, step, features and, if it likes, signature, final, gold_actions, correct and
cost, as docs/beam-search.md has it. A weight vector is a dict from features to numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple


class Item(NamedTuple):
    score: float  # with costs
    state: Any
    parent: Item | None = None
    action: Any = None
    features: Any = ()
    cost: float = 0.0
    right: bool = True

    def path(self) -> list[Item]:
        return [] if self.parent is None else [*self.parent.path(), self]

    def actions(self) -> list[Any]:
        return [item.action for item in self.path()]

    def vector(self) -> Counter[Any]:
        total: Counter[Any] = Counter()
        for item in self.path():
            for feature, value in item.features:
                total[feature] += value
        return total


Layers = list[list[Item]]


def pairs(features: Any) -> list[tuple[Any, float]]:
    return list(features.items()) if isinstance(features, Mapping) else [(feature, 1.0) for feature in features]


def layers_of(
    system: Any, x: Any, beam: int | None, expand: Callable[[Item, Any], Item | None], recombine: bool = True
) -> Layers:
    """The states that survive after 0, 1, 2, ... actions, best first, until all are ends; the last are the ends."""
    layers = [[Item(0.0, system.start(x))]]
    while True:
        reached: list[Item] = []
        moved = False
        for item in layers[-1]:
            actions = list(system.actions(item.state))
            if not actions and getattr(system, "final", lambda state: True)(item.state):
                reached.append(item)
            for action in actions:
                found = expand(item, action)
                if found is not None:
                    moved = True
                    reached.append(found)
        if not moved and len(reached) == len(layers[-1]):
            return layers
        reached.sort(key=lambda item: -item.score)
        if recombine and hasattr(system, "signature"):
            first: dict[Any, Item] = {}
            for item in reached:
                first.setdefault(system.signature(item.state), item)
            reached = list(first.values())
        layers.append(reached if beam is None else reached[:beam])


def search(system: Any, x: Any, weights: Mapping[Any, float], beam: int | None, recombine: bool = True) -> list[Item]:
    def expand(item: Item, action: Any) -> Item:
        seen = pairs(system.features(item.state, action))
        gained = sum(weights.get(feature, 0.0) * value for feature, value in seen)
        return Item(item.score + gained, system.step(item.state, action), item, action, seen)

    return layers_of(system, x, beam, expand, recombine)[-1]


def all_answers(system: Any, x: Any, weights: Mapping[Any, float]) -> Iterator[Item]:
    """Every answer, by recursion."""

    def rest(item: Item) -> Iterator[Item]:
        actions = list(system.actions(item.state))
        if not actions and getattr(system, "final", lambda state: True)(item.state):
            yield item
        for action in actions:
            seen = pairs(system.features(item.state, action))
            gained = sum(weights.get(feature, 0.0) * value for feature, value in seen)
            yield from rest(Item(item.score + gained, system.step(item.state, action), item, action, seen))

    return rest(Item(0.0, system.start(x)))


def both_sides(
    system: Any, x: Any, y: Any, weights: Mapping[Any, float], beam: int | None, cost: float, recombine: bool = True
) -> tuple[Layers, Layers]:
    """What the beam holds after each step, and what is right there."""
    gold = list(system.gold_actions(x, y)) if hasattr(system, "gold_actions") else None

    def follow(item: Item, action: Any, only_right: bool) -> Item | None:
        state = system.step(item.state, action)
        if gold is not None:
            at = len(item.path())
            same = at < len(gold) and action == gold[at]
            right = item.right and same
        else:
            right = item.right and system.correct(state, y)
            same = right or not item.right
        if only_right and not right:
            return None
        paid = system.cost(item.state, action, y) if hasattr(system, "cost") else float(not same)
        seen = pairs(system.features(item.state, action))
        gained = sum(weights.get(feature, 0.0) * value for feature, value in seen)
        return Item(item.score + gained + cost * paid, state, item, action, seen, item.cost + paid, right)

    free = layers_of(system, x, beam, lambda item, action: follow(item, action, False), recombine)
    forced = layers_of(system, x, beam, lambda item, action: follow(item, action, True), recombine)
    return free, forced


def chosen_step(system: Any, free: Layers, gold: Layers, update: str) -> int | None:
    """The step to learn from: the last where the best whole answer is right; None: nothing is learned."""
    last = max(len(free), len(gold)) - 1
    if free[-1] and (free[-1][0].right or update == "standard"):
        return last
    violations: list[tuple[float, int]] = []
    lost = False
    for step in range(1, last + 1):
        items, right = at_step(free, step), at_step(gold, step)[0]
        if not items:
            break
        if not any(item.right for item in items):
            signature = getattr(system, "signature", lambda state: object())
            lost = lost or signature(right.state) not in {signature(item.state) for item in items}
        ahead = items[0].score - right.score
        if items[0].right or ahead < 0:
            continue
        if update == "skip" and step == last:
            return step
        if update == "early" and (lost or step == last):
            return step
        violations.append((ahead, step))
    return max(violations)[1] if update == "max-violation" and violations else None


def at_step(layers: Layers, step: int) -> list[Item]:
    return layers[min(step, len(layers) - 1)]


def answer(
    system: Any, x: Any, y: Any, weights: Mapping[Any, float], beam: int | None, update: str, k: int, cost: float
) -> tuple[float, list[tuple[float, float, int, dict[Any, float]]]]:
    """(gold score, [(score, loss, errors, F(gold) - F(rival))]) without costs; (0, []) where nothing is learned."""
    free, gold = both_sides(system, x, y, weights, beam, cost)
    step = chosen_step(system, free, gold, update)
    if step is None:
        return 0.0, []
    right = at_step(gold, step)[0]
    rivals = []
    for item in at_step(free, step)[:k]:
        delta = right.vector()
        delta.subtract(item.vector())
        ours, theirs = item.actions(), right.actions()
        wrong = sum(a != b for a, b in zip(ours, theirs)) + abs(len(ours) - len(theirs))
        errors = 0 if item.right else max(1, wrong)
        rivals.append((item.score - cost * item.cost, item.cost, errors, {f: v for f, v in delta.items() if v}))
    return right.score - cost * right.cost, rivals


def negative_log_likelihood(system: Any, x: Any, y: Any, weights: Mapping[Any, float], beam: int | None) -> float:
    """-log of the share of right ways among those in the last beam and the right ones."""
    free, gold = both_sides(system, x, y, weights, beam, 0.0, recombine=False)
    right = {tuple(item.actions()): item.score for item in [*gold[-1], *free[-1]] if item.right}
    wrong = [item.score for item in free[-1] if not item.right]
    top = max([*right.values(), *wrong])
    share = sum(math.exp(score - top) for score in right.values())
    return math.log(share + sum(math.exp(score - top) for score in wrong)) - math.log(share)
