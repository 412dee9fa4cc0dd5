"""Trees of phrases: the bracketed format of the Penn Treebank, and a loader of its public sample."""

from __future__ import annotations

import os
import re
from typing import Any, TypeAlias

from margent.datasets.text import Dataset, Part, _Home
from margent.errors import CorpusError
from margent.formats.source import Source

Tree: TypeAlias = tuple[Any, ...]
"""(label, part, part, ...): each part is a tree; of a word, (tag, word)."""

_TOKEN = re.compile(r"[()]|[^\s()]+")
# Files 0001 to 0159 to train on, 0160 to 0179 to develop on, the rest to test.
_DEV, _TEST = 160, 180


def parse_brackets(text: str) -> Tree:
    """The tree of one bracketed line, as it is written.

    >>> parse_brackets("(S (NP-SBJ (PRP It)) (VP (VBZ works)))")
    ('S', ('NP-SBJ', ('PRP', 'It')), ('VP', ('VBZ', 'works')))
    """
    stack: list[list[Any]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token != ")":
            stack[-1].append(token)
        else:
            done = tuple(stack.pop())
            is_word = len(done) == 2 and isinstance(done[1], str)
            is_phrase = len(done) > 1 and not any(isinstance(part, str) for part in done[1:])
            if not stack or not done or not isinstance(done[0], str) or not (is_word or is_phrase):
                break
            stack[-1].append(done)
    else:
        if len(stack) == 1 and len(stack[0]) == 1 and isinstance(stack[0][0], tuple):
            return stack[0][0]
    raise CorpusError(f"expected one tree in brackets, (label (tag word) ...), got {text[:60]!r}")


def without_traces(tree: Tree) -> Tree | None:
    """The tree without empty elements (tag -NONE-), phrases of nothing else, and function tags; None: nothing is left.

    >>> without_traces(parse_brackets("(S (NP-SBJ-1 (-NONE- *)) (VP (VB Go)))"))
    ('S', ('VP', ('VB', 'Go')))
    """
    label, *parts = tree
    if isinstance(parts[0], str):
        return None if label == "-NONE-" else tree
    left = [part for part in map(without_traces, parts) if part is not None]
    plain = label if label.startswith("-") else re.split("[-=|]", label)[0]
    return (plain, *left) if left else None


def words_of(tree: Tree) -> list[tuple[str, str]]:
    """[(word, tag)] from left to right.

    >>> words_of(("S", ("NP", ("PRP", "It")), ("VP", ("VBZ", "works"))))
    [('It', 'PRP'), ('works', 'VBZ')]
    """
    label, *parts = tree
    return [(parts[0], label)] if isinstance(parts[0], str) else [word for part in parts for word in words_of(part)]


def load_treebank_trees(*, traces: bool = False, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """The trees of the sample of the Penn Treebank that NLTK distributes: X words with their tags, y trees.

    A sentence is a list of (word, tag), a tree a tuple (label, part, part, ...) or, of a word, (tag, word). Files
    wsj_0001 to wsj_0159 are `train`, up to wsj_0179 `dev`, up to wsj_0199 `test`. File:
    ``treebank-sample/wsj-trees.tsv``, the name of a file, a tab and a tree in brackets on each line.

    Parameters
    ----------
    traces : bool
        Whether to leave trees as they are, rather than without empty elements and function tags.
    """
    home = _Home(
        data_home, ["treebank-sample"], "NLTK's data set 'treebank' (nltk.corpus.treebank.parsed_sents(), one a line)"
    )
    source = Source(home.find("wsj-trees.tsv"))
    parts: tuple[list[Tree], list[Tree], list[Tree]] = ([], [], [])
    for number, line in source.lines():
        file, _, text = line.partition("\t")
        if not re.fullmatch(r"wsj_\d{4}", file):
            raise source.error(number, f"expected the name of a file such as wsj_0001 and a tab, got {line[:40]!r}")
        try:
            tree = parse_brackets(text)
        except CorpusError as error:
            raise source.error(number, str(error)) from None
        kept = tree if traces else without_traces(tree)
        if kept is not None:
            which = int(file[4:])
            parts[(which >= _DEV) + (which >= _TEST)].append(kept)
    train, dev, test = (Part([words_of(tree) for tree in trees], trees) for trees in parts)
    return Dataset(
        "treebank-trees",
        train=train,
        dev=dev,
        test=test,
        description="Trees of phrases, 5 % of the Wall Street Journal; Marcus, Santorini and Marcinkiewicz 1993.",
        terms="Non-commercial use only.",
    )
