"""`margent calibrate`: fit the temperature of a model, so that its probabilities are calibrated."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.files import check_model_target, number_of, warn
from margent.cli.options import add_json, add_output, add_threads
from margent.cli.output import say, say_json

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task

_EPILOG = """
Predictions stay the same; only probabilities change. The data must not be those that it was trained on.
'margent train --dev' and '--calibration' calibrate a model by themselves. The table before and after is measured on the
data given; data not seen yet say more (margent evaluate --calibration).
"""
_ENOUGH = 50  # predictions; with fewer, one more mistake would change the temperature a lot


def configure(parser: Parser) -> None:
    from margent.cli.tasks import task_of_model

    task = task_of_model(parser)
    parser.description = "Fit the temperature of a model on labelled data, so that 0.8 means right 8 times of 10."
    parser.epilog = f"examples:\n{task.examples['calibrate']}{_EPILOG}"
    parser.add_argument("model", metavar="MODEL", help="a model file; replaced unless -o is given")
    parser.add_argument("files", metavar="FILE", nargs="+", help="labelled data that the model was not trained on")
    add_output(parser, "where to save the calibrated model (default: MODEL)")
    add_json(parser)
    add_threads(parser)
    task.add_reading(parser)
    parser.set_defaults(chosen=task)


def run(arguments: argparse.Namespace) -> int:
    from margent import storage
    from margent.cli.reports import calibration_json, calibration_table
    from margent.cli.tasks import load_model

    task: Task = arguments.chosen
    target = arguments.output or arguments.model
    check_model_target(target, arguments.files)
    half = storage.read(arguments.model, verify=False).header.get("half") is True
    model = load_model(task, arguments)
    if not hasattr(model, "calibrate"):
        raise UsageError(
            f"{with_article(task.name)} has no temperature to fit: its probabilities are those of its model"
        )
    X, y = task.read(arguments.files, arguments, model)
    task.check_labels(model, y, ", ".join(arguments.files))
    before, curves_before = model.temperature_, task.curves(model, X, y)
    model.calibrate(X, y)
    curves = task.curves(model, X, y)
    if curves:
        kind, curve = list(curves.items())[-1]  # spans where the labels spell spans
        if (judged := int(curve.counts.sum())) < _ENOUGH:
            what = number_of(judged, kind.removesuffix("s"))
            warn(f"only {what} to judge by, so the temperature is uncertain")
    model.set_params(threads=None)
    model.save(target, **({"compact": True} if half else {}))
    if arguments.json:
        summary = {
            "model": target,
            f"{task.unit}s": len(X),
            "before": {"temperature": before, **calibration_json(curves_before)},
            "after": {"temperature": model.temperature_, **calibration_json(curves)},
        }
        say_json(summary)
        return 0
    say(f"temperature {model.temperature_:.4g} instead of {before:.4g}, fitted on {number_of(len(X), task.unit)}")
    if curves:
        pairs = {name: {f"{name}, before": curves_before[name], f"{name}, after": curves[name]} for name in curves}
        say("\n" + calibration_table({row: curve for pair in pairs.values() for row, curve in pair.items()}))
        say("measured on the data that the temperature was fitted on; others: margent evaluate --calibration\n")
    say(f"saved {target}")
    return 0
