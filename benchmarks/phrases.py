"""Parsers of phrases on the sample of the Penn Treebank: grammars by their context, and learners.

    python -m benchmarks.phrases [--part dev] [--only NAME ...] [--threads 1]

Trains on the files 0001 to 0159 and scores on 0160 to 0179 (dev; what defaults were chosen on) or 0180 to 0199 (test):
labelled F1 as evalb counts it, of all sentences and of those of at most 40 words, share of right trees, seconds of
training, sentences and words per second (of processor time). Words come with their tags of the treebank, or, in rows
that say so, alone.
Writes benchmarks/results/phrases.json, a part at a time; docs/phrase-parser.md shows it. Takes some fifteen minutes.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from margent import CRF, MIRA, PCFG, Markovisation, PassiveAggressive, Perceptron, PhraseParser
from margent.datasets import load_treebank_trees
from margent.metrics import bracketing_scores

RESULTS = Path(__file__).parent / "results" / "phrases.json"

PARSERS: dict[str, tuple[dict[str, Any], bool]] = {
    **{
        f"PCFG, vertical {v}, horizontal {h}": ({"learner": PCFG(), "grammar": Markovisation(h, v)}, True)
        for v, h in ((1, 0), (1, 1), (2, 0), (2, 1), (2, 2))
    },
    "PCFG, binarised to the left": ({"learner": PCFG(), "grammar": Markovisation(direction="left")}, True),
    "PCFG, words alone": ({"learner": PCFG()}, False),
    "perceptron": ({"learner": Perceptron(epochs=5)}, True),
    "pa": ({"learner": PassiveAggressive(epochs=5)}, True),
    "mira": ({"learner": MIRA(epochs=5)}, True),
    "crf": ({"learner": CRF("sgd", epochs=8)}, True),
    "pa, words alone": ({"learner": PassiveAggressive(epochs=5)}, False),
}
"""By name: parameters, and whether words come with tags."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=("dev", "test"), default="dev")
    parser.add_argument("--only", nargs="+", default=list(PARSERS), choices=list(PARSERS), metavar="NAME")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    data = load_treebank_trees()
    known: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.only:
        row = measured(name, data.train, getattr(data, options.part), options.threads)
        known.setdefault(options.part, {})[name] = row
        print(f"{name:34} " + "  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
        known["machine"] = describe_machine() | {"threads": options.threads}
        RESULTS.write_text(json.dumps(known, indent=2) + "\n")


def measured(name: str, train: Any, test: Any, threads: int) -> dict[str, float]:
    """One row of the table."""
    parameters, tags = PARSERS[name]
    X, X_test = (part.X if tags else [[word for word, _ in sentence] for sentence in part.X] for part in (train, test))
    start = time.process_time()
    parser = PhraseParser(**parameters, threads=threads).fit(X, train.y)
    trained = time.process_time() - start
    start = time.process_time()
    found = parser.predict(X_test)
    seconds = time.process_time() - start
    report, short = bracketing_scores(test.y, found), bracketing_scores(test.y, found, longest=40)
    return {
        "f1": round(100 * report.f1, 2),
        "f1_40": round(100 * short.f1, 2),
        "precision": round(100 * report.precision, 2),
        "recall": round(100 * report.recall, 2),
        "exact": round(100 * report.exact_share, 2),
        "tags": round(100 * report.tag_accuracy, 2),
        "training_seconds": round(trained, 1),
        "sentences_per_second": round(len(found) / seconds, 1),
        "words_per_second": round(sum(map(len, found)) / seconds),
    }


if __name__ == "__main__":
    main()
