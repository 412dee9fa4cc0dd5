"""`margent train`: learn a model of any kind from labelled files."""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.epoch_table import EpochTable, Printer, interruption
from margent.cli.files import check_model_target, named_files, save_model, shown_warnings, size_of, warn
from margent.cli.options import add_json
from margent.printable import printable_json

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task

_EPILOG = """
Ctrl-C ends the training and saves the best model so far. 'margent train --task TASK --learner NAME --help' shows the
options of another kind of model and of another learner.
"""


def configure(parser: Parser) -> None:
    from margent.cli.model_options import add_model_options
    from margent.cli.tasks import chosen_learners, chosen_task

    task = chosen_task(parser)
    learners = chosen_learners(parser, task)
    if len(learners) > 1:
        raise UsageError(f"--learner should be one of {', '.join(task.learners())}, got {','.join(learners)!r}")
    parser.description = f"Train {with_article(task.name)}, a model to {task.about}."
    parser.epilog = f"examples:\n{task.examples['train']}{_EPILOG}"
    add = parser.add_argument
    add(
        "files",
        metavar=task.files,
        nargs="*" if task.reads_standard_input and task.name == "transcriber" else "+",
        help="labelled data, gzip or not" + ("; '-' is standard input" if task.reads_standard_input else ""),
    )
    add("-m", "--model", metavar="MODEL", required=True, help="where to save the model")
    add(
        "--dev",
        metavar="PATH",
        action="append",
        help="development data: keep the epoch that does best on them (may be repeated)",
    )
    add("--continue", dest="start", metavar="MODEL", help="continue training this model instead of starting a new one")
    add("--compact", action="store_true", help="save a smaller model: 16-bit weights, no features with weight zero")
    add_json(parser)
    add_model_options(parser, task, learners)
    task.add_reading(parser)
    parser.set_defaults(chosen=task, names=learners)


def run(arguments: argparse.Namespace) -> int:
    from margent.errors import TrainingWarning

    task: Task = arguments.chosen
    model = _model(task, arguments)
    check_model_target(arguments.model, named_files(arguments, "model", "start"))
    learner = model.resolved("learner")
    if learner is not None and learner.patience is not None and arguments.dev is None:
        raise UsageError("--patience watches the development data: give --dev PATH")
    X, y = task.read(arguments.files or ["-"], arguments, model)
    X_dev: Any
    y_dev: Any
    X_dev, y_dev = (None, None) if arguments.dev is None else task.read(arguments.dev, arguments, model)
    say = Printer(quiet=arguments.json)
    say(f"{task.size_of(X)} to learn from" + (f", {task.size_of(X_dev)} to watch" if X_dev is not None else ""))
    started = time.perf_counter()
    table = EpochTable(say, with_dev=X_dev is not None)
    fit = model.fit if arguments.start is None else model.partial_fit
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingWarning)
        warnings.simplefilter("always", UserWarning)
        fit(
            *(X, y),
            X_dev=X_dev,
            y_dev=y_dev,
            callbacks=[table.add],
            progress=False if arguments.json else None,
            **task.fitting(arguments),
        )
    seconds = time.perf_counter() - started
    task.remember(model, arguments)
    save_model(model, arguments.model, **({"compact": True} if arguments.compact else {}))
    for warning in caught:
        warn(warning.message)
    with shown_warnings():
        report = None if X_dev is None else task.report(model, X_dev, y_dev, arguments)
    if arguments.json:
        summary = {
            "model": arguments.model,
            "kind": task.name,
            "bytes": os.path.getsize(arguments.model),
            f"{task.unit}s" if task.unit != "entry" else "entries": len(X),
            **task.trained(model),
            "seconds": seconds,
            "epochs": model.history_,
            "best_epoch": model.best_epoch_,
            "interrupted": model.interrupted_,
            "temperature": model.temperature_,
            "calibrated": model.calibrated_,
            "dev": None if report is None else task.report_json(report),
        }
        say.always(printable_json(json.dumps(summary, indent=2, ensure_ascii=False)))
        return say.status(130 if model.interrupted_ else 0)
    from margent.learners import RuleLearner

    learner = model.resolved("learner")
    wanted = learner.gap if isinstance(learner, RuleLearner) else None
    if model.interrupted_:
        say(interruption(model))
    elif table.gap is not None and wanted is not None and table.gap > wanted:
        say(f"the gap is {table.gap:.2g}, wanted {wanted:.2g}: it takes more --epochs")
    if report is not None:
        best = model.best_epoch_
        say(f"\non the development data{f' (epoch {best})' if best is not None else ''}:\n\n{task.report_text(report)}")
    if model.calibrated_ and model.temperature_ != 1:
        say(f"probabilities are calibrated: temperature {model.temperature_:.4g}")
    say(f"saved {arguments.model}: {task.size(model)}, {size_of(arguments.model)}, trained in {seconds:.1f} s")
    return say.status(130 if model.interrupted_ else 0)


def _model(task: Task, arguments: argparse.Namespace) -> Any:
    """A new model as the options describe it, or the one that training continues from."""
    from margent.cli.model_options import changed_learner, chosen_learner, chosen_model

    name = arguments.names[0] if arguments.names else None
    if arguments.start is not None:
        return changed_learner(arguments, task, name)
    model = chosen_model(arguments, task, chosen_learner(arguments, task, name))
    try:
        task.check(model, name)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    return model
