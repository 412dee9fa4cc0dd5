"""Labels split into hidden ones, against chains of order 1 and 2 (paper 003, chapter 4).

    margent reproduce latent/hidden [--quick] [--out DIR] [--jobs N] [--data DIR]

Parts of speech of English and Chinese (coarse tags) and letters to phonemes: what do hidden labels gain, over labels as
they are, and over chains that look one label further back? With the latent perceptron, its passive-aggressive cousin
and the latent CRF, all labels split from the start or grown by splitting and merging. Epochs, and for the CRF the way
of decoding, are chosen on development data; test data are labelled once by each tagger. Whether a difference is more
than luck is judged by the paired bootstrap over test sentences.

So that sums over triples of labels and over pairs of hidden ones are affordable, in all rows of the CRF a word that was
seen ten times in training (for NETtalk: a letter) gets only labels that it was seen with.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from functools import lru_cache
from operator import eq
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import margent
from margent.datasets import Dataset, Part, load_nettalk, load_ud
from margent.formats import Columns
from margent.learners import learner_named
from margent.metrics import BootstrapResult, SentenceMetric, paired_bootstrap
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


def _nettalk() -> Dataset:
    """One word in ten for development, one for tests, drawn once for all. Entries of a word stay together."""
    entries = load_nettalk().train
    of_word: dict[str, list[tuple[list[str], list[str]]]] = {}
    for letters, phonemes in zip(entries.X, entries.y):
        pair = [token[0] for token in letters], [token[0] for token in phonemes]
        of_word.setdefault("".join(pair[0]), []).append(pair)
    words = list(of_word)
    order = np.random.default_rng(0).permutation(len(words)).tolist()
    tenth = len(words) // 10

    def part(numbers: list[int]) -> Part:
        pairs = [pair for i in numbers for pair in of_word[words[i]]]
        return Part(*(Columns.from_sentences([pair[side] for pair in pairs]) for side in (0, 1)))

    parts = [part(order[2 * tenth :]), part(order[:tenth]), part(order[tenth : 2 * tenth])]
    return Dataset("nettalk", *parts, description="NETtalk, split at random.", terms="")


CORPORA = {
    "english": lambda: load_ud("english-ewt"),
    "chinese": lambda: load_ud("chinese-gsd"),
    "nettalk": _nettalk,
    "addresses": lambda: generated_addresses(200, 50, 60),
}
TITLES = {
    "english": "UD English, 17 coarse tags",
    "chinese": "UD Chinese, 15 coarse tags",
    "nettalk": "NETtalk, letters to 51 phonemes",
    "addresses": "generated addresses",
}
FEATURES = {"nettalk": "letters", "addresses": "generic"}

MODELS: dict[str, dict[str, Any]] = {
    "order 1": {},
    "order 1, trained longer": {},
    "order 2": {"order": 2},
    "hidden 2": {"hidden": 2},
    "hidden 4": {"hidden": 4},
}
NAMES = {"perceptron": "perceptron", "pa": "passive-aggressive", "crf": "CRF"}

# Hidden labels take several times as long: so that this is not what they gain by.
LONGER = {"order 1, trained longer": 5}

# What a field may say of words seen so often: only what it has seen.
RESTRICTED = {"crf": 10}

# Sums over pairs of up to 216 hidden phonemes are the dearest of all. A field that is trained until it has converged
# gains nothing by more of it.
PARTS = {("nettalk", "crf"): 3000}
LEFT_OUT = {
    *((corpus, "crf", model) for corpus in CORPORA for model in LONGER),
}


@dataclass(frozen=True)
class Plan:
    """`epochs`: by learner. `seeds`: of the learners that go from sentence to sentence; the CRF, and NETtalk, have the
    first alone.
    """

    corpora: tuple[str, ...] = ("english", "chinese", "nettalk")
    models: tuple[str, ...] = tuple(MODELS)
    epochs: tuple[tuple[str, int], ...] = (("perceptron", 10), ("pa", 10), ("crf", 80))
    seeds: tuple[int, ...] = (0, 1)
    n_train: int | None = None


FULL = Plan()
QUICK = Plan(
    corpora=("english",),
    models=("order 1", "order 2", "hidden 2"),
    epochs=(("perceptron", 4), ("crf", 80)),
    seeds=(0,),
    n_train=1000,
)


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes hidden.json, hidden.md and hidden.png, and for a full run the part of README.md."""
    return run_part(
        "hidden",
        sys.modules[__name__],
        options,
        plan,
        title="taggers",
        caption="accuracy against time",
        long=_BY_SENTENCE,
    )


def tasks(plan: Plan) -> list[Task]:
    """All trainings, those that take longest first."""
    wanted = [
        {
            "corpus": corpus,
            "data": data_fingerprint(corpora(corpus)),
            "n": PARTS.get((corpus, learner), plan.n_train),
            "learner": learner,
            "epochs": epochs * LONGER.get(model, 1),
            "model": model,
            "seed": seed,
        }
        for corpus in plan.corpora
        for learner, epochs in plan.epochs
        for model in plan.models
        for seed in (plan.seeds[:1] if learner == "crf" or corpus == "nettalk" else plan.seeds)
        if (corpus, learner, model) not in LEFT_OUT
    ]
    # Models stand from the cheapest to the most expensive, learners too; one of many labels costs more than all.
    order = [(corpus, name) for name in reversed(NAMES) for corpus in ("nettalk", *CORPORA)]
    models = list(reversed(MODELS))
    return sorted(
        wanted, key=lambda task: (order.index((task["corpus"], task["learner"])), models.index(task["model"]))
    )


@lru_cache(maxsize=3)
def corpora(name: str) -> Dataset:
    return CORPORA[name]()


def measure(task: Task) -> Result:
    """Trains a tagger, and gives its accuracy, the way of decoding that was best for it, and the time it took."""
    data = corpora(task["corpus"])
    assert data.dev is not None and data.test is not None
    tagger = margent.Tagger(
        FEATURES.get(task["corpus"], "pos"),
        learner_named(task["learner"], epochs=task["epochs"]),
        calibration=0,
        seed=task["seed"],
        threads=1,
        tag_dictionary=RESTRICTED.get(task["learner"]),
        **MODELS[task["model"]],
    )
    X, y = list(data.train.X)[: task["n"]], list(data.train.y)[: task["n"]]
    begin = time.process_time()
    tagger.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, dev_metric="accuracy", progress=False)
    seconds = time.process_time() - begin
    if tagger.interrupted_:
        raise KeyboardInterrupt
    ways = ["viterbi"]
    if task["learner"] == "crf":  # the others have no probabilities to sum up
        ways += ["sum", "posterior"] if tagger.hidden is not None else ["posterior"]
    on_dev = {way: _share(*_right(tagger.set_params(search=way), data.dev)) for way in ways}
    chosen = max(ways, key=lambda way: on_dev[way])
    sizes = getattr(tagger.weights_, "labels", None)
    right, lengths = _right(tagger.set_params(search=chosen), data.test)
    return {
        "dev": on_dev,
        "decode": chosen,
        "test": _share(right, lengths),
        "right": right,
        "lengths": lengths,
        "seconds": seconds,
        "labels": len(tagger.classes_),
        "hidden_labels": len(tagger.classes_) if sizes is None else sizes.n_hidden,
    }


# For the bootstrap; in the journal alone, as they are long.
_BY_SENTENCE = ("right", "lengths")


def _right(tagger: margent.Tagger, part: Part) -> tuple[list[int], list[int]]:
    """Of each sentence: tokens that are right, and all."""
    pairs = [(found, _labels(gold)) for found, gold in zip(tagger.predict(part.X), part.y, strict=True)]
    return [sum(map(eq, found, gold)) for found, gold in pairs], [len(gold) for _, gold in pairs]


def _share(right: list[int], lengths: list[int]) -> float:
    return sum(right) / sum(lengths)


def _labels(gold: Any) -> list[str]:
    return [label if isinstance(label, str) else label[0] for label in gold]


def _groups(rows: list[dict[str, Any]]) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """The runs with several seeds by corpus, learner and model."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["corpus"], row["learner"], row["model"]), []).append(row)
    return groups


def _dev(rows: list[dict[str, Any]]) -> float:
    return 100 * mean(row["dev"][row["decode"]] for row in rows)


def _test(rows: list[dict[str, Any]]) -> float:
    return 100 * mean(row["test"] for row in rows)


def report(rows: list[dict[str, Any]]) -> str:
    groups, out = _groups(rows), []
    for corpus in (name for name in CORPORA if any(row["corpus"] == name for row in rows)):
        learners = [name for name in NAMES if any(key[:2] == (corpus, name) for key in groups)]
        models = [model for model in MODELS if any(key[::2] == (corpus, model) for key in groups)]
        for title, shown in _SHOWN.items():
            lines = [
                (model, *(shown(found) if (found := groups.get((corpus, name, model))) else "-" for name in learners))
                for model in models
            ]
            table = markdown_table(("", *(_headed(corpus, name) for name in learners)), lines)
            out.append(f"{TITLES[corpus]}: {title}\n\n{table}")
        out.append("".join(f"- {line}\n" for name in learners if (line := _verdict(groups, corpus, name, models))))
    return "\n".join(out)


_SHOWN = {
    "accuracy on test data (on development data), in percent": lambda rows: f"{_test(rows):.2f} ({_dev(rows):.2f})",
    "seconds of processor time in training": lambda rows: f"{mean(row['seconds'] for row in rows):.0f}",
    "hidden labels": lambda rows: f"{mean(row['hidden_labels'] for row in rows):.0f}",
}


def _headed(corpus: str, learner: str) -> str:
    part = PARTS.get((corpus, learner))
    return NAMES[learner] + (f", {part} words" if part else "")


def _verdict(groups: Any, corpus: str, learner: str, models: list[str]) -> str | None:
    """In words: the hidden labels that are best on development data against what is not hidden."""
    there = [model for model in models if (corpus, learner, model) in groups]
    hidden = [model for model in there if MODELS[model].get("hidden")]
    plain = [model for model in there if model not in hidden]
    if not hidden or not plain:
        return None
    best, other = (max(own, key=lambda model: _dev(groups[corpus, learner, model])) for own in (hidden, plain))
    found = _compared(groups[corpus, learner, other], groups[corpus, learner, best])
    word = "more" if found.difference >= 0 else "less"
    missing = "" if "order 2" in there else "; order 2 was not measured"
    judged = "" if found.low > 0 or found.high < 0 else ", which may be luck"
    return (
        f"{NAMES[learner]}: chosen on development data, {best} has {100 * abs(found.difference):.2f} points {word} on "
        f"test data than {other} (95 % interval of the difference {100 * found.low:+.2f} to {100 * found.high:+.2f}, "
        f"p = {found.p_value:.2g}{judged}){missing}."
    )


def _compared(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> BootstrapResult:
    """The paired bootstrap over test sentences, the seeds of each sentence together."""

    def counts(rows: list[dict[str, Any]]) -> list[Any]:
        n = min(len(first), len(second))
        return list(zip(*(np.sum([row[name] for row in rows[:n]], axis=0).tolist() for name in _BY_SENTENCE)))

    metric = SentenceMetric(lambda _, found: np.array(found), lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1))
    return paired_bootstrap([()] * len(first[0]["right"]), counts(first), counts(second), metric, samples=2000)


COLOURS = dict(zip(MODELS, ("#333333", "#777777", "#8c96a0", "#c8a03d", "#c8553d", "#2b6ca3")))
MARKERS = {"perceptron": "o", "pa": "^", "crf": "s"}


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """For each corpus: accuracy on development data against the time of training."""
    names = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, panels = new_figure(len(names))
    for corpus, axes in zip(names, panels):
        for (own, learner, model), found in _groups(rows).items():
            if own == corpus:
                label = f"{NAMES[learner]}, {model}"
                look = {"color": COLOURS[model], "marker": MARKERS[learner], "linestyle": "none", "label": label}
                axes.plot([mean(row["seconds"] for row in found)], [_dev(found)], **look)
        axes.set_xscale("log")
        axes.set(xlabel="seconds of training", ylabel="accuracy on development data, percent")
        axes.set_title(TITLES[corpus], loc="left", fontsize=10)
    handles, labels = max((axes.get_legend_handles_labels() for axes in panels), key=lambda both: len(both[1]))
    panels[-1].legend(handles, labels, frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    figure.savefig(path)
