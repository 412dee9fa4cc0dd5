"""Hidden labels on the command line: trained, shown, searched for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import margent
from margent.cli import main


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Every third x is X, the others Y; z is always Z."""
    lines = ["".join(f"x {'XYY'[t % 3]}\n" for t in range(3 + i % 7)) + "\nz Z\n" for i in range(30)]
    path = tmp_path / "train.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "template.txt").write_text("U0:%x[0,0]\nB\n", encoding="utf-8")
    return path


def test_train_and_inspect(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, template = str(tmp_path / "m"), str(tmp_path / "template.txt")
    words = ["train", str(data), "-m", model, "--template", template, "--learner", "perceptron", "--epochs", "30"]
    hidden = "--hidden-n"
    more = ["--hidden-restarts", "8", "--search", "sum"]
    assert main([*words, hidden, "3", *more]) == 0
    assert "3 labels (split into 9 hidden ones)" in capsys.readouterr().out
    tagger = margent.load(model)
    given = tagger.get_params(deep=True)
    assert (given.get("hidden__n", given["hidden"]), given.get("hidden__restarts", given.get("restarts"))) == (3, 8)
    assert given.get("decode", given.get("search")) == "sum"
    assert main(["inspect", model]) == 0
    shown = capsys.readouterr().out
    assert "each split into 3 hidden ones" in shown and "HiddenLabels(n=3, restarts=8)" in shown
    assert "Y/1 -> " in shown.replace("  ", " ") and "(Z/" in shown
    assert main(["inspect", model, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hidden_labels"] == {"X": 3, "Y": 3, "Z": 3}


def test_the_latent_svm_is_a_learner(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["train", str(data), "-m", str(tmp_path / "m"), "--learner", "latent-svm", "--passes", "5"]
    words += ["--hidden-n", "2"]
    assert main(words) == 0
    assert "objective" in capsys.readouterr().out
    assert margent.load(tmp_path / "m").learner == margent.LatentSVM(passes=5)


def test_tune_can_search_hidden_labels(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"tune {data} --learner perceptron --hidden-restarts 4 --folds 2 --jobs 1 --search hidden-n=1,3".split()
    words += ["--template", str(tmp_path / "template.txt"), "--storage", str(tmp_path / "out")]
    assert main([*words, "--json", "--halving", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {trial["hidden_n"] for trial in found["trials"]} == {1, 3}
    assert "--hidden-restarts 4" in found["command"]


def test_wrong_options(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = "--hidden-n"
    assert main(["train", str(data), "-m", str(tmp_path / "m"), hidden, "2", "--learner", "hmm"]) != 0
    told = capsys.readouterr().err
    assert told.startswith("margent: error: HiddenMarkov counts") and "'chain of hidden labels'" in told
