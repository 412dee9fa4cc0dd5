"""The parameters of a task's model and of its learner as options, and the model that they describe."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.parameters import (
    Parameter,
    add_parameters,
    given_values,
    keywords,
    learner_parameters,
    shown,
    value_class,
    words_of,
)
from margent.cli.tasks import TASKS, task_named

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task


def taken_names() -> set[str]:
    """The names of the parameters of all models, which the options of learners leave to them; so is `beam`."""
    models = [task_named(task).model_class() for task in TASKS]
    return {"search", "beam"}.union(*(inspect.signature(model).parameters for model in models))


def parameters_of(task: Task, learner: str) -> list[Parameter]:
    """The options of one learner."""
    return learner_parameters(task.learners()[learner], taken_names())


def add_model_options(parser: Parser, task: Task, learners: Sequence[str], several: bool = False) -> None:
    """`--learner`, and an option for each parameter of the model and of the learners that are named."""
    default = task.default_learner or "none"
    if task.learner_defaults:
        default += f" with {', '.join(f'{name} {value}' for name, value in task.learner_defaults.items())}"
    parser.add_argument(
        "--learner",
        metavar="LIST" if several else "NAME",
        help=f"the learner: {', '.join(task.learners())} (default: {default}); "
        f"'{parser.prog} --learner NAME --help' shows its parameters",
    )
    group = parser.add_argument_group(f"parameters of the {task.name}")
    known = {*parser._option_string_actions}  # those of the command go before
    add_parameters(group, [parameter for parameter in task.parameters() if parameter.option not in known])
    task.add_training(parser)
    merged: dict[str, Parameter] = {}
    defaults: dict[str, dict[str, str]] = {}
    for name in learners:
        for parameter in parameters_of(task, name):
            other = merged.setdefault(parameter.option, parameter)
            if other.is_flag and not parameter.is_flag:
                merged[parameter.option] = parameter._replace(help=other.help or parameter.help)
            usual = task.learner_defaults.get(parameter.path[1], parameter.default) if _is_default(task, name) else None
            defaults.setdefault(parameter.option, {})[name] = shown(parameter.default if usual is None else usual)
    group = parser.add_argument_group(f"parameters of the learner{'s' * (len(learners) > 1)} {', '.join(learners)}")
    add_parameters(group, merged.values(), {option: _fact(each, learners) for option, each in defaults.items()})
    parser.elsewhere = lambda option: _elsewhere(option, task, learners)


def _is_default(task: Task, name: str) -> bool:
    return name == task.default_learner


def _fact(defaults: Mapping[str, str], learners: Sequence[str]) -> str:
    """The usual default, those whose default is another, and whose the option is where not all have it."""
    usual = Counter(defaults.values()).most_common(1)[0][0]
    facts = [", ".join(defaults)] if len(defaults) < len(learners) else []
    return "; ".join(
        [*facts, f"default: {usual}", *(f"{name}: {value}" for name, value in defaults.items() if value != usual)]
    )


def _elsewhere(option: str, task: Task, learners: Sequence[str]) -> str | None:
    """What to say of an option that these learners, or this task, do not have."""
    plain = option.replace("--no-", "--", 1)
    owners = [name for name in task.learners() if any(p.option in (option, plain) for p in parameters_of(task, name))]
    if owners:
        whose = f"the learner{'s are' if len(learners) > 1 else ' is'} {', '.join(learners)}"
        whose = whose if learners else "there is no learner: give --learner NAME"
        return f"{option} is a parameter of {', '.join(owners)}; {whose}"
    for other in TASKS:
        parameters = task_named(other).parameters()
        if other != task.name and any(p.option in (option, plain) for p in parameters):
            return f"{option} is a parameter of a {other}; the task is {task.name}"
    return None


def given_learner(arguments: argparse.Namespace, task: Task, name: str) -> dict[str, Any]:
    """The parameters of this learner that were given, by name."""
    return {path[1]: value for path, value in given_values(arguments, parameters_of(task, name)).items()}


def chosen_learner(arguments: argparse.Namespace, task: Task, name: str | None) -> Any:
    """The learner of this name with the parameters given."""
    if name is None:
        return None
    usual = {} if arguments.learner is not None else task.learner_defaults
    try:
        return task.learners()[name](**{**usual, **given_learner(arguments, task, name)})
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None


def chosen_model(arguments: argparse.Namespace, task: Task, learner: Any) -> Any:
    """The model that the options describe, with this learner."""
    return task.model_class()(learner=learner, **_chosen_keywords(arguments, task, {}))


def changed_model(model: Any, arguments: argparse.Namespace, task: Task) -> Any:
    """A trained model with the parameters that can be changed when it is applied."""
    return model.set_params(**_chosen_keywords(arguments, task, model.get_params(deep=False)))


def changed_learner(arguments: argparse.Namespace, task: Task, name: str | None) -> Any:
    """The model that training continues from, its learner with the parameters given; all else is as it was."""
    from margent.models import load

    for parameter in task.parameters():
        if vars(arguments).get(parameter.destination) is not None and parameter.path != ("threads",):
            raise UsageError(f"{parameter.option} was chosen when {arguments.start} was trained, and stays")
    model = load(arguments.start)
    if not isinstance(model, task.model_class()):
        raise UsageError(f"{arguments.start} holds a {type(model).__name__.lower()}; the task is {task.name}")
    if not hasattr(model, "partial_fit"):
        raise UsageError(f"{with_article(task.name)} cannot continue its training: train it on all data together")
    if arguments.learner is not None:
        return model.set_params(learner=chosen_learner(arguments, task, name))
    given = {} if name is None else given_learner(arguments, task, name)
    if given:
        own = model.learner
        known = set() if own is None else {field.name for field in dataclasses.fields(own)}
        for missing in given.keys() - known:
            raise UsageError(f"{missing} is not a parameter of {own!r}: name a learner with --learner")
        try:
            model.set_params(learner=dataclasses.replace(own, **given))
        except ValueError as error:
            raise UsageError(str(error)) from None
    return model


def _chosen_keywords(arguments: argparse.Namespace, task: Task, usual: Mapping[str, Any]) -> dict[str, Any]:
    hints = task.hints()
    kinds = {name: kind for name, hint in hints.items() if (kind := value_class(hint)) is not None}
    defaults = {name: each.default for name, each in inspect.signature(task.model_class()).parameters.items()}
    found = keywords(given_values(arguments, task.parameters()), kinds, {**defaults, **usual})
    return {**found, **task.own_values(arguments, found)}


def add_applied(parser: Parser, task: Task) -> None:
    """The parameters of the model that can be changed when it is applied."""
    chosen = [parameter for parameter in task.parameters() if parameter.path[0] in task.applied] if task.applied else []
    add_parameters(parser, [parameter._replace(default="as trained") for parameter in chosen])


def learner_words(task: Task, learner: Any) -> list[str]:
    """The options of `margent train` that make this learner."""
    name = next(name for name, kind in task.learners().items() if type(learner) is kind)
    values: dict[tuple[str, ...], Any] = {
        ("learner", field.name): getattr(learner, field.name) for field in dataclasses.fields(learner)
    }
    return ["--learner", name, *words_of(parameters_of(task, name), values)]


def model_words(task: Task, model: Any) -> list[str]:
    """The options of `margent train` that make this model, its learner and the task's own options aside."""
    values: dict[tuple[str, ...], Any] = {}
    for name, value in model.get_params(deep=False).items():
        values[(name,)] = value
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            values |= {(name, field.name): getattr(value, field.name) for field in dataclasses.fields(value)}
    plain = [p for p in task.parameters() if not dataclasses.is_dataclass(values.get(p.path)) or len(p.path) > 1]
    return words_of(plain, values)


def fixed_parameters(arguments: argparse.Namespace, task: Task, learners: Sequence[str]) -> set[str]:
    """The names of the parameters of model and learners that options have set: `order`, `C`, `hidden_n`."""
    found = {path for name in learners for path in given_values(arguments, parameters_of(task, name))}
    names = {path[1] for path in found}
    names |= {"_".join(path) for path in given_values(arguments, task.parameters())}
    return names | task.own_given(arguments)


def train_words(arguments: argparse.Namespace, task: Task, model: Any, features: Any = None) -> list[str]:
    """The `margent train` that trains this model on the files of `arguments`; `features`: those that were searched."""
    words = ["margent", "train", *arguments.files, "-m", arguments.model or "best.margent"]
    words += ["--task", task.name] if task.name != TASKS[0] else []
    words += learner_words(task, model.learner) if model.learner is not None else []
    return [*words, *model_words(task, model), *task.own_words(arguments, model, features)]
