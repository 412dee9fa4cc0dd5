"""`margent inspect`: show what is in a model and what it has learned."""

from __future__ import annotations

import argparse
import os
from textwrap import indent
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser
from margent.cli.files import size_of, told
from margent.cli.options import add_json, integer
from margent.cli.output import say, say_json

if TYPE_CHECKING:
    from margent.cli.tasks.task import Task


def configure(parser: Parser) -> None:
    from margent.cli.tasks import option_elsewhere, task_of_model

    task = task_of_model(parser)
    parser.description = "Show the settings of a model, the strongest features of each label, and transitions."
    parser.epilog = f"examples:\n{task.examples['inspect']}"
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("--label", metavar="L", action="append", help="only features of this label (may be repeated)")
    parser.add_argument("--top", type=integer(1), default=5, metavar="N", help="entries of each kind (default: 5)")
    add_json(parser)
    task.add_inspecting(parser)
    parser.elsewhere = lambda option: option_elsewhere(option, task, "add_inspecting")
    parser.set_defaults(chosen=task, threads=None)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.tasks.task import described, settings
    from margent.models import load

    task: Task = arguments.chosen
    model = load(arguments.model)
    shown = task.inspected(model, arguments)
    parameters = {name: described(model.resolved(name)) for name in model.get_params(deep=False)}
    parameters |= {"threads": model.threads, **shown.facts.get("parameters", {})}
    facts: dict[str, Any] = {
        "model": arguments.model,
        "kind": task.name,
        "bytes": os.path.getsize(arguments.model),
        **shown.facts,
        "parameters": parameters,
        "epochs": len(model.history_),
        "best_epoch": model.best_epoch_,
        "interrupted": model.interrupted_,
        "temperature": model.temperature_,
        "calibrated": model.calibrated_,
    }
    if arguments.json:
        say_json({**facts, "history": model.history_, **shown.extra})
        return 0
    lines = {
        "model": f"{arguments.model} ({size_of(arguments.model)})",
        **shown.lines,
        "learner": told(parameters["learner"]),
        "settings": settings(parameters, ("features", "learner", "scheme", "order")),
        "training": _training(facts, model.history_),
    }
    if facts["temperature"] is not None:
        negated = "" if facts["calibrated"] else "not "
        lines["certainty"] = f"{negated}calibrated, temperature {facts['temperature']:.4g}"
    if not arguments.label:
        for name, line in lines.items():
            say(f"{name:9} {line}")
    for heading, rows in shown.parts:
        say(f"\n{heading}")
        say(indent("\n".join(rows), "  "))
    return 0


def _training(facts: dict[str, Any], history: list[dict[str, Any]]) -> str:
    """How the training went."""
    if not history:
        return "no epoch was finished"
    best = facts["best_epoch"]
    last = history[-history[-1]["epoch"] :]  # of the last training, where others went before
    row = last[best - 1] if best is not None and best <= len(last) else last[-1]
    text = f"{len(history)} epoch{'s' if len(history) != 1 else ''}"
    if row.get("accuracy") is not None:
        text += f", accuracy while learning {100 * row['accuracy']:.2f} %"
    if row.get("objective") is not None:
        text += f", objective {row['objective']:.2f}"
    if row.get("gap") is not None:
        text += f", gap {row['gap']:.2g}"
        wanted = facts["parameters"]["learner"].get("gap") if isinstance(facts["parameters"]["learner"], dict) else None
        text += "" if wanted is None else f" (wanted: {wanted:.2g})"
    if row.get("dev_score") is not None:
        text += f"; epoch {row['epoch']} was best on the development data with {100 * row['dev_score']:.2f}"
    return text + ("; interrupted" if facts["interrupted"] else "")
