"""How fast a parser trains and parses, by its search: UD English with gold tags, one core, two cores.

    python -m benchmarks.micro.parser [--searches beam1 beam8 ...] [--epochs N] [--sentences N] [--data DIR]

Each parser is trained as it is by default, or for so many epochs. Development data are parsed, each time the fastest of
three runs; seconds of an epoch are the fewest. The result with two threads must be the same to the last label. Prints a
table and, of a whole run (without --sentences and --epochs), writes each row into benchmarks/results/parser.json as
soon as it is there; rows of other searches stay. Takes some twenty minutes, and a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.micro.large import peak_mib
from benchmarks.rows import add_row, publish, rows_of
from margent import Beam, Parser
from margent.datasets import load_ud_dependencies

SEARCHES: dict[str, dict[str, Any]] = {
    "beam1": {"search": Beam(1)},
    "beam1, zhang-nivre": {"search": Beam(1), "features": "zhang-nivre"},
    "beam8": {"search": Beam(8)},
    "beam8, zhang-nivre": {"search": Beam(8), "features": "zhang-nivre"},
    "eisner": {"search": "eisner"},
    "mst": {"search": "mst"},
}
"""By name: the parameters of a parser."""
RESULTS = Path(__file__).resolve().parents[1] / "results" / "parser.json"


def measured(search: str, epochs: int | None, n: int | None, data_home: str | None) -> dict[str, Any]:
    """The figures of one parser."""
    data = load_ud_dependencies("english-ewt", data_home=data_home)
    assert data.dev is not None
    parser = Parser(**SEARCHES[search], threads=1)
    if epochs is not None:
        parser.set_params(learner__epochs=epochs)
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
        "epochs": len(parser.history_),
        "epoch_seconds": min(epoch["seconds"] for epoch in parser.history_),
        "words_per_second": sum(map(len, data.dev.y)) / seconds[1],
        "speedup_of_two_threads": seconds[1] / seconds[2],
        "dev_las": parser.score(data.dev.X, data.dev.y),
        "peak_mib": peak_mib(),
    }


def table(rows: list[dict[str, Any]]) -> str:
    """As docs/parser.md has it."""
    lines = [
        "| parser | LAS, dev | a pass, s | words/s, one core | two cores | MiB |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for row in sorted(rows, key=lambda row: list(SEARCHES).index(row["search"])):
        lines.append(
            f"| {row['search']} | {100 * row['dev_las']:.2f} | {row['epoch_seconds']:.1f} "
            f"| {row['words_per_second']:,.0f} | {row['speedup_of_two_threads']:.2f} times | {row['peak_mib']:,.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", nargs="+", choices=list(SEARCHES), default=list(SEARCHES), metavar="NAME")
    parser.add_argument("--epochs", type=int, help="of each training (default: as the parser has it)")
    parser.add_argument("--sentences", type=int, help="to learn from (default: all)")
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    for search in options.searches:
        with get_context("spawn").Pool(1) as process:  # so that its memory is that of this search
            row = process.apply(measured, (search, options.epochs, options.sentences, options.data))
        row["machine"] = describe_machine()
        print(
            f"{search:20} {row['epoch_seconds']:7.1f} s an epoch, {row['words_per_second']:9,.0f} words/s, two threads "
            f"{row['speedup_of_two_threads']:.2f} times as fast, LAS {100 * row['dev_las']:.2f}, "
            f"{row['peak_mib']:.0f} MiB",
            flush=True,
        )
        if options.sentences is None and options.epochs is None:
            add_row(options.out, row, ("search",))
            if options.out == RESULTS:
                publish("parser.md", "speed", table(rows_of(RESULTS)))


if __name__ == "__main__":
    main()
