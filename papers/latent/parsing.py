"""Beam search and its updates in dependency parsing (paper 003, chapters 2 and 3).

    margent reproduce latent/parsing [--quick] [--out DIR] [--jobs N] [--data DIR]

Parsers of UD English with gold tags, arc-standard, with beams of several widths in training and in prediction, learned
by the averaged perceptron with each of the four updates, and the templates of Zhang and Nivre (2011); and greedy
parsers that explore their own mistakes with a dynamic oracle: attachment against the width of the beam and against
time. The number of epochs is chosen on development data by each training; test data are parsed once by each parser.
Differences on test data are judged by the paired bootstrap over sentences. Times are of the processor, of one thread.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import eq
from pathlib import Path
from typing import Any

import margent
from margent import DependencyTree
from margent.datasets import Dataset, Part, load_ud_dependencies, make_trees
from margent.metrics import dependency_scores
from papers.experiment import (
    Options,
    Result,
    Task,
    data_fingerprint,
    markdown_table,
    new_figure,
    run_part,
)
from papers.verdict import p_value, told, verdict

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
    beams: tuple[int, ...] = (1, 2, 4, 8, 16)
    explorers: tuple[str, ...] = ("arc-hybrid", "arc-eager")
    features: str = "zhang-nivre"
    epochs: int = 6
    n_train: int | None = None


FULL = Plan()
QUICK = Plan(beams=(1, 4), explorers=("arc-hybrid",), features="small", epochs=2, n_train=500)


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes parsing.json, .md and .png, and for a full run the part of README.md."""
    return run_part(
        "parsing",
        sys.modules[__name__],
        options,
        plan,
        title="parsers",
        caption="attachment against width and time",
        long=_BY_SENTENCE,
        jobs=1,
    )


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
    begin = time.process_time()
    parser.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, progress=False)
    if parser.interrupted_:
        raise KeyboardInterrupt
    trained = time.process_time() - begin
    begin = time.process_time()
    found = parser.predict(data.test.X)
    seconds = time.process_time() - begin
    report = dependency_scores(data.test.y, found)
    return {
        "dev": [epoch["dev_score"] for epoch in parser.history_],
        "best_epoch": parser.best_epoch_,
        "uas": report.uas,
        "las": report.las,
        "epoch_seconds": trained / len(parser.history_),
        "tokens_per_second": report.counts.words / max(seconds, 1e-9),
        "right": [_n_right(*trees) for trees in zip(data.test.y, found)],
        "lengths": list(map(len, found)),
    }


# For the bootstrap; in the journal alone, as they are long.
_BY_SENTENCE = ("right", "lengths")


def _n_right(gold: DependencyTree, found: DependencyTree) -> int:
    """Words with the right head and label."""
    return sum(map(eq, zip(gold.heads, gold.labels), zip(found.heads, found.labels)))


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
    out.append(f"What is claimed\n\n{markdown_table(('claim', 'verdict', 'because'), claims(rows), left=3)}")
    return "\n".join(out)


def claims(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Each claim, whether it held, and why: of LAS on test data, unless it says something else."""
    of = {(row["system"], row["update"], row["beam"]): row for row in rows}
    beams = sorted({row["beam"] for row in rows})

    def update(name: str, beam: int) -> dict[str, Any]:
        return of["arc-standard", name, beam]

    found = []
    for name, worse in (("max-violation", "standard"), ("early", "standard"), ("max-violation", "early")):
        for beam in beams:
            title = f"beam {beam}: {name} updates are better than {worse} ones"
            found.append(_better(title, update(name, beam), update(worse, beam)))
    found.append(_faster([(update("max-violation", beam), update("early", beam)) for beam in beams]))
    for narrow, wide in pairwise(beams):
        title = f"max-violation: a beam of {wide} is better than one of {narrow}"
        found.append(_better(title, update("max-violation", wide), update("max-violation", narrow)))
    for (system, name, _), row in of.items():
        if name == EXPLORING:
            found.append(
                _better(
                    f"beam 1: {system} with exploration is better than standard updates (not in the thesis)",
                    row,
                    update("standard", 1),
                )
            )
    return found


def _better(title: str, better: dict[str, Any], worse: dict[str, Any]) -> tuple[str, str, str]:
    p = p_value(*([list(pair) for pair in zip(row["right"], row["lengths"])] for row in (worse, better)))
    because = f"{100 * better['las']:.2f} against {100 * worse['las']:.2f}, {told(p)}"
    return title, verdict(better["las"] > worse["las"], p), because


def _faster(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> tuple[str, str, str]:
    """Of the LAS on development data after one epoch, by a sign test over the widths."""
    wins = sum(faster["dev"][0] > slower["dev"][0] for faster, slower in pairs)
    n = len(pairs)
    p = min(1.0, 2 * sum(math.comb(n, k) for k in range(min(wins, n - wins) + 1)) / 2**n)
    title = "an epoch of max-violation updates teaches more than one of early updates"
    return title, verdict(2 * wins > n, p), f"LAS on development data after one epoch, {wins} of {n} beams, {told(p)}"


_SHOWN = {
    "LAS on test data (and the epoch that was best on development data)": lambda row: (
        f"{100 * row['las']:.2f} ({row['best_epoch']})"
    ),
    "UAS on test data": lambda row: f"{100 * row['uas']:.2f}",
    "processor seconds an epoch, development data parsed after each": lambda row: f"{row['epoch_seconds']:.1f}",
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
        left.plot([row["beam"] for row in line], [100 * max(row["dev"]) for row in line], **look)
        right.plot([row["epoch_seconds"] for row in line], [100 * max(row["dev"]) for row in line], **look)
    left.set_xscale("log", base=2)
    right.set_xscale("log")
    left.set(xlabel="width of the beam", ylabel="LAS on development data, percent")
    right.set(xlabel="seconds an epoch")
    left.set_title(TITLES[rows[0]["corpus"]], loc="left", fontsize=10)
    left.legend(fontsize=7)
    figure.savefig(path)
