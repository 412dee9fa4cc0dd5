"""What is scored: the data with their split into training and test parts, and one evaluation of a candidate."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.encoded import sequence_ptr
from margent.formats.columns import Columns
from margent.models import Tagger
from margent.models.inputs import sentences_and_labels
from margent.models.labels import MISSING, LabelSet
from margent.models.tagger.label_costs import costs_of
from margent.models.tagger.label_scheme import allowed_pairs, label_scheme
from margent.tuning.space import Candidate


class Task(NamedTuple):
    """One evaluation: a candidate, by number, learns from so many sentences of a fold's training part."""

    trial: int
    sentences: int
    fold: int


class Outcome(NamedTuple):
    """What came of an evaluation: a score, or the reason why there is none."""

    score: float | None
    seconds: float
    error: str | None = None


class Stopped(Exception):
    """The search was interrupted while this evaluation ran."""


@dataclass(frozen=True)
class Problem:
    """Data, their split, and the candidates; all that a worker needs, handed over once.

    X_test, y_test : the development set, or None: then a fold is tested on what it does not learn from
    order : (n_sentences,) the sentences shuffled; a part of the data is a piece of this
    ends : (n_folds + 1,) fold f is tested on order[ends[f]:ends[f + 1]]
    scheme : of all labels, so that each evaluation is scored by the same measure, however few sentences it saw
    """

    tagger: Tagger
    candidates: tuple[Candidate, ...]
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    order: NDArray[np.int64]
    ends: NDArray[np.int64]
    scheme: str | None

    @property
    def n_folds(self) -> int:
        return len(self.ends) - 1

    @property
    def n_sentences(self) -> int:
        """How many sentences every fold has to learn from at least."""
        if self.X_test is not None:
            return len(self.order)
        return len(self.order) - int(np.diff(self.ends).max())

    def parts(self, task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The sentences to learn from, in their own order, and those to be tested on.

        The fewer sentences of a lower rung are among the more of a higher one.
        """
        if self.X_test is not None:
            return np.sort(self.order[: task.sentences]), np.empty(0, dtype=np.int64)
        start, end = self.ends[task.fold], self.ends[task.fold + 1]
        # What follows the test part comes first: else all folds but the first would begin with the same sentences.
        learnt = np.concatenate([self.order[end:], self.order[:start]])
        return np.sort(learnt[: task.sentences]), self.order[start:end]

    def evaluate(self, task: Task, stop: Callable[[], bool] = lambda: False) -> Outcome:
        """Trains and scores a candidate, on one thread. A failure is an outcome as well.

        `stop` is asked after each epoch; when it says so, the evaluation ends with `Stopped`.
        """
        started = time.perf_counter()
        try:
            score = self._score(task, stop)
        except (KeyboardInterrupt, Stopped):
            raise
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            return Outcome(None, time.perf_counter() - started, text)
        return Outcome(score, time.perf_counter() - started)

    def _score(self, task: Task, stop: Callable[[], bool]) -> float:
        learnt, tested = self.parts(task)
        tagger = (
            self.candidates[task.trial].tagger(self.tagger).set_params(threads=1, scheme=self.scheme, calibration=0)
        )
        X, y = _part(self.X, learnt), _part(self.y, learnt)
        _forget_labels(tagger, LabelSet().extended(y))
        tagger.fit(X, y, callbacks=[lambda epoch: stop()], progress=False)
        if tagger.interrupted_ or stop():
            raise Stopped
        tagger.model_ = replace(tagger.model_, space=replace(tagger.model_.space, scheme=self.scheme))
        if self.X_test is not None:
            return tagger.score(self.X_test, self.y_test)
        return tagger.score(_part(self.X, tested), _part(self.y, tested))


def make_problem(
    tagger: Tagger,
    candidates: list[Candidate],
    X: Any,
    y: Any,
    X_dev: Any,
    y_dev: Any,
    folds: int,
    seed: int,
) -> Problem:
    """The problem of these data, checked: a search should not find out after an hour that a label is misspelt."""
    tagger.check_parameters()
    X, y = sentences_and_labels(X, y)
    if X_dev is None and y_dev is not None:
        raise CorpusError("y_dev was given without X_dev")
    X_test, y_test = (None, None) if X_dev is None else sentences_and_labels(X_dev, y_dev, ("X_dev", "y_dev"))
    n = len(X)
    if X_test is None and n < folds:
        raise CorpusError(f"{folds} folds need at least {folds} sentences, and there are {n}")
    if X_test is not None and not len(X_test):
        raise CorpusError("there is nothing to score on: the development data have no sentences")
    if len(y) != n:
        raise CorpusError(f"found labels for {len(y)} sentences, expected them for {n}")
    lengths = y.lengths if isinstance(y, Columns) else np.fromiter((len(labels) for labels in y), np.int64, len(y))
    labels = LabelSet().extended(y)
    ids = labels.encode(y, lengths)
    if (ids == MISSING).all():
        raise CorpusError("there is nothing to learn from: the training data have no labelled token")
    scheme = label_scheme(tagger.scheme, None, labels, ids, sequence_ptr(lengths))
    costs_of(tagger.label_costs, labels)
    allowed_pairs(tagger.constrain, labels, scheme)
    order = np.random.default_rng([seed, 0]).permutation(n).astype(np.int64)
    ends = np.array([0, n]) if X_test is not None else np.linspace(0, n, folds + 1).astype(np.int64)
    unfitted = type(tagger)(**tagger.get_params(deep=False))
    return Problem(unfitted, tuple(candidates), X, y, X_test, y_test, order, ends.astype(np.int64), scheme)


def _part(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    """Some sentences; a view without copied text where the data can give one."""
    return [sequences[i] for i in numbers] if isinstance(sequences, (list, tuple)) else sequences[numbers]


def _forget_labels(tagger: Tagger, labels: LabelSet) -> None:
    """Takes costs and constraints of labels that a small part of the data happens to lack from the tagger."""
    if tagger.label_costs is not None:
        tagger.label_costs = {
            key: cost
            for key, cost in tagger.label_costs.items()
            if all(name in labels.ids for name in (key if isinstance(key, tuple) else (key,)))
        }
    if isinstance(tagger.constrain, (list, tuple)):
        tagger.constrain = [pair for pair in tagger.constrain if all(name in labels.ids for name in pair)]
