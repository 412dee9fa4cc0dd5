"""One training, in a process of its own: from the description of a task to its figures."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np

import margent
from margent.learners import learner_named
from margent.spectral import HankelBasis, KGramOracle, KGramTable, OperatorModel, pairs_up_to
from papers.experiment import Result, Task
from papers.spectral.plan import METHODS
from papers.spectral.words import MARK, Split, Symbols, Words, split

Predict = Callable[[list[Symbols]], list[list[Any]]]

_LOOK = 4
"""Development data look at each fourth iterate."""
_STATES = (5, 10, 20, 40, 80)
"""Of recovered operators."""
_WINDOWS = ((0,), (-1,), (1,), (-1, 0), (0, 1), (-1, 1), (-1, 0, 1), (-2, -1, 0), (0, 1, 2))
"""The inputs that features of an output are made of: pieces of a trigram in which it stands."""


def run_training(task: Task) -> Result:
    return {
        "words": _words,
        "path": _path,
        "solver": _solver,
        "round trip": _round_trip,
        "full": _full,
    }[task["part"]](task)


def _data(task: Task) -> Split:
    return split(task["corpus"], task["parts"], task["n"], task["seed"], task["marks"])


# A method on words


def _words(task: Task) -> Result:
    """Right letters and words of the development data, and of the test data if the task says so."""
    data = _data(task)
    started = time.process_time()
    predict, known = LEARN[METHODS[task["method"]].kind](task, data)
    known["seconds"] = time.process_time() - started
    for name, part in (("dev", data.dev), ("test", data.test)):
        if name == "dev" or task["test"]:
            known[name] = _right(predict(part.X), part)
            if "recovered" in known:
                known[f"{name}-recovered"] = _right(known["recovered"](part.X), part)
    known.pop("recovered", None)
    return known


def _right(predicted: Sequence[Sequence[Any]], words: Words) -> dict[str, int]:
    letters = [
        [a == b for a, b, symbol in zip(found, gold, x) if symbol != MARK]
        for found, gold, x in zip(predicted, words.y, words.X)
    ]
    return {
        "letters": sum(map(len, letters)),
        "right": sum(map(sum, letters)),
        "words": len(letters),
        "whole": sum(map(all, letters)),
    }


def _spectral(task: Task, data: Split) -> tuple[Predict, Result]:
    learner = margent.Spectral(iterations=task["iterations"], **task["parameters"])
    oracle = KGramOracle(*data.train)
    looks = 0

    def evaluate(weights: Any) -> float:
        nonlocal looks
        looks += 1
        if looks % _LOOK and looks != task["iterations"]:
            return -1.0
        found = _right(KGramTable(oracle.bi_symbols, weights).predict(data.dev.X), data.dev)
        return found["right"] / max(found["letters"], 1)

    result = margent.train(learner, oracle, evaluate=evaluate, progress=False)
    table = KGramTable(oracle.bi_symbols, result.weights)
    known: Result = {"rank": None, "iterations": result.best_epoch}
    if learner.regulariser == "nuclear":
        known["rank"] = _rank(table, learner.loss == "up-to-k")
    if learner.loss == "up-to-k" and task["test"]:
        # Of so many states those that serve the development data best: tied entries keep the rank from being exact.
        tables = [table.recovered(states=states) for states in _STATES]
        known["recovered"] = max(tables, key=lambda t: _right(t.predict(data.dev.X), data.dev)["right"]).predict
    return table.predict, known


def _rank(table: KGramTable, shorter: bool) -> int:
    """Of the Hankel matrix of the scores: how many singular values are above a thousandth of the largest."""
    matrix = HankelBasis(len(table.bi_symbols), max(table.scores), shorter).matrix(table.scores)
    squares = np.linalg.eigvalsh(matrix.T @ matrix)
    return int(np.count_nonzero(squares > 1e-6 * squares.max()))


def _counts(task: Task, data: Split) -> tuple[Predict, Result]:
    counted = KGramTable.observed(*data.train, k=3)
    model = counted.operators(states=task["parameters"]["states"])
    table = KGramTable.from_operators(model, [3], counted.bi_symbols)
    return table.predict, {"rank": model.n_states, "iterations": None}


def _features(task: Task, data: Split) -> tuple[Predict, Result]:
    given = dict(task["parameters"])
    how = {"order": given.pop("order"), "tag_dictionary": given.pop("tag_dictionary")}
    features = partial(trigram_features, windows=given.pop("windows", _WINDOWS))
    learner = learner_named(METHODS[task["method"]].learner, **given)
    tagger = margent.Tagger(features=features, learner=learner, threads=1, calibration=0, seed=task["seed"], **how)
    tagger.fit(*data.train)
    return tagger.predict, {"rank": None, "iterations": len(tagger.history_)}


def _latent(task: Task, data: Split) -> tuple[Predict, Result]:
    """A chain over hidden labels of the outputs, which sees the input at its place: what an operator model sees."""
    given = dict(task["parameters"])
    tagger = margent.Tagger(
        features=lambda word: [{letter: 1.0} for letter in word],
        hidden=given.pop("hidden"),
        learner=margent.LatentSVM(**given),
        threads=1,
        calibration=0,
        seed=task["seed"],
        tag_dictionary=1,
    )
    tagger.fit(*data.train)
    return tagger.predict, {"rank": None, "iterations": len(tagger.history_)}


LEARN = {"spectral": _spectral, "counts": _counts, "features": _features, "latent": _latent}


def trigram_features(word: Symbols, windows: Sequence[Sequence[int]] = _WINDOWS) -> list[dict[str, float]]:
    """Pieces of the inputs around each output, those that reach beyond the word left out: no method sees its ends."""
    return [
        {
            f"{'/'.join(map(str, window))}={''.join(word[t + i] for i in window)}": 1.0
            for window in windows
            if all(0 <= t + i < len(word) for i in window)
        }
        for t in range(len(word))
    ]


# Other parts


def _path(task: Task) -> Result:
    data = _data(task)
    learner = margent.Spectral(
        iterations=task["iterations"], regulariser=task["regulariser"], step=task["step"], tol=0.0
    )
    path = margent.spectral_path(*data.train, *data.dev, taus=task["taus"], learner=learner, progress=False)
    return {"points": [point._asdict() for point in path.points]}


def _solver(task: Task) -> Result:
    """The lowest objective so far against seconds, after each iteration."""
    data = _data(task)
    learner = margent.Spectral(iterations=task["iterations"], tol=0.0, **task["parameters"])
    result = margent.train(learner, KGramOracle(*data.train), progress=False)
    return {
        "seconds": np.cumsum([epoch.seconds for epoch in result.history]).tolist(),
        "objectives": [epoch.objective for epoch in result.history],
    }


def _round_trip(task: Task) -> Result:
    """The error of the scores of random models after noise on their Hankel matrix, as a share of their size."""
    errors = []
    for trial in range(task["trials"]):
        random = np.random.default_rng(trial)
        symbols = [(a, b) for a in "abc" for b in "AB"]
        operators = {symbol: random.normal(size=(4, 4)) / 4 for symbol in symbols}
        model = OperatorModel(random.normal(size=4), random.normal(size=4), operators)
        prefixes, suffixes = pairs_up_to(symbols, 2), pairs_up_to(symbols, 2)
        matrix = model.hankel(prefixes, suffixes)
        noise = random.normal(size=matrix.shape) * task["noise"] * float(np.sqrt(np.mean(matrix**2)))
        found = OperatorModel.from_hankel(matrix + noise, prefixes, suffixes, states=4)
        exact, recovered = model.k_gram_scores(task["length"]), found.k_gram_scores(task["length"])
        errors.append(float(np.linalg.norm(recovered - exact) / np.linalg.norm(exact)))
    return {"errors": errors}


def _full(task: Task) -> Result:
    """One training with two threads, in a process of its own, whose memory is measured."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measured, task).result()


def _measured(task: Task) -> Result:
    """Seconds by the clock, and the most memory of the process."""
    data = _data(task)
    started = time.perf_counter()
    learner = margent.Spectral(iterations=task["iterations"], **task["parameters"])
    result = margent.train(learner, KGramOracle(*data.train), threads=2, progress=False)
    return {
        "seconds": time.perf_counter() - started,
        "iterations": len(result.history),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
