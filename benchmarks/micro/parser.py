"""How fast a parser trains and parses, by its search: UD English with gold tags, one core, two cores.

    python -m benchmarks.micro.parser [--searches beam1 beam8 eisner mst] [--epochs 1] [--sentences N] [--data DIR]

Development data are parsed, each time the fastest of three runs; seconds of an epoch are those of the last one. The
result with two threads must be the same to the last label. Prints a table and, of a whole run (without --sentences),
writes benchmarks/results/parser.json.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.micro.large import peak_mib

SEARCHES = ("beam1", "beam8", "eisner", "mst")


def measured(search: str, epochs: int, n: int | None, data_home: str | None) -> dict[str, Any]:
    """The figures of one parser."""
    from margent import Beam, Parser
    from margent.datasets import load_ud_dependencies

    data = load_ud_dependencies("english-ewt", data_home=data_home)
    assert data.dev is not None
    chosen = Beam(int(search.removeprefix("beam"))) if search.startswith("beam") else search
    parser = Parser(search=chosen, threads=1).set_params(learner__epochs=epochs)
    X, y = data.train.X[:n], data.train.y[:n]
    parser.fit(X, y, progress=False)
    seconds = {}
    trees = {}
    for threads in (1, 2):
        parser.set_params(threads=threads)
        parser.predict(data.dev.X[:10])
        times = []
        for _ in range(3):
            begin = time.perf_counter()
            trees[threads] = parser.predict(data.dev.X)
            times.append(time.perf_counter() - begin)
        seconds[threads] = min(times)
    assert trees[1] == trees[2], "two threads gave other trees than one"
    return {
        "search": search,
        "train_words": sum(map(len, y)),
        "features": parser.weights_.n_features,
        "epoch_seconds": parser.history_[-1]["seconds"],
        "words_per_second": sum(map(len, data.dev.y)) / seconds[1],
        "speedup_of_two_threads": seconds[1] / seconds[2],
        "dev_las": parser.score(data.dev.X, data.dev.y),
        "peak_mib": peak_mib(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", nargs="+", default=SEARCHES)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--sentences", type=int, help="to learn from (default: all)")
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "parser.json"))
    options = parser.parse_args()
    rows = []
    for search in options.searches:
        rows.append(measured(search, options.epochs, options.sentences, options.data))
        row = rows[-1]
        print(
            f"{search:8} {row['epoch_seconds']:7.1f} s an epoch, {row['words_per_second']:9,.0f} words/s, two threads "
            f"{row['speedup_of_two_threads']:.2f} times as fast, LAS {100 * row['dev_las']:.2f}, "
            f"{row['peak_mib']:.0f} MiB",
            flush=True,
        )
    if options.sentences is None:
        results = {"machine": describe_machine(), "epochs": options.epochs, "rows": rows}
        Path(options.out).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
