"""Questions to databases and their meanings (paper 003, section 5.1).

    margent reproduce latent/questions [--quick] [--out DIR] [--jobs N] [--data DIR]

Semantic parsers of GeoQuery, Jobs and ATIS learn from questions with their meanings alone, with the types of the domain
and with simple types (e, i, t). What is compared, updates and widths of the beam, is compared on the ten folds of
GeoQuery's training data; the four languages of Geo250 have ten folds of their own. Test questions are answered once, by
the parsers with and without the hierarchy of types. A meaning is right if its normal form is; precision is over the
questions that are understood, recall over all. Differences are judged by the paired bootstrap over questions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from margent import Beam, MeaningError, Perceptron, SemanticParser
from margent.datasets import (
    load_atis,
    load_atis_domain,
    load_geo250,
    load_geoquery,
    load_geoquery_domain,
    load_geoquery_facts,
    load_jobs,
    load_jobs_domain,
    make_questions,
)
from margent.meaning import Domain, Expression, answer
from margent.metrics import meaning_scores
from papers.experiment import (
    Options,
    Result,
    Task,
    markdown_table,
    new_figure,
    run_part,
)
from papers.verdict import p_value, told, verdict

HERE = Path(__file__).parent

Questions = list[list[str]]
Meanings = list[Expression]

TITLES = {
    "geoquery": "GeoQuery",
    "jobs": "Jobs",
    "atis": "ATIS",
    "made": "generated questions",
    "geo250-en": "English",
    "geo250-es": "Spanish",
    "geo250-ja": "Japanese",
    "geo250-tr": "Turkish",
}
PAPER = {
    "Zettlemoyer and Collins (2005)": {"geoquery": (96.3, 79.3, 87.0), "jobs": (97.3, 79.3, 87.4)},
    "Zettlemoyer and Collins (2007)": {"geoquery": (91.6, 86.1, 88.8), "atis": (85.8, 84.6, 85.2)},
    "UBL": {"geoquery": (94.1, 85.0, 89.3), "atis": (72.1, 71.4, 71.7)},
    "FUBL": {"geoquery": (88.6, 88.6, 88.6), "atis": (82.8, 82.8, 82.8)},
    "TISP, simple types": {
        "geoquery": (89.7, 86.8, 88.2),
        "jobs": (76.4, 76.4, 76.4),
        "atis": (80.7, 80.4, 80.5),
    },
    "TISP": {"geoquery": (92.9, 88.9, 90.9), "jobs": (85.0, 85.0, 85.0), "atis": (84.7, 84.2, 84.4)},
}
"""Precision, recall and F1 of Table 5.3, in per cent."""
WANTED = {"geoquery": 91.5, "jobs": 88.0, "atis": 85.5}
"""F1 that we want to reach, in per cent."""


@dataclass(frozen=True)
class Plan:
    """`n_train`: questions to learn from; None: all. `n_folds`: of the ten, how many are tested on."""

    corpora: tuple[str, ...] = ("geoquery", "jobs", "atis")
    languages: tuple[str, ...] = ("en", "es", "ja", "tr")
    compared: str = "geoquery"
    updates: tuple[str, ...] = ("max-violation", "early", "skip", "standard")
    widths: tuple[int, ...] = (1, 4, 16, 64)
    epochs: int = 10
    n_train: int | None = None
    n_folds: int = 10


FULL = Plan()
QUICK = Plan(corpora=("geoquery", "jobs"), languages=("en",), widths=(4, 16), epochs=4, n_train=200, n_folds=2)
WIDTH = 16
"""Of the beam, where it is not what is compared."""
MARGIN = 10.0
"""By so much a right meaning has to win in training: the default of the parser, tuned on folds of GeoQuery."""


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes questions.json, .md and .png, and for a full run the part of README.md."""
    return run_part(
        "questions",
        sys.modules[__name__],
        options,
        plan,
        title="parsers",
        caption="F1 against width and update",
        long=_BY_QUESTION,
    )


def tasks(plan: Plan) -> list[Task]:
    shared: Task = {"n": plan.n_train, "epochs": plan.epochs}
    usual: Task = {"types": "full", "update": "max-violation", "width": WIDTH}
    found: list[Task] = [
        {**shared, "corpus": corpus, "fold": None, **usual, "types": types}
        for corpus in plan.corpora
        for types in ("full", "simple")
    ]
    compared = [{**usual, "update": update} for update in plan.updates]
    compared += [{**usual, "width": width} for width in plan.widths]
    compared += [{**usual, "types": "simple"}]
    for one in {tuple(sorted(one.items())): one for one in compared}.values():
        found += [{**shared, "corpus": plan.compared, "fold": fold, **one} for fold in range(plan.n_folds)]
    for language in plan.languages:
        corpus = f"geo250-{language}"
        found += [{**shared, "corpus": corpus, "fold": fold, **usual} for fold in range(plan.n_folds)]
    return found


@dataclass(frozen=True)
class _Corpus:
    """Training questions with their folds, and test questions, if there are any."""

    domain: Domain | None
    X: Questions
    y: Meanings
    folds: np.typing.NDArray[np.int64]
    X_test: Questions
    y_test: Meanings


@lru_cache(maxsize=2)
def corpus_of(name: str) -> _Corpus:
    if name == "made":
        made, test = make_questions(80, seed=0), make_questions(20, seed=1)
        return _Corpus(made.domain, made.X, made.y, _drawn(len(made.X)), test.X, test.y)
    if name.startswith("geo250-"):
        data, domain = load_geo250(name.removeprefix("geo250-")), load_geoquery_domain()
    else:
        loaders = {
            "geoquery": (load_geoquery, load_geoquery_domain),
            "jobs": (load_jobs, load_jobs_domain),
            "atis": (load_atis, load_atis_domain),
        }
        load, load_domain = loaders[name]
        data, domain = load(), load_domain()
    X, y = list(data.train.X), list(data.train.y)
    test: tuple[Questions, Meanings] = ([], []) if data.test is None else (list(data.test.X), list(data.test.y))
    return _Corpus(domain, X, y, _drawn(len(X)) if data.folds is None else data.folds, *test)


def _drawn(n: int) -> np.typing.NDArray[np.int64]:
    found: np.typing.NDArray[np.int64] = np.random.default_rng(0).permutation(n) % 10
    return found


def measure(task: Task) -> Result:
    """Trains a parser on the training data, or without one of their folds, and counts what it answers rightly."""
    corpus = corpus_of(task["corpus"])
    X, y, X_test, y_test = corpus.X, corpus.y, corpus.X_test, corpus.y_test
    if task["fold"] is not None:
        held = corpus.folds == task["fold"]
        (X, X_test), (y, y_test) = ([[o for o, h in zip(z, held) if h == s] for s in (False, True)] for z in (X, y))
    parser = SemanticParser(
        corpus.domain,
        learner=Perceptron(epochs=task["epochs"], margin=MARGIN),
        search=Beam(task["width"], task["update"]),
        types=task["types"],
        calibration=0,
        threads=1,
    )
    begin = time.process_time()
    parser.fit(X[: task["n"]], y[: task["n"]], progress=False)
    if parser.interrupted_:
        raise KeyboardInterrupt
    trained = time.process_time() - begin
    parser.predict(X_test[:1])
    begin = time.process_time()
    found = parser.predict(X_test)
    seconds = time.process_time() - begin
    one_by_one = [meaning_scores([right], [guess]) for right, guess in zip(y_test, found)]
    return {
        "coverage": parser.coverage_,
        "understood": [int(guess is not None) for guess in found],
        "right": [one.total.correct for one in one_by_one],
        "answered": _same_answers(y_test, found) if task["corpus"] == "geoquery" and task["fold"] is None else None,
        "seconds": trained,
        "questions_per_second": len(X_test) / max(seconds, 1e-9),
    }


def _same_answers(right: Sequence[Expression], found: Sequence[Expression | None]) -> list[int]:
    """Of which questions the answers are those of the right meaning, out of the facts of GeoQuery."""
    facts = load_geoquery_facts()

    def answered(meaning: Expression) -> Any:
        try:
            return answer(meaning, facts)
        except MeaningError:
            return None

    return [
        int(guess is not None and (expected := answered(gold)) is not None and answered(guess) == expected)
        for gold, guess in zip(right, found)
    ]


# For the bootstrap; in the journal alone, as they are long.
_BY_QUESTION = ("understood", "right", "answered")


def scores(rows: Sequence[Result], which: str = "right") -> tuple[float, float, float]:
    """Precision, recall and F1 of all questions of these rows together, in per cent."""
    right = sum(sum(row[which]) for row in rows)
    understood, asked = (sum(map(count, rows)) for count in (lambda row: sum(row["understood"]), _n_questions))
    return (
        100 * right / max(understood, 1),
        100 * right / max(asked, 1),
        200 * right / max(understood + asked, 1),
    )


def _n_questions(row: Result) -> int:
    return len(row["right"])


def _counts(rows: Sequence[Result]) -> list[tuple[int, int]]:
    """What F1 is made of, by question."""
    return [(2 * right, 1 + understood) for row in rows for right, understood in zip(row["right"], row["understood"])]


def report(rows: list[dict[str, Any]]) -> str:
    tested = {(row["corpus"], row["types"]): row for row in rows if row["fold"] is None}
    corpora = list(dict.fromkeys(corpus for corpus, _ in tested))
    out = [_test_table(tested, corpora), _cost_table(tested, corpora)]
    folds: dict[tuple[str, int, str, str], list[Result]] = {}
    for row in rows:
        if row["fold"] is not None:
            folds.setdefault((row["corpus"], row["width"], row["update"], row["types"]), []).append(row)
    out += [_fold_table(folds), _language_table(folds)]
    out.append(f"What is claimed\n\n{markdown_table(('claim', 'verdict', 'because'), claims(tested, folds), left=3)}")
    return "\n".join(part for part in out if part)


def _told(found: Sequence[float]) -> str:
    return " / ".join(f"{value:.1f}" for value in found)


def _test_table(tested: dict[tuple[str, str], Result], corpora: Sequence[str]) -> str:
    lines = []
    for name, theirs in PAPER.items():
        if any(corpus in theirs for corpus in corpora):
            lines.append((name, *(_told(theirs[corpus]) if corpus in theirs else "" for corpus in corpora)))
    for types, name in (("simple", "here, simple types"), ("full", "here")):
        lines.append((name, *(_told(scores([tested[corpus, types]])) for corpus in corpora)))
    by_answer = [
        (_told(scores([tested[corpus, "full"]], "answered")) if tested[corpus, "full"]["answered"] else "")
        for corpus in corpora
    ]
    if any(by_answer):
        lines.append(("here, by answers", *by_answer))
    head = ("precision / recall / F1 on test data", *(TITLES[corpus] for corpus in corpora))
    return markdown_table(head, lines)


def _cost_table(tested: dict[tuple[str, str], Result], corpora: Sequence[str]) -> str:
    lines = [
        (
            TITLES[corpus],
            types,
            f"{100 * tested[corpus, types]['coverage']:.1f} %",
            f"{tested[corpus, types]['seconds']:.0f}",
            f"{tested[corpus, types]['questions_per_second']:,.0f}",
        )
        for corpus in corpora
        for types in ("full", "simple")
    ]
    head = ("corpus", "types", "training questions with a derivation", "training, s", "questions/s")
    return markdown_table(head, lines, left=2)


def _fold_table(folds: dict[tuple[str, int, str, str], list[Result]]) -> str:
    lines = [
        (str(width), update, types, *(f"{value:.1f}" for value in scores(found)), f"{_mean(found):.1f}")
        for (corpus, width, update, types), found in sorted(folds.items())
        if not corpus.startswith("geo250-")
    ]
    head = ("beam", "update", "types", "precision", "recall", "F1", "training, s")
    return f"Folds of the training data\n\n{markdown_table(head, lines, left=3)}" if lines else ""


def _mean(rows: Sequence[Result]) -> float:
    return float(np.mean([row["seconds"] for row in rows]))


def _language_table(folds: dict[tuple[str, int, str, str], list[Result]]) -> str:
    lines = [
        (TITLES[corpus], *(f"{value:.1f}" for value in scores(found)))
        for (corpus, *_), found in folds.items()
        if corpus.startswith("geo250-")
    ]
    head = ("language", "precision", "recall", "F1")
    return f"Geo250, ten folds\n\n{markdown_table(head, lines)}" if lines else ""


def claims(
    tested: dict[tuple[str, str], Result], folds: dict[tuple[str, int, str, str], list[Result]]
) -> list[tuple[str, str, str]]:
    found = []
    for corpus in dict.fromkeys(corpus for corpus, _ in tested):
        full, simple = [tested[corpus, "full"]], [tested[corpus, "simple"]]
        found.append(_better(f"{TITLES[corpus]}: types of the domain are better than simple types", full, simple))
        if corpus in WANTED:
            f1 = scores(full)[2]
            reached = "held" if f1 >= WANTED[corpus] else "did not hold"
            found.append((f"{TITLES[corpus]}: F1 of at least {WANTED[corpus]} (ours)", reached, f"{f1:.1f}"))
    usual = {key[2]: rows for key, rows in folds.items() if key[1] == WIDTH and key[3] == "full" and _compared(key)}
    for update in ("early", "skip", "standard"):
        if update in usual:
            title = f"folds: max-violation updates are better than {update} ones"
            found.append(_better(title, usual["max-violation"], usual[update]))
    return found


def _compared(key: tuple[str, int, str, str]) -> bool:
    return not key[0].startswith("geo250-")


def _better(title: str, better: Sequence[Result], worse: Sequence[Result]) -> tuple[str, str, str]:
    p = p_value(*([list(pair) for pair in _counts(rows)] for rows in (worse, better)))
    high, low = scores(better)[2], scores(worse)[2]
    return title, verdict(high > low, p), f"F1 {high:.1f} against {low:.1f}, {told(p)}"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """F1 on the folds against the width of the beam and by update; without folds, F1 on test data."""
    if all(row["fold"] is None for row in rows):
        figure, (panel,) = new_figure(1)
        tested = {f"{TITLES[row['corpus']]}, {row['types']} types": scores([row])[2] for row in rows}
        panel.barh(list(tested), list(tested.values()), color="#8c96a0")
        panel.set(xlabel="F1 on test data, percent")
        figure.savefig(path)
        return
    figure, (left, right) = new_figure(2)
    found: dict[tuple[int, str], list[Result]] = {}
    for row in rows:
        if row["fold"] is not None and row["types"] == "full" and not row["corpus"].startswith("geo250-"):
            found.setdefault((row["width"], row["update"]), []).append(row)
    widths = sorted(width for width, update in found if update == "max-violation")
    left.plot(widths, [scores(found[width, "max-violation"])[2] for width in widths], color="#2b6ca3", marker="o")
    left.set_xscale("log", base=2)
    left.set(xlabel="width of the beam", ylabel="F1 on folds of the training data, percent")
    updates = [update for width, update in found if width == WIDTH]
    right.bar(updates, [scores(found[WIDTH, update])[2] for update in updates], color="#8c96a0")
    right.set(ylabel=f"F1, beam {WIDTH}")
    figure.savefig(path)
