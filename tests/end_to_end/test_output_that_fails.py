"""Standard output that cannot be written: a full disk, a reader that has gone away, one that was closed before."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from margent import Perceptron, Tagger, load
from margent.datasets import make_addresses
from margent.formats import write_columns

FULL = "/dev/full"
needs_full = pytest.mark.skipif(not os.path.exists(FULL), reason="there is no /dev/full here")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    X, y = make_addresses(400, seed=1)
    write_columns(folder / "train.txt", X, y)
    Tagger(learner=Perceptron(epochs=2)).fit(X, y, progress=False).save(folder / "m.margent")
    return folder


def run(files: Path, words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "margent", *words]
    return subprocess.run(command, cwd=files, stderr=subprocess.PIPE, text=True, check=False, **options)


@needs_full
@pytest.mark.parametrize("more", [[], ["--json"], ["--dev", "train.txt"]], ids=" ".join)
def test_a_full_disk_does_not_stop_a_training(files: Path, more: list[str]) -> None:
    (files / "new.margent").unlink(missing_ok=True)
    with open(FULL, "w") as full:
        result = run(files, ["train", "train.txt", "-m", "new.margent", "--epochs", "3", *more], stdout=full)
    assert result.returncode == 1
    assert result.stderr == "margent: error: standard output: No space left on device; all else is done\n"
    assert len(load(files / "new.margent").history_) == 3


def test_a_reader_that_goes_away_does_not_stop_a_training(files: Path) -> None:
    (files / "new.margent").unlink(missing_ok=True)
    reading, writing = os.pipe()
    os.close(reading)
    result = run(files, ["train", "train.txt", "-m", "new.margent", "--epochs", "3"], stdout=writing)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, "")
    assert len(load(files / "new.margent").history_) == 3


def test_closed_streams_are_no_trouble(files: Path) -> None:
    (files / "new.margent").unlink(missing_ok=True)
    shell = f"{sys.executable} -m margent train train.txt -m new.margent --epochs 2 >&- 2>&-"
    assert subprocess.run(shell, shell=True, cwd=files, check=False).returncode == 0
    assert len(load(files / "new.margent").history_) == 2


@needs_full
@pytest.mark.parametrize(
    "words",
    [
        ["evaluate", "m.margent", "train.txt"],
        ["evaluate", "m.margent", "train.txt", "--json"],
        ["inspect", "m.margent"],
        ["apply", "m.margent", "train.txt"],
        ["templates"],
        ["convert", "train.txt", "-", "--to", "jsonl"],
    ],
    ids=" ".join,
)
def test_other_commands_end_with_one_sentence(files: Path, words: list[str]) -> None:
    with open(FULL, "w") as full:
        result = run(files, words, stdout=full)
    assert result.returncode == 1
    lines = [line for line in result.stderr.splitlines() if "warning" not in line]
    assert len(lines) == 1 and lines[0].startswith("margent: error: ") and "No space left on device" in lines[0]


@needs_full
def test_warnings_that_cannot_be_shown_do_not_stop_a_training(files: Path) -> None:
    (files / "new.margent").unlink(missing_ok=True)
    with open(FULL, "w") as full:
        command = [sys.executable, "-m", "margent", "train", "train.txt", "-m", "new.margent", "--learner", "sdm"]
        process = subprocess.run([*command, "--epochs", "1"], cwd=files, stdout=full, stderr=full, check=False)
    assert process.returncode == 1 and len(load(files / "new.margent").history_) == 1
