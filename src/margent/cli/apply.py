"""`margent apply`: predict with a model of any kind, and `margent align`: to align known answers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.files import Failures, shown_warnings
from margent.cli.options import add_output, add_threads

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task


def configure(parser: Parser) -> None:
    from margent.cli.model_options import add_applied
    from margent.cli.tasks import task_of_model

    command = parser.get_default("command")
    task = task_of_model(parser, "tagger" if command == "apply" else "transcriber")
    what = "Predict with a model" if command == "apply" else "Align known labels or phonemes with the input"
    parser.description = f"{what}. These are the options for {with_article(task.name)}, a model to {task.about}."
    parser.epilog = f"examples:\n{task.examples.get(command, '')}"
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, which says what kind of model it is")
    add(
        "files",
        metavar="FILE",
        nargs="*",
        help="data, gzip or not" + (" (default: standard input)" if task.reads_standard_input else ", or folders"),
    )
    where = "file (default: standard output)" if task.reads_standard_input else "folder"
    add_output(parser, f"where to write: a {where}")
    add_threads(parser)
    task.add_applying(parser)
    if task.applied:
        add_applied(parser, task)
    task.add_reading(parser)
    parser.elsewhere = lambda option: _elsewhere(option, task)
    parser.set_defaults(chosen=task)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.tasks import load_model

    task: Task = arguments.chosen
    if not arguments.files and not task.reads_standard_input:
        raise UsageError(
            f"'margent {arguments.command}' of {with_article(task.name)} needs a model and {task.files.lower()}s"
        )
    model = load_model(task, arguments)
    arguments.failures = Failures()
    with shown_warnings():
        task.write(model, arguments.files or ["-"], arguments, align=arguments.command == "align")
    return 1 if arguments.failures.number else 0


def _elsewhere(option: str, task: Task) -> str | None:
    """What to say of an option that models of another kind have."""
    from margent.cli.model_options import parameters_of
    from margent.cli.tasks import option_elsewhere

    if (found := option_elsewhere(option, task, "add_applying", "add_reading")) is not None:
        return found

    if any(p.option == option for p in task.parameters()) or any(
        p.option == option for name in task.learners() for p in parameters_of(task, name)
    ):
        return f"{option} is a parameter of training: 'margent train' has it"
    return None
