"""Phrase-structure trees: the words of a sentence with their tags, and the labelled phrases over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from margent.annotation.schemes import Span
from margent.errors import CorpusError
from margent.parameters import is_text

EMPTY = "-NONE-"
"""The tag of empty elements (traces) in the Penn Treebank."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
_BRACKETS = {"(": "-LRB-", ")": "-RRB-"}


@dataclass(frozen=True, init=False)
class PhraseTree:
    """A phrase-structure tree over n words as one flat value, of any depth. Equal trees compare and hash as equal.

    What is not a tree is refused with a `CorpusError`: phrases that cross, are empty or out of range, words that no
    phrase holds together, lengths that differ.

    Parameters
    ----------
    words, tags : n str each
        A tag is the label right above a word. Kept as tuples.
    phrases : spans (start, end, label)
        The phrase over words start to end - 1, words counted from 0. Kept in preorder: a phrase before those within
        it. Of two over the same words, the one that is given first is above. The first must cover all words; only a
        tree of a single word may have none.

    Examples
    --------
    >>> tree = PhraseTree.from_brackets("(S (NP (PRP It)) (VP (VBZ works)))")
    >>> tree.words, tree.tags
    (('It', 'works'), ('PRP', 'VBZ'))
    >>> tree.phrases[1]
    Span(start=0, end=1, label='NP')
    >>> tree.brackets()
    '(S (NP (PRP It)) (VP (VBZ works)))'
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    phrases: tuple[Span, ...]

    def __init__(self, words: Sequence[str], tags: Sequence[str], phrases: Iterable[tuple[int, int, str]] = ()) -> None:
        object.__setattr__(self, "words", _texts(words, "words"))
        object.__setattr__(self, "tags", _texts(tags, "tags"))
        if len(self.words) != len(self.tags):
            raise CorpusError(f"expected as many tags as words, got {len(self.tags)} for {len(self.words)} words")
        spans = [Span(int(start), int(end), label) for start, end, label in phrases]
        spans.sort(key=lambda span: (span.start, -span.end))
        _check_nested(spans, len(self.words))
        object.__setattr__(self, "phrases", tuple(spans))

    def __len__(self) -> int:
        """The number of words."""
        return len(self.words)

    # Brackets

    @classmethod
    def from_brackets(cls, text: str) -> PhraseTree:
        """The tree of one bracketed text, (label (tag word) ...). An outermost bracket without a label is left out.

        >>> PhraseTree.from_brackets("( (NP (NN rain)) )").phrases
        (Span(start=0, end=1, label='NP'),)
        """
        problem = CorpusError(f"expected one tree in brackets, (label (tag word) ...), got {text[:60]!r}")
        words: list[str] = []
        tags: list[str] = []
        phrases: list[list[Any]] = []  # in preorder; a bracket is one until it proves to be a word
        stack: list[tuple[int, list[str]]] = []  # the number of each open bracket, and the texts right within it
        finished = False
        for token in _TOKEN.findall(text):
            if token == "(":
                outermost_lacks_label = len(stack) == 1 and not stack[0][1]
                if finished or (stack and len(stack[-1][1]) != 1 and not outermost_lacks_label):
                    raise problem
                stack.append((len(phrases), []))
                phrases.append([len(words), 0, ""])
                continue
            if not stack:
                raise problem
            number, texts = stack[-1]
            if token != ")":
                if len(words) > phrases[number][0] or len(texts) == 2:
                    raise problem
                texts.append(token)
                continue
            stack.pop()
            finished = not stack
            filled = len(words) > phrases[number][0]
            if len(texts) == 2 and not filled:
                phrases.pop()
                tags.append(texts[0])
                words.append(texts[1])
            elif len(texts) < 2 and (filled or not (texts or stack)):
                phrases[number][1:] = [len(words), *texts] if texts else [len(words), ""]
            else:
                raise problem
        if not finished:
            raise problem
        return cls(words, tags, [(start, end, label) for start, end, label in phrases if label])

    def brackets(self) -> str:
        """The tree in brackets on one line; brackets within words become -LRB- and -RRB-.

        >>> PhraseTree(["("], ["-LRB-"]).brackets()
        '(-LRB- -LRB-)'
        """
        pieces: list[str] = []
        stack: list[int] = []
        todo = list(reversed(self.phrases))
        for i, (word, tag) in enumerate(zip(self.words, self.tags)):
            while todo and todo[-1].start == i:
                span = todo.pop()
                pieces.append(f"({_escaped(span.label)} ")
                stack.append(span.end)
            closing = 0
            while stack and stack[-1] == i + 1:
                stack.pop()
                closing += 1
            pieces.append(f"({_escaped(tag)} {_escaped(word)}){')' * closing}{' ' if stack else ''}")
        return "".join(pieces) if pieces else "()"

    # Trees made of it

    def without_functions(self) -> PhraseTree:
        """The labels of phrases without function tags and indices: NP-SBJ-1 and NP=2 become NP, ADVP|PRT ADVP."""
        return PhraseTree(self.words, self.tags, [(a, b, _plain(label)) for a, b, label in self.phrases])

    def without_traces(self) -> PhraseTree:
        """Without empty elements (tag -NONE-) and phrases of nothing else; perhaps no word is left."""
        before = [0]
        for tag in self.tags:
            before.append(before[-1] + (tag != EMPTY))
        kept = [i for i, tag in enumerate(self.tags) if tag != EMPTY]
        moved = ((before[a], before[b], label) for a, b, label in self.phrases)
        return PhraseTree(
            [self.words[i] for i in kept], [self.tags[i] for i in kept], [span for span in moved if span[0] < span[1]]
        )

    def without_unary_chains(self) -> PhraseTree:
        """Of phrases over the same words, the topmost alone."""
        spans = [
            span for span, above in zip(self.phrases, (None, *self.phrases)) if above is None or span[:2] != above[:2]
        ]
        return PhraseTree(self.words, self.tags, spans)

    # Reading it

    def children(self) -> list[list[int]]:
        """For each phrase in order its parts from left to right: the number i of a phrase, or ~i of word i."""
        parts: list[list[int]] = [[] for _ in self.phrases]
        stack: list[int] = []
        at = 0
        for i in range(len(self)):
            while stack and self.phrases[stack[-1]].end == i:
                stack.pop()
            while at < len(self.phrases) and self.phrases[at].start == i:
                if stack:
                    parts[stack[-1]].append(at)
                stack.append(at)
                at += 1
            if stack:
                parts[stack[-1]].append(~i)
        return parts

    def depth(self) -> int:
        """The most phrases around a word."""
        deepest, ends = 0, list[int]()
        for start, end, _ in self.phrases:
            while ends and ends[-1] <= start:
                ends.pop()
            ends.append(end)
            deepest = max(deepest, len(ends))
        return deepest


def _texts(given: Sequence[str], name: str) -> tuple[str, ...]:
    texts = tuple(given)
    if isinstance(given, str) or not all(isinstance(text, str) and text and not _SPACE.search(text) for text in texts):
        raise CorpusError(f"{name}: expected str without blanks, one for each word, got {given!r}")
    return texts


_SPACE = re.compile(r"\s")


def _escaped(text: str) -> str:
    return re.sub(r"[()]", lambda found: _BRACKETS[found.group()], text)


def _plain(label: str) -> str:
    return label if label.startswith("-") else re.split("[-=|]", label)[0] or label


def _check_nested(spans: Sequence[Span], n: int) -> None:
    """CorpusError unless spans in preorder are the phrases of a tree of n words."""
    ends: list[Span] = []
    for span in spans:
        if not is_text(span.label) or not span.label or _SPACE.search(span.label):
            raise CorpusError(
                f"the label of a phrase should be a str without blanks that is valid text, got {span.label!r}"
            )
        if not 0 <= span.start < span.end <= n:
            raise CorpusError(
                f"phrase {span.label} from {span.start} to {span.end} should hold some of the words 0 to {n - 1}"
            )
        while ends and ends[-1].end <= span.start:
            ends.pop()
        if ends and ends[-1].end < span.end:
            raise CorpusError(
                f"phrase {span.label} from {span.start} to {span.end} crosses {ends[-1].label} from {ends[-1].start} "
                f"to {ends[-1].end}; expected phrases within each other or apart"
            )
        ends.append(span)
    if n > 1 and (not spans or (spans[0].start, spans[0].end) != (0, n)):
        raise CorpusError(f"no phrase holds the {n} words together; expected one from 0 to {n}")
