from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats import CONLLU_COLUMNS, ConlluSentence, iter_conllu, read_conllu, write_conllu
from margent.formats.conllu import conllu_text

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
    ends = ["", "\n", "\n\n", "\n \t\n", "\n\n\n\n", "\n\n# a comment", "\n\n# a comment\n\n# and one more\n"]
    for text in [
        *(FILE.rstrip() + end for end in ends),
        f"\n \n{FILE}",
        FILE.replace("\n\n", "\n\n \n\n"),
        "",
        " \n\n",
    ]:
        for line_end in ("\n", "\r\n"):
            raw = text.replace("\n", line_end).encode()
            file = io.BytesIO()
            write_conllu(file, iter_conllu(raw))
            assert file.getvalue() == raw


def test_sentences_of_several_files_are_kept_apart():
    for end in ("", "\n", "\r", "\r\n"):
        first = list(iter_conllu(("1" + "\t_" * 9 + end).encode()))
        assert first[0].line_end == "\n" and len(list(iter_conllu(conllu_text([*first, *first]).encode()))) == 2
        assert conllu_text(first).endswith("\n\n")
    assert conllu_text([]) == ""


def test_line_and_name_of_a_sentence():
    first, second = iter_conllu(FILE.encode())
    assert (first.line, second.line) == (1, 13) and (first.sent_id, second.sent_id) == ("1", None)


def test_a_sentence_is_there_as_soon_as_its_blank_line_is():
    lines = iter(FILE.splitlines(keepends=True))

    class Pipe:
        def read(self, size):
            return next(lines, "")

    next(iter_conllu(Pipe()))
    assert next(lines).startswith("1\t#")


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
comments = cells.map("#".__add__)


@st.composite
def rows(draw):
    """Words, in front of some a multiword token of up to three, behind some an empty node or two."""
    n = draw(st.integers(1, 4))
    ids = ["0.1"] if draw(st.booleans()) else []
    free = 1
    for word in range(1, n + 1):
        if word >= free and draw(st.booleans()):
            free = draw(st.integers(word, min(word + 2, n))) + 1
            ids.append(f"{word}-{free - 1}")
        ids += [str(word), *(f"{word}.{i}" for i in range(1, draw(st.integers(1, 3))))]
    return [(each, *draw(st.tuples(*[cells] * 9))) for each in ids]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.builds(ConlluSentence, rows(), st.lists(comments, max_size=2))))
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
        *(
            ("".join(each + "\t_" * 9 + "\n" for each in ids.split()), message)
            for ids, message in [
                ("0", "line 1: found the id 0, expected 1: words are numbered from 1"),
                ("1 3", "line 2: found the id 3, expected 2"),
                ("1 1", "line 2: found the id 1, expected 2"),
                ("01", "line 1: found the id '01', expected a number"),
                ("9" * 5000, "line 1: found the id '999"),
                ("2-3 1", "line 1: found the id 2-3, expected ranges to begin at the next word, here 1"),
                ("1 2-1 2", "line 2: found the id 2-1, expected ranges"),
                ("1-2 1 2-3 2 3", "line 3: found the id 2-3, expected ranges .* not to meet"),
                ("1-2 1-2 1", "line 2: found the id 1-2, expected 1"),
                ("1-3 1 2", "line 3: found a range up to 3, expected it to end with one of the 2 words"),
                ("1 2.1", "line 2: found the id 2.1, expected 1.1 for an empty node here"),
                ("1 1.2", "line 2: found the id 1.2, expected 1.1"),
            ]
        ),
        ("1" + "\t_" * 9 + "\r\n2" + "\t_" * 9 + "\n3" + "\t_" * 9, "line 2: found a line end unlike those above"),
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
        ConlluSentence([good, good]),
        ConlluSentence([("1-2", *good[1:]), good]),
    ):
        with pytest.raises(CorpusError, match=r"sentence 0: (expected|found .*, expected)"):
            write_conllu(io.StringIO(), [sentence])
    assert len(CONLLU_COLUMNS) == 10
