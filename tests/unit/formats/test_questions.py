"""Questions with meanings as files."""

from __future__ import annotations

import io

import pytest

from margent.errors import CorpusError
from margent.formats import iter_questions, read_questions, write_questions
from margent.meaning import parse_meaning

TEXT = "how many states\t(count $0 (state:t $0))\nwhere is utah\t(lambda $0 e (loc:t utah:s $0))\n"


def test_two_columns_with_names_or_without():
    X, y = read_questions(TEXT.encode())
    assert X == [["how", "many", "states"], ["where", "is", "utah"]]
    assert y[1] == parse_meaning("(lambda $0 e (loc:t utah:s $0))")
    assert read_questions(("question\tmeaning\n" + TEXT).encode()) == (X, y)
    target = io.BytesIO()
    write_questions(target, X, y)
    assert target.getvalue().decode() == "question\tmeaning\n" + TEXT


def test_further_columns_are_found_by_their_names():
    table = "lang\tfold\tid\tsentence\tlambda\nen\t3\ttrain1\tutah\tutah:s\nes\t3\ttrain2\tohio\tohio:s\n"
    found = list(iter_questions(table.encode(), question="sentence", meaning="lambda", where=("lang", "es")))
    assert [(one.words, str(one.meaning), one.id, one.split, one.fold) for one in found] == [
        (["ohio"], "ohio:s", "train2", "", "3")
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\tc\n", "line 1: expected the names of columns, 'question' and 'meaning' among them"),
        ("utah\tutah:s\nohio\n", "line 2: expected 2 columns between tabs, got 1"),
        ("\tutah:s\n", "line 1: expected a question of at least one word"),
        ("utah\t(f\n", r"line 1: in the meaning '\(f': a bracket is not closed"),
    ],
)
def test_bad_files_are_refused_with_their_line(text, message):
    with pytest.raises(CorpusError, match=message):
        read_questions(text.encode())
    with pytest.raises(CorpusError, match="expected a column 'lang', got question, meaning"):
        list(iter_questions(b"utah\tutah:s\n", where=("lang", "es")))


def test_what_cannot_be_read_again_is_not_written():
    meaning = parse_meaning("utah:s")
    for words in ("utah", [], ["new york"]):
        with pytest.raises(CorpusError, match="question 0: expected words without blanks"):
            write_questions(io.BytesIO(), [words], [meaning])
    with pytest.raises(CorpusError, match="expected a meaning without tabs"):
        write_questions(io.BytesIO(), [["a"]], [parse_meaning('"a\tb"')])
