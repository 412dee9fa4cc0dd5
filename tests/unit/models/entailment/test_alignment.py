"""The linear classifier against plain enumeration of alignments and relations, and its forests as oracles."""

from __future__ import annotations

import numpy as np
import pytest

import margent
from margent.annotation import BinaryTree
from margent.datasets import make_entailment
from margent.models.entailment.alignment_weights import AlignmentWeights
from margent.models.entailment.data import PairData
from margent.models.entailment.feature_keys import FeatureKeys
from margent.models.entailment.word_pairs import key_text
from oracle import entailment as twin

PAIRS = [
    ("( the cat )", "cats"),
    ("( ( an old ) ( cat sleeps ) )", "( ( the cat ) sleeping )"),
    ("sleeps", "( cat ( old cats ) )"),
    ("( cat ( and cat ) )", "( cat cat )"),
]
DATA = PairData.of([tuple(map(BinaryTree.from_brackets, pair)) for pair in PAIRS])


def fitted(compose: bool, summed: bool, k: int, n_labels: int) -> AlignmentWeights:
    weights, _ = AlignmentWeights.empty(k, compose, summed).grown(DATA, n_labels, 1, True)
    return weights.with_values(np.random.default_rng(1).normal(size=len(weights.values)))


def weight_of(weights: AlignmentWeights) -> twin.Weight:
    rows, cubes = weights._split()
    known = {(len(column), text): row for table, column in ((weights.parts, (0,)), (weights.rules, (0, 0, 0)))
             for row, text in enumerate(key_text(int(key), weights.atoms) for key in table.keys)}  # fmt: skip
    assert len(known) == len(weights.parts) + len(weights.rules)  # no two features have the same text

    def weight(text: str, column: tuple[int, ...]) -> float:
        row = known[len(column), text]
        return float((cubes if len(column) == 3 else rows)[(row, *column)])

    return weight


@pytest.mark.parametrize("compose", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_scores_are_those_of_plain_enumeration(compose, k):
    for summed in (False, True):
        weights = fitted(compose, summed, k, 2)
        weight = weight_of(weights)
        found = weights.label_scores(DATA, 1)
        for i, (premise, hypothesis) in enumerate(zip(DATA.premises, DATA.hypotheses)):
            parts = hypothesis.parts if compose else None
            for label in range(2):
                scores = list(twin.derivations(list(premise.words), list(hypothesis.words), parts, label, 2, k, weight))
                wanted = twin.log_sum(scores) if summed else max(scores)
                assert found[i, label] == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("compose", [False, True])
def test_expected_alignments_and_relations_add_up(compose):
    weights = fitted(compose, True, 3, 3)
    scores = weights.label_scores(DATA, 2)
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    for i, found in enumerate(weights.details(DATA, 1.0, 1)):
        hypothesis = DATA.hypotheses[i]
        assert found.alignment.shape == (len(hypothesis), len(DATA.premises[i]) + 1)
        assert found.relations.shape == (hypothesis.n_nodes, 3)
        assert found.alignment.sum(axis=1) == pytest.approx(1) and found.relations.sum(axis=1) == pytest.approx(1)
        assert found.relations[-1] == pytest.approx(shares[i], abs=1e-5)  # the relation of the root is the label


def test_contributions_are_the_margin_of_the_best_alignments():
    weights = fitted(True, False, 3, 3)
    for i in range(len(DATA)):
        one = DATA.part([i])
        (scores,) = weights.label_scores(one, 1)
        parts = weights.contributions(one, 0, 2, ["a", "b", "c"])
        assert sum(part.weight for part in parts) == pytest.approx(scores[0] - scores[2], abs=1e-4)


def test_features_keep_their_numbers_when_labels_and_words_come():
    weights = fitted(True, False, 2, 2)
    more = PairData.of([("a new cat", "an old cat")])
    grown, _ = weights.grown(more, 3, 1, True)
    assert grown.parts.keys[: len(weights.parts)].tolist() == weights.parts.keys.tolist()
    assert len(grown.parts) > len(weights.parts)
    rows, cubes = grown._split()
    old_rows, old_cubes = weights._split()
    assert (rows[: len(old_rows), :2] == old_rows).all() and (cubes[: len(old_cubes), :2, :2, :2] == old_cubes).all()
    frozen, _ = weights.grown(more, 2, 1, False)
    assert len(frozen.parts) == len(weights.parts) and (frozen.values == weights.values).all()


def test_keys_are_found_whatever_they_are():
    keys = FeatureKeys.none().grown(np.array([7, 7, 1 << 60, 0, 5, 5, 1 << 60], np.uint64), 2)
    assert keys.keys.tolist() == [5, 7, 1 << 60]
    assert keys.find(np.array([[7, 6], [1 << 60, 0]], np.uint64)).tolist() == [[1, -1], [2, -1]]
    again = keys.grown(np.array([9, 7], np.uint64), 1)
    assert again.keys.tolist() == [5, 7, 1 << 60, 9]


def test_alignments_that_nobody_told_are_found():
    """On generated pairs, whose alignments are known and are not given."""
    X, y, _ = make_entailment(800, seed=0)
    X_test, y_test, truth = make_entailment(100, seed=1)
    model = margent.EntailmentClassifier().fit(X, y, X_dev=X_test, y_dev=y_test, progress=False)
    assert model.score(X_test, y_test) > 0.85
    right = [
        int(row.argmax()) == (j if j >= 0 else len(row) - 1)
        for found, one in zip(model.predict_marginals(X_test), truth)
        for row, j in zip(found.alignment, one.alignment)
    ]
    assert np.mean(right) > 0.85
