"""Sentences and right trees as users give them, checked at the boundary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from margent.annotation.dependency_tree import DependencyTree, tree_problem
from margent.errors import CorpusError
from margent.formats.columns import Columns
from margent.formats.dependencies import DEPENDENCY_COLUMNS
from margent.models.inputs import as_sentences
from margent.parameters import is_text

Arcs = tuple[tuple[int, ...], tuple[str, ...]]
"""Heads and labels of a sentence; -1 and "" where they are not known."""


def as_columns(X: Any) -> Columns:
    """Sentences of words: text, or tuples of form, upos, xpos, feats and lemma, or the first of these."""
    columns = Columns.from_sentences(as_sentences(X))
    if columns.n_tokens and columns.n_columns > len(DEPENDENCY_COLUMNS):
        raise CorpusError(
            f"expected words of up to {len(DEPENDENCY_COLUMNS)} columns ({', '.join(DEPENDENCY_COLUMNS)}), got "
            f"{columns.n_columns}"
        )
    return columns


def forms_of(columns: Columns) -> list[list[str]]:
    """The words alone."""
    return columns.column(0) if columns.n_tokens else [[] for _ in range(len(columns))]


def right_arcs(y: Any, lengths: Sequence[int], single_root: bool, name: str = "y") -> list[Arcs]:
    """The arcs of each sentence: from a `DependencyTree`, or from a pair (heads, labels) in which None is not known."""
    if y is None:
        raise CorpusError(f"trees are missing: a parser requires y to be passed, but the target {name} is None")
    if isinstance(y, (str, bytes)) or not isinstance(y, Iterable):
        raise CorpusError(f"{name}: expected a list of DependencyTree, got {type(y).__name__}")
    given = list(y)
    if len(given) != len(lengths):
        raise CorpusError(f"found trees for {len(given)} sentences, expected them for {len(lengths)}")
    return [_arcs(tree, i, int(n), single_root) for i, (tree, n) in enumerate(zip(given, lengths))]


def _arcs(tree: Any, number: int, length: int, single_root: bool) -> Arcs:
    if isinstance(tree, DependencyTree):
        heads, labels = tree.heads, tree.labels
        if single_root and heads.count(0) > 1:
            raise _error(number, tree_problem(heads, True))
    else:
        heads, labels = _partial(tree, number)
        problem = _partial_problem(heads, single_root)
        if problem is not None:
            raise _error(number, problem)
    if len(heads) != length:
        raise CorpusError(f"sentence {number} has {length} words, but its tree has {len(heads)}")
    return heads, labels


def _partial(tree: Any, number: int) -> Arcs:
    wanted = "expected a DependencyTree, or a pair of lists (heads, labels) with None for what is not known"
    if not isinstance(tree, (tuple, list)) or len(tree) != 2 or any(isinstance(side, str) for side in tree):
        raise CorpusError(f"sentence {number}: {wanted}, got {tree!r}")
    heads, labels = tree
    integers = all(head is None or (isinstance(head, int) and not isinstance(head, bool)) for head in heads)
    if not integers or not all(label is None or is_text(label) for label in labels):
        raise CorpusError(f"sentence {number}: {wanted}, got {tree!r}")
    if len(heads) != len(labels):
        raise CorpusError(f"sentence {number}: expected as many labels as heads, got {len(labels)} for {len(heads)}")
    return tuple(-1 if head is None else head for head in heads), tuple(label or "" for label in labels)


def _partial_problem(heads: tuple[int, ...], single_root: bool) -> tuple[int, str] | None:
    """What keeps the known heads from being part of a tree. A word without a known head counts as attached to the root;
    it is then no second root, as it may hang elsewhere."""
    if any(head < -1 for head in heads):
        word = next(word for word, head in enumerate(heads, start=1) if head < -1)
        return word, f"word {word} has the head {heads[word - 1]}; expected an integer from 0 to {len(heads)}"
    problem = tree_problem([max(head, 0) for head in heads])
    roots = [word for word, head in enumerate(heads, start=1) if head == 0]
    if problem is None and single_root and len(roots) > 1:
        return roots[1], f"words {roots[0]} and {roots[1]} are both attached to the root; expected one word with head 0"
    return problem


def _error(number: int, problem: tuple[int, str] | None) -> CorpusError:
    return CorpusError(f"sentence {number}: {'' if problem is None else problem[1]}")
