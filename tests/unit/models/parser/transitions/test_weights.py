"""Transition weights as the parser sees them: templates, estimator, files, explanations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import Beam, Parser, Perceptron, _core
from margent.annotation.dependency_tree import DependencyTree
from margent.datasets import make_trees
from margent.errors import CapabilityError, CorpusError, ModelFileError
from margent.models.parser.setting import SYSTEMS
from margent.models.parser.transitions.templates import PRESETS, VOCABULARY, compiled, parsed_templates, preset
from margent.models.parser.transitions.weights import TransitionWeights

X = [
    [("she", "PRON"), ("reads", "VERB")],
    [("old", "ADJ"), ("books", "NOUN"), ("sleep", "VERB")],
    [("she", "PRON"), ("reads", "VERB"), ("old", "ADJ"), ("books", "NOUN")],
    [("read", "VERB"), ("books", "NOUN")],
]
Y = [
    DependencyTree([2, 0], ["nsubj", "root"]),
    DependencyTree([2, 3, 0], ["amod", "nsubj", "root"]),
    DependencyTree([2, 0, 4, 2], ["nsubj", "root", "amod", "obj"]),
    DependencyTree([0, 1], ["root", "obj"]),
]


def parser(system: str = "arc-hybrid", width: int = 4, **parameters: Any) -> Parser:
    learner = parameters.pop("learner", Perceptron(epochs=10))
    return Parser("small", learner, search=Beam(width), system=system, threads=1, **parameters)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_parser_of_each_system_learns_saves_and_explains(system: str, tmp_path: Path) -> None:
    model = parser(system).fit(X, Y)
    assert model.predict(X) == Y and model.score(X, Y) == 1
    model.save(tmp_path / "model.margent")
    loaded = margent.load(tmp_path / "model.margent")
    assert loaded.predict(X) == Y
    readings = model.predict_k_best(X, 3)
    assert [found[0].tree for found in readings] == Y and all(len({r.tree for r in f}) == len(f) for f in readings)
    again = loaded.predict_k_best(X, 3)
    assert [[r.score for r in found] for found in again] == [[r.score for r in found] for found in readings]
    (explained,) = model.explain(X[2], 4, top=3)
    assert explained.arc == (2, "obj") and len(explained.contributions) == 3 and "->" in str(explained)
    half = tmp_path / "half.margent"
    model.save(half, compact=True)
    assert margent.load(half).predict(X) == Y


def test_the_parts_of_a_breakdown_make_its_score() -> None:
    model = parser("arc-eager").fit(X, Y)
    columns = [X[2]]
    tokens = model.atoms_.encode(columns)
    best = model.weights_.best(tokens, 1)
    score, parts = model.weights_.breakdown(model.atoms_, model.classes_.tolist(), tokens, best.heads, best.labels)
    assert score == pytest.approx(best.scores[0], abs=1e-4) == pytest.approx(sum(parts.values()), abs=1e-4)
    assert any(name == "n0.word=reads -> left nsubj" for name in parts)
    assert any("s0.left_labels={nsubj}" in name for name in parts)
    crossing = np.array([3, 0, 2, 1], np.int32)
    with pytest.raises(CapabilityError, match="cannot be made by the system 'arc-eager'"):
        model.weights_.breakdown(model.atoms_, model.classes_.tolist(), tokens, crossing, best.labels)


def test_top_features_name_atoms_and_actions() -> None:
    model = parser().fit(X, Y)
    found = model.top_features("nsubj", 3)
    assert len(found) <= 6 and all("nsubj" in name and "=" in name for name, _ in found)
    assert [weight for _, weight in found] == sorted((weight for _, weight in found), reverse=True)


def test_another_width_needs_no_training_and_another_system_does() -> None:
    model = parser("arc-standard", 1).fit(X, Y)
    model.set_params(search=Beam(8))
    assert model.predict(X) == Y
    with pytest.raises(ValueError, match="system"):
        model.set_params(system="swap").predict(X)


def test_partial_fit_knows_new_labels_and_keeps_old_weights() -> None:
    model = parser().fit(X[:2], Y[:2])
    before = model.weights_
    model.partial_fit(X[2:], Y[2:])
    assert "obj" in model.classes_.tolist() and model.predict(X[2:]) == Y[2:]
    assert isinstance(before, TransitionWeights) and isinstance(model.weights_, TransitionWeights)
    n = len(before.actions)
    assert model.weights_.actions.transitions[:n].tolist() == before.actions.transitions.tolist()
    assert len(model.weights_.actions) > n


def test_exploration_is_for_greedy_parsers_with_dynamic_oracles() -> None:
    greedy = parser("arc-eager", 1, exploration=0.9).fit(X, Y)
    assert greedy.predict(X) == Y
    with pytest.raises(ValueError, match="dynamic oracle, which arc-hybrid and arc-eager have, got 'swap'"):
        parser("swap", 1, exploration=0.9).fit(X, Y)
    with pytest.raises(ValueError, match=r"greedy training, Beam\(1\), got a beam of 4"):
        parser("arc-eager", 4, exploration=0.9).fit(X, Y)
    with pytest.raises(ValueError, match="exploration"):
        parser("arc-eager", 1, exploration=2.0).fit(X, Y)


def test_what_transitions_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="exactly one word on the root"):
        parser(single_root=False).fit(X, Y)
    with pytest.raises(CorpusError, match="whole trees, and some heads are not known"):
        parser("swap").fit(X[:1], [([2, None], ["nsubj", None])])
    assert parser("arc-hybrid").fit(X, [([2, None], ["nsubj", None]), *Y[1:]]).predict(X[1:]) == Y[1:]


def test_presets_and_templates() -> None:
    for name in PRESETS:
        templates = parsed_templates(name, "arc-eager")
        assert len(compiled(templates, templates.token_atoms)) == len(templates)
        assert parsed_templates(preset(name).splitlines(), "arc-eager") == templates
    assert len(parsed_templates("zhang-nivre", "arc-eager")) == 72
    with pytest.raises(ValueError, match="no templates named 'poor'"):
        parsed_templates("poor", "arc-eager")
    with pytest.raises(CorpusError, match=r"line 1: 's9\.word'"):
        parsed_templates(["s9.word"], "arc-eager")
    assert {"s0.head2", "n0.left.left", "s2.right2"} <= set(VOCABULARY.addresses)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", PRESETS)
def test_presets_see_the_words_that_arcs_join(name: str, system: str) -> None:
    X, y = make_trees(300, seed=0)
    found = Parser(name, Perceptron(epochs=4), search=Beam(1), system=system, threads=1).fit(X[:250], y[:250])
    assert found.score(X[250:], y[250:]) > 0.9


@pytest.mark.parametrize("name", ["rows.keys", "rows.ptr", "rows.columns", "rows.weights", "actions.labels"])
def test_what_is_stored_is_checked(name: str) -> None:
    weights = parser().fit(X, Y).weights_
    assert isinstance(weights, TransitionWeights)
    header, arrays = weights.stored()
    atoms = parser().fit(X, Y).atoms_
    file = margent.storage.ModelFile("memory", "parser", "1", header, arrays)
    n_labels = 4
    restored = TransitionWeights.restored(file, weights.setting, n_labels, atoms)
    assert restored.n_features == weights.n_features
    wrong = arrays[name].copy()
    wrong[-1] = {"rows.keys": wrong[0], "rows.ptr": 0, "rows.columns": 999, "rows.weights": np.nan}.get(name, 99)
    with pytest.raises(ModelFileError):
        TransitionWeights.restored(replace(file, arrays={**arrays, name: wrong}), weights.setting, n_labels, atoms)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 30))
def test_a_table_gives_its_rows_back(seed: int, n_columns: int, n_rows: int) -> None:
    """Short rows and long ones, some weights 0, which are left out."""
    random = np.random.default_rng(seed)
    keys = random.permutation(np.unique(random.integers(1, 2**62, n_rows, dtype=np.uint64)))
    dense = random.integers(-2, 3, (n_rows, n_columns)).astype(np.float32) * (random.random((n_rows, 1)) < 0.7)
    there = random.random((n_rows, n_columns)) < random.random((n_rows, 1))
    ptr = np.append(0, np.cumsum(there.sum(axis=1))).astype(np.int64)
    columns = np.nonzero(there)[1].astype(np.int32)
    table = _core.FeatureRows(n_columns, keys, ptr, columns, dense[there].astype(np.float32))
    assert len(table) == n_rows
    wanted = np.where(there, dense, 0).astype(np.float32)
    for key, row in zip(keys.tolist(), wanted):
        np.testing.assert_array_equal(table.row(key), row)
    assert not table.row(2**63 + 5).any()
    found = table.arrays()
    np.testing.assert_array_equal(found["keys"], keys)
    np.testing.assert_array_equal(np.diff(found["row_ptr"]), np.count_nonzero(wanted, axis=1))
    np.testing.assert_array_equal(found["columns"], np.nonzero(wanted)[1])
    np.testing.assert_array_equal(found["weights"], wanted[wanted != 0])


def test_native_code_refuses_what_is_out_of_range() -> None:
    ptr = np.array([0, 2], np.int64)
    atoms = np.zeros((2, 1), np.int32)
    with pytest.raises(ValueError, match="a head is out of range"):
        _core.Treebank(atoms, ptr, np.array([3, 0], np.int32), np.zeros(2, np.int32))
    with pytest.raises(ValueError, match="an address is out of range"):
        _core.ParserTemplates(
            np.array([[0, 0]], np.int32), np.zeros((0, 3), np.int32), np.zeros(1, np.int32), np.zeros(0, np.int32)
        )
    with pytest.raises(ValueError, match="keys must be different"):
        _core.FeatureRows(1, np.array([5, 5], np.uint64), np.array([0, 0, 0]), np.zeros(0, np.int32), np.zeros(0, "f4"))
    with pytest.raises(ValueError, match="too many columns"):
        _core.FeatureRows(
            2**16 + 1, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, "i4"), np.zeros(0, "f4")
        )
