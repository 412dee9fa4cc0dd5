from __future__ import annotations

import json
import re

import pytest

import margent as library
from margent import storage


def test_the_model_is_replaced_and_predicts_the_same(margent, folder, tmp_path):
    model = tmp_path / "m.margent"
    model.write_bytes((folder / "model.margent").read_bytes())
    outcome = margent("calibrate", model, folder / "dev.txt", "--threads", 1)
    assert outcome.status == 0 and outcome.errors == ""
    tagger = library.load(model)
    assert tagger.calibrated_ and tagger.threads is None
    assert f"temperature {tagger.temperature_:.4g} instead of 1, fitted on 60 sentences" in outcome.output
    rows = [line.split("  ")[0] for line in outcome.output.splitlines()[3:7]]
    assert rows == ["tokens, before", "tokens, after", "spans, before", "spans, after"]
    X = library.read_columns(folder / "test.txt").select(0)
    assert tagger.predict(X) == library.load(folder / "model.margent").predict(X)
    again = margent("calibrate", model, folder / "dev.txt")
    assert library.load(model).temperature_ == tagger.temperature_
    assert f"instead of {tagger.temperature_:.4g}" in again.output


@pytest.mark.parametrize("compact", [False, True])
def test_another_file_of_the_same_size(margent, folder, tmp_path, compact):
    library.load(folder / "model.margent").save(tmp_path / "m", compact=compact)
    before = (tmp_path / "m").read_bytes()
    report = json.loads(
        margent("calibrate", tmp_path / "m", folder / "dev.txt", "-o", tmp_path / "new", "--json").output
    )
    assert (tmp_path / "m").read_bytes() == before
    assert storage.read(tmp_path / "new").header["half"] is compact
    assert report["after"]["temperature"] == library.load(tmp_path / "new").temperature_ != 1
    for kind in ("tokens", "spans"):
        assert report["after"][kind]["log_loss"] < report["before"][kind]["log_loss"]


def test_training_calibrates_too(margent, folder, tmp_path):
    train = ("train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 3)
    assert "calibrated" not in margent(*train).output
    assert not library.load(tmp_path / "m").calibrated_
    for option in (("--dev", folder / "dev.txt"), ("--calibration", 0.2)):
        output = margent(*train, *option).output
        tagger = library.load(tmp_path / "m")
        assert tagger.calibrated_
        assert f"probabilities are calibrated: temperature {tagger.temperature_:.4g}" in output
    assert margent(*train, "--dev", folder / "dev.txt", "--calibration", 0).status == 0
    assert not library.load(tmp_path / "m").calibrated_
    report = json.loads(margent(*train, "--calibration", 0.2, "--json").output)
    assert report["temperature"] == tagger.temperature_ and report["calibrated"] is True


def test_failures(fails, folder, tmp_path):
    (tmp_path / "empty").write_text(",\tO\n\n")
    fails(
        1,
        "predicts nothing in these data",
        "calibrate",
        folder / "model.margent",
        tmp_path / "empty",
        "-o",
        tmp_path / "m",
    )
    fails(1, "No such file", "calibrate", tmp_path / "nothing", folder / "dev.txt")
    fails(1, "no such folder", "calibrate", folder / "model.margent", folder / "dev.txt", "-o", tmp_path / "no" / "m")
    fails(
        2,
        "calibration of Tagger should be a share",
        "train",
        folder / "train.txt",
        "-m",
        tmp_path / "m",
        "--calibration",
        "2",
    )


def test_data_with_other_labels_are_refused(fails, folder, tmp_path):
    (tmp_path / "pos").write_text("Rue\tNOUN\n\n")
    message = "none of the labels there, such as 'NOUN', is one of the model's, such as 'B-CITY'"
    fails(1, message, "calibrate", folder / "model.margent", tmp_path / "pos", "-o", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_few_spans_are_warned_of(margent, folder, tmp_path):
    lines = (folder / "dev.txt").read_text().split("\n\n")
    (tmp_path / "few").write_text("\n\n".join(lines[:3]) + "\n\n")
    outcome = margent("calibrate", folder / "model.margent", tmp_path / "few", "-o", tmp_path / "m")
    assert outcome.status == 0 and "measured on the data that the temperature was fitted on" in outcome.output
    assert re.search(r"^margent: warning: only \d+ spans to judge by", outcome.errors)


def test_a_model_is_not_written_to_standard_output(fails, folder):
    fails(2, "a model is saved to a file", "calibrate", folder / "model.margent", folder / "dev.txt", "-o", "-")
    fails(2, "a model is saved to a file", "train", folder / "train.txt", "-m", "-")
    fails(2, "a model is saved to a file", "tune", folder / "train.txt", "-m", "-")
