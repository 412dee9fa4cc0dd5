"""`margent segment`: from recordings and label files to a model, and back to label files."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

import margent as library
from margent.annotation import intervals_of_segments
from margent.audio import speech_frames, write_sound
from margent.datasets import make_series, make_speech
from margent.formats import read_labels, read_mlf, write_labels, write_mlf


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    """train/, dev/ and test/ with sounds and label files of three formats, and phones.margent trained on them."""
    from margent.cli import main

    folder = tmp_path_factory.mktemp("speech")
    for name, n, seed, ending in (("train", 12, 0, ".TextGrid"), ("dev", 3, 1, ".PHN"), ("test", 3, 2, ".txt")):
        (folder / name / "by-one").mkdir(parents=True)
        for i, (sound, segments) in enumerate(zip(*make_speech(n, seed=seed))):
            write_sound(folder / name / "by-one" / f"u{i}.wav", sound.samples, sound.rate)
            write_labels(folder / name / "by-one" / f"u{i}{ending}", intervals_of_segments(segments))
    words = [
        "segment",
        "train",
        f"{folder}/train",
        "-m",
        f"{folder}/phones.margent",
        "--features-covariance",
        "diagonal",
    ]
    assert main([*words, "--dev", f"{folder}/dev", "--epochs", "3"]) == 0
    return folder


@pytest.fixture(scope="module")
def right():
    return [intervals_of_segments(segments) for segments in make_speech(3, seed=2)[1]]


def test_train_says_what_it_does(margent, speech, tmp_path):
    outcome = margent(
        "segment", "train", speech / "train", "--dev", speech / "dev", "-m", tmp_path / "m", "--epochs", 2
    )
    assert outcome.status == 0
    assert "12 recordings (" in outcome.output and "3 recordings (" in outcome.output
    for part in ("accuracy", "phone error rate", "boundaries within 20 ms", f"saved {tmp_path / 'm'}: 16 labels"):
        assert part in outcome.output
    model = library.load(tmp_path / "m")
    assert model.learner == library.StructuredSVM(C=0.001, method="subgradient", epochs=2)
    assert model.front_end_ == {"frame": 0.01, "rate": 16000, "normalise": True}
    report = margent("segment", "train", speech / "train", "-m", tmp_path / "m", "--learner", "likelihood", "--json")
    summary = json.loads(report.output)
    assert summary["recordings"] == 12 and summary["dev"] is None and summary["epochs"] == []


def test_options_make_the_segmenter(margent, speech, tmp_path):
    words = (
        "--learner perceptron --epochs 1 --features-bins 2 --features-components 2 --features-covariance diagonal "
        "--features-durations none --durations-min 2 --durations-max 40 --no-repeat --no-transitions "
        "--seed 3 --rate 8000 "
        "--costs-boundary 0.5 --no-normalise --start none "
        "--features-content mean"
    )
    arguments = words.split()
    assert margent("segment", "train", speech / "train", "-m", tmp_path / "m", *arguments).status == 0
    model = library.load(tmp_path / "m")
    seen = library.FrameFeatures(bins=2, components=2, covariance="diagonal", durations=None, content="mean")
    assert (model.features, model.learner) == (seen, library.Perceptron(epochs=1))
    given = model.get_params(deep=True)
    assert [given.get(f"durations__{name}", given.get(f"{name}_duration")) for name in ("min", "max")] == [2, 40]
    assert (model.repeat, model.transitions, model.seed, model.start) == (False, False, 3, None)
    assert given.get("costs__boundary", given.get("boundary_cost")) == 0.5
    assert model.front_end_ == {"frame": 0.01, "rate": 8000, "normalise": False}


@pytest.mark.parametrize("format", ["textgrid", "timit", "htk", "xwaves", "audacity"])
def test_apply_writes_what_the_model_predicts(margent, speech, tmp_path, format):
    given = () if format == "textgrid" else ("--to", format)
    assert margent("segment", "apply", speech / "phones.margent", speech / "test", "-o", tmp_path, *given).status == 0
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [file.parent.name for file in files] == ["by-one"] * 3
    frames = [speech_frames(*sound) for sound in make_speech(3, seed=2)[0]]
    model = library.load(speech / "phones.margent")
    for file, found in zip(files, model.predict(frames)):
        read = read_labels(file, format)
        assert [i.label for i in read] == [s.label for s in found]
        np.testing.assert_allclose([i.end for i in read], [0.01 * s.end for s in found], atol=1e-4)


def test_nothing_is_overwritten_unless_told(margent, fails, speech, tmp_path):
    command = ("segment", "apply", speech / "phones.margent", speech / "test" / "by-one" / "u0.wav", "-o", tmp_path)
    assert margent(*command).status == 0
    (tmp_path / "u0.TextGrid").write_text("mine")
    fails(1, "u0.TextGrid: the file is there already; --overwrite replaces it", *command)
    assert (tmp_path / "u0.TextGrid").read_text() == "mine"
    assert margent(*command, "--overwrite").status == 0
    assert read_labels(tmp_path / "u0.TextGrid")
    (tmp_path / "all.mlf").write_text("mine")
    fails(1, "all.mlf: the file is there already", *command[:4], "-o", tmp_path / "all.mlf", "--to", "mlf")
    twice = shutil.copy(speech / "test" / "by-one" / "u0.wav", tmp_path)
    fails(2, "would both be written to", *command[:4], twice, "-o", tmp_path / "new")


def test_align_finds_the_times(margent, fails, speech, tmp_path, right):
    model = speech / "phones.margent"
    # From label files whose times do not matter, from labels alone, and from a master label file.
    (tmp_path / "plain" / "by-one").mkdir(parents=True)
    for i, intervals in enumerate(right):
        text = " ".join(interval.label for interval in intervals)
        (tmp_path / "plain" / "by-one" / f"u{i}.txt").write_text(text)
    write_mlf(tmp_path / "given.mlf", {f"u{i}": intervals for i, intervals in enumerate(right)})
    for number, given in enumerate([(), ("--labels", tmp_path / "plain"), ("--labels", tmp_path / "given.mlf")]):
        target = tmp_path / f"{number}.mlf"
        status = margent("segment", "align", model, speech / "test", *given, "--to", "mlf", "-o", target).status
        assert status == 0
        found = read_mlf(target)
        for i, intervals in enumerate(right):
            assert [x.label for x in found[f"u{i}"]] == [x.label for x in intervals]
            off = [abs(x.end - z.end) for x, z in zip(found[f"u{i}"], intervals)]
            assert np.mean(np.array(off) < 0.025) > 0.9
    (tmp_path / "plain" / "by-one" / "u1.txt").write_text("a q a")
    command = ("segment", "align", model, speech / "test", "--labels", tmp_path / "plain", "-o", tmp_path / "x")
    outcome = margent(*command)  # the others are aligned all the same
    assert outcome.status == 1 and "margent: error: " in outcome.errors
    assert "u1.wav: there is no label 'q'" in outcome.errors and "the labels of 2 recordings" in outcome.errors
    assert sorted(p.name for p in (tmp_path / "x").rglob("*.*")) == ["u0.TextGrid", "u2.TextGrid"]
    command = (*command, "--overwrite")
    (tmp_path / "plain" / "by-one" / "u1.txt").write_text("\n")
    fails(1, "u1.txt: expected labels with blanks", *command)
    (tmp_path / "plain" / "by-one" / "u1.txt").unlink()
    fails(1, "u1.wav: there is no label file for it; expected", *command)


def test_evaluate(margent, fails, speech, tmp_path):
    command = ("segment", "evaluate", speech / "phones.margent", speech / "test")
    report = json.loads(margent(*command, "--json", "--plot", tmp_path / "first.svg").output)
    assert report["recordings"] == 3 and 0 <= report["phone_error_rate"] < 0.3
    assert report["frame_accuracy"] > 0.8 and report["boundaries"]["f1"] > 0.8 and "r_value" in report["boundaries"]
    assert (tmp_path / "first.svg").stat().st_size > 1000
    text = margent(*command, "--tolerance", 0.05).output
    assert "boundaries within 50 ms" in text and "phone error rate" in text and "R-value" in text
    (tmp_path / "u0.txt").write_text("a b")
    shutil.copy(speech / "test" / "by-one" / "u0.wav", tmp_path)
    fails(2, "u0.txt: the labels have no times", *command[:3], tmp_path)


def test_training_finds_times_that_are_missing(margent, fails, speech, tmp_path):
    shutil.copytree(speech / "train" / "by-one", tmp_path / "some")
    for i in range(6, 12):
        file = tmp_path / "some" / f"u{i}.TextGrid"
        file.with_suffix(".txt").write_text(" ".join(interval.label for interval in read_labels(file)))
        file.unlink()
    command = (
        "segment",
        "train",
        tmp_path / "some",
        "-m",
        tmp_path / "m",
        "--features-covariance",
        "diagonal",
        "--epochs",
        2,
    )
    assert margent(*command).status == 0
    report = json.loads(margent("segment", "evaluate", tmp_path / "m", speech / "test", "--json").output)
    assert report["phone_error_rate"] < 0.3
    assert margent(*command[:-2], "--learner", "likelihood").status == 0


def test_arrays_of_frames(margent, fails, speech, tmp_path):
    X, y, _ = make_series(30, noise=0.5, seed=1)
    np.savez(tmp_path / "walks.npz", **{f"w{i}": x for i, x in enumerate(X[:-1])})
    (tmp_path / "marks").mkdir()
    (tmp_path / "new").mkdir()
    np.save(tmp_path / "new" / "last.npy", X[-1])
    for i, segments in enumerate(y[:-1]):
        write_labels(tmp_path / "marks" / f"w{i}.txt", intervals_of_segments(segments, frame=0.5))
    write_labels(tmp_path / "new" / "last.lab", intervals_of_segments(y[-1], frame=0.5), "xwaves")
    model = tmp_path / "m"
    command = ("segment", "train", tmp_path / "walks.npz", "--labels", tmp_path / "marks", "-m", model)
    assert margent(*command, "--frame", 0.5).status == 0
    assert library.load(model).front_end_ == {"frame": 0.5, "rate": None, "normalise": True}
    report = json.loads(margent("segment", "evaluate", model, tmp_path / "new", "--json", "--tolerance", 0.5).output)
    assert report["frames"] == len(X[-1]) and report["frame_accuracy"] > 0.8
    assert margent("segment", "apply", model, tmp_path / "new", "-o", tmp_path / "out").status == 0
    assert read_labels(tmp_path / "out" / "last.TextGrid")[-1].end == 0.5 * len(X[-1])
    sound = speech / "test" / "by-one" / "u0.wav"
    fails(1, "u0.wav: the model was trained on arrays", "segment", "apply", model, sound, "-o", tmp_path / "out")
    fails(2, "--rate and --no-normalise are for sounds", *command, "--rate", 8000)
    fails(2, "cannot be mixed", *command, sound)
    fails(2, "--frame is for arrays", "segment", "train", sound, "-m", model, "--frame", 0.5)
    np.save(tmp_path / "flat.npy", np.zeros(3))
    fails(1, "flat.npy: expected numbers of shape", "segment", "apply", model, tmp_path / "flat.npy", "-o", tmp_path)
    np.save(tmp_path / "flat.npy", np.full((2, 3), np.nan))
    fails(1, "flat.npy: frame 0 has a value", "segment", "apply", model, tmp_path / "flat.npy", "-o", tmp_path)
    np.save(tmp_path / "flat.npy", np.zeros((2, 5)))
    fails(
        1,
        "flat.npy: X has 5 features, but FrameMap is expecting 3",
        "segment",
        "apply",
        model,
        tmp_path / "flat.npy",
        "-o",
        tmp_path,
    )
    for name in ("flat.npy", "flat.npz"):
        (tmp_path / name).write_bytes(b"hello")
        fails(1, f"{name}: expected a", "segment", "apply", model, tmp_path / name, "-o", tmp_path)


def test_gaps_are_errors_unless_they_have_a_label(margent, fails, speech, tmp_path):
    for i in range(2):
        shutil.copy(speech / "train" / "by-one" / f"u{i}.wav", tmp_path)
        intervals = read_labels(speech / "train" / "by-one" / f"u{i}.TextGrid")
        write_labels(tmp_path / f"u{i}.txt", [interval for interval in intervals if interval.label != "pau"])
    command = ("segment", "train", tmp_path, "-m", tmp_path / "m", "--learner", "likelihood")
    fails(1, "u0.txt: 0 to ", *command)
    assert margent(*command, "--gap-label", "silence").status == 0
    assert "silence" in library.load(tmp_path / "m").classes_


def test_wrong_usage_is_one_line(fails, speech, folder, tmp_path):
    model, sound = speech / "phones.margent", speech / "test" / "by-one" / "u0.wav"
    fails(2, "-m/--model", "segment", "train", sound)
    fails(2, "needs -o DIR", "segment", "apply", model, sound)
    fails(2, "needs a model and recordings", "segment", "apply", model)
    fails(2, "--features-bins is a parameter of training", "segment", "apply", model, sound, "--features-bins", 2)
    fails(2, "unrecognized arguments: --overwrite", "segment", "evaluate", model, sound, "--overwrite")
    fails(2, "--epochs is a parameter of training", "segment", "apply", model, sound, "-o", tmp_path, "--epochs", 2)
    fails(2, "--tier is for label files that are read", "segment", "apply", model, sound, "-o", tmp_path, "--tier", "x")
    fails(2, "--patience watches", "segment", "train", sound, "-m", tmp_path / "m", "--patience", 2)
    fails(2, "; the learner is likelihood",
          "segment", "train", sound, "-m", tmp_path / "m", "--learner", "likelihood", "--C", 1)  # fmt: skip
    fails(2, "invalid choice: 'magic'", "segment", "train", sound, "-m", tmp_path / "m", "--learner", "magic")
    fails(
        2, "components of FrameFeatures", "segment", "train", sound, "-m", tmp_path / "m", "--features-components", 999
    )
    fails(2, "expected a folder or a recording", "segment", "apply", model, speech / "phones.margent", "-o", tmp_path)
    fails(1, "the folder has no recording in it", "segment", "apply", model, tmp_path, "-o", tmp_path / "o")
    fails(1, "No such file", "segment", "apply", model, tmp_path / "no.wav", "-o", tmp_path / "o")
    fails(1, "No such file", "segment", "align", model, sound, "--labels", tmp_path / "no", "-o", tmp_path / "o")
    fails(2, "holds a tagger, and 'margent segment apply'", "segment", "apply", folder / "model.margent", sound)
    fails(2, "holds a segmenter, and 'margent tag' is for a tagger", "tag", model, folder / "one.txt")
    tokens = library.Segmenter(outside="O").fit([["a", "b"]], [[(0, 1, "A")]], progress=False)
    tokens.save(tmp_path / "tokens")
    fails(2, "is a segmenter of tokens", "segment", "apply", tmp_path / "tokens", sound, "-o", tmp_path / "o")
    broken = library.load(model)
    broken.with_front_end({"frame": -1})
    broken.save(tmp_path / "broken")
    fails(1, "how its frames were made", "segment", "apply", tmp_path / "broken", sound, "-o", tmp_path / "o")


def test_inspect_knows_segmenters(margent, fails, speech, tmp_path):
    text = margent("inspect", speech / "phones.margent", "--top", 2).output
    for part in (
        "kind      segmenter of frames",
        "labels    16: a e f",
        "frames of 39 values, one each 0.01 s of sound at 16000 Hz",
        "covariance=diagonal",
        "StructuredSVM(epochs=3",
        "3 epochs",
        "transitions:",
    ):
        assert part in text
    report = json.loads(margent("inspect", speech / "phones.margent", "--json").output)
    assert report["kind"] == "segmenter" and report["features"]["values"] == 39 and len(report["longest"]) == 16
    fails(2, "the model is a segmenter", "inspect", speech / "phones.margent", "--support", 2)
    fails(1, "there is no label 'q'", "inspect", speech / "phones.margent", "--label", "q")
    tokens = library.Segmenter(outside="O").fit([["Ann", "b"], ["b"]], [[(0, 1, "PER")], []], progress=False)
    tokens.save(tmp_path / "tokens")
    text = margent("inspect", tmp_path / "tokens", "--label", "PER", "--top", 3).output
    assert "features of PER:" in text and "ann" in text.lower()


def test_demo(margent, tmp_path, monkeypatch):
    import sys

    outcome = margent("demo", "segmenter", "--out", tmp_path / "demo")
    assert outcome.status == 0
    for part in ("phone error rate", "right |pau", "found |pau", "within 20 ms", "margent apply"):
        assert part in outcome.output
    assert (tmp_path / "demo" / "segments.png").stat().st_size > 1000
    model = tmp_path / "demo" / "phones.margent"
    assert margent("segment", "apply", model, tmp_path / "demo" / "test", "-o", tmp_path / "labels").status == 0
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    outcome = margent("demo", "segmenter", "--out", tmp_path / "bare")
    assert outcome.status == 0 and "pip install 'margent[plot]'" in outcome.output
    assert not (tmp_path / "bare" / "segments.png").exists()


def test_labels_are_folded(margent, fails, speech, tmp_path):
    report = margent("segment", "evaluate", speech / "phones.margent", speech / "test", "--json")
    before = json.loads(report.output)
    labels = library.load(speech / "phones.margent").classes_.tolist()
    (tmp_path / "one").write_text("".join(f"{label} x\n" for label in labels))
    command = (
        "segment",
        "evaluate",
        speech / "phones.margent",
        speech / "test",
        "--label-map",
        tmp_path / "one",
        "--json",
    )
    after = json.loads(margent(*command).output)
    assert after["frame_accuracy"] == 1 > before["frame_accuracy"]
    (tmp_path / "one").write_text("".join(f"{label} x\n" for label in labels[1:]) + f"{labels[0]}\n")
    train = ("segment", "train", speech / "train", "-m", tmp_path / "m", "--learner", "likelihood")
    assert margent(*train, "--label-map", tmp_path / "one").status == 0
    assert library.load(tmp_path / "m").classes_.tolist() == ["x"]
    assert margent("segment", "evaluate", tmp_path / "m", speech / "test", "--label-map", "timit-39").status == 0
    (tmp_path / "wrong").write_text("a b c\n")
    fails(1, "wrong, line 1: expected one or two labels, got 3", *train, "--label-map", tmp_path / "wrong")
    (tmp_path / "wrong").write_text("a b\n\na\n")
    fails(1, "wrong, line 3: the label 'a' has a line already", *train, "--label-map", tmp_path / "wrong")
    fails(
        2,
        "--label-map is for label files",
        "segment",
        "apply",
        tmp_path / "m",
        speech / "test",
        "-o",
        tmp_path,
        "--label-map",
        "timit-39",
    )


def test_folds_of_timit():
    from margent.cli.label_map import label_map

    assert label_map("timit-48")["bcl"] == "vcl" and label_map("timit-48")["q"] is None
    for label, folded in (("bcl", "sil"), ("vcl", "sil"), ("h#", "sil"), ("zh", "sh"), ("ux", "uw"), ("q", None)):
        assert label_map("timit-39")[label] == folded
    assert len({name for name in label_map("timit-39").values() if name}) == 39


def test_calibrate(margent, fails, speech, tmp_path):
    assert library.load(speech / "phones.margent").calibrated_  # as --dev was given
    train = (
        "segment",
        "train",
        speech / "train",
        "-m",
        tmp_path / "m",
        "--features-covariance",
        "diagonal",
        "--epochs",
        1,
    )
    assert margent(*train).status == 0 and not library.load(tmp_path / "m").calibrated_
    outcome = margent("segment", "calibrate", tmp_path / "m", speech / "dev", "-o", tmp_path / "new")
    model = library.load(tmp_path / "new")
    assert model.calibrated_ and not library.load(tmp_path / "m").calibrated_
    assert f"temperature {model.temperature_:.4g} instead of 1, fitted on 3 recordings" in outcome.output
    report = json.loads(margent("calibrate", tmp_path / "m", speech / "dev", "--json").output)
    assert report["after"]["temperature"] == library.load(tmp_path / "m").temperature_ == model.temperature_
    fails(2, "--to", "segment", "calibrate", tmp_path / "m", speech / "dev", "--to", "htk")


@pytest.mark.parametrize("name", ["../../x", "/tmp/x", "a/b", "..", "a\\b"])
def test_a_name_in_a_file_decides_no_folder(margent, tmp_path, name):
    np.savez(tmp_path / "walks.npz", **{name: np.zeros((4, 2))})
    done = margent("segment", "train", tmp_path / "walks.npz", "-m", tmp_path / "m")
    assert done.status == 1 and "has a name that cannot be that of a file" in done.errors
