from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats import iter_crfsuite, read_crfsuite, write_crfsuite

names = st.text(
    st.one_of(st.sampled_from(":\\#= "), st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r")),
    min_size=1,
    max_size=5,
)
weights = st.floats(allow_nan=False, allow_infinity=False)
items = st.tuples(st.dictionaries(names, weights, max_size=4), names)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(items, min_size=1, max_size=4), max_size=4))
def test_what_is_written_is_read_back(sequences):
    X = [[item for item, _ in sequence] for sequence in sequences]
    y = [[label for _, label in sequence] for sequence in sequences]
    file = io.BytesIO()
    write_crfsuite(file, X, y)
    assert read_crfsuite(file.getvalue()) == (X, y)
    assert list(iter_crfsuite(io.BytesIO(file.getvalue()))) == list(zip(X, y))


def test_the_format():
    X, y = read_crfsuite(b"B\ta\tb:2.5\tc\\:d\te\\\\:3\tf:\r\n\r\n\r\nI\nO\tx\tx:2\t\n")
    assert y == [["B"], ["I", "O"]]
    assert X == [[{"a": 1.0, "b": 2.5, "c:d": 1.0, "e\\": 3.0, "f": 1.0}], [{}, {"x": 3.0}]]
    file = io.StringIO()
    write_crfsuite(file, [[{"a": 1, "b:": 0.5}, ["c", "d"]]], [["X", "Y"]])
    assert file.getvalue() == "X\ta\tb\\::0.5\nY\tc\td\n\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B\ta\nI\ta:b", "line 2: expected a number after the colon in 'a:b'"),
        ("B\ta:1:2", "line 1: expected a number"),
        ("B\ta:nan", "line 1: expected a finite weight"),
        ("\ta", "line 1: expected a label"),
    ],
)
def test_wrong_lines(text, message):
    with pytest.raises(CorpusError, match=message):
        read_crfsuite(text.encode())


@pytest.mark.parametrize(
    ("item", "label", "message"),
    [
        ({"a\tb": 1}, "X", "sequence 0, token 0: expected a name without tabs"),
        ({"": 1}, "X", "expected a name"),
        ({"a": float("inf")}, "X", "expected a finite weight for 'a', got inf"),
        ({"a": 1}, None, "expected a name without tabs and line ends, got None"),
    ],
)
def test_what_cannot_be_written(item, label, message):
    with pytest.raises(CorpusError, match=message):
        write_crfsuite(io.StringIO(), [[item]], [[label]])
