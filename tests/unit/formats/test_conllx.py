from __future__ import annotations

import io

import pytest

from margent.errors import CorpusError
from margent.formats import iter_conllx, read_dependencies, write_conllx
from margent.formats.conllu import ConlluSentence

# The first sentence is one of the examples of the shared task.
FILE = """\
1	Cathy	Cathy	N	N	eigen|ev|neut	2	su	_	_
2	zag	zie	V	V	trans|ovt|1of2of3|ev	0	ROOT	_	_
3	hen	hen	Pron	Pron	per|3|mv|datofacc	2	obj1	2	obj1
4	.	.	Punc	Punc	punt	2	punct	_	_

1	Ja	_	_	_	_	0	ROOT	_	_
"""


def test_files_are_written_back_as_they_were():
    for text in (FILE, FILE + "\n", FILE.replace("\n", "\r\n")):
        file = io.BytesIO()
        write_conllx(file, iter_conllx(text.encode()))
        assert file.getvalue() == text.encode()


def test_trees_are_read():
    X, y = read_dependencies(FILE.encode(), "conllx")
    assert X[0][1] == ("zag", "V", "V", "trans|ovt|1of2of3|ev", "zie")
    assert y[0].heads == (2, 0, 2, 2) and y[0].labels == ("su", "ROOT", "obj1", "punct")


def test_words_alone():
    text = "# a comment\n1-1" + "\t_" * 9 + "\n1" + "\t_" * 9 + "\n"
    with pytest.raises(CorpusError, match="line 2: found the id 1-1, expected an integer: CoNLL-X has words alone"):
        list(iter_conllx(text.encode()))
    with pytest.raises(CorpusError, match="sentence 0: expected words alone"):
        write_conllx(io.StringIO(), [ConlluSentence([("1", *"_" * 9), ("1.1", *"_" * 9)])])
