"""A kernel model of practical size: time and memory to train a hidden Markov SVM, and to label with it.

    python -m benchmarks.micro.kernel [--sentences 3000] [--cache-mb 4096] [--epochs 30]

CoNLL-2000, a polynomial kernel of degree 2 over words and parts of speech of three tokens; the matrix of kernel values
is never made. Prints the figures and writes benchmarks/results/kernel.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.micro.large import peak_mib


def measured(n_sentences: int, cache_mb: int, epochs: int) -> dict[str, Any]:
    import margent
    from margent.datasets import load_conll2000

    data = load_conll2000()
    assert data.test is not None
    kernel = margent.Kernel("polynomial", degree=2, window=3, cache_mb=cache_mb)
    tagger = margent.Tagger(kernel, margent.HiddenMarkovSVM(C=1, epochs=epochs), calibration=0)
    started, processor = time.perf_counter(), time.process_time()
    tagger.fit(data.train.X[:n_sentences], data.train.y[:n_sentences])
    seconds, processor = time.perf_counter() - started, time.process_time() - processor
    peak = peak_mib()
    started = time.perf_counter()
    score = tagger.score(data.test.X, data.test.y)
    predicting = time.perf_counter() - started
    return {
        "sentences": n_sentences,
        "tokens": sum(map(len, data.train.y[:n_sentences])),
        "cache_mb": cache_mb,
        "epochs": len(tagger.history_),
        "train_s": seconds,
        "train_processor_s": processor,
        "peak_mib": peak,
        "support_tokens": tagger.feature_map_.n_unigrams,
        "support_sequences": len(tagger.model_.support) if tagger.model_.support is not None else 0,
        "test_tokens_per_s": sum(map(len, data.test.y)) / predicting,
        "chunk_f1": score,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--cache-mb", type=int, default=4096)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "kernel.json"))
    options = parser.parse_args()
    result = {"machine": describe_machine(), **measured(options.sentences, options.cache_mb, options.epochs)}
    Path(options.out).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
