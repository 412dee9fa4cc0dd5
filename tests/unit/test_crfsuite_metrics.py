"""The metrics and scorers of sklearn-crfsuite."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

import margent
from margent.crfsuite import CRF, metrics, scorers

theirs = pytest.importorskip("sklearn_crfsuite.metrics")

GOLD = [["a", "b"], ["c"], ["a", "a", "b"], []]
FOUND = [["a", "a"], ["c"], ["a", "b", "b"], []]


@pytest.mark.parametrize("name", [name for name in dir(theirs) if name.startswith("flat_")])
def test_values_are_those_of_the_original(name: str) -> None:
    options = {"flat_accuracy_score": {}, "flat_fbeta_score": {"beta": 0.5, "average": "macro"}}
    given = options.get(name, {} if "report" in name else {"average": "weighted"})
    wanted = getattr(theirs, name)(GOLD, FOUND, **given)
    assert getattr(metrics, name)(GOLD, FOUND, **given) == pytest.approx(wanted)
    array = np.fromiter((list(labels) for labels in FOUND), dtype=object, count=len(FOUND))
    assert getattr(metrics, name)(GOLD, array, **given) == pytest.approx(wanted)


def test_whole_sequences() -> None:
    assert metrics.sequence_accuracy_score(GOLD, FOUND) == theirs.sequence_accuracy_score(GOLD, FOUND) == 0.5
    assert metrics.sequence_accuracy_score([], []) == theirs.sequence_accuracy_score([], []) == 0


def test_nothing_is_missing() -> None:
    public = {name for name in vars(theirs) if name.endswith(("_score", "_report"))}
    assert public and public <= set(dir(metrics))


def test_scorers() -> None:
    X, y = margent.make_addresses(40, seed=0)
    data = [[{"word": word} for word in x] for x in X]
    crf = CRF(algorithm="ap", max_iterations=2)
    for scorer in (scorers.flat_accuracy, scorers.sequence_accuracy):
        assert 0 <= cross_val_score(crf, data, y, cv=2, scoring=scorer).min() <= 1
