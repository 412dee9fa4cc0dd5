"""The segmenter: frames and tokens, learning, prediction, storage, scikit-learn's conventions."""

from __future__ import annotations

import copy
import doctest
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.model_files import timeless
from tests.unit.models.segmenter.sequences import ENTITIES, SENTENCES, speech

import margent
import margent.models.segmenter.segmenter
from margent import (
    CRF,
    Durations,
    FrameFeatures,
    MaximumLikelihood,
    PassiveAggressive,
    Perceptron,
    SegmentCosts,
    Segmenter,
    StructuredSVM,
    TokenFeatures,
)
from margent.errors import (
    CalibrationWarning,
    CapabilityError,
    ConstraintError,
    CorpusError,
    ModelFileError,
    NotFittedError,
)
from margent.features.name_list import NameLists


def as_lists(segmentations):
    return [[tuple(s) for s in segments] for segments in segmentations]


@pytest.mark.parametrize(
    "learner",
    [
        None,
        "perceptron",
        MaximumLikelihood(),
        StructuredSVM(C=0.001, method="subgradient", epochs=5),
        CRF(epochs=15),
        margent.MIRA(epochs=3, k=2),
    ],
    ids=str,
)
def test_frames_are_segmented(learner):
    train, test = speech(0, 30), speech(1, 15)
    segmenter = Segmenter(FrameFeatures(bins=2), learner).fit(*train, progress=False)
    assert segmenter.score(*test) > 0.85
    found = segmenter.predict(test[0])
    assert [s[-1].end for s in found] == [len(x) for x in test[0]]
    labels = segmenter.predict_labels(test[0])
    right = [[label for s, e, label in segments for _ in range(e - s)] for segments in test[1]]
    assert np.mean([a == b for x, z in zip(labels, right) for a, b in zip(x, z)]) > 0.85
    assert segmenter.classes_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "features",
    [
        FrameFeatures(covariance="diagonal"),
        FrameFeatures(bins={"a": 1, "b": 2}),
        FrameFeatures(components=2, bins=1),
        FrameFeatures(durations=None),
    ],
    ids=str,
)
def test_kinds_of_frame_features(features):
    train, test = speech(2, 30), speech(3, 10)
    segmenter = Segmenter(features, StructuredSVM(C=0.001, method="subgradient", epochs=3)).fit(*train, progress=False)
    assert segmenter.score(*test) > 0.8


def test_means_can_be_learned():
    train, test = speech(2, 40), speech(3, 10)
    learner = StructuredSVM(C=0.1, method="subgradient", epochs=30)
    segmenter = Segmenter(FrameFeatures(bins=2, content="mean"), learner, start=None).fit(*train, progress=False)
    assert segmenter.score(*test) > 0.8


@pytest.mark.parametrize("durations", ["gamma", None])
def test_averages_start_with_about_as_many_segments_as_there_are(durations):
    train, test = speech(2, 40), speech(3, 10)
    features = FrameFeatures(bins=2, content="mean", durations=durations)
    found = Segmenter(features, MaximumLikelihood()).fit(*train, progress=False).predict(test[0])
    assert 0.7 < sum(map(len, found)) / sum(map(len, test[1])) < 1.5


def test_strings_are_those_of_right_segments_and_single_tokens():
    segmenter = Segmenter(TokenFeatures(), Perceptron(epochs=1), outside="O").fit(SENTENCES, ENTITIES, progress=False)
    strings = {name for name in segmenter.feature_map_.ids if name.startswith("segment=")}
    assert {"segment=new york city", "segment=mary jones", "segment=rain"} <= strings
    assert not any("lives" in name and name != "segment=lives" for name in strings)


def test_tokens_are_segmented():
    segmenter = Segmenter(TokenFeatures(), Perceptron(epochs=10), outside="O").fit(SENTENCES, ENTITIES, progress=False)
    assert as_lists(segmenter.predict(SENTENCES)) == ENTITIES
    assert segmenter.score(SENTENCES, ENTITIES) == 1.0
    assert segmenter.predict_labels(SENTENCES[:1]) == [["PER", "PER", "O", "O", "LOC", "LOC", "LOC", "O"]]
    assert as_lists(segmenter.predict([["Mary", "Brown", "lives", "in", "Paris", "."]])) == [
        [(0, 2, "PER"), (4, 5, "LOC")]
    ]
    assert segmenter.predict([[]]) == [[]]


def test_a_crf_gives_probabilities():
    segmenter = Segmenter(learner=CRF(l2=0.1), outside="O").fit(SENTENCES, ENTITIES, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = segmenter.predict_marginals(SENTENCES[:1])
    np.testing.assert_allclose(found.labels.sum(axis=1), 1, atol=1e-9)
    assert found.boundaries.shape == (9,)
    assert found.boundaries[[0, 8]] == pytest.approx(1)
    assert [tuple(s)[:3] for s in found.segments] == ENTITIES[0]
    for span in found.segments:
        column = segmenter.classes_.tolist().index(span.label)
        assert 0.5 < span.confidence <= found.labels[span.start : span.end, column].min() + 1e-9
    with pytest.warns(CalibrationWarning, match="not calibrated"):
        Segmenter(learner="perceptron", outside="O").fit(SENTENCES, ENTITIES, progress=False).predict_marginals(
            SENTENCES
        )


def test_k_best_begins_with_the_best():
    X, y = speech(4)
    segmenter = Segmenter(learner=MaximumLikelihood()).fit(X, y)
    several = segmenter.predict_k_best(X[:2], k=4)
    assert [each[0].segments for each in several] == segmenter.predict(X[:2])
    for each in several:
        assert sorted((r.score for r in each), reverse=True) == [r.score for r in each]
        assert len({tuple(r.segments) for r in each}) == 4


def test_a_plot(tmp_path):
    X, y = speech(4)
    segmenter = Segmenter(learner=MaximumLikelihood()).fit(X, y)
    figure = segmenter.plot(X[0], y[0], tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").stat().st_size > 1000
    assert figure is not None
    with pytest.raises(CorpusError, match="cannot be drawn"):
        segmenter.plot(X[0], [s.label for s in y[0]])


def test_labels_without_times():
    X, y = speech(5, 30)
    labels = [[s.label for s in segments] for segments in y]
    segmenter = Segmenter(FrameFeatures(bins=1), MaximumLikelihood()).fit(X, y)
    aligned = segmenter.predict(X, labels=labels)
    assert [[s.label for s in segments] for segments in aligned] == labels
    off = [abs(a.end - b.end) for found, right in zip(aligned, y) for a, b in zip(found, right)]
    assert np.mean(np.array(off) <= 1) > 0.9
    # A few sequences with times to begin with, many with labels alone.
    few = Segmenter(FrameFeatures(bins=1), "perceptron", durations=Durations(max=10)).fit(X[:6], y[:6], progress=False)
    few.partial_fit(X, labels, progress=False)
    assert few.score(X, labels) > 0.9
    with pytest.raises(CorpusError, match="give Durations"):
        Segmenter(start=None).fit(X, labels)
    with pytest.raises(ConstraintError, match="no label 'z'"):
        segmenter.predict(X[:1], labels=[["z"]])
    with pytest.raises(ConstraintError, match="leave no segmentation"):
        segmenter.predict([X[0][:1]], labels=[["a", "b"]])


def test_constraints_on_neighbours_and_durations():
    X, y = speech(6, 20)
    segmenter = Segmenter(learner=MaximumLikelihood(), repeat=False, durations=Durations(min={"b": 3}, max=20)).fit(
        X, y
    )
    for segments in segmenter.predict(X):
        assert all(a.label != b.label for a, b in pairwise(segments))
        assert all(s.end - s.start >= 3 for s in segments if s.label == "b")
    with pytest.raises(CorpusError, match=r"sequence \d+, segment \d+: .* lasts .*; expected 1 to 3"):
        Segmenter(durations=Durations(max=3)).fit(X, y)
    with pytest.raises(ValueError, match="max of Durations names label 'q'"):
        Segmenter(durations=Durations(max={"q": 3})).fit(X, y)


def test_development_data_history_and_callbacks():
    train, dev = speech(7, 20), speech(8, 8)
    seen = []
    learner = StructuredSVM(C=0.001, method="subgradient", epochs=6, patience=2)
    segmenter = Segmenter(learner=learner).fit(
        *train, X_dev=dev[0], y_dev=dev[1], callbacks=[lambda epoch: seen.append(epoch.dev_score)], progress=False
    )
    assert [h["dev_score"] for h in segmenter.history_] == seen
    assert segmenter.best_epoch_ == 1 + int(np.argmax(seen))
    assert segmenter.score(*dev) == pytest.approx(max(seen))
    with pytest.raises(CorpusError, match="without X_dev"):
        Segmenter().fit(*train, y_dev=dev[1])
    with pytest.raises(ValueError, match="dev_metric should be one of"):
        Segmenter().fit(*train, dev_metric="best")


def test_development_data_are_judged_by_a_function():
    train, dev = speech(7, 20), speech(8, 8)
    asked = []

    def fewest_segments(gold, predicted):
        asked.append((gold, predicted))
        return -sum(map(len, predicted))

    learner = StructuredSVM(C=0.001, method="subgradient", epochs=3)
    segmenter = Segmenter(learner=learner)
    segmenter.fit(*train, X_dev=dev[0], y_dev=dev[1], dev_metric=fewest_segments, progress=False)
    assert len(asked) == 3 and all(gold is dev[1] for gold, _ in asked)
    scores = [-sum(map(len, predicted)) for _, predicted in asked]
    assert [epoch["dev_score"] for epoch in segmenter.history_] == scores
    assert segmenter.predict(dev[0]) == asked[scores.index(max(scores))][1]


def test_sample_weights_count():
    X, y = speech(9, 6)
    wrong = [[(0, len(x), "a")] for x in X]
    weights = [1.0] * 6 + [0.0] * 6
    options = {"learner": Perceptron(epochs=3, average=False), "durations": Durations(max=99), "start": None}
    segmenter = Segmenter(FrameFeatures(bins=1), **options).fit(X + X, y + wrong, sample_weight=weights, progress=False)
    assert segmenter.score(X, y) > 0.5
    counted = Segmenter(learner=MaximumLikelihood()).fit(X, y, sample_weight=[2, 1, 1, 1, 1, 1])
    twice = Segmenter(learner=MaximumLikelihood()).fit([X[0], *X], [y[0], *y])
    for name in ("transitions", "start", "end", "durations"):
        np.testing.assert_allclose(counted.weights_.parts()[name], twice.weights_.parts()[name], rtol=1e-4)
    with pytest.raises(CorpusError, match="sample_weight of every sequence is zero"):
        Segmenter().fit(X, y, sample_weight=np.zeros(6))


def test_threads_and_seeds_give_the_same_bits():
    X, y = speech(10, 20)
    one, two = (Segmenter(learner=CRF(epochs=3), threads=threads).fit(X, y, progress=False) for threads in (1, 2))
    np.testing.assert_array_equal(one.weights_.weights, two.weights_.weights)
    assert one.predict(X) == two.predict(X)


def test_names_and_functions_of_segments():
    features = TokenFeatures(
        names={"city": ["Novi Sad", "Kyiv"]},
        similar=0.7,
        functions=[lambda tokens, begin, end: {"upper": float(tokens[begin][0].isupper())}],
        string=False,
    )
    X = [["I", "saw", "Novi", "Sad", "today"], ["he", "left", "Kyiv"], ["Bob", "ate"]]
    y = [[(2, 4, "LOC")], [(2, 3, "LOC")], []]
    segmenter = Segmenter(features, Perceptron(epochs=10), outside="O").fit(X, y, progress=False)
    assert as_lists(segmenter.predict(X)) == y
    names = segmenter.feature_map_.ids
    assert {"name.city", "like.city", "function0.upper"} <= set(names)
    lists = NameLists({"city": ["Novi Sad"]})
    assert lists.exact("novi sad") == ["city"]
    assert lists.similar("novi sat", 0.99) == {}


@pytest.mark.parametrize("kind", ["frames", "tokens"])
def test_save_and_load(tmp_path, kind):
    if kind == "frames":
        X, y = speech(11)
        segmenter = Segmenter(
            FrameFeatures(bins={"a": 2}),
            StructuredSVM(C=0.001, method="subgradient", epochs=2),
            durations=Durations(max={"a": 30}),
        )
    else:
        X, y = SENTENCES, ENTITIES
        segmenter = Segmenter(TokenFeatures(names={"x": ["Paris"]}), "perceptron", outside="O")
    segmenter.fit(X, y, progress=False)
    path = tmp_path / "model.margent"
    segmenter.save(path)
    again = margent.load(path)
    assert isinstance(again, Segmenter)
    assert again.predict(X) == segmenter.predict(X)
    assert again.get_params() == segmenter.get_params()
    assert again.history_ == timeless(segmenter.history_)
    for other in (again, copy.deepcopy(segmenter)):
        np.testing.assert_array_equal(other.weights_.weights, segmenter.weights_.weights)
        before = len(other.history_)
        other.partial_fit(X, y, progress=False)
        assert len(other.history_) > before


def test_functions_are_given_again_on_loading(tmp_path):
    features = TokenFeatures(functions=[lambda tokens, begin, end: [tokens[begin]]])
    segmenter = Segmenter(features, "perceptron", outside="O").fit(SENTENCES, ENTITIES, progress=False)
    path = tmp_path / "model.margent"
    segmenter.save(path)
    with pytest.raises(ValueError, match="trained with functions"):
        margent.load(path)
    again = margent.load(path, function=features.functions[0])
    assert again.predict(SENTENCES) == segmenter.predict(SENTENCES)


def test_a_hostile_file_is_refused(tmp_path):
    from margent import storage

    X, y = speech(12, 4)
    path = tmp_path / "model.margent"
    Segmenter(learner=MaximumLikelihood()).fit(X, y).save(path)
    file = storage.read(path)

    def attempt(header=None, **arrays):
        bad = tmp_path / "bad.margent"
        new = {name: value for name, value in {**file.arrays, **arrays}.items() if value is not None}
        storage.write(bad, {**file.header, **(header or {})}, new, kind="segmenter")
        with pytest.raises(ModelFileError):
            margent.load(bad)

    attempt(weights=file.arrays["weights"][:-1])
    attempt(weights=np.full_like(file.arrays["weights"], np.nan))
    attempt(longest=np.zeros(3, dtype=np.int32))
    attempt(longest=np.full(3, 2**30, dtype=np.int32))
    attempt(longest=file.arrays["longest"][:2])
    attempt(**{"frames.scale": -file.arrays["frames.scale"]})
    attempt(**{"frames.mean": None})
    attempt({"labels": ["a", "a", "b"]})
    attempt({"labels": ["a"]})
    attempt({"features": "templates"})
    attempt({"frame_features": {"bins": 10**9}})
    attempt({"frame_features": {"bins": 3, "components": 255}})
    attempt({"history": [1]})
    attempt({"parameters": {**file.header["parameters"], "learner": {"name": "none"}}})
    attempt({"parameters": {**file.header["parameters"], "seed": -1}})


def test_scikit_learn_conventions():
    sklearn = pytest.importorskip("sklearn.base")
    segmenter = Segmenter(FrameFeatures(bins=2), "crf")
    twin = sklearn.clone(segmenter)
    assert twin.get_params() == segmenter.get_params()
    assert twin.set_params(learner__l2=2.0).learner == CRF(l2=2.0)
    with pytest.raises(NotFittedError):
        twin.predict([np.zeros((2, 2))])
    from sklearn.model_selection import cross_val_score

    X, y = speech(13, 9)
    scores = cross_val_score(Segmenter(learner=MaximumLikelihood()), X, y, cv=3)
    assert scores.min() > 0.6


@pytest.mark.parametrize(
    "X, y, message",
    [
        ([np.zeros((3, 2))], [[(0, 2, "a")]], "the segments end at 2; expected 3"),
        ([np.zeros((3, 2))], [[(0, 2, "a"), (1, 3, "b")]], "segment 1 is from 1 to 3; expected it to begin at 2"),
        ([np.zeros((3, 2))], [], "found segments for 0 sequences, expected them for 1"),
        ([np.zeros((3, 2))], [[]], "sequence 0 has no segments"),
        ([np.zeros((3, 2))], [[(0, 3)]], r"expected \(start, end, label\)"),
        ([np.zeros((3, 2))], [["a"] * 4], "3 frames, but 4 labels"),
        ([np.full((3, 2), np.nan)], [[(0, 3, "a")]], "frame 0 has a value that is not finite"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], [[(0, 3, "a")]] * 2, r"frames have \[1, 2\] values"),
        ([np.zeros((3, 2, 2))], [[(0, 3, "a")]], r"sequence 0 has shape \(3, 2, 2\)"),
        ([["a", 1]], [[(0, 2, "x")]], "sentence 0, token 1: expected a word"),
        ([np.zeros((3, 2))], None, "segments are missing"),
    ],
)
def test_wrong_data_are_named(X, y, message):
    with pytest.raises(CorpusError, match=message):
        Segmenter().fit(X, y)


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"durations": 5}, "durations of Segmenter should be Durations"),
        ({"threads": 0}, "threads of Segmenter"),
        ({"costs": 1}, "costs of Segmenter should be SegmentCosts"),
        ({"start": "zero"}, "start of Segmenter"),
        ({"repeat": "no"}, "repeat of Segmenter"),
        ({"features": "ner"}, "features should be FrameFeatures"),
        ({"learner": "best"}, "learner='best' is not known"),
        ({"learner": 3}, "learner should be a learner"),
        ({"outside": 3}, "outside of Segmenter"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Segmenter(**parameters).fit(*speech(0, 2))


def test_examples_in_the_documentation():
    assert doctest.testmod(margent.models.segmenter.segmenter).failed == 0


def test_scores_of_a_sequence_are_those_of_the_model():
    from margent.structures import segments

    X, y = speech(24, 6)
    for features in (FrameFeatures(bins=2), FrameFeatures(content="mean", components=2)):
        segmenter = Segmenter(features, MaximumLikelihood(), repeat=False).fit(X, y)
        scores = segmenter.scores_of(X[0])
        (best,) = segmenter.predict_k_best(X[:1], 1)[0]
        ids = segmenter.classes_.tolist()
        rows = [(s.start, s.end, ids.index(s.label)) for s in best.segments]
        assert segments.score(scores, rows) == pytest.approx(best.score)
        assert segments.best(scores).segments.tolist() == [list(row) for row in rows]
    assert segments.best(segmenter.scores_of(np.zeros((0, 3)))).segments.shape == (0, 3)


def test_margin_learners_are_calibrated_on_development_data(tmp_path):
    train, dev, test = speech(25, 20), speech(26, 15), speech(27, 40)
    noisy = [
        [x + np.random.default_rng(i).normal(size=x.shape) for i, x in enumerate(X)] for X, _ in (train, dev, test)
    ]
    learner = StructuredSVM(C=0.001, method="subgradient", epochs=3)
    segmenter = Segmenter(FrameFeatures(bins=1), learner).fit(
        noisy[0], train[1], X_dev=noisy[1], y_dev=dev[1], progress=False
    )
    assert segmenter.calibrated_ and segmenter.temperature_ != 1

    def log_loss():
        found = segmenter.predict_marginals(noisy[2])
        pairs = [(s.confidence, tuple(s[:3]) in set(y)) for each, y in zip(found, test[1]) for s in each.segments]
        confidence = np.clip([c for c, _ in pairs], 1e-9, 1 - 1e-9)
        return -np.mean(np.where([right for _, right in pairs], np.log(confidence), np.log(1 - confidence)))

    fitted = log_loss()
    temperature = segmenter.temperature_
    for other in (temperature / 4, temperature * 4):
        segmenter.model_ = replace(segmenter.model_, temperature=other)
        assert log_loss() > fitted
    assert segmenter.calibrate(noisy[1], dev[1]).temperature_ == pytest.approx(temperature)
    segmenter.save(tmp_path / "m")
    again = margent.load(tmp_path / "m")
    assert (again.temperature_, again.calibrated_) == (segmenter.temperature_, True)
    off = Segmenter(FrameFeatures(bins=1), learner, calibration=0)
    assert not off.fit(*train, X_dev=dev[0], y_dev=dev[1], progress=False).calibrated_
    with pytest.raises(CorpusError, match="predicts nothing in these data"):
        segmenter.calibrate(noisy[1], [[s.label for s in row] for row in dev[1]])
    assert Segmenter(learner=CRF(epochs=2)).fit(*train, progress=False).calibrated_


def test_learners_that_cannot_do_segments_say_so():
    X, y = speech(28, 4)
    for learner in ("hmm", "latent-svm", "spectral"):
        with pytest.raises(CapabilityError, match=r"the structure 'segments of frames' .*: choose Perceptron, "):
            Segmenter(learner=learner).fit(X, y, progress=False)


@pytest.mark.parametrize("learner", ["hmsvm", "dual-perceptron", "sdm", "larank", "rpa", "pa", "arow"])
def test_every_other_learner_learns(learner):
    train, test = speech(29, 15), speech(30, 8)
    segmenter = Segmenter(FrameFeatures(bins=1, covariance="diagonal"), learner).fit(*train, progress=False)
    assert segmenter.score(*test) > 0.8


def test_ctrl_c_keeps_what_was_learned():
    X, y = speech(31, 10)

    def interrupt(epoch):
        if epoch.epoch == 2:
            raise KeyboardInterrupt

    segmenter = Segmenter(learner=Perceptron(epochs=50)).fit(X, y, callbacks=[interrupt], progress=False)
    assert segmenter.interrupted_ and 1 <= len(segmenter.history_) <= 3
    assert segmenter.score(X, y) > 0.8


def test_copies_and_pickles_work_alike():
    import pickle

    for X, y, outside in ((*speech(32, 6), None), (SENTENCES, ENTITIES, "O")):
        segmenter = Segmenter(learner=Perceptron(epochs=2), outside=outside).fit(X, y, progress=False)
        for other in (copy.deepcopy(segmenter), pickle.loads(pickle.dumps(segmenter))):
            assert other.predict(X) == segmenter.predict(X)
            assert other.predict_k_best(X, 2) == segmenter.predict_k_best(X, 2)


@pytest.mark.parametrize("large", [1e14, 1e200])
def test_values_that_are_too_large_are_told_as_such(large):
    X, y = speech(0, 8)
    segmenter = Segmenter(learner=MaximumLikelihood()).fit(X, y)
    frames = X[0].copy()
    frames[3, 1] = large
    with pytest.raises(CorpusError, match="sequence 1, frame 3 has a value that is too large"):
        segmenter.predict([X[0], frames])
    with pytest.raises(CorpusError, match="has a value that is too large"):
        Segmenter().fit([np.full_like(frames, np.finfo(float).max)], y[:1])


def test_a_label_whose_mistakes_cost_more_is_missed_less(tmp_path):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(40):  # one label is rare, and overlaps the other
        rare = rng.random() < 0.3
        values = rng.normal(size=(12, 1))
        values[4:8] += 1.5 * rare
        X.append(values)
        y.append([(0, 4, "a"), (4, 8, "b" if rare else "a"), (8, 12, "a")])
    options = {
        "learner": StructuredSVM(C=0.1, method="subgradient", epochs=20),
        "start": None,
        "durations": Durations(max=4),
    }
    features = FrameFeatures(bins=1)
    counts = []
    for costs in (None, {"b": 0.1}, {"b": 10.0}):
        segmenter = Segmenter(features, costs=SegmentCosts(labels=costs), **options).fit(X, y, progress=False)
        counts.append(sum(labels.count("b") for labels in segmenter.predict_labels(X)))
    assert counts[1] < counts[0] < counts[2]
    segmenter.save(tmp_path / "m")
    assert margent.load(tmp_path / "m").costs.labels == {"b": 10.0}
    for costs, message in (([1], "a dict"), ({"b": -1}, "at least 0"), ({"z": 1}, "label 'z', which")):
        with pytest.raises(ValueError, match=message):
            Segmenter(costs=SegmentCosts(labels=costs)).fit(X, y, progress=False)


def test_wrong_values_are_named_when_they_are_made():
    with pytest.raises(ValueError, match="max of Durations should be an integer of at least 1"):
        Durations(max=0)
    with pytest.raises(ValueError, match="frame of SegmentCosts should be a number of at least 0"):
        SegmentCosts(frame=-1)


def test_a_share_held_out_calibrates():
    X, y = speech(30, 20)
    segmenter = Segmenter(FrameFeatures(bins=1), PassiveAggressive(epochs=2), start=None, calibration=0.3).fit(X, y)
    plain = Segmenter(FrameFeatures(bins=1), PassiveAggressive(epochs=2), start=None).fit(X, y)
    assert segmenter.calibrated_ and not plain.calibrated_
    np.testing.assert_array_equal(segmenter.weights_.weights, plain.weights_.weights)
    curves = segmenter.reliability(X, y)
    assert set(curves) == {"frames", "segments"} and curves["frames"].counts.sum() == sum(map(len, X))


def test_reports_and_compact_files(tmp_path):
    words, spans = [["in", "New", "York"], ["to", "Kyiv"]] * 5, [[(1, 3, "city")], [(1, 2, "city")]] * 5
    segmenter = Segmenter(outside="O").fit(words, spans)
    report = segmenter.evaluate(words, spans)
    assert report.f1 == segmenter.score(words, spans) == 1.0 and [row.label for row in report.rows] == ["city"]
    segmenter.save(tmp_path / "full")
    segmenter.save(tmp_path / "small", compact=True)
    assert (tmp_path / "small").stat().st_size < (tmp_path / "full").stat().st_size
    assert margent.load(tmp_path / "small").predict(words) == segmenter.predict(words)
