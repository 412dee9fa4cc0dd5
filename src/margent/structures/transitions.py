"""Incremental systems: answers that are built action by action, and beam search through them.

A system says where it starts, which actions it may take in a state, where they lead and what features they have. The
beam search below goes on with the best few states at each step, so it needs neither a limit on what features may look
at nor a table of all states: a tagger that sees all earlier labels, a shift-reduce parser or a segmenter of any memory
is a dozen lines. What it finds is not always the best answer; `margent.structures.BeamOracle` learns with that in mind.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, Protocol

from margent.parameters import check_count

State = Any
Action = Any
Feature = Hashable
Features = Iterable[Feature] | Mapping[Feature, float]


class TransitionSystem(Protocol):
    """What a system must have. States are values of your own, which `step` must not change.

    Three more methods may be there:

    `signature(state) -> Hashable`: states with equal signatures have the same future - the same actions, features and
    ends - so that only the better of them goes on; with none, all go on.

    `final(state) -> bool`: whether a state without actions is an end, and not a dead end; with none, all are.

    `output(state)`: the answer that a final state stands for; with none, the list of actions that led there.

    To learn, it needs one of

    `gold_actions(x, y) -> list`: the actions that lead from the start to the right answer y.

    `correct(state, y) -> bool`: whether y can still be reached from a state: where several ways lead to y and nobody
    knows which one is right. The best of them is then taken for right.

    and may have

    `cost(state, action, y) -> float`: what it costs to take an action in a state; with none, 1 for an action that is
    not the right one of its step (`gold_actions`), or after which y is out of reach (`correct`).
    """

    def start(self, x: Any) -> State:
        """The state before the first action, for an input."""

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state; nothing at the end."""

    def step(self, state: State, action: Action) -> State:
        """The state that an action leads to."""

    def features(self, state: State, action: Action) -> Features:
        """What is seen when an action is taken in a state: hashable things, or a dict from them to numbers."""


class Item(NamedTuple):
    """A state in the beam: how it was reached, and what that scores.

    `score`: with costs, where the search adds them; `cost`: the costs alone. `right`: so far.
    """

    score: float
    state: State
    parent: Item | None = None
    action: Action = None
    features: Any = ()
    cost: float = 0.0
    right: bool = True
    length: int = 0

    def way(self) -> list[Item]:
        """The items from the first action to this one."""
        items: list[Item] = []
        item: Item = self
        while item.parent is not None:
            items.append(item)
            item = item.parent
        return items[::-1]

    def actions(self) -> list[Action]:
        return [item.action for item in self.way()]


Layers = list[list[Item]]

Expand = Callable[[Item, Action], "Item | None"]
"""From a state in the beam and an action to the item that follows; None: not this way."""


def beam_layers(
    system: TransitionSystem, x: Any, beam: int | None, expand: Expand, *, recombine: bool = True, max_steps: int
) -> Layers:
    """The states that survive after 0, 1, 2, ... actions, best first, up to the step at which all are final.

    beam : how many go on at each step; None: all
    recombine : of states with equal signatures only the best goes on

    Final states stay in the beam, as they are, until all are. Ties go to the state reached from the better one, then to
    the action named first. O(steps * beam * actions) calls of `expand`.
    """
    layers = [[Item(0.0, system.start(x))]]
    signature = getattr(system, "signature", None) if recombine else None
    is_final = getattr(system, "final", None)
    for steps in count():
        reached: list[Item] = []
        final = True
        for item in layers[-1]:
            actions = system.actions(item.state)
            if len(actions) == 0:
                if is_final is None or is_final(item.state):
                    reached.append(item)
                continue
            final = False
            reached.extend(found for action in actions if (found := expand(item, action)) is not None)
        if final:
            return [*layers[:-1], reached]
        if steps == max_steps:
            raise ValueError(
                f"a state of {type(system).__name__} is not final after max_steps={max_steps} actions; expected "
                "`actions` to be empty in the end"
            )
        reached.sort(key=lambda item: -item.score)
        if signature is not None:
            reached = _distinct(reached, signature)
        layers.append(reached if beam is None else reached[:beam])
    raise AssertionError("not reached")


def _distinct(items: list[Item], signature: Callable[[State], Hashable]) -> list[Item]:
    seen: set[Hashable] = set()
    kept = []
    for item in items:
        key = signature(item.state)
        if key not in seen:
            seen.add(key)
            kept.append(item)
    return kept


class Found(NamedTuple):
    """An answer of `beam_search`: its score, what the final state stands for, and the actions that led to it."""

    score: float
    output: Any
    actions: list[Action]


def beam_search(
    system: TransitionSystem,
    x: Any,
    score: Callable[[State, Action], float],
    *,
    beam: int | None = 8,
    k: int = 1,
    recombine: bool = True,
    max_steps: int = 10_000,
) -> list[Found]:
    """The k best answers that a beam search finds for an input, best first; fewer where fewer survive.

    score : what an action in a state scores; the score of an answer is the sum of those of its actions
    beam : how many states go on at each step: 1 is greedy, None all of them, which is exact

    Where all ways end in dead ends, the list is empty.

    >>> class Binary:                       # three bits, and a score that looks at all of them
    ...     def start(self, x): return ""
    ...     def actions(self, state): return "01" if len(state) < 3 else ""
    ...     def step(self, state, action): return state + action
    ...     def features(self, state, action): return [action]
    >>> odd = lambda state, action: float((state + action).count("1") % 2)
    >>> [found.output for found in beam_search(Binary(), None, odd, k=2)]
    [['1', '0', '0'], ['1', '0', '1']]
    """
    check_beam(beam)
    check_count("k", k, 1)

    def expand(item: Item, action: Action) -> Item:
        gained = float(score(item.state, action))
        if math.isnan(gained):
            raise ValueError(f"the score of the action {action!r} after {item.length} others is no number")
        return Item(item.score + gained, system.step(item.state, action), item, action, length=item.length + 1)

    last = beam_layers(system, x, beam, expand, recombine=recombine, max_steps=max_steps)[-1]
    return [found(system, item) for item in last[:k]]


def found(system: TransitionSystem, item: Item) -> Found:
    actions = item.actions()
    output = getattr(system, "output", None)
    return Found(item.score, actions if output is None else output(item.state), actions)


def check_beam(beam: int | None) -> None:
    if beam is not None and (isinstance(beam, bool) or not isinstance(beam, int) or beam < 1):
        raise ValueError(f"beam should be a whole number of at least 1, or None for all states, got {beam!r}")
