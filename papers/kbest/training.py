"""One training, in a process of its own: from the description of a task to its figures."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import margent
from margent.datasets import Dataset, Part, load_conll2000, load_conll2002, load_muc7, load_wnut17
from margent.learners import learner_named
from margent.metrics import span_scores, token_scores
from papers.experiment import Result, Task, data_fingerprint, generated_addresses

HERE = Path(__file__).parent


LOADERS = {
    "conll2000": load_conll2000,
    "conll2002-esp": load_conll2002,
    "muc7": load_muc7,
    "wnut17": load_wnut17,
    "addresses": lambda: generated_addresses(400, 150, 151),
}
CROSS_VALIDATED = ("conll2000", "muc7")
"""As in the paper; the others have a development set."""


@lru_cache(maxsize=1)
def corpus(name: str) -> Dataset:
    return LOADERS[name]()


def templates(name: str) -> margent.Templates:
    tagged = name in ("conll2000", "conll2002-esp")
    return margent.Templates.from_file(HERE / ("features.txt" if tagged else "features-words.txt"))


def fingerprint(name: str) -> str:
    """Of the features, so that results with other features are not taken for these."""
    return sha256("\n".join(templates(name).lines).encode()).hexdigest()[:8]


def corpus_fingerprint(name: str) -> str:
    """Of the data, for the same name may stand for other files in another folder."""
    return data_fingerprint(corpus(name))


def split(name: str, fold: int | None, folds: int, n_train: int | None, n_test: int | None) -> tuple[Part, Part]:
    """What to learn from, and what to look at.

    fold None: all of the training data, and the test data. Otherwise the development set, or where parameters are
    chosen by cross-validation every `folds`-th sentence from number `fold`.
    """
    data = corpus(name)
    train, test = _first(data.train, n_train), _first(data.test, n_test)
    if fold is None:
        return train, test
    if name not in CROSS_VALIDATED:
        return train, _first(data.dev, n_test)
    held = list(range(fold, len(train.X), folds))
    kept = sorted(set(range(len(train.X))).difference(held))
    return _take(train, kept), _take(train, held)


def _first(part: Part | None, n: int | None) -> Part:
    if part is None:
        raise margent.CorpusError("expected a part of the data set that it does not have")
    return part if n is None else Part(part.X[:n], part.y[:n])


def _take(part: Part, numbers: list[int]) -> Part:
    return Part(part.X[numbers], part.y[numbers])


def learner(task: Task) -> Any:
    """Parameters are averaged in all of them, as in the paper's Table 1."""
    parameters = {name: task[name] for name in ("C", "k", "n_reprocess") if task.get(name) is not None}
    if task["method"] == "larank":  # there, chance also says which examples are looked at again
        parameters["reprocess_seed"] = task["seed"]
    return learner_named(task["method"], epochs=task["epochs"], **parameters)


def run_training(task: Task) -> Result:
    """Trains, and gives the token F on the other part after each epoch, or for the test data at the end alone.

    On test data nothing is chosen: they are labelled once, by the weights of the last epoch. `right`: for each token of
    the test data 1 or 0, for McNemar's test.
    """
    train, other = split(task["corpus"], task["fold"], task["folds"], task["n_train"], task["n_test"])
    features = templates(task["corpus"])
    # Nothing here asks for probabilities, and a temperature for them would cost more than the training.
    tagger = margent.Tagger(features, learner(task), calibration=0, seed=task["seed"], threads=1)
    if task["fold"] is None:
        tagger.fit(*train, progress=False)
    else:
        tagger.fit(*train, X_dev=other.X, y_dev=other.y, dev_metric="inside_f1", progress=False)
    if tagger.interrupted_:  # a half training is not a result
        raise KeyboardInterrupt
    if task["fold"] is not None:
        scores = [epoch["dev_score"] for epoch in tagger.history_]
        return {"scores": scores, "seconds": [epoch["seconds"] for epoch in tagger.history_]}
    gold, found = list(other.y), tagger.predict(other.X)
    result = {"token_f": token_scores(gold, found).inside.f1, "chunk_f": span_scores(gold, found).f1}
    if task["keep_right"]:
        result["right"] = "".join(str(int(a == b)) for x, y in zip(gold, found) for a, b in zip(x, y))
    return result
