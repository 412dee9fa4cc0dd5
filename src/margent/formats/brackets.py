"""Phrase-structure trees in brackets, as in the Penn Treebank, and sentences on their way through a parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from margent.annotation.phrase_tree import PhraseTree
from margent.errors import CorpusError
from margent.formats.batch import blocks, headed
from margent.formats.columns import Columns
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions, guessed_format
from margent.formats.source import Source, SourceLike, TargetLike, open_target


def read_brackets(
    source: SourceLike,
    *,
    functions: bool = False,
    traces: bool = False,
    unaries: bool = True,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Columns, list[PhraseTree]]:
    """Read trees in brackets, on a line each or over several lines. Trees without words are left out.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip.
    functions : bool
        Whether function tags and indices are kept, NP-SBJ-1 instead of NP.
    traces : bool
        Whether empty elements (tag -NONE-) are kept, and phrases of nothing else.
    unaries : bool
        Whether all phrases over the same words are kept, or the topmost alone.

    Returns
    -------
    X : Columns
        Word and tag of each token.
    y : list of PhraseTree

    Raises
    ------
    CorpusError
        With file, line and the number of the tree: brackets that do not match, what is not a tree.

    Examples
    --------
    >>> X, y = read_brackets(b"(S (NP-SBJ (PRP It))\\n   (VP (VBZ works)))")
    >>> X[0], y[0].brackets()
    ([('It', 'PRP'), ('works', 'VBZ')], '(S (NP (PRP It)) (VP (VBZ works)))')
    """
    trees = list(
        iter_brackets(source, functions=functions, traces=traces, unaries=unaries, encoding=encoding, limits=limits)
    )
    return tokens_of(trees), trees


def iter_brackets(
    source: SourceLike,
    *,
    functions: bool = False,
    traces: bool = False,
    unaries: bool = True,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[PhraseTree]:
    """The same, tree by tree."""
    opened = Source(source, encoding, limits)
    lines = ((number, line) for number, line in opened.lines() if line.strip())
    for _, tree in _trees(opened, lines):
        tree = chosen_parts(tree, functions=functions, traces=traces, unaries=unaries)
        if len(tree):
            yield tree


def chosen_parts(tree: PhraseTree, *, functions: bool, traces: bool, unaries: bool) -> PhraseTree:
    """The tree without what is not to be kept."""
    tree = tree if traces else tree.without_traces()
    tree = tree if functions else tree.without_functions()
    return tree if unaries else tree.without_unary_chains()


def write_brackets(target: TargetLike, trees: Iterable[PhraseTree], *, encoding: str = "utf-8") -> None:
    """Write trees in brackets, one a line."""
    with open_target(target, encoding) as write:
        for tree in trees:
            write(f"{tree.brackets()}\n")


def tokens_of(trees: Iterable[PhraseTree]) -> Columns:
    """Word and tag of each token of trees."""
    return Columns.from_sentences([list(zip(tree.words, tree.tags)) for tree in trees], 2)


class PhrasePrediction(NamedTuple):
    """One tree of a sentence: `reading` counts the k best from 1."""

    tree: PhraseTree
    cells: list[tuple[str, ...]] | None = None
    reading: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class PhraseBatch:
    """Sentences to be parsed: lists of words, or of (word, tag); `lines`: where each of them begins."""

    X: Sequence[Sequence[Any]]
    lines: Sequence[int]

    def text(self, answers: Sequence[Sequence[PhrasePrediction]]) -> str:
        """Trees, one a line; above each of the k best a comment that says which one it is."""
        return "".join(headed(one, f"{one.tree.brackets()}\n") for readings in answers for one in readings)


def phrase_batches(path: str, options: FormatOptions, format: str | None = None) -> Iterator[PhraseBatch]:
    """The sentences of a file, as many at once as have arrived ("-": standard input).

    Without a format, the name of the file says what it holds, and else its first line that is not a comment: brackets
    begin with "(". Of trees, words and tags are taken; of plain sentences, words with blanks between them.
    """
    name = format or guessed_format(path, "phrases")
    source = Source(path, **options.reading)
    lines: Iterator[tuple[int, str]] = ((number, line) for number, line in source.lines() if line.strip())
    if name is None:
        seen: list[tuple[int, str]] = []
        for numbered in lines:
            seen.append(numbered)
            if not numbered[1].startswith("#"):
                break
        name = "brackets" if seen and seen[-1][1].lstrip().startswith("(") else "sentences"
        lines = chain(seen, lines)
    sentences: Iterator[tuple[int, list[Any]]]
    if name == "brackets":
        plain = ((number, tree.without_traces()) for number, tree in _trees(source, lines))
        sentences = ((number, list(zip(tree.words, tree.tags))) for number, tree in plain if len(tree))
    else:
        sentences = ((number, line.split()) for number, line in lines)
    for block in blocks(path, sentences):
        yield PhraseBatch([sentence for _, sentence in block], [number for number, _ in block])


def _trees(source: Source, lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, PhraseTree]]:
    """The trees of lines, each with the number of its first line: they end where their brackets close.

    Comments, "#" at the beginning, may stand between them.
    """
    pending: list[str] = []
    first = depth = count = size = 0
    for number, line in lines:
        if not pending and line.startswith("#"):
            continue
        begin = 0
        for at, letter in enumerate(line):
            if letter not in "()":
                continue
            if depth == 0 and line[begin:at].strip():
                break
            first = number if depth == 0 else first
            depth += 1 if letter == "(" else -1
            if depth < 0:
                raise source.error(number, f"tree {count + 1}: found ')' where no bracket is open")
            if depth == 0:
                pending.append(line[begin : at + 1])
                count += 1
                yield first, _tree(source, first, count, "\n".join(pending))
                pending, begin, size = [], at + 1, 0
        rest = line[begin:]
        if rest.strip():
            if depth == 0:
                raise source.error(number, f"tree {count + 1}: expected '(' to begin a tree, got {rest.strip()[:40]!r}")
            pending.append(rest)
            size += len(rest)
            if size > source.limits.sentence:
                raise source.beyond("sentence", number)
    if pending:
        raise source.error(first, f"tree {count + 1} begins here, and {depth} of its brackets are not closed")


def _tree(source: Source, line: int, number: int, text: str) -> PhraseTree:
    try:
        return PhraseTree.from_brackets(text)
    except CorpusError as error:
        raise source.error(line, f"tree {number}: {error}") from None


def _read(source: Any, options: FormatOptions) -> tuple[Columns, list[PhraseTree]]:
    return read_brackets(
        source, functions=options.functions, traces=options.traces, unaries=options.unaries, **options.reading
    )


FORMATS = (
    Format(
        "brackets",
        "phrases",
        "trees of the Penn Treebank",
        (".mrg", ".brackets", ".ptb"),
        _read,
        lambda path, options, expected: phrase_batches(path, options, "brackets"),
        lambda target, X, y, options: write_brackets(target, y, **options.text),
    ),
    Format(
        "sentences",
        "phrases",
        "a sentence a line, blanks between the words",
        stream=lambda path, options, expected: phrase_batches(path, options, "sentences"),
    ),
)
