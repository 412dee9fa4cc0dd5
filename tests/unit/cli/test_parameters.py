"""Options from declared parameters: of classes made for the tests, and of every learner and model there is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

import margent
from margent.cli import parameters
from margent.cli.command_line import Parser, UsageError
from margent.cli.model_options import (
    add_model_options,
    chosen_learner,
    chosen_model,
    fixed_parameters,
    learner_words,
    model_words,
    parameters_of,
)
from margent.cli.tasks import TASKS, task_named
from margent.cli.tasks.task import Task

PAIRS = [(task, learner) for task in TASKS for learner in task_named(task).learners()]


@dataclass(frozen=True)
class Beam:
    """A search.

    width : how many states survive
    update : what is learned from. More of it
    """

    width: int = 4
    update: Literal["early", "late"] = "early"

    def __post_init__(self) -> None:
        if self.width < 1:
            raise ValueError(f"width of Beam should be at least 1, got {self.width}")


@dataclass(frozen=True)
class First:
    epochs: int = field(default=10, metadata={"help": "passes"})
    average: bool = field(default=True, metadata={"help": "the mean, 100 % of it"})
    patience: int | None = None
    order: int = 3


@dataclass(frozen=True)
class Second:
    epochs: int = 5
    C: float = field(default=1.0, metadata={"help": "largest step"})
    policy: Literal["early", "late"] = "early"
    average: bool | None = None

    def __post_init__(self) -> None:
        if self.C <= 0:
            raise ValueError(f"C of Second should be more than 0, got {self.C}")


class Model:
    """A model.

    Parameters
    ----------
    order : int
        How far back. And more about it.
    search : str or Beam
        How it is searched.
    sizes, costs : as they are
        Numbers of things.

    Attributes
    ----------
    nothing : at all
    """

    def __init__(
        self,
        order: int = 1,
        learner: Any = None,
        *,
        search: Literal["exact", "sum"] | Beam = "exact",
        costs: Mapping[str, float] | None = None,
        sizes: Sequence[tuple[int, int]] = ((1, 1),),
        constrain: bool | Sequence[tuple[str, str]] = False,
        hidden: Any = None,
    ) -> None:
        self.given = {name: value for name, value in locals().items() if name not in ("self", "hidden")}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.given


class Made(Task):
    name = "made"
    default_learner = "first"
    __abstractmethods__: frozenset[str] = frozenset()

    def model_class(self) -> type[Model]:
        return Model

    def learners(self) -> dict[str, type]:
        return {"first": First, "second": Second}


Made.__abstractmethods__ = frozenset()


@pytest.fixture
def made():
    """From options to the model with its learner."""

    def make(*words: str, learner: str = "first") -> Model:
        task = Made()
        parser = Parser(prog="margent train")
        add_model_options(parser, task, [learner])
        arguments = parser.parse_args(words)
        if learner != "first":
            arguments.learner = learner
        return chosen_model(arguments, task, chosen_learner(arguments, task, learner))

    return make


def test_defaults_are_those_of_model_and_learner(made):
    assert made().given == Model(learner=First()).given
    assert made(learner="second").given["learner"] == Second()


def test_values_have_the_types_that_are_declared(made):
    words = "--order 2 --costs a=1,b,c=2 --costs d=0.5 --sizes 0:1,1:2 --constrain --epochs 3 --no-average --patience 2"
    given = made(*words.split()).given
    assert given == {
        **Model().given,
        "order": 2,
        "costs": {"a": 1.0, "b,c": 2.0, "d": 0.5},
        "sizes": ((0, 1), (1, 2)),
        "constrain": True,
        "learner": First(epochs=3, average=False, patience=2),
    }
    assert made("--costs", "none").given["costs"] is None
    wanted = Second(epochs=3, C=0.5, policy="late", average=True)
    words = ["--epochs", "3", "--C", ".5", "--policy", "late", "--average", "yes"]
    assert made(*words, learner="second").given["learner"] == wanted


def test_fields_of_a_value_are_options(made):
    assert made("--search", "sum").given["search"] == "sum"
    assert made("--search-width", "8").given["search"] == Beam(8)
    assert made("--search-width", "8", "--search-update", "late").given["search"] == Beam(8, "late")
    with pytest.raises(UsageError, match="--search sum leaves no choice to --search-width"):
        made("--search", "sum", "--search-width", "8")
    with pytest.raises(UsageError, match="width of Beam should be at least 1"):
        made("--search-width", "0")


def test_a_learner_leaves_the_names_of_models_to_them(made):
    given = made("--order", "2", "--learner-order", "4").given
    assert (given["order"], given["learner"]) == (2, First(order=4))


def test_help_comes_from_the_declarations():
    assert parameters.documented(Model) == {
        "order": "how far back",
        "search": "how it is searched",
        **dict.fromkeys(("sizes", "costs"), "numbers of things"),
    }
    assert parameters.documented(Beam) == {"width": "how many states survive", "update": "what is learned from"}
    parser = Parser(prog="margent train")
    add_model_options(parser, Made(), ["first", "second"])
    text = " ".join(parser.format_help().split())
    assert "passes (default: 10; second: 5)" in text and "largest step (second; default: 1.0)" in text
    assert "100 % of it" in text and "--search-update {early,late} what is learned from (default: early)" in text


def test_wrong_values(made):
    with pytest.raises(UsageError, match=r"--epochs: expected an integer, got '1\.5'"):
        made("--epochs", "1.5")
    with pytest.raises(UsageError, match="--patience: expected an integer or none, got 'x'"):
        made("--patience", "x")
    with pytest.raises(UsageError, match="--policy: expected early or late, got 'soon'"):
        made("--policy", "soon", learner="second")
    with pytest.raises(UsageError, match="C of Second"):
        made("--C", "0", learner="second")
    for wrong in ("a", "a=1,a=2", "=1", "a=1,b"):
        with pytest.raises(UsageError, match="--costs: expected NAME=VALUE"):
            made("--costs", wrong)


def test_what_options_have_fixed():
    parser = Parser(prog="margent tune")
    add_model_options(parser, Made(), ["first", "second"])
    arguments = parser.parse_args(["--epochs", "3", "--C", "2", "--search-width", "2", "--order", "2"])
    assert fixed_parameters(arguments, Made(), ["first", "second"]) == {"epochs", "C", "search_width", "order"}
    assert chosen_learner(arguments, Made(), "second") == Second(epochs=3, C=2.0)


def another(hint: Any, value: Any) -> list[Any]:
    """Other values that a parameter of this type may have; its class refuses some."""
    choices = parameters._choices(hint)
    found: list[Any] = []
    for choice in choices:
        if get_origin(choice) is Literal:
            found += get_args(choice)
        elif choice is bool:
            found += [True, False]
        elif choice in (int, float):
            start = 1 if isinstance(value, bool) or not isinstance(value, (int, float)) else value
            found += [choice(start + 1), choice(start * 2 + 2), choice(0.5) or 1]
        elif choice is type(None):
            found.append(None)
        elif parameters._is_mapping(choice):
            found.append({"a": 2.0} if float in get_args(choice) else {"a": 2})
        elif parameters._is_pairs(choice):
            found.append(((1, 0), (1, 1), (2, 1)))
        elif choice is str:
            found += ["iob2", "sum", "early", "error", "x"]
    return [each for each in found if each != value]


@pytest.mark.parametrize(("task", "learner"), PAIRS)
def test_every_field_of_every_learner_can_be_set(task, learner):
    kind = task_named(task).learners()[learner]
    fields = {f.name: f for f in dataclasses.fields(kind)}
    declared = parameters_of(task_named(task), learner)
    assert [parameter.path[1] for parameter in declared] == list(fields)
    for parameter in declared:
        assert parameter.help, f"{parameter.option} of {learner} has no help"
        name = parameter.path[1]
        for value in another(parameter.hint, parameter.default):
            try:
                wanted = kind(**{name: value})
            except (TypeError, ValueError):
                continue  # only together with another
            parser = Parser(prog="margent train")
            add_model_options(parser, task_named(task), [learner])
            arguments = parser.parse_args(learner_words(task_named(task), wanted))
            assert chosen_learner(arguments, task_named(task), learner) == wanted


@pytest.mark.parametrize("task", TASKS)
def test_every_parameter_of_every_model_can_be_set(task):
    chosen = task_named(task)
    kind = chosen.model_class()
    usual = kind().get_params(deep=False)
    found = {parameter.path[0] for parameter in chosen.parameters()}
    assert found | {"learner", *chosen.own} == set(usual)
    for parameter in chosen.parameters():
        assert parameter.help, f"{parameter.option} has no help"
        values = another(parameter.hint, parameter.default)
        assert values, parameter.option
        parser = Parser(prog="margent train")
        add_model_options(parser, chosen, [])
        words = parameters.words_of([parameter], {parameter.path: values[0]})
        try:
            model = chosen_model(parser.parse_args(words), chosen, None)
        except UsageError:
            assert len(parameter.path) == 2  # a value that goes only with another
            continue
        value = getattr(model, parameter.path[0])
        assert (value if len(parameter.path) == 1 else getattr(value, parameter.path[1])) == values[0]
        assert model_words(chosen, model) == words


@pytest.mark.parametrize(("task", "learner"), PAIRS)
def test_no_two_parameters_have_the_same_option(task, learner):
    """Names that a learner shares with a model are told apart; a new one should be looked at."""
    chosen = task_named(task)
    options = [p.option for p in (*chosen.parameters(), *parameters_of(chosen, learner))]
    assert len(set(options)) == len(options)
    shared = {p.path[1] for p in parameters_of(chosen, learner) if p.option.startswith("--learner-")}
    assert shared <= {"search", "beam", "order"}


def test_the_page_of_the_command_line_names_every_parameter():
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name in margent.learners.LEARNERS:
        for parameter in parameters_of(task_named("tagger"), name):
            rows = [line for line in page.splitlines() if f"`{parameter.option}`" in line]
            who = " ".join(line.split("|")[2] for line in rows if line.startswith("| `--"))
            assert f"`{name}`" in who or "all" in who.replace(f"all but `{name}`", ""), parameter.option
