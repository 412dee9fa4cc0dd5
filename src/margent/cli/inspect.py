"""`margent inspect`: show what a model is and what it has learned."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from textwrap import indent
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.data_files import check_plot_target
from margent.cli.options import whole
from margent.cli.tagger_options import hidden_labels

if TYPE_CHECKING:
    from margent.features.kernel_map import KernelMap
    from margent.models.tagger.support import SupportSequences
    from margent.models.tagger.tagger import Tagger

_EXAMPLES = """\
examples:
  margent inspect model.margent
  margent inspect model.margent --label B-PER --top 20
  margent inspect model.margent --json > model.json
  margent inspect model.margent --support 3 --plot support.png
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Show what a model is, the features that speak most for each label, and the transitions."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file")
    add("--label", metavar="L", action="append", help="only the features of this label (may be repeated)")
    add("--top", type=whole(1), default=5, metavar="N", help="how many features and transitions (default: 5)")
    add(
        "--support",
        type=whole(0),
        metavar="N",
        help="training sentences to show with their support sequences, those "
        "that were hardest to learn (models of hmsvm and dual-perceptron; default: 1)",
    )
    add("--plot", metavar="FILE", help="draw the support sequences of the hardest sentence")
    add("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> int:
    from margent.models import Segmenter, Transcriber, load

    if arguments.plot is not None:
        check_plot_target(arguments.plot)
    tagger = load(arguments.model)
    if isinstance(tagger, Segmenter):
        from margent.cli import inspect_segmenter

        return inspect_segmenter.run(tagger, arguments)
    if isinstance(tagger, Transcriber):
        from margent.cli import inspect_transcriber

        return inspect_transcriber.run(tagger, arguments)
    support = _support(tagger, arguments)
    labels = arguments.label or [str(name) for name in tagger.classes_]
    features = {label: tagger.top_features(label, arguments.top) for label in labels}
    transitions = [] if _k_grams(tagger) else tagger.top_transitions(arguments.top)
    summary = _summary(tagger, arguments.model)
    if arguments.json:
        whole_model = {
            **summary,
            "history": tagger.history_,
            **weights_as_json(features, transitions),
            "support": [
                {
                    "sentence": sentence.number,
                    "tokens": sentence.tokens,
                    "gold": sentence.gold,
                    "sequences": [sequence._asdict() for sequence in sentence.sequences],
                }
                for sentence in support
            ],
        }
        print(json.dumps(whole_model, indent=2, ensure_ascii=False))
        return 0
    if not arguments.label:
        _print_summary(summary, tagger.history_)
    print_weights(features, [] if arguments.label else transitions)
    if support and (arguments.support or not arguments.label):
        print("\nsupport sequences:")
        print(indent("\n\n".join(map(str, support)), "  "))
    return 0


Features = dict[str, list[tuple[str, float]]]
Transitions = list[tuple[str, str, float]]


def weights_as_json(features: Features, transitions: Transitions) -> dict[str, Any]:
    """The heaviest features of each label, and the heaviest transitions."""
    return {
        "top_features": {
            label: [{"feature": name, "weight": weight} for name, weight in rows] for label, rows in features.items()
        },
        "top_transitions": [{"from": left, "to": right, "weight": weight} for left, right, weight in transitions],
    }


def print_weights(features: Features, transitions: Transitions) -> None:
    for label, rows in features.items():
        if rows:
            print(f"\nfeatures of {label}:")
        for name, weight in rows:
            print(f"  {weight:+10.3f}  {name}")
    if transitions:
        print("\ntransitions:")
        width = max(len(left) for left, _, _ in transitions)
        for left, right, weight in transitions:
            print(f"  {weight:+10.3f}  {left:{width}} -> {right}")


def _support(tagger: Tagger, arguments: argparse.Namespace) -> list[SupportSequences]:
    """The sentences to show, drawn on the way if a picture is wanted."""
    known = tagger.model_.support
    if known is None or not len(known):
        if arguments.support or arguments.plot:
            raise UsageError(
                "--support and --plot are for models with support sequences, and this one has none: they come with the "
                "learners hmsvm and dual-perceptron, and are not in a compact model file"
            )
        return []
    if arguments.plot is not None:
        tagger.support_sequences(known.heaviest(1)[0]).plot(arguments.plot)
    wanted = 1 if arguments.support is None else arguments.support
    return [tagger.support_sequences(number) for number in known.heaviest(wanted)]


def _summary(tagger: Tagger, path: str) -> dict[str, Any]:
    import numpy as np

    from margent.features.kernel_map import KernelMap

    arrays = tagger.weights_.stored(half=False)[1]
    weights = [array for array in arrays.values() if array.dtype.kind == "f"]
    parameters = tagger.get_params(deep=False)
    learner = tagger.resolved("learner")
    parameters["learner"] = {"name": type(learner).__name__}
    costs = tagger.label_costs or {}
    parameters["label_costs"] = {" ".join(k) if isinstance(k, tuple) else k: v for k, v in costs.items()} or None
    for name in ("hidden", "search"):
        value = tagger.resolved(name)
        if dataclasses.is_dataclass(value):
            parameters[name] = {"name": type(value).__name__, **dataclasses.asdict(value)}  # type: ignore[arg-type]
    seen = tagger.resolved("features")
    parameters |= {"features": seen.source, "min_count": seen.min_count, "layout": seen.layout}
    if dataclasses.is_dataclass(learner) and not isinstance(learner, type):
        parameters["learner"] |= dataclasses.asdict(learner)
    kernel = tagger.feature_map_ if isinstance(tagger.feature_map_, KernelMap) else None
    templates = getattr(tagger.feature_map_ if kernel is None else kernel.inner, "templates", None)
    if kernel is not None:
        parameters["features"] = "kernel"
    elif parameters["features"] is None:
        parameters["features"] = tagger.feature_map_.kind if templates is None else "generic"
    elif not isinstance(parameters["features"], str):
        parameters["features"] = "templates of its own" if templates is not None else "function"
    return {
        "model": path,
        "kind": "tagger",
        "bytes": os.path.getsize(path),
        "labels": [str(name) for name in tagger.classes_],
        "scheme": tagger.scheme_,
        "feature_map": tagger.feature_map_.kind,
        "kernel": None if kernel is None else _kernel(kernel),
        "k_grams": _k_grams(tagger),
        "hidden_labels": hidden_labels(tagger),
        "templates": None if templates is None else list(templates.lines),
        "input_columns": tagger.feature_map_.n_columns if tagger.feature_map_.takes == "tokens" else None,
        "features": tagger.feature_map_.n_unigrams,
        "edge_features": tagger.feature_map_.n_edges,
        "weights": sum(int(array.size) for array in weights),
        "weights_not_zero": sum(int(np.count_nonzero(array)) for array in weights),
        "parameters": parameters,
        "epochs": len(tagger.history_),
        "best_epoch": tagger.best_epoch_,
        "interrupted": tagger.interrupted_,
        "temperature": tagger.temperature_,
        "calibrated": tagger.calibrated_,
        "support_sequences": None if tagger.model_.support is None else len(tagger.model_.support),
    }


def _k_grams(tagger: Tagger) -> dict[str, Any] | None:
    """What a tagger of symbols scores; `size`: in how many numbers that can be written, as factors of the rank."""
    from margent.models.tagger.k_grams.weights import KGramWeights

    weights = tagger.weights_
    if not isinstance(weights, KGramWeights):
        return None
    table, model = weights.table, weights.operators
    ranked = bool(tagger.history_) and tagger.history_[-1].get("rank") is not None
    rank = model.n_states if model is not None else table.rank() if ranked else None
    return {
        "lengths": [length for length in table.scores if length],
        "pairs": len(table.bi_symbols) - (weights.n_borders > 0),  # without the border
        "scores": table.n_scores,
        "rank": rank,
        "states": None if model is None else model.n_states,
        "size": table.size(rank) if model is None else model.n_parameters,
    }


def _kernel(kernel: KernelMap) -> dict[str, Any]:
    """What the kernel is, and what it keeps of the training data."""
    stored = kernel.stored()[0]["kernel"]
    gamma, inner, seen = stored.pop("used_gamma"), stored.pop("inner"), stored.pop("features")
    if isinstance(seen, dict):
        seen = "templates of its own"
    elif seen is None:
        seen = "function" if kernel.inner.needs_function else "spelling" if inner == "templates" else inner
    return {
        **{name: value for name, value in stored.items() if name != "function"},
        "kind": stored.get("function", stored["kind"]),
        "gamma": gamma,
        "features": seen,
        "support_observations": kernel.n_unigrams,
        "support_tokens": kernel.n_tokens,
    }


def _print_summary(summary: dict[str, Any], history: list[dict[str, Any]]) -> None:
    labels = summary["labels"]
    shown = " ".join(labels[:40]) + (f" and {len(labels) - 40} more" if len(labels) > 40 else "")
    parameters = summary["parameters"]
    learner = parameters["learner"]
    settings = ", ".join(f"{name}={value}" for name, value in learner.items() if name != "name")
    others = [
        f"{name}={value}"
        for name, value in parameters.items()
        if name not in ("features", "learner", "scheme") and value not in (None, False)
    ]
    lines = {
        "model": f"{summary['model']} ({summary['bytes'] / 1e6:.1f} MB)",
        "kind": f"{summary['kind']} of order {parameters['order']}",
        "labels": f"{len(labels)}: {shown}",
        "scheme": summary["scheme"] or "none (labels that spell no spans)",
        "input": _input(summary),
        "features": f"{summary['features']:,} for one label, {summary['edge_features']:,} for pairs of labels",
        **({} if summary["kernel"] is None else _kernel_lines(summary["kernel"])),
        "weights": f"{summary['weights']:,}, of which {summary['weights_not_zero']:,} are not zero",
        "learner": f"{learner['name']}({settings})",
        "settings": ", ".join(others),
        "training": training_line(summary, history),
        "certainty": f"{'' if summary['calibrated'] else 'not '}calibrated, temperature {summary['temperature']:.4g}",
    }
    if summary["k_grams"] is not None:
        lines |= _k_gram_lines(summary)
    if summary["hidden_labels"] is not None:
        lines["labels"] += _hidden_line(summary["hidden_labels"])
    for name, line in lines.items():
        print(f"{name:9} {line}")


def _k_gram_lines(summary: dict[str, Any]) -> dict[str, str]:
    k_grams = summary["k_grams"]
    lengths = " and ".join(map(str, k_grams["lengths"]))
    low = ""
    if k_grams["states"] is not None:
        low = f", given by operators with {k_grams['states']} hidden states: {k_grams['size']:,} numbers"
    elif k_grams["rank"] == 0:
        low = ", all of them 0"
    elif k_grams["rank"] is not None:
        low = f"; of rank {k_grams['rank']}, they can be written in {k_grams['size']:,}"
    return {
        "kind": f"{summary['kind']} of pieces of {lengths} symbols with their labels",
        "features": f"{summary['features']:,} symbols, {k_grams['pairs']:,} pairs of a symbol and a label",
        "weights": f"{k_grams['scores']:,} scores of pieces{low}",
    }


def _hidden_line(sizes: dict[str, int]) -> str:
    """What labels are split into: the number that all have, or each label that has more than one."""
    if len(set(sizes.values())) == 1:
        return f"; each split into {next(iter(sizes.values()))} hidden ones"
    split = [f"{name} into {size}" for name, size in sizes.items() if size > 1]
    return f"; split are {', '.join(split[:40])}" + (f" and {len(split) - 40} more" if len(split) > 40 else "")


def _kernel_lines(kernel: dict[str, Any]) -> dict[str, str]:
    settings = ", ".join(f"{name}={kernel[name]:.4g}" for name in ("degree", "gamma", "coef0", "window"))
    observations, tokens = kernel["support_observations"], kernel["support_tokens"]
    return {
        "kernel": f"{kernel['kind']}({settings}) over {kernel['features']}",
        "features": f"{observations:,} support observations of {tokens:,} different tokens",
    }


def _input(summary: dict[str, Any]) -> str:
    if summary["input_columns"] is None:
        return str(summary["feature_map"])
    columns, features = summary["input_columns"], summary["parameters"]["features"]
    return f"{columns} column{'s' if columns != 1 else ''} besides the label, features: {features}"


def training_line(summary: dict[str, Any], history: list[dict[str, Any]]) -> str:
    """How the training went."""
    if not history:
        return "no epoch was finished"
    best = summary["best_epoch"]
    last = history[-history[-1]["epoch"] :]  # of the last training, where others went before
    row = last[best - 1] if best is not None and best <= len(last) else last[-1]
    text = f"{len(history)} epoch{'s' if len(history) != 1 else ''}"
    text += f", {sum(epoch['seconds'] for epoch in history):.2f} s"
    if row["accuracy"] is not None:
        text += f", accuracy while learning {100 * row['accuracy']:.2f} %"
    if row.get("objective") is not None:
        text += f", objective {row['objective']:.2f}"
    if row.get("gap") is not None:
        text += f", gap {row['gap']:.2g} (wanted: {summary['parameters']['learner']['gap']:.2g})"
    if row.get("dev_score") is not None:
        text += f"; epoch {row['epoch']} was best on the development data with {100 * row['dev_score']:.2f}"
    return text + ("; interrupted" if summary["interrupted"] else "")
