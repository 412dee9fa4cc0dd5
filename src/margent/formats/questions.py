"""Questions with their meanings: a table of columns between tabs, a question a line.

The first line names the columns; those of question and meaning are taken, and id, split and fold where they are there.
Without such a line there are two columns, question and meaning.

    question                          meaning
    which states border texas         (lambda $0 e (and (state:t $0) (next_to:t $0 texas:s)))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from margent.errors import CorpusError, MeaningError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.meaning.expression import Expression
from margent.meaning.notation import meaning_text, parse_meaning


class Question(NamedTuple):
    """A question and what it means.

    id, split, fold : what the columns of these names say; empty where there are none
    words : the question, cut at blanks
    """

    words: list[str]
    meaning: Expression
    id: str = ""
    split: str = ""
    fold: str = ""


def iter_questions(
    source: SourceLike,
    *,
    question: str = "question",
    meaning: str = "meaning",
    where: tuple[str, str] | None = None,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Question]:
    """Read questions line by line.

    Parameters
    ----------
    question, meaning : str
        The names of these columns in the first line.
    where : (column, value), optional
        Only the lines that have this value in this column.
    """
    opened = Source(source, encoding, limits)
    columns = {question: 0, meaning: 1}
    n_columns = 2
    started = False
    for number, line in opened.lines():
        if not line.strip():
            continue
        fields = line.split("\t")
        if not started:
            started = True
            if question in fields and meaning in fields:
                columns, n_columns = {name: place for place, name in enumerate(fields)}, len(fields)
                continue
            if len(fields) != 2:
                raise opened.error(
                    number, f"expected the names of columns, {question!r} and {meaning!r} among them, got {line[:60]!r}"
                )
        if len(fields) != n_columns:
            raise opened.error(number, f"expected {n_columns} columns between tabs, got {len(fields)}")
        if where is not None:
            if where[0] not in columns:
                raise opened.error(number, f"expected a column {where[0]!r}, got {', '.join(columns)}")
            if fields[columns[where[0]]] != where[1]:
                continue
        words = fields[columns[question]].split()
        if not words:
            raise opened.error(number, "expected a question of at least one word, got none")
        try:
            expression = parse_meaning(fields[columns[meaning]])
        except MeaningError as error:
            raise opened.error(number, str(error)) from None
        rest = (fields[columns[name]] if name in columns else "" for name in ("id", "split", "fold"))
        yield Question(words, expression, *rest)


def read_questions(
    source: SourceLike,
    *,
    question: str = "question",
    meaning: str = "meaning",
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[list[list[str]], list[Expression]]:
    """Read questions as lists of words, and their meanings.

    Parameters
    ----------
    question, meaning : str
        The names of these columns in the first line.

    Examples
    --------
    >>> X, y = read_questions(b"how many states are there\\t(count $0 (state:t $0))\\n")
    >>> X[0][:2], y[0]
    (['how', 'many'], parse_meaning('(count $0 (state:t $0))'))
    """
    found = list(iter_questions(source, question=question, meaning=meaning, encoding=encoding, limits=limits))
    return [one.words for one in found], [one.meaning for one in found]


def write_questions(
    target: TargetLike,
    questions: Iterable[Sequence[str]],
    meanings: Iterable[Expression],
    *,
    notation: str = "lambda",
    encoding: str = "utf-8",
) -> None:
    """Write questions and their meanings in two columns, under a line with their names."""
    with open_target(target, encoding) as write:
        write("question\tmeaning\n")
        for number, (words, meaning) in enumerate(zip(questions, meanings, strict=True)):
            if isinstance(words, str) or not words or any(len(word.split()) != 1 for word in words):
                raise CorpusError(f"question {number}: expected words without blanks, got {words!r}")
            text = meaning_text(meaning, notation)
            if "\t" in text:
                raise CorpusError(f"question {number}: expected a meaning without tabs, got {text[:60]!r}")
            write(f"{' '.join(words)}\t{text}\n")


FORMATS = (
    Format(
        "questions",
        "meanings",
        "a question and its meaning on each line, between tabs",
        (".questions",),
        lambda path, options: read_questions(path, **options.reading),
        None,
        lambda target, X, y, options: write_questions(target, X, y, **options.text),
    ),
)
