"""The template of all models: fit, partial_fit, early stopping, calibration, evaluation, files. Written once.

A kind of model is a subclass of `StructuredModel`, which supplies a `Problem` (how inputs become examples, which oracle
learns), a `FittedModel` (what was learned, and how it is stored), and how data with known answers are judged.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import storage
from margent.errors import CalibrationWarning, CorpusError, not_fitted
from margent.held_signals import HeldSignals
from margent.learners import Learner, learner_named, train
from margent.learners.training import Callback, Training
from margent.models.estimator import Estimator
from margent.models.fitted import FittedModel, Stored
from margent.models.stored_parameters import restored_value, stored_value
from margent.models.temperature import fitted_temperature
from margent.models.training_data import TrainingData
from margent.parameters import LARGEST_WHOLE, check_count
from margent.processors import processor_count
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.metrics.calibration import Calibration

M = TypeVar("M", bound=FittedModel)
Self = TypeVar("Self", bound="StructuredModel[Any]")
P = TypeVar("P", bound="Problem[Any]")


@dataclass(frozen=True)
class Run:
    """Runs a learner over an oracle, watched by a function from weights to their score on development data if given.

    From the end of the first training on, Ctrl-C waits until what was learned is a model, but in further trainings and
    other work that is `interruptible`.
    """

    seed: int
    threads: int
    callbacks: Any
    progress: bool | None
    signals: HeldSignals

    def __call__(self, learner: Any, oracle: Any, evaluate: Callable[[Any], float] | None) -> Training:
        with self.interruptible():
            result = train(
                *(learner, oracle),
                seed=self.seed,
                threads=self.threads,
                evaluate=evaluate,
                callbacks=self.callbacks,
                progress=self.progress,
            )
            self.signals.closed = True
        return result

    def interruptible(self) -> AbstractContextManager[None]:
        """For work after the first training. KeyboardInterrupt, also for what came before, is for the caller."""
        return self.signals.opened()


def run_counting(run: Run, learner: Any, oracle: Any, evaluate: Callable[[Any], tuple[float, int]] | None) -> Training:
    """Runs a learner, watched by a function that also tells for how many examples of the development data restrictions
    were lifted; the history says so."""
    if evaluate is None:
        return run(learner, oracle, None)
    lifted: list[int] = []  # after each epoch

    def watch(weights: Any) -> float:
        score, n_lifted = evaluate(weights)
        lifted.append(n_lifted)
        return score

    result = run(learner, oracle, watch)
    result.history = [replace(epoch, dev_lifted=n or None) for epoch, n in zip(result.history, lifted)]
    return result


Confidences = dict[str, tuple[NDArray[np.float64], NDArray[np.bool_]]]
"""By what they are of: the probabilities of what is predicted, and whether it is right."""


class Finds(NamedTuple):
    """What was found in data whose right answers are known: spans, segments.

    log_confidences : from 1 / T to the log of the probability (n,) of each find
    right : (n,) whether it is there
    sample_weight : (n,) above 0, what each counts
    margins : by how much the best answers score more than the next
    """

    log_confidences: Callable[[float], NDArray[np.float64]]
    right: NDArray[np.bool_]
    sample_weight: NDArray[np.float64]
    margins: NDArray[np.float64]

    @classmethod
    def that_count(
        cls,
        confidences: Callable[[float], NDArray[np.float64]],
        right: NDArray[np.bool_],
        sample_weight: NDArray[np.float64],
        two_best: Iterable[Sequence[Any]],
    ) -> Finds | None:
        """Those with a weight above 0; None: there is none.

        confidences : from 1 / T to the probability (n,) of each find
        two_best : of each example its two best answers, tuples that begin with their score
        """
        judged = sample_weight > 0
        if not judged.any():
            return None
        margins = np.array([best[0] - second[0] for best, second in (each for each in two_best if len(each) == 2)])
        return cls(
            lambda scale: np.log(np.maximum(confidences(scale)[judged], 1e-300)),
            *(right[judged], sample_weight[judged], margins),
        )


class Problem(ABC, Generic[M]):
    """Training data, encoded, and what is to be learned from them: a dataclass."""

    learner: Any
    data: Any
    """The training data: examples that have a length, `counting()`, the numbers of those that count and whose right
    answer is known, and `part(numbers)`, some of them, as they are encoded."""
    development: Any = None
    """The development data, encoded with their right answers; None: there are none."""

    @property
    def calibrated_by_learner(self) -> bool:
        """Whether the learner makes scores log-probabilities, as the search sums over them, so that T is 1."""
        return bool(self.learner.probabilistic)

    @abstractmethod
    def learned(self, run: Run) -> M:
        """The model that `run` learns."""

    # What is asked only for a temperature from examples that were held out

    def part(self: P, numbers: NDArray[np.int64]) -> P:
        """The same for some of the examples, as they are encoded; without development data."""
        return replace(self, data=self.data.part(numbers), development=None)  # type: ignore[type-var]

    def answers(self, numbers: NDArray[np.int64]) -> Any:
        """Some of the examples with their right answers, to judge a model by that did not learn from them."""
        return self.data.part(numbers)


class Unavailable:
    """Stands in for a method that a kind of model cannot have, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __set_name__(self, owner: type, name: str) -> None:
        self.message = f"a {owner.__name__} has no {name}: {self.reason}"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        raise AttributeError(self.message)


class StructuredModel(Estimator, ABC, Generic[M]):
    """Base of all models. All that was learned is `model_`, a frozen value; the other learned names are views of it.

    A `fit` or `partial_fit` that fails leaves the model as it was, because it never touched it, and prediction in other
    threads continues with the old model until the new one is complete.
    """

    fitted: ClassVar[type[FittedModel]]
    """The class of `model_`."""

    model_: M

    learner: Any
    calibration: float | None = None
    seed: int
    threads: int | None

    # What a kind of model supplies

    @abstractmethod
    def check_parameters(self) -> None:
        """All that can be checked before the data are seen; TypeError or ValueError."""

    @abstractmethod
    def _problem(self, data: TrainingData, start: M | None, grow: bool) -> Problem[M]:
        """The training data, encoded. `start`: the model to continue from; `grow`: new features are added."""

    @abstractmethod
    def _answers(self, model: M, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Data with their right answers, encoded."""

    @abstractmethod
    def _score(self, model: M, answers: Any) -> float:
        """How good the predictions are, higher is better."""

    @abstractmethod
    def _report(self, model: M, answers: Any) -> Any:
        """The same in detail: a report of `margent.metrics`."""

    def _finds(self, model: M, answers: Any) -> Finds | None:
        """What the model finds in data, for the temperature; None: nothing that the right answers could judge."""
        raise NotImplementedError

    @abstractmethod
    def _confidences(self, model: M, answers: Any) -> Confidences:
        """Of what is predicted."""

    def _default_learner(self) -> Any:
        """What `learner=None` stands for."""
        return None

    # Learning

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from examples. The class says what X and y are.

        Parameters
        ----------
        X, y : the inputs, and the right answer to each
        sample_weight : (n,) numbers, or None
            The weight of each example.
        X_dev, y_dev : development data
            The weights of the epoch that does best on them are kept, and the learner's `patience` watches them. They
            also give the `temperature_` for probabilities, unless the learner needs none or `calibration` is 0.
        dev_metric : str or None
            What "best" means, one of the names that the class lists; None: the same as `score`.
        callbacks : functions called with each `Epoch`; returning True ends the training
        progress : show a progress bar; None: only on a terminal

        Ctrl-C ends the training and keeps what was learned so far.
        """
        data = TrainingData(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        self.model_ = self._learned(data, None)
        return self

    def partial_fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
        freeze_features: bool = False,
    ) -> Self:
        """Continues training from the current weights, with new labels and features if there are any.

        With `freeze_features` there are no new features. Averaging restarts from the current weights, also for a loaded
        model. On an unfitted model this is `fit`. The `temperature_` is kept, although it no longer fits perfectly; it
        is refitted if development data are given. `calibration` applies to `fit` only.
        """
        data = TrainingData(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        start = self.model_ if self.__sklearn_is_fitted__() else None
        self.model_ = self._learned(data, start, grow=start is None or not freeze_features)
        return self

    def calibrate(self: Self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fits the `temperature_`, so that a confidence of 0.8 means right in eight cases out of ten.

        X, y : data that the model was not trained on, as for `fit`
        sample_weight : (n,) numbers, or None

        Predictions stay the same, except where they depend on sums (`search="sum"` or "posterior"); only probabilities
        change. A few hundred spans or segments are enough. `fit` does this automatically with development data, or with
        `calibration`.
        """
        model = self._fitted()
        finds = self._finds(model, self._answers(model, X, y, sample_weight))
        if finds is None:
            name = type(self).__name__.lower()
            raise CorpusError(f"the {name} predicts nothing in these data that can be compared with the right answers")
        self.model_ = self._at_temperature(model, fitted_temperature(*finds))
        return self

    def _learned(self, data: TrainingData, start: M | None, grow: bool = True) -> M:
        """The model that `data` give: trained, and where it can be, calibrated."""
        self.check_parameters()
        for name, value in self.get_params(deep=False).items():  # before the training, not after it
            storage.check_storable(stored_value(value), f"{name} of {type(self).__name__}")
        problem = self._problem(data, start, grow)
        held = self._held_out(problem) if start is None and self.calibration else None
        model = self._run(problem, data.callbacks, data.progress)
        if self.calibration != 0 and problem.development is not None and not problem.calibrated_by_learner:
            model = self._calibrated(model, lambda: self._finds(model, problem.development))
        if held is not None and not model.interrupted:
            model = self._calibrated(model, lambda: self._held_out_finds(problem, held, data.progress))
        return model

    def _run(self, problem: Problem[M], callbacks: Iterable[Callback], progress: bool | None) -> M:
        """What is learned of a problem."""
        with HeldSignals(closed=False) as signals:
            run = Run(int(self.seed), self.resolved("threads"), callbacks, progress, signals)
            model = problem.learned(run)
        return replace(model, interrupted=True) if signals.came else model

    # Calibration

    def _held_out(self, problem: Problem[M]) -> NDArray[np.int64]:
        """The numbers of a share `calibration` of the examples that count, drawn with the seed."""
        counting = problem.data.counting()
        if len(counting) < 2:
            raise CorpusError(
                f"calibration={self.calibration} holds out examples that have an answer and a weight above 0; expected "
                f"at least 2 of them, got {len(counting)}"
            )
        n = min(max(round(float(self.calibration or 0) * len(counting)), 1), len(counting) - 1)
        return np.sort(np.random.default_rng(self.seed).permutation(counting)[:n])

    def _held_out_finds(self, problem: Problem[M], held: NDArray[np.int64], progress: bool | None) -> Finds | None:
        """What a model finds in the examples held out that learned from all others."""
        rest = problem.part(np.setdiff1d(np.arange(len(problem.data)), held))
        other = self._run(rest, (), progress)
        if other.interrupted:  # half trained, its scores are not of the size of the other's
            raise KeyboardInterrupt
        return self._finds(other, problem.answers(held))

    def _calibrated(self, model: M, finds: Callable[[], Finds | None]) -> M:
        """At the end of a training: Ctrl-C, or data without anything to judge, leave what was learned as it is."""
        try:
            found = finds()
            return model if found is None else self._at_temperature(model, fitted_temperature(*found))
        except KeyboardInterrupt:
            return replace(model, interrupted=True)

    def _at_temperature(self, model: M, temperature: float) -> M:
        return replace(model, temperature=temperature, calibrated=True)

    def _is_calibrated(self, model: M) -> bool:
        return model.calibrated

    def _uncalibrated(self) -> str:
        """Why probabilities are not calibrated."""
        return "the scores that it learned rank well, but are not log-probabilities"

    def _scale(self, model: M, stacklevel: int = 3) -> float:
        """What scores are multiplied with to become log-probabilities; said once if that is not calibrated."""
        if not self._is_calibrated(model) and model.first_warning():
            warnings.warn(
                f"the probabilities of this {type(self).__name__} are not calibrated: {self._uncalibrated()}; give fit "
                "X_dev and y_dev, set calibration=0.1, or call calibrate(X, y) with data that it was not trained on",
                CalibrationWarning,
                stacklevel=stacklevel,
            )
        return 1.0 / model.temperature

    # Evaluation

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How good the predictions are, as a number, higher being better. The class says which.

        `sample_weight`: (n,), the weight of each example.
        """
        model = self._fitted()
        return self._score(model, self._answers(model, X, y, sample_weight))

    def evaluate(self, X: Any, y: Any = None) -> Any:
        """How good the predictions are, in detail: a report from `margent.metrics`, which prints as a table."""
        model = self._fitted()
        return self._report(model, self._answers(model, X, y))

    def reliability(self, X: Any, y: Any = None, *, bins: int = 10, equal: str = "width") -> dict[str, Calibration]:
        """How well the probabilities agree with how often predictions are right, on data with known answers.

        There is a curve for everything that has a probability (tokens and spans, frames and segments, words, arcs,
        phrases); draw them with `margent.metrics.plot_reliability`. `bins` and `equal` are as in
        `margent.metrics.calibration_scores`.
        """
        from margent.metrics.calibration import calibration_scores

        model = self._fitted()
        found = self._confidences(model, self._answers(model, X, y))
        return {
            name: calibration_scores(np.minimum(confidences, 1.0), right, bins=bins, equal=equal)
            for name, (confidences, right) in found.items()
        }

    # Files

    def save(self, path: storage.Target, *, compact: bool = False) -> None:
        """Writes the model to one file; an existing file is replaced only when the new one is complete.

        `path` may be a binary file that is open for writing.

        `compact` leaves out features without weights and everything that only explains the model, and rounds weights to
        16 bits. The file has half the size or less; predictions may change where two answers are nearly equal.
        """
        header, arrays = self.file_content(compact=compact)
        storage.write(path, header, arrays, kind=self.fitted.kind)

    def file_content(self, *, compact: bool = False) -> Stored:
        """What `save` writes: header entries and arrays; `from_file` takes them back."""
        model = self._fitted()
        header, arrays = model.stored(compact=compact)
        parameters = {name: stored_value(value) for name, value in self._stored_parameters(model).items()}
        return {**header, "parameters": parameters}, arrays

    @classmethod
    def load(cls: type[Self], path: storage.Source, *, function: Any = None, mmap: bool = False) -> Self:
        """The model in a file; `margent.load` does the same for a model of any kind."""
        return cls.from_file(storage.read(path, mmap=mmap, kind=cls.fitted.kind), function)

    @classmethod
    def from_file(cls: type[Self], file: ModelFile, function: Any = None) -> Self:
        """The model in a file that was read; see `margent.load`."""
        model = cls.fitted.restored(file, function)
        try:
            given = cls._upgraded(dict(file.value("parameters", dict)))
            if "seed" not in given:  # which every model has
                raise KeyError("there is no seed among them")
            self = cls(**cls._restored_parameters({k: restored_value(v) for k, v in given.items()}, model))
            self.check_parameters()
            self._check_model(model)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise file.error(f"its parameters are wrong: {error}") from None
        self.model_ = model
        return self

    def _stored_parameters(self, model: M) -> dict[str, Any]:
        """The parameters for a file; those that were fixed by the training as they were then."""
        return self.get_params(deep=False)

    @classmethod
    def _restored_parameters(cls, given: dict[str, Any], model: M) -> dict[str, Any]:
        """The parameters from those of a file."""
        return given

    @classmethod
    def _upgraded(cls, given: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a file that an older version wrote, under the names of today."""
        return given

    def _check_model(self, model: M) -> None:
        """ValueError where a model from a file is not one that these parameters could have learned."""

    # What was learned

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self)

    def _fitted(self) -> M:
        """The model as it is now: read once by each method, so that training may replace it meanwhile."""
        if not self.__sklearn_is_fitted__():
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit before using it")
        return self.model_

    @property
    def history_(self) -> list[dict[str, Any]]:
        """One dict per epoch of all trainings so far."""
        return self.model_.history

    @property
    def best_epoch_(self) -> int | None:
        """The epoch of the last training that did best on the development data."""
        return self.model_.best_epoch

    @property
    def interrupted_(self) -> bool:
        """Whether Ctrl-C ended the last training."""
        return self.model_.interrupted

    @property
    def temperature_(self) -> float:
        """Probabilities are exp(score / temperature_), over the sum of all answers."""
        return self.model_.temperature

    @property
    def calibrated_(self) -> bool:
        """Whether probabilities are calibrated, by the learner or by a fitted temperature."""
        return self._is_calibrated(self.model_)

    @property
    def n_features_in_(self) -> int:
        """How many numbers a token or frame has; only of a model that was fitted to arrays."""
        n = self._fitted().n_features_in
        if n is None:
            raise AttributeError(f"n_features_in_ is for arrays; this {type(self).__name__} was fitted to text")
        return n

    @classmethod
    def abilities(cls) -> dict[str, str]:
        """For each method "yes", or why this kind of model does not have it. docs/models.md lists them all."""
        missing = {name: value.reason for kind in cls.__mro__ for name, value in vars(kind).items()
                   if isinstance(value, Unavailable)}  # fmt: skip
        return {name: missing.get(name, "yes") for name in _METHODS}

    # Parameters

    def resolved(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "threads":
            return processor_count() if value is None else min(int(value), 1 << 20)
        if name == "learner":
            return self._default_learner() if value is None else resolve_learner(value)
        return value

    def _nested(self, name: str) -> Any:
        try:
            return self.resolved(name)
        except (TypeError, ValueError):  # `fit` says what is wrong
            return getattr(self, name)

    def check_common(self) -> None:
        """The parameters that all models have."""
        name = type(self).__name__
        check_count(f"seed of {name}", self.seed, 0)
        check_count(f"threads of {name}", self.threads, 1, maximum=LARGEST_WHOLE, optional=True)
        share = self.calibration
        if share is not None and (isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share < 1):
            raise ValueError(f"calibration of {name} should be a share from 0 to less than 1, or None, got {share!r}")
        self.resolved("learner")


_METHODS = (
    *("fit", "partial_fit", "predict", "predict_k_best", "predict_marginals", "score", "evaluate"),
    *("calibrate", "reliability", "save", "load"),
)
"""What models are asked for."""


def resolve_learner(given: Any) -> Any:
    """The learner that is given, or named."""
    if isinstance(given, str):
        return learner_named(given)
    if not isinstance(given, Learner):
        raise TypeError(f"learner should be a learner such as CRF(), its name or None, got {given!r}")
    return given
