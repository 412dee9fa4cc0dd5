"""Pseudo-projective trees (Nivre and Nilsson 2005): arcs that cross others are lifted towards the root until none do,
and labels say where they came from, so that a parser of projective trees learns and predicts the others, too."""

from __future__ import annotations

from collections import deque
from typing import Literal, TypeAlias, get_args

from margent.annotation.dependency_tree import DependencyTree
from margent.errors import CorpusError

LIFTED, PATH = "↑", "↓"
"""What marks the label of an arc that was lifted, and of one that another was lifted along."""

LiftingScheme: TypeAlias = Literal["head", "path", "head+path"]
"""What labels say: of which relation the true head is, on which path it is found, or both."""


def projectivize(tree: DependencyTree, scheme: LiftingScheme = "head") -> DependencyTree:
    """The projective tree with as few and as short lifts as the greedy algorithm needs; a projective tree stays itself.

    While there is an arc from j to k with a word between them that is not below j, the shortest such arc (of equal ones
    the leftmost) is lifted: the head of j becomes the head of k. A lifted word with the label d, whose head in `tree`
    has the label h, is labelled (Table 1 of the paper)

    - ``d↑h`` with "head" and "head+path", ``d↑`` with "path";
    - with "path" and "head+path", the words passed on the way up have ``↓`` at the end of theirs.

    O(n) for a projective tree, else O(lifts x total length of the arcs).
    """
    if scheme not in get_args(LiftingScheme):
        raise ValueError(f"scheme must be one of {', '.join(get_args(LiftingScheme))}, got {scheme!r}")
    for word, label in enumerate(tree.labels, start=1):
        if LIFTED in label or PATH in label:
            raise CorpusError(f"word {word} has the label {label!r}; expected one without {LIFTED} and {PATH}")
    if tree.is_projective():
        return tree
    heads = [0, *tree.heads]
    passed: set[int] = set()
    lifted: set[int] = set()
    while (crossing := _smallest_crossing(heads)) is not None:
        passed.add(heads[crossing])
        lifted.add(crossing)
        heads[crossing] = heads[heads[crossing]]
    labels = ["", *tree.labels]
    enriched = list(labels)
    for word in lifted:
        of_head = labels[tree.heads[word - 1]] if scheme != "path" else ""
        enriched[word] = f"{labels[word]}{LIFTED}{of_head}"
    if scheme != "head":
        for word in passed:
            enriched[word] += PATH
    return DependencyTree(heads[1:], enriched[1:])


def deprojectivize(tree: DependencyTree) -> DependencyTree:
    """The tree that was lifted: each marked word goes back to the head that its label tells of; marks are taken away.

    The head is looked for among the words below the one that the word hangs on, breadth first and from left to right,
    without those below the word itself. It is the first with the label that ``↑`` is followed by, on a path of ``↓``
    where one begins there; with ``↑`` alone, the last one on a path of ``↓``. Lifted words are gone through from the
    root down, from left to right; those whose head is not found are tried again after others have moved, and stay where
    they are when nothing moves any more. Which scheme wrote the labels is seen from them. O(n) for each search.

    Differs: the paper says nothing of the order, nor of heads that were lifted themselves.
    """
    if not any(LIFTED in label or PATH in label for label in tree.labels):
        return tree
    labels: list[str] = [""]
    sought: list[str | None] = [None]
    on_path = [False]
    for marked in tree.labels:
        label, arrow, of_head = marked.removesuffix(PATH).partition(LIFTED)
        labels.append(label)
        sought.append(of_head if arrow else None)
        on_path.append(marked.endswith(PATH))
    heads = [0, *tree.heads]
    waiting = [(word, target) for word in _breadth_first(tree.children(), 0) if (target := sought[word]) is not None]
    while waiting:
        without = []
        for word, target in waiting:
            found = _true_head(DependencyTree(heads[1:]).children(), heads[word], word, target, labels, on_path)
            if found is None:
                without.append((word, target))
            else:
                heads[word] = found
        if len(without) == len(waiting):
            break
        waiting = without  # the head may have been lifted itself, and be below by now
    return DependencyTree(heads[1:], labels[1:])


def _true_head(
    children: list[list[int]], start: int, word: int, target: str, labels: list[str], on_path: list[bool]
) -> int | None:
    """The head below `start` that the mark of `word` tells of; None where there is none."""
    follow = not target or any(on_path[child] for child in children[start])
    queue = deque([start])
    while queue:
        above = queue.popleft()
        below = [child for child in children[above] if child != word and (on_path[child] or not follow)]
        if above != start and (labels[above] == target if target else not below):
            return above
        queue += below
    return None


def _breadth_first(children: list[list[int]], start: int) -> list[int]:
    order = [start]
    for word in order:  # which grows meanwhile
        order += children[word]
    return order[1:]


def _smallest_crossing(heads: list[int]) -> int | None:
    """The word with the shortest arc that spans a word which is not below its head, leftmost of equals; None: none."""
    first, last = _descent(heads)
    for word in sorted(range(1, len(heads)), key=lambda k: (abs(k - heads[k]), min(k, heads[k]))):
        head = heads[word]
        low, high = first[head], last[head]
        if any(not low <= first[between] <= high for between in range(min(word, head) + 1, max(word, head))):
            return word
    return None


def _descent(heads: list[int]) -> tuple[list[int], list[int]]:
    """Numbers of the words from the root down, in depth-first order: of each, its own and the last one below it."""
    children = DependencyTree(heads[1:]).children()
    first, last = [0] * len(heads), [0] * len(heads)
    counter = 0
    stack = [(0, False)]
    while stack:
        word, visited = stack.pop()
        if visited:
            last[word] = counter - 1
            continue
        first[word] = counter
        counter += 1
        stack.append((word, True))
        stack += [(child, False) for child in children[word]]
    return first, last
