"""The estimator of sklearn-crfsuite: change `from sklearn_crfsuite import CRF` to `from margent.crfsuite import CRF`.

The class keeps the constructor, methods and learned attributes of sklearn-crfsuite 0.5. Behind it is a
`margent.Tagger` with `features="attributes"`, available as `tagger_.model` for everything that the original lacks: k
best labellings, spans with confidence, explanations, constraints. docs/from-sklearn-crfsuite.md says what differs.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from margent.crfsuite.item_sequence import items_of
from margent.crfsuite.metrics import flat_accuracy_score
from margent.crfsuite.tagger import ParsedDump, Tagger
from margent.crfsuite.training_log import TrainingLog
from margent.errors import CalibrationWarning, CorpusError, TrainingWarning, not_fitted
from margent.features import Features
from margent.learners import AROW, PassiveAggressive, Perceptron
from margent.learners import CRF as ConditionalRandomField
from margent.learners.training import Callback
from margent.models import Tagger as MargentTagger
from margent.models import load
from margent.models.estimator import Estimator
from margent.parameters import LARGEST, check_number, check_whole

Self = TypeVar("Self", bound="CRF")


class CRF(Estimator):
    """The estimator of sklearn-crfsuite, trained and run by Margent.

    Every parameter has the name, the place and the default of the original; None stands for the algorithm's default.
    Parameters that the chosen algorithm does not have are an error in `fit`; those without a counterpart here give a
    warning when given.

    Parameters
    ----------
    algorithm : "lbfgs" (if None), "l2sgd", "ap", "pa" or "arow"
        The learners `margent.CRF` with L-BFGS (OWL-QN where c1 > 0) and with stochastic gradient descent, the averaged
        `Perceptron`, `PassiveAggressive` and `AROW`. "averaged-perceptron" and "passive-aggressive" are understood too.
    min_freq : number
        Attributes that occur less often in the training data are left out. Differs: the original counts attributes
        together with a label.
    all_possible_states, all_possible_transitions : bool
        For "lbfgs" and "l2sgd": weights also for combinations that the data do not have; False if None. The others
        give a weight to each combination that training touches: True is always meant, False gives a warning.
    c1, c2 : number
        What the sizes of the weights ("lbfgs" only) and their squares cost; 0 and 1.
    max_iterations : int
        Passes over the training data: 100 for "ap", "pa" and "arow", 1000 for "l2sgd", without limit for "lbfgs".
    num_memories : int
        Changes of the weights that "lbfgs" remembers; 6.
    epsilon : number
        "ap", "pa" and "arow" end when the share of wrong labels in an iteration is less than this; 1e-5. No effect for
        "lbfgs". Differs: "pa" and "arow" count the labels of their search for the largest score + loss, so they may
        end later.
    period, delta : int, number
        "lbfgs" and "l2sgd" end when `period` iterations, 10, lower the objective by less than a share of `delta`, 1e-5
        and 1e-6.
    linesearch, max_linesearch, calibration_... : of "lbfgs" and "l2sgd"
        No effect: Margent has one line search, and finds the first step of "l2sgd" by itself.
    pa_type, c : of "pa"
        0: steps as long as it takes; 1 (if None): no longer than `c`, 1. There is no 2.
    error_sensitive : of "pa"
        No effect: a labelling costs the number of its mistakes.
    averaging : of "pa"
        Whether weights are averaged over all steps; True if None.
    variance, gamma : of "arow"
        The variance of a weight before it was seen, and how little one sentence is trusted; 1. Only the quotient
        matters: it is the `r` of `AROW`.
    verbose : bool
        Show a progress bar.
    model_filename : path
        `fit` saves the model there, as `save` does. An object that was not fitted takes the model that it finds there.
    keep_tempfiles : bool
        There are no temporary files; True gives a warning.
    trainer_cls : None
        Trainers of python-crfsuite cannot be used; anything but None is an error.

    Attributes
    ----------
    tagger_ : `margent.crfsuite.Tagger`, None before `fit`; its `model` is the `margent.Tagger` that does the work
    training_log_ : what happened in each iteration, as python-crfsuite's parser of logs has it; None before `fit`
    history_ : list of dicts, one per iteration: loss, accuracy or objective, seconds, dev_score

    Examples
    --------
    >>> X = [[{"word": "the"}, {"word": "cat"}], [{"word": "a"}, {"word": "dog"}]]
    >>> crf = CRF(algorithm="ap", max_iterations=10).fit(X, [["D", "N"], ["D", "N"]])
    >>> crf.predict_single([{"word": "the"}, {"word": "dog"}])
    ['D', 'N']
    """

    _model: MargentTagger | None

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: int | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | os.PathLike[str] | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: Any = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls

    def fit(self: Self, X: Any, y: Any, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Learns from sequences of attributes and their labels.

        Parameters
        ----------
        X : sequence of lists of dicts or lists
            The attributes of each token; see `margent.features.attribute_map.AttributeMap`.
        y : sequence of lists of str
        X_dev, y_dev : development data
            The weights of the iteration that does best on them are kept. Differs: the original only reports on them.
        """
        if (X_dev is None) != (y_dev is None):
            raise CorpusError("X_dev and y_dev are given together or not at all, got only one of them")
        training = self._training()
        min_count = 1 if self.min_freq is None else max(1, math.ceil(self.min_freq))
        X, y = _listed(X), _texts(y)
        if not any(y):
            warnings.warn("there is nothing to learn from: no model was made", TrainingWarning, stacklevel=2)
            return self
        tagger = MargentTagger(Features("attributes", min_count), training.learner)
        self._model = tagger.fit(
            X,
            y,
            X_dev=None if X_dev is None else _listed(X_dev),
            y_dev=None if y_dev is None else _texts(y_dev),
            callbacks=training.callbacks,
            progress=bool(self.verbose),
        )
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def predict(self, X: Any) -> NDArray[np.object_]:
        """(n_sequences,) objects: the list of labels of each sequence."""
        found = self._fitted().predict(_listed(X))
        return np.fromiter((list(labels) for labels in found), dtype=object, count=len(found))

    def predict_single(self, xseq: Any) -> list[str]:
        """The labels of one sequence."""
        return self._fitted().predict([xseq])[0]

    def predict_marginals(self, X: Any) -> NDArray[np.object_]:
        """(n_sequences,) objects: for each sequence a list with a dict from label to probability for each token.

        Those of "ap" and "pa" are not probabilities by nature: give `fit` development data to calibrate them, or there
        is a `CalibrationWarning`.
        """
        tagger = self._fitted()
        if not tagger.calibrated_ and tagger.model_.first_warning():  # its own names what is not to be had here
            warnings.warn(
                f"the probabilities of this CRF are not calibrated: the scores that algorithm={self.algorithm!r} "
                "learns rank well, but are not log-probabilities; give fit X_dev and y_dev, call "
                "tagger_.model.calibrate(X, y) with sequences that it was not trained on, or take the algorithm "
                "'lbfgs' or 'l2sgd'",
                CalibrationWarning,
                stacklevel=2,
            )
        names = tagger.classes_.tolist()
        marginals = tagger.predict_marginals(_listed(X))
        sequences = ([dict(zip(names, row)) for row in array.tolist()] for array in marginals)
        return np.fromiter(sequences, dtype=object, count=len(marginals))

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """A dict from label to probability for each token of one sequence."""
        single: list[dict[str, float]] = self.predict_marginals([xseq])[0]
        return single

    def score(self, X: Any, y: Any) -> float:
        """The share of tokens with the right label. `tagger_.model.score` is the F1 of spans."""
        return flat_accuracy_score(_texts(y), self.predict(X))

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Writes the model to a file, as `Tagger.save`; `margent.load` reads it, and `CRF(model_filename=path)`."""
        self._fitted().save(path, compact=compact)

    # What was learned; as in the original, None before that

    @property
    def tagger_(self) -> Tagger | None:
        """The model as python-crfsuite shows it."""
        return Tagger(self._fitted()) if self.__sklearn_is_fitted__() else None

    @property
    def training_log_(self) -> TrainingLog | None:
        """What happened in each iteration."""
        return TrainingLog(self._fitted().history_) if self.__sklearn_is_fitted__() else None

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def history_(self) -> list[dict[str, Any]]:
        """One dict per iteration."""
        return self._fitted().history_

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """(attribute, label) to weight, where it is not zero."""
        return None if (info := self._info()) is None else info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """(label, next label) to weight, where it is not zero."""
        return None if (info := self._info()) is None else info.transitions

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes that have a weight."""
        return None if (info := self._info()) is None else list(info.attributes)

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if (info := self._info()) is None else len(info.attributes)

    @property
    def size_(self) -> int | None:
        """How many bytes the arrays of the saved model take."""
        return None if (info := self._info()) is None else int(info.header["size"])

    def _info(self) -> ParsedDump | None:
        return None if self.tagger_ is None else self.tagger_.info()

    def __sklearn_is_fitted__(self) -> bool:
        return vars(self).get("_model") is not None or (
            self.model_filename is not None and os.path.exists(self.model_filename)
        )

    def _fitted(self) -> MargentTagger:
        model = vars(self).get("_model")
        if model is None:
            if not self.__sklearn_is_fitted__():
                raise not_fitted("this CRF is not fitted yet; call fit, or give model_filename of a model that exists")
            assert self.model_filename is not None
            model = self._model = load(self.model_filename)
        return cast(MargentTagger, model)

    # From the original's parameters to ours

    def _training(self) -> _Training:
        """The learner for the parameters, all of them checked."""
        name = "lbfgs" if self.algorithm is None else LONG_NAMES.get(self.algorithm, self.algorithm)
        if name not in _ALGORITHMS:
            there = ", ".join(f"{known!r} ({row.title})" for known, row in _ALGORITHMS.items())
            raise ValueError(f"algorithm={self.algorithm!r} is not known; expected one of {there}")
        row = _ALGORITHMS[name]
        wrong = [option for option in _OPTIONS if option not in row.options and getattr(self, option) is not None]
        if wrong:
            has = ", ".join(row.options)
            raise ValueError(f"{wrong[0]}={getattr(self, wrong[0])!r} does not fit algorithm={name!r}, which has {has}")
        if self.trainer_cls is not None:
            raise ValueError("trainer_cls should be None: trainers of python-crfsuite cannot be used in Margent")
        if self.min_freq is not None:
            check_number(self, "min_freq", minimum=0)
        for option in ("all_possible_states", "all_possible_transitions"):
            if getattr(self, option) not in (None, True) and name in ("ap", "pa", "arow"):
                warnings.warn(f"{option}=False has no effect: any combination may get a weight", stacklevel=3)
        if self.keep_tempfiles:
            warnings.warn("keep_tempfiles=True has no effect: there are no temporary files", stacklevel=3)
        training = row.training(self)
        for option in row.ignored:
            if getattr(self, option) is not None:
                warnings.warn(f"{option} of algorithm={name!r} has no effect in Margent", stacklevel=3)
        return training


class _Training(NamedTuple):
    """A learner of ours, and callbacks for what only the original's parameters ask for."""

    learner: Any
    callbacks: list[Callback]


class _Algorithm(NamedTuple):
    """An algorithm of the original: in words, the options it has, how they become a learner, and those that do not."""

    title: str
    options: tuple[str, ...]
    training: Callable[[CRF], _Training]
    ignored: tuple[str, ...] = ()


def _lbfgs(crf: CRF) -> _Training:
    searches = ("MoreThuente", "Backtracking", "StrongBacktracking")
    if crf.linesearch is not None and crf.linesearch not in searches:
        raise ValueError(f"linesearch of CRF should be one of {', '.join(searches)}, got {crf.linesearch!r}")
    c1 = _given(crf, "c1", 0.0)
    memory = _given_whole(crf, "num_memories", 6)
    return _likelihood(crf, "owlqn" if c1 else "lbfgs", _NO_LIMIT, 1e-5, l1=c1, memory=memory)


def _stochastic(crf: CRF) -> _Training:
    return _likelihood(crf, "sgd", 1000, 1e-6)


def _likelihood(crf: CRF, method: Any, iterations: int, delta: float, **parameters: Any) -> _Training:
    learner = ConditionalRandomField(
        method=method,
        l2=_given(crf, "c2", 1.0),
        epochs=_given_whole(crf, "max_iterations", iterations),
        tol=_given(crf, "delta", delta),
        period=_given_whole(crf, "period", 10),
        all_pairs=bool(crf.all_possible_states),
        all_transitions=bool(crf.all_possible_transitions),
        boundaries=False,  # the original has no weights for the first and the last label
        **parameters,
    )
    return _Training(learner, [])


def _averaged_perceptron(crf: CRF) -> _Training:
    return _Training(Perceptron(epochs=_given_whole(crf, "max_iterations", 100)), [_enough_right(crf)])


def _passive_aggressive(crf: CRF) -> _Training:
    if crf.pa_type not in (None, 0, 1):
        raise ValueError(
            f"pa_type of CRF should be 0 or 1 in Margent (steps without a limit, or up to c), got {crf.pa_type!r}"
        )
    longest = LARGEST if crf.pa_type == 0 else _given(crf, "c", 1.0, above=True)
    average = True if crf.averaging is None else bool(crf.averaging)
    learner = PassiveAggressive(C=longest, k=1, average=average, epochs=_given_whole(crf, "max_iterations", 100))
    return _Training(learner, [_enough_right(crf)])


def _arow(crf: CRF) -> _Training:
    r = _given(crf, "gamma", 1.0, above=True) / _given(crf, "variance", 1.0, above=True)
    learner = AROW(r=r, average=False, epochs=_given_whole(crf, "max_iterations", 100))
    return _Training(learner, [_enough_right(crf)])


def _enough_right(crf: CRF) -> Callback:
    epsilon = _given(crf, "epsilon", 1e-5)
    return lambda epoch: epoch.accuracy is not None and 1 - epoch.accuracy < epsilon


def _given(crf: CRF, name: str, default: float, *, above: bool = False) -> float:
    """The number that was given, or the original's default."""
    if getattr(crf, name) is None:
        return default
    check_number(crf, name, minimum=0, above=above)
    return float(getattr(crf, name))


def _given_whole(crf: CRF, name: str, default: int) -> int:
    check_whole(crf, name, minimum=1, optional=True)
    return default if getattr(crf, name) is None else int(getattr(crf, name))


_NO_LIMIT = 2**31 - 1
_COMMON = ("c2", "max_iterations", "period", "delta")
_CALIBRATION = tuple(f"calibration_{name}" for name in ("eta", "rate", "samples", "candidates", "max_trials"))
_LINE_SEARCH = ("epsilon", "linesearch", "max_linesearch")
_ALGORITHMS = {
    "lbfgs": _Algorithm("CRF by L-BFGS", ("c1", *_COMMON, "num_memories", *_LINE_SEARCH), _lbfgs, _LINE_SEARCH),
    "l2sgd": _Algorithm("CRF by stochastic descent", (*_COMMON, *_CALIBRATION), _stochastic, _CALIBRATION),
    "ap": _Algorithm("averaged perceptron", ("max_iterations", "epsilon"), _averaged_perceptron),
    "pa": _Algorithm(
        "passive-aggressive",
        ("pa_type", "c", "error_sensitive", "averaging", "max_iterations", "epsilon"),
        _passive_aggressive,
        ("error_sensitive",),
    ),
    "arow": _Algorithm("adaptive regularisation", ("variance", "gamma", "max_iterations", "epsilon"), _arow),
}
"""The algorithms there are, by the original's names."""
LONG_NAMES = {"averaged-perceptron": "ap", "passive-aggressive": "pa"}

_OPTIONS = (
    *("c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch"),
    *("calibration_eta", "calibration_rate", "calibration_samples", "calibration_candidates"),
    *("calibration_max_trials", "pa_type", "c", "error_sensitive", "averaging", "variance", "gamma"),
)
"""Parameters that belong to some algorithms only."""


def _listed(X: Any) -> Any:
    """Sequences as lists of lists, whatever iterables they are; what is text stays as it is, to be refused."""
    return [x if isinstance(x, (list, tuple, str, bytes)) else list(items_of(x)) for x in X]


def _texts(y: Any) -> list[list[Any]]:
    """Labels as lists of str; bytes are UTF-8."""
    return [[label.decode() if isinstance(label, bytes) else label for label in labels] for labels in y]
