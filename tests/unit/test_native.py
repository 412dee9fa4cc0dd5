"""The native boundary: arrays that do not fit together are refused before any kernel reads them."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.formats.columns import Columns
from margent.learners import Perceptron

I32, I64, F32 = np.int32, np.int64, np.float32


def examples(**changes: Any) -> _core.Examples:
    """Two sequences of two and one tokens, with a feature each."""
    good: dict[str, Any] = {
        "sequence_ptr": np.array([0, 2, 3]),
        "ids": np.array([0, 1, 0], I32),
        "values": None,
        "ptr": np.array([0, 1, 2, 3]),
        "edge_ids": np.array([0], I32),
        "edge_values": None,
        "edge_ptr": np.array([0, 1, 1, 1]),
        "allowed": np.array([1], I32),
        "allowed_ptr": np.array([0, 0, 0, 1]),
        "labels": np.array([0, -1, 1], I32),
        "weights": np.ones(2, F32),
    }
    return _core.Examples(**{**good, **changes})


def chain() -> _core.LinearChain:
    edges = np.array([0, 0]), np.empty(0, I32), np.empty(0, F32)
    return _core.LinearChain(2, 1, np.zeros((2, 8), F32), edges, np.zeros((3, 8), F32), np.zeros((1, 8), F32))


def test_the_arrays_of_these_tests_are_sound() -> None:
    labels, scores = chain().best(examples(), 1)
    assert labels.tolist() == [0, 0, 1] and scores.tolist() == [0, 0]


@pytest.mark.parametrize(
    "changes",
    [
        {"sequence_ptr": np.array([0, 2, 4])},
        {"sequence_ptr": np.array([0, 3, 2])},
        {"sequence_ptr": np.array([1, 2, 3])},
        {"sequence_ptr": np.empty(0, I64)},
        {"ptr": np.array([0, 1, 2, 4])},
        {"ptr": np.array([0, 2, 1, 3])},
        {"ptr": np.array([0, 1, 3])},
        {"ids": np.array([0, -1, 0], I32)},
        {"values": np.ones(2, F32)},
        {"edge_ids": np.array([-1], I32)},
        {"edge_ptr": np.array([0, 1])},
        {"edge_ptr": np.array([0, 1, 1, 2])},
        {"edge_values": np.ones(2, F32)},
        {"allowed": np.array([-1], I32)},
        {"allowed_ptr": np.array([0, 1])},
        {"allowed_ptr": np.array([0, 0, 0, 2])},
        {"labels": np.array([0, 1], I32)},
        {"labels": np.array([0, -2, 1], I32)},
        {"weights": np.ones(3, F32)},
    ],
    ids=str,
)
def test_examples_that_do_not_fit_together_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        examples(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": np.zeros((3, 1), I32)},
        {"ptr": [0, 1, 2, 3]},
        {"labels": "abc"},
        {"weights": None, "values": 1.0},
    ],
    ids=str,
)
def test_arrays_of_another_type_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        examples(**changes)


def test_arrays_that_had_to_be_converted_stay_alive() -> None:
    for rows in (np.full((2, 16), 7.0, F32)[:, ::2], np.full((2, 8), 7.0)):
        converted = _core.LinearChain(2, 1, rows, None, np.zeros((3, 8), F32), np.zeros((1, 8), F32))
        sparse = np.array([0, 2, 4], I32), np.array([0, 1, 0, 1]), np.full(4, 7.0)
        other = _core.LinearChain(2, 1, sparse, None, np.zeros((3, 8), F32), np.zeros((1, 8), F32))
        del rows, sparse
        gc.collect()
        noise = [np.full((2, 8), -1.0, F32) for _ in range(100)]
        given = examples(
            edge_ids=None, edge_ptr=None, ids=np.array([0, 1, 0])[::1], values=np.array([1.0, 9, 2, 9, 3, 9])[::2]
        )
        for model in (converted, other):
            assert model.best(given, 1)[1].tolist() == [21, 21]
        assert len(noise) == 100


@pytest.mark.parametrize(
    "changes",
    [
        {"ids": np.array([0, 2, 0], I32)},
        {"edge_ids": np.array([1], I32)},
        {"allowed": np.array([2], I32)},
        {"labels": np.array([0, 1, 2], I32)},
    ],
    ids=str,
)
def test_ids_that_the_weights_do_not_have_are_refused(changes: dict[str, Any]) -> None:
    given = examples(**changes)
    labels = np.zeros(3, I32)
    for ask in (
        lambda: chain().best(given, 1),
        lambda: chain().k_best(given, 2, 1),
        lambda: chain().marginals(given, 1.0, True, 1),
        lambda: chain().scores(given, labels, 1),
        lambda: chain().samples(given, 1.0, 0, 1, 1),
        lambda: _core.ChainOracle(given, 2, 1, True, 2, 1, False, []),
    ):
        with pytest.raises(ValueError, match="out of range"):
            ask()


def test_questions_out_of_range_are_refused() -> None:
    for labels in (np.zeros(2, I32), np.array([0, 0, 2], I32), np.array([0, 0, -1], I32)):
        with pytest.raises(ValueError):
            chain().scores(examples(), labels, 1)
    with pytest.raises(ValueError):
        chain().k_best(examples(), 0, 1)
    with pytest.raises(ValueError):
        chain().samples(examples(), 1.0, 0, -1, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"sequences": np.array([2])},
        {"sequences": np.array([-1])},
        {"begins": np.array([-1], I32)},
        {"ends": np.array([3], I32)},
        {"ends": np.array([0], I32)},
        {"span_ptr": np.array([0, 2])},
        {"labels": np.array([2], I32)},
        {"labels": np.array([-1], I32)},
        {"before": np.ones((1, 2), np.uint8)},
        {"after": np.ones((2, 3), np.uint8)},
        {"begins": np.array([0, 0], I32)},
    ],
    ids=str,
)
def test_runs_out_of_range_are_refused(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {
        "examples": examples(),
        "scale": 1.0,
        "sequences": np.array([0]),
        "begins": np.array([0], I32),
        "ends": np.array([1], I32),
        "span_ptr": np.array([0, 1]),
        "labels": np.array([0], I32),
        "before": np.ones((1, 3), np.uint8),
        "after": np.ones((1, 3), np.uint8),
        "threads": 1,
    }
    assert np.exp(chain().span_log_probabilities(**good))[0] == pytest.approx(0.5)
    with pytest.raises(ValueError):
        chain().span_log_probabilities(**{**good, **changes})


@pytest.mark.parametrize("threads", [-5, 0, 1, 3, 2**31 - 1])
def test_any_number_of_threads_will_do(threads: int) -> None:
    n = 100
    many = _core.Examples(
        np.arange(n + 1), np.zeros(n, I32), None, np.arange(n + 1), None, None, None, None, None, None, None
    )
    assert chain().best(many, threads)[0].tolist() == [0] * n


def test_oracles_need_labels_and_costs_that_fit() -> None:
    with pytest.raises(ValueError, match="no labels"):
        _core.ChainOracle(examples(labels=None), 2, 1, True, 2, 1, False, [])
    with pytest.raises(ValueError, match="one cost per label"):
        _core.ChainOracle(examples(), 2, 1, True, 2, 1, False, [1.0])
    for n_labels, order in ((0, 1), (2, 0), (2, 40)):
        with pytest.raises(ValueError):
            _core.ChainOracle(
                examples(labels=np.full(3, -1, I32), allowed=None), n_labels, order, True, 2, 1, False, []
            )


@pytest.mark.parametrize("sparse", [False, True])
def test_an_oracle_starts_only_from_weights_that_fit(sparse: bool) -> None:
    oracle = _core.ChainOracle(examples(), 2, 1, True, 2, 1, sparse, [])
    good = oracle.weights(False)
    oracle.start_from(good)
    rows = np.array([0, 1, 1]), np.array([8], I32), np.ones(1, F32)
    wrong: list[dict[str, Any]] = [
        {"unigrams": rows if sparse else np.zeros((3, 8), F32)},
        {"unigrams": (np.array([0, 0, 0, 0]), *good["unigrams"][1:]) if sparse else np.zeros((2, 16), F32)},
        {"edges": (np.array([0, 1]), np.array([24], I32), np.ones(1, F32))},
        {"edges": (np.array([0, 1]), np.array([0], I32), np.ones(2, F32))},
        {"edges": (np.array([0, 0, 0]), np.empty(0, I32), np.empty(0, F32))},
        {"transitions": []},
        {"transitions": [np.zeros((4, 8), F32)]},
        {"ends": [np.zeros((2, 8), F32)]},
    ]
    for change in wrong:
        with pytest.raises(ValueError):
            oracle.start_from({**good, **change})
    _core.run(oracle, Perceptron().rule(), np.array([0, 1]))


def test_strings_keep_their_ids() -> None:
    table = _core.StringTable()
    words = [f"word {i}" for i in range(1000)] + ["", "é", "中文", "a\0b"]
    assert table.add_all(words).tolist() == list(range(1004)) and table.add_all(words).tolist() == list(range(1004))
    assert table.strings() == words and table.strings(1002) == words[1002:] and table[1003] == "a\0b"
    assert table.find("nothing") == -1 and table.find_all(["é", "x"]).tolist() == [1001, -1]
    again = _core.StringTable.restore(*table.dump())
    assert again.strings() == words and again.find("中文") == 1002
    kept = table.filter(np.arange(1004) % 2 == 1)
    assert kept.strings() == words[1::2] and kept.find("word 0") == -1
    for index in (-1, 1004):
        with pytest.raises(IndexError):
            table[index]
    with pytest.raises(ValueError):
        table.filter(np.ones(3, bool))
    for data, ends in (([97, 97], [1, 2]), ([97], [2]), ([97], [-1]), ([97, 98], [2, 1])):
        with pytest.raises(ValueError):
            _core.StringTable.restore(np.array(data, np.uint8), np.array(ends))


def template_ids(encoder: Any, columns: Any, words: Iterable[str], grow: bool) -> Any:
    """The ids of the features of one sentence."""
    sentence = list(words)
    table = Columns.from_sentences([sentence]).table
    return encoder.encode(columns, table, [0], None, np.array([0, len(sentence)]), grow)[0]


def test_coded_columns_and_templates_check_their_arrays() -> None:
    columns = Columns.from_sentences([["a", "b"], ["c"]])
    table = _core.StringTable()
    with pytest.raises(IndexError):
        _core.encode_column(columns.table, 1, None, table, True)
    with pytest.raises(IndexError):
        _core.encode_column(columns.table, 0, np.array([2]), table, True)
    for cells in ([(0, 1)], [(0, -1)], [(2000, 0)]):
        with pytest.raises(IndexError):
            _core.TemplateEncoder([(0, False, cells)], 1)
    encoder = _core.TemplateEncoder([(0, False, [(0, 0)])], 1)
    read, other = _core.TemplateColumns([(0, None)], {}), _core.TemplateColumns([(0, None), (0, None)], {})
    encoder.encode(read, columns.table, [0], None, np.array([0, 2, 3]), True)
    for ptr in ([0, 2], [0, 4, 3], [1, 3], []):
        with pytest.raises(ValueError):
            encoder.encode(read, columns.table, [0], None, np.array(ptr, I64), True)
    with pytest.raises(ValueError):
        encoder.encode(other, columns.table, [0], None, np.array([0, 2, 3]), True)
    for indices, sentences in (([], None), ([1], None), ([-1], None), ([0], np.array([2])), ([0], np.array([-1]))):
        with pytest.raises(IndexError):
            encoder.encode(read, columns.table, indices, sentences, np.array([0, 2, 3]), True)
    for spec, error in (((-1, None), IndexError), ((0, "no such"), ValueError)):
        with pytest.raises(error):
            _core.TemplateColumns([spec], {})
    with pytest.raises(IndexError):
        encoder.name(False, 3)
    with pytest.raises(ValueError):
        encoder.filter(False, np.ones(2, bool))
    text, ptr, names = encoder.dump(False)
    encoder.restore(False, text, ptr, names)
    assert encoder.size(False) == 3
    for wrong in ((text, ptr[:-1], names), (text, ptr, names[:-1]), (text, ptr[::-1].copy(), names)):
        with pytest.raises(ValueError):
            encoder.restore(False, *wrong)
    with pytest.raises(ValueError, match="same name"):
        encoder.restore(False, text, ptr, np.zeros(3, I32))


def test_templates_keep_their_ids_while_their_table_grows() -> None:
    """The table moves from the heap to pages of the system on the way."""
    encoder = _core.TemplateEncoder([(0, False, [(0, 0)]), (1, True, [])], 1)
    columns = _core.TemplateColumns([(0, None)], {})
    n, pieces = 400_000, 4
    words = [f"w{i}" for i in range(n)]
    for first in range(0, n, n // pieces):
        piece = words[first : first + n // pieces]
        table = Columns.from_sentences([piece]).table
        ids, _, edge_ids, _ = encoder.encode(columns, table, [0], None, np.array([0, len(piece)]), True)
        np.testing.assert_array_equal(ids, np.arange(first, first + len(piece)))
        assert (edge_ids == 0).all()
    assert (encoder.size(False), encoder.size(True)) == (n, 1)
    everything = np.arange(n, dtype=I32)
    np.testing.assert_array_equal(template_ids(encoder, columns, words, False), everything)
    again = _core.TemplateEncoder([(0, False, [(0, 0)]), (1, True, [])], 1)
    again.restore(False, *encoder.dump(False))
    encoder.filter(False, everything % 3 == 1)
    for table, wanted in ((encoder, np.arange(len(everything[1::3]))), (again, everything[1::3])):
        np.testing.assert_array_equal(template_ids(table, columns, words[1::3], False), wanted)
    assert len(template_ids(encoder, columns, words[::3], False)) == 0


def test_names_that_are_refused_leave_the_encoder_as_it_was() -> None:
    encoder = _core.TemplateEncoder([(0, False, [(0, 0)])], 1)
    columns = _core.TemplateColumns([(0, None)], {})
    template_ids(encoder, columns, "abc", True)
    with pytest.raises(ValueError, match="same name"):
        encoder.restore(False, np.zeros(9, I32), np.arange(10), np.array([*range(8), 0], I32))
    assert encoder.size(False) == 3 and encoder.name(False, 2) == (0, [2])
    assert template_ids(encoder, columns, "abc", False).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "changes",
    [
        {"edge_ids": None},
        {"edge_ptr": None},
        {"edge_ids": None, "edge_ptr": None, "edge_values": np.ones(1, F32)},
        {"allowed": None},
        {"allowed_ptr": None},
    ],
    ids=str,
)
def test_ids_without_offsets_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="need both"):
        examples(**changes)


def test_an_oracle_with_edge_weights_takes_examples_without_edge_features() -> None:
    given = examples(edge_ids=None, edge_ptr=None, allowed=None, allowed_ptr=None, labels=np.array([1, 1, 1], I32))
    oracle = _core.ChainOracle(given, 2, 1, True, 2, 1, False, [])
    assert _core.run(oracle, Perceptron().rule(), np.array([0, 1])).updates > 0
    assert oracle.ask(0, 1, 0.0)[0] > 0
    for rival in (1, 2**62):
        with pytest.raises(IndexError, match="no such rival"):
            oracle.move(rival, 1.0)


@pytest.mark.parametrize("n_labels", [2**31 - 1, 2**31 - 8, 2**16, 46_341])
def test_chains_too_large_for_their_indices_are_refused(n_labels: int) -> None:
    tiny = np.zeros((1, 8), F32)
    with pytest.raises(ValueError, match="has too many transitions"):
        _core.LinearChain(n_labels, 1, tiny, None, tiny, tiny)
    with pytest.raises(ValueError, match="has too many transitions"):
        _core.ChainScores32(n_labels, 2, tiny, tiny, tiny, None)


@pytest.mark.parametrize(("n_unigrams", "n_edges"), [(-1, 1), (2**61, 1), (2, 2**62), (2, -1)])
def test_numbers_of_features_beyond_their_ids_are_refused(n_unigrams: int, n_edges: int) -> None:
    with pytest.raises(ValueError, match="number of features"):
        _core.ChainOracle(examples(), 2, 1, True, n_unigrams, n_edges, False, [])


def test_one_sequence_is_asked_only_for_what_there_is() -> None:
    for n_tokens in (0, 2):
        scores = _core.ChainScores32(
            2, 1, np.zeros((n_tokens, 8), F32), np.zeros((3, 8), F32), np.zeros((1, 8), F32), None
        )
        for k in (0, -1):
            with pytest.raises(ValueError, match="at least 1"):
                scores.k_best(k)
        with pytest.raises(ValueError, match="at least 0"):
            scores.sample(-1, 0)


@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_scales_that_would_make_forbidden_labels_possible_are_refused(scale: float) -> None:
    for ask in (
        lambda: chain().marginals(examples(), scale, False, 1),
        lambda: chain().samples(examples(), scale, 0, 1, 1),
    ):
        with pytest.raises(ValueError, match="scale"):
            ask()
