"""The chain kernels against their floor: how much does search cost on top of fetching the weights?

    python -m benchmarks.micro.chain [--repeat 60] [--core 0]

Scoring a token is a sum of weight rows scattered over memory; no linear tagger can do with less. The floor is that sum
alone, over the training part of CoNLL-2000 with CRF++'s templates; the other rows add search to it. One thread, one
core, best of the repeats; of a passive-aggressive learner, the fastest of its first 10 epochs. Prints the times and
writes benchmarks/results/chain.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from benchmarks.versus.crfsuite import TEMPLATES, data_path


def best_of(repeat: int, work: Callable[[], object]) -> float:
    times = []
    for _ in range(repeat):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def fastest_epoch(oracle: Any, rule: Any) -> float:
    """Of ten from the beginning: each has fewer mistakes to learn from than the one before."""
    random = np.random.default_rng(0)
    from margent import _core

    return best_of(10, lambda: _core.run(oracle, rule, random.permutation(len(oracle))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=60)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "chain.json"))
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})

    import margent
    from margent import _core

    X, y = margent.read_columns(data_path("conll2000/train.txt.gz")).split()
    tagger = margent.Tagger(features=margent.Templates(TEMPLATES["conll2000"]), learner=margent.Perceptron(epochs=5))
    tagger.fit(X, y)
    encoded = tagger.feature_map_.encode(X)
    examples, chain = encoded.examples(), tagger.weights_.native()
    rows: dict[str, float] = {
        "floor: gather the rows": best_of(options.repeat, lambda: chain.gather_only(examples)),
        "best labelling": best_of(options.repeat, lambda: chain.best(examples, 1)),
        **{
            f"{k} best, with scores": best_of(max(3, options.repeat // 6), lambda k=k: chain.k_best(examples, k, 1))
            for k in (1, 2, 5, 10)
        },
        "marginals": best_of(2, lambda: chain.marginals(examples, 1.0, False, 1)),
    }
    labels = np.array([tagger.classes_.tolist().index(name) for sentence in y for name in sentence], dtype=np.int32)
    n_labels, n_unigrams = len(tagger.classes_), tagger.feature_map_.n_unigrams

    def learning() -> _core.ChainOracle:
        return _core.ChainOracle(encoded.examples(labels), n_labels, 1, True, n_unigrams, 0, False, [])

    oracle = learning()
    rule, random = _core.PerceptronRule(0.0), np.random.default_rng(0)
    rows["perceptron epoch"] = best_of(options.repeat, lambda: _core.run(oracle, rule, random.permutation(len(oracle))))

    for k in (1, 2, 5, 10):
        rows[f"passive-aggressive, k = {k}"] = fastest_epoch(learning(), _core.PassiveAggressiveRule(1.0, k, False))

    floor = next(iter(rows.values()))
    print(f"{encoded.n_tokens:,} tokens, {len(encoded.ids):,} features, {len(tagger.classes_)} labels")
    for name, seconds in rows.items():
        rate = encoded.n_tokens / seconds / 1e6
        sentence = 1e6 * seconds / len(oracle)
        print(f"{name:28}{1e3 * seconds:9.1f} ms{sentence:8.2f} us a sentence", end="")
        print(f"{rate:8.2f} M tokens/s{seconds / floor:8.2f} x floor")
    result = {"machine": describe_machine(), "tokens": encoded.n_tokens, "seconds": rows}
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(result, indent=2) + "\n")
    print(f"written to {os.path.relpath(options.out)}")


if __name__ == "__main__":
    main()
