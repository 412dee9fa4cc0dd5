from __future__ import annotations

import gzip
import io
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent._core import ColumnParser, ColumnTable
from margent.errors import CorpusError
from margent.formats import Columns, format_columns, iter_columns, read_columns, write_columns
from oracle.columns import read_plainly

TEXT = b"the DT B-NP\ncat NN I-NP\nsleeps VBZ O\n\nit PRP B-NP\n\n"
SENTENCES = [[("the", "DT", "B-NP"), ("cat", "NN", "I-NP"), ("sleeps", "VBZ", "O")], [("it", "PRP", "B-NP")]]

texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=6)
cells = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r "), min_size=1, max_size=6)
# Files made of few pieces, so that the odd cases meet.
pieces = st.sampled_from(
    ["a", "é", "語", "\U0001f600", " ", "\t", "\n", "\r\n", "\r", "\n\n", "#", "-DOCSTART-", "\x00", "\ufeff", "\u2028"]
)


def feed(data: bytes, cuts: list[int], **options: object) -> ColumnTable:
    parser = ColumnParser(**options)
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for begin, end in pairwise(edges):
        parser.feed(data[begin:end])
    parser.finish()
    return parser.take()


@settings(deadline=None, max_examples=400)
@given(st.lists(pieces, max_size=40), st.lists(st.integers(0, 200), max_size=5), st.booleans(), st.booleans())
def test_the_parser_reads_what_the_plain_reader_reads(parts, cuts, tabs_only, comments):
    text = "".join(parts)
    expected = read_plainly(text, tabs_only, "#" if comments else "")
    counts = {len(row) for sentence in expected for row in sentence}
    options = {"tabs_only": tabs_only, "comment": "#" if comments else ""}
    if len(counts) > 1:
        with pytest.raises(CorpusError, match=r"line \d+: found \d+ columns?, expected \d+"):
            feed(text.encode(), cuts, **options)
        return
    columns = Columns(feed(text.encode(), cuts, **options))
    assert columns.n_columns == (counts.pop() if counts else 0)
    assert [[row if isinstance(row, tuple) else (row,) for row in s] for s in columns] == expected


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.lists(st.tuples(cells, cells), min_size=1, max_size=4), max_size=6),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-7"]),
    st.integers(1, 9),
    st.sampled_from(["\t", " "]),
)
def test_what_is_written_is_read_back(sentences, encoding, chunk_size, separator):
    file = io.BytesIO()
    write_columns(file, sentences, separator=separator, encoding=encoding)
    data = file.getvalue()
    assert list(read_columns(data, encoding=encoding, drop_docstart=False)) == sentences
    pieces_read = iter_columns(io.BytesIO(data), encoding=encoding, chunk_size=chunk_size, drop_docstart=False)
    assert [sentence for columns in pieces_read for sentence in columns] == sentences


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.tuples(texts, texts, texts), max_size=4), max_size=6))
def test_sentences_given_in_python_come_back(sentences):
    columns = Columns.from_sentences(sentences, 3)
    assert list(columns) == sentences
    assert [columns[i] for i in range(len(columns))] == sentences
    assert columns.lengths.tolist() == [len(s) for s in sentences]
    assert columns.column(1) == [[row[1] for row in s] for s in sentences]
    assert columns.table.column(1) == [row[1] for s in sentences for row in s]


def test_counts_and_sentences():
    columns = read_columns(TEXT)
    assert (len(columns), columns.n_tokens, columns.n_columns) == (2, 4, 3)
    assert list(columns) == SENTENCES
    assert columns[-1] == SENTENCES[-1]
    assert columns.shape == (2,)
    assert columns.table.sentence_ptr.tolist() == [0, 3, 4]
    assert repr(columns) == "Columns(2 sentences, 4 tokens, 3 columns)"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.rstrip(),
        TEXT.replace(b" ", b" \t  "),
        TEXT.replace(b"\n\n", b"\n \t\n\n\n"),
        b"-DOCSTART- -X- O O\n\n" + TEXT,
        TEXT.replace(b"\n\n", b"\n-DOCSTART-\n"),
        gzip.compress(TEXT, mtime=0),
        gzip.compress(TEXT[:20], mtime=0) + gzip.compress(TEXT[20:], mtime=0),
        gzip.compress(TEXT, mtime=0) + bytes(512),
    ],
    ids=["crlf", "bom", "no-end", "runs", "blank-lines", "docstart", "docstart-ends", "gzip", "members", "padding"],
)
def test_the_same_sentences_however_they_are_written(data, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert list(read_columns(data)) == SENTENCES
    assert list(read_columns(path)) == SENTENCES
    assert [s for columns in iter_columns(path, chunk_size=3) for s in columns] == SENTENCES


def test_sources(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(TEXT)
    assert list(read_columns(str(path))) == SENTENCES
    assert list(read_columns(io.BytesIO(TEXT))) == SENTENCES
    assert list(read_columns(io.StringIO(TEXT.decode()))) == SENTENCES
    assert list(read_columns([path, TEXT.rstrip(), path])) == SENTENCES * 3
    with open(path) as file:
        assert list(read_columns(file)) == SENTENCES
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert list(read_columns("-")) == SENTENCES


def test_tabs_keep_spaces_and_empty_cells():
    columns = read_columns(b"New York\t\tB\nis\tx\tO\n", separator="\t")
    assert columns[0] == [("New York", "", "B"), ("is", "x", "O")]


def test_hash_is_a_token_unless_it_is_said_to_be_a_comment():
    data = b"# NN\n1.8 CD\n"
    assert read_columns(data)[0] == [("#", "NN"), ("1.8", "CD")]
    assert read_columns(data, comment="#")[0] == [("1.8", "CD")]


def test_docstart_lines_can_be_kept():
    assert read_columns(b"-DOCSTART- O\n", drop_docstart=False)[0] == [("-DOCSTART-", "O")]
    assert read_columns(b"-DOCSTART-x O\n")[0] == [("-DOCSTART-x", "O")]


def test_nothing_at_all():
    for data in (b"", b"\n\n", b"-DOCSTART- O\n"):
        columns = read_columns(data)
        assert (len(columns), columns.n_tokens, list(columns)) == (0, 0, [])
        with pytest.raises(CorpusError, match="no column -1"):
            columns.split()


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (b"a b\n\nc\n", {}, "line 3: found 1 column, expected 2"),
        (b"a\tb\na\tb\tc\n", {"separator": "\t"}, "line 2: found 3 columns, expected 2"),
        (b"a b\nc \xff\n", {}, "line 2: the text is not valid UTF-8"),
        (b"a b\nc \xed\xa0\x80\n", {}, "line 2: the text is not valid UTF-8"),
        (b"a b\nc \xc0\xaf\n", {}, "line 2: the text is not valid UTF-8"),
        (b"a b\nc \xe8\xaa", {}, "line 2: the text is not valid UTF-8"),
        (b"a b\nc \xff\n", {"encoding": "ascii"}, "line 2: the text is not valid ascii"),
        (b"a b", {"encoding": "latin-33"}, "encoding 'latin-33' is not one that Python knows"),
        (b"a b", {"separator": ","}, "separator must be None"),
        (gzip.compress(TEXT, mtime=0)[:-10], {}, "the gzip data is truncated"),
        (gzip.compress(TEXT, mtime=0)[:9], {}, "the gzip data is truncated"),
        (gzip.compress(TEXT, mtime=0)[:10] + b"garbage", {}, "the gzip data is corrupted"),
        (gzip.compress(TEXT, mtime=0) + b"garbage", {}, "the gzip data is corrupted"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(data, options, message, tmp_path):
    path = tmp_path / "odd.conll"
    path.write_bytes(data)
    with pytest.raises(CorpusError, match=message) as caught:
        read_columns(path, **options)
    if "must be" not in message and "encoding" not in message:
        assert str(caught.value).startswith(str(path))
    with pytest.raises(CorpusError, match=message):
        list(iter_columns(path, chunk_size=2, **options))


def test_a_source_of_another_kind():
    with pytest.raises(CorpusError, match="got int"):
        read_columns(3)
    with pytest.raises(FileNotFoundError):
        read_columns("no/such/file")


def test_a_lone_surrogate_in_a_text_file_is_found_with_its_line():
    with pytest.raises(CorpusError, match="line 2: the text is not valid UTF-8"):
        read_columns(io.StringIO("a\n\ud800\n"))


def test_streaming_gives_a_sentence_as_soon_as_it_is_complete():
    class Pipe:
        def __init__(self) -> None:
            self.given: list[bytes] = []

        def read1(self, size: int) -> bytes:
            self.given.append(waiting.pop(0))
            return self.given[-1]

        read = read1

    waiting = [b"a", b" 1\n", b"\nb 2\n", b"\n", b""]
    pipe = Pipe()
    stream = iter_columns(pipe)
    assert list(next(stream)) == [[("a", "1")]]
    assert len(pipe.given) == 3
    assert list(next(stream)) == [[("b", "2")]]
    assert list(stream) == []


def test_select_and_split():
    columns = read_columns(TEXT)
    X, y = columns.split()
    assert X[1] == [("it", "PRP")]
    assert y[0] == ["B-NP", "I-NP", "O"]
    assert columns.select([2, 0])[1] == [("B-NP", "it")]
    assert columns.select(-1).column_indices == (2,)
    assert X.select(np.int64(-1))[1] == ["PRP"]
    X, y = columns.split(0)
    assert (X[1], y[1]) == ([("PRP", "B-NP")], ["it"])
    assert X.table is columns.table
    with pytest.raises(CorpusError, match="there is no column 3: there are 3"):
        columns.select(3)
    with pytest.raises(CorpusError, match="at least two columns"):
        y.split()
    with pytest.raises(CorpusError, match="at least one column"):
        columns.select([])


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_parts_are_the_parts_of_the_list(data):
    sentences = [[(str(i), str(j)) for j in range(i % 3)] for i in range(data.draw(st.integers(0, 12)))]
    columns, plain = Columns.from_sentences(sentences, 2), sentences
    for _ in range(2):  # parts of parts too
        if data.draw(st.booleans()) or not plain:
            part = data.draw(st.slices(len(plain)))
            columns, plain = columns[part], plain[part]
        else:
            chosen = data.draw(st.lists(st.integers(-len(plain), len(plain) - 1), max_size=8))
            columns, plain = columns[np.array(chosen, dtype=np.int32)], [plain[i] for i in chosen]
        assert list(columns) == plain
        assert columns.n_tokens == sum(map(len, plain))
        assert columns.lengths.tolist() == [len(s) for s in plain]
        assert columns.column(-1) == [[row[-1] for row in s] for s in plain]
        assert all(columns[i] == sentence for i, sentence in enumerate(plain))


def test_wrong_indices():
    columns = read_columns(TEXT)
    assert list(columns[[True, False]]) == SENTENCES[:1]
    for index in (2, -3, [0, 2], [True]):
        with pytest.raises(IndexError):
            columns[index]
    for index in ("a", [0.5], [[0]]):
        with pytest.raises(TypeError, match="chosen by"):
            columns[index]


def test_scikit_learn_takes_parts_as_views():
    from sklearn.model_selection import KFold, train_test_split
    from sklearn.utils import _safe_indexing

    columns = Columns.from_sentences([[str(i)] for i in range(10)])
    train, test = train_test_split(columns, test_size=3, random_state=0)
    assert isinstance(train, Columns)
    assert train.table is columns.table
    assert sorted(s[0] for s in [*train, *test]) == [str(i) for i in range(10)]
    for chosen, _ in KFold(5).split(columns):
        assert list(_safe_indexing(columns, chosen)) == [[str(i)] for i in chosen]


def test_columns_travel_between_processes():
    columns = read_columns(TEXT)[1:].select([0, 2])
    copy = pickle.loads(pickle.dumps(columns))
    assert list(copy) == list(columns)
    empty = pickle.loads(pickle.dumps(columns[:0]))
    assert (len(empty), empty.n_columns) == (0, 2)


def test_equal_cells_are_one_object():
    words = read_columns(b"a\nb\n\na\n").column(0)
    assert words[0][0] is words[1][0]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("the cat", "expected a sequence of sentences, got str"),
        ([["a"], "cat"], "sentence 1: expected a list of tokens, got str"),
        ([["a"], None], "sentence 1: expected a list of tokens, got NoneType"),
        ([{"a": 1}], "sentence 0: expected a list of tokens, got dict"),
        ([["a"], ["b", 3]], "sentence 1, token 1: expected str or a tuple of str, got int"),
        ([["a", b"b"]], "sentence 0, token 1: expected str or a tuple of str, got bytes"),
        ([[("a", "b"), ("c", None)]], "sentence 0, token 1: expected str in column 1, got NoneType"),
        ([[("a", "b")], [("c",)]], "sentence 1, token 0: found 1 column, expected 2"),
        ([[("a", "b")], ["c"]], "sentence 1, token 0: found 1 column, expected 2"),
        ([[()]], "sentence 0, token 0: expected at least one column, got an empty tuple"),
        ([["\ud800"]], "sentence 0, token 0: expected text that can be written as UTF-8, got a lone surrogate"),
    ],
)
def test_wrong_rows_are_named(sentences, message):
    with pytest.raises(CorpusError, match=message):
        Columns.from_sentences(sentences)


def test_rows_of_other_kinds():
    rows = np.array(["a", "b"])
    assert list(Columns.from_sentences([rows, ("c",), []])) == [["a", "b"], ["c"], []]
    assert list(Columns.from_sentences(iter([[["a", "b"]]]))) == [[("a", "b")]]


def test_a_cell_number_that_is_not_there_is_an_error_and_not_a_crash():
    table = read_columns(TEXT).table
    for sentence, columns in ((2, [0]), (-1, [0]), (0, [3]), (0, [-1])):
        with pytest.raises(IndexError):
            table.rows(sentence, np.array(columns))
        with pytest.raises(IndexError):
            table.sentences(np.array([sentence]), np.array(columns))
    with pytest.raises(IndexError):
        table.column(3)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.lists(st.tuples(st.text("ab \t\r\n", max_size=2), st.text("ab \t\r\n", max_size=2)), max_size=3), max_size=3
    ),
    st.sampled_from(["\t", " "]),
)
def test_what_can_be_formatted_can_be_parsed(sentences, separator):
    try:
        text = format_columns(sentences, separator=separator)
    except CorpusError:
        rows = [cell for sentence in sentences for row in sentence for cell in row]
        assert any(set(cell) - {"a", "b"} or not cell for cell in rows)
    else:
        again = read_columns(text.encode(), separator="\t" if separator == "\t" else None)
        assert list(again) == [sentence for sentence in sentences if sentence]


def test_writing_columns_side_by_side(tmp_path):
    X, y = read_columns(TEXT).split()
    write_columns(tmp_path / "out.gz", X, y, y, separator=" ")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).startswith(b"the DT B-NP B-NP\ncat NN I-NP I-NP\n")
    assert read_columns(tmp_path / "out.gz").n_columns == 4
    assert [path.name for path in tmp_path.iterdir()] == ["out.gz"]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([["a", "b"]], [["X"]]), {}, "sentence 0: found 1 tokens in one argument, expected 2 as in the first"),
        (([["a"]], []), {}, "expected as many sentences in each argument, got at least 1 and 0"),
        ((iter([["a"]] * 700), [["b"]] * 600), {}, "got at least 700 and 600"),
        (([["a\tb"]],), {}, "sentence 0, token 0: found a tab or line end in a cell"),
        (([["a", "b\n"]],), {}, "sentence 0, token 1: found a tab or line end in a cell"),
        (([["a", " "]],), {}, "sentence 0, token 1: found only blanks"),
        (([["a"]] * 300 + [["b\r"]],), {}, "sentence 300, token 0: found a carriage return"),
        (([["a b"]],), {"separator": " "}, "sentence 0, token 0: found a blank or line end"),
        (([[("a", "")]],), {"separator": " "}, "sentence 0, token 0: found an empty cell"),
        (([["a"]] * 300 + [[("a", "b")]],), {}, "sentence 300, token 0: found 2 columns, expected 1"),
        (([[("a", 3)]],), {}, "expected str in column 1, got int"),
        (([["a"]],), {"separator": ";"}, "separator must be"),
        (([["語"]],), {"encoding": "latin-1"}, "cannot be written in encoding 'latin-1'"),
    ],
)
def test_a_failed_write_leaves_the_old_file(arguments, options, message, tmp_path):
    path = tmp_path / "out"
    path.write_text("before")
    with pytest.raises(CorpusError, match=message):
        write_columns(path, *arguments, **options)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
