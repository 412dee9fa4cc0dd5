"""Dependency trees: a labelled arc attaches each word of a sentence to another word or to the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from margent.errors import CorpusError
from margent.parameters import is_text


@dataclass(frozen=True, init=False)
class DependencyTree:
    """A dependency tree of n words, which are numbered from 1; 0 is the root, which is not a word.

    Equal trees compare and hash as equal. What is not a tree is refused with a `CorpusError` that names the word: a
    head out of range, a word that is its own head, a cycle, lengths that differ.

    Parameters
    ----------
    heads : n integers from 0 to n
        `heads[i]` is the head of word i + 1. Kept as a tuple of int.
    labels : n str, optional
        The relation of each word to its head, "_" where it is unknown, which is the default. Kept as a tuple.
    single_root : bool
        Whether to refuse trees with several words attached to 0, as Universal Dependencies requires.

    Examples
    --------
    >>> tree = DependencyTree([2, 0, 2], ["nsubj", "root", "obj"])
    >>> tree.heads, tree.labels[0], tree.is_projective()
    ((2, 0, 2), 'nsubj', True)
    >>> tree.children()
    [[2], [], [1, 3], []]
    >>> DependencyTree([2, 1], ["a", "b"])
    Traceback (most recent call last):
        ...
    margent.errors.CorpusError: word 1 is on a cycle of heads (1 -> 2 -> 1); expected every word to lead up to the root
    """

    heads: tuple[int, ...]
    labels: tuple[str, ...]

    def __init__(
        self, heads: Sequence[int] | npt.NDArray[Any], labels: Sequence[str] | None = None, *, single_root: bool = False
    ) -> None:
        heads = _integers(heads)
        given, labels = labels, ("_",) * len(heads) if labels is None else tuple(labels)
        if isinstance(given, str) or not all(map(is_text, labels)):
            raise CorpusError(f"labels: expected a str for each word that is valid text, got {given!r}")
        if len(heads) != len(labels):
            raise CorpusError(f"expected as many labels as heads, got {len(labels)} for {len(heads)} words")
        problem = tree_problem(heads, single_root)
        if problem is not None:
            raise CorpusError(problem[1])
        object.__setattr__(self, "heads", heads)
        object.__setattr__(self, "labels", labels)

    @classmethod
    def unchecked(cls, heads: Sequence[int], labels: Sequence[str]) -> DependencyTree:
        """Of heads (int) and labels that are known to make a tree, as those that a search has found: no checks."""
        tree = object.__new__(cls)
        object.__setattr__(tree, "heads", tuple(heads))
        object.__setattr__(tree, "labels", tuple(labels))
        return tree

    def __len__(self) -> int:
        """The number of words."""
        return len(self.heads)

    def children(self) -> list[list[int]]:
        """For the root and each word in order, its dependents, from left to right."""
        children: list[list[int]] = [[] for _ in range(len(self) + 1)]
        for word, head in enumerate(self.heads, start=1):
            children[head].append(word)
        return children

    def depth(self) -> int:
        """The largest number of arcs from the root down to a word; 0 if there are no words."""
        depths = [0] + [-1] * len(self)
        for word in range(1, len(self) + 1):
            path = []
            while depths[word] < 0:
                path.append(word)
                word = self.heads[word - 1]
            for steps, below in enumerate(reversed(path), start=1):
                depths[below] = depths[word] + steps
        return max(depths)

    def projective_order(self) -> list[int]:
        """The words in the order in which no arcs would cross: for each word first its left dependents, each
        with everything below it, then the word, then its right dependents (Nivre 2009, Section 3). O(n)."""
        children = self.children()
        order: list[int] = []
        stack: list[tuple[int, bool]] = [(0, False)]
        while stack:
            word, visited = stack.pop()
            if visited:
                order.append(word)
                continue
            left = [child for child in children[word] if child < word]
            right = [child for child in children[word] if child > word]
            stack += [*((child, False) for child in reversed(right)), (word, True)]
            stack += [(child, False) for child in reversed(left)]
        return order[1:]  # the root comes first: all words are right of it

    def is_projective(self) -> bool:
        """Whether every word between a word and its head is below that head. O(n)."""
        return self.projective_order() == list(range(1, len(self) + 1))


def _integers(heads: Sequence[int] | npt.NDArray[Any]) -> tuple[int, ...]:
    given = heads.tolist() if isinstance(heads, np.ndarray) else tuple(heads)
    for word, head in enumerate(given, start=1):
        if type(head) is not int and not isinstance(head, np.integer):
            raise CorpusError(f"word {word} has the head {head!r}; expected an integer from 0 to {len(given)}")
    return tuple(map(int, given))


def tree_problem(heads: Sequence[int], single_root: bool = False) -> tuple[int, str] | None:
    """The first word that keeps these heads from being a tree, and a message about it; None where they are one."""
    n = len(heads)
    root = 0
    for word, head in enumerate(heads, start=1):
        if not 0 <= head <= n:
            return word, f"word {word} has the head {head}; expected an integer from 0 to {n}"
        if head == word:
            return word, f"word {word} is its own head; expected another word, or 0 for the root"
        if head == 0:
            if root and single_root:
                return word, f"words {root} and {word} are both attached to the root; expected one word with head 0"
            root = root or word
    reached = [0] * (n + 1)  # from which word each was first seen on the way up
    for start in range(1, n + 1):
        word = start
        while word and not reached[word]:
            reached[word] = start
            word = heads[word - 1]
        if word and reached[word] == start:
            cycle = _cycle(heads, word)
            return word, f"word {word} is on a cycle of heads ({cycle}); expected every word to lead up to the root"
    return None


def _cycle(heads: Sequence[int], start: int) -> str:
    words = [start]
    while (word := heads[words[-1] - 1]) != start:
        words.append(word)
    shown = [str(word) for word in words]
    return " -> ".join([*(shown if len(shown) <= 6 else [*shown[:5], "..."]), str(start)])
