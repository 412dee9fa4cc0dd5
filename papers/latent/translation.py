"""Translation by hierarchical phrases (paper 003, section 5.2).

    margent reproduce latent/translation [--quick] [--out DIR] [--jobs N] [--data DIR]

Chinese sentences of Tatoeba are translated into English by the same rules and the same language model, whose features
are weighted in several ways: dense features by MERT on lists and on forests, by PRO and by batch MIRA, on development
data; dense and sparse features by MaxForce, on training data alone, under each of its update policies. The paper's
corpora, IWSLT09 and FBIS, are licensed; its figures stand beside ours for orientation only. BLEU is that of sacrebleu
on words as given, all references of a sentence together. Test sentences are translated once for each row. Differences
are judged by the paired bootstrap over sentences.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from margent import (
    BatchMira,
    CubePruning,
    DenseStart,
    Mert,
    Perceptron,
    Pro,
    Translator,
    rule_translator,
    tune_weights,
)
from margent.annotation import WordAlignment
from margent.datasets import grouped_references, load_tatoeba, load_tatoeba_alignments, make_translations
from margent.metrics import References, corpus_bleu
from papers.experiment import Options, Result, Task, markdown_table, new_figure, run_part
from papers.verdict import p_value, told, verdict

HERE = Path(__file__).parent

TUNERS: dict[str, Any] = {
    "n-best MERT": Mert(restarts=2, directions=6, rounds=5),
    "hypergraph MERT": Mert(forests=True, directions=6, rounds=2),
    "PRO": Pro(interpolation=0.3),
    "batch MIRA": BatchMira(epochs=10),
}
PAPER = {
    "n-best MERT": ("18", 44.9, 47.9),
    "hypergraph MERT": ("18", 46.6, 50.7),
    "PRO": ("18", 45.0, 49.5),
    "local update": ("443K", 45.6, 49.1),
    "MaxForce": ("529K", 47.4, 51.5),
}
"""Features, and BLEU on the development and test data of IWSLT09, with 16 references (Table 5.5)."""
WANTED = 30.0
"""Test BLEU that we want to reach."""
UNTUNED = "first weights"


@dataclass(frozen=True)
class Plan:
    """n_train : training pairs; None: all. k : translations of each sentence that tuners get; iterations : of tuners
    epochs : of MaxForce, in the table; compared : of the policies, on `n_compared` training pairs
    """

    corpus: str = "tatoeba"
    tuners: tuple[str, ...] = tuple(TUNERS)
    updates: tuple[str, ...] = ("max-violation", "local", "skip", "standard")
    n_train: int | None = None
    n_compared: int | None = 6000
    epochs: int = 5
    compared_epochs: int = 5
    iterations: int = 6
    k: int = 50
    n_dev: int | None = field(default=None, metadata={"help": "development sentences"})


FULL = Plan()
QUICK = Plan(
    tuners=("n-best MERT", "PRO"),
    updates=("max-violation", "standard"),
    n_train=6000,
    n_compared=2000,
    epochs=2,
    compared_epochs=2,
    iterations=3,
    k=20,
    n_dev=300,
)


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes translation.json, .md and .png, and for a full run the part of README.md."""
    return run_part(
        "translation",
        sys.modules[__name__],
        options,
        plan,
        title="translators",
        caption="BLEU over passes, by update and by features",
        long=("counts",),
    )


def tasks(plan: Plan) -> list[Task]:
    shared: Task = {"corpus": plan.corpus, "n_dev": plan.n_dev}
    tuned: Task = {**shared, "kind": "tuner", "n": plan.n_train, "k": plan.k, "iterations": plan.iterations}
    found = [{**tuned, "name": name} for name in (UNTUNED, *plan.tuners)]
    learned: Task = {**shared, "kind": "learner", "left_out": True, "features": "all"}
    found += [
        {**learned, "n": plan.n_train, "epochs": plan.epochs, "update": update, "features": features}
        for update, features in (("max-violation", "all"), ("local", "all"), ("max-violation", "dense"))
        if update in plan.updates
    ]
    compared: Task = {**learned, "n": plan.n_compared, "epochs": plan.compared_epochs}
    found += [{**compared, "update": update} for update in plan.updates]
    found += [
        {**compared, "update": "max-violation", "features": "dense"},
        {**compared, "update": "max-violation", "left_out": False},
    ]
    return found


@dataclass(frozen=True)
class _Corpus:
    """Training pairs with their alignments; sentences to develop and to test with, each with all its references."""

    X: list[list[str]]
    y: list[list[str]]
    alignments: list[WordAlignment]
    dev: tuple[list[list[str]], list[list[list[str]]]]
    test: tuple[list[list[str]], list[list[list[str]]]]


@lru_cache(maxsize=2)
def corpus_of(name: str) -> _Corpus:
    if name == "made":
        sources, targets, alignments = make_translations(400, seed=0)
        parts = [grouped_references(sources[a : a + 50], targets[a : a + 50]) for a in (300, 350)]
        return _Corpus(sources[:300], targets[:300], alignments[:300], parts[0], parts[1])
    data = load_tatoeba()
    assert data.dev is not None and data.test is not None
    dev, test = grouped_references(*data.dev), grouped_references(*data.test)
    return _Corpus(data.train.X, data.train.y, load_tatoeba_alignments(), dev, test)


def measure(task: Task) -> Result:
    """Tunes or trains a translator; BLEU on development and test data, with what BLEU is made of by test sentence."""
    corpus = corpus_of(task["corpus"])
    X_dev, y_dev = (some(side, task["n_dev"]) for side in corpus.dev)
    pairs = tuple(some(side, task["n"]) for side in (corpus.X, corpus.y, corpus.alignments))
    begin = time.process_time()
    if task["kind"] == "tuner":
        translator, curve, n_features = _tuned(task, pairs, X_dev, y_dev)
    else:
        translator, curve, n_features = _trained(task, pairs, X_dev, y_dev)
    seconds = time.process_time() - begin
    dev = _statistics(y_dev, translator.predict(X_dev))
    translator.predict(corpus.test[0][:1])
    begin = time.process_time()
    found = translator.predict(corpus.test[0])
    decoding = time.process_time() - begin
    test = _statistics(corpus.test[1], found)
    total = test.sum(axis=0)
    return {
        "dev": _bleu(dev),
        "test": _bleu(test),
        "length": float(total[0] / total[1]),
        "curve": curve,
        "n_features": n_features,
        "n_rules": len(translator.rules_),
        "coverage": translator.coverage_,
        "seconds": seconds,
        "sentences_per_second": len(found) / max(decoding, 1e-9),
        "counts": test.astype(int).tolist(),
    }


def some(items: list[Any], n: int | None) -> list[Any]:
    """So many of them, at random, as corpora are sorted by length; None: all."""
    if n is None or n >= len(items):
        return items
    chosen = np.sort(np.random.default_rng(0).permutation(len(items))[:n])
    return [items[i] for i in chosen.tolist()]


def _tuned(task: Task, pairs: Any, X_dev: Any, y_dev: Any) -> tuple[Translator, list[float], int]:
    translator = rule_translator(Translator(features=[], order=5, threads=1), *pairs)
    n = len(translator.weights_.dense)
    if task["name"] == UNTUNED:
        return translator, [], n
    found = tune_weights(
        *(translator, X_dev, y_dev, TUNERS[task["name"]]), iterations=task["iterations"], k=task["k"], seed=0
    )
    return found.translator, [100 * line["bleu"] for line in found.history], n


def _trained(task: Task, pairs: Any, X_dev: Any, y_dev: Any) -> tuple[Translator, list[float], int]:
    dense = task["features"] == "dense"
    translator = Translator(
        features=[] if dense else None,
        learner=Perceptron(epochs=task["epochs"]),
        # Without sparse features the dense ones are all that can be learned.
        dense=DenseStart(scale=10.0, step=1.0) if dense else DenseStart(),
        order=5,
        search=CubePruning(update=task["update"]),
        left_out=task["left_out"],
        calibration=0,
        threads=1,
    )
    X, y, alignments = pairs
    translator.fit(X, y, alignments=alignments, X_dev=X_dev, y_dev=y_dev, progress=False)
    if translator.interrupted_:
        raise KeyboardInterrupt
    weights = translator.weights_.table.arrays()["weights"]
    return translator, [100 * epoch["dev_score"] for epoch in translator.history_], int(np.count_nonzero(weights))


def _statistics(references: Sequence[Any], found: Sequence[Sequence[str]]) -> Any:
    """(sentences, 10), what BLEU is made of."""
    return np.array([References(right).statistics(words) for right, words in zip(references, found)])


def _bleu(statistics: Any) -> float:
    return 100 * float(corpus_bleu(statistics.sum(axis=0)))


def title(row: Result) -> str:
    if row["kind"] == "tuner":
        return str(row["name"])
    name = {"max-violation": "MaxForce", "local": "local update"}.get(row["update"], f"{row['update']} update")
    name += ", dense features" if row["features"] == "dense" else ""
    return name if row["left_out"] else f"{name}, own rules not left out"


def split(rows: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Those of the table, and those that are compared with each other."""
    first = [i for i, row in enumerate(rows) if row["kind"] == "learner" and row["update"] == "max-violation"]
    dense = [i for i in first if rows[i]["features"] == "dense"]
    end = dense[0] + 1
    return list(rows[:end]), list(rows[end:])


def report(rows: list[dict[str, Any]]) -> str:
    table, compared = split(rows)
    lines = []
    for row in table:
        theirs = PAPER.get(title(row))
        lines.append(
            (
                title(row),
                f"{row['n_features']:,}",
                f"{row['dev']:.2f}",
                f"{row['test']:.2f}",
                f"{row['length']:.3f}",
                f"{row['seconds']:,.0f}",
                f"{row['sentences_per_second']:,.0f}",
                "" if theirs is None else f"{theirs[0]}: {theirs[1]} / {theirs[2]}",
            )
        )
    head = ("weights by", "features", "dev BLEU", "test BLEU", "length", "s", "sentences/s", "paper, IWSLT09")
    parts = [markdown_table(head, lines)]
    lines = [
        (
            title(row),
            f"{100 * row['coverage']:.1f} %",
            *(f"{value:.2f}" for value in row["curve"]),
            f"{row['test']:.2f}",
        )
        for row in compared
    ]
    passes = max(len(row["curve"]) for row in compared)
    head = ("policy", "reached", *(f"pass {n + 1}" for n in range(passes)), "test BLEU")
    parts.append(f"Development BLEU on {compared[0]['n'] or 'all'} training pairs\n\n{markdown_table(head, lines)}")
    parts.append(f"What is claimed\n\n{markdown_table(('claim', 'verdict', 'because'), claims(rows), left=3)}")
    return "\n".join(parts)


def claims(rows: Sequence[Result]) -> list[tuple[str, str, str]]:
    table, compared = split(rows)
    by_title = {title(row): row for row in table}
    found = []
    tuned = [row for row in table if row["kind"] == "tuner" and row["name"] in TUNERS]
    best = max(tuned, key=_dev)
    force = by_title["MaxForce"]
    found.append(_better(f"MaxForce is better than the best tuner ({title(best)}, by dev BLEU)", force, best))
    if "MaxForce, dense features" in by_title:
        found.append(_better("sparse features gain", force, by_title["MaxForce, dense features"]))
    reached = "held" if force["test"] >= WANTED else "did not hold"
    found.append((f"test BLEU of at least {WANTED:.0f} (ours)", reached, f"{force['test']:.2f}"))
    policies = {row["update"]: row for row in compared if row["features"] == "all" and row["left_out"]}
    order = [update for update in ("max-violation", "local", "skip", "standard") if update in policies]
    for one, other in pairwise(order):
        found.append(_better(f"{one} is better than {other}", policies[one], policies[other]))
    return found


def _dev(row: Result) -> float:
    return float(row["dev"])


def _better(what: str, better: Result, worse: Result) -> tuple[str, str, str]:
    p = p_value(worse["counts"], better["counts"], corpus_bleu)
    high, low = better["test"], worse["test"]
    return what, verdict(high > low, p), f"BLEU {high:.2f} against {low:.2f}, {told(p)}"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Development BLEU over passes, by update policy and by features (Fig. 5.5)."""
    figure, (left, right) = new_figure(2)
    table, compared = split(rows)
    colours = {"max-violation": "#2b6ca3", "local": "#c0504d", "skip": "#8c96a0", "standard": "#d9a441"}
    for row in compared:
        passes = range(1, len(row["curve"]) + 1)
        if row["features"] == "all" and row["left_out"]:
            left.plot(passes, row["curve"], color=colours[row["update"]], marker="o", label=row["update"])
    left.set(xlabel="passes", ylabel="development BLEU")
    left.legend(frameon=False)
    for row in table:
        if row["kind"] == "learner" and row["update"] == "max-violation":
            passes = range(1, len(row["curve"]) + 1)
            right.plot(passes, row["curve"], marker="o", label=title(row))
        elif row["kind"] == "tuner":
            right.axhline(row["dev"], color="#8c96a0", linewidth=0.8, linestyle=":")
            right.annotate(title(row), (1, row["dev"]), fontsize=7, color="#8c96a0")
    right.set(xlabel="passes", ylabel="development BLEU")
    right.legend(frameon=False)
    figure.savefig(path)
