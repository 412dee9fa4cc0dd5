"""Encoded data can be taken apart, and a copy of a feature map grows by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.features import FrameFeatures, Kernel, TokenFeatures, feature_map_for
from margent.features.frame_map import FrameMap
from margent.features.segment_map import SegmentLimits
from margent.features.segment_token_map import SegmentTokenMap

WORDS = [["a", "b"], [], ["c"], ["a", "d", "b"], ["b"]]
ATTRIBUTES = [[{w: 1.0, "n": float(i)} for i, w in enumerate(words)] for words in WORDS]
SOURCES: dict[str, tuple[Any, Any, Any]] = {
    "templates": (["U:%x[0,0]", "U:%x[-1,0]", "B:%x[0,0]", "B"], WORDS, [["new", "a"]]),
    "attributes": ("attributes", ATTRIBUTES, [[{"new": 1.0}]]),
    "symbols": ("symbols", WORDS, [["new", "a"]]),
    "kernel": (Kernel("rbf"), WORDS, [["new", "a"]]),
    "letters": (Kernel("string-spectrum"), WORDS, [["new", "a"]]),
}


def rows(encoded: Any, s: int) -> list[Any]:
    """The features of each token of a sequence, those of label pairs with them."""
    found = []
    for t in range(encoded.sequence_ptr[s], encoded.sequence_ptr[s + 1]):
        part = slice(encoded.ptr[t], encoded.ptr[t + 1])
        values = None if encoded.values is None else encoded.values[part].tolist()
        edges = None
        if encoded.edge_ids is not None:
            edges = encoded.edge_ids[encoded.edge_ptr[t] : encoded.edge_ptr[t + 1]].tolist()
        found.append((encoded.ids[part].tolist(), values, edges))
    return found


@settings(max_examples=30, deadline=None)
@given(name=st.sampled_from(list(SOURCES)), numbers=st.lists(st.integers(0, 4), max_size=6))
def test_a_part_has_the_rows_of_its_sequences(name: str, numbers: list[int]) -> None:
    source, X, _ = SOURCES[name]
    encoded = feature_map_for(source, X).encode(X, grow=True)
    part = encoded.part(np.array(numbers, dtype=np.int64))
    assert part.n_sequences == len(numbers) and type(part) is type(encoded)
    for i, number in enumerate(numbers):
        assert rows(part, i) == rows(encoded, number)


@pytest.mark.parametrize("name", SOURCES)
def test_a_copy_grows_by_itself(name: str) -> None:
    source, X, more = SOURCES[name]
    own = feature_map_for(source, X)
    own.encode(X, grow=True)
    before = own.n_unigrams, own.n_edges, [own.name(i) for i in range(own.n_unigrams)]
    copied = own.copy()
    assert [copied.name(i) for i in range(copied.n_unigrams)] == before[2]
    copied.encode(more, grow=True)
    assert copied.n_unigrams > before[0]
    assert (own.n_unigrams, own.n_edges, [own.name(i) for i in range(own.n_unigrams)]) == before
    assert [copied.name(i) for i in range(before[0])] == before[2]  # ids of known features stay
    again = own.encode(X)
    same = copied.encode(X)
    assert all(rows(again, s) == rows(same, s) for s in range(len(X))) or name in ("kernel", "letters")


@settings(max_examples=20, deadline=None)
@given(numbers=st.lists(st.integers(0, 2), min_size=1, max_size=4))
def test_parts_of_segments_score_as_before(numbers: list[int]) -> None:
    """What native code sees of a part is what it sees of these sequences alone."""
    random = np.random.default_rng(0)
    frames = [random.normal(size=(n, 2)) for n in (4, 2, 5)]
    words = [["New", "York", "is", "big"], ["in", "Kyiv"], ["a", "b", "c", "d", "e"]]
    limits = SegmentLimits(("x", "y"), np.array([1, 1], np.int32), np.array([3, 2], np.int32))
    for feature_map, X in ((FrameMap(FrameFeatures(bins=2)), frames), (SegmentTokenMap(TokenFeatures()), words)):
        encoded = feature_map.encode(X, limits, grow=True)
        part = encoded.part(np.array(numbers, dtype=np.int64))
        alone = feature_map.encode([X[i] for i in numbers], limits)
        np.testing.assert_array_equal(part.sequence_ptr, alone.sequence_ptr)
        if isinstance(feature_map, FrameMap):
            np.testing.assert_array_equal(part.frames, alone.frames)  # type: ignore[attr-defined]
            continue
        for name, rows_of_part in part.parts.items():  # type: ignore[attr-defined]
            for mine, theirs in zip(rows_of_part, alone.parts[name]):  # type: ignore[attr-defined]
                np.testing.assert_array_equal(mine, theirs)
