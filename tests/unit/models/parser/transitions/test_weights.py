"""Transition weights as the parser sees them: templates, estimator, files, explanations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import Beam, Parser, Perceptron, _core
from margent.annotation.dependency_tree import DependencyTree
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
        templates = parsed_templates(name)
        assert len(compiled(templates, templates.token_atoms)) == len(templates)
        assert parsed_templates(preset(name).splitlines()) == templates
    assert len(parsed_templates("zhang-nivre")) == 72
    with pytest.raises(ValueError, match="no templates named 'poor'"):
        parsed_templates("poor")
    with pytest.raises(CorpusError, match=r"line 1: 's9\.word'"):
        parsed_templates(["s9.word"])
    assert {"s0.head2", "n0.left.left", "s2.right2"} <= set(VOCABULARY.addresses)


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
