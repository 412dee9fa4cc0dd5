"""`margent segment train`: from recordings and label files to a model."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


def segment_learners() -> dict[str, Any]:
    """Those that work on segments, by name."""
    from margent.learners import LEARNERS, MaximumLikelihood

    kinds = {name: kind for name, kind in LEARNERS.items() if name not in ("hmm", "latent-svm", "spectral")}
    return {**kinds, "likelihood": MaximumLikelihood}


def train(arguments: argparse.Namespace) -> int:
    from margent.cli.data_files import check_model_target, number_of
    from margent.cli.recordings import LabelReader, find_recordings, front_end_of, read_folded
    from margent.cli.reports import segment_json
    from margent.cli.train import EpochTable, Printer, interruption
    from margent.metrics import segment_scores

    if arguments.model is None:
        raise UsageError("'margent segment train' needs -m MODEL, where to save the model")
    segmenter = _chosen_segmenter(arguments)
    if getattr(segmenter.learner, "patience", None) is not None and arguments.dev is None:
        raise UsageError("--patience watches the development data: give --dev PATH")
    check_model_target(arguments.model)
    reader = LabelReader.of(arguments)
    recordings = find_recordings(arguments.files)
    watched = find_recordings(arguments.dev or [])
    front_end = front_end_of([*recordings, *watched], arguments.frame, arguments.rate, not arguments.no_normalise)
    X, y = read_folded(recordings, front_end, reader, arguments.fold)
    X_dev, y_dev = read_folded(watched, front_end, reader, arguments.fold) if watched else (None, None)
    say = Printer(quiet=arguments.json)
    say(f"{_counted(X)} to learn from" + (f", {_counted(X_dev)} to watch" if X_dev else ""))
    started = time.perf_counter()
    table = EpochTable(say, with_dev=X_dev is not None)
    progress = False if arguments.json else None
    segmenter.fit(X, y, X_dev=X_dev, y_dev=y_dev, callbacks=[table.add], progress=progress)
    segmenter.with_front_end(front_end.stored())
    seconds = time.perf_counter() - started
    segmenter.save(arguments.model)
    report = None
    if y_dev is not None and not any(isinstance(row[0], str) for row in y_dev if row):
        report = segment_scores(y_dev, segmenter.predict(X_dev), frame=front_end.frame)
    size = os.path.getsize(arguments.model)
    if arguments.json:
        summary = {
            "model": arguments.model,
            "bytes": size,
            "recordings": len(X),
            "frames": sum(map(len, X)),
            "labels": segmenter.classes_.tolist(),
            "weights": len(segmenter.weights_.weights),
            "seconds": seconds,
            "epochs": segmenter.history_,
            "best_epoch": segmenter.best_epoch_,
            "interrupted": segmenter.interrupted_,
            "dev": None if report is None else segment_json(report),
        }
        say.always(json.dumps(summary, indent=2, ensure_ascii=False))
        return 130 if segmenter.interrupted_ else 0
    if segmenter.interrupted_:
        say(interruption(segmenter))
    if report is not None:
        best = f" (epoch {segmenter.best_epoch_})" if segmenter.best_epoch_ is not None else ""
        say(f"\non the development data{best}:\n\n{report}")
    labels = number_of(len(segmenter.classes_), "label")
    weights = f"{len(segmenter.weights_.weights):,} weights"
    say(f"saved {arguments.model}: {labels}, {weights}, {size / 1e6:.1f} MB, trained in {seconds:.1f} s")
    return 130 if segmenter.interrupted_ else 0


def _chosen_segmenter(arguments: argparse.Namespace) -> Segmenter:
    from margent.cli.learner_options import chosen_learner
    from margent.features.frame_map import FrameFeatures
    from margent.models.segmenter.options import Durations, SegmentCosts
    from margent.models.segmenter.segmenter import Segmenter

    if arguments.learner is None:  # as Segmenter() has it, which the options then change
        arguments.learner = "ssvm"
        arguments.learner_method = arguments.learner_method or "subgradient"
        arguments.learner_C = arguments.learner_C or "0.001"
    seen = {name: getattr(arguments, name) for name in ("bins", "components", "covariance", "content")}
    seen = {name: value for name, value in seen.items() if value is not None}
    costs = {name: getattr(arguments, f"{name}_cost") for name in ("frame", "boundary")}
    learner = chosen_learner(arguments, segment_learners())
    if arguments.no_start and arguments.learner == "likelihood":
        raise UsageError("--no-start would leave the learner likelihood nothing to do")
    try:
        features = FrameFeatures(durations=None if arguments.no_durations else "gamma", **seen)
        durations = Durations(arguments.min_duration, arguments.max_duration)
        mistakes = SegmentCosts(**{name: cost for name, cost in costs.items() if cost is not None})
    except ValueError as error:
        raise UsageError(str(error)) from None
    return Segmenter(
        features,
        learner,
        start=None if arguments.no_start else "auto",
        repeat=not arguments.no_repeat,
        transitions=not arguments.no_transitions,
        threads=arguments.threads,
        durations=durations,
        costs=mistakes,
        seed=arguments.seed or 0,
    )


def _counted(X: Sequence[Any]) -> str:
    from margent.cli.data_files import number_of

    return f"{number_of(len(X), 'recording')} ({number_of(sum(map(len, X)), 'frame')})"
