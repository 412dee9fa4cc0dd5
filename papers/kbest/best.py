"""How far Margent goes on the paper's two public corpora with features and learners of its own.

    margent reproduce kbest/best [--quick] [--out DIR] [--jobs N] [--data DIR]

Learner and label scheme are chosen on the last fifth of the training data (chunking) or on the development set
(Spanish). What was chosen then learns from all training data (for Spanish: from the training part alone) and labels the
test data once. No resource but the corpus itself is used.

Spanish is labelled in two stages: the second sees what the first found for the same names nearby. For the training data
these are labels of taggers that have not seen the sentence.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import margent
from margent.corpus import Part, convert, load_conll2000, load_conll2002
from margent.learners import learner_named
from margent.metrics import span_scores, token_scores
from papers.experiment import (
    Journal,
    Options,
    Result,
    Task,
    data_fingerprint,
    markdown_table,
    run_tasks,
    with_generated,
    write_json,
)
from papers.kbest.entities import Row, columns, second_stage

HERE = Path(__file__).parent
LEARNERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("perceptron", {"epochs": 20}),
    ("pa", {"C": 0.05, "k": 1, "epochs": 20}),
    ("pa", {"C": 0.05, "k": 5, "epochs": 20}),
    ("mira", {"C": 0.05, "k": 5, "epochs": 20}),
    ("crf", {"l2": 0.1}),
    ("crf", {"l2": 0.3}),
)
QUICK_LEARNERS: tuple[tuple[str, dict[str, Any]], ...] = LEARNERS[:1]
LOADERS = {"conll2000": load_conll2000, "conll2002-esp": load_conll2002}
SCHEMES = {"conll2000": ("iob2", "iobes"), "conll2002-esp": ("iob2",)}
TITLES = {"conll2000": "CoNLL-2000, chunking", "conll2002-esp": "CoNLL-2002, Spanish entities, testb"}
FIRST_STAGE = learner_named("pa", C=0.05, epochs=10)
PARTS = 5
"""The training data are labelled for the second stage in so many parts, each by a tagger that learned from the rest."""


def run(options: Options) -> Path:
    """Runs what is missing; writes best.json, best.md, and for a full run the table in README.md."""
    folder = options.folder(HERE)
    journal = Journal(folder / "best-journal.jsonl")
    learners = QUICK_LEARNERS if options.quick else LEARNERS
    limit = 400 if options.quick else None
    tried: list[dict[str, Any]] = []
    final: list[dict[str, Any]] = []
    with options.environment():
        made_from = {corpus: fingerprints(corpus) for corpus in SCHEMES}
        tasks: list[Task] = [
            {
                "corpus": corpus,
                **made_from[corpus],
                "scheme": scheme,
                "learner": name,
                "parameters": given,
                "limit": limit,
                "test": False,
            }
            for corpus, schemes in SCHEMES.items()
            for name, given in learners
            for scheme in schemes
        ]
        for task, result in zip(tasks, run_tasks(measure, tasks, journal, jobs=options.jobs, title="choosing")):
            tried.append({**task, **result})
        chosen = [max((t for t in tried if t["corpus"] == name), key=lambda t: t["chunk_f"]) for name in SCHEMES]
        tasks = [{**{key: row[key] for key in tasks[0]}, "test": True} for row in chosen]
        for task, result in zip(tasks, run_tasks(measure, tasks, journal, jobs=options.jobs, title="testing")):
            final.append({**task, **result})
    write_json(folder / "best.json", {"tried": tried, "test": final, "commits": sorted(journal.commits)})
    text = report(tried, final)
    (folder / "best.md").write_text(text, encoding="utf-8")
    if options.out is None and not options.quick:
        readme = HERE / "README.md"
        readme.write_text(with_generated(readme.read_text("utf-8"), {"best": text}), encoding="utf-8")
    return folder / "best.md"


def report(tried: list[dict[str, Any]], final: list[dict[str, Any]]) -> str:
    head = ("corpus", "learner", "labels as", "token F", "chunk F1", "seconds of training")
    cells = [
        [(TITLES[row["corpus"]], _spelled(row), row["scheme"], *_figures(row)) for row in rows]
        for rows in (final, tried)
    ]
    return f"On test data, once:\n\n{markdown_table(head, cells[0], left=3)}\n" + (
        f"On development data, from which the learner was chosen:\n\n{markdown_table(head, cells[1], left=3)}"
    )


def _spelled(row: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value}" for name, value in row["parameters"].items())
    return f"`{row['learner']}` {given}"


def _figures(row: dict[str, Any]) -> tuple[str, str, str]:
    return f"{100 * row['token_f']:.2f}", f"{100 * row['chunk_f']:.2f}", f"{row['seconds']:.0f}"


def measure(task: Task) -> Result:
    """Trains as the task says, and gives the figures on development or test data."""
    train, other, lines = prepared(task["corpus"], task["test"], task["limit"])
    scheme = task["scheme"]
    y = train.y if scheme == "iob2" else [convert(labels, "iob2", scheme) for labels in train.y]
    learner = learner_named(task["learner"], **task["parameters"])
    tagger = margent.Tagger(margent.Templates(lines), learner, calibration=0, threads=1)
    tagger.fit(train.X, y, progress=False)
    if tagger.interrupted_:
        raise KeyboardInterrupt
    found = [convert(labels, scheme, "iob2") for labels in tagger.predict(other.X)]
    seconds = sum(epoch["seconds"] for epoch in tagger.history_)
    token_f = token_scores(other.y, found).inside.f1
    return {"token_f": token_f, "chunk_f": span_scores(other.y, found).f1, "seconds": seconds}


def fingerprints(corpus: str) -> dict[str, str]:
    """Of the data, and of all that makes features of them: results with others are not taken for these."""
    made_by = sha256(repr((FIRST_STAGE, PARTS)).encode())
    for path in (*sorted(HERE.glob("best-*.txt")), HERE / "entities.py"):
        made_by.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return {"data": data_fingerprint(LOADERS[corpus]()), "features": made_by.hexdigest()[:12]}


@lru_cache(maxsize=2)
def prepared(corpus: str, test: bool, limit: int | None) -> tuple[Part, Part, tuple[str, ...]]:
    """What to learn from, what to label, and the templates."""
    data = LOADERS[corpus]()
    if corpus == "conll2000":
        train = _lists(data.train, limit)
        cut = len(train.X) * 4 // 5
        held = Part(train.X[cut:], train.y[cut:])
        seen = Part(train.X[:cut], train.y[:cut])
        return *((train, _lists(data.test, limit)) if test else (seen, held)), _templates("best-chunking.txt")
    train, other = _lists(data.train, limit), _lists(data.test if test else data.dev, limit)
    templates = _templates("best-entities.txt")
    rows, other_rows = (columns([[token[0] for token in sentence] for sentence in part.X]) for part in (train, other))
    first = margent.Tagger(margent.Templates(templates), FIRST_STAGE, calibration=0, threads=1)
    labels: list[list[str]] = []
    for start, end in pairwise(len(rows) * part // PARTS for part in range(PARTS + 1)):
        first.fit(rows[:start] + rows[end:], train.y[:start] + train.y[end:], progress=False)
        labels += map(list, first.predict(rows[start:end]))
    first.fit(rows, train.y, progress=False)
    found: list[list[str]] = [list(sentence) for sentence in first.predict(other_rows)]
    more = (*templates, *_templates("best-second-stage.txt"))
    return Part(second_stage(rows, labels), train.y), Part(second_stage(other_rows, found), other.y), more


def _lists(part: Part | None, limit: int | None) -> Part:
    if part is None:
        raise margent.CorpusError("expected a part of the data set that it does not have")
    X: list[list[Row]] = [list(sentence) for sentence in part.X[:limit]]
    return Part(X, [list(labels) for labels in part.y[:limit]])


def _templates(name: str) -> tuple[str, ...]:
    return margent.Templates.from_file(HERE / name).lines
