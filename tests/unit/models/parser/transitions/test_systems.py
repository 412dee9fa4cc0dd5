"""Transition systems: their transitions, oracles and searches against plain twins."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.models.parser.transitions.parsing_problem import (
    PROJECTIVE,
    SYSTEMS,
    Scores,
    bank,
    named,
    parse,
    random_data,
)

from margent import _core
from margent.annotation.dependency_tree import DependencyTree
from margent.datasets.dependencies import load_ud_dependencies
from margent.features.token_atoms import EncodedTokens
from margent.models.parser.data import ParserData
from margent.models.parser.transitions.actions import TRANSITIONS, Actions, native_system
from oracle import transition_parsing as twin
from oracle.dependency_trees import trees


def of_trees(heads: list[tuple[int, ...]], labels: list[int] | None = None) -> ParserData:
    lengths = [len(each) for each in heads]
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(ptr[-1])
    tokens = EncodedTokens(np.zeros((n, 1), np.int32), ptr)
    given = np.zeros(n, np.int32) if labels is None else np.array(labels, np.int32)
    return ParserData(tokens, np.array([head for each in heads for head in each], np.int32), given)


def ways(system: str, data: ParserData, actions: Actions, *, lazy: bool = False) -> list[list[twin.Action]]:
    """The right actions of each sentence, by name."""
    found = _core.right_actions(native_system(system), bank(data), actions.native, lazy)
    return [[named(actions)[action] for action in way] for way in found]


def replayed(system: str, n_words: int, way: list[twin.Action]) -> twin.State:
    state = twin.start(n_words)
    for action in way:
        after = twin.step(system, state, *action)
        assert after is not None, f"{action} is not allowed in {state}"
        state = after
    return state


@pytest.mark.parametrize("system", SYSTEMS)
def test_right_actions_lead_to_every_tree(system: str) -> None:
    every = [heads for n in range(1, 6) for heads in trees(n, system != "swap", True)]
    labels = [label % 3 for label in range(sum(map(len, every)))]
    data = of_trees(every, labels)
    at = 0
    for lazy in (False, True):
        at = 0
        for heads, way in zip(every, ways(system, data, Actions.seen_in(data, system), lazy=lazy)):
            state = replayed(system, len(heads), way)
            assert state.final
            assert twin.tree_of(state) == (heads, tuple(labels[at : at + len(heads)]))
            at += len(heads)


@pytest.mark.parametrize("system", PROJECTIVE)
def test_crossing_arcs_have_no_way(system: str) -> None:
    data = of_trees([(3, 4, 0, 3)])
    assert ways(system, data, Actions.seen_in(data, system)) == [[]]


@pytest.mark.parametrize("lazy", [False, True])
def test_swaps_are_those_of_the_static_oracle(lazy: bool) -> None:
    every = [heads for n in range(1, 6) for heads in trees(n, False, True)]
    data = of_trees(every)
    for heads, way in zip(every, ways("swap", data, Actions.seen_in(data, "swap"), lazy=lazy)):
        assert [transition for transition, _ in way] == twin.swap_way(heads, lazy)


def test_a_lazy_oracle_swaps_less() -> None:
    heads = (0, 1, 2, 7, 4, 4, 2, 2)  # the third and later words are split by others
    data = of_trees([tuple(random) for random in [heads]])
    counts = [
        sum(transition == "swap" for transition, _ in ways("swap", data, Actions.seen_in(data, "swap"), lazy=lazy)[0])
        for lazy in (False, True)
    ]
    assert counts[1] <= counts[0]


def test_the_example_of_the_thesis() -> None:
    """Paper 003, Table 2.1: "The cat sat on the mat", both derivations. Step 6b there drops "on" from the stack: the
    arc sat -> on is made from a stack that ends with both."""
    heads = (2, 3, 0, 3, 6, 3)
    a = ["shift", "shift", "left", "shift", "left", "shift", "right", "shift", "shift", "left", "right", "finish"]
    b = ["shift", "shift", "left", "shift", "shift", "right", "shift", "shift", "left", "right", "left", "finish"]
    data = of_trees([heads])
    actions = Actions.seen_in(data, "arc-standard")
    assert [transition for transition, _ in ways("arc-standard", data, actions)[0]] == a
    for way in (a, b):
        state = replayed("arc-standard", 6, [(t, -1 if t == "shift" else 0) for t in way])
        assert state.final and twin.tree_of(state)[0] == heads
    stacks = []
    state = twin.start(6)
    for transition in b:
        after = twin.step("arc-standard", state, transition, 0)
        assert after is not None
        state = after
        stacks.append(state.stack)
    assert stacks[4:6] == [(2, 3, 4), (2, 3)]  # before and after step 6b
    # Both are right in the eyes of the forced search: a beam that may choose takes the one that scores more.
    numbers = [TRANSITIONS.index(t) for t in ("shift", "left", "right", "finish")]
    legal = _core.dynamic_costs(native_system("arc-standard"), bank(data), actions.native, [0, 0])
    assert [actions.transitions[action] for action, _ in legal] == [numbers[0], numbers[1], numbers[2]]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SYSTEMS), st.integers(1, 6))
def test_what_is_legal_is_what_the_twin_allows(seed: int, system: str, n: int) -> None:
    """Along a random way."""
    random = np.random.default_rng(seed)
    data = random_data(seed, [n], projective=system != "swap")
    actions = Actions.seen_in(data, system)
    state, taken = twin.start(n), list[int]()
    while not state.final:
        after = [twin.step(system, state, *action) for action in named(actions)]
        allowed = [number for number, each in enumerate(after) if each is not None]
        found = _core.dynamic_costs(native_system(system), bank(data), actions.native, taken)
        assert [action for action, _ in found] == allowed
        taken.append(int(random.choice(allowed)))
        chosen = after[taken[-1]]
        assert chosen is not None
        state = chosen
    assert [head for head, *_ in state.arcs].count(0) == 1


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["arc-hybrid", "arc-eager"]), st.integers(1, 6))
def test_dynamic_oracles_count_what_exhaustive_search_does(seed: int, system: str, n: int) -> None:
    """In all configurations of a random way, also far from the right tree: the cost of an action is by how much the
    fewest mistakes that can still be reached grow."""
    random = np.random.default_rng(seed)
    data = random_data(seed, [n], n_labels=1)
    heads = tuple(data.heads.tolist())
    actions = Actions.seen_in(data, system)
    state, taken, memory = twin.start(n), list[int](), dict[twin.State, int]()
    while not state.final:
        before = twin.least_loss(system, state, heads, memory)
        found = dict(_core.dynamic_costs(native_system(system), bank(data), actions.native, taken))
        for action, cost in found.items():
            after = twin.relaxed_step(system, state, *named(actions)[action])
            assert after is not None
            if named(actions)[action][0] != "finish":
                assert cost == twin.least_loss(system, after, heads, memory) - before
        taken.append(int(random.choice(list(found))))
        chosen = twin.step(system, state, *named(actions)[taken[-1]])
        assert chosen is not None
        state = chosen


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SYSTEMS), st.integers(1, 4))
def test_an_unlimited_beam_is_exhaustive_search(seed: int, system: str, n: int) -> None:
    """Also with recombination: of the best trees each has the score of its best way."""
    n = min(n, 3) if system in ("swap", "arc-standard") else n
    data = random_data(seed, [n], projective=system != "swap", n_labels=2 if n < 4 else 1)
    actions = Actions.seen_in(data, system)
    scores = Scores(data, len(actions), seed)
    best: dict[object, float] = {}
    for way in twin.all_ways(system, n, named(actions)):
        total = float(sum(scores.of(state)[action] for state, action in way))
        tree = twin.tree_of(twin.end_of(system, way, named(actions)))
        best[tree] = max(best.get(tree, -np.inf), total)
    wanted = sorted(best.items(), key=lambda pair: -pair[1])
    found = parse(system, data, scores, actions, scores.table(), beam=0, k=3)[0]
    assert [score for score, *_ in found] == pytest.approx([score for _, score in wanted[:3]])
    for score, *tree in found:
        assert best[tuple(tree)] == pytest.approx(score)
    assert parse(system, data, scores, actions, scores.table(), beam=0)[0] == found[:1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(SYSTEMS), st.integers(1, 9))
def test_a_greedy_parser_does_what_the_twin_does(seed: int, system: str, n: int) -> None:
    """All features of all configurations on the way, heads and grandchildren among them."""
    data = random_data(seed, [n], projective=system != "swap")
    actions = Actions.seen_in(data, system)
    scores = Scores(data, len(actions), seed)
    state, total = twin.start(n), 0.0
    while not state.final:
        after = [twin.step(system, state, *action) for action in named(actions)]
        row = [s if a is not None else -np.inf for s, a in zip(scores.of(state), after)]
        order = [a for name in ("shift", "reduce", "swap", "left", "right", "finish") for a, (t, _) in
                 enumerate(named(actions)) if t == name]  # fmt: skip
        chosen = max(order, key=lambda action: row[action])
        total += row[chosen]
        following = after[chosen]
        assert following is not None
        state = following
    ((score, heads, labels),) = parse(system, data, scores, actions, scores.table(), beam=1)[0]
    assert (heads, labels) == twin.tree_of(state) and score == pytest.approx(total)


_ORDER = ("shift", "reduce", "swap", "left", "right", "finish")  # in which native code proposes actions


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(PROJECTIVE), st.integers(2, 7), st.integers(2, 5))
def test_a_beam_keeps_what_the_twin_keeps(seed: int, system: str, n: int, beam: int) -> None:
    """With so many labels that the search forgets what is far from the best; two trees are asked for, so that states
    are one where all their arcs are the same."""
    data = random_data(seed, [n], n_labels=15)
    actions = Actions.seen_in(data, system)
    names = sorted(named(actions), key=lambda action: _ORDER.index(action[0]))
    scores = Scores(data, len(actions), seed)
    layer = [(0.0, twin.start(n))]
    while not all(state.final for _, state in layer):
        reached: list[tuple[float, twin.State]] = []
        for total, state in layer:
            row = scores.of(state)
            for action in names:
                after = twin.step(system, state, *action)
                if after is not None:
                    reached.append((total + row[named(actions).index(action)], after))
        reached.sort(key=lambda pair: -pair[0])
        different = {
            (s.stack, s.buffer, frozenset(arc[:3] for arc in s.arcs)): (total, s) for total, s in reached[::-1]
        }
        layer = sorted(different.values(), key=lambda pair: reached.index(pair))[:beam]
    found = parse(system, data, scores, actions, scores.table(), beam=beam, k=2)[0]
    assert [score for score, *_ in found] == pytest.approx([total for total, _ in layer[:2]])
    assert [tuple(tree) for _, *tree in found] == [twin.tree_of(state) for _, state in layer[:2]]


@pytest.mark.parametrize("system", SYSTEMS)
def test_threads_and_batches_change_nothing(system: str) -> None:
    data = random_data(3, [5, 1, 9, 4, 7, 2] * 4, projective=system != "swap")
    actions = Actions.seen_in(data, system)
    scores = Scores(data, len(actions), 1)
    for s in range(6):  # a table of features that some sentences have
        lengths = data.tokens.lengths
        scores.atoms = data.tokens.atoms[data.tokens.sequence_ptr[s] :]
        state = twin.start(int(lengths[s]))
        while not state.final:
            scores.of(state)
            state = next(a for a in (twin.step(system, state, *x) for x in named(actions)) if a is not None)
    table = scores.table()
    one = parse(system, data, scores, actions, table, beam=4, k=2)
    assert one == parse(system, data, scores, actions, table, beam=4, k=2, threads=3)
    assert one[:6] == parse(system, data.part(list(range(6))), scores, actions, table, beam=4, k=2)


@pytest.mark.parametrize("system", SYSTEMS)
def test_long_and_empty_sentences(system: str) -> None:
    n = 10_000
    data = of_trees([(0, *range(1, n)), ()])  # a chain to the right, and nothing
    actions = Actions.seen_in(data, system)
    scores = Scores(data, len(actions), 1, "stack_distance\ndistance")
    found = parse(system, data, scores, actions, scores.table(), beam=2)
    assert DependencyTree(found[0][0][1], single_root=True) and found[1] == [(0.0, (), ())]
    (way, nothing) = _core.right_actions(native_system(system), bank(data), actions.native, True)
    assert len(way) == 2 * n and nothing == []


@pytest.mark.skipif("MARGENT_DATA" not in os.environ, reason="MARGENT_DATA is not set")
def test_swap_makes_all_trees_of_a_treebank() -> None:
    if not (Path(os.environ["MARGENT_DATA"]) / "ud-english-ewt").exists():
        pytest.skip("there is no ud-english-ewt under MARGENT_DATA")
    given = load_ud_dependencies("english-ewt")
    parts = [tree for part in (given.train, given.dev) if part is not None for tree in part.y]
    numbers: dict[str, int] = {}
    labels = [numbers.setdefault(label, len(numbers)) for tree in parts for label in tree.labels]
    data = of_trees([tree.heads for tree in parts], labels)
    actions = Actions.seen_in(data, "swap")
    kinds, named_labels = actions.transitions.tolist(), actions.labels.tolist()
    swap, left, right = (TRANSITIONS.index(name) for name in ("swap", "left", "right"))
    at = 0
    for tree, way in zip(parts, _core.right_actions(native_system("swap"), bank(data), actions.native, True)):
        stack, buffer = [0], list(range(len(tree), 0, -1))
        heads, found = [0] * (len(tree) + 1), [0] * (len(tree) + 1)
        for action in way:
            kind = kinds[action]
            if kind == swap:
                buffer.append(stack.pop(-2))
            elif named_labels[action] < 0:
                stack.append(buffer.pop())
            else:
                word = stack.pop(-2 if kind == left else -1)
                heads[word] = stack[-1] if kind in (left, right) else 0
                found[word] = named_labels[action]
        assert (tuple(heads[1:]), found[1:]) == (tree.heads, labels[at : at + len(tree)])
        at += len(tree)
