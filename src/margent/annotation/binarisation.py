"""Binarised phrase-structure trees: every phrase has one or two parts, and so has every rule of a grammar; and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from margent.annotation.phrase_tree import PhraseTree


class Symbol(NamedTuple):
    """What stands above some words in a binarised tree.

    kind : "tag", "phrase", or "rest": a part of a phrase, all that comes after its first parts or before its last ones
    label : the tag, or the label of the phrase
    parents : labels of phrases above it, the nearest first (vertical markovisation)
    siblings : of a rest, the labels of the parts nearest to it (horizontal markovisation)
    """

    kind: str
    label: str
    parents: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()

    def __str__(self) -> str:
        above = "".join(f"^{label}" for label in self.parents)
        if self.kind != "rest":
            return f"{self.label}{above}"
        return f"@{self.label}{above}" + (f"|{' '.join(self.siblings)}" if self.siblings else "")


class BinaryNode(NamedTuple):
    """Words start to end - 1 of a binarised tree.

    symbol : above its two parts, which meet at `split`, or above its word, where split is None
    chain : of phrases over the same words above `symbol`, the topmost first; mostly none
    """

    start: int
    end: int
    symbol: Symbol
    chain: tuple[Symbol, ...] = ()
    split: int | None = None

    @property
    def top(self) -> Symbol:
        return self.chain[0] if self.chain else self.symbol


class _Rest(NamedTuple):
    parts: tuple[int, ...]
    symbol: Symbol


def binarised(
    tree: PhraseTree, *, horizontal: int = 0, vertical: int = 1, direction: str = "right"
) -> list[BinaryNode]:
    """The nodes of the binarised tree in preorder: a node, all of its left part, all of its right part.

    A phrase A of parts B C D becomes A -> B @A, @A -> C D, where @A is a rest (direction="left": A -> @A D,
    @A -> B C). A rest knows the labels of its `horizontal` nearest siblings, a phrase those of `vertical` - 1 phrases
    above it (Johnson 1998; Klein and Manning 2003, section 2). The tree must have a word. O(n).

    >>> nodes = binarised(PhraseTree.from_brackets("(S (NP (PRP It)) (VP (VBZ is) (RB not) (NN art)))"))
    >>> [(node.start, node.end, str(node.symbol), *map(str, node.chain)) for node in nodes]
    [(0, 4, 'S'), (0, 1, 'PRP', 'NP'), (1, 4, 'VP'), (1, 2, 'VBZ'), (2, 4, '@VP'), (2, 3, 'RB'), (3, 4, 'NN')]
    """
    children, nodes = tree.children(), list[BinaryNode]()
    labels = [span.label for span in tree.phrases]

    def label_of(part: int) -> str:
        return tree.tags[~part] if part < 0 else labels[part]

    def start_of(part: int) -> int:
        return ~part if part < 0 else tree.phrases[part].start

    def end_of(part: int) -> int:
        return ~part + 1 if part < 0 else tree.phrases[part].end

    stack: list[tuple[int | _Rest, tuple[str, ...]]] = [(0 if labels else ~0, ())]
    while stack:
        item, above = stack.pop()
        chain: list[Symbol] = []
        if isinstance(item, _Rest):
            parts, symbol = item
        else:
            while item >= 0 and len(children[item]) == 1:
                chain.append(Symbol("phrase", labels[item], above))
                above = (labels[item], *above)[: vertical - 1]
                item = children[item][0]
            if item < 0:
                nodes.append(BinaryNode(~item, ~item + 1, Symbol("tag", tree.tags[~item]), tuple(chain)))
                continue
            parts, symbol = tuple(children[item]), Symbol("phrase", labels[item], above)
            above = (labels[item], *above)[: vertical - 1]
        right = direction == "right"
        if len(parts) == 2:
            first: int | _Rest = parts[0]
            second: int | _Rest = parts[1]
        else:
            near = label_of(parts[0] if right else parts[-1])
            siblings = (near, *symbol.siblings)[:horizontal]
            rest = _Rest(parts[1:] if right else parts[:-1], Symbol("rest", symbol.label, symbol.parents, siblings))
            first, second = (parts[0], rest) if right else (rest, parts[-1])
        split = end_of(parts[0]) if right or len(parts) == 2 else start_of(parts[-1])
        nodes.append(BinaryNode(start_of(parts[0]), end_of(parts[-1]), symbol, tuple(chain), split))
        stack += [(second, above), (first, above)]
    return nodes


def unbinarised(words: Iterable[str], nodes: Iterable[BinaryNode]) -> PhraseTree:
    """The tree of nodes in preorder: `unbinarised(tree.words, binarised(tree))` is the tree again."""
    nodes = list(nodes)
    tags = {node.start: node.symbol.label for node in nodes if node.symbol.kind == "tag"}
    return PhraseTree(tuple(words), [tags[i] for i in sorted(tags)], _phrases(nodes))


def _phrases(nodes: Iterable[BinaryNode]) -> Iterator[tuple[int, int, str]]:
    for node in nodes:
        for symbol in (*node.chain, node.symbol):
            if symbol.kind == "phrase":
                yield node.start, node.end, symbol.label
