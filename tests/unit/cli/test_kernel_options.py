from __future__ import annotations

import json

import pytest

import margent as library


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    from margent.cli import main

    path = tmp_path_factory.mktemp("kernel") / "kernel.margent"
    options = "--kernel polynomial --degree 3 --gamma 0.02 --coef0 0.5 --window 5 --cache-mb 10 --learner perceptron"
    assert main(["train", str(folder / "dev.txt"), "-m", str(path), *options.split(), "--epochs", "3"]) == 0
    return path


def test_options_become_a_kernel(model):
    kernel = library.load(model).features
    assert kernel == library.Kernel("polynomial", degree=3, gamma=0.02, coef0=0.5, window=5, cache_mb=10)


def test_training_says_what_is_kept(margent, folder, tmp_path):
    outcome = margent(
        "train", folder / "dev.txt", "-m", tmp_path / "m", "--kernel", "string-spectrum", "--epochs", 1, "--json"
    )
    assert outcome.status == 0 and json.loads(outcome.output)["features"] > 10
    outcome = margent("train", folder / "dev.txt", "-m", tmp_path / "m", "--kernel", "rbf", "--features", "pos")
    assert "support observations" in outcome.output
    assert library.load(tmp_path / "m").features == library.Kernel("rbf", features="pos")


def test_tag_and_evaluate(margent, folder, model, tmp_path):
    outcome = margent("tag", model, folder / "test.txt")
    predicted = library.load(model).predict(library.read_columns(folder / "test.txt").select([0]))
    assert [line.split()[-1] for line in outcome.output.splitlines() if line] == [y for ys in predicted for y in ys]
    assert margent("tag", model, folder / "one.txt").status == 0
    assert "FB1" in margent("evaluate", model, folder / "test.txt").output
    (tmp_path / "x.crfsuite").write_text("A\tw=a\n\n", encoding="utf-8")
    assert "the model takes tokens" in margent("tag", model, tmp_path / "x.crfsuite").errors


def test_inspect(margent, model):
    output = margent("inspect", model).output
    assert "polynomial(degree=3, gamma=0.02, coef0=0.5, window=5) over spelling" in output
    tagger = library.load(model)
    assert f"{tagger.feature_map_.n_unigrams:,} support observations of" in output
    report = json.loads(margent("inspect", model, "--json").output)
    assert report["kernel"]["kind"] == "polynomial" and report["kernel"]["gamma"] == 0.02
    assert report["kernel"]["support_observations"] == tagger.feature_map_.n_unigrams
    assert report["templates"] and report["input_columns"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--degree 2", "--degree is for a kernel: give --kernel too"),
        ("--cache-mb 5", "--cache-mb is for a kernel"),
        ("--kernel rbf --window 4", "window of Kernel should be an odd number"),
        ("--kernel rbf --gamma 0", "gamma of Kernel should be a number above 0"),
        ("--kernel string-spectrum --features ner", "features of Kernel should be None for string-spectrum"),
        ("--kernel cubic", "invalid choice: 'cubic'"),
    ],
)
def test_wrong_usage(fails, folder, tmp_path, options, message):
    fails(2, message, "train", folder / "dev.txt", "-m", tmp_path / "m", *options.split())


def test_wrong_learners_and_templates(fails, folder, tmp_path):
    train = ("train", folder / "dev.txt", "-m", tmp_path / "m", "--kernel", "rbf")
    fails(
        2,
        "error: CRF sums over all answers, and the structure 'chain with a kernel' has no such sums",
        *train,
        "--learner",
        "crf",
    )
    fails(1, "a kernel is between observations for one label", *train, "--features", "letters")
