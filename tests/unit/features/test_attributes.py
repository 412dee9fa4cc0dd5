"""Attributes of tokens: what they become, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from margent.errors import CorpusError
from margent.features.attribute_map import AttributeMap


def named(map_: AttributeMap, X: Any, **options: Any) -> list[dict[str, float]]:
    """Each token as a dict from name to value."""
    encoded = map_.encode(X, **options)
    values = np.ones(len(encoded.ids)) if encoded.values is None else encoded.values
    rows = zip(encoded.ptr, encoded.ptr[1:])
    return [{map_.name(int(i)): float(v) for i, v in zip(encoded.ids[a:b], values[a:b])} for a, b in rows]


@pytest.mark.parametrize(
    ("token", "wanted"),
    [
        ({"word": "cat"}, {"word:cat": 1}),
        ({"bias": 1.0}, {"bias": 1}),
        ({"x": 2.5, "y": -3}, {"x": 2.5, "y": -3}),
        ({"up": True, "down": False}, {"up": 1}),
        ({"zero": 0, "one": 1}, {"one": 1}),
        ({"w": {"lower": "cat", "n": 2}}, {"w:lower:cat": 1, "w:n": 2}),
        ({"w": {"a": {"b": {"c": "d"}}}}, {"w:a:b:c:d": 1}),
        ({"tags": ["x", "y"]}, {"tags:x": 1, "tags:y": 1}),
        ({"tags": ("x",), "more": {"z"}}, {"tags:x": 1, "more:z": 1}),
        ({"w": {"a": ["x"]}}, {"w:a:x": 1}),
        ({"empty": {}, "none": []}, {}),
        ({}, {}),
        ([], {}),
        (["a", "b=c"], {"a": 1, "b=c": 1}),
        (("a",), {"a": 1}),
        ({"a"}, {"a": 1}),
        ({"é": "中文"}, {"é:中文": 1}),
        ({"": ""}, {":": 1}),
        (
            {"f": np.float32(0.5), "i": np.int64(3), "b": np.bool_(True), "d": Decimal("1.5")},
            {"f": 0.5, "i": 3, "b": 1, "d": 1.5},
        ),
    ],
)
def test_what_becomes_of_a_token(token: Any, wanted: dict[str, float]) -> None:
    assert named(AttributeMap(), [[token]], grow=True) == [wanted]


def test_siblings_of_a_nested_attribute_keep_their_names() -> None:
    token = {"a": {"b": {"c": 1, "d": 2}, "e": "f"}, "g": 3}
    assert named(AttributeMap(), [[token]], grow=True) == [{"a:b:c": 1, "a:b:d": 2, "a:e:f": 1, "g": 3}]


def test_an_attribute_named_twice_counts_twice() -> None:
    encoded = AttributeMap().encode([[["a", "a"]]], grow=True)
    assert encoded.ids.tolist() == [0, 0]


def test_values_are_only_kept_where_one_is_not_one() -> None:
    map_ = AttributeMap()
    assert map_.encode([[{"a": True, "b": 1, "c": "x"}]], grow=True).values is None
    assert map_.encode([[{"a": 2}]]).values is not None


def test_growth_freezing_and_cut_off() -> None:
    map_ = AttributeMap()
    assert named(map_, [[["a", "b"], ["a"]], []], grow=True, min_count=2) == [{"a": 1}, {"a": 1}]
    assert map_.n_unigrams == 1
    assert named(map_, [[["a", "b", "c"]]]) == [{"a": 1}]
    assert map_.n_unigrams == 1
    assert named(map_, [[["c"], ["b", "a"]]], grow=True) == [{"c": 1}, {"b": 1, "a": 1}]
    assert [map_.name(i) for i in range(3)] == ["a", "c", "b"]
    assert named(map_, [[["d"]]], grow=True, min_count=2) == [{}]
    assert map_.n_unigrams == 3


def test_empty_sequences() -> None:
    map_ = AttributeMap()
    encoded = map_.encode([[], [["a"]], []], grow=True)
    assert encoded.lengths.tolist() == [0, 1, 0]
    assert map_.encode([]).n_sequences == 0


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[{"a": None}]], r"sentence 0, token 0: expected text, a number.* of attribute 'a', got NoneType"),
        ([[{}], [{}, {"a": float("nan")}]], r"sentence 1, token 1: expected a finite number.*'a', got float"),
        ([[{"a": float("inf")}]], "expected a finite number"),
        ([[{"a": 1e39}]], "expected a finite number"),
        ([[{"a": object()}]], "got object"),
        ([[{"a": {"b": b"\xff"}}]], "token 0: expected text, or bytes of UTF-8, got bytes"),
        ([[{"a": [1]}]], "expected attribute names of type str, got int"),
        ([[{1: "a"}]], "expected attribute names of type str, got int"),
        ([[{"a": {1: "a"}}]], "expected attribute names of type str, got int"),
        ([[[1]]], "expected attribute names of type str, got int"),
        ([["a"]], "token 0: expected a dict or a list of attributes, got str"),
        ([[5]], "token 0: expected a dict or a list of attributes, got int"),
        ([5], "sentence 0, token 0: expected a list of tokens, got int"),
        (["ab"], "expected a list of tokens, got str"),
        ([{"a": 1}], "expected a list of tokens, got dict"),
        ([[{"\ud800": 1}]], "sentence 0, token 0: .*surrogate"),
        ([[{"a": "\ud800"}]], "sentence 0, token 0: .*surrogate"),
        ([[["\ud800"]]], "sentence 0, token 0: .*surrogate"),
        ([[{"a": ["\ud800"]}]], "sentence 0, token 0: .*surrogate"),
        ([[{"a": {"\ud800": 1}}]], "sentence 0, token 0: .*surrogate"),
    ],
)
def test_what_is_no_attribute_is_refused_with_its_place(X: Any, words: str) -> None:
    with pytest.raises(CorpusError, match=words):
        AttributeMap().encode(X, grow=True)


def test_endless_nesting_is_refused() -> None:
    token: dict[str, Any] = {}
    token["a"] = token
    with pytest.raises(CorpusError, match="nested too deeply"):
        AttributeMap().encode([[token]], grow=True)


def test_a_function_of_the_sentence() -> None:
    map_ = AttributeMap(lambda sentence: ({"w": word, "n": len(word)} for word in sentence.split()))
    with pytest.raises(CorpusError, match="sentence 0: the feature function gave 2 tokens for 5"):
        map_.encode(["a bcd"], grow=True)
    map_ = AttributeMap(lambda sentence: [{"w": word.lower()} for word in sentence])
    assert named(map_, [["A", "b"]], grow=True) == [{"w:a": 1}, {"w:b": 1}]


@pytest.mark.parametrize(("result", "kind"), [(None, "NoneType"), ("ab", "str"), ({"a": 1}, "dict"), (5, "int")])
def test_a_function_must_give_a_list(result: Any, kind: str) -> None:
    with pytest.raises(CorpusError, match=f"sentence 0: the feature function should give a list .* got {kind}"):
        AttributeMap(lambda sentence: result).encode([["a", "b"]], grow=True)


def test_errors_of_the_function_come_through() -> None:
    def broken(sentence: Any) -> Any:
        raise KeyError("my own mistake")

    with pytest.raises(KeyError, match="my own mistake"):
        AttributeMap(broken).encode([["a"]], grow=True)
