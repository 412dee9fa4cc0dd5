"""A tagger that searches with a beam."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from margent import CRF, MIRA, Beam, HiddenMarkovSVM, PassiveAggressive, Perceptron, Spectral, Tagger, load
from margent.datasets.generated import make_addresses
from margent.errors import CalibrationWarning

X, Y = make_addresses(160, seed=3)
X_NEW, Y_NEW = make_addresses(60, seed=4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("learner", [Perceptron(epochs=3), CRF(epochs=10)])
def test_a_beam_for_all_states_is_exact(learner: Any, order: int) -> None:
    """Ties included: a perceptron begins with nothing else."""
    exact = Tagger(learner=learner, order=order).fit(X, Y)
    beam = Tagger(learner=learner, order=order, search=Beam(10**6, update="early")).fit(X, Y)
    assert beam.predict(X_NEW) == exact.predict(X_NEW)
    for ours, theirs in zip(beam.predict_k_best(X_NEW[:5], k=3), exact.predict_k_best(X_NEW[:5], k=3)):
        assert [reading.labels for reading in ours] == [reading.labels for reading in theirs]
        assert [r.score for r in ours] == pytest.approx([r.score for r in theirs], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("learner", "update"),
    [
        (Perceptron(), "max-violation"),
        (Perceptron(), "early"),
        (PassiveAggressive(k=3), "max-violation"),
        (MIRA(k=3), "max-violation"),
    ],
    ids=str,
)
def test_narrow_beams_learn(learner: Any, update: str) -> None:
    """Nearly as well as exact search does."""
    exact = Tagger(learner=learner).fit(X, Y).score(X_NEW, Y_NEW)
    assert Tagger(learner=learner, search=Beam(2, update=update)).fit(X, Y).score(X_NEW, Y_NEW) > exact - 0.05


def test_the_field_learns_among_survivors() -> None:
    exact = Tagger(learner=CRF(epochs=30)).fit(X, Y)
    beam = Tagger(learner=CRF(epochs=30, search="beam", beam=3), search=Beam(3)).fit(X, Y)
    assert exact.calibrated_ and not beam.calibrated_
    assert beam.score(X_NEW, Y_NEW) > exact.score(X_NEW, Y_NEW) - 0.03
    with pytest.warns(UserWarning, match="not calibrated"):
        marginals = beam.predict_marginals(X_NEW)
    assert all(np.allclose(table.sum(axis=1), 1) for table in marginals)
    assert max((table > 0).sum(axis=1).max() for table in marginals) <= 3


def test_constraints_and_storage_and_threads(tmp_path: Path) -> None:
    tagger = Tagger(learner=Perceptron(epochs=3), order=2, constrain=True, search=Beam(2)).fit(X, Y)
    tagger.save(tmp_path / "beam.margent")
    again = load(tmp_path / "beam.margent")
    assert again.search == Beam(2, "max-violation")
    found = tagger.predict(X_NEW)
    assert again.predict(X_NEW) == found
    again.set_params(threads=1)
    assert again.predict(X_NEW) == found
    known = found[0][0]
    assert tagger.predict(X_NEW[:1], [{0: known}])[0][0] == known
    again.set_params(search="viterbi")  # from now on exactly, with the same weights
    scores = [tagger.predict_k_best(X_NEW, k=1), again.predict_k_best(X_NEW, k=1)]
    assert all(exact[0].score >= beam[0].score - 1e-4 for beam, exact in zip(*scores))


def test_missing_labels_are_completed() -> None:
    random = np.random.default_rng(0)
    partial = [[None if random.random() < 0.3 else label for label in labels] for labels in Y]
    exact = Tagger(learner=Perceptron(epochs=3)).fit(X, partial)
    beam = Tagger(learner=Perceptron(epochs=3), search=Beam(10**6, update="skip")).fit(X, partial)
    assert beam.predict(X_NEW) == exact.predict(X_NEW)
    narrow = Tagger(learner=Perceptron(epochs=3), search=Beam(3)).fit(X, partial)
    assert narrow.score(X_NEW, Y_NEW) > 0.4


def test_what_a_beam_is_not_for() -> None:
    with pytest.raises(ValueError, match="width of Beam should be an integer of at least 1, got 0"):
        Tagger(search=Beam(0)).fit(X, Y)
    with pytest.raises(ValueError, match="update of Beam should be one of max-violation, early, standard, skip"):
        Tagger(search=Beam(2, update="late")).fit(X, Y)
    with pytest.raises(TypeError, match=r"HiddenMarkovSVM keeps whole wrong answers .* 'chain under a beam' has only"):
        Tagger(learner=HiddenMarkovSVM(), search=Beam(2)).fit(X, Y)
    with pytest.raises(ValueError, match="is for label chains"):
        Tagger(learner=Spectral(iterations=2), search=Beam(2)).fit(X[:5], Y[:5])


def test_probabilities_under_a_beam_are_said_to_be_so(tmp_path: Path) -> None:
    exact = Tagger(learner=CRF(epochs=20)).fit(X, Y)
    assert exact.calibrated_
    exact.set_params(search=Beam(1))
    assert not exact.calibrated_
    with pytest.warns(CalibrationWarning, match="they are shares among the labellings that survive"):
        exact.predict_marginals(X_NEW)
    assert exact.set_params(search="viterbi").calibrated_
    narrow = Tagger(learner=CRF(epochs=20), search=Beam(1)).fit(X, Y)
    assert not narrow.calibrated_
    narrow.calibrate(X_NEW, Y_NEW)  # with a temperature for this beam they are calibrated
    assert narrow.calibrated_ and narrow.temperature_ > 0
    narrow.save(tmp_path / "m")
    assert load(tmp_path / "m").calibrated_
    assert not load(tmp_path / "m").set_params(search=Beam(2)).calibrated_
    assert Tagger(learner=CRF(epochs=20), search=Beam(1)).fit(X, Y, X_dev=X_NEW, y_dev=Y_NEW).calibrated_
