"""Segmentations as lists of spans."""

from __future__ import annotations

import doctest
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import margent.annotation.segments
from margent.annotation import Span, check_segmentation, frame_labels, segments_of
from margent.errors import CorpusError


@given(st.lists(st.sampled_from("abc")))
def test_labels_to_segments_and_back(labels):
    segments = segments_of(labels)
    assert check_segmentation(segments, len(labels)) == segments
    assert frame_labels(segments) == labels
    assert all(a.label != b.label for a, b in pairwise(segments))


def test_what_is_accepted():
    assert check_segmentation([(0, np.int64(2), "a"), [2, 3, "b"]]) == [Span(0, 2, "a"), Span(2, 3, "b")]
    assert check_segmentation([], 0) == []


@pytest.mark.parametrize(
    "segments, length, message",
    [
        ([(1, 2, "a")], None, "segment 0 is from 1 to 2; expected it to begin at 0"),
        ([(0, 2, "a"), (3, 4, "a")], None, "segment 1 is from 3 to 4; expected it to begin at 2"),
        ([(0, 0, "a")], None, "and to end later"),
        ([(0, 2, "a")], 3, "end at 2; expected 3"),
        ([(0, 2)], None, r"expected \(start, end, label\)"),
        (["abc"], None, r"expected \(start, end, label\)"),
        ([(0, 2.0, "a")], None, "two integers and a label"),
        ([(0, 2, 3)], None, "two integers and a label"),
    ],
)
def test_what_is_not(segments, length, message):
    with pytest.raises(CorpusError, match=f"here: .*{message}"):
        check_segmentation(segments, length, "here")


def test_examples_in_the_documentation():
    assert doctest.testmod(margent.annotation.segments).failed == 0
