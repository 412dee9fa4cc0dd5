"""From letters to phonemes: CMUdict on the classic split, and NETtalk.

    margent reproduce latent/g2p [--quick] [--out DIR] [--jobs N] [--data DIR]

The joint model of order 1 to 9; EM with beams of several widths against exact EM, by likelihood, error and time;
learners on top, which reorder what the joint model finds or search by their own weights. All is compared on development
words. The test words of CMUdict are looked at once for each of the two systems in `TESTED`, which then learn from the
development words too. NETtalk has no published split for this: every tenth word, by the hash of its letters, is for
testing. Its phonemes are used without the alignment that it has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import margent
from margent.corpus import Part, load_cmudict, load_nettalk
from margent.learners import learner_named
from papers.experiment import (
    Journal,
    Options,
    Result,
    Task,
    data_fingerprint,
    markdown_table,
    new_figure,
    run_tasks,
    with_generated,
    write_json,
)

HERE = Path(__file__).parent
ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
BEAMS = (1, 2, 5, 20, 50, None)
BEAM_ORDER = 4
"""EM is exact up to this order in the comparison of beams; beyond it, the states of all cuts are too many."""
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {"epochs": 5},
    "pa": {"C": 0.01, "epochs": 3},
    "mira": {"C": 0.01, "k": 5, "epochs": 3},
    "crf": {"l2": 1.0, "epochs": 40},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "perceptron + max-violation": {"learner": "perceptron", "update": "max-violation", "beam": 10},
    "mira + max-violation": {"learner": "mira", "update": "max-violation", "beam": 10},
    "mira + skip": {"learner": "mira", "update": "skip", "beam": 20},
}
"""Learners that search by their own weights, the others in `LEARNERS` reorder what the joint model finds."""
TOP_ORDER = 8
TESTED: tuple[str | None, ...] = (None, "mira")
LOADERS = {"cmudict": load_cmudict, "nettalk": load_nettalk}
PUBLISHED = "Bisani and Ney 2008, joint model of order 9: word error 24.53 %, phoneme error 5.88 %."


def run(options: Options) -> Path:
    """Runs what is missing; writes g2p.json, g2p.md and plots, and for a full run the tables in ../g2p.md."""
    folder = options.folder(HERE)
    journal = Journal(folder / "g2p-journal.jsonl")
    with options.environment():
        tasks = plan(options.quick)
        results = run_tasks(measure, tasks, journal, jobs=options.jobs, title="transcribers")
    rows = [{**task, **result} for task, result in zip(tasks, results)]
    write_json(folder / "g2p.json", {"results": rows, "commits": sorted(journal.commits)})
    text = report(rows)
    (folder / "g2p.md").write_text(text, encoding="utf-8")
    draw(rows, folder)
    if options.out is None and not options.quick:
        page = HERE / "g2p.md"
        page.write_text(with_generated(page.read_text("utf-8"), {"g2p": text}), encoding="utf-8")
    return folder / "g2p.md"


def plan(quick: bool) -> list[Task]:
    limit = 1500 if quick else None
    orders, beams = (ORDERS[:3], (1, None)) if quick else (ORDERS, BEAMS)
    top, learners = (3, ("mira", "mira + skip")) if quick else (TOP_ORDER, (*LEARNERS, *SEARCHES))
    tasks: list[Task] = []
    for corpus, load in LOADERS.items():
        common = {"corpus": corpus, "data": data_fingerprint(load()), "limit": limit, "test": False}
        tasks += [{**common, "kind": "order", "order": order, "learner": None, "beam": 50} for order in orders]
        tasks += [{**common, "kind": "learner", "order": top, "learner": name, "beam": 50} for name in learners]
        if corpus == "cmudict":
            order = min(BEAM_ORDER, top)
            tasks += [{**common, "kind": "beam", "order": order, "learner": None, "beam": beam} for beam in beams]
            tasks += [
                {**common, "kind": "test", "order": top, "learner": name, "beam": 50, "test": True} for name in TESTED
            ]
    return tasks


def measure(task: Task) -> Result:
    """Trains one transcriber on one thread, and gives its errors, its likelihood and its times."""
    train, other = parts(task["corpus"], task["test"], task["limit"])
    search = dict(SEARCHES.get(task["learner"], {"learner": task["learner"]}))
    name = search.pop("learner")
    transcriber = margent.Transcriber(
        em=margent.EM(order=task["order"], beam=task["beam"]),
        learner=None if name is None else learner_named(name, **LEARNERS[name]),
        **search,
        threads=1,
    )
    started = time.process_time()
    transcriber.fit(train.X, train.y, progress=False)
    if transcriber.interrupted_:
        raise KeyboardInterrupt
    trained = time.process_time()
    report = transcriber.evaluate(other.X, other.y)
    return {
        "word_error": report.word_error,
        "phoneme_error": report.phoneme_error,
        "words": report.words,
        "train_seconds": trained - started,
        "words_per_second": report.words / (time.process_time() - trained),
        "objective": transcriber.history_[task["order"] * 2 + 5]["objective"],  # of the last step before the held-out
        "grams": transcriber.model_.n_grams,
    }


@lru_cache(maxsize=1)
def parts(corpus: str, test: bool, limit: int | None) -> tuple[Part, Part]:
    """What to learn from, and what to be measured on."""
    data = LOADERS[corpus]()
    if corpus == "cmudict":
        if data.dev is None or data.test is None:
            raise margent.CorpusError("expected the development words of CMUdict in classic.dev-words.txt")
        train = Part(data.train.X + data.dev.X, data.train.y + data.dev.y) if test else data.train
        other = data.test if test else data.dev
        return Part(train.X[:limit], train.y[:limit]), Part(other.X[:limit], other.y[:limit])
    X = ["".join(word) for word in data.train.X]
    y = [[phoneme for phoneme in phonemes if phoneme != "-"] for phonemes in data.train.y]
    held = [sha256(word.encode()).digest()[0] % 10 == 0 for word in X]

    def chosen(wanted: bool) -> Part:
        places = [i for i, h in enumerate(held) if h == wanted][:limit]
        return Part([X[i] for i in places], [y[i] for i in places])

    return chosen(False), chosen(True)


def report(rows: Sequence[dict[str, Any]]) -> str:
    """All tables as one text."""
    sections = []
    for kind, title, about in (
        ("test", "CMUdict, test words", "system"),
        ("learner", "Learners on top, development words", "learner"),
        ("order", "The joint model by order, development words", "order"),
        ("beam", "EM with a beam, development words", "beam"),
    ):
        lines = [(row["corpus"], _named(row, about), *_figures(row)) for row in rows if row["kind"] == kind]
        head = ("corpus", about, "word error %", "phoneme error %", "- log-likelihood", "training s", "words/s")
        sections.append(f"{title}:\n\n{markdown_table(head, lines, left=2)}")
    return "\n".join([*sections, f"Times are of one processor. {PUBLISHED}\n"])


def _named(row: dict[str, Any], about: str) -> str:
    if about == "system":
        return f"order {row['order']}" + ("" if row["learner"] is None else f" + `{row['learner']}`")
    return "all" if row[about] is None else str(row[about])


def _figures(row: dict[str, Any]) -> tuple[str, ...]:
    errors = f"{100 * row['word_error']:.2f}", f"{100 * row['phoneme_error']:.2f}"
    return *errors, f"{row['objective']:.0f}", f"{row['train_seconds']:.0f}", f"{row['words_per_second']:.0f}"


def draw(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """Word error by order, and by the time of EM with beams."""
    figure, (left, right) = new_figure(2)
    for corpus in LOADERS:
        points = [
            (row["order"], 100 * row["word_error"]) for row in rows if (row["kind"], row["corpus"]) == ("order", corpus)
        ]
        left.plot(*zip(*points), marker="o", label=corpus)
    left.set(xlabel="order", ylabel="word error %")
    left.legend(frameon=False)
    for row in rows:
        if row["kind"] == "beam":
            right.plot(row["train_seconds"], row["objective"], marker="o", color="C0")
            right.annotate(_named(row, "beam"), (row["train_seconds"], row["objective"]))
    right.set(xlabel="training s", ylabel="- log-likelihood")
    figure.savefig(folder / "g2p.png", dpi=120)
