from __future__ import annotations

import io

import pytest

from margent.errors import CorpusError
from margent.formats import write_crfsuite, write_svmhmm
from margent.formats.parallel import side_by_side


def test_sequences_meet_one_by_one_and_lazily():
    endless = iter(lambda: ["a", "b"], None)
    pairs = side_by_side(endless, iter([["X", "Y"]] * 3))
    assert [next(pairs) for _ in range(3)] == [(["a", "b"], ["X", "Y"])] * 3


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[{}]], [], "argument 1 ends after 0 sequences"),
        ([[{}]], [["X"], ["X"]], "argument 0 ends after 1 sequences"),
        ([[{}], [{}, {}]], [["X"], ["X"]], r"sequence 1 has the lengths \[2, 1\]"),
    ],
)
def test_what_does_not_belong_together_is_not_written(X, y, message):
    for write in (write_crfsuite, write_svmhmm):
        with pytest.raises(CorpusError, match=message):
            write(io.StringIO(), X, y)
