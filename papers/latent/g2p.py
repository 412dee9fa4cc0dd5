"""From letters to phonemes: CMUdict on the classic split, and NETtalk.

    margent reproduce latent/g2p [--quick] [--out DIR] [--jobs N] [--data DIR]

The joint model of order 1 to 9; EM with beams of several widths against exact EM, by likelihood, error and time;
learners on top, which reorder what the joint model finds or search by their own weights. All is compared on development
words, learners after training on every fourth entry. The test words of CMUdict are looked at twice: by the joint model,
and with the learner on top that was best on development words; both then learn from all other words. NETtalk has no
published split for this: every tenth word, by the hash of its letters, is held out. Its phonemes are used without the
alignment that it has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import margent
from margent.datasets import Part, load_cmudict, load_nettalk
from margent.learners import learner_named
from margent.metrics import mcnemar_test, transcription_scores
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
ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9)
BEAMS = (1, 2, 5, 20, 50, None)
BEAM = 50
TOP_ORDER = 8
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
    "crf + beam": {"learner": "crf", "parameters": {"l2": 10.0, "epochs": 30, "search": "beam", "beam": 20}},
}
"""Learners that search by their own weights, the others in `LEARNERS` reorder what the joint model finds."""
LEARNER_SHARE = 4
"""Learners are compared after training on one entry in so many."""
LOADERS = {"cmudict": load_cmudict, "nettalk": load_nettalk}
TITLES = {"cmudict": "CMUdict, development words", "nettalk": "NETtalk, held-out words"}
PUBLISHED = (
    "Published for the test words, not measured here: Bisani and Ney 2008, joint model of order 9: word error 24.53 %, "
    "phoneme error 5.88 %; Yao and Zweig 2015, bidirectional LSTM: 23.55 % and 5.45 %."
)
WORD_ERROR, PHONEME_ERROR, TRAINING_SECONDS, WORDS_PER_SECOND = 0.245, 0.059, 900, 3000
"""What is asked of the joint model."""


def run(options: Options) -> Path:
    """Runs what is missing; writes g2p.json, g2p.md and g2p.png, and for a full run the tables in ../g2p.md."""
    new_figure(1)  # a missing matplotlib is found before the work, not after it
    folder = options.folder(HERE)
    journal = Journal(folder / "g2p-journal.jsonl")
    rows: list[dict[str, Any]] = []
    with options.environment():
        for stage in (plan, test_plan):
            tasks = stage(options.quick, rows)
            results = run_tasks(measure, tasks, journal, jobs=options.jobs, title="transcribers")
            rows += [{**task, **result} for task, result in zip(tasks, results)]
    short = [{name: value for name, value in row.items() if name != "right"} for row in rows]
    page = HERE / "g2p.md" if options.out is None and not options.quick else None
    results = {"results": short, "commits": sorted(journal.commits)}
    return publish_part("g2p", results, report(rows), partial(draw, rows), "errors and likelihood", folder, page)


def plan(quick: bool, _: Sequence[dict[str, Any]] = ()) -> list[Task]:
    """All that is measured on development words, what takes longest first."""
    orders, beams = (ORDERS[:3], (1, None)) if quick else (ORDERS, BEAMS)
    top = orders[-1] if quick else TOP_ORDER
    learners = ("mira", "mira + skip") if quick else (*LEARNERS, *SEARCHES)
    tasks: list[Task] = []
    for corpus in LOADERS:
        common = _common(corpus, quick)
        settings = [(top, beam, None, 1) for beam in reversed(beams) if corpus == "cmudict" and beam != BEAM]
        settings += [(order, BEAM, None, 1) for order in reversed(orders)]
        settings += [(top, BEAM, name, LEARNER_SHARE) for name in (*learners, None)]
        names = ("order", "beam", "learner", "one_in")
        chosen = [dict(zip(names, setting)) for setting in settings]
        tasks += [{**common, **task, "options": _options(task["learner"]), "test": False} for task in chosen]
    return tasks


def test_plan(quick: bool, rows: Sequence[dict[str, Any]]) -> list[Task]:
    """The joint model and the learner that was best on development words, on the test words of CMUdict."""
    tried = [row for row in rows if row["corpus"] == "cmudict" and row["learner"] is not None]
    best = min(tried, key=lambda row: row["word_error"])
    common = {"order": best["order"], "beam": BEAM, "one_in": 1, "test": True}
    return [
        {**_common("cmudict", quick), **common, "learner": name, "options": _options(name)}
        for name in (best["learner"], None)
    ]


def _options(learner: str | None) -> dict[str, Any]:
    """What the transcriber is given beside the joint model; `parameters` are those of the learner."""
    if learner is None:
        return {}
    search = SEARCHES.get(learner, {"learner": learner})
    return {"parameters": LEARNERS[search["learner"]], **search}


def _common(corpus: str, quick: bool) -> Task:
    return {"corpus": corpus, "data": data_fingerprint(LOADERS[corpus]()), "limit": 1500 if quick else None}


def measure(task: Task) -> Result:
    """Trains one transcriber on one thread, and gives its errors, its likelihood and its times."""
    train, other = parts(task["corpus"], task["test"], task["limit"])
    train = Part(train.X[:: task["one_in"]], train.y[:: task["one_in"]])
    options = dict(task["options"])
    if options:
        options["learner"] = learner_named(options["learner"], **options.pop("parameters"))
    if "update" in options:
        options["decoder"] = "direct"
        options["search"] = margent.AlignmentBeam(width=options.pop("beam"), update=options.pop("update"))
    transcriber = margent.Transcriber(em=margent.EM(order=task["order"], beam=task["beam"]), **options, threads=1)
    started = time.process_time()
    transcriber.fit(train.X, train.y, progress=False)
    if transcriber.interrupted_:
        raise KeyboardInterrupt
    trained = time.process_time()
    references: dict[str, list[list[str]]] = {}
    for word, spoken in zip(other.X, other.y):
        references.setdefault(word, []).append(spoken)
    words = list(references)
    found = transcriber.predict(words)
    report = transcription_scores(references.values(), found)
    logs = transcriber.log_probabilities(other.X, other.y)
    return {
        "word_error": report.word_error,
        "phoneme_error": report.phoneme_error,
        "words": report.words,
        "right": "".join("01"[spoken in references[word]] for word, spoken in zip(words, found)),
        "minus_log_p": -float(logs[np.isfinite(logs)].sum()),
        "without_alignment": int((~np.isfinite(logs)).sum()),
        "pairs": len(logs),
        "entries": len(train.X),
        "train_seconds": trained - started,
        "words_per_second": len(words) / min(_seconds(transcriber, words) for _ in range(3)),
        "grams": transcriber.joint_.n_grams,
    }


def _seconds(transcriber: margent.Transcriber, words: list[str]) -> float:
    """Of prediction alone."""
    begin = time.process_time()
    transcriber.predict(words)
    return time.process_time() - begin


@lru_cache(maxsize=1)
def parts(corpus: str, test: bool, limit: int | None) -> tuple[Part, Part]:
    """What to learn from, and what to be measured on; with a limit evenly spread, as dictionaries are sorted."""
    data = LOADERS[corpus]()
    if corpus == "cmudict":
        if data.dev is None or data.test is None:
            raise margent.CorpusError("expected the development words of CMUdict in classic.dev-words.txt")
        train = Part(data.train.X + data.dev.X, data.train.y + data.dev.y) if test else data.train
        return _spread(train, limit), _spread(data.test if test else data.dev, limit)
    X = ["".join(word) for word in data.train.X]
    y = [[phoneme for phoneme in phonemes if phoneme != "-"] for phonemes in data.train.y]
    held = [sha256(word.encode()).digest()[0] % 10 == 0 for word in X]

    def chosen(wanted: bool) -> Part:
        places = [i for i, h in enumerate(held) if h == wanted]
        return _spread(Part([X[i] for i in places], [y[i] for i in places]), limit)

    return chosen(False), chosen(True)


def _spread(part: Part, limit: int | None) -> Part:
    """At most so many entries, evenly spread; those of the same word stay together."""
    if limit is None or len(part.X) <= limit:
        return part
    words = sorted(set(part.X))
    kept = {words[i * len(words) // limit] for i in range(min(limit, len(words)))}
    places = [i for i, word in enumerate(part.X) if word in kept]
    return Part([part.X[i] for i in places], [part.y[i] for i in places])


def report(rows: Sequence[dict[str, Any]]) -> str:
    """What held, and all tables, as one text."""
    sections = [f"What held:\n\n{''.join(f'- {line}' + chr(10) for line in verdicts(rows))}"]
    tables = [("CMUdict, test words", "system", [row for row in rows if row["test"]])]
    for corpus, title in TITLES.items():
        own = [row for row in rows if row["corpus"] == corpus and not row["test"]]
        tops = [row for row in own if row["one_in"] > 1]
        count = tops[0]["entries"] if tops else 0
        tables.append((f"{title}: learners on top, trained on {count} entries", "system", tops))
        tables.append((f"{title}: the joint model by order", "order", _by_order(own, corpus)))
        tables.append((f"{title}: EM with a beam", "beam", _by_beam(own) if corpus == "cmudict" else []))
    head = ("word error %", "phoneme error %", "minus log p", "pairs without an alignment", "training s", "words/s")
    for title, about, chosen in tables:
        if chosen:
            table = markdown_table((about, *head), ((_named(row, about), *_figures(row)) for row in chosen))
            sections.append(f"{title}:\n\n{table}")
    sections.append(
        "Minus log p: of the words measured on, summed exactly over all alignments under the joint model, whatever the "
        "beam in training; pairs without an alignment are not in it. Times are of one processor: training without any "
        f"development words, prediction of words alone. {PUBLISHED}\n"
    )
    return "\n".join(sections)


def verdicts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Each claim, and whether it held."""
    joint, top = (next(row for row in rows if row["test"] and (row["learner"] is None) == plain) for plain in (1, 0))
    order, name = joint["order"], f"`{top['learner']}`"
    wrong, phonemes = ((100 * joint[key], 100 * top[key]) for key in ("word_error", "phoneme_error"))
    chance = mcnemar_test([["1"]] * joint["words"], *([[r] for r in row["right"]] for row in (joint, top))).p_value
    lines = [
        f"word error of {100 * WORD_ERROR} % or less with the joint model (order {order}) on the test words: "
        f"{_held(joint['word_error'] <= WORD_ERROR)}, {wrong[0]:.2f} %",
        f"phoneme error of {100 * PHONEME_ERROR:.1f} % or less: {_held(joint['phoneme_error'] <= PHONEME_ERROR)}, "
        f"{phonemes[0]:.2f} %",
        f"better with discriminative training, {name} on top: {_held(wrong[1] < wrong[0] and chance < 0.05)}, "
        f"word error {wrong[1]:.2f} % (p = {chance:.2g} in McNemar's test on words) and phoneme error "
        f"{phonemes[1]:.2f} %",
        f"the joint model trained in less than 15 minutes on 2 processors: "
        f"{_held(joint['train_seconds'] < TRAINING_SECONDS)}, {joint['train_seconds']:.0f} s on one",
        f"at least {WORDS_PER_SECOND} words a second in prediction: "
        f"{_held(joint['words_per_second'] >= WORDS_PER_SECOND)}, {joint['words_per_second']:.0f} on one processor "
        f"with the joint model, {top['words_per_second']:.0f} with {name}",
    ]
    beams = {row["beam"]: row for row in _by_beam(rows)}
    if None in beams and len(beams) > 1:
        exact, widest = beams[None], beams[max(beam for beam in beams if beam is not None)]
        times = exact["train_seconds"] / widest["train_seconds"]
        lines.append(
            f"exact EM is not affordable (the thesis, section 4.4), by the same 15 minutes: "
            f"{_held(exact['train_seconds'] > TRAINING_SECONDS)} at order {exact['order']} on {exact['entries']} "
            f"entries; it takes {exact['train_seconds']:.0f} s, {times:.1f} times those of a beam of {widest['beam']}, "
            f"which has {100 * (widest['word_error'] - exact['word_error']):+.2f} points of word error and "
            f"{widest['minus_log_p'] - exact['minus_log_p']:+.0f} of minus log p on development words"
        )
    return lines


def _held(held: bool) -> str:
    return "held" if held else "**did not hold**"


def _by_order(rows: Sequence[dict[str, Any]], corpus: str) -> list[dict[str, Any]]:
    found = [row for row in rows if row["corpus"] == corpus and _plain(row) and row["beam"] == BEAM]
    return sorted(found, key=lambda row: row["order"])


def _by_beam(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found = [row for row in rows if row["corpus"] == "cmudict" and _plain(row)]
    orders = {row["order"] for row in found if row["beam"] != BEAM}
    return sorted((row for row in found if row["order"] in orders), key=lambda row: row["beam"] or float("inf"))


def _plain(row: dict[str, Any]) -> bool:
    return row["learner"] is None and row["one_in"] == 1 and not row["test"]


def _named(row: dict[str, Any], about: str) -> str:
    if about == "system":
        return f"order {row['order']}" + ("" if row["learner"] is None else f" + `{row['learner']}`")
    return "all (exact)" if row[about] is None else str(row[about])


def _figures(row: dict[str, Any]) -> tuple[str, ...]:
    errors = f"{100 * row['word_error']:.2f}", f"{100 * row['phoneme_error']:.2f}"
    likelihood = f"{row['minus_log_p']:.0f}", f"{row['without_alignment']} of {row['pairs']}"
    return *errors, *likelihood, f"{row['train_seconds']:.0f}", f"{row['words_per_second']:.0f}"


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Word error by order; word error and likelihood by the time of training with each beam."""
    figure, panels = new_figure(3)
    for corpus, title in TITLES.items():
        points = [(row["order"], 100 * row["word_error"]) for row in _by_order(rows, corpus)]
        if points:
            panels[0].plot(*zip(*points), marker="o", label=title)
    panels[0].set(xlabel="order", ylabel="word error %")
    panels[0].legend(frameon=False)
    beams = _by_beam(rows)
    shown = {"word error %": lambda row: 100 * row["word_error"], "minus log p of development words": _minus_log_p}
    for axes, (name, value) in zip(panels[1:], shown.items()):
        axes.plot([row["train_seconds"] for row in beams], [value(row) for row in beams], marker="o")
        for row in beams:
            place = {"xytext": (3, 5), "textcoords": "offset points", "fontsize": 8}
            axes.annotate(_named(row, "beam"), (row["train_seconds"], value(row)), **place)
        axes.set_xscale("log")
        axes.set(xlabel="seconds of training, by width of the beam", ylabel=name)
    figure.savefig(path, dpi=120)


def _minus_log_p(row: dict[str, Any]) -> float:
    return float(row["minus_log_p"])
