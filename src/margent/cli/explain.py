"""`margent explain`: show why a model predicts what it predicts."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.options import add_threads, integer
from margent.cli.output import say

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task


def configure(parser: Parser) -> None:
    from margent.cli.tasks import task_of_model

    task = task_of_model(parser)
    parser.description = (
        "Show for each token why its label won: the features and transitions that make the margin over the best "
        "labelling in which it has another label."
    )
    parser.epilog = f"examples:\n{task.examples.get('explain', '')}"
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("files", metavar="FILE", nargs="*", help="data, gzip or not (default: standard input)")
    parser.add_argument("--token", type=integer(0), metavar="N", help="only this token of each sentence, from 0")
    parser.add_argument("--top", type=integer(1), default=10, metavar="N", help="number of features (default: 10)")
    add_threads(parser)
    task.add_reading(parser)
    parser.set_defaults(chosen=task)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.tasks import load_model

    task: Task = arguments.chosen
    model = load_model(task, arguments)
    if not hasattr(model, "explain"):
        raise UsageError(
            f"{with_article(task.name)} cannot explain its answers; 'margent inspect' shows what it has learned"
        )
    for text in task.explained(model, arguments.files or ["-"], arguments):
        say(text, end="")
        if text == "\n":
            sys.stdout.flush()
    return 0
