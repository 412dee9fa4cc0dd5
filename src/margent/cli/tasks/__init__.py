"""What differs between the kinds of models: one file for each, with a `Task` in `TASK`."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError, with_article

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task

TASKS = ("tagger", "segmenter", "transcriber", "parser", "phrase-parser", "semantic-parser", "translator", "entailment")
"""The names: after `--task`, of the kinds in model files and, with _ for -, of the files here. The first is usual."""


def task_named(name: str) -> Task:
    """The task of this name."""
    task: Task = import_module(f"{__name__}.{name.replace('-', '_')}").TASK
    return task


def chosen_task(parser: Parser) -> Task:
    """The task that --task or a short name says; for commands that begin with data. Adds the option."""
    found = _word(parser, "--task")
    if found is not None and found not in TASKS:
        raise UsageError(f"--task should be one of {', '.join(TASKS)}, got {found!r}")
    if parser.task is not None and found not in (None, parser.task):
        raise UsageError(f"'{parser.prog}' is for {with_article(parser.task)}, and --task says {found}")
    parser.add_argument(
        "--task", choices=TASKS, default=parser.task or TASKS[0], help=f"the kind of model (default: {TASKS[0]})"
    )
    return task_named(found or parser.task or TASKS[0])


def task_of_model(parser: Parser, default: str = TASKS[0]) -> Task:
    """The task of the model that the command names; a short name must agree with it."""
    from margent.cli.files import first_model

    found = first_model(parser.words)
    if found is None:
        return task_named(parser.task or default)
    path, kind = found
    if kind not in TASKS:
        raise UsageError(f"{path} holds a model of the kind {kind!r}, which this version does not know")
    if parser.task not in (None, kind):
        raise UsageError(f"{path} holds {with_article(kind)}, and '{parser.prog}' is for {with_article(parser.task)}")
    return task_named(kind)


def chosen_learners(parser: Parser, task: Task) -> list[str]:
    """The names after --learner, separated by commas; without, the task's default, if it has one."""
    found = _word(parser, "--learner")
    if found is None:
        return [] if task.default_learner is None else [task.default_learner]
    names = list(dict.fromkeys(found.split(",")))
    for name in names:
        if name not in task.learners():
            raise UsageError(f"argument --learner: invalid choice: {name!r} (choose from {', '.join(task.learners())})")
    return names


def load_model(task: Task, arguments: Any) -> Any:
    """The model of a command, as many threads as asked for."""
    from margent.models import load

    model = load(arguments.model)
    if arguments.threads is not None:
        model.set_params(threads=arguments.threads)
    return task.prepared(model, arguments)


def option_elsewhere(option: str, task: Task, *adding: str) -> str | None:
    """What to say of an option that models of another kind have; `adding`: the methods that add options."""
    for name in TASKS:
        other = Parser(prog="other")
        for add in adding:
            getattr(task_named(name), add)(other)
        if option in other._option_string_actions:
            return f"{option} is an option for {with_article(name)}; the model is {with_article(task.name)}"
    return None


def _word(parser: Parser, option: str) -> str | None:
    """The last value given to an option, before all options are known."""
    found = None
    for word, after in zip(parser.words, [*parser.words[1:], None]):
        if word == option:
            found = after
        elif word.startswith(f"{option}="):
            found = word.partition("=")[2]
    return found
