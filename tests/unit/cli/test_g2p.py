"""`margent g2p` from dictionary to model and back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from margent import Transcriber
from margent.cli.command_line import main
from margent.datasets import make_pronunciations
from margent.formats import write_pronunciations

WORDS, SPOKEN = make_pronunciations(400, seed=2, noise=0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("g2p")
    write_pronunciations(folder / "train.txt.gz", WORDS[:350], SPOKEN[:350])
    assert main(["g2p", "train", str(folder / "train.txt.gz"), "--order", "3", "-m", str(folder / "m.margent")]) == 0
    return folder / "m.margent"


def test_words_are_pronounced(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "words.txt").write_text("pate\n\nphox\n")
    assert main(["g2p", "apply", str(model), str(tmp_path / "words.txt"), "-o", str(tmp_path / "out.txt")]) == 0
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines[0] == "pate\tP EY T"
    assert main(["g2p", "apply", str(model), str(tmp_path / "words.txt"), "--k", "2"]) == 0
    word, phonemes, probability = capsys.readouterr().out.splitlines()[0].split("\t")
    assert (word, phonemes) == ("pate", "P EY T")
    assert 0.5 < float(probability) <= 1


def test_entries_are_aligned(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").write_bytes(gzip.compress(b";;; a comment\npate(2)  P EY T\n"))
    assert main(["g2p", "align", str(model), str(tmp_path / "one.txt")]) == 0
    assert capsys.readouterr().out == "pate\tp:P a:EY t:T e:-\n"


def test_errors_are_measured(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pronunciations(tmp_path / "test.txt", WORDS[350:], SPOKEN[350:])
    assert main(["g2p", "evaluate", str(model), str(tmp_path / "test.txt")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("word error ")
    assert "of 50)" in said


def test_development_words_and_stress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.txt").write_text("AB  AA1 B\nBA  B AA0\nA  AA1\nB  B\n")
    path = str(tmp_path / "d.txt")
    out = str(tmp_path / "m.margent")
    assert main(["g2p", "train", path, "--dev", path, "--no-stress", "--order", "2", "-m", out]) == 0
    assert "development: word error 0.00 %" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "x"], "needs -m OUT"),
        (["apply"], "needs a model"),
        (["align", "m", "--k", "2"], "--k is for"),
        (["apply", "m", "--order", "3"], "--order is for"),
        (["sing"], "invalid choice"),
        (["train", "x", "-m", "y", "--learner-option", "C=1"], "needs --learner NAME"),
        (["train", "x", "-m", "y", "--update", "early"], "--update needs --learner NAME"),
        (["apply", "x", "--update", "early"], "--update is for"),
        (["train", "x", "-m", "y", "--learner", "magic"], "--learner should be one of"),
        (["train", "x", "-m", "y", "--learner", "latent-svm"], "LatentSVM is for label chains"),
        (["train", "x", "-m", "y", "--learner", "crf", "--learner-option", "method=sgd"], "choose lbfgs or owlqn"),
        (["train", "x", "-m", "y", "--order", "13"], "order of EM should be a whole number of at most 12"),
        (["train", "x", "-m", "y", "--sizes", "1:1,2"], "expected pairs of numbers such as"),
        (["train", "x", "-m", "y", "--sizes", "0:0"], "not both 0"),
        (["train", "x", "-m", "y", "--beam", "few"], "--beam"),
        (["train", "x", "-m", "y", "--folds", "1"], "--folds"),
        (["apply", "x", "--em-beam", "3"], "--em-beam is for 'margent g2p train'"),
        (["apply", "x", "--seed", "3"], "--seed is for 'margent g2p train'"),
        (["train", "x", "-m", "y", "--learner", "mira", "--learner-option", "D=1"], "--learner-option should be"),
        (["train", "x", "-m", "y", "--learner", "mira", "--learner-option", "C=-1"], "C of MIRA"),
        (["train", "x", "-m", "y", "--learner", "mira", "--learner-option", "patience=2"], "needs --dev FILE"),
        (
            [
                "train",
                "x",
                "-m",
                "y",
                "--learner",
                "crf",
                "--learner-option=search=beam",
                "--learner-option=all_pairs=yes",
            ],
            "are about labels",
        ),
        (["train", "x", "-m", "y", "--em-option", "D=1"], "--em-option should be NAME=VALUE of EM"),
        (["train", "x", "-m", "y", "--em-option", "iterations=0"], "iterations of EM"),
        (["apply", "x", "--em-option", "iterations=2"], "--em-option is for 'margent g2p train'"),
        (["train", "x", "-m", "y", "--threshold", "-1"], "--threshold: expected a number of at least 0"),
    ],
)
def test_wrong_usage_is_answered(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["g2p", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_line_is_named(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.txt").write_text("pate  P EY T\nword\n")
    assert main(["g2p", "evaluate", str(model), str(tmp_path / "bad.txt")]) == 1
    assert "line 2: expected a word and its phonemes" in capsys.readouterr().err


def test_all_that_a_transcriber_can_be_told(tmp_path: Path) -> None:
    write_pronunciations(tmp_path / "d.txt", WORDS[:60], SPOKEN[:60])
    arguments = ["--order", "2", "--em-beam", "all", "--beam", "7", "--sizes", "1:0,1:1,1:2,2:1", "--seed", "4"]
    arguments += ["--learner", "pa", "--candidates", "6", "--folds", "3", "-m", str(tmp_path / "m.margent")]
    assert main(["g2p", "train", str(tmp_path / "d.txt"), *arguments]) == 0
    model = Transcriber.load(tmp_path / "m.margent")
    assert model.em is not None and model.em.beam is None
    assert (model.search.width, model.candidates, model.folds, model.seed) == (7, 6, 3, 4)
    assert model.sizes == ((1, 0), (1, 1), (1, 2), (2, 1))
    more = ["--em-option", "iterations=3", "--em-option", "evidence=0.1", "--em-option", "smoothing=no"]
    more += ["--threshold", "12.5", "--best-cut", "--order", "2", "-m", str(tmp_path / "m.margent")]
    assert main(["g2p", "train", str(tmp_path / "d.txt"), *more]) == 0
    model = Transcriber.load(tmp_path / "m.margent")
    assert model.em is not None and (model.em.iterations, model.em.evidence, model.em.smoothing) == (3, 0.1, False)
    assert (model.search.threshold, model.search.sum_alignments) == (12.5, False)
    assert main(["g2p", "evaluate", str(tmp_path / "m.margent"), str(tmp_path / "d.txt"), "--threshold", "0"]) == 0


def test_a_learner_on_top(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pronunciations(tmp_path / "train.txt", WORDS[:350], SPOKEN[:350])
    write_pronunciations(tmp_path / "test.txt", WORDS[350:], SPOKEN[350:])
    train, out = str(tmp_path / "train.txt"), str(tmp_path / "m.margent")
    said = []
    mira = ["--learner", "mira", "--learner-option", "C=0.01", "--learner-option", "epochs=3"]
    crf = ["--learner", "crf"]
    for option in ("search=beam", "l2=0.5", "epochs=10", "beam=5"):
        crf += ["--learner-option", option]
    for more in ([], mira, [*mira, "--update", "max-violation", "--beam", "8"], crf):
        assert main(["g2p", "train", train, "--order", "1", "-m", out, *more]) == 0
        assert main(["g2p", "evaluate", out, str(tmp_path / "test.txt")]) == 0
        said.append(float(capsys.readouterr().out.split()[2]))
    assert max(said[1:]) < said[0]
