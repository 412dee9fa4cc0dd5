from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats import iter_svmhmm, read_svmhmm, write_svmhmm

features = st.dictionaries(st.integers(1, 10**9).map(str), st.floats(allow_nan=False, allow_infinity=False), max_size=4)
items = st.tuples(features, st.integers(1, 20).map(str))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(items, min_size=1, max_size=4), max_size=4))
def test_what_is_written_is_read_back(sequences):
    X = [[item for item, _ in sequence] for sequence in sequences]
    y = [[tag for _, tag in sequence] for sequence in sequences]
    file = io.BytesIO()
    write_svmhmm(file, X, y)
    assert read_svmhmm(file.getvalue()) == (X, y)
    assert list(iter_svmhmm(io.BytesIO(file.getvalue()))) == list(zip(X, y))


def test_the_format():
    X, y = read_svmhmm(b"# made by hand\n1 qid:7 2:1 5:0.5 # the\n\n2 qid:7 # nothing\r\n3 qid:9 1:-2e3\n")
    assert y == [["1", "2"], ["3"]]
    assert X == [[{"2": 1.0, "5": 0.5}, {}], [{"1": -2000.0}]]
    file = io.StringIO()
    write_svmhmm(file, [[{10: 1, 9: 2}], [{"1": 0.5}]], [[1], ["2"]])
    assert file.getvalue() == "1 qid:1 9:2.0 10:1.0\n2 qid:2 1:0.5\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 2:1\n", "line 1: expected 'TAG qid:EXAMPLE FEATURE:VALUE ...', got '1 2:1'"),
        ("1\n", "line 1: expected 'TAG qid"),
        ("1 qid:1 a:1", "line 1: expected a feature number and its value"),
        ("1 qid:1 0:1", "expected a feature number"),
        ("1 qid:1 2:nan", "expected a feature number"),
        ("1 qid:1 2:1 2:1", "feature 2 is given twice"),
        ("1 qid:1 2:1\n1 qid:2\n1 qid:1", "line 3: found qid:1 again"),
    ],
)
def test_wrong_lines(text, message):
    with pytest.raises(CorpusError, match=message):
        read_svmhmm(text.encode())


@pytest.mark.parametrize(
    ("item", "tag", "message"),
    [
        ({"w=the": 1}, "1", "feature number of 1 or more"),
        ({1: float("nan")}, "1", "finite"),
        ({}, "a b", "a tag without"),
    ],
)
def test_what_cannot_be_written(item, tag, message):
    with pytest.raises(CorpusError, match=f"sequence 0, token 0: .*{message}"):
        write_svmhmm(io.StringIO(), [[item]], [[tag]])
