"""Whether one sentence follows from another, by latent alignments of trees (paper 003, section 5.3).

    margent reproduce latent/entailment [--quick] [--out DIR] [--jobs N] [--data DIR]
    python -m papers.latent.entailment baselines    (or first: one seed of a few rows on SICK)

Rows 6 to 12 of Table 5.7 and, by the same loop, decomposable attention and ESIM; beside them the linear classifier of
aligned words, a bag of words and one that sees the hypothesis alone. On SICK, and on the part of SNLI's training data
that can be had, with its development and test data complete. Epochs are chosen on development data; test data are
answered once by each model. Neighbouring rows are compared by McNemar's test. Models of SNLI are also asked about sets
made of its sentences, of which they have learned nothing. Needs torch, and many hours of a processor for a full run.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from statistics import mean, pstdev
from typing import Any

import numpy as np

import margent
from margent import Adam, EntailmentClassifier, Network, WordVectors
from margent.datasets import Dataset, Part, load_related_nli, load_sick, load_snli, make_entailment
from margent.metrics import mcnemar_test
from papers.experiment import Options, Result, Task, data_fingerprint, markdown_table, new_figure, run_part
from papers.verdict import told, verdict

HERE = Path(__file__).parent

NETWORKS: dict[str, Network] = {
    "6 sequence LSTM": Network(encoder="sequence", composition="none", size=100),
    "7 tree-LSTM": Network(composition="none", size=100),
    "8 tree-LSTM, attention as printed": Network(composition="rnn", attention="affine", dual=False),
    "9 sampling": Network(alignment="sampled", dual=False),
    "10 sampling, dual": Network(alignment="sampled", dual=True),
    "11 expected alignment": Network(dual=False),
    "12 expected alignment, dual": Network(dual=True),
    "11, attention as printed": Network(dual=False, attention="affine"),
    "9, straight-through": Network(alignment="sampled", dual=False, gradient="straight-through"),
    "decomposable attention": Network(encoder="decomposable", composition="none", size=300, relation=300, start=0.1),
    "ESIM": Network(encoder="esim", composition="none", size=150, relation=150, start=0.1),
}
PLAIN = ("hypothesis only", "bag of words", "aligned words")
ROWS = (*PLAIN, *NETWORKS)
PAPER = {"6": 77.6, "7": 79.9, "8": 81.8, "9": 84.2, "10": 85.4, "11": 86.4, "12": 87.2}
"""Accuracy on SNLI's development data, learned from all of its training data (Table 5.7; for row 6 of the text's 78.4,
Bowman et al.'s own is given in row 1)."""
WANTED = {"snli": 74.0, "sick": 83.0}
"""Accuracy on test data of row 12 that we want to reach."""
TITLES = {"snli": "SNLI", "sick": "SICK", "made": "generated pairs"}
RELATED = ("counterfactual", "breaking", "monotonicity")
LABELS = ("contradiction", "entailment", "neutral")


@dataclass(frozen=True)
class Plan:
    """`n_train`: pairs to learn from; None: all. `curve`: more sizes, for SNLI's rows `curve_rows`. `scale`: networks
    have numbers of this size instead of their own."""

    corpora: tuple[str, ...] = ("sick", "snli")
    rows: tuple[str, ...] = ROWS
    seeds: tuple[int, ...] = (0, 1, 2)
    epochs: int = 20
    patience: int = 4
    n_train: int | None = None
    curve: tuple[int, ...] = (1000, 3000, 10000)
    curve_rows: tuple[str, ...] = ("aligned words", "7 tree-LSTM", "12 expected alignment, dual", "ESIM")
    scale: int | None = None


FULL = Plan()
QUICK = Plan(corpora=("sick",), seeds=(0,), epochs=2, n_train=500, curve=(), scale=40)
PARTS = {
    "baselines": Plan(rows=PLAIN, seeds=(0,), curve=()),
    "first": Plan(
        corpora=("sick",),
        rows=(*PLAIN, "6 sequence LSTM", "7 tree-LSTM", "11 expected alignment", "12 expected alignment, dual"),
        seeds=(0,),
        curve=(),
    ),
}
"""Parts of the full run, which goes on from them: what needs no torch, and one seed of a few rows on SICK."""


def run(options: Options, plan: Plan | None = None) -> Path:
    """Runs what is missing; writes entailment.json, .md and .png, and for a full run the part of README.md."""
    return run_part(
        "entailment",
        sys.modules[__name__],
        options,
        plan,
        title="classifiers",
        caption="accuracy by row",
        long=("right",),
    )


def tasks(plan: Plan) -> list[Task]:
    shared = {"epochs": plan.epochs, "patience": plan.patience, "scale": plan.scale}
    found: list[Task] = []
    for corpus in plan.corpora:
        data = data_fingerprint(_texts(corpora(corpus)))
        for row in plan.rows:
            for seed in plan.seeds if row in NETWORKS else plan.seeds[:1]:
                own = {"corpus": corpus, "data": data, "row": row, "seed": seed, **shared}
                found.append({**own, "n": plan.n_train})
                if corpus == "snli" and row in plan.curve_rows and seed == plan.seeds[0]:
                    found += [{**own, "n": n} for n in plan.curve]
    return found


@lru_cache(maxsize=2)
def corpora(name: str) -> Dataset:
    if name == "made":
        parts = [Part(*make_entailment(n, seed=seed)[:2]) for seed, n in enumerate((120, 60, 60))]
        return Dataset("made", *parts, description="Generated pairs.", terms="")
    return load_sick() if name == "sick" else load_snli()


def _texts(data: Dataset) -> Dataset:
    """The same as text, for its fingerprint."""
    parts = [
        None if part is None else Part([[tree.brackets() for tree in pair] for pair in part.X], [[y] for y in part.y])
        for part in (data.train, data.dev, data.test)
    ]
    assert parts[0] is not None
    return Dataset(data.name, parts[0], parts[1], parts[2], data.description, data.terms)


@lru_cache(maxsize=1)
def vectors() -> WordVectors | None:
    """GloVe's, where they are."""
    home = os.environ.get("MARGENT_DATA")
    folder = Path(home, "glove100d") if home else None
    return WordVectors.read(folder) if folder is not None and folder.is_dir() else None


def measure(task: Task) -> Result:
    """Trains a classifier, and gives its accuracy on development and test data, and the time it took."""
    data = corpora(task["corpus"])
    assert data.dev is not None and data.test is not None
    X, y = data.train.X[: task["n"]], data.train.y[: task["n"]]
    begin = time.process_time()
    model = _model(task)
    model.fit(X, y, X_dev=data.dev.X, y_dev=data.dev.y, progress=False)
    seconds = time.process_time() - begin
    if model.interrupted_:
        raise KeyboardInterrupt
    found = model.predict(data.test.X)
    right = [int(a == b) for a, b in zip(found, data.test.y)]
    related = {}
    if task["corpus"] == "snli":
        for name in RELATED:
            other = load_related_nli(name)
            part = other.test or other.train
            related[name] = float(model.score(part.X, part.y))
    return {
        "dev": max(epoch["dev_score"] for epoch in model.history_),
        "test": mean(right),
        "right": right,
        "seconds": seconds,
        "epochs_run": len(model.history_),
        "numbers": model.n_numbers if isinstance(model, BagOfWords) else _numbers(model),
        "related": related,
    }


def _model(task: Task) -> Any:
    row, learner = task["row"], Adam(epochs=task["epochs"], patience=task["patience"])
    if row in ("hypothesis only", "bag of words"):
        return BagOfWords(Adam(epochs=task["epochs"], learning_rate=0.01), row == "bag of words", task["seed"])
    if row == "aligned words":
        return EntailmentClassifier(seed=task["seed"], threads=1)
    network = NETWORKS[row]
    if task["scale"] is not None:
        network = Network(**{**asdict(network), "size": task["scale"], "relation": task["scale"]})
    return EntailmentClassifier(
        learner=learner, network=network, vectors=vectors(), calibration=0, seed=task["seed"], threads=1
    )


def _numbers(model: EntailmentClassifier) -> int:
    """Without those of words."""
    weights: Any = model.weights_
    if weights.name == "alignment":
        return len(weights.values)
    return len(weights.values) - weights.vocabulary.n_learned * weights.dimensions


class BagOfWords:
    """A classifier of what words there are, of both sentences or of the hypothesis alone: softmax of a sum of weights,
    learned by `Adam` like the networks. What it gives to the learner is `values` and `gradient`."""

    def __init__(self, learner: Adam, both: bool, seed: int) -> None:
        self.learner, self.both, self.seed = learner, both, seed
        self.interrupted_ = False
        self.history_: list[dict[str, Any]] = []
        self.words: dict[str, int] = {}

    def fit(self, X: Any, y: Any, *, X_dev: Any, y_dev: Any, progress: bool) -> BagOfWords:
        for key in chain.from_iterable(map(self._keys, X)):
            self.words.setdefault(key, len(self.words))
        bags, right = self._bags(X), np.array([LABELS.index(label) for label in y])
        dev, dev_right = self._bags(X_dev), np.array([LABELS.index(label) for label in y_dev])
        oracle = _BagOracle(bags, right, len(self.words))
        found = margent.train(
            self.learner,
            oracle,
            seed=self.seed,
            evaluate=lambda values: float((_best(values, dev) == dev_right).mean()),
            progress=progress,
        )
        self.values, self.interrupted_ = found.weights, found.interrupted
        self.history_ = [epoch.as_dict() for epoch in found.history]
        return self

    @property
    def n_numbers(self) -> int:
        return int(self.values.size)

    def predict(self, X: Any) -> list[str]:
        return [LABELS[i] for i in _best(self.values, self._bags(X)).tolist()]

    def score(self, X: Any, y: Any) -> float:
        return mean(int(a == b) for a, b in zip(self.predict(X), y))

    def _keys(self, pair: Any) -> list[str]:
        sides = [("h", pair[1])] + ([("p", pair[0])] if self.both else [])
        found = [f"{side} {word.lower()}" for side, sentence in sides for word in _words(sentence)]
        if self.both:
            there = {word.lower() for word in _words(pair[0])}
            found += [f"new {word.lower()}" for word in _words(pair[1]) if word.lower() not in there]
        return list(dict.fromkeys(found))

    def _bags(self, X: Any) -> list[np.typing.NDArray[np.int64]]:
        return [np.array([self.words[key] for key in self._keys(pair) if key in self.words], np.int64) for pair in X]


def _words(sentence: Any) -> Sequence[str]:
    return sentence.split() if isinstance(sentence, str) else getattr(sentence, "words", sentence)


def _best(values: Any, bags: Sequence[Any]) -> Any:
    table = values.reshape(-1, len(LABELS))
    return np.array([table[bag].sum(axis=0) for bag in bags]).argmax(axis=1)


class _BagOracle:
    """Minus the log-probability of the right labels, as `Adam` asks for it."""

    def __init__(self, bags: Sequence[Any], right: Any, n_words: int) -> None:
        self.bags, self.right = bags, right
        self.values = np.zeros(n_words * len(LABELS))
        self.n_features = len(self.values)

    def __len__(self) -> int:
        return len(self.bags)

    def gradient(self, examples: Any, seed: int) -> tuple[float, Any]:
        table, loss = self.values.reshape(-1, len(LABELS)), 0.0
        found = np.zeros_like(table)
        for i in examples.tolist():
            scores = table[self.bags[i]].sum(axis=0)
            log_p = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
            loss -= log_p[self.right[i]]
            change = np.exp(log_p)
            change[self.right[i]] -= 1
            found[self.bags[i]] += change / len(examples)
        return loss, found.ravel()

    def weights(self, average: bool) -> Any:
        return self.values.copy()


# Results


def report(rows: list[dict[str, Any]]) -> str:
    groups = _groups(rows)
    out = []
    for corpus in dict.fromkeys(row["corpus"] for row in rows):
        largest = _largest(corpus, groups)
        lines = []
        for row in ROWS:
            found = groups.get((corpus, row, largest))
            if found:
                lines.append((
                    row,
                    PAPER_TEXT.get(row.split()[0], "-") if corpus == "snli" else "-",
                    _spread([100 * one["dev"] for one in found]),
                    _spread([100 * one["test"] for one in found]),
                    str(len(found)),
                    f"{found[0]['numbers']:,}",
                    f"{mean(one['seconds'] for one in found):.0f}",
                ))  # fmt: skip
        head = ("row", "paper, dev", "dev", "test", "seeds", "numbers", "seconds")
        pairs = "all" if largest is None else f"{largest:,}"
        out.append(f"{TITLES[corpus]}, {pairs} training pairs: accuracy in per cent\n\n{markdown_table(head, lines)}")
        out.append("".join(f"- {line}\n" for line in _claims(corpus, groups, largest)))
        if corpus == "snli":
            out += [_curve_table(groups), _related_table(groups, largest)]
    return "\n".join(part for part in out if part)


PAPER_TEXT = {row: f"{value:.1f}" for row, value in PAPER.items()}


def _groups(rows: list[dict[str, Any]]) -> dict[tuple[str, str, int | None], list[dict[str, Any]]]:
    groups: dict[tuple[str, str, int | None], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["corpus"], row["row"], row["n"]), []).append(row)
    return groups


def _largest(corpus: str, groups: Any) -> int | None:
    sizes = [n for own, _, n in groups if own == corpus]
    return None if None in sizes else max(sizes)


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):.1f}" + (f" ± {pstdev(values):.1f}" if len(values) > 1 else "")


def _claims(corpus: str, groups: Any, n: int | None) -> list[str]:
    """Rows that should be better than the one before, and what we want to reach."""
    found = []
    names = [row for row in NETWORKS if row.split()[0] in PAPER and (corpus, row, n) in groups]
    for worse, better in pairwise(names):
        first, second = groups[corpus, worse, n], groups[corpus, better, n]
        same = [(a, b) for a in first for b in second if a["seed"] == b["seed"]]
        gold = [["1"] for a, _ in same for _ in a["right"]]
        sides = [[[str(bit)] for pair in same for bit in pair[side]["right"]] for side in (0, 1)]
        low, high = (100 * mean(one["test"] for one in rows) for rows in (first, second))
        p = float(mcnemar_test(gold, sides[0], sides[1]).p_value) if gold else 1.0
        found.append(f"{better} is better than {worse}: {verdict(high > low, p)} ({high:.1f}, {low:.1f}, {told(p)})")
    last = groups.get((corpus, "12 expected alignment, dual", n))
    if last and corpus in WANTED:
        value = 100 * mean(one["test"] for one in last)
        reached = "held" if value >= WANTED[corpus] else "did not hold"
        found.append(f"row 12 reaches {WANTED[corpus]} on test data (ours): {reached} ({value:.1f})")
    return found


def _curve_table(groups: Any) -> str:
    sizes = sorted({n for corpus, _, n in groups if corpus == "snli" and n is not None})
    if not sizes:
        return ""
    names = [row for row in ROWS if any(("snli", row, n) in groups for n in sizes)]
    lines = [
        (row, *(_spread([100 * one["dev"] for one in groups.get(("snli", row, n), ())] or [0]) for n in (*sizes, None)))
        for row in names
    ]
    head = ("row", *(f"{n:,}" for n in sizes), "all")
    return f"SNLI, accuracy on development data by training pairs\n\n{markdown_table(head, lines)}"


def _related_table(groups: Any, n: int | None) -> str:
    lines = [
        (row, *(_spread([100 * one["related"][name] for one in groups["snli", row, n]]) for name in RELATED))
        for row in ROWS
        if ("snli", row, n) in groups
    ]
    return f"Models of SNLI on sets made of its sentences\n\n{markdown_table(('row', *RELATED), lines)}"


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Accuracy on test data by row."""
    names = list(dict.fromkeys(row["corpus"] for row in rows))
    figure, panels = new_figure(len(names), height=4.4)
    groups = _groups(rows)
    for corpus, axes in zip(names, panels):
        n = _largest(corpus, groups)
        there = [row for row in reversed(ROWS) if (corpus, row, n) in groups]
        values = [100 * mean(one["test"] for one in groups[corpus, row, n]) for row in there]
        axes.barh(there, values, color=["#2b6ca3" if row in NETWORKS else "#8c96a0" for row in there])
        axes.set(xlabel="accuracy on test data, percent", xlim=(min([*values, 50]) - 5, 100))
        axes.set_title(TITLES[corpus], loc="left", fontsize=10)
    figure.savefig(path)


if __name__ == "__main__":
    print(run(Options(), PARTS[sys.argv[1]]).read_text("utf-8"))
