"""Kernels between tokens in their surroundings, against plain formulas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from margent import Kernel, TokenMatrix
from margent.errors import CorpusError
from margent.features import feature_map_for
from margent.features.kernel_map import KernelMap
from margent.features.observations import KeptRows, SparseVectors
from oracle import kernels as plain

WORDS = [["the", "House", "of", "the", "Lords"], ["a", "house"], ["the", "House", "of", "cards"], []]
KINDS = ("linear", "polynomial", "rbf")


def fitted(kernel: Kernel, X: Any) -> tuple[KernelMap, Any]:
    map_ = feature_map_for(kernel, X)
    assert isinstance(map_, KernelMap)
    return map_, map_.encode(X, grow=True)


def matrix(map_: KernelMap) -> np.ndarray:
    rows = map_.kernel
    assert rows is not None
    return rows(np.arange(map_.n_unigrams, dtype=np.int32))


@st.composite
def numbers(draw: Any) -> list[np.ndarray]:
    """Sentences of few different tokens, some of them zero."""
    dice = np.random.default_rng(draw(st.integers(0, 2**20)))
    width, n = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    kinds = dice.integers(-2, 3, (draw(st.integers(1, 4)), width)) * dice.integers(0, 2, (1, width)) / 2
    return [kinds[dice.integers(0, len(kinds), dice.integers(1, 5))] for _ in range(n)]


@settings(deadline=None, max_examples=60)
@given(
    numbers(), st.sampled_from(KINDS), st.integers(1, 5), st.sampled_from([1, 3, 5]), st.sampled_from([0.1, 1.0, None])
)
def test_values_are_those_of_the_formulas(
    X: list[np.ndarray], kind: str, degree: int, window: int, gamma: float | None
) -> None:
    kernel = Kernel(kind, degree=degree, gamma=gamma, coef0=0.5, window=window)
    vectors = plain.windows(X, window)
    distinct = list({tuple(vector): vector for vector in vectors}.values())
    if gamma is None:
        gamma = 1 / (np.mean([vector @ vector for vector in distinct]) or 1)
    wanted = [[plain.kernel(kind, a, b, degree, gamma, 0.5) for b in vectors] for a in vectors]
    lengths = [len(sentence) for sentence in X]
    for given_as in (X, TokenMatrix(sparse.csr_matrix(np.concatenate(X)), lengths), _dicts(X)):
        map_, encoded = fitted(kernel, given_as)
        assert map_.n_unigrams == len(distinct) and map_.gamma == pytest.approx(gamma)
        found = matrix(map_)[np.ix_(encoded.ids, encoded.ids)]
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=1e-5)


def _dicts(X: list[np.ndarray]) -> list[list[dict[str, float]]]:
    return [[{f"x{i}": float(v) for i, v in enumerate(token)} for token in sentence] for sentence in X]


@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("window", [1, 3])
def test_the_spectrum_counts_equal_substrings(length: int, window: int) -> None:
    sentences = [["banana", "an", "a"], ["ananas", "Ban"], ["b", "", "éé"]]
    map_, encoded = fitted(Kernel("string-spectrum", degree=length, window=window, gamma=1), sentences)
    around = [
        [s[p] if 0 <= p < len(s) else None for p in range(t - window // 2, t + window // 2 + 1)]
        for s in sentences
        for t in range(len(s))
    ]
    wanted = [[plain.spectrum(a, b, length) for b in around] for a in around]
    np.testing.assert_allclose(matrix(map_)[np.ix_(encoded.ids, encoded.ids)], wanted)
    columns = [[(word, word) for word in sentence] for sentence in sentences]
    map_, encoded = fitted(Kernel("string-spectrum", degree=length, window=window, gamma=0.5), columns)
    np.testing.assert_allclose(matrix(map_)[np.ix_(encoded.ids, encoded.ids)], wanted)  # twice, halved
    with pytest.raises(CorpusError, match="1 input column, but the kernel was trained on 2"):
        map_.encode(sentences)


def test_equal_tokens_are_stored_once_and_windows_know_their_places() -> None:
    map_, encoded = fitted(Kernel(window=1), WORDS)
    assert encoded.values is None and encoded.ptr.tolist() == list(range(12))
    assert encoded.ids.tolist() == [0, 1, 2, 0, 3, 4, 5, 0, 1, 2, 6]
    assert map_.n_unigrams == map_.n_tokens == 7
    map_, encoded = fitted(Kernel(window=3), WORDS)
    assert encoded.ids.tolist() == [0, 1, 2, 3, 4, 5, 6, 0, 1, 7, 8]  # `of` is before another word
    assert [map_.name(i) for i in (0, 2, 8, 5)] == ["[the] House", "House [of] the", "of [cards]", "[a] house"]
    map_, _ = fitted(Kernel("linear", gamma=1, features=["U:%x[0,0]"]), [["y", "x"], ["x", "y"]])
    assert matrix(map_)[0].tolist() == [2, 0, 0, 1]  # x after y is not x, nor x before y


def test_the_order_and_the_repetition_of_attributes_do_not_matter() -> None:
    X = [[["a", "b"]], [["b", "a"]], [["a", "b", "a"]], [{"b": 1, "a": 2.0, "c": 0}]]
    map_, encoded = fitted(Kernel("linear", gamma=1, window=1, features="attributes"), X)
    assert encoded.ids.tolist() == [0, 0, 1, 1]
    assert matrix(map_).tolist() == [[2, 3], [3, 5]]
    assert map_.name(1) == "x#1 [a b]"


@pytest.mark.parametrize("kind", [*KINDS, "string-spectrum", lambda A, B: (A @ B.T).toarray() + 1.0])
def test_blocks_give_the_rows_of_the_whole(kind: Any) -> None:
    map_, _ = fitted(Kernel(kind), WORDS)
    whole = matrix(map_)
    assert map_.kernel is not None and whole.dtype == np.float32 and whole.flags.c_contiguous
    np.testing.assert_allclose(whole, whole.T, rtol=1e-6)
    for ids in ([3], [2, 2, 0], [*range(map_.n_unigrams)][::-1]):
        np.testing.assert_array_equal(map_.kernel(np.array(ids, dtype=np.int32)), whole[ids])
    assert map_.kernel(np.empty(0, dtype=np.int32)).shape == (0, map_.n_unigrams)


@pytest.mark.parametrize("X", [WORDS, [np.eye(3)[[0, 1, 1]], np.eye(3)[[2, 1]] * 0.5]], ids=["text", "vectors"])
@pytest.mark.parametrize("kind", KINDS)
def test_prediction_is_the_kernel_times_beta(X: Any, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    map_, trained = fitted(Kernel(kind), X)
    beta = np.random.default_rng(0).normal(size=(map_.n_unigrams, 8)).astype(np.float32)
    wanted = (matrix(map_) @ beta)[trained.ids]
    encoded = map_.encode(X)
    assert map_.n_unigrams == len(beta)
    np.testing.assert_allclose(map_.rows(encoded, beta)[encoded.ids], wanted, rtol=1e-4, atol=1e-4)
    monkeypatch.setattr("margent.features.kernel_map._BLOCK_BYTES", 8)  # a row at a time
    np.testing.assert_allclose(map_.rows(encoded, beta)[encoded.ids], wanted, rtol=1e-4, atol=1e-4)
    beta[1::2] = 0
    wanted = (matrix(map_) @ beta)[trained.ids]
    support = map_.kept(beta.any(axis=1))
    assert support.n_unigrams == len(beta[::2]) and support.n_tokens <= map_.n_tokens
    for of, weights in ((map_, beta), (support, beta[::2])):
        np.testing.assert_allclose(of.rows(encoded, weights)[encoded.ids], wanted, rtol=1e-4, atol=1e-4)
        ids, values = of.contributions(encoded, 2)
        np.testing.assert_allclose(values @ weights[ids], wanted[2], rtol=1e-4, atol=1e-4)
    assert [support.name(i) for i in range(support.n_unigrams)] == [
        map_.name(i) if kind and X is WORDS else f"x#{i // 2}" for i in range(0, len(beta), 2)
    ]
    assert not map_.rows(encoded, np.zeros_like(beta)).any()
    assert map_.rows(map_.encode([]), beta).shape == (0, 8)


def test_what_is_new_in_prediction_has_only_the_known_in_common() -> None:
    map_, _ = fitted(Kernel("linear", gamma=1, window=1, features=["U:%x[0,0]", "Us:%x[0,0.suffix1]"]), WORDS)
    encoded = map_.encode([["cards", "birds", "zzz"]])
    beta = np.eye(map_.n_unigrams, 8, dtype=np.float32)
    np.testing.assert_array_equal(map_.rows(encoded, beta)[encoded.ids].sum(axis=1), [3, 2, 0])  # Lords, cards


def test_growing_keeps_what_was_there() -> None:
    map_, before = fitted(Kernel("rbf"), WORDS[:2])
    gamma, names = map_.gamma, [map_.name(i) for i in range(map_.n_unigrams)]
    again = map_.encode(WORDS, grow=True)
    assert map_.gamma == gamma and again.ids[: len(before.ids)].tolist() == before.ids.tolist()
    assert [map_.name(i) for i in range(len(names))] == names
    fresh, _ = fitted(Kernel("rbf", gamma=gamma), WORDS)
    np.testing.assert_array_equal(matrix(map_), matrix(fresh))


def test_a_function_gets_the_vectors_of_the_windows() -> None:
    seen: list[Any] = []

    def product(A: Any, B: Any) -> Any:
        seen.append((A, B))
        return A @ B.T

    X = [np.array([[1.0, 2], [3, 4]])]
    map_, _ = fitted(Kernel(product), X)
    assert matrix(map_).tolist() == [[30, 11], [11, 30]]
    A, B = seen[0]
    assert A.tolist() == B.tolist() == [[0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 0, 0]]
    map_, _ = fitted(Kernel(product), [sparse.csr_matrix(X[0])])
    assert matrix(map_).tolist() == (A @ A.T).tolist()  # a sparse result will do
    assert sparse.issparse(seen[-1][0]) and seen[-1][0].toarray().tolist() == A.tolist()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: np.zeros((1, 1)), r"should give finite numbers of shape \(6, 6\) .*, got shape \(1, 1\)"),
        (lambda A, B: np.full((A.shape[0], B.shape[0]), np.nan), "got numbers that are not"),
        (lambda A, B: "x", "should give an array of numbers, got <U1"),
    ],
)
def test_what_a_function_gives_is_checked(function: Callable[[Any, Any], Any], message: str) -> None:
    map_, _ = fitted(Kernel(function), [["a", "b", "c"], ["c", "b", "a"]])
    with pytest.raises(CorpusError, match=message):
        matrix(map_)


def test_a_kernel_of_numbers_too_large_says_so() -> None:
    map_, _ = fitted(Kernel(degree=20, gamma=1e3), WORDS)
    with pytest.raises(CorpusError, match="polynomial of degree 20 with gamma 1000 gives numbers that are too large"):
        matrix(map_)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "cubic"}, "kind of Kernel should be one of linear, polynomial, rbf, string-spectrum or a function"),
        ({"kind": None}, "kind of Kernel should be one of"),
        ({"degree": 0}, "degree of Kernel should be an integer from 1 to 100, got 0"),
        ({"degree": 2.0}, "degree of Kernel"),
        ({"degree": True}, "degree of Kernel"),
        ({"gamma": 0}, "gamma of Kernel should be a number above 0, or None, got 0"),
        ({"gamma": np.nan}, "gamma of Kernel"),
        ({"gamma": 10**400}, "gamma of Kernel"),
        ({"gamma": "auto"}, "gamma of Kernel"),
        ({"coef0": -1}, "coef0 of Kernel should be a number of at least 0, got -1"),
        ({"window": 2}, "window of Kernel should be an odd number of tokens from 1 to 201, got 2"),
        ({"window": -1}, "window of Kernel"),
        ({"cache_mb": 0}, "cache_mb of Kernel should be a number above 0, got 0"),
        ({"kind": "string-spectrum", "features": "ner"}, "features of Kernel should be None for string-spectrum"),
    ],
)
def test_wrong_parameters(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Kernel(**wrong)


def test_wrong_features() -> None:
    with pytest.raises(TypeError, match="not another Kernel"):
        Kernel(features=Kernel())
    with pytest.raises(ValueError, match="features='nothing' is not known"):
        feature_map_for(Kernel(features="nothing"), WORDS)
    with pytest.raises(CorpusError, match=r"template 'B\[0\]=%x\[0,0\]': a kernel is between observations for one"):
        feature_map_for(Kernel(features="letters"), WORDS)
    with pytest.raises(CorpusError, match="expected"):
        feature_map_for(Kernel("string-spectrum"), [np.eye(2)]).encode([np.eye(2)], grow=True)


def test_a_kernel_is_a_value() -> None:
    kernel = Kernel("rbf", gamma=0.5)
    assert kernel == Kernel("rbf", gamma=0.5) != Kernel("rbf")
    assert repr(kernel) == "Kernel('rbf', gamma=0.5)" and eval(repr(kernel)) == kernel
    assert repr(Kernel(fitted, window=5)) == "Kernel(fitted, window=5)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        kernel.window = 5  # type: ignore[misc]


def test_rows_of_sparse_vectors_are_put_in_order() -> None:
    ids, ptr = np.array([3, 1, 3, 2, 2], dtype=np.int32), np.array([0, 3, 3, 5])
    vectors = SparseVectors.of(ids, ptr, np.array([1, 2, 3, 1, -1], dtype=np.float32))
    assert vectors.matrix(4).toarray().tolist() == [[0, 2, 0, 4], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert vectors.ids.tolist() == [1, 3] and vectors.squared_norms.tolist() == [20, 0, 0]


def test_a_large_value_does_not_swallow_the_norms_of_other_tokens() -> None:
    X = [[{"a": 1e9}, {"b": 1.0}, {"b": 2.0}]]
    map_, _ = fitted(Kernel("rbf", gamma=1.0, window=1), X)
    np.testing.assert_allclose(matrix(map_), [[1, 0, 0], [0, 1, np.exp(-1)], [0, np.exp(-1), 1]], rtol=1e-5)


@pytest.mark.parametrize("kind", ["rbf", lambda A, B: A @ B.T])
def test_features_whose_squares_are_too_large(kind: Any) -> None:
    map_, _ = fitted(Kernel(kind), [np.eye(2)])
    with pytest.raises(CorpusError, match="squares of the features, summed over a window, are too large for 32 bits"):
        map_.encode([np.diag([1e25, 1])], grow=True)
    assert map_.n_unigrams == 2 and np.isfinite(matrix(map_)).all()


def test_scores_too_large_are_said_to_be() -> None:
    map_, _ = fitted(Kernel("linear", gamma=1e10, window=1), WORDS)
    beta = np.full((map_.n_unigrams, 8), 1e24, dtype=np.float32)
    beta[::2] *= -1
    with pytest.raises(CorpusError, match=r"the kernel times the weights gives scores beyond 1e\+25"):
        map_.rows(map_.encode(WORDS), beta)


@pytest.mark.parametrize("megabytes", [1e13, 1e308])
def test_a_cache_without_a_limit(megabytes: float) -> None:
    map_, _ = fitted(Kernel(cache_mb=megabytes), WORDS)
    assert 2**50 < map_.cache_bytes < 2**63


def test_rows_are_kept_within_their_limit() -> None:
    asked: list[int] = []

    def compute(numbers: Any) -> Any:
        asked.extend(numbers.tolist())
        return np.repeat(numbers[:, None], 4, axis=1).astype(np.float32)

    kept = KeptRows(limit=3 * 16)
    for numbers in ([1, 2], [2, 3], [1], [4], [3], [2]):  # 2 was used longest ago when 4 came
        assert [row.tolist() for row in kept.of(numbers, compute)] == [[number] * 4 for number in numbers]
    assert asked == [1, 2, 3, 4, 2]
    few = KeptRows(limit=1)
    assert len(few.of([5, 6, 7], compute)) == 3 and not few._rows
