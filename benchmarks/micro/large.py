"""Large problems: many features, many labels.

    python -m benchmarks.micro.large [features] [labels]

features   5 million features with 100 labels: peak memory and time of training (sparse layout)
labels     100 to 1,000 labels: complete search, pruned search (exact), and labels restricted to those seen with a word

The data are generated (a hidden Markov chain over many symbols). Each measurement runs in a process of its own.
Writes benchmarks/results/large.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine

N_FEATURES = 5_000_000
FEATURES_PER_TOKEN = 20


def train_many_features(n_labels: int) -> dict[str, Any]:
    """Sentences whose tokens have 20 of 5 million features; the labels follow from a few of them."""
    from scipy.sparse import csr_matrix

    import margent
    from margent.features import TokenMatrix

    random = np.random.default_rng(0)
    n_tokens, length = 1_000_000, 20
    labels = random.integers(n_labels, size=n_tokens)
    # Every feature occurs at least once or so; half of them tell something of the label.
    ids = random.integers(N_FEATURES, size=(n_tokens, FEATURES_PER_TOKEN), dtype=np.int32)
    ids[:, 0] = labels * 1000 + random.integers(1000, size=n_tokens)
    ids.sort(axis=1)
    ptr = np.arange(0, n_tokens * FEATURES_PER_TOKEN + 1, FEATURES_PER_TOKEN)
    matrix = csr_matrix((np.ones(ids.size, dtype=np.float32), ids.ravel(), ptr), shape=(n_tokens, N_FEATURES))
    del ids
    names = [f"L{i}" for i in range(n_labels)]
    y = [[names[i] for i in labels[s : s + length]] for s in range(0, n_tokens, length)]
    X = TokenMatrix(matrix, [length] * (n_tokens // length))
    before = peak_mib()
    started = time.perf_counter()
    tagger = margent.Tagger(features="vectors", learner=margent.Perceptron(epochs=3)).fit(X, y)
    return {
        "tokens": n_tokens,
        "features": N_FEATURES,
        "labels": n_labels,
        "layout": "sparse" if tagger.weights_.sparse else "dense",
        "seconds": time.perf_counter() - started,
        "epoch_seconds": min(epoch["seconds"] for epoch in tagger.history_),
        "accuracy": tagger.history_[-1]["accuracy"],
        "data_mib": before,
        "peak_mib": peak_mib(),
    }


def search_many_labels(n_labels: int) -> dict[str, Any]:
    import margent
    from margent.datasets import make_chain

    # As in language: few labels are frequent and many rare, few labels follow one, a symbol goes with few labels.
    random = np.random.default_rng(0)
    frequency = 1 / np.arange(1, n_labels + 1)
    frequency /= frequency.sum()
    transition = random.dirichlet(20 * frequency, size=n_labels)
    n_symbols = 10 * n_labels
    emission = random.dirichlet(np.full(n_symbols, 0.002), size=n_labels)
    X, y, _ = make_chain(
        11_000, n_labels, n_symbols, length=(10, 30), seed=1, start=frequency, transition=transition, emission=emission
    )
    X = [[str(symbol) for symbol in sentence] for sentence in X]
    y = [[str(label) for label in sentence] for sentence in y]
    templates = margent.Templates(["U0:%x[0,0]", "U1:%x[-1,0]", "U2:%x[1,0]", "B"])
    result: dict[str, Any] = {"labels": n_labels}
    for name, restrict in (("free", None), ("restricted", 2)):
        tagger = margent.Tagger(
            features=templates, learner=margent.Perceptron(epochs=5), threads=1, tag_dictionary=restrict
        ).fit(X[:10_000], y[:10_000])
        encoded, restrictions = tagger.model_.encode(X[10_000:])
        chain, examples = tagger.weights_.native(), encoded.examples(allowed=restrictions.seen)
        result[f"{name}_epoch_seconds"] = min(epoch["seconds"] for epoch in tagger.history_)
        result[f"{name}_accuracy"] = tagger.score(X[10_000:], y[10_000:])
        for kind in ("complete", "pruned") if restrict is None else ("restricted",):
            times = []
            for _ in range(3):
                started = time.perf_counter()
                chain.best(examples, 1, kind == "pruned")
                times.append(time.perf_counter() - started)
            result[f"{kind}_tokens_per_second"] = encoded.n_tokens / min(times)
    return result


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


JOBS = {"features": (train_many_features, (100,)), "labels": (search_many_labels, (100, 300, 1000))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", help="features, labels or both (default)")
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "large.json"))
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        job, size = options.worker
        print(json.dumps(JOBS[job][0](int(size))))
        return
    results: dict[str, Any] = {"machine": describe_machine()}
    for job in options.jobs or list(JOBS):
        for size in JOBS[job][1]:
            command = [sys.executable, "-m", __spec__.name, "--worker", job, str(size)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            row = json.loads(done.stdout)
            results.setdefault(job, []).append(row)
            print(job, " ".join(f"{k}={v:,.3f}" if isinstance(v, float) else f"{k}={v}" for k, v in row.items()))
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n")
    print(f"written to {os.path.relpath(options.out)}")


if __name__ == "__main__":
    main()
