"""`margent inspect` of a segmenter."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


def run(segmenter: Segmenter, arguments: argparse.Namespace) -> int:
    """Prints what the segmenter is and what it has learned."""
    from margent.cli.inspect import print_weights, training_line, weights_as_json

    if arguments.support or arguments.plot:
        raise UsageError("--support and --plot are for taggers with support sequences, and this is a segmenter")
    labels = arguments.label or segmenter.classes_.tolist()
    features = {label: segmenter.top_features(label, arguments.top) for label in labels}
    transitions = segmenter.top_transitions(arguments.top) if segmenter.transitions else []
    summary = _summary(segmenter, arguments.model)
    if arguments.json:
        whole_model = {
            **summary,
            "history": segmenter.history_,
            **weights_as_json(features, transitions),
        }
        print(json.dumps(whole_model, indent=2, ensure_ascii=False))
        return 0
    if not arguments.label:
        _print_summary(summary, training_line(summary, segmenter.history_))
    print_weights(features, [] if arguments.label else transitions)
    return 0


def _summary(segmenter: Segmenter, path: str) -> dict[str, Any]:
    import numpy as np

    from margent.features.frame_map import FrameMap

    feature_map, weights = segmenter.feature_map_, segmenter.weights_
    seen: dict[str, Any] = {"kind": feature_map.kind}
    if isinstance(feature_map, FrameMap):
        seen |= {"values": feature_map.n_dimensions, **feature_map.stored()[0]["frame_features"]}
    else:
        given = feature_map.features  # type: ignore[attr-defined]
        seen |= {
            **{name: list(getattr(given, name)) for name in ("inside", "first", "last", "before", "after")},
            "string": given.string,
            "names": {name: len(entries) for name, entries in given.names.items()},
            "similar": given.similar,
            "functions": len(given.functions),
            "features": len(feature_map.ids),  # type: ignore[attr-defined]
        }
    parameters = segmenter.get_params(deep=False)
    del parameters["features"]
    for name in ("learner", "start", "costs", "durations"):
        value = segmenter.resolved(name)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            parameters[name] = {"name": type(value).__name__, **dataclasses.asdict(value)}
    limits = weights.limits
    return {
        "model": path,
        "kind": "segmenter",
        "bytes": os.path.getsize(path),
        "labels": list(limits.labels),
        "shortest": limits.shortest.tolist(),
        "longest": limits.longest.tolist(),
        "features": seen,
        "weights": len(weights.weights),
        "weights_not_zero": int(np.count_nonzero(weights.weights)),
        "parameters": parameters,
        "front_end": segmenter.front_end_,
        "epochs": len(segmenter.history_),
        "best_epoch": segmenter.best_epoch_,
        "interrupted": segmenter.interrupted_,
    }


def _print_summary(summary: dict[str, Any], training: str) -> None:
    labels, seen, parameters = summary["labels"], summary["features"], summary["parameters"]
    durations = [f"{name} {low} to {high}" for name, low, high in zip(labels, summary["shortest"], summary["longest"])]
    learner = parameters["learner"]
    settings = ", ".join(f"{name}={value}" for name, value in learner.items() if name != "name")
    others = [
        f"{name}={value}"
        for name, value in parameters.items()
        if name not in ("learner", "durations") and value is not None and not isinstance(value, dict)
    ]
    unit = seen["kind"]
    front_end = summary["front_end"]
    made = "" if front_end is None else f", one each {front_end.get('frame')} s"
    if front_end is not None and front_end.get("rate"):
        made += f" of sound at {front_end['rate']} Hz"
    lines = {
        "model": f"{summary['model']} ({summary['bytes'] / 1e6:.1f} MB)",
        "kind": f"segmenter of {unit}",
        "labels": f"{len(labels)}: {_shortened(labels, ' ')}",
        "durations": f"in {unit}: {_shortened(durations, ', ')}",
        "input": f"frames of {seen['values']} values{made}" if unit == "frames" else "tokens",
        "features": ", ".join(f"{name}={value}" for name, value in seen.items() if name not in ("kind", "values")),
        "weights": f"{summary['weights']:,}, of which {summary['weights_not_zero']:,} are not zero",
        "learner": f"{learner['name']}({settings})",
        "settings": ", ".join(others),
        "training": training,
    }
    for name, line in lines.items():
        print(f"{name:9} {line}")


def _shortened(items: list[str], between: str) -> str:
    return between.join(items[:40]) + (f" and {len(items) - 40} more" if len(items) > 40 else "")
