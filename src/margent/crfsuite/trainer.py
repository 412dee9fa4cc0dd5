"""python-crfsuite's `Trainer`: sequences one by one, parameters by name, a model file."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from margent.crfsuite.estimator import CRF, LONG_NAMES
from margent.crfsuite.item_sequence import items_of
from margent.crfsuite.training_log import TrainingLog, log_lines
from margent.errors import TrainingWarning

_ALWAYS = {
    "feature.minfreq": (0.0, "The minimum frequency of features."),
    "feature.possible_states": (False, "Force to generate possible state features."),
    "feature.possible_transitions": (False, "Force to generate possible transition features."),
}
_MAX_ITERATIONS = "The maximum number of iterations."
_EPSILON = "The stopping criterion: the share of wrong labels."
_PERIOD = "How many iterations are looked back for the stopping criterion."
_DELTA = "The share by which the objective must have been lowered since."
_C2 = "Coefficient for L2 regularization."
_PARAMETERS: dict[str, dict[str, tuple[Any, str]]] = {
    "lbfgs": {
        "c1": (0.0, "Coefficient for L1 regularization."),
        "c2": (1.0, _C2),
        "max_iterations": (2**31 - 1, _MAX_ITERATIONS),
        "num_memories": (6, "The number of limited memories for approximating the inverse hessian matrix."),
        "epsilon": (1e-5, "Epsilon for testing the convergence; no effect in Margent."),
        "period": (10, _PERIOD),
        "delta": (1e-5, _DELTA),
        "linesearch": ("MoreThuente", "The line search algorithm; no effect in Margent."),
        "max_linesearch": (20, "The maximum number of trials of the line search; no effect in Margent."),
    },
    "l2sgd": {
        "c2": (1.0, _C2),
        "max_iterations": (1000, _MAX_ITERATIONS),
        "period": (10, _PERIOD),
        "delta": (1e-6, _DELTA),
        "calibration.eta": (0.1, "The initial value of the learning rate; no effect in Margent."),
        "calibration.rate": (2.0, "The rate of its calibration; no effect in Margent."),
        "calibration.samples": (1000, "The number of instances for calibration; no effect in Margent."),
        "calibration.candidates": (10, "The number of candidates of learning rates; no effect in Margent."),
        "calibration.max_trials": (20, "The maximum number of trials of calibration; no effect in Margent."),
    },
    "ap": {"max_iterations": (100, _MAX_ITERATIONS), "epsilon": (0.0, _EPSILON)},
    "pa": {
        "type": (1, "The kind of steps: 0 without a limit, 1 up to c."),
        "c": (1.0, "The aggressiveness parameter."),
        "error_sensitive": (True, "Consider the number of incorrect labels; always so in Margent."),
        "averaging": (True, "Compute the average of feature weights."),
        "max_iterations": (100, _MAX_ITERATIONS),
        "epsilon": (0.0, _EPSILON),
    },
    "arow": {
        "variance": (1.0, "The initial variance of every feature weight."),
        "gamma": (1.0, "The tradeoff between loss function and changes of feature weights."),
        "max_iterations": (100, _MAX_ITERATIONS),
        "epsilon": (0.0, _EPSILON),
    },
}
"""By algorithm, what may be set: default and help, both of the original."""
_NAMES = {
    "feature.minfreq": "min_freq",
    "feature.possible_states": "all_possible_states",
    "feature.possible_transitions": "all_possible_transitions",
    "type": "pa_type",
}
"""Names that `CRF` has for these, where it is not the same with _ for a dot."""


class Trainer:
    """Collects sequences and trains a model on them.

    Parameters
    ----------
    algorithm : "lbfgs" (if None), "l2sgd", "ap" or "averaged-perceptron", "pa" or "passive-aggressive", or "arow"
    params : dict of parameters by the original's names, such as {"c2": 0.1, "feature.possible_transitions": True}
    verbose : bool
        `message` prints what it is told.

    Sequences of group `holdout` are development data: the iteration that is best on them is kept.
    """

    verbose = True
    """Where a derived class does not call this constructor."""

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        self.verbose = verbose
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)

    # The state is made when it is first asked for: classes derived from this one need not call its constructor.

    @property
    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = vars(self).setdefault(
            "_margent", {"algorithm": "lbfgs", "given": {}, "sequences": [], "log": None}
        )
        return state

    @property
    def logparser(self) -> TrainingLog | None:
        """What happened in the last training."""
        log: TrainingLog | None = self._state["log"]
        return log

    def message(self, message: str) -> None:
        """Called with each line of the log; derive from this class to do something else than to print it."""
        if self.verbose:
            sys.stdout.write(message)

    # Data

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Adds a sequence and its labels."""
        X, y = list(items_of(xseq)), list(yseq)
        if len(X) != len(y):
            raise ValueError(f"a sequence of {len(X)} tokens has {len(y)} labels; expected as many")
        self._state["sequences"].append((X, y, int(group)))

    def clear(self) -> None:
        """Forgets all sequences."""
        self._state["sequences"].clear()

    # Parameters

    def select(self, algorithm: str, type: str = "crf1d") -> bool:
        """Chooses an algorithm; `type` can only be "crf1d"."""
        name = LONG_NAMES.get(algorithm, algorithm)
        if name not in _PARAMETERS:
            raise ValueError(f"algorithm={algorithm!r} is not known; expected one of {', '.join(_PARAMETERS)}")
        if type != "crf1d":
            raise ValueError(f"type={type!r} is not known; expected 'crf1d'")
        self._state["algorithm"], self._state["given"] = name, {}
        return True

    def params(self) -> list[str]:
        """The names of the algorithm's parameters."""
        return list(self._known())

    def help(self, name: str) -> str:
        """What a parameter is."""
        return self._known()[self._checked(name)][1]

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        return self._state["given"].get(self._checked(name), self._known()[name][0])

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter; text is read as a value of its type."""
        kind = type(self._known()[self._checked(name)][0])
        try:
            value = bool(float(value)) if kind is bool else kind(value)
        except (TypeError, ValueError):
            raise ValueError(f"{name} should be of type {kind.__name__}, got {value!r}") from None
        self._state["given"][name] = value

    def get_params(self) -> dict[str, Any]:
        """All parameters with their values."""
        return {name: self.get(name) for name in self.params()}

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Sets several parameters."""
        for name, value in params.items():
            self.set(name, value)

    def _known(self) -> dict[str, tuple[Any, str]]:
        return _ALWAYS | _PARAMETERS[self._state["algorithm"]]

    def _checked(self, name: str) -> str:
        if name not in self._known():
            there = ", ".join(self._known())
            raise ValueError(f"{self._state['algorithm']} has no parameter {name!r}; expected one of {there}")
        return name

    # Training

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Trains, and writes a model file. Sequences of the group `holdout`, if it is not -1, choose the iteration."""
        sequences = self._state["sequences"]
        learned = [(X, y) for X, y, group in sequences if group != holdout]
        held = [(X, y) for X, y, group in sequences if group == holdout]
        defaults = self._known()
        given = {
            _NAMES.get(name, name.replace(".", "_")): value
            for name, value in self._state["given"].items()
            if value != defaults[name][0]
        }
        self.message("Feature generation\n")
        self.message("type: CRF1d\n")
        for name, value in self.get_params().items():
            self.message(f"{name}: {value}\n")
        self.message("\n")
        if not any(y for _, y in learned):
            warnings.warn("there is nothing to learn from: no model was made", TrainingWarning, stacklevel=2)
            return
        crf = CRF(self._state["algorithm"], **given)
        parts = [[x for x, _ in held], [y for _, y in held]] if held else [None, None]
        crf.fit([x for x, _ in learned], [y for _, y in learned], *parts)
        for number, epoch in enumerate(crf.history_, 1):
            for line in log_lines(epoch, number):
                self.message(line)
        crf.save(model)
        self._state["log"] = crf.training_log_
        self.message("Storing the model\n")
