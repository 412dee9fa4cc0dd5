"""How fast a parser trains and parses, by its search: UD English with gold tags, one core, two cores.

    python -m benchmarks.micro.parser [--searches beam1 beam8 ...] [--epochs N] [--sentences N] [--data DIR]
                                      [--models DIR] [--train]

Each parser is trained as it is by default, or for so many epochs. Development data are parsed, each time the fastest of
three runs; seconds of an epoch are the fewest. The result with two threads must be the same to the last label. Prints a
table and, of a whole run (without --sentences and --epochs), writes each row into benchmarks/results/parser.json as
soon as it is there; rows of other searches stay. Takes some twenty minutes, and a machine that does nothing else.

Training takes nearly all of them. With --models, trained parsers and the seconds of their epochs are kept in a folder,
and taken from there if they are there already; --train stops after that. So one processor can do the training, and the
machine need be quiet for the two minutes of the rest alone.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.micro.large import peak_mib
from benchmarks.rows import add_row, publish, rows_of
from margent import Beam, Parser, load
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


def trained(search: str, epochs: int | None, n: int | None, data_home: str | None, model: Path) -> dict[str, Any]:
    """Writes a parser into a file; the figures of its training."""
    data = load_ud_dependencies("english-ewt", data_home=data_home)
    parser = Parser(**SEARCHES[search], threads=1)
    if epochs is not None:
        parser.set_params(learner__epochs=epochs)
    X, y = data.train.X[:n], data.train.y[:n]
    parser.fit(X, y, progress=False)
    parser.save(model)
    return {
        "search": search,
        "train_words": sum(map(len, y)),
        "features": parser.weights_.n_features,
        "epochs": len(parser.history_),
        "epoch_seconds": min(epoch["seconds"] for epoch in parser.history_),
        "peak_mib": peak_mib(),
    }


def parsed(model: Path, data_home: str | None) -> dict[str, Any]:
    """How fast and how well a parser from a file parses."""
    data = load_ud_dependencies("english-ewt", data_home=data_home)
    assert data.dev is not None
    parser = load(model)
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
        "words_per_second": sum(map(len, data.dev.y)) / seconds[1],
        "speedup_of_two_threads": seconds[1] / seconds[2],
        "dev_las": parser.score(data.dev.X, data.dev.y),
    }


def process(work: Callable[..., dict[str, Any]], *given: Any) -> dict[str, Any]:
    """In a process of its own, so that its memory is that of this work."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(work, given)


def row_of(search: str, options: argparse.Namespace, folder: Path) -> dict[str, Any] | None:
    """All figures of one parser; None where it was to be trained alone."""
    model, figures = folder / f"{search}.margent", folder / f"{search}.json"
    if not figures.exists():
        row = process(trained, search, options.epochs, options.sentences, options.data, model)
        figures.write_text(json.dumps(row | {"machine": describe_machine()}), encoding="utf-8")
    if options.train:
        return None
    return json.loads(figures.read_text("utf-8")) | process(parsed, model, options.data)


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
    parser.add_argument("--models", type=Path, help="where trained parsers are kept, and looked for")
    parser.add_argument("--train", action="store_true", help="only train them (needs --models)")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    if options.train and options.models is None:
        parser.error("--train needs --models, a folder to keep the parsers in")
    with ExitStack() as stack:
        folder = options.models or Path(stack.enter_context(TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        report(options, folder)


def report(options: argparse.Namespace, folder: Path) -> None:
    for search in options.searches:
        row = row_of(search, options, folder)
        if row is None:
            continue
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
