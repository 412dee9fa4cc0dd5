"""Transition-based dependency parsing as plainly as possible: lists, sets of arcs, all ways of a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

Arc = tuple[int, int, int, str]  # head, word, label, and at which side the word was attached


@dataclass(frozen=True)
class State:
    """The stack without the root, s0 last; the buffer, n0 first; the arcs so far."""

    stack: tuple[int, ...]
    buffer: tuple[int, ...]
    arcs: tuple[Arc, ...] = field(default=())

    def head(self, word: int) -> int | None:
        return next((head for head, dependent, *_ in self.arcs if dependent == word), None)

    def label(self, word: int) -> int | None:
        return next((label for _, dependent, label, _ in self.arcs if dependent == word), None)

    def dependents(self, word: int, side: str = "") -> list[int]:
        """In the order in which their arcs were made."""
        return [dependent for head, dependent, _, at in self.arcs if head == word and side in ("", at)]

    @property
    def final(self) -> bool:
        return not self.stack and not self.buffer


def start(n_words: int) -> State:
    return State((), tuple(range(1, n_words + 1)))


def step(system: str, state: State, transition: str, label: int) -> State | None:
    """The next state; None where the transition is not allowed."""
    stack, buffer, arcs = state.stack, state.buffer, state.arcs
    headless = [word for word in stack if state.head(word) is None]
    if transition == "finish":
        alone = len(stack) == 1 and not buffer and len(headless) == 1
        return State((), (), (*arcs, (0, stack[0], label, "right"))) if alone else None
    if transition == "shift":
        if not buffer or (system == "arc-eager" and len(buffer) == 1 and stack):
            return None
        return State((*stack, buffer[0]), buffer[1:], arcs)
    if system in ("arc-standard", "swap"):
        if len(stack) < 2:
            return None
        *below, s1, s0 = stack
        if transition == "left":
            return State((*below, s0), buffer, (*arcs, (s0, s1, label, "left")))
        if transition == "right":
            return State((*below, s1), buffer, (*arcs, (s1, s0, label, "right")))
        if transition == "swap" and system == "swap" and s1 < s0:
            return State((*below, s0), (s1, *buffer), arcs)
        return None
    if system == "arc-hybrid":
        if transition == "left" and stack and buffer:
            return State(stack[:-1], buffer, (*arcs, (buffer[0], stack[-1], label, "left")))
        if transition == "right" and len(stack) >= 2:
            return State(stack[:-1], buffer, (*arcs, (stack[-2], stack[-1], label, "right")))
        return None
    if not stack:
        return None
    s0 = stack[-1]
    if transition == "reduce":
        return None if s0 in headless else State(stack[:-1], buffer, arcs)
    if not buffer:
        return None
    if transition == "left":
        return State(stack[:-1], buffer, (*arcs, (buffer[0], s0, label, "left"))) if s0 in headless else None
    if transition == "right" and (len(buffer) > 1 or len(headless) == 1):
        return State((*stack, buffer[0]), buffer[1:], (*arcs, (s0, buffer[0], label, "right")))
    return None


Action = tuple[str, int]  # a transition and a label; -1 where it makes no arc


def all_ways(system: str, n_words: int, actions: list[Action]) -> Iterator[list[tuple[State, int]]]:
    """Every way from the start to an end: the states with the numbers of the actions that were taken in them."""

    def go(state: State, way: list[tuple[State, int]]) -> Iterator[list[tuple[State, int]]]:
        if state.final:
            yield way
            return
        for number, (transition, label) in enumerate(actions):
            after = step(system, state, transition, label)
            if after is not None:
                yield from go(after, [*way, (state, number)])

    yield from go(start(n_words), [])


def end_of(system: str, way: list[tuple[State, int]], actions: list[Action]) -> State:
    state, number = way[-1]
    after = step(system, state, *actions[number])
    assert after is not None
    return after


def tree_of(state: State) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Heads and labels of a final state."""
    by_word = {word: (head, label) for head, word, label, _ in state.arcs}
    pairs = [by_word[word] for word in sorted(by_word)]
    return tuple(head for head, _ in pairs), tuple(label for _, label in pairs)


def relaxed_step(system: str, state: State, transition: str, label: int) -> State | None:
    """`step`, but arc-eager may leave several words without heads, which all hang on the root in the end."""
    if system != "arc-eager":
        return step(system, state, transition, label)
    padded = State(state.stack, (*state.buffer, -1), state.arcs)  # the last word is not the last any more
    if transition == "finish":
        if state.buffer or not state.stack:
            return None
        roots = [word for word in state.stack if state.head(word) is None]
        return State((), (), (*state.arcs, *((0, word, label, "right") for word in roots)))
    if transition in ("shift", "left", "right") and not state.buffer:
        return None
    after = step(system, padded, transition, label)
    return None if after is None else State(after.stack, after.buffer[:-1], after.arcs)


def least_loss(system: str, state: State, heads: tuple[int, ...], memory: dict[State, int]) -> int:
    """The fewest wrong heads of all trees that can be reached from a state; labels are left aside."""
    if state.final:
        return sum(heads[word - 1] != head for head, word, *_ in state.arcs)
    if state not in memory:
        transitions = ("shift", "reduce", "swap", "left", "right", "finish")
        after = [relaxed_step(system, state, transition, 0) for transition in transitions]
        losses = [least_loss(system, each, heads, memory) for each in after if each is not None]
        memory[state] = min(losses, default=10**6)
    return memory[state]


def swap_way(heads: tuple[int, ...], lazy: bool) -> list[str]:
    """The transitions of the static oracle of Nivre (2009), and of Nivre, Kuhlmann and Hall (2009)."""
    n = len(heads)
    children: dict[int, list[int]] = {word: [] for word in range(n + 1)}
    for word, head in enumerate(heads, 1):
        children[head].append(word)

    def inorder(word: int) -> list[int]:
        before = [w for child in children[word] if child < word for w in inorder(child)]
        after = [w for child in children[word] if child > word for w in inorder(child)]
        return [*before, word, *after]

    place = {word: i for i, word in enumerate(inorder(0))}

    def arc(state: State) -> str | None:
        if len(state.stack) < 2:
            return None
        s1, s0 = state.stack[-2:]
        whole = {word: len(state.dependents(word)) == len(children[word]) for word in (s0, s1)}
        if heads[s1 - 1] == s0 and whole[s1]:
            return "left"
        return "right" if heads[s0 - 1] == s1 and whole[s0] else None

    state = start(n)
    while state.buffer or arc(state):  # arc-standard alone, as far as it comes
        after = step("arc-standard", state, arc(state) or "shift", 0)
        assert after is not None
        state = after

    def component(word: int) -> int:
        head = state.head(word)
        return word if head is None else component(head)

    root = {word: component(word) for word in range(1, n + 1)}
    found: list[str] = []
    current = start(n)
    while not current.final:
        transition = arc(current)
        if transition is None and len(current.stack) >= 2 and place[current.stack[-1]] < place[current.stack[-2]]:
            same = bool(current.buffer) and root[current.stack[-1]] == root[current.buffer[0]]
            transition = None if lazy and same else "swap"
        if transition is None:
            transition = "shift" if current.buffer else "finish"
        found.append(transition)
        after = step("swap", current, transition, 0)
        assert after is not None
        current = after
    return found


See = Callable[[int, str], int]  # the value of an atom of a word of the sentence; 0: it has none


def features(state: State, templates: list[list[tuple[str | None, str]]], see: See) -> list[tuple[int, list[int]]]:
    """(template, values of its terms) of a configuration; templates one of whose terms sees nothing are left out."""

    def word_at(address: str) -> int | None:
        base, *path = address.replace("head2", "head.head").split(".")
        row = [*reversed(state.stack), 0] if base[0] == "s" else list(state.buffer)
        index = int(base[1:])
        word = row[index] if index < len(row) else None
        for name in path:
            if word is None:
                return None
            if name == "head":
                head = state.head(word)
                word = head if head is not None else None
                continue
            outer = state.dependents(word, name.removesuffix("2"))[::-1]
            index = 1 if name.endswith("2") else 0
            word = outer[index] if index < len(outer) else None
        return word

    def value(address: str | None, atom: str) -> int | None:
        if address is None:
            first, second = ("s0", "n0") if atom == "distance" else ("s1", "s0")
            a, b = word_at(first), word_at(second)
            if a is None or b is None:
                return None
            gap = abs(a - b)
            return 1 + (6 if gap >= 10 else 5 if gap >= 5 else gap)
        word = word_at(address)
        if word is None:
            return None
        if atom == "label":
            label = state.label(word)
            return None if label is None else label + 1
        if atom.endswith("valency"):
            return 1 + min(len(state.dependents(word, atom.removesuffix("_valency"))), 5)
        if atom.endswith("_labels"):
            labels = {state.label(d) for d in state.dependents(word, atom.removesuffix("_labels"))}
            return 1 + sum(1 << label for label in labels if label is not None)
        if word == 0:
            return 1
        number = see(word, atom)
        return number + 1 if number else None

    found = []
    for number, template in enumerate(templates):
        values = [value(address, atom) for address, atom in template]
        if None not in values:
            found.append((number, [v for v in values if v is not None]))
    return found
