"""How fast a translator is: sentences per second with several pop limits, and a pass of training.

    python -m benchmarks.micro.translator [--core 0] [--train-threads 2] [--epochs 1]

Tatoeba Chinese-English (`MARGENT_DATA`): rules and language model of the training part, the weights that training
begins with, and templates as they come. Decoding is measured on the test part with one thread on one core; nobody looks
at what it says. A pass of max-violation updates goes over all training sentences whose translation is in reach. Prints
the times and writes benchmarks/results/translator.json.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--train-threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "translator.json"))
    options = parser.parse_args()

    import margent
    from margent.datasets import load_tatoeba, load_tatoeba_alignments

    data = load_tatoeba()
    train, test = data.train, data.test
    alignments = load_tatoeba_alignments("train")
    sentences = [list(words) for words in dict.fromkeys(map(tuple, test.X))]
    started, used = time.perf_counter(), [0.0]
    translator = margent.Translator(learner=margent.Perceptron(epochs=options.epochs), threads=options.train_threads)
    translator.fit(
        train.X, train.y, alignments=alignments, callbacks=[lambda _: used.append(time.process_time())], progress=False
    )
    whole = time.perf_counter() - started
    epochs = [epoch["seconds"] for epoch in translator.history_]
    found: dict[str, Any] = {
        **describe_machine(),
        "sentences": len(train.X),
        "reachable": translator.coverage_,
        "rules": len(translator.rules_),
        "features": len(translator.weights_.table),
        "fit_seconds": whole,
        "epoch_seconds": epochs,
        "processor_seconds": used[-1],
        "train_threads": options.train_threads,
        "sentences_per_second": {},
    }
    passes = ", ".join(f"{seconds:.1f}" for seconds in epochs)
    print(f"fit: {whole:.1f} s, {used[-1]:.1f} s of processors; each pass {passes} s")
    print(f"a pass goes over {100 * translator.coverage_:.1f} % of {len(train.X):,} sentences")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {options.core})
    translator.set_params(threads=1)
    for limit in (10, 30, 100, 300):
        translator.set_params(search__pop_limit=limit)
        translator.predict(sentences[:10])
        started, used = time.perf_counter(), time.process_time()
        translator.predict(sentences)
        seconds, processor = time.perf_counter() - started, time.process_time() - used
        rate = len(sentences) / seconds
        found["sentences_per_second"][limit] = rate
        print(f"pop limit {limit}: {rate:.0f} sentences/s ({len(sentences) / processor:.0f} per second of processor)")
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
