"""What is scored: the data with their split into training and test parts, and one evaluation of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import detect_scheme
from margent.errors import CorpusError
from margent.formats.columns import Columns
from margent.models import Transcriber
from margent.models.estimator import Estimator


class Stopped(Exception):
    """The search was interrupted while this evaluation ran."""


@dataclass(frozen=True)
class TuningProblem:
    """Data and their split; all of them that a worker process needs, handed over once.

    X_test, y_test : the development set, or None: then a fold is tested on what it does not learn from
    shuffled : (n_entries,) the entries shuffled; a part of the data is a slice of this
    ends : (n_folds + 1,) fold f is tested on shuffled[ends[f]:ends[f + 1]]
    fixed : parameters that hold for every candidate, such as the scheme of all labels, by which each is scored
    """

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    shuffled: NDArray[np.int64]
    ends: NDArray[np.int64]
    fixed: dict[str, Any]

    @property
    def n_folds(self) -> int:
        return len(self.ends) - 1

    @property
    def n_entries(self) -> int:
        """How many sentences, sequences or words every fold has to learn from at least."""
        if self.X_test is not None:
            return len(self.shuffled)
        return len(self.shuffled) - int(np.diff(self.ends).max())

    def parts(self, size: int, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`size` entries to learn from, in their own order, and those to be tested on.

        The fewer entries of a lower rung are among the more of a higher one.
        """
        if self.X_test is not None:
            return np.sort(self.shuffled[:size]), np.empty(0, dtype=np.int64)
        start, end = self.ends[fold], self.ends[fold + 1]
        # What follows the test part comes first: else all folds but the first would begin with the same entries.
        learnt = np.concatenate([self.shuffled[end:], self.shuffled[:start]])
        return np.sort(learnt[:size]), self.shuffled[start:end]

    def score(self, model: Estimator, size: int, fold: int, stop: Callable[[], bool] = lambda: False) -> float:
        """Trains a model on a part of the data, and scores it. It is changed.

        `stop` is asked after each epoch; when it says so, or Ctrl-C ended the training, `Stopped` is raised.
        """
        learnt, tested = self.parts(size, fold)
        X, y = _part(self.X, learnt), _part(self.y, learnt)
        known: Any = model.set_params(**self.fixed)  # an estimator, with `fit` and `score` of its own
        _forget_labels(known, y)
        known.fit(X, y, callbacks=[lambda epoch: stop()], progress=False)
        if known.interrupted_ or stop():
            raise Stopped
        if self.X_test is not None:
            return float(known.score(self.X_test, self.y_test))
        return float(known.score(_part(self.X, tested), _part(self.y, tested)))


def make_problem(model: Estimator, X: Any, y: Any, X_dev: Any, y_dev: Any, folds: int, seed: int) -> TuningProblem:
    """The problem of these data, checked: a search should not find out after an hour that a label is misspelt."""
    X, y = _inputs_and_outputs(X, y, ("X", "y"))
    if X_dev is None and y_dev is not None:
        raise CorpusError("y_dev was given without X_dev")
    X_test, y_test = (None, None) if X_dev is None else _inputs_and_outputs(X_dev, y_dev, ("X_dev", "y_dev"))
    if X_test is not None and not len(X_test):
        raise CorpusError("there is nothing to score on: the development data are empty")
    parameters = model.get_params(deep=True)
    fixed: dict[str, Any] = {}
    if "label_costs" in parameters or _named_labels(parameters):
        _check_labels(parameters, labels_of(y))
    if "scheme" in parameters and parameters["scheme"] is None:
        fixed["scheme"] = detect_scheme(_each(y))  # a small part may look like another
    calibration = parameters.get("calibration")
    if calibration is not None:
        fixed["calibration"] = None  # a second training, for probabilities alone
    random = np.random.default_rng([seed, 0])
    # A word may have several pronunciations: all of its entries are learned from, or none.
    groups = _groups(X) if isinstance(model, Transcriber) else np.arange(len(X))
    n = int(groups.max(initial=-1)) + 1
    if X_test is None and n < folds:
        raise CorpusError(f"{folds} folds need at least {folds} sentences, and there are {n}")
    place = np.empty(n, dtype=np.int64)
    place[random.permutation(n)] = np.arange(n)
    shuffled = np.argsort(place[groups], kind="stable").astype(np.int64)
    if X_test is not None:
        ends = np.array([0, len(X)])
    else:
        ends = np.searchsorted(place[groups][shuffled], np.linspace(0, n, folds + 1).astype(np.int64))
    return TuningProblem(X, y, X_test, y_test, shuffled, ends.astype(np.int64), fixed)


def labels_of(y: Any) -> set[Any]:
    """All labels of sequences of labels, or of segments (start, end, label)."""
    found = {label if isinstance(label, (str, type(None))) else label[-1] for labels in _each(y) for label in labels}
    found.discard(None)
    if not found:
        raise CorpusError("there is nothing to learn from: the training data have no label")
    return found


def _inputs_and_outputs(X: Any, y: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    if y is None:
        if not isinstance(X, Columns) or X.n_columns < 2:
            raise CorpusError(
                f"labels are missing: {names[1]} is None; only with {names[0]} as Columns whose last column is the "
                "labels it may be left out"
            )
        X, y = X.split()
    X, y = (each if hasattr(each, "__len__") else list(each) for each in (X, y))
    if len(X) != len(y):
        raise CorpusError(f"found {len(y)} entries of {names[1]}, expected {len(X)}, as {names[0]} has")
    return X, y


def _each(collection: Any) -> Iterable[Any]:
    return (collection[i] for i in range(len(collection)))


def _part(collection: Any, numbers: NDArray[np.int64]) -> Any:
    """Some entries; a view without copied text where the data can give one."""
    return [collection[i] for i in numbers] if isinstance(collection, (list, tuple)) else collection[numbers]


def _groups(X: Any) -> NDArray[np.int64]:
    """(n,) a number for each entry, from 0, the same for equal entries."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(tuple(entry), len(numbers)) for entry in _each(X)], dtype=np.int64)


_LABEL_COSTS = ("label_costs", "costs__labels")
"""Parameters that are dicts from labels to costs."""


def _named_labels(parameters: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The labels that costs and constraints name, with the name of the parameter."""
    pairs = parameters.get("constrain")
    found = [
        (of.replace("__", "."), name)
        for of in _LABEL_COSTS
        for key in parameters.get(of) or ()
        for name in (key if isinstance(key, tuple) else (key,))
    ]
    if isinstance(pairs, (list, tuple)):
        found += [("constrain", name) for pair in pairs for name in pair if name is not None]
    return found


def _check_labels(parameters: Mapping[str, Any], labels: set[Any]) -> None:
    for parameter, name in _named_labels(parameters):
        if name not in labels:
            raise ValueError(f"{parameter} names the label {name!r}, which the training data do not have")


def _forget_labels(model: Estimator, y: Any) -> None:
    """Takes costs and constraints of labels that a small part of the data happens to lack from the model."""
    parameters = model.get_params(deep=True)
    if not _named_labels(parameters):
        return
    labels = {*labels_of(y), None}
    pairs = parameters.get("constrain")
    for of in _LABEL_COSTS:
        costs = parameters.get(of)
        if costs is not None:
            kept = {key: c for key, c in costs.items() if {*(key if isinstance(key, tuple) else (key,))} <= labels}
            model.set_params(**{of: kept or None})
    if isinstance(pairs, (list, tuple)):
        model.set_params(constrain=[pair for pair in pairs if {*pair} <= labels])
