"""`margent g2p` from dictionary to model and back."""

from __future__ import annotations

import gzip
import json
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
    assert main(["apply", str(model), str(tmp_path / "words.txt"), "--k", "2"]) == 0
    word, phonemes, probability = capsys.readouterr().out.splitlines()[0].split("\t")
    assert (word, phonemes) == ("pate", "P EY T")
    assert 0.5 < float(probability) <= 1


def test_entries_are_aligned(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").write_bytes(gzip.compress(b";;; a comment\npate(2)  P EY T\n"))
    for command in (["g2p", "align"], ["align"]):
        capsys.readouterr()
        assert main([*command, str(model), str(tmp_path / "one.txt")]) == 0
        assert capsys.readouterr().out == "pate\tp:P a:EY t:T e:-\n"


def test_a_word_that_cannot_be_read_fails_alone(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "words.txt").write_text("pate\npßte\nphox\n")
    (tmp_path / "pairs.txt").write_text("pate\tP EY T\nphox\tF OW Q\nat\tAE T\n")
    for command, data, shown, said in (
        (["apply", "--unseen", "error"], "words.txt", ["pate", "phox"], "'pßte': has the letter 'ß'"),
        (["apply", "--unseen", "error", "--k", "1"], "words.txt", ["pate", "phox"], "'pßte': has the letter 'ß'"),
        (["align"], "pairs.txt", ["pate", "at"], "'phox': has the phoneme 'Q'"),
    ):
        capsys.readouterr()
        assert main([command[0], str(model), str(tmp_path / data), *command[1:]]) == 1
        output, errors = capsys.readouterr()
        assert [line.split("\t")[0] for line in output.splitlines()] == shown
        assert errors.count("\n") == 1 and errors.startswith(f"margent: error: {said}")


def test_errors_are_measured(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pronunciations(tmp_path / "test.txt", WORDS[350:], SPOKEN[350:])
    assert main(["g2p", "evaluate", str(model), str(tmp_path / "test.txt")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("word error ")
    assert "of 50)" in said
    assert main(["evaluate", str(model), str(tmp_path / "test.txt"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == 50


def test_development_words_and_stress(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.txt").write_text("AB  AA1 B\nBA  B AA0\nA  AA1\nB  B\n")
    path = str(tmp_path / "d.txt")
    out = str(tmp_path / "m.margent")
    assert main(["train", "--task", "transcriber", path, "--dev", path, "--no-stress", "--order", "2", "-m", out]) == 0
    said = capsys.readouterr().out
    assert "on the development data" in said and "word error 0.00 %" in said
    assert "4 entries (6 letters) to learn from" in said and f"saved {out}: " in said


TRAIN = ["train", "x", "-m", "y"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "x"], "-m/--model"),
        (["apply"], "MODEL"),
        (["align", "MODEL", "--order", "3"], "--order is a parameter of training"),
        (["apply", "MODEL", "--order", "3"], "--order is a parameter of training"),
        (["apply", "MODEL", "--em-beam", "3"], "--em-beam is a parameter of training"),
        (["apply", "MODEL", "--spans"], "--spans is an option for a tagger; the model is a transcriber"),
        (["sing"], "invalid choice"),
        ([*TRAIN, "--C", "1"], "there is no learner: give --learner NAME"),
        ([*TRAIN, "--learner", "magic"], "invalid choice: 'magic'"),
        ([*TRAIN, "--learner", "latent-svm"], "LatentSVM"),
        (
            [*TRAIN, "--learner", "crf", "--method", "sgd"],
            "(method='sgd'), and the structure 'listed answers' has only",
        ),
        ([*TRAIN, "--order", "13"], "order of EM should be"),
        ([*TRAIN, "--sizes", "1:1,2"], "--sizes: expected pairs such as"),
        ([*TRAIN, "--sizes", "0:0"], "not both 0"),
        ([*TRAIN, "--held-out", "1.5"], "held_out"),
        ([*TRAIN, "--folds", "1", "--learner", "mira"], "folds"),
        ([*TRAIN, "--learner", "mira", "--l2", "1"], "--l2 is a parameter of crf; the learner is mira"),
        ([*TRAIN, "--learner", "mira", "--C", "-1"], "C of MIRA"),
        ([*TRAIN, "--learner", "mira", "--patience", "2"], "give --dev PATH"),
        ([*TRAIN, "--em-iterations", "0"], "iterations of EM"),
        ([*TRAIN, "--unseen", "fly"], "unseen"),
        ([*TRAIN, "--kernel", "rbf"], "unrecognized arguments: --kernel"),
        ([*TRAIN, "--constrain"], "--constrain is a parameter of a tagger; the task is transcriber"),
    ],
)
def test_wrong_usage_is_answered(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str], model: Path
) -> None:
    assert main(["g2p", *(word.replace("MODEL", str(model)) for word in arguments)]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_line_is_named(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.txt").write_text("pate  P EY T\nword\n")
    assert main(["g2p", "evaluate", str(model), str(tmp_path / "bad.txt")]) == 1
    assert "line 2: expected a word and its phonemes" in capsys.readouterr().err


def test_all_that_a_transcriber_can_be_told(tmp_path: Path) -> None:
    write_pronunciations(tmp_path / "d.txt", WORDS[:60], SPOKEN[:60])
    width = "--search-width"
    arguments = ["--order", "2", "--em-beam", "none", width, "7", "--sizes", "1:0,1:1,1:2,2:1", "--seed", "4"]
    arguments += ["--learner", "pa", "--candidates", "6", "--folds", "3", "-m", str(tmp_path / "m.margent")]
    assert main(["g2p", "train", str(tmp_path / "d.txt"), *arguments]) == 0
    model = Transcriber.load(tmp_path / "m.margent")
    assert model.em is not None and model.em.beam is None
    assert (model.candidates, model.folds, model.seed) == (6, 3, 4)
    assert model.sizes == ((1, 0), (1, 1), (1, 2), (2, 1))
    threshold = "--search-threshold"
    summed = "--search-sum-alignments".replace("--", "--no-", 1)
    more = ["--em-iterations", "3", "--no-em-smoothing", threshold, "12.5", summed, "--order", "2"]
    assert main(["g2p", "train", str(tmp_path / "d.txt"), *more, "-m", str(tmp_path / "m.margent")]) == 0
    model = Transcriber.load(tmp_path / "m.margent")
    assert model.em is not None and (model.em.iterations, model.em.smoothing) == (3, False)
    assert main(["g2p", "evaluate", str(tmp_path / "m.margent"), str(tmp_path / "d.txt"), threshold, "0"]) == 0


def test_a_learner_on_top(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_pronunciations(tmp_path / "train.txt", WORDS[:350], SPOKEN[:350])
    write_pronunciations(tmp_path / "test.txt", WORDS[350:], SPOKEN[350:])
    train, out = str(tmp_path / "train.txt"), str(tmp_path / "m.margent")
    said = []
    mira = ["--learner", "mira", "--C", "0.01", "--epochs", "3"]
    width = "--search-width"
    direct = ["--search-update", "max-violation", width, "8"]
    direct += ["--decoder", "direct"] if width == "--search-width" else []
    crf = [*direct[4:], "--learner", "crf", "--learner-search", "beam", "--l2", "0.5", "--epochs", "10"]
    for more in ([], mira, [*mira, *direct], crf):
        assert main(["g2p", "train", train, "--order", "1", "-m", out, *more]) == 0
        capsys.readouterr()
        assert main(["g2p", "evaluate", out, str(tmp_path / "test.txt")]) == 0
        said.append(float(capsys.readouterr().out.split()[2]))
    assert max(said[1:]) < said[0]
