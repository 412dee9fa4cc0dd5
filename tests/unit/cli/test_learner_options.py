from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

import pytest

import margent
from margent.cli import learner_options
from margent.cli.command_line import Parser, UsageError


@dataclass(frozen=True)
class First:
    epochs: int = field(default=10, metadata={"help": "passes"})
    average: bool = field(default=True, metadata={"help": "the mean, 100 % of it"})
    patience: int | None = None


@dataclass(frozen=True)
class Second:
    epochs: int = 5
    C: float = field(default=1.0, metadata={"help": "largest step"})
    policy: Literal["early", "late"] = "early"
    average: bool | None = None

    def __post_init__(self) -> None:
        if self.C <= 0:
            raise ValueError(f"C of Second should be more than 0, got {self.C}")


@pytest.fixture
def chosen(monkeypatch):
    """From arguments to the learner, with two learners of our own."""
    for place in ("margent.learners.LEARNERS", "margent.cli.learner_options.LEARNERS"):
        monkeypatch.setattr(place, {"first": First, "second": Second})

    def choose(*arguments: str) -> object:
        parser = Parser(prog="margent train")
        parser.add_argument("--learner", default="first")
        learner_options.add_learner_options(parser)
        return learner_options.chosen_learner(parser.parse_args(arguments))

    return choose


def test_defaults_are_those_of_the_learner(chosen):
    assert chosen() == First()
    assert chosen("--learner", "second") == Second()


def test_values_have_the_types_of_the_fields(chosen):
    assert chosen("--epochs", "3", "--patience", "2", "--average", "no") == First(epochs=3, patience=2, average=False)
    assert chosen("--patience", "none") == First(patience=None)
    wanted = Second(epochs=3, C=0.5, policy="late", average=True)
    assert chosen("--learner", "second", "--epochs", "3", "--C", ".5", "--policy", "late", "--average", "yes") == wanted


def test_help_says_once_what_learners_have_in_common():
    parser = Parser(prog="margent train")
    learner_options.add_learner_options(parser)
    text = " ".join(parser.format_help().split())
    assert "passes over the training data (all but hmm, spectral; default: 10; larank: 1); most iterations" in text
    who = "pa, rpa, mira, sdm, larank, ssvm, latent-svm"
    assert f"aggressiveness C: the largest step for one example ({who}; def" in text


def test_the_page_of_the_command_line_names_every_parameter():
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, kind in margent.learners.LEARNERS.items():
        for parameter in fields(kind):
            rows = [line for line in page.splitlines() if f"`{learner_options._option(parameter.name)}`" in line]
            who = " ".join(line.split("|")[2] for line in rows if line.startswith("| `--"))
            assert f"`{name}`" in who or "all" in who.replace(f"all but `{name}`", ""), parameter.name


def test_wrong_values(chosen):
    with pytest.raises(UsageError, match=r"--epochs: expected a whole number, got '1\.5'"):
        chosen("--epochs", "1.5")
    with pytest.raises(UsageError, match="--C is no parameter of the learner first"):
        chosen("--C", "1")
    with pytest.raises(UsageError, match="--policy: expected early or late, got 'soon'"):
        chosen("--learner", "second", "--policy", "soon")
    with pytest.raises(UsageError, match="C of Second"):
        chosen("--learner", "second", "--C", "0")


def test_help_says_defaults_of_each_learner(monkeypatch):
    monkeypatch.setattr("margent.cli.learner_options.LEARNERS", {"first": First, "second": Second})
    parser = Parser(prog="margent train")
    learner_options.add_learner_options(parser)
    text = " ".join(parser.format_help().split())
    assert "passes (first; default: 10)" in text
    assert "(second; default: 5)" in text
    assert "100 % of it" in text


@pytest.mark.parametrize(
    "learner",
    [
        margent.Perceptron(),
        margent.Perceptron(epochs=3, average=False, margin=0.1 + 0.2, patience=2),
        margent.PassiveAggressive(C=1e-7, k=3, shuffle=False),
    ],
)
def test_options_make_the_learner_again(learner):
    parser = Parser(prog="margent train")
    parser.add_argument("--learner")
    learner_options.add_learner_options(parser)
    assert learner_options.chosen_learner(parser.parse_args(learner_options.as_options(learner))) == learner


def test_options_of_several_learners(chosen):
    parser = Parser(prog="margent tune")
    learner_options.add_learner_options(parser)
    arguments = parser.parse_args(["--epochs", "3", "--C", "2"])
    assert learner_options.given_parameters(arguments) == ["epochs", "C"]
    found = learner_options.chosen_learners(arguments, ["first", "second"])
    assert found == {"first": First(epochs=3), "second": Second(epochs=3, C=2.0)}
    with pytest.raises(UsageError, match="--C is no parameter of the learner first"):
        learner_options.chosen_learners(arguments, ["first"])
