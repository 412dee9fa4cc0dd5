"""Which learner is the best default: every learner with its own defaults, on every public tagging set.

    python -m benchmarks.defaults [--tasks conll2000 ...] [--learners pa crf ...] [--features generic]

Trains on training data and scores on development data: the published development part, or the last fifth of the
training part where there is none. Test data are not touched. Prints a table, score and training seconds on one core,
and writes benchmarks/results/defaults.json with machine and commit; docs/choosing.md shows it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import margent
from benchmarks.machine import describe_machine
from margent.datasets import text as datasets

TASKS: dict[str, Callable[[], datasets.Dataset]] = {
    "conll2000": datasets.load_conll2000,
    "conll2002-esp": datasets.load_conll2002,
    "wnut17": datasets.load_wnut17,
    "ud-english-ewt": datasets.load_ud,
    "ud-chinese-gsd": lambda: datasets.load_ud("chinese-gsd"),
    "treebank-sample": datasets.load_treebank_sample,
    "nettalk": datasets.load_nettalk,
    "ocr-letters": datasets.load_ocr_letters,
}
LEARNERS = ("perceptron", "pa:k=1", "pa", "rpa", "mira:k=5", "sdm:C=0.1", "ssvm:C=0.1", "crf")
RESULTS = Path(__file__).parent / "results" / "defaults.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--learners", nargs="+", default=LEARNERS, metavar="NAME[:PARAM=VALUE,...]")
    parser.add_argument("--features", default=None, help="preset or template file for the text sets")
    parser.add_argument("--seeds", type=int, default=3, help="runs per cell with different seeds, averaged")
    parser.add_argument("--out", default=str(RESULTS))
    options = parser.parse_args()

    table: dict[str, dict[str, Any]] = {}
    for task in options.tasks:
        train, dev = split(TASKS[task]())
        table[task] = {name: measure(name, options, train, dev) for name in options.learners}
        row = "  ".join(f"{name} {cell['score']:.2f} ({cell['seconds']:.1f} s)" for name, cell in table[task].items())
        print(f"{task:16} {row}", flush=True)
    for name in options.learners:
        cells = [table[task][name] for task in options.tasks]
        mean, seconds = np.mean([c["score"] for c in cells]), sum(c["seconds"] for c in cells)
        print(f"{name:24} mean score {mean:6.2f}   seconds {seconds:7.1f}")
    results = {"machine": describe_machine(), "features": options.features, "seeds": options.seeds, "tasks": table}
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n")


def split(data: datasets.Dataset) -> tuple[datasets.Part, datasets.Part]:
    """Training and development data; the last fifth of the training part where no development part is published."""
    if data.dev is not None:
        return data.train, data.dev
    if data.folds is not None:
        held = data.hold_out(9).hold_out(8)  # fold 9 stays unseen, as test data
        assert held.test is not None
        return held.train, held.test
    cut = len(data.train.X) * 4 // 5
    return datasets.Part(data.train.X[:cut], data.train.y[:cut]), datasets.Part(data.train.X[cut:], data.train.y[cut:])


def measure(spec: str, options: argparse.Namespace, train: datasets.Part, dev: datasets.Part) -> dict[str, float]:
    """The score, in percent, and the seconds of training on one core, means over the seeds."""
    name, _, text = spec.partition(":")
    given = dict(pair.split("=", 1) for pair in text.split(",") if pair)
    learner = margent.learners.learner_named(name, **{key: json.loads(value) for key, value in given.items()})
    features = None if isinstance(train.X, list) else options.features
    if features is not None and features not in margent.features.PRESETS:
        features = margent.Templates.from_file(features)
    scores, seconds = [], []
    for seed in range(options.seeds):
        tagger = margent.Tagger(features=features, learner=learner, seed=seed, threads=1, calibration=0)
        started = time.process_time()
        tagger.fit(train.X, train.y, progress=False)
        seconds.append(time.process_time() - started)
        scores.append(100 * tagger.score(dev.X, dev.y))
    return {"score": float(np.mean(scores)), "deviation": float(np.std(scores)), "seconds": float(np.mean(seconds))}


if __name__ == "__main__":
    sys.exit(main())
