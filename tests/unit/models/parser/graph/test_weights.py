"""Weights of a parser over arcs: learned, searched, explained, stored, grown."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.mutation import mutate_arrays, mutate_value

import margent
from margent import storage
from margent.errors import CapabilityError, CorpusError, ModelFileError
from margent.features.token_atoms import TokenAtoms
from margent.models.parser.data import ParserData
from margent.models.parser.graph.weights import GraphWeights
from margent.models.parser.setting import ParserSetting
from margent.models.parser.weights import ParserTraining

LABELS = ("root", "det", "nsubj", "obj")
SENTENCES = [
    (
        [("the", "DET"), ("cat", "NOUN"), ("sees", "VERB"), ("a", "DET"), ("dog", "NOUN")],
        [2, 3, 0, 5, 3],
        [1, 2, 0, 1, 3],
    ),
    ([("dogs", "NOUN"), ("sleep", "VERB")], [2, 0], [2, 0]),
    ([("see", "VERB"), ("the", "DET"), ("cats", "NOUN")], [0, 3, 1], [0, 1, 3]),
    ([("a", "DET"), ("dog", "NOUN"), ("sleeps", "VERB")], [2, 3, 0], [1, 2, 0]),
] * 3
EISNER, FIRST, MST = (
    ParserSetting(search, order=order) for search, order in (("eisner", 2), ("eisner", 1), ("mst", 1))
)


def training(setting, sentences=SENTENCES, atoms=None, labels=LABELS):
    grown = TokenAtoms(GraphWeights.templates(setting).token_atoms) if atoms is None else atoms.copy()
    tokens = grown.encode([words for words, _, _ in sentences], grow=True)
    heads = np.array([h for _, tree, _ in sentences for h in tree], np.int32)
    names = np.array([x for _, _, tree in sentences for x in tree], np.int32)
    return ParserTraining(ParserData(tokens, heads, names), grown, labels, setting)


def learned(given, start=None, learner=None):
    oracle, weights = GraphWeights.trainable(given, start)
    return weights(margent.train(learner or margent.MIRA(epochs=5, k=1), oracle, progress=False).weights)


@pytest.fixture(scope="module", params=[EISNER, FIRST, MST], ids=["second order", "first order", "mst"])
def model(request):
    given = training(request.param)
    return given, learned(given)


def test_the_trees_of_the_training_data_are_found(model):
    given, weights = model
    scores, heads, labels = weights.best(given.data.tokens, 1)
    assert np.array_equal(heads, given.data.heads) and np.array_equal(labels, given.data.labels)
    assert weights.projective == (given.setting.search == "eisner") and weights.n_features > 100
    ranked = weights.k_best(given.data.tokens, 3, 2)
    assert [trees[0].score for trees in ranked] == pytest.approx(list(scores))
    assert all(a.score >= b.score for trees in ranked for a, b in itertools.pairwise(trees))


def test_the_same_seed_gives_the_same_bits(model):
    given, weights = model
    again = learned(given)
    assert np.array_equal(again.weights, weights.weights)
    assert np.array_equal(again.filter.weights, weights.filter.weights)


def test_probabilities_of_heads_and_labels_add_up(model):
    given, weights = model
    data = given.data
    found = weights.marginals(data.tokens, data.heads, data.labels, 30.0, 2)
    assert [p.shape for p in found.heads] == [(n, n + 1) for n in data.tokens.lengths]
    assert all(np.allclose(p.sum(axis=1), 1) for p in found.heads)
    assert np.allclose(found.labels.sum(axis=1), 1) and (found.arcs > 0.5).all()
    flat = weights.marginals(data.tokens, data.heads, data.labels, 1e-9, 1)
    assert (flat.arcs < found.arcs).all()


def test_an_explanation_adds_up_to_the_score_and_names_what_is_seen(model):
    given, weights = model
    tokens = given.data.tokens.part(np.array([0]))
    score, _, _ = weights.best(tokens, 1)
    total, parts = weights.breakdown(given.atoms, LABELS, tokens, given.data.heads[:5], given.data.labels[:5])
    assert total == pytest.approx(score[0], abs=1e-3) and sum(parts.values()) == pytest.approx(total)
    assert "h.word=sees m.word=dog direction=right" in parts
    assert "h.upos=NOUN m.upos=DET direction=left label=det" in parts
    second = {"s.upos=(none) m.upos=NOUN direction=right", "g.upos=VERB m.upos=DET direction=right,left"}
    assert (second <= parts.keys()) == (given.setting.order == 2)
    with pytest.raises(CapabilityError, match="explain a sentence"):
        weights.top_features(given.atoms, LABELS, 0, 3)


@pytest.mark.parametrize("half", [False, True])
def test_what_is_stored_is_restored(model, half, tmp_path: Path):
    given, weights = model
    header, arrays = weights.stored(half=half)
    storage.write(tmp_path / "m", header, arrays, kind="parser")
    back = GraphWeights.restored(storage.read(tmp_path / "m"), given.setting, len(LABELS), given.atoms)
    assert back.parts == weights.parts and back.projective == weights.projective and back.bits == weights.bits
    if not half:
        assert np.array_equal(back.weights, weights.weights)
    before, after = (each.best(given.data.tokens, 1) for each in (weights, back))
    assert np.array_equal(before.heads, after.heads) and np.array_equal(before.labels, after.labels)


def test_files_that_lie_are_refused_or_do_no_harm(tmp_path: Path):
    given = training(FIRST)
    weights = learned(given)
    header, arrays = weights.stored()
    refused = 0
    for seed in range(80):
        dice = random.Random(seed)
        if dice.random() < 0.5:
            changed = mutate_value(header, dice, [None, -1, 0, 1e9, "x", [], {}, True])
            lying = (changed if isinstance(changed, dict) else {}, arrays)
        else:
            lying = (header, mutate_arrays(arrays, dice))
        try:
            storage.write(tmp_path / "m", *lying, kind="parser")
        except (TypeError, ValueError):
            continue  # what no file can hold
        try:
            back = GraphWeights.restored(storage.read(tmp_path / "m"), FIRST, len(LABELS), given.atoms)
        except ModelFileError:
            refused += 1
            continue
        assert np.isfinite(back.best(given.data.tokens, 1).scores).all()
    assert refused > 30


def test_new_words_and_labels_are_learned_on_top():
    given = training(EISNER)
    weights = learned(given)
    more = [*SENTENCES, ([("quickly", "ADV"), ("dogs", "NOUN"), ("sleep", "VERB")], [3, 3, 0], [4, 2, 0])]
    grown = training(EISNER, more, given.atoms, (*LABELS, "advmod"))
    unchanged = GraphWeights.trainable(grown, weights).oracle.weights(False)
    assert (
        np.array_equal(unchanged[: len(weights.weights)], weights.weights)
        and not unchanged[len(weights.weights) :].any()
    )
    further = learned(grown, weights)
    assert np.array_equal(further.best(grown.data.tokens, 1).labels, grown.data.labels)
    assert further.n_labels == 5 and further.filter.n_labels == 5


def test_partial_trees_are_learned_from():
    given = training(EISNER)
    rng = np.random.default_rng(0)
    unknown = rng.random(len(given.data.heads)) < 0.3
    partial = replace(
        given.data,
        heads=np.where(unknown, -1, given.data.heads).astype(np.int32),
        labels=np.where(unknown, -1, given.data.labels).astype(np.int32),
    )
    weights = learned(replace(given, data=partial), learner=margent.CRF(epochs=10))
    assert (weights.best(given.data.tokens, 1).heads == given.data.heads).mean() > 0.8


def test_searches_can_be_changed_as_far_as_the_parts_allow():
    weights = learned(training(FIRST))
    crossing = weights.searched(MST)
    assert not crossing.projective and crossing.searched(EISNER).projective
    with pytest.raises(ValueError, match="search='mst' has no pairs of arcs"):
        learned(training(EISNER)).searched(MST)


def test_wrong_settings_and_templates_are_refused():
    with pytest.raises(ValueError, match="search is 'viterbi'"):
        GraphWeights.check(ParserSetting("viterbi"))
    with pytest.raises(ValueError, match="order is 3"):
        GraphWeights.check(ParserSetting("eisner", order=3))
    for line, said in {
        "h.upos s.upos g.upos": "has s and g",
        "h.upos s.upos between.upos": "expected no `between`",
        "h.label s.upos": "has s and g",
        "h.upos between.upos between.word": "looks between the words twice",
        "x.upos": "begins with no known address",
    }.items():
        with pytest.raises(CorpusError, match=said):
            GraphWeights.templates(ParserSetting("eisner", templates=(line,)))
    with pytest.raises(CorpusError, match="pairs of arcs alone"):
        GraphWeights.templates(ParserSetting("mst", templates=("h.upos s.upos m.upos",)))


def test_templates_of_ones_own_need_no_tags():
    setting = ParserSetting("eisner", templates=("h.word m.word direction", "m.word label", "h.word s.word m.word"))
    given = training(setting)
    assert given.atoms.names == ("word",)
    weights = learned(given)
    assert (weights.best(given.data.tokens, 1).heads == given.data.heads).mean() > 0.9
