"""Beam search and its updates in dependency parsing (paper 003, chapters 2 and 3).

    margent reproduce latent/parsing [--quick] [--out DIR] [--jobs N] [--data DIR]

Parsers of UD English with gold tags, arc-standard, with beams of several widths in training and in prediction, learned
by the averaged perceptron with each of the four updates; and greedy parsers that explore their own mistakes with a
dynamic oracle: attachment against the width of the beam and against time. One training at a time, with one thread, so
that times mean something. The number of epochs is chosen on development data by each training; test data are parsed
once by each parser.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import margent
from margent.datasets import Dataset, Part, load_ud_dependencies, make_trees
from margent.metrics import dependency_scores
from papers.experiment import (
    Journal,
    Options,
    Result,
    Task,
    data_fingerprint,
    markdown_table,
    new_figure,
    publish_part,
    run_tasks,
)

HERE = Path(__file__).parent

UPDATES = ("standard", "skip", "early", "max-violation")
EXPLORING = "exploration"
CORPORA = {
    "ewt": lambda: load_ud_dependencies("english-ewt"),
    "grammar": lambda: _generated(60, 30, 30),
}
TITLES = {"ewt": "UD English, gold tags", "grammar": "a generated grammar"}


@dataclass(frozen=True)
class Plan:
    """`n_train`: sentences to learn from; None: all. `features`: a preset of templates."""

    corpus: str = "ewt"
    beams: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    explorers: tuple[str, ...] = ("arc-hybrid", "arc-eager")
    features: str = "rich"
    epochs: int = 10
    n_train: int | None = None


FULL = Plan()
QUICK = Plan(beams=(1, 4), explorers=("arc-hybrid",), features="small", epochs=2, n_train=500)


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes parsing.json, .md and .png, and for a full run the part of README.md."""
    plan = plan or (QUICK if options.quick else FULL)
    new_figure(1)  # a missing matplotlib is found before the work, not after it
    folder = options.folder(HERE)
    journal = Journal(folder / "parsing-journal.jsonl")
    with options.environment():
        planned = tasks(plan)
        rows = run_tasks(measure, planned, journal, jobs=1, title="parsers")
    described = [{**task, **result} for task, result in zip(planned, rows)]
    results = {"plan": asdict(plan), "results": described, "commits": sorted(journal.commits)}
    page = HERE / "README.md" if options.out is None and plan == FULL else None
    caption = "attachment against width and time"
    return publish_part("parsing", results, report(described), partial(draw, described), caption, folder, page)


def tasks(plan: Plan) -> list[Task]:
    shared = {"corpus": plan.corpus, "data": fingerprint_of(plan.corpus), "n": plan.n_train}
    shared |= {"features": plan.features, "epochs": plan.epochs}
    found = [
        {**shared, "system": "arc-standard", "update": update, "beam": beam}
        for update in UPDATES
        for beam in plan.beams
    ]
    return [*found, *({**shared, "system": system, "update": EXPLORING, "beam": 1} for system in plan.explorers)]


@lru_cache(maxsize=2)
def corpus_of(name: str) -> Dataset:
    return CORPORA[name]()


def fingerprint_of(name: str) -> str:
    """Of all words, heads and labels."""
    data = corpus_of(name)
    parts = (
        None
        if part is None
        else Part(part.X, [[f"{h}:{label}" for h, label in zip(tree.heads, tree.labels)] for tree in part.y])
        for part in (data.train, data.dev, data.test)
    )
    train, dev, test = parts
    assert train is not None
    return data_fingerprint(Dataset(name, train, dev, test, description="", terms=""))


def _generated(train: int, dev: int, test: int) -> Dataset:
    """Trees of a small grammar, so that the experiment can be tried without data."""
    parts = [Part(*make_trees(n, seed=n + i)) for i, n in enumerate((train, dev, test))]
    return Dataset("grammar", *parts, description="Generated sentences and trees.", terms="")


def measure(task: Task) -> Result:
    """Trains a parser, and gives its attachment scores and the times it took."""
    data = corpus_of(task["corpus"])
    assert data.dev is not None and data.test is not None
    exploring = task["update"] == EXPLORING
    parser = margent.Parser(
        task["features"],
        margent.Perceptron(epochs=task["epochs"]),
        search=margent.Beam(task["beam"]) if exploring else margent.Beam(task["beam"], task["update"]),
        system=task["system"],
        exploration=0.9 if exploring else 0.0,
        threads=1,
    )
    X, y = list(data.train.X)[: task["n"]], list(data.train.y)[: task["n"]]
    parser.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, progress=False)
    if parser.interrupted_:
        raise KeyboardInterrupt
    begin = time.perf_counter()
    found = parser.predict(data.test.X)
    seconds = time.perf_counter() - begin
    report = dependency_scores(data.test.y, found)
    return {
        "dev": max(epoch["dev_score"] for epoch in parser.history_),
        "best_epoch": parser.best_epoch_,
        "uas": report.uas,
        "las": report.las,
        "epoch_seconds": sum(epoch["seconds"] for epoch in parser.history_) / len(parser.history_),
        "tokens_per_second": report.counts.words / max(seconds, 1e-9),
    }


def report(rows: list[dict[str, Any]]) -> str:
    out = []
    beams = sorted({row["beam"] for row in rows})
    kinds = list(dict.fromkeys((row["system"], row["update"]) for row in rows))
    for title, shown in _SHOWN.items():
        lines = []
        for system, update in kinds:
            found = {row["beam"]: row for row in rows if (row["system"], row["update"]) == (system, update)}
            lines.append((system, update, *(shown(found[beam]) if beam in found else "" for beam in beams)))
        head = ("system", "training", *(f"beam {beam}" for beam in beams))
        out.append(f"{TITLES[rows[0]['corpus']]}: {title}\n\n{markdown_table(head, lines, left=2)}")
    return "\n".join(out)


_SHOWN = {
    "LAS on test data (and the epoch that was best on development data)": lambda row: (
        f"{100 * row['las']:.2f} ({row['best_epoch']})"
    ),
    "UAS on test data": lambda row: f"{100 * row['uas']:.2f}",
    "seconds an epoch": lambda row: f"{row['epoch_seconds']:.1f}",
    "thousand words a second in parsing, from tagged text": lambda row: f"{row['tokens_per_second'] / 1000:.1f}",
}
COLOURS = dict(zip((*UPDATES, EXPLORING), ("#8c96a0", "#c8a03d", "#c8553d", "#2b6ca3", "#333333")))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """LAS on development data against the width of the beam, and against time."""
    figure, (left, right) = new_figure(2)
    for system, update in dict.fromkeys((row["system"], row["update"]) for row in rows):
        line = [row for row in rows if (row["system"], row["update"]) == (system, update)]
        name = update if update != EXPLORING else f"{system}, {update}"
        look = {"color": COLOURS[update], "marker": "o" if update != EXPLORING else "^", "markersize": 4, "label": name}
        left.plot([row["beam"] for row in line], [100 * row["dev"] for row in line], **look)
        right.plot([row["epoch_seconds"] for row in line], [100 * row["dev"] for row in line], **look)
    left.set_xscale("log", base=2)
    right.set_xscale("log")
    left.set(xlabel="width of the beam", ylabel="LAS on development data, percent")
    right.set(xlabel="seconds an epoch")
    left.set_title(TITLES[rows[0]["corpus"]], loc="left", fontsize=10)
    left.legend(fontsize=7)
    figure.savefig(path)
