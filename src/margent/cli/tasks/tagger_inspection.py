"""`margent inspect` for taggers: labels, features, kernels, k-grams, hidden labels, support sequences."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.files import check_plot_target, first_of, listed
from margent.cli.tasks.tagger import hidden_labels
from margent.cli.tasks.task import Inspection, weight_parts, weights_json

if TYPE_CHECKING:
    from margent.features.kernel_map import KernelMap
    from margent.models.tagger.support import SupportSequences
    from margent.models.tagger.tagger import Tagger


def inspected(tagger: Tagger, arguments: argparse.Namespace) -> Inspection:
    """What `inspect` shows of a tagger."""
    support = _support(tagger, arguments)
    labels = arguments.label or [str(name) for name in tagger.classes_]
    features = {label: tagger.top_features(label, arguments.top) for label in labels}
    facts = _facts(tagger)
    transitions = [] if facts["k_grams"] is not None else tagger.top_transitions(arguments.top)
    parts = weight_parts(features, [] if arguments.label else transitions)
    if support and (arguments.support or not arguments.label):
        shown = [line for sentence in support for line in (*str(sentence).splitlines(), "")]
        parts.append(("support sequences:", shown[:-1]))
    sequences = [
        {
            "sentence": sentence.number,
            "tokens": sentence.tokens,
            "gold": sentence.gold,
            "sequences": [sequence._asdict() for sequence in sentence.sequences],
        }
        for sentence in support
    ]
    return Inspection(
        facts, _lines(tagger, facts), parts, {**weights_json(features, transitions), "support": sequences}
    )


def _support(tagger: Tagger, arguments: argparse.Namespace) -> list[SupportSequences]:
    """The sentences to show, drawn on the way if a picture is wanted."""
    if arguments.plot is not None:
        check_plot_target(arguments.plot)
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


def _facts(tagger: Tagger) -> dict[str, Any]:
    import numpy as np

    from margent.features.kernel_map import KernelMap

    arrays = tagger.weights_.stored(half=False)[1]
    weights = [array for array in arrays.values() if array.dtype.kind == "f"]
    feature_map, support = tagger.feature_map_, tagger.model_.support
    kernel = feature_map if isinstance(feature_map, KernelMap) else None
    templates = getattr(feature_map if kernel is None else kernel.inner, "templates", None)
    given = getattr(tagger.features, "source", tagger.features)
    costs = {" ".join(key) if isinstance(key, tuple) else key: x for key, x in (tagger.label_costs or {}).items()}
    if kernel is not None:
        named = "kernel"
    elif given is None:
        named = feature_map.kind if templates is None else "generic"
    elif not isinstance(given, str):
        named = "templates of its own" if templates is not None else "function"
    else:
        named = given
    return {
        "labels": [str(name) for name in tagger.classes_],
        "scheme": tagger.scheme_,
        "feature_map": feature_map.kind,
        "kernel": None if kernel is None else _kernel(kernel),
        "k_grams": _k_grams(tagger),
        "hidden_labels": hidden_labels(tagger),
        "templates": None if templates is None else list(templates.lines),
        "input_columns": feature_map.n_columns if feature_map.takes == "tokens" else None,
        "features": feature_map.n_unigrams,
        "edge_features": feature_map.n_edges,
        "weights": sum(int(array.size) for array in weights),
        "weights_not_zero": sum(int(np.count_nonzero(array)) for array in weights),
        "support_sequences": None if support is None else len(support),
        "parameters": {"features": named, "label_costs": costs or None},
    }


def _lines(tagger: Tagger, facts: dict[str, Any]) -> dict[str, str]:
    labels = facts["labels"]
    columns = facts["input_columns"]
    lines = {
        "kind": f"tagger of order {tagger.order}",
        "labels": f"{listed(labels)}{_hidden(facts['hidden_labels'])}",
        "scheme": facts["scheme"] or "none (labels that spell no spans)",
        "input": str(facts["feature_map"])
        if columns is None
        else f"{columns} column{'s' * (columns != 1)} besides the label, features: {facts['parameters']['features']}",
        "features": f"{facts['features']:,} for one label, {facts['edge_features']:,} for pairs of labels",
        "weights": f"{facts['weights']:,}, of which {facts['weights_not_zero']:,} are not zero",
    }
    if facts["kernel"] is not None:
        kernel = facts["kernel"]
        numbers = ", ".join(f"{name}={kernel[name]:.4g}" for name in ("degree", "gamma", "coef0", "window"))
        observations, tokens = kernel["support_observations"], kernel["support_tokens"]
        lines["kernel"] = f"{kernel['kind']}({numbers}) over {kernel['features']}"
        lines["features"] = f"{observations:,} support observations of {tokens:,} different tokens"
    return lines if facts["k_grams"] is None else lines | _k_gram_lines(facts)


def _k_grams(tagger: Tagger) -> dict[str, Any] | None:
    """What a tagger of symbols scores; `size`: in how many numbers that can be written, as factors of the rank."""
    from margent.spectral.weights import KGramWeights

    weights = tagger.weights_
    if not isinstance(weights, KGramWeights):
        return None
    table, model = weights.table, weights.operators
    ranked = bool(tagger.history_) and tagger.history_[-1].get("rank") is not None
    rank = model.n_states if model is not None else table.rank() if ranked else None
    return {
        "lengths": [length for length in table.scores if length],
        "pairs": len(table.bi_symbols) - (weights.n_boundaries > 0),  # without the boundary
        "scores": table.n_scores,
        "rank": rank,
        "states": None if model is None else model.n_states,
        "size": table.size(rank) if model is None else model.n_parameters,
    }


def _k_gram_lines(facts: dict[str, Any]) -> dict[str, str]:
    k_grams = facts["k_grams"]
    lengths = " and ".join(map(str, k_grams["lengths"]))
    low = ""
    if k_grams["states"] is not None:
        low = f", given by operators with {k_grams['states']} hidden states: {k_grams['size']:,} numbers"
    elif k_grams["rank"] == 0:
        low = ", all of them 0"
    elif k_grams["rank"] is not None:
        low = f"; of rank {k_grams['rank']}, they can be written in {k_grams['size']:,}"
    return {
        "kind": f"tagger of k-grams of {lengths} symbols with their labels",
        "features": f"{facts['features']:,} symbols, {k_grams['pairs']:,} pairs of a symbol and a label",
        "weights": f"{k_grams['scores']:,} scores of k-grams{low}",
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


def _hidden(sizes: dict[str, int] | None) -> str:
    """What labels are split into: the number that all have, or each label that has more than one."""
    if sizes is None:
        return ""
    if len(set(sizes.values())) == 1:
        return f"; each split into {next(iter(sizes.values()))} hidden ones"
    split = [f"{name} into {size}" for name, size in sizes.items() if size > 1]
    return f"; split are {first_of(split, ', ')}"
