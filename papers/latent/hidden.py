"""Labels split into hidden ones, against chains of order 1 and 2 (paper 003, chapter 4).

    margent reproduce latent/hidden [--quick] [--out DIR] [--jobs N] [--data DIR]

Parts of speech of English and Chinese (coarse tags) and letters to phonemes: what do hidden labels gain, over labels as
they are, and over chains that look one label further back? With the latent perceptron, its passive-aggressive cousin
and the latent CRF, all labels split from the start or grown by splitting and merging. Epochs, and for the CRF the way
of decoding, are chosen on development data; test data are labelled once by each tagger.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import margent
from margent.corpus import Columns, Dataset, Part, load_nettalk, load_ud, make_addresses
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


def _nettalk() -> Dataset:
    """One word in ten for development, one for tests, drawn once for all."""
    words = load_nettalk().train
    X, y = list(words.X), list(words.y)
    order = np.random.default_rng(0).permutation(len(X)).tolist()
    tenth = len(X) // 10

    def part(numbers: list[int]) -> Part:
        sides = ([[token[0] for token in side[i]] for i in numbers] for side in (X, y))
        return Part(*(Columns.from_sentences(side) for side in sides))

    parts = [part(order[2 * tenth :]), part(order[:tenth]), part(order[tenth : 2 * tenth])]
    return Dataset("nettalk", *parts, description="NETtalk, split at random.", terms="")


def _addresses() -> Dataset:
    """Generated, so that the experiment can be tried without data."""
    parts = [Part(*(Columns.from_sentences(side) for side in make_addresses(n, seed=n))) for n in (200, 50, 60)]
    return Dataset("addresses", *parts, description="Generated addresses.", terms="")


CORPORA = {
    "english": lambda: load_ud("english-ewt"),
    "chinese": lambda: load_ud("chinese-gsd"),
    "nettalk": _nettalk,
    "addresses": _addresses,
}
TITLES = {
    "english": "UD English, 17 coarse tags",
    "chinese": "UD Chinese, 16 coarse tags",
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
    "split-merge, up to 4": {"hidden": 4, "growth": "split-merge"},
}
NAMES = {"perceptron": "perceptron", "pa": "passive-aggressive", "crf": "CRF"}

# Splitting and merging up to 4 trains five times: so that this is not what it gains by.
LONGER = {"order 1, trained longer": 5}

# Sums over triples of labels, or over pairs of 216 hidden ones, would take longer than all the rest. A field that is
# trained until it has converged gains nothing by more of it.
LEFT_OUT = {
    *((corpus, "crf", model) for corpus in CORPORA for model in ("order 2", *LONGER)),
    *(("nettalk", "crf", model) for model in ("hidden 4", "split-merge, up to 4")),
}


@dataclass(frozen=True)
class Plan:
    """`epochs`: by learner. `seeds`: of the learners that go from sentence to sentence; the CRF, and NETtalk, have the
    first alone.
    """

    corpora: tuple[str, ...] = ("english", "chinese", "nettalk")
    models: tuple[str, ...] = tuple(MODELS)
    epochs: tuple[tuple[str, int], ...] = (("perceptron", 10), ("pa", 10), ("crf", 200))
    seeds: tuple[int, ...] = (0, 1)
    n_train: int | None = None


FULL = Plan()
QUICK = Plan(
    corpora=("english",),
    models=("order 1", "order 2", "hidden 2", "split-merge, up to 4"),
    epochs=(("perceptron", 4), ("crf", 100)),
    seeds=(0,),
    n_train=1000,
)


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes hidden.json, hidden.md and hidden.png, and for a full run the part of README.md."""
    plan = plan or (QUICK if options.quick else FULL)
    new_figure(1)  # nobody wants to hear at the end that there is no matplotlib
    folder = options.folder(HERE)
    journal = Journal(folder / "hidden-journal.jsonl")
    with options.environment():
        wanted = tasks(plan)
        rows = run_tasks(measure, wanted, journal, jobs=options.jobs, title="taggers")
    described = [{**task, **result} for task, result in zip(wanted, rows)]
    write_json(folder / "hidden.json", {"plan": asdict(plan), "results": described, "commits": sorted(journal.commits)})
    text = report(described)
    (folder / "hidden.md").write_text(text, encoding="utf-8")
    draw(described, folder / "hidden.png")
    if options.out is None and plan == FULL:
        readme = HERE / "README.md"
        parts = {"hidden": f"{text}\n![accuracy against time](results/hidden.png)\n"}
        readme.write_text(with_generated(readme.read_text("utf-8"), parts), encoding="utf-8")
    return folder / "hidden.md"


def tasks(plan: Plan) -> list[Task]:
    return [
        {
            "corpus": corpus,
            "data": data_fingerprint(corpora(corpus)),
            "n": plan.n_train,
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
        **MODELS[task["model"]],
    )
    X, y = list(data.train.X)[: task["n"]], list(data.train.y)[: task["n"]]
    begin = time.process_time()
    tagger.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, dev_metric="accuracy", progress=False)
    seconds = time.process_time() - begin
    if tagger.interrupted_:
        raise KeyboardInterrupt
    ways = ["path"]
    if task["learner"] == "crf":  # the others have no probabilities to sum up
        ways += ["sum", "posterior"] if tagger.hidden > 1 else ["posterior"]
    on_dev = {way: _accuracy(tagger.set_params(decode=way), data.dev) for way in ways}
    chosen = max(ways, key=lambda way: on_dev[way])
    sizes = getattr(tagger.weights_, "labels", None)
    return {
        "dev": on_dev,
        "decode": chosen,
        "test": _accuracy(tagger.set_params(decode=chosen), data.test),
        "seconds": seconds,
        "labels": len(tagger.classes_),
        "hidden_labels": len(tagger.classes_) if sizes is None else sizes.n_hidden,
    }


def _accuracy(tagger: margent.Tagger, part: Part) -> float:
    pairs = [
        (a, b) for found, gold in zip(tagger.predict(part.X), part.y) for a, b in zip(found, _labels(gold), strict=True)
    ]
    return sum(a == b for a, b in pairs) / len(pairs)


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
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        learners = list(dict.fromkeys(row["learner"] for row in rows if row["corpus"] == corpus))
        models = list(dict.fromkeys(row["model"] for row in rows if row["corpus"] == corpus))
        for title, shown in _SHOWN.items():
            lines = [
                (model, *(shown(found) if (found := groups.get((corpus, name, model))) else "-" for name in learners))
                for model in models
            ]
            table = markdown_table(("", *(NAMES[name] for name in learners)), lines)
            out.append(f"{TITLES[corpus]}: {title}\n\n{table}")
        out.append("".join(f"- {line}\n" for name in learners if (line := _verdict(groups, corpus, name, models))))
    return "\n".join(out)


_SHOWN = {
    "accuracy on test data (on development data), in percent": lambda rows: f"{_test(rows):.2f} ({_dev(rows):.2f})",
    "seconds of processor time in training": lambda rows: f"{mean(row['seconds'] for row in rows):.0f}",
    "hidden labels": lambda rows: f"{mean(row['hidden_labels'] for row in rows):.0f}",
}


def _verdict(groups: Any, corpus: str, learner: str, models: list[str]) -> str | None:
    """In words: the hidden labels that are best on development data against what is not hidden."""
    hidden = [model for model in models if MODELS[model].get("hidden") and (corpus, learner, model) in groups]
    plain = [model for model in models if not MODELS[model].get("hidden") and (corpus, learner, model) in groups]
    if not hidden or not plain:
        return None
    best, other = (max(own, key=lambda model: _dev(groups[corpus, learner, model])) for own in (hidden, plain))
    gain = _test(groups[corpus, learner, best]) - _test(groups[corpus, learner, other])
    word = "more" if gain >= 0 else "less"
    return (
        f"{NAMES[learner]}: chosen on development data, {best} has {abs(gain):.2f} points {word} on test data than "
        f"{other}."
    )


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
    panels[0].legend(fontsize=6)
    figure.savefig(path)
