"""One training, in a process of its own: from the description of a task to its figures."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import margent
from margent.annotation import Segmentation, Span, labels_of, spans
from margent.datasets import (
    TIMIT_39,
    Dataset,
    Part,
    load_conll2002,
    load_russian_speech,
    load_timit,
    load_wnut17,
    make_series,
)
from margent.metrics import SegmentReport, segment_scores, span_scores
from papers.experiment import Result, Task, generated_addresses
from papers.semi_markov.plan import MODELS

TIMIT_FOLDER = "MARGENT_TIMIT"
"""The variable that says where TIMIT is, for the processes of a run."""
WORD = ("word", "lower", "short_shape", "capitalisation", "digits", "prefix3", "suffix3")
"""What taggers and segmenters see of a word, of the one before it and of the one after it."""
FOLDS: dict[str, Any] = {"timit": TIMIT_39}


def _series(sizes: Sequence[int]) -> Dataset:
    X, y, _ = make_series(sum(sizes), seed=1)
    ends = [sum(sizes[: i + 1]) for i in range(3)]
    parts = [Part(X[end - size : end], y[end - size : end]) for size, end in zip(sizes, ends)]
    return Dataset("series", *parts, description="Generated series.", terms="")


@lru_cache(maxsize=1)
def corpus(name: str, sizes: tuple[int, ...] = ()) -> Dataset:
    if name == "series":
        return _series(sizes)
    if name == "timit":
        return load_timit(os.environ.get(TIMIT_FOLDER))
    loaders = {
        "speech-ru-festvox": load_russian_speech,
        "conll2002-esp": load_conll2002,
        "wnut17": load_wnut17,
        "addresses": lambda: generated_addresses(400, 100, 150),
    }
    return loaders[name]()


def run_training(task: Task) -> Result:
    """Trains a model, watched on the development data, and tries it on the test data only if the task says so."""
    return _run_tokens(task) if task["part"] == "tokens" else _run_frames(task)


# Segments of frames


def segmenter(task: Task, train: Sequence[Segmentation]) -> margent.Segmenter:
    """As the task says, for these training segments."""
    model = MODELS[task["model"]]
    features = margent.FrameFeatures(
        bins=1 if model.frames or not model.binned else task["bins"],
        components=task["mixtures"],
        durations="gamma" if model.durations and not model.frames else None,
        content="mean" if model.averaged else "sum",
    )
    learner: Any = margent.MaximumLikelihood()
    if model.learner != "likelihood":
        warm_start, C = task["steps"]
        learner = margent.StructuredSVM(C=C, method="subgradient", warm_start=warm_start, epochs=task["passes"])
    return margent.Segmenter(
        features,
        learner,
        transitions=model.transitions,
        calibration=0,
        threads=task["threads"],
        durations=margent.Durations(max=1 if model.frames else longest(train, task["longest"])),
        costs=margent.SegmentCosts(frame=0.0 if model.learner == "perceptron" else 1.0),
    )


def longest(segmentations: Sequence[Segmentation], at_most: int | None) -> dict[str, int]:
    """R of the paper: how long segments of each label last in training, but `at_most` so long."""
    found: dict[str, int] = {}
    for segments in segmentations:
        for start, end, label in segments:
            found[label] = max(found.get(label, 1), end - start)
    return found if at_most is None else {label: min(d, at_most) for label, d in found.items()}


def cut(segments: Segmentation, limits: int | dict[str, int]) -> Segmentation:
    """Segments that are too long as several of nearly the same length; with the limit 1, a segment for each frame."""
    pieces = []
    for start, end, label in segments:
        limit = limits if isinstance(limits, int) else limits[label]
        n = -(-(end - start) // limit)
        boundaries = [start + (end - start) * i // n for i in range(n + 1)]
        pieces += [Span(a, b, label) for a, b in pairwise(boundaries)]
    return pieces


def joined(segments: Segmentation, limits: int | dict[str, int]) -> Segmentation:
    """The other way: neighbours with the same label that together are longer than one segment can be become one."""
    found: Segmentation = []
    for start, end, label in segments:
        limit = limits if isinstance(limits, int) else limits[label]
        if found and found[-1].label == label and end - found[-1].start > limit:
            found[-1] = Span(found[-1].start, end, label)
        else:
            found.append(Span(start, end, label))
    return found


def _run_frames(task: Task) -> Result:
    """`dev`: its phone error rate, by pass in `passes`; `test`: scores, with errors and phones of each utterance."""
    data = corpus(task["corpus"], tuple(task["sizes"]))
    assert data.dev is not None and data.test is not None
    train, dev, test = _first(data.train, task["n_train"]), data.dev, _first(data.test, task["n_test"])
    fold, model = FOLDS.get(task["corpus"]), segmenter(task, train.y)
    limits: Any = model.durations.max

    def scores(gold: Any, predicted: list[Segmentation]) -> SegmentReport:
        return segment_scores(gold, [joined(segments, limits) for segments in predicted], label_map=fold)

    watched: dict[str, Any] = {}
    if MODELS[task["model"]].learner != "likelihood":
        metric = lambda gold, predicted: -scores(gold, predicted).phone_error_rate  # noqa: E731
        watched = {"X_dev": dev.X, "y_dev": dev.y, "dev_metric": metric}
    started = time.process_time()
    model.fit(train.X, [cut(segments, limits) for segments in train.y], progress=False, **watched)
    trained = time.process_time() - started
    if model.interrupted_:  # a half training is not a result
        raise KeyboardInterrupt
    began, started = time.perf_counter(), time.process_time()
    found = model.predict(dev.X)
    seconds, cpu = time.perf_counter() - began, time.process_time() - started
    result: Result = {
        "dev": scores(dev.y, found).phone_error_rate,
        "passes": [-epoch["dev_score"] for epoch in model.history_],
        "best_pass": model.best_epoch_,
        "pass_seconds": [epoch["seconds"] for epoch in model.history_],
        "cpu_seconds": trained,
        "train_frames": sum(map(len, train.X)),
        "predict_frames": sum(map(len, dev.X)),
        "predict_seconds": seconds,
        "predict_cpu_seconds": cpu,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if task["test"]:
        found = model.predict(test.X)
        report = scores(test.y, found)
        each = [scores([gold], [guess]).edits for gold, guess in zip(test.y, found)]
        result["test"] = {
            "phone_error": report.phone_error_rate,
            "boundary_f1": report.boundaries.f1,
            "r_value": report.r_value,
            "frame_accuracy": report.frame_accuracy,
            "segment_f1": report.f1,
            "counts": [[edits.errors, edits.gold] for edits in each],
        }
    return result


def _first(part: Part, n: int | None) -> Part:
    return Part(list(part.X)[:n], list(part.y)[:n])


# Segments of tokens


def token_model(task: Task) -> Any:
    """A tagger or a segmenter that sees the same of words; in a segment each word, its ends and its neighbours."""
    learner = margent.PassiveAggressive(C=task["C"], epochs=task["epochs"])
    if task["model"] == "tagger":
        lines = [
            f"U{column}[{place:+}]=%x[{place},0{'' if column == 'word' else '.' + column}]"
            for place in (-1, 0, 1)
            for column in WORD
        ]
        return margent.Tagger(margent.Templates([*lines, "B"]), learner, calibration=0, threads=task["threads"])
    whole = task["model"] == "segmenter"
    features = margent.TokenFeatures(
        inside=WORD, first=WORD, last=WORD, before=WORD, after=WORD, string=whole, durations=whole
    )
    return margent.Segmenter(features, learner, outside="O", calibration=0, threads=task["threads"])


def _run_tokens(task: Task) -> Result:
    """F1 of entities, `dev` that of the best epoch; `test` only if the task says so."""
    data = corpus(task["corpus"])
    assert data.dev is not None and data.test is not None
    parts = [_words(_first(part, task["n_sentences"])) for part in (data.train, data.dev, data.test)]
    model = token_model(task)
    tagger = task["model"] == "tagger"
    train, dev, test = parts if tagger else [Part(part.X, [spans(labels) for labels in part.y]) for part in parts]
    started = time.process_time()
    model.fit(*train, X_dev=dev.X, y_dev=dev.y, progress=False)
    result: Result = {
        "dev": max(epoch["dev_score"] for epoch in model.history_),
        "best_epoch": model.best_epoch_,
        "cpu_seconds": time.process_time() - started,
    }
    if model.interrupted_:
        raise KeyboardInterrupt
    if task["test"]:
        found = model.predict(test.X)
        if not tagger:
            found = [labels_of(segments, len(x)) for segments, x in zip(found, test.X)]
        result["test"] = span_scores(parts[2].y, found).f1
        result["counts"] = [_span_counts(*pair) for pair in zip(parts[2].y, found)]
    return result


def _span_counts(gold: Sequence[str], found: Sequence[str]) -> list[int]:
    """How many entities of a sentence are right, there, and found."""
    right, said = set(spans(gold)), set(spans(found))
    return [len(right & said), len(right), len(said)]


def _words(part: Part) -> Part:
    """The first column alone, without parts of speech."""
    return Part([[token if isinstance(token, str) else token[0] for token in x] for x in part.X], list(part.y))
