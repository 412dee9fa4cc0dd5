"""Calibrated probabilities: the temperature is found, kept, used, and asked for where it lacks."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import CalibrationWarning, Perceptron, Tagger, make_addresses, storage
from margent.datasets.generated import make_chain
from margent.errors import CorpusError, ModelFileError
from margent.formats.columns import Columns
from oracle.tagging import labellings, probability

X, Y = make_addresses(700, seed=4, noise=0.3)
TRAIN, DEV, TEST = (X[:300], Y[:300]), (X[300:450], Y[300:450]), (X[450:], Y[450:])


@dataclass(frozen=True)
class Likelihood(Perceptron):
    """A learner that says its scores are log-probabilities, as a CRF does."""

    probabilistic = True


@pytest.fixture(scope="module")
def raw() -> Tagger:
    """Trained on nothing but TRAIN. Tests work on copies."""
    return Tagger(learner=Perceptron(epochs=3)).fit(*TRAIN)


def scaled(tagger: Tagger, factor: float) -> Tagger:
    """The same tagger with all weights multiplied."""
    other = copy.deepcopy(tagger)
    for array in (other.weights_.unigrams, *other.weights_.transitions, *other.weights_.ends):
        array.setflags(write=True)  # type: ignore[union-attr]
        array *= np.float32(factor)  # type: ignore[operator]
    other.model_ = replace(other.model_)  # without the native chain of the old weights
    return other


def quiet(tagger: Tagger, *data: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        return tagger.reliability(*data)


# --- what is fitted


@pytest.mark.parametrize("wanted", [0.2, 1.0, 7.0])
def test_a_known_temperature_is_found_again(wanted: float) -> None:
    """Labels drawn from the model itself at a temperature: that is the one under which its confidences are right."""
    sentences, labels, _ = make_chain(1500, 3, 12, seed=2)
    tagger = Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=2)).fit(sentences[:200], labels[:200])
    typical = copy.deepcopy(tagger).calibrate(sentences[200:], labels[200:]).temperature_
    tagger = scaled(tagger, 1 / typical)
    tagger.model_ = replace(tagger.model_, temperature=wanted, calibrated=True)
    drawn = [samples[0] for samples in tagger.sample(sentences, seed=5)]
    assert tagger.calibrate(sentences, drawn).temperature_ == pytest.approx(wanted, rel=0.1)
    found = tagger.reliability(sentences, drawn)["tokens"]
    assert found.expected_error < 0.015


def test_spans_and_tokens_become_calibrated_on_other_data(raw: Tagger) -> None:
    before = quiet(raw, *TEST)
    tagger = copy.deepcopy(raw).calibrate(*DEV)
    after = tagger.reliability(*TEST)
    assert tagger.temperature_ > 1.5  # the perceptron was too sure
    for name in ("tokens", "spans"):
        assert before[name].expected_error > 0.08
        assert after[name].expected_error < before[name].expected_error / 2
        assert after[name].log_loss < before[name].log_loss
        assert after[name].brier < before[name].brier
        assert after[name].counts.sum() == before[name].counts.sum()
    assert tagger.predict(TEST[0]) == raw.predict(TEST[0])
    assert tagger.predict_k_best(TEST[0][:9], k=3) == raw.predict_k_best(TEST[0][:9], k=3)


def span_loss(tagger: Tagger, sentences: Any, labels: Any) -> tuple[float, int]:
    """The log loss of the confidences of spans, with one right and one wrong span of mean log-probability added."""
    from margent.metrics import span_confidences

    confidences, right = span_confidences(labels, tagger.predict_spans(sentences))
    log_c, log_not = np.log(confidences), np.log1p(-np.minimum(confidences, 1 - 1e-12))
    return -float(log_c[right].sum() + log_not[~right].sum() + log_c.mean() + log_not.mean()), len(right)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 40), st.integers(0, 100), st.floats(-12, 12))
def test_no_other_temperature_is_better(raw: Tagger, n: int, begin: int, exponent: float) -> None:
    sentences, labels = DEV[0][begin : begin + n], DEV[1][begin : begin + n]
    tagger = copy.deepcopy(raw).calibrate(sentences, labels)
    best, _ = span_loss(tagger, sentences, labels)
    for temperature in (1.0, tagger.temperature_ * 2.0**exponent):
        tagger.model_ = replace(tagger.model_, temperature=temperature)
        assert best <= span_loss(tagger, sentences, labels)[0] + 1e-4


@pytest.mark.parametrize("factor", [1e-6, 1e-2, 50.0, 1e7])
def test_scores_of_any_size(raw: Tagger, factor: float) -> None:
    wanted = copy.deepcopy(raw).calibrate(*DEV)
    found = scaled(raw, factor).calibrate(*DEV)
    assert found.temperature_ == pytest.approx(factor * wanted.temperature_, rel=1e-3)
    for one, other in zip(found.predict_marginals(TEST[0][:20]), wanted.predict_marginals(TEST[0][:20])):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_a_few_right_spans_do_not_make_everything_certain(raw: Tagger) -> None:
    sentences = [s for s, gold, found in zip(*DEV, raw.predict(DEV[0])) if gold == found][:3]
    tagger = copy.deepcopy(raw).calibrate(sentences, raw.predict(sentences))
    spans = [span for found in tagger.predict_spans(sentences) for span in found]
    assert 0.5 < np.mean([span.confidence for span in spans]) < 1 - 0.3 / len(spans)


# --- where it is used


def test_probabilities_are_those_of_scores_over_the_temperature() -> None:
    sentences, labels, _ = make_chain(60, 3, 5, length=(2, 4), seed=1)
    tagger = Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=1)).fit(sentences, labels)
    tagger.model_ = replace(tagger.model_, temperature=3.0, calibrated=True)
    sentence, names = sentences[0][:3], list(tagger.classes_)
    readings = [(s / 3.0, ids) for s, ids in labellings(tagger.weights_, tagger.feature_map_.encode([sentence]))]
    (best,) = tagger.predict([sentence])
    (table,) = tagger.predict_marginals([sentence])
    wanted = [
        [probability(readings, lambda ids, t=t, i=i: ids[t] == i) for i in range(3)] for t in range(len(sentence))
    ]
    np.testing.assert_allclose(table, wanted, atol=1e-5)
    for t, span in enumerate(tagger.predict_spans([sentence])[0]):
        assert span.confidence == pytest.approx(wanted[t][names.index(best[t])], abs=1e-5)
    drawn = tagger.sample([sentence], n=5000, seed=1)[0]
    share = np.mean([labels[0] == best[0] for labels in drawn])
    assert share == pytest.approx(wanted[0][names.index(best[0])], abs=0.03)


# --- when it is fitted


def test_development_data_give_the_temperature(raw: Tagger) -> None:
    tagger = Tagger(learner=Perceptron(epochs=3)).fit(*TRAIN, X_dev=DEV[0], y_dev=DEV[1])
    assert tagger.calibrated_
    again = copy.deepcopy(tagger).calibrate(*DEV)
    assert again.temperature_ == tagger.temperature_ != 1.0
    assert not raw.calibrated_ and raw.temperature_ == 1.0
    never = Tagger(learner=Perceptron(epochs=3), calibration=0).fit(*TRAIN, X_dev=DEV[0], y_dev=DEV[1])
    assert not never.calibrated_ and never.temperature_ == 1.0
    assert never.predict(TEST[0]) == tagger.predict(TEST[0])


def test_a_share_of_the_training_data_gives_the_temperature(raw: Tagger) -> None:
    calls: list[Any] = []
    tagger = Tagger(learner=Perceptron(epochs=3), calibration=0.3).fit(*TRAIN, callbacks=[calls.append])
    assert tagger.calibrated_ and len(calls) == 3 == len(tagger.history_)
    assert tagger.predict(TEST[0]) == raw.predict(TEST[0])  # the weights are learned from all
    direct = copy.deepcopy(raw).calibrate(*TEST)
    assert tagger.temperature_ == pytest.approx(direct.temperature_, rel=0.25)
    assert tagger.reliability(*TEST)["spans"].expected_error < quiet(raw, *TEST)["spans"].expected_error / 2
    same = Tagger(learner=Perceptron(epochs=3), calibration=0.3).fit(*TRAIN)
    assert same.temperature_ == tagger.temperature_
    columns = Columns.from_sentences([list(zip(x, y)) for x, y in zip(*TRAIN)], 2)
    assert Tagger(learner=Perceptron(epochs=3), calibration=0.3).fit(columns).temperature_ == tagger.temperature_


def test_a_share_of_arrays_with_weights_and_labels_that_only_they_have() -> None:
    random = np.random.default_rng(0)
    arrays = [random.normal(size=(random.integers(2, 6), 3)) for _ in range(80)]
    y = [["pos" if row.sum() + random.normal() > 0 else "neg" for row in rows] for rows in arrays]
    y[0] = ["rare"] * len(arrays[0])
    weights = random.random(80)
    for seed in range(3):  # in one of them or another the rare label is held out
        tagger = Tagger(calibration=0.4, label_costs={"rare": 2.0}, seed=seed)
        assert tagger.fit(arrays, y, sample_weight=weights).calibrated_


def test_a_likelihood_needs_no_temperature(raw: Tagger) -> None:
    tagger = Tagger(learner=Likelihood(epochs=3)).fit(*TRAIN, X_dev=DEV[0], y_dev=DEV[1])
    assert tagger.calibrated_ and tagger.temperature_ == 1.0
    tagger.predict_spans(TEST[0][:2])  # and no warning
    assert Tagger(learner=Likelihood(epochs=3)).fit(*TRAIN).calibrate(*DEV).temperature_ > 1.5
    assert Tagger(learner=Likelihood(epochs=3), calibration=0.2).fit(*TRAIN).temperature_ > 1.5
    went_on = copy.deepcopy(raw).calibrate(*DEV).set_params(learner=Likelihood(epochs=1)).partial_fit(*TRAIN)
    assert went_on.temperature_ == 1.0 and went_on.calibrated_
    assert not Tagger(learner=Likelihood(epochs=1), label_costs={"O": 2.0}).fit(*TRAIN).calibrated_


def test_going_on_keeps_it_and_development_data_renew_it(raw: Tagger) -> None:
    tagger = copy.deepcopy(raw).calibrate(*DEV)
    before = tagger.temperature_
    assert tagger.partial_fit(*TEST).temperature_ == before and tagger.calibrated_
    tagger.partial_fit(*TEST, X_dev=DEV[0], y_dev=DEV[1])
    assert tagger.temperature_ != before
    assert not tagger.fit(*TRAIN).calibrated_ and tagger.temperature_ == 1.0


# --- data with something missing


def test_missing_labels_count_for_nothing(raw: Tagger) -> None:
    complete = copy.deepcopy(raw).calibrate(*DEV)
    partial = [[None if t % 7 == s % 7 else label for t, label in enumerate(y)] for s, y in enumerate(DEV[1])]
    tagger = copy.deepcopy(raw).calibrate(DEV[0], partial)
    assert tagger.temperature_ == pytest.approx(complete.temperature_, rel=0.3)
    unlabelled = [[None] * len(x) for x in TEST[0]]
    both = copy.deepcopy(raw).calibrate([*DEV[0], *TEST[0]], [*DEV[1], *unlabelled])
    assert both.temperature_ == pytest.approx(complete.temperature_, rel=0.01)
    found, all_found = both.reliability(DEV[0], partial), both.reliability(*DEV)
    assert found["tokens"].counts.sum() == sum(len(y) - y.count(None) for y in partial)
    assert found["spans"].counts.sum() < all_found["spans"].counts.sum()
    fitted = Tagger(learner=Perceptron(epochs=2)).fit(*TRAIN, X_dev=DEV[0], y_dev=partial)
    assert fitted.calibrated_


def test_weights_of_sentences(raw: Tagger) -> None:
    some = np.arange(len(DEV[0])) % 3 == 0
    chosen = [x for x, keep in zip(DEV[0], some) if keep], [y for y, keep in zip(DEV[1], some) if keep]
    wanted = copy.deepcopy(raw).calibrate(*chosen).temperature_
    found = copy.deepcopy(raw).calibrate(*DEV, sample_weight=some.astype(float)).temperature_
    assert found == pytest.approx(wanted, rel=0.02)


def test_labels_that_the_model_does_not_have(raw: Tagger) -> None:
    renamed = [[label.replace("CITY", "TOWN") for label in y] for y in DEV[1]]
    assert copy.deepcopy(raw).calibrate(DEV[0], renamed).temperature_ > copy.deepcopy(raw).calibrate(*DEV).temperature_
    fitted = Tagger(learner=Perceptron(epochs=1)).fit(*TRAIN, X_dev=DEV[0], y_dev=[["Q"] * len(x) for x in DEV[0]])
    assert fitted.calibrated_  # all spans are wrong, and so they should be unsure
    assert np.mean([s.confidence for found in fitted.predict_spans(DEV[0]) for s in found]) < 0.3


def test_nothing_to_judge_is_said(raw: Tagger) -> None:
    tagger = copy.deepcopy(raw)
    for y in ([], [[None] * len(x) for x in DEV[0]]):
        with pytest.raises(CorpusError, match="predicts nothing in these data"):
            tagger.calibrate(DEV[0] if y else [], y)
    assert not tagger.calibrated_
    with pytest.raises(CorpusError, match="labels are missing"):
        tagger.calibrate(DEV[0])
    with pytest.raises(CorpusError, match="3 finite numbers"):
        tagger.calibrate(DEV[0][:3], DEV[1][:3], sample_weight=[1])
    with pytest.raises(margent.NotFittedError):
        Tagger().calibrate(*DEV)


def test_one_label_and_weights_of_zero() -> None:
    assert Tagger().fit([["a"]], [["A"]], X_dev=[["b"]], y_dev=[["A"]]).temperature_ == 1.0
    tagger = Tagger(learner=Perceptron(epochs=1)).fit([["a", "b"]], [["A", "A"]])
    tagger.partial_fit([["a"]], [["B"]], X_dev=[["q"]], y_dev=[["B"]])
    assert np.isfinite(tagger.temperature_) and tagger.temperature_ > 0


@pytest.mark.parametrize("share", [1, 1.5, -0.1, True, "0.1", float("nan")])
def test_shares_that_are_none(share: Any) -> None:
    with pytest.raises(ValueError, match="calibration of Tagger should be a share from 0 to less than 1"):
        Tagger(calibration=share).fit(*TRAIN)


def test_too_little_to_hold_out() -> None:
    with pytest.raises(CorpusError, match="expected at least 2 of them, got 1"):
        Tagger(calibration=0.5).fit([["a"], ["b"]], [["A"], [None]])
    with pytest.raises(CorpusError, match="expected at least 2 of them, got 1"):
        Tagger(calibration=0.5).fit([["a"], ["b"]], [["A"], ["B"]], sample_weight=[1, 0])


# --- warning, files


def test_it_is_said_once_that_probabilities_are_not_calibrated(raw: Tagger) -> None:
    for ask in ("predict_marginals", "predict_spans", "sample"):
        tagger = copy.deepcopy(raw)
        with pytest.warns(CalibrationWarning, match=r"not calibrated.*calibrate\(X, y\)") as caught:
            getattr(tagger, ask)(TEST[0][:1])
        assert caught[0].filename == __file__
        for again in (tagger.predict_marginals, tagger.predict_spans, tagger.sample):
            again(TEST[0][:1])
        tagger.partial_fit(TRAIN[0][:5], TRAIN[1][:5])
        with pytest.warns(CalibrationWarning):
            tagger.predict_spans(TEST[0][:1])
    quiet_one = copy.deepcopy(raw)
    quiet_one.predict(TEST[0])
    quiet_one.predict_k_best(TEST[0][:1])
    quiet_one.explain(TEST[0][0], 0)


@pytest.mark.parametrize("compact", [False, True])
def test_the_temperature_is_saved(raw: Tagger, tmp_path: Path, compact: bool) -> None:
    tagger = copy.deepcopy(raw).calibrate(*DEV).set_params(calibration=0.25)
    tagger.save(tmp_path / "m", compact=compact)
    loaded = margent.load(tmp_path / "m")
    assert loaded.temperature_ == tagger.temperature_ and loaded.calibrated_ and loaded.calibration == 0.25
    raw.save(tmp_path / "raw")
    assert not margent.load(tmp_path / "raw").calibrated_
    clone = copy.deepcopy(tagger)
    assert clone.temperature_ == tagger.temperature_ and clone.calibrated_


def test_files_from_before_and_files_that_lie(raw: Tagger, tmp_path: Path) -> None:
    raw.save(tmp_path / "m")
    file = storage.read(tmp_path / "m")
    header = {name: value for name, value in file.header.items() if name != "temperature"}
    header["parameters"] = {k: v for k, v in header["parameters"].items() if k != "calibration"}
    old = Tagger.from_file(storage.ModelFile("m", "tagger", "0", header, file.arrays))
    assert old.temperature_ == 1.0 and not old.calibrated_ and old.calibration is None
    for wrong in (0, -1.0, 1e300, "1", True, [1.0]):
        with pytest.raises(ModelFileError, match="temperature"):
            Tagger.from_file(storage.ModelFile("m", "tagger", "0", {**header, "temperature": wrong}, file.arrays))


def test_an_interruption_while_calibrating_keeps_the_model(raw: Tagger, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: Any) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr("margent.models.base.fitted_temperature", interrupt)
    tagger = Tagger(learner=Perceptron(epochs=3), calibration=0.3).fit(*TRAIN)
    assert tagger.interrupted_ and not tagger.calibrated_
    assert tagger.predict(TEST[0]) == raw.predict(TEST[0])
