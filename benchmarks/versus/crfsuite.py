"""Margent against python-crfsuite: the same features, the same data, one core, one run.

    python -m benchmarks.versus.crfsuite [--tasks conll2000 conll2002] [--jobs train tag start attributes pa]
                                         [--epochs 10] [--repeat 3] [--core 0]

Both sides get the features of CRF++'s example templates and learn by the averaged perceptron. Each measurement runs in
a process of its own, pinned to one core; the two sides take turns, and the best of the repeats counts for times. Prints
a table of ratios (above 1: Margent is better) and writes benchmarks/results/crfsuite.json with machine and commit.

What is measured
    epoch            seconds a pass over the training data takes, features ready
    train            from the training file to the model file, all included but starting Python
    tag text         from the test file to labels in memory
    tag ready        from encoded features to labels
    attributes       training from the same attribute lists in Python memory (no file, no templates)
    memory           peak of the training process
    model            size of the model file
    start            a new process that loads the model and tags one sentence
    f1               chunk F1 on the test file (conlleval), percent
    pa1, pa5         processor seconds a pass of the passive-aggressive learner takes, features ready: ours with the
                     best answer and with the 5 best, theirs (which knows only the best) in both rows

The conditional random field (lbfgs, l2sgd) has a benchmark of its own: python -m benchmarks.versus.crfsuite_crf
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine

TEMPLATES = {
    "conll2000": """
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
U10:%x[-2,1]
U11:%x[-1,1]
U12:%x[0,1]
U13:%x[1,1]
U14:%x[2,1]
U15:%x[-2,1]/%x[-1,1]
U16:%x[-1,1]/%x[0,1]
U17:%x[0,1]/%x[1,1]
U18:%x[1,1]/%x[2,1]
U20:%x[-2,1]/%x[-1,1]/%x[0,1]
U21:%x[-1,1]/%x[0,1]/%x[1,1]
U22:%x[0,1]/%x[1,1]/%x[2,1]
B
""",
}
TEMPLATES["conll2002"] = TEMPLATES["conll2000"]
FILES = {
    "conll2000": ("conll2000/train.txt.gz", "conll2000/test.txt.gz"),
    "conll2002": ("conll2002/esp.train.gz", "conll2002/esp.testb.gz"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(FILES), choices=list(FILES))
    jobs = list(dict.fromkeys(job for _, job in JOBS))
    parser.add_argument("--jobs", nargs="+", default=jobs, choices=jobs)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "crfsuite.json"))
    parser.add_argument("--worker", nargs=4, metavar=("SIDE", "JOB", "TASK", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        side, job, task, folder = options.worker
        result = JOBS[side, job](task, Path(folder), options.epochs)
        result["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return

    results: dict[str, Any] = {"machine": describe_machine(), "epochs": options.epochs, "tasks": {}}
    for task in options.tasks:
        results["tasks"][task] = compare(task, options)
        print_table(task, results["tasks"][task])
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nwritten to {os.path.relpath(options.out)}")


def data_path(name: str) -> Path:
    home = os.environ.get("MARGENT_DATA")
    if not home or not (Path(home) / name).exists():
        sys.exit(f"this benchmark needs {name} in the folder named by MARGENT_DATA")
    return Path(home) / name


def compare(task: str, options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """All measurements of one task: side to measure to value."""
    best: dict[str, dict[str, float]] = {"margent": {}, "crfsuite": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, source in zip(("train", "test"), FILES[task]):
            with gzip.open(data_path(source)) as stream:
                (folder / part).write_bytes(stream.read())
        for _ in range(options.repeat):
            for job in options.jobs:
                for side in best:
                    for measure, value in run_worker(side, job, task, folder, options).items():
                        if measure == "peak_mib" and job != "train":
                            continue
                        known = best[side].get(measure)
                        best[side][measure] = value if known is None else min(known, value)
    return best


def run_worker(side: str, job: str, task: str, folder: Path, options: argparse.Namespace) -> dict[str, float]:
    command = [
        sys.executable,
        "-m",
        __spec__.name,
        "--epochs",
        str(options.epochs),
        "--worker",
        side,
        job,
        task,
        str(folder),
    ]
    started = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, {options.core})
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        sys.exit(f"{side} {job} failed:\n{done.stderr}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if job == "start":
        result["start"] = seconds
    return result


ROWS = (
    ("epoch", "epoch", "ms", 1e3),
    ("train", "file to model", "s", 1),
    ("attributes", "attributes to model", "s", 1),
    ("tag_text", "tag, from text", "ms", 1e3),
    ("tag_ready", "tag, features ready", "ms", 1e3),
    ("start", "start, load, tag one", "ms", 1e3),
    ("peak_mib", "peak memory", "MiB", 1),
    ("model_mib", "model file", "MiB", 1),
    ("f1", "chunk F1", "%", 1),
    ("pa1", "pa epoch, k=1", "ms", 1e3),
    ("pa5", "pa epoch, k=5", "ms", 1e3),
)


def print_table(task: str, best: dict[str, dict[str, float]]) -> None:
    print(f"\n{task:24}{'margent':>12}{'crfsuite':>12}{'ratio':>9}")
    for measure, title, unit, scale in ROWS:
        if measure not in best["margent"]:
            continue
        ours, theirs = best["margent"][measure], best["crfsuite"][measure]
        ratio = ours / theirs if measure == "f1" else theirs / ours
        print(f"{title + ', ' + unit:24}{ours * scale:12.2f}{theirs * scale:12.2f}{ratio:9.2f}")


# Margent


def margent_train(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import margent

    started = time.perf_counter()
    learner = margent.Perceptron(epochs=epochs)
    tagger = margent.Tagger(features=margent.Templates(TEMPLATES[task]), learner=learner)
    tagger.fit(margent.read_columns(folder / "train"))
    tagger.save(folder / "model.margent")
    seconds = time.perf_counter() - started
    return {
        "train": seconds,
        "epoch": min(epoch["seconds"] for epoch in tagger.history_),
        "model_mib": (folder / "model.margent").stat().st_size / 2**20,
    }


def margent_tag(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import margent

    tagger = margent.load(folder / "model.margent")
    tagger.predict(margent.read_columns(folder / "test")[:10].split()[0])
    times = []
    for _ in range(5):
        started = time.perf_counter()
        X, y = margent.read_columns(folder / "test").split()
        predicted = tagger.predict(X)
        times.append(time.perf_counter() - started)
    encoded = tagger.feature_map_.encode(X)
    examples, chain = encoded.examples(), tagger.weights_.native()
    ready = []
    for _ in range(5):
        started = time.perf_counter()
        chain.best(examples, 1)
        ready.append(time.perf_counter() - started)
    return {"tag_text": min(times), "tag_ready": min(ready), "f1": chunk_f1(y, predicted)}


def margent_start(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import margent

    margent.load(folder / "model.margent").predict([[("the", "DT"), ("cat", "NN"), ("sleeps", "VBZ")]])
    return {}


def margent_attributes(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import margent

    X, y = attributes_of(task, folder / "train")
    started = time.perf_counter()
    margent.Tagger(features="attributes", learner=margent.Perceptron(epochs=epochs)).fit(X, y).save(folder / "model2")
    return {"attributes": time.perf_counter() - started}


def margent_pa(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import margent

    columns = margent.read_columns(folder / "train")
    result = {}
    for k in (1, 5):
        learner = margent.PassiveAggressive(epochs=epochs, k=k)
        ends: list[float] = []  # processor time, which is what crfsuite reports
        margent.Tagger(features=margent.Templates(TEMPLATES[task]), learner=learner).fit(
            columns, callbacks=[lambda _, ends=ends: ends.append(time.process_time())]
        )
        result[f"pa{k}"] = min(end - begin for begin, end in pairwise(ends))
    return result


# python-crfsuite


def crfsuite_trainer(epochs: int) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="ap", verbose=False)
    trainer.set_params({"max_iterations": epochs, "epsilon": 0.0})
    return trainer


def crfsuite_train(task: str, folder: Path, epochs: int) -> dict[str, float]:
    started = time.perf_counter()
    X, y = attributes_of(task, folder / "train")
    trainer = crfsuite_trainer(epochs)
    for sentence, labels in zip(X, y):
        trainer.append(sentence, labels)
    trainer.train(str(folder / "model.crfsuite"))
    seconds = time.perf_counter() - started
    return {
        "train": seconds,
        "epoch": min(float(i["time"]) for i in trainer.logparser.iterations),
        "model_mib": (folder / "model.crfsuite").stat().st_size / 2**20,
    }


def crfsuite_tag(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model.crfsuite"))
    times, ready = [], []
    for _ in range(3):
        started = time.perf_counter()
        X, y = attributes_of(task, folder / "test")
        predicted = [tagger.tag(sentence) for sentence in X]
        times.append(time.perf_counter() - started)
    items = [pycrfsuite.ItemSequence(sentence) for sentence in X]
    for _ in range(3):
        started = time.perf_counter()
        for sequence in items:
            tagger.tag(sequence)
        ready.append(time.perf_counter() - started)
    return {"tag_text": min(times), "tag_ready": min(ready), "f1": chunk_f1(y, predicted)}


def crfsuite_start(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model.crfsuite"))
    tagger.tag(expand([["the", "DT"], ["cat", "NN"], ["sleeps", "VBZ"]], compiled_templates(task)))
    return {}


def crfsuite_attributes(task: str, folder: Path, epochs: int) -> dict[str, float]:
    X, y = attributes_of(task, folder / "train")
    started = time.perf_counter()
    trainer = crfsuite_trainer(epochs)
    for sentence, labels in zip(X, y):
        trainer.append(sentence, labels)
    trainer.train(str(folder / "model2.crfsuite"))
    return {"attributes": time.perf_counter() - started}


def crfsuite_pa(task: str, folder: Path, epochs: int) -> dict[str, float]:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="pa", verbose=False)
    trainer.set_params({"max_iterations": epochs, "epsilon": 0.0, "c": 1.0})
    for sentence, labels in zip(*attributes_of(task, folder / "train")):
        trainer.append(sentence, labels)
    trainer.train(str(folder / "model3.crfsuite"))
    seconds = min(float(i["time"]) for i in trainer.logparser.iterations)
    return {"pa1": seconds, "pa5": seconds}


# The features in plain Python, as a user of python-crfsuite makes them


def compiled_templates(task: str) -> list[tuple[str, list[tuple[int, int]]]]:
    templates = []
    for line in TEMPLATES[task].split():
        if line != "B":
            name, cells = line.split(":")
            templates.append((name, [tuple(map(int, cell[3:-1].split(","))) for cell in cells.split("/")]))
    return templates


def expand(rows: list[list[str]], templates: list[tuple[str, list[tuple[int, int]]]]) -> list[list[str]]:
    """The attributes of each token of a sentence."""
    n_columns = len(rows[0])
    before = [[f"_B-{d}"] * n_columns for d in (2, 1)]
    padded = [*before, *rows, *([f"_B+{d}"] * n_columns for d in (1, 2))]
    tokens = []
    for t in range(2, len(rows) + 2):
        tokens.append(
            [name + ":" + "/".join([padded[t + row][column] for row, column in cells]) for name, cells in templates]
        )
    return tokens


def attributes_of(task: str, path: Path) -> tuple[list[list[list[str]]], list[list[str]]]:
    templates = compiled_templates(task)
    X, y = [], []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split() for line in block.splitlines() if line]
        if rows:
            X.append(expand([row[:-1] for row in rows], templates))
            y.append([row[-1] for row in rows])
    return X, y


def chunk_f1(gold: Any, predicted: Any) -> float:
    from margent.metrics import span_scores

    return 100 * span_scores(gold, predicted).f1


JOBS = {
    ("margent", "train"): margent_train,
    ("margent", "tag"): margent_tag,
    ("margent", "start"): margent_start,
    ("margent", "attributes"): margent_attributes,
    ("crfsuite", "train"): crfsuite_train,
    ("crfsuite", "tag"): crfsuite_tag,
    ("crfsuite", "start"): crfsuite_start,
    ("crfsuite", "attributes"): crfsuite_attributes,
    ("margent", "pa"): margent_pa,
    ("crfsuite", "pa"): crfsuite_pa,
}

if __name__ == "__main__":
    main()
