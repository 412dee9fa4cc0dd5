"""Incremental systems: answers that are built action by action, and beam search through them.

A system says where it starts, which actions it may take in a state, where they lead and what features they have. Beam
search goes on with the best few states at each step, so it needs neither a limit on what features may look at nor a
table of all states: a tagger that sees all earlier labels, a shift-reduce parser or a segmenter of any memory is a
dozen lines. What it finds is not always the best answer; `margent.structures.BeamOracle` learns with that in mind.

Search, learning and weights are native (`core/transitions`): only the methods of the system are Python.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from margent import _core
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

    `features` is called for each action that could be taken, `step` and `signature` only for those that are (`step`
    also to ask `correct` about a state, where mistakes cost something).
    """

    def start(self, x: Any) -> State:
        """The state before the first action, for an input."""

    def actions(self, state: State) -> Sequence[Action]:
        """What can be done in a state; nothing at the end."""

    def step(self, state: State, action: Action) -> State:
        """The state that an action leads to."""

    def features(self, state: State, action: Action) -> Features:
        """What is seen when an action is taken in a state: hashable things, or a dict from them to numbers."""


class BeamAnswer(NamedTuple):
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
) -> list[BeamAnswer]:
    """The k best answers that a beam search finds for an input, best first; fewer where fewer survive.

    score : what an action in a state scores, -inf if it is impossible; an answer scores the sum of its actions
    beam : how many states go on at each step: 1 is greedy, None all of them, which is exact
    recombine : of states with equal signatures only the best goes on

    Final states stay in the beam, as they are, until all are. Ties go to the state reached from the better one, then to
    the action named first. Where all ways end in dead ends, the list is empty. O(steps * beam * actions) calls of
    `score`, O(steps * beam) of `step`.

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
    found = _core.beam_search(system, x, score, beam or 0, k, recombine, max_steps)
    return outputs(system, found)


def outputs(system: TransitionSystem, found: list[tuple[float, State, list[Action]]]) -> list[BeamAnswer]:
    """Answers as the native search gives them, with what their final states stand for."""
    output = getattr(system, "output", None)
    return [BeamAnswer(score, actions if output is None else output(state), actions) for score, state, actions in found]


def check_beam(beam: int | None) -> None:
    if beam is not None and (isinstance(beam, bool) or not isinstance(beam, int) or beam < 1):
        raise ValueError(f"beam should be an integer of at least 1, or None for all states, got {beam!r}")
