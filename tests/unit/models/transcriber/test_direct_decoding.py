"""A transcriber whose learner searches by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import CRF, MIRA, AlignmentBeam, ModelFileError, PassiveAggressive, Perceptron, Transcriber, storage
from margent.datasets import make_pronunciations
from margent.errors import CapabilityError
from margent.models.transcriber.direct_decoding import DirectDecoder

WORDS, SPOKEN = make_pronunciations(600, seed=0, noise=0)
TRAIN, TEST = slice(0, 400), slice(400, 600)


def fit(**parameters: Any) -> Transcriber:
    search = AlignmentBeam(width=8, update=parameters.pop("update", "max-violation"))
    given = {"order": 1, "learner": Perceptron(epochs=5), "decoder": "direct", "search": search, **parameters}
    return Transcriber(**given).fit(WORDS[TRAIN], SPOKEN[TRAIN])


@pytest.fixture(scope="module")
def direct() -> Transcriber:
    return fit()


@pytest.mark.parametrize(
    ("learner", "update"),
    [
        (Perceptron(epochs=3), "early"),
        (Perceptron(epochs=3), "standard"),
        (PassiveAggressive(epochs=3), "max-violation"),
        (MIRA(C=0.01, k=3, epochs=3), "max-violation"),
        (MIRA(C=0.01, k=3, epochs=3), "skip"),
        (CRF(search="beam", beam=5, l2=0.5, epochs=10), "standard"),
        (CRF(method="sgd", search="beam", beam=5, l2=0.5, epochs=3), "standard"),
    ],
)
def test_all_updates_and_learners_beat_the_joint_model(learner: Any, update: str) -> None:
    joint = Transcriber(order=1).fit(WORDS[TRAIN], SPOKEN[TRAIN])
    model = fit(learner=learner, update=update)
    assert model.score(WORDS[TEST], SPOKEN[TEST]) > joint.score(WORDS[TEST], SPOKEN[TEST]) + 0.1


def test_it_starts_where_em_ended() -> None:
    joint = Transcriber(order=3, search=AlignmentBeam(width=100, sum_alignments=False)).fit(WORDS[TRAIN], SPOKEN[TRAIN])
    start = np.zeros(2**20 + 1)
    start[0] = 1.0
    expected = joint.predict(WORDS[TEST])
    joint.model_ = replace(joint.model_, decoder=DirectDecoder(start))
    assert joint.predict(WORDS[TEST]) == expected


def test_alternatives_come_best_first_with_shares(direct: Transcriber) -> None:
    for several, best in zip(direct.predict_k_best(WORDS[TEST], k=4), direct.predict(WORDS[TEST])):
        assert several[0].phonemes == best
        shares = [one.probability for one in several]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-9
        assert len({tuple(one.phonemes) for one in several}) == len(several) <= 4
    assert direct.predict([""]) == [[]]
    assert direct.predict([]) == []


def test_alignment_still_works(direct: Transcriber) -> None:
    for word, spoken, alignment in zip(WORDS, SPOKEN, direct.align(WORDS[:20], SPOKEN[:20])):
        assert "".join(letter for graphone in alignment for letter in graphone.letters) == word
        assert [phoneme for graphone in alignment for phoneme in graphone.phonemes] == spoken


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads() -> None:
    one, three, other = (fit(threads=n, seed=seed) for n, seed in ((1, 0), (3, 0), (1, 1)))
    assert isinstance(one.decoder_, DirectDecoder)
    assert np.array_equal(one.decoder_.weights, three.decoder_.weights)  # type: ignore[union-attr]
    assert not np.array_equal(one.decoder_.weights, other.decoder_.weights)  # type: ignore[union-attr]
    assert one.predict_k_best(WORDS[TEST]) == three.predict_k_best(WORDS[TEST])


def test_development_words_choose_the_epoch() -> None:
    model = Transcriber(
        order=1, learner=Perceptron(epochs=3), search=AlignmentBeam(width=4, update="early"), decoder="direct"
    )
    model.fit(WORDS[:200], SPOKEN[:200], X_dev=WORDS[550:], y_dev=SPOKEN[550:])
    assert max(epoch["dev_score"] for epoch in model.history_[-3:]) == model.score(WORDS[550:], SPOKEN[550:])


def test_a_file_brings_everything_back(direct: Transcriber, tmp_path: Path) -> None:
    direct.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent")
    assert repr(loaded) == repr(direct)
    assert loaded.predict_k_best(WORDS[TEST]) == direct.predict_k_best(WORDS[TEST])
    loaded.save(tmp_path / "again.margent")
    assert (tmp_path / "again.margent").read_bytes() == (tmp_path / "m.margent").read_bytes()


def test_a_latent_crf_leads_the_search(tmp_path: Path) -> None:
    learner = CRF(search="beam", beam=5, l2=0.5, epochs=5)
    one, three = (fit(learner=learner, threads=n) for n in (1, 3))
    assert isinstance(one.decoder_, DirectDecoder)
    assert np.array_equal(one.decoder_.weights, three.decoder_.weights)  # type: ignore[union-attr]
    one.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent")
    assert loaded.predict_k_best(WORDS[TEST]) == one.predict_k_best(WORDS[TEST])


class Mine(Perceptron):
    """A learner that no name stands for."""


def test_a_learner_of_ones_own_is_not_in_the_file_but_its_weights_are(tmp_path: Path) -> None:
    model = fit(learner=Mine(epochs=2), update="early")
    model.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent")
    assert loaded.predict(WORDS[TEST]) == model.predict(WORDS[TEST])
    assert loaded.learner is None and isinstance(loaded.decoder_, DirectDecoder)


@pytest.mark.parametrize(
    "learner",
    [
        CRF(method="owlqn", l1=0.5, search="beam", beam=5, epochs=12),
        CRF(completion="best", search="beam", beam=5, epochs=12),
    ],
)
def test_other_latent_fields(learner: Any) -> None:
    model = fit(learner=learner)
    assert model.decoder_ is not None and np.count_nonzero(model.decoder_.weights)
    assert model.score(WORDS[TEST], SPOKEN[TEST]) > 0.5


def test_ctrl_c_in_the_first_search_leaves_the_joint_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Any) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(margent._core.Likelihood, "grow", interrupt)
    model = fit(learner=CRF(search="beam"))
    assert model.interrupted_ and model.decoder_ is None
    assert model.predict(WORDS[TEST]) == Transcriber(order=1, search=AlignmentBeam(width=8)).fit(
        WORDS[TRAIN], SPOKEN[TRAIN]
    ).predict(WORDS[TEST])


def test_patience_without_development_words_is_refused_before_em() -> None:
    def begun(_: Any) -> None:
        raise AssertionError("EM has begun")

    model = Transcriber(order=2, learner=Perceptron(patience=2))
    with pytest.raises(ValueError, match="patience=2 needs development data"):
        model.fit(WORDS[:50], SPOKEN[:50], callbacks=[begun])


def test_hostile_weights_are_refused(direct: Transcriber, tmp_path: Path) -> None:
    path = tmp_path / "m.margent"
    direct.save(path)
    file = storage.read(path)
    weights = file.arrays["direct"]
    for wrong in (weights[:-1], weights.astype(np.float64), np.full_like(weights, np.nan), weights * 0 + 3e38):
        storage.write(path, file.header, {**file.arrays, "direct": wrong}, kind="transcriber")
        with pytest.raises(ModelFileError, match="direct"):
            margent.load(path)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"update": "late"}, "update of AlignmentBeam should be one of max-violation"),
        ({"learner": None}, "there is none"),
        ({"learner": CRF()}, "CRF sums over all answers, and the structure 'co-segments' has no such sums"),
        ({"learner": CRF(search="beam"), "decoder": "rerank"}, "give decoder='direct'"),
        ({"learner": margent.HiddenMarkovSVM()}, "HiddenMarkovSVM keeps whole .* 'co-segments' has only parts"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, CapabilityError), match=message):
        fit(**parameters)
