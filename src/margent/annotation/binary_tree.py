"""Binary trees over sentences without labels: what stands next to what, as entailment corpora write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from margent.annotation.binarisation import binarised
from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.phrase_tree import PhraseTree
from margent.annotation.pseudo_projective import projectivize
from margent.errors import CorpusError
from margent.parameters import is_text

_TOKEN = re.compile(r"[()]|[^\s()]+")
_SPACE = re.compile(r"\s")
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True, init=False)
class BinaryTree:
    """A binary tree over n words as one flat value, of any depth. Equal trees compare and hash as equal.

    Nodes are numbered: words 0 to n - 1, then the n - 1 phrases, each after its two parts, so that the root is the
    last. What is not a tree is refused with a `CorpusError`.

    Parameters
    ----------
    words : n str, at least one. Kept as a tuple.
    parts : n - 1 pairs (left, right) of nodes that stand next to each other
        Kept in postorder: all of the left part, all of the right part, then the phrase.

    Examples
    --------
    >>> tree = BinaryTree.from_brackets("( ( two women ) ( are sleeping ) )")
    >>> tree.words, tree.parts
    (('two', 'women', 'are', 'sleeping'), ((0, 1), (2, 3), (4, 5)))
    >>> tree.spans[4:], tree.heights[4:]
    (((0, 2), (2, 4), (0, 4)), (1, 1, 2))
    >>> tree.brackets()
    '( ( two women ) ( are sleeping ) )'
    """

    words: tuple[str, ...]
    parts: tuple[tuple[int, int], ...]

    def __init__(self, words: Sequence[str], parts: Sequence[tuple[int, int]]) -> None:
        texts = tuple(words)
        if isinstance(words, str) or not texts:
            raise CorpusError(f"words of a binary tree: expected at least one str, got {words!r}")
        for word in texts:
            if not is_text(word) or not word or _SPACE.search(word):
                raise CorpusError(f"words of a binary tree: expected str without blanks, got {word!r}")
        n = len(texts)
        pairs = [(int(left), int(right)) for left, right in parts]
        if len(pairs) != n - 1:
            raise CorpusError(f"expected {n - 1} phrases over {n} words, one less, got {len(pairs)}")
        spans = [(i, i + 1) for i in range(n)]
        above = [0] * (2 * n - 1)
        for node, (left, right) in enumerate(pairs, start=n):
            if not (0 <= left < node and 0 <= right < node and spans[left][1] == spans[right][0]):
                raise CorpusError(
                    f"phrase {node} has the parts {left} and {right}; expected two nodes before it that stand next to "
                    "each other"
                )
            above[left] += 1
            above[right] += 1
            spans.append((spans[left][0], spans[right][1]))
        if any(count != 1 for count in above[:-1]):
            wrong = next(node for node, count in enumerate(above) if count != 1)
            raise CorpusError(f"node {wrong} is a part of {above[wrong]} phrases; expected 1")
        object.__setattr__(self, "words", texts)
        object.__setattr__(self, "parts", _in_postorder(pairs, n))

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    @property
    def n_nodes(self) -> int:
        return 2 * len(self.words) - 1

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """Of each node the words that it stands over: start, and end, which is not one of them."""
        found = [(i, i + 1) for i in range(len(self))]
        for left, right in self.parts:
            found.append((found[left][0], found[right][1]))
        return tuple(found)

    @property
    def heights(self) -> tuple[int, ...]:
        """Of each node: 0 of words, of phrases one more than of the higher part."""
        found = [0] * len(self)
        for left, right in self.parts:
            found.append(1 + max(found[left], found[right]))
        return tuple(found)

    def text(self, node: int) -> str:
        """The words under a node."""
        start, end = self.spans[node]
        return " ".join(self.words[start:end])

    # Brackets

    @classmethod
    def from_brackets(cls, text: str) -> BinaryTree:
        """The tree of one text in the format of SNLI, ( ( a b ) c ); a word alone is a tree. Brackets around one part
        are left out. O(n)."""
        stack: list[list[int]] = [[]]
        words: list[str] = []
        pairs: list[tuple[int, int]] = []  # phrases as ~number, words as they are, until all words are known
        for token in _TOKEN.findall(text):
            if token == "(":
                stack.append([])
                continue
            if token != ")":
                stack[-1].append(len(words))
                words.append(token)
                continue
            done = stack.pop()
            if not stack or len(done) not in (1, 2):
                raise _no_tree(text)
            if len(done) == 2:
                pairs.append((done[0], done[1]))
                stack[-1].append(~(len(pairs) - 1))
            else:
                stack[-1] += done
        if len(stack) != 1 or len(stack[0]) != 1:
            raise _no_tree(text)
        n = len(words)
        return cls(words, [tuple(i if i >= 0 else n + ~i for i in pair) for pair in pairs])  # type: ignore[misc]

    def brackets(self) -> str:
        """The tree in brackets on one line; brackets within words become -LRB- and -RRB-."""
        n, pieces = len(self), list[str]()
        stack: list[int | None] = [self.n_nodes - 1]  # None: a bracket closes
        while stack:
            node = stack.pop()
            if node is None:
                pieces.append(")")
            elif node < n:
                pieces.append(re.sub(r"[()]", lambda found: _BRACKETS[found.group()], self.words[node]))
            else:
                left, right = self.parts[node - n]
                pieces.append("(")
                stack += [None, right, left]
        return " ".join(pieces)

    # Trees made of other things

    @classmethod
    def right_branching(cls, words: Sequence[str]) -> BinaryTree:
        """( a ( b ( c d ) ) ): for sentences of which nothing more is known."""
        n = len(words)
        pairs, last = list[tuple[int, int]](), n - 1
        for word in range(n - 2, -1, -1):
            pairs.append((word, last))
            last = n + len(pairs) - 1
        return cls(words, pairs)

    @classmethod
    def from_phrases(cls, tree: PhraseTree) -> BinaryTree:
        """The tree of phrases without labels, binarised; the later parts of a phrase are grouped. O(n).

        >>> BinaryTree.from_phrases(PhraseTree.from_brackets("(S (NP (PRP It)) (VP (VBZ is) (RB not) (NN art)))")).parts
        ((2, 3), (1, 4), (0, 5))
        """
        if not len(tree):
            raise CorpusError("expected a tree of at least one word, got one of none")
        n = len(tree)
        numbers: dict[tuple[int, int], int] = {(i, i + 1): i for i in range(n)}
        pairs = list[tuple[int, int]]()
        for node in reversed(binarised(tree)):  # parts before phrases
            if node.split is not None:
                pairs.append((numbers[node.start, node.split], numbers[node.split, node.end]))
                numbers[node.start, node.end] = n + len(pairs) - 1
        return cls(tree.words, pairs)

    @classmethod
    def from_dependencies(cls, words: Sequence[str], tree: DependencyTree) -> BinaryTree:
        """Each head first joins its right dependents, the nearest first, then its left ones; several roots are joined
        from the left. Arcs that cross others are lifted first. O(n) for a projective tree.

        >>> from margent.annotation import DependencyTree
        >>> BinaryTree.from_dependencies("the cat sees it".split(), DependencyTree([2, 3, 0, 3])).brackets()
        '( ( the cat ) ( sees it ) )'
        """
        n = len(words)
        if len(tree) != n:
            raise CorpusError(f"expected a tree of {n} words, as many as there are, got one of {len(tree)}")
        heads = tree if tree.is_projective() else projectivize(DependencyTree(tree.heads, ["_"] * n))
        children = heads.children()
        top = [*range(-1, n)]  # of each word, numbered from 1: the node over all that it has joined
        pairs = list[tuple[int, int]]()

        def join(left: int, right: int) -> int:
            pairs.append((left, right))
            return n + len(pairs) - 1

        order, stack = list[int](), [0]
        while stack:
            word = stack.pop()
            order.append(word)
            stack += children[word]
        for word in reversed(order[1:]):
            for child in children[word]:
                if child > word:
                    top[word] = join(top[word], top[child])
            for child in reversed(children[word]):
                if child < word:
                    top[word] = join(top[child], top[word])
        whole = top[children[0][0]]
        for root in children[0][1:]:
            whole = join(whole, top[root])
        return cls(words, pairs)


def _in_postorder(pairs: Sequence[tuple[int, int]], n: int) -> tuple[tuple[int, int], ...]:
    """The same phrases, all of the left part before all of the right part before the phrase."""
    order: list[int] = []
    stack = [n + len(pairs) - 1]
    while stack:  # the phrase, its right part, its left part: the other way round
        node = stack.pop()
        if node >= n:
            order.append(node)
            stack += pairs[node - n]
    number: dict[int, int] = {node: n + i for i, node in enumerate(reversed(order))}
    found: list[Any] = [tuple(number.get(part, part) for part in pairs[node - n]) for node in reversed(order)]
    return tuple(found)


def _no_tree(text: str) -> CorpusError:
    return CorpusError(f"expected one binary tree in brackets, as in ( ( a b ) c ), got {text[:60]!r}")
