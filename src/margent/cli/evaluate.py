"""`margent evaluate`: compare predictions, from files or from a model, with the right answers."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from margent.cli.command_line import Parser, with_article
from margent.cli.files import shown_warnings
from margent.cli.options import add_json, add_threads
from margent.cli.output import say, say_json

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task


def configure(parser: Parser) -> None:
    from margent.cli.files import first_model
    from margent.cli.model_options import add_applied
    from margent.cli.tasks import task_of_model

    task = task_of_model(parser)
    parser.description = (
        f"Compare predictions with the right answers. These are the options for {with_article(task.name)}."
    )
    parser.epilog = f"examples:\n{task.examples['evaluate']}"
    parser.add_argument("files", metavar="FILE", nargs="*", help="a model and data; or right and predicted labels")
    add_json(parser)
    add_threads(parser)
    task.add_evaluating(parser)
    if task.applied:
        add_applied(parser, task)
    task.add_reading(parser)
    found = first_model(parser.words)
    parser.set_defaults(chosen=task, model=None if found is None else found[0])


def run(arguments: argparse.Namespace) -> int:
    task: Task = arguments.chosen
    if arguments.model is not None:
        arguments.files.remove(arguments.model)
    with shown_warnings():
        text, summary = task.evaluate(arguments)
    if arguments.json:
        say_json(summary)
    else:
        say(text.rstrip("\n"))
    return 0
