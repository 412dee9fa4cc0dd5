"""The conditional random field against python-crfsuite's: CoNLL-2000, the same attributes, the same objective, one run.

    python -m benchmarks.versus.crfsuite_crf [--iterations 60] [--passes 10] [--repeat 3] [--cores 0 1]

Both sides minimise  sum of - log p(labels | sentence) + |w|^2  over the same parameters: attributes of CRF++'s example
template with the labels they were seen with, and label pairs that were seen. CRFsuite's L-BFGS makes so many
iterations; Margent's stops at the first objective that is not above the one that CRFsuite has reached then, with one
thread and with two. Stochastic descent (l2sgd) makes the same number of passes on both sides. Each run is a process of
its own, pinned to one core or to two; the best of the repeats counts. CRFsuite's log counts processor time, ours the
time of the clock: to be compared on a quiet machine. The processor time of all of `fit` is recorded too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.versus.crfsuite import FILES, TEMPLATES, attributes_of, data_path

TASK = "conll2000"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--passes", type=int, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs=2, default=[0, 1])
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "crfsuite_crf.json"))
    parser.add_argument("--worker", nargs=2, metavar=("JOB", "ARGUMENTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        job, arguments = options.worker
        print(json.dumps(JOBS[job](**json.loads(arguments))))
        return
    results = {"machine": describe_machine(), **compare(options)}
    print_table(results)
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n")
    print(f"\nwritten to {os.path.relpath(options.out)}")


def compare(options: argparse.Namespace) -> dict[str, Any]:
    """The best of the repeats of each run, by name."""
    results: dict[str, Any] = {}

    def record(name: str, job: str, cores: list[int], **arguments: Any) -> None:
        found = run_worker(job, cores, arguments)
        if name not in results or found["seconds"] < results[name]["seconds"]:
            results[name] = found

    one, two = options.cores[:1], options.cores
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "train")
        with gzip.open(data_path(FILES[TASK][0])) as stream:
            Path(path).write_bytes(stream.read())
        for _ in range(options.repeat):
            record("crfsuite lbfgs", "crfsuite", one, path=path, algorithm="lbfgs", iterations=options.iterations)
            target = results["crfsuite lbfgs"]["objective"]
            record("margent lbfgs", "margent_lbfgs", one, path=path, target=target, threads=1)
            record("margent lbfgs, 2 threads", "margent_lbfgs", two, path=path, target=target, threads=2)
            record("crfsuite l2sgd", "crfsuite", one, path=path, algorithm="l2sgd", iterations=options.passes)
            record("margent sgd", "margent_sgd", one, path=path, passes=options.passes)
    return results


def run_worker(job: str, cores: list[int], arguments: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.versus.crfsuite_crf", "--worker", job, json.dumps(arguments)]
    done = subprocess.run(
        command, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, set(cores))
    )
    if done.returncode:
        sys.exit(f"{job} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def print_table(results: dict[str, Any]) -> None:
    rows = [name for name in results if name != "machine"]
    print(f"\n{TASK + ', CRF':28}{'objective':>12}{'iterations':>12}{'seconds':>9}{'fit, s':>9}{'ratio':>8}")
    for name in rows:
        row = results[name]
        rival = results["crfsuite l2sgd" if "sgd" in name else "crfsuite lbfgs"]
        print(
            f"{name:28}{row['objective']:12.1f}{row['iterations']:12}{row['seconds']:9.2f}{row['fit']:9.2f}"
            f"{rival['seconds'] / row['seconds']:8.2f}"
        )
    first, second = results["margent lbfgs"]["seconds"], results["margent lbfgs, 2 threads"]["seconds"]
    print(f"two threads against one: {first / second:.2f} x")


def margent_fit(path: str, learner: Any, threads: int, callbacks: Any) -> dict[str, Any]:
    """`seconds`: of the iterations; `fit`: from columns in memory to the model."""
    import margent

    data = margent.read_columns(path)
    tagger = margent.Tagger(margent.Templates(TEMPLATES[TASK]), learner, threads=threads)
    started, started_cpu = time.perf_counter(), time.process_time()
    tagger.fit(data, callbacks=callbacks)
    return {
        "fit": time.perf_counter() - started,
        "fit_cpu": time.process_time() - started_cpu,
        "seconds": sum(epoch["seconds"] for epoch in tagger.history_),
        "iterations": len(tagger.history_),
        "evaluations": sum(epoch["updates"] for epoch in tagger.history_),
        "objective": tagger.history_[-1]["objective"],
    }


def margent_lbfgs(path: str, target: float, threads: int) -> dict[str, Any]:
    import margent

    learner = margent.CRF(l2=1.0, epochs=1000, tol=0.0, boundaries=False)
    return margent_fit(path, learner, threads, [lambda epoch: epoch.objective <= target])


def margent_sgd(path: str, passes: int) -> dict[str, Any]:
    import margent

    learner = margent.CRF(method="sgd", l2=1.0, epochs=passes, tol=0.0, boundaries=False)
    return margent_fit(path, learner, 1, [])


def crfsuite(path: str, algorithm: str, iterations: int) -> dict[str, Any]:
    """`seconds`: of the iterations, by its own log; `fit`: from attributes in Python's memory to the model file."""
    import pycrfsuite

    X, y = attributes_of(TASK, Path(path))
    started, started_cpu = time.perf_counter(), time.process_time()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
    trainer.set_params({"max_iterations": iterations, "c2": 1.0, "delta": 0.0})
    for sentence, labels in zip(X, y):
        trainer.append(sentence, labels)
    trainer.train(path + ".crfsuite")
    log = trainer.logparser.iterations
    return {
        "fit": time.perf_counter() - started,
        "fit_cpu": time.process_time() - started_cpu,
        "seconds": sum(float(entry["time"]) for entry in log),
        "iterations": len(log),
        "objective": log[-1]["loss"],
    }


JOBS = {"crfsuite": crfsuite, "margent_lbfgs": margent_lbfgs, "margent_sgd": margent_sgd}

if __name__ == "__main__":
    main()
