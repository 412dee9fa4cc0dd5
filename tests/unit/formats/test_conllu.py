from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats import CONLLU_COLUMNS, ConlluSentence, iter_conllu, read_conllu, write_conllu

FILE = """\
# sent_id = 1
# text = Vámonos al mar .
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	_	Mood=Imp	0	root	_	_
2	nos	nosotros	PRON	_	_	1	obj	_	_
3-4	al	_	_	_	_	_	_	_	_
3	a	a	ADP	_	_	5	case	_	_
4	el	el	DET	_	_	5	det	_	_
5	mar	mar	NOUN	_	_	1	obl	_	SpaceAfter=No
5.1	y mar	mar	NOUN	_	_	_	_	5:conj	_
6	.	.	PUNCT	_	_	1	punct	_	_

1	#	#	SYM	_	_	0	root	_	_

"""


def test_words_are_read_without_multiword_tokens_and_empty_nodes():
    columns = read_conllu(FILE.encode())
    assert columns[0] == [
        ("Vamos", "VERB"), ("nos", "PRON"), ("a", "ADP"), ("el", "DET"), ("mar", "NOUN"), (".", "PUNCT")
    ]  # fmt: skip
    assert columns[1] == [("#", "SYM")]
    assert read_conllu(FILE.encode(), ["head"])[0] == ["0", "1", "5", "5", "1", "1"]
    assert read_conllu(FILE.encode(), "lemma")[1] == ["#"]


def test_the_file_is_written_back_as_it_was():
    for ending in ("", "\n"):  # a missing last blank line is mended
        file = io.StringIO()
        write_conllu(file, iter_conllu((FILE.rstrip() + ending).encode()))
        assert file.getvalue() == FILE


def test_one_column_is_replaced():
    first, second = iter_conllu(FILE.encode())
    assert len(first) == 6
    file = io.StringIO()
    write_conllu(file, [first.with_column("upos", ["X"] * 6), second])
    assert file.getvalue() == FILE.replace("VERB", "X").replace("PRON", "X").replace("ADP", "X").replace(
        "DET", "X"
    ).replace("mar\tmar\tNOUN\t_\t_\t1", "mar\tmar\tX\t_\t_\t1").replace("PUNCT", "X")
    with pytest.raises(CorpusError, match="expected a upos for each of 6 words, got 2"):
        first.with_column("upos", ["X", "Y"])


cells = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r"), min_size=1, max_size=4)
ids = st.from_regex(r"[0-9]{1,2}([-.][0-9]{1,2})?", fullmatch=True)
rows = st.tuples(ids, *[cells] * 9)
comments = cells.map("#".__add__)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.builds(ConlluSentence, st.lists(rows, min_size=1, max_size=4), st.lists(comments, max_size=2))))
def test_what_is_written_is_read_back(sentences):
    file = io.BytesIO()
    write_conllu(file, sentences)
    assert list(iter_conllu(file.getvalue())) == sentences
    words = [[row[1] for row in s.rows if row[0].isdecimal()] for s in sentences]
    assert list(read_conllu(file.getvalue(), ["form"])) == [w for w in words if w]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\tb\n", "line 1: found 3 columns, expected 10"),
        ("# c\nx" + "\t_" * 9, "line 2: found the id 'x', expected a number"),
        ("1" + "\t_" * 9 + "\n# c\n", "line 2: found a comment within a sentence"),
    ],
)
def test_wrong_lines(text, message):
    with pytest.raises(CorpusError, match=message):
        read_conllu(text.encode())


def test_wrong_columns_and_rows():
    with pytest.raises(CorpusError, match="no column 'pos' in CoNLL-U; the columns are id, form"):
        read_conllu(FILE.encode(), ["pos"])
    with pytest.raises(CorpusError, match="at least one column"):
        read_conllu(FILE.encode(), [])
    good = ("1", *"abcdefghi")
    for sentence in (
        ConlluSentence([good[:9]]),
        ConlluSentence([("a", *good[1:])]),
        ConlluSentence([("1", "a\tb", *good[2:])]),
        ConlluSentence([good], ["no comment"]),
    ):
        with pytest.raises(CorpusError, match="sentence 0: expected"):
            write_conllu(io.StringIO(), [sentence])
    assert len(CONLLU_COLUMNS) == 10
