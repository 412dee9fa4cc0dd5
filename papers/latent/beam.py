"""Beam search and its updates on parts of speech (paper 003, chapters 2 and 3).

    margent reproduce latent/beam [--quick] [--out DIR] [--jobs N] [--data DIR]

Taggers of UD English that search with beams of several widths, in training and in prediction, learned with each of the
four updates, and with exact search: accuracy against the width of the beam and against time. One training at a time,
with one thread, so that times mean something. The number of epochs is chosen on development data by each training; test
data are labelled once by each tagger.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import margent
from margent.datasets import Dataset, load_ud
from margent.learners import learner_named
from papers.experiment import (
    Options,
    Result,
    Task,
    data_fingerprint,
    generated_addresses,
    markdown_table,
    new_figure,
    run_part,
)

HERE = Path(__file__).parent
UPDATES = ("standard", "skip", "early", "max-violation")


CORPORA = {
    "coarse": lambda: load_ud("english-ewt"),
    "fine": lambda: load_ud("english-ewt", label="xpos"),
    "addresses": lambda: generated_addresses(200, 50, 60),
}
TITLES = {
    "coarse": "UD English, 17 coarse tags",
    "fine": "UD English, 50 fine tags",
    "addresses": "generated addresses",
}


@dataclass(frozen=True)
class Plan:
    """`settings`: corpora with orders of the chain. `n_train`: sentences to learn from; None: all."""

    settings: tuple[tuple[str, int], ...] = (("coarse", 1), ("coarse", 2), ("fine", 2))
    beams: tuple[int, ...] = (1, 2, 4, 8, 16, 32)
    epochs: int = 10
    n_train: int | None = None


FULL = Plan()
QUICK = Plan(settings=(("coarse", 2),), beams=(1, 4), epochs=3, n_train=1500)

# With its margin, early updates of PA see little but the first tokens; see the documentation of BeamOracle.
METHODS = (
    *(("perceptron", update) for update in UPDATES),
    ("pa", "max-violation"),
)
NAMES = {"perceptron": "perceptron", "pa": "passive-aggressive"}


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes beam.json, beam.md and beam.png, and for a full run the part of README.md."""
    return run_part(
        "beam", sys.modules[__name__], options, plan, title="taggers", caption="accuracy against width and time", jobs=1
    )


def tasks(plan: Plan) -> list[Task]:
    found: list[Task] = []
    for corpus, order in plan.settings:
        shared = {"corpus": corpus, "data": data_fingerprint(corpora(corpus)), "n": plan.n_train, "order": order}
        for learner in dict.fromkeys(learner for learner, _ in METHODS):
            found.append({**shared, "learner": learner, "epochs": plan.epochs, "update": None, "beam": None})
        for learner, update in METHODS:
            for beam in plan.beams:
                found.append({**shared, "learner": learner, "epochs": plan.epochs, "update": update, "beam": beam})
    return found


@lru_cache(maxsize=2)
def corpora(name: str) -> Dataset:
    return CORPORA[name]()


def measure(task: Task) -> Result:
    """Trains a tagger, and gives its accuracy and the times it took."""
    data = corpora(task["corpus"])
    assert data.dev is not None and data.test is not None
    given = {} if task["beam"] is None else {"search": margent.Beam(task["beam"], task["update"])}
    tagger = margent.Tagger(
        "pos",
        learner_named(task["learner"], epochs=task["epochs"]),
        order=task["order"],
        calibration=0,
        threads=1,
        **given,
    )
    X, y = list(data.train.X)[: task["n"]], list(data.train.y)[: task["n"]]
    tagger.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, dev_metric="accuracy", progress=False)
    if tagger.interrupted_:
        raise KeyboardInterrupt
    begin = time.perf_counter()
    found = tagger.predict(data.test.X)
    seconds = time.perf_counter() - begin
    n_tokens = sum(map(len, found))
    return {
        "dev": max(epoch["dev_score"] for epoch in tagger.history_),
        "best_epoch": tagger.best_epoch_,
        "test": tagger.score(data.test.X, data.test.y),
        "epoch_seconds": sum(epoch["seconds"] for epoch in tagger.history_) / len(tagger.history_),
        "tokens_per_second": n_tokens / max(seconds, 1e-9),
    }


def report(rows: list[dict[str, Any]]) -> str:
    out = []
    for corpus, order in dict.fromkeys((row["corpus"], row["order"]) for row in rows):
        own = [row for row in rows if (row["corpus"], row["order"]) == (corpus, order)]
        beams = sorted({row["beam"] for row in own if row["beam"] is not None})
        head = ("learner", "update", *(f"beam {beam}" for beam in beams), "exact")
        for title, shown in _SHOWN.items():
            lines = []
            for learner, update in METHODS:
                found = {r["beam"]: r for r in own if r["learner"] == learner and r["update"] in (update, None)}
                lines.append((NAMES[learner], update, *(shown(found[beam]) for beam in (*beams, None))))
            out.append(f"{TITLES[corpus]}, order {order}: {title}\n\n{markdown_table(head, lines, left=2)}")
    return "\n".join(out)


_SHOWN = {
    "accuracy on test data (and the epoch that was best on development data)": lambda row: (
        f"{100 * row['test']:.2f} ({row['best_epoch']})"
    ),
    "seconds an epoch": lambda row: f"{row['epoch_seconds']:.2f}",
    "thousand tokens a second in prediction, from text": lambda row: f"{row['tokens_per_second'] / 1000:.0f}",
}

COLOURS = dict(zip(UPDATES, ("#8c96a0", "#c8a03d", "#c8553d", "#2b6ca3")))


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """For each corpus and order: accuracy on development data against the width of the beam, and against time."""
    settings = list(dict.fromkeys((row["corpus"], row["order"]) for row in rows))
    figure, panels = new_figure(2 * len(settings))
    for (corpus, order), left, right in zip(settings, panels[::2], panels[1::2]):
        own = [row for row in rows if (row["corpus"], row["order"]) == (corpus, order)]
        for learner, update in METHODS:
            line = [row for row in own if (row["learner"], row["update"]) == (learner, update)]
            look = {"color": COLOURS[update], "marker": "o" if learner == "perceptron" else "^", "markersize": 4}
            look |= {"linestyle": "-" if learner == "perceptron" else "--", "label": f"{NAMES[learner]}, {update}"}
            left.plot([row["beam"] for row in line], [100 * row["dev"] for row in line], **look)
            right.plot([row["epoch_seconds"] for row in line], [100 * row["dev"] for row in line], **look)
        for row in (row for row in own if row["beam"] is None):
            left.axhline(100 * row["dev"], color="#333333", linewidth=0.8, linestyle=":")
            marker = "o" if row["learner"] == "perceptron" else "^"
            right.plot(row["epoch_seconds"], 100 * row["dev"], marker=marker, color="#333333", linestyle="none")
        left.set_xscale("log", base=2)
        right.set_xscale("log")
        left.set(xlabel="width of the beam", ylabel="accuracy on development data, percent")
        right.set(xlabel="seconds an epoch (black: exact search)")
        left.set_title(f"{TITLES[corpus]}, order {order}", loc="left", fontsize=10)
    panels[0].legend(fontsize=7)
    figure.savefig(path)
