"""`margent inspect` of a transcriber."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError

if TYPE_CHECKING:
    from margent.models.transcriber.transcriber import Transcriber


def run(transcriber: Transcriber, arguments: argparse.Namespace) -> int:
    """Prints what the transcriber is and what it has learned."""
    if arguments.label or arguments.support or arguments.plot:
        raise UsageError("--label, --support and --plot are for models with labels, and this is a transcriber")
    summary = _summary(transcriber, arguments.model)
    units = _units(transcriber, arguments.top)
    if arguments.json:
        shown = [{"unit": name, "probability": probability} for name, probability in units]
        print(
            json.dumps({**summary, "history": transcriber.history_, "top_units": shown}, indent=2, ensure_ascii=False)
        )
        return 0
    _print_summary(summary)
    print("\nunits:")
    for name, probability in units:
        print(f"  {probability:10.4f}  {name}")
    return 0


def _units(transcriber: Transcriber, top: int) -> list[tuple[str, float]]:
    """The most probable units without any history, written as `margent g2p align` does."""
    probabilities = transcriber.joint_.unit_probabilities()
    found = []
    for number in (-probabilities).argsort(kind="stable")[:top].tolist():
        letters, phonemes = transcriber.joint_.unit(number)
        found.append((f"{''.join(letters) or '-'}:{'+'.join(phonemes) or '-'}", float(probabilities[number])))
    return found


def _summary(transcriber: Transcriber, path: str) -> dict[str, Any]:
    import numpy as np

    from margent.models.transcriber.direct_decoding import DirectDecoder

    model, weights = transcriber.joint_, transcriber.decoder_
    parameters = transcriber.get_params(deep=False)
    for name in ("em", "learner", "search"):
        value = transcriber.resolved(name)
        known = dataclasses.is_dataclass(value) and not isinstance(value, type)
        parameters[name] = {"name": type(value).__name__, **dataclasses.asdict(value)} if known else None
    return {
        "model": path,
        "kind": "transcriber",
        "bytes": os.path.getsize(path),
        "letters": transcriber.letters_,
        "phonemes": transcriber.phonemes_,
        "order": model.order,
        "units": model.n_units,
        "grams": model.grams_by_order(),
        "discounts": None if model.discounts is None else model.discounts.tolist(),
        "direct": isinstance(weights, DirectDecoder),
        "learned_weights": None if weights is None else len(weights.weights),
        "learned_weights_not_zero": None if weights is None else int(np.count_nonzero(weights.weights)),
        "parameters": parameters,
        "steps": len(transcriber.history_),
        "skipped": transcriber.n_skipped_,
        "interrupted": transcriber.interrupted_,
    }


def _print_summary(summary: dict[str, Any]) -> None:
    parameters = summary["parameters"]
    others = [
        f"{name}={value}"
        for name, value in parameters.items()
        if name not in ("order", "em", "learner", "search") and value is not None
    ]
    others += [f"{name}={value}" for name, value in parameters["search"].items() if name != "name"]
    discounts = summary["discounts"]
    lines = {
        "model": f"{summary['model']} ({summary['bytes'] / 1e6:.1f} MB)",
        "kind": f"transcriber of order {summary['order']}",
        "letters": f"{len(summary['letters'])}: {_shortened(summary['letters'])}",
        "phonemes": f"{len(summary['phonemes'])}: {_shortened(summary['phonemes'])}",
        "units": f"{summary['units']:,}",
        "grams": ", ".join(f"{count:,} of {k}" for k, count in enumerate(summary["grams"], 1)),
        "discounts": "none"
        if discounts is None or discounts == [[0.0] * 3]
        else ", ".join("/".join(f"{d:.2f}" for d in row) for row in discounts),
        "weights": "none: the joint model decides"
        if summary["learned_weights"] is None
        else f"{summary['learned_weights']:,} to "
        f"{'search by' if summary['direct'] else 'put candidates in order'}, of which "
        f"{summary['learned_weights_not_zero']:,} are not zero",
        "em": _told(parameters["em"]),
        "learner": _told(parameters["learner"]),
        "settings": ", ".join(others),
        "training": f"{summary['steps']} steps, {summary['skipped']} entries left out"
        + (", interrupted" if summary["interrupted"] else ""),
    }
    for name, line in lines.items():
        print(f"{name:9} {line}")


def _told(learner: dict[str, Any] | None) -> str:
    if learner is None:
        return "none"
    return f"{learner['name']}({', '.join(f'{name}={value}' for name, value in learner.items() if name != 'name')})"


def _shortened(items: list[str]) -> str:
    return " ".join(items[:40]) + (f" and {len(items) - 40} more" if len(items) > 40 else "")
