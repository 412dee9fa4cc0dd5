"""Sentences with their dependency trees, and sentences on their way through a parser: CoNLL-U, CoNLL-X, columns, and
plain sentences, which come out as CoNLL-U."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from margent.annotation.dependency_tree import DependencyTree, tree_problem
from margent.errors import CorpusError
from margent.formats.batch import blocks, number_of_columns
from margent.formats.columns import Columns
from margent.formats.conllu import (
    CONLLU_COLUMNS,
    ConlluSentence,
    conllu_text,
    sentences_of_lines,
    with_answer,
    write_conllu,
)
from margent.formats.conllx import words_alone, write_conllx
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions, format_named, guessed_format
from margent.formats.source import Source, SourceLike, TargetLike

DEPENDENCY_COLUMNS = ("form", "upos", "xpos", "feats", "lemma")
"""What is known of each word of a sentence with a tree, in the order of the columns of X; "_" where it is not."""


def read_dependencies(
    source: SourceLike,
    format: str | None = None,
    *,
    single_root: bool = True,
    columns: str | None = None,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Columns, list[DependencyTree]]:
    """Read sentences with their dependency trees. Sentences without words are left out.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip.
    format : "conllu", "conllx" or "columns", optional
        None: as the name of the file promises, ``.conllx`` or ``.conll`` for CoNLL-X, and else CoNLL-U.
    single_root : bool
        Whether to refuse trees with several words attached to the root.
    columns : str, optional
        For "columns": what the columns are, of form, lemma, upos, xpos, feats, head and deprel, separated by commas;
        "_" is a column to leave out. "form,xpos,head" for instance.

    Returns
    -------
    X : Columns
        The columns `DEPENDENCY_COLUMNS` of each word: form, upos, xpos, feats, lemma.
    y : list of DependencyTree

    Raises
    ------
    CorpusError
        With file, line and sentence: heads that are out of range or not integers, cycles, two roots, ids out of order.

    Examples
    --------
    >>> rows = ["1 It it PRON PRP _ 2 nsubj _ _", "2 rains rain VERB VBZ _ 0 root _ _"]
    >>> X, y = read_dependencies("\\n".join(rows).replace(" ", "\\t").encode())
    >>> X[0][0], y[0]
    (('It', 'PRON', 'PRP', '_', 'it'), DependencyTree(heads=(2, 0), labels=('nsubj', 'root')))
    """
    name = format or (guessed_format(str(source), "dependencies") if not isinstance(source, bytes) else None)
    chosen = format_named(name or "conllu", "dependencies")
    if chosen.read is None:
        raise CorpusError(f"{chosen.name} files hold no trees; expected conllu, conllx or columns")
    options = FormatOptions(encoding=encoding, columns=columns, tabs=True, single_root=single_root, limits=limits)
    X, y = chosen.read(source, options)
    return X, y


def write_dependencies(
    target: TargetLike, X: Iterable[Sequence[Any]], y: Iterable[DependencyTree], *, encoding: str = "utf-8"
) -> None:
    """Write sentences with their trees as CoNLL-U.

    X : sentences of words, each a str, or a tuple of up to five str as in `DEPENDENCY_COLUMNS`.
    """
    write_conllu(target, _sentences(X, y), encoding=encoding)


def tree_of(sentence: ConlluSentence, source: Source, single_root: bool = True, number: int = 1) -> DependencyTree:
    """The tree of a sentence that was read from `source`; `number`: which one it was."""
    words = [(line, row) for line, row in enumerate(sentence.rows, sentence.line + len(sentence.comments))]
    words = [(line, row) for line, row in words if row[0].isdecimal()]

    def error(word: int, message: str) -> CorpusError:
        name = sentence.sent_id
        return source.error(words[word - 1][0], f"sentence {number if name is None else name!r}: {message}")

    heads = []
    for word, (_, row) in enumerate(words, start=1):
        if not (row[6].isascii() and row[6].isdecimal() and len(row[6]) < 10):
            raise error(word, f"word {word} has the head {row[6]!r}; expected an integer from 0 to {len(words)}")
        heads.append(int(row[6]))
    problem = tree_problem(heads, single_root)
    if problem is not None:
        raise error(*problem)
    return DependencyTree(heads, [row[7] for _, row in words])


class TreePrediction(NamedTuple):
    """One tree of a sentence; `columns`: tags and the like that the parser found itself, by the name of the column;
    `cells` are numbers of each word, its probability for instance; `reading` counts the k best from 1."""

    tree: DependencyTree
    columns: Mapping[str, Sequence[str]] | None = None
    cells: list[tuple[str, ...]] | None = None
    reading: int | None = None
    score: float | None = None


@dataclass(frozen=True)
class DependencyBatch:
    """Sentences that keep everything but their trees, and tags if the parser has its own.

    sentences : as they were read
    format : "conllu", or "conllx", which has a projective head where CoNLL-U has the enhanced graph
    """

    sentences: list[ConlluSentence]
    format: str = "conllu"

    @property
    def X(self) -> Columns:
        """The columns `DEPENDENCY_COLUMNS` of each sentence."""
        return _columns_of(self.sentences)

    def with_tree(self, sentence: ConlluSentence, answer: TreePrediction) -> ConlluSentence:
        """One of the sentences with a predicted tree; what was said of another one (deps; phead and pdeprel) goes."""
        for name, values in (answer.columns or {}).items():
            sentence = sentence.with_column(name, values)
        new = {"head": [str(head) for head in answer.tree.heads], "deprel": list(answer.tree.labels)}
        if any(sentence.column(name) != values for name, values in new.items()):
            unknown = ["_"] * len(answer.tree)
            new |= dict.fromkeys(("deps",) if self.format == "conllu" else ("deps", "misc"), unknown)
        for name, values in new.items():
            sentence = sentence.with_column(name, values)
        if answer.cells is not None and self.format != "conllu":
            raise CorpusError("CoNLL-X has no column for probabilities; expected CoNLL-U to write them to")
        return with_answer(sentence, answer)

    def text(self, answers: Sequence[Sequence[TreePrediction]]) -> str:
        """The sentences as they are written, each with its trees."""
        return conllu_text(
            [
                self.with_tree(sentence, answer)
                for sentence, readings in zip(self.sentences, answers)
                for answer in readings
            ]
        )


def dependency_batches(path: str, options: FormatOptions, format: str | None = None) -> Iterator[DependencyBatch]:
    """The sentences of a file, as many at once as have arrived ("-": standard input).

    Without a format, the name of the file says what it holds, and else its first line: CoNLL-U begins with a comment
    or has ten columns; anything else is plain text, a sentence a line, with blanks between the words.
    """
    name = format or guessed_format(path, "dependencies")
    source = Source(path, **options.reading)
    lines = source.lines_with_ends()
    if name is None:
        first = next((line for line in lines if line[1].strip()), None)
        if first is None:
            return
        lines = chain([first], lines)
        is_conllu = first[1].startswith("#") or first[1].count("\t") == len(CONLLU_COLUMNS) - 1
        name = "conllu" if is_conllu else "sentences"
    for block in blocks(path, _iterated(name, source, lines, options)):
        yield DependencyBatch(block, "conllx" if name == "conllx" else "conllu")


def _columns_of(sentences: Iterable[ConlluSentence]) -> Columns:
    return Columns.from_sentences(
        [list(zip(*(sentence.column(name) for name in DEPENDENCY_COLUMNS))) for sentence in sentences],
        len(DEPENDENCY_COLUMNS),
    )


def _row(number: int, cells: Mapping[str, str]) -> tuple[str, ...]:
    return (str(number), *(cells.get(name) or "_" for name in CONLLU_COLUMNS[1:]))


def _sentences(X: Iterable[Sequence[Any]], y: Iterable[DependencyTree]) -> Iterator[ConlluSentence]:
    for number, (words, tree) in enumerate(zip(X, y, strict=True)):
        if len(words) != len(tree):
            raise CorpusError(f"sentence {number}: expected a tree of {len(words)} words, got one of {len(tree)}")
        rows = []
        for i, (word, head, label) in enumerate(zip(words, tree.heads, tree.labels), start=1):
            known = (word,) if isinstance(word, str) else word
            cells = dict(zip(DEPENDENCY_COLUMNS, known)) | {"head": str(head), "deprel": label}
            rows.append(_row(i, cells))
        yield ConlluSentence(rows)


_Lines: TypeAlias = "Iterator[tuple[int, str, str]]"
"""Number, text and end of each."""


def _iterated(name: str, source: Source, lines: _Lines, options: FormatOptions) -> Iterator[ConlluSentence]:
    """The sentences of lines in this format."""
    if name == "columns":
        return _sentences_of_columns(source, lines, options)
    if name == "sentences":
        return _plain_sentences(source, lines)
    sentences = sentences_of_lines(source, lines)
    return words_alone(source, sentences) if name == "conllx" else sentences


def _plain_sentences(source: Source, lines: _Lines) -> Iterator[ConlluSentence]:
    """A sentence a line."""
    for number, line, _ in lines:
        if "\t" in line:
            raise source.error(number, "found a tab, expected a sentence a line with blanks between its words")
        words = line.split()
        if len(words) > source.limits.tokens:
            raise source.beyond("tokens", number)
        if words:
            rows = [_row(i, {"form": word}) for i, word in enumerate(words, start=1)]
            yield ConlluSentence(rows, [f"# text = {' '.join(words)}"], line=number)


def _sentences_of_columns(source: Source, lines: _Lines, options: FormatOptions) -> Iterator[ConlluSentence]:
    """A word a line, a blank line after each sentence."""
    names = _named_columns(options)
    rows: list[tuple[str, ...]] = []
    first = size = 0
    for number, line, _ in chain(lines, [(0, "", "")]):
        if options.comment and line.startswith(options.comment) and not rows:
            continue
        if line.strip():
            cells = line.split("\t") if options.tabs else line.split()
            if len(cells) != len(names):
                message = f"found {number_of_columns(len(cells))}, expected {len(names)}: {', '.join(names)}"
                raise source.error(number, message)
            size = size + len(line) if rows else len(line)
            if len(rows) == source.limits.tokens or size > source.limits.sentence:
                raise source.beyond("tokens" if size <= source.limits.sentence else "sentence", number)
            if not rows:
                first = number
            rows.append(_row(len(rows) + 1, dict(zip(names, cells))))
        elif rows:
            yield ConlluSentence(rows, line=first)
            rows = []


def _named_columns(options: FormatOptions) -> list[str]:
    names = (options.columns or "form").split(",")
    known = [name for name in names if name != "_"]
    if not {*known} <= {*CONLLU_COLUMNS[1:8]} or len({*known}) < len(known) or "form" not in known:
        raise ValueError(
            f"columns: expected what each column of the file is, of {', '.join(CONLLU_COLUMNS[1:8])} or _, separated "
            f"by commas, with form among them, got {options.columns!r}"
        )
    return names


def _read(name: str, source: Any, options: FormatOptions) -> tuple[Columns, list[DependencyTree]]:
    opened = Source(source, **options.reading)
    if name == "columns" and "head" not in _named_columns(options):
        raise ValueError(f"columns: expected head to be among them to read trees, got {options.columns!r}")
    sentences = [each for each in _iterated(name, opened, opened.lines_with_ends(), options) if len(each)]
    trees = [tree_of(sentence, opened, options.single_root, i) for i, sentence in enumerate(sentences, start=1)]
    return _columns_of(sentences), trees


def _declared(name: str, about: str, extensions: tuple[str, ...] = (), write: Any = None) -> Format:
    def read(source: Any, options: FormatOptions) -> Any:
        return _read(name, source, options)

    def stream(path: str, options: FormatOptions, expected: object) -> Iterator[DependencyBatch]:
        return dependency_batches(path, options, name)

    read_it = None if name == "sentences" else read
    return Format(name, "dependencies", about, extensions, read_it, stream, write, name == "columns")


FORMATS = (
    _declared(
        "conllu",
        "Universal Dependencies",
        (".conllu",),
        lambda target, X, y, options: write_dependencies(target, X, y, **options.text),
    ),
    _declared(
        "conllx",
        "trees of the CoNLL shared tasks of 2006 and 2007",
        (".conllx", ".conll"),
        lambda target, X, y, options: write_conllx(target, _sentences(X, y), **options.text),
    ),
    _declared("columns", "a word a line"),
    _declared("sentences", "a sentence a line, blanks between the words"),
)
