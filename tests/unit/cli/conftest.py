"""Data files and a model that the tests of the command line share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from margent.cli import main
from margent.datasets import make_addresses
from margent.formats import write_columns


class Outcome(NamedTuple):
    status: int
    output: str
    errors: str


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.txt, dev.txt, test.txt of generated addresses, and model.margent trained on them."""
    folder = tmp_path_factory.mktemp("cli")
    for name, n, seed in (("train", 300, 1), ("dev", 60, 2), ("test", 60, 3)):
        write_columns(folder / f"{name}.txt", *make_addresses(n, seed=seed))
    (folder / "one.txt").write_text("Rue\nde\nParis\n\n", encoding="utf-8")
    assert main(["train", str(folder / "train.txt"), "-m", str(folder / "model.margent"), "--epochs", "5"]) == 0
    return folder


@pytest.fixture
def margent(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs a command in this process."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        status = main([str(argument) for argument in arguments])
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture
def fails(margent: Callable[..., Outcome]) -> Callable[..., None]:
    """Runs a command that must fail with this status and one line that says this."""

    def run(status: int, message: str, *arguments: object) -> None:
        outcome = margent(*arguments)
        assert outcome.status == status, outcome
        assert outcome.errors.startswith("margent: error: ")
        assert outcome.errors.count("\n") == 1
        assert message in outcome.errors

    return run
