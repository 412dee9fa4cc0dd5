"""What was learned, as one frozen value: what all kinds of models have of it, and how it is written and read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import __version__
from margent.learners.training import Training
from margent.models.stored_parameters import restored_value, stored_value
from margent.models.temperature import LARGEST, SMALLEST
from margent.storage import ModelFile

Self = TypeVar("Self", bound="FittedModel")
Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]
"""Header entries and arrays for a model file."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedModel(ABC):
    """What a training leaves. Nothing in it changes: further training makes another one.

    learner : the learner that it was learned with; None: one that the model file could not hold
    history : one dict per epoch: loss, accuracy, objective, seconds, dev_score
    best_epoch, interrupted : how the last training ended
    temperature : probabilities are exp(score / temperature), over the sum of all answers
    calibrated : whether they are calibrated: the learner makes them so, or the temperature was fitted

    What is made of it for native code is made once, and is no part of copies.
    """

    kind: ClassVar[str]
    """Its name in model files."""

    learner: Any
    history: list[dict[str, Any]]
    best_epoch: int | None = None
    interrupted: bool = False
    temperature: float = 1.0
    calibrated: bool = False

    @property
    def function(self) -> Any:
        """The code that it was given and a file cannot hold, or None."""
        return None

    @property
    def n_features_in(self) -> int | None:
        """How many numbers a token or frame has, where the input is arrays."""
        return None

    @abstractmethod
    def stored(self, *, compact: bool = False) -> Stored:
        """Header entries and arrays for a model file; `compact`: without what weighs nothing, and rounded."""

    @classmethod
    @abstractmethod
    def restored(cls: type[Self], file: ModelFile, function: Any = None) -> Self:
        """The model in a file, everything in it checked. `function`: the code that the file could not hold."""

    def first_warning(self, of: str = "probabilities") -> bool:
        """True when asked for the first time: what is wrong with its probabilities, or other answers, is said once."""
        said: set[str] = vars(self).setdefault("_warned", set())
        first = of not in said
        said.add(of)
        return first

    def __reduce__(self) -> tuple[Any, ...]:
        """For copies made by `copy`, `joblib` and process pools: as plain data."""
        return _copied, (type(self), *self.stored(), self.function, self.learner, self.history)

    # What `stored` and `restored` of all kinds have in common

    def stored_training(self) -> dict[str, Any]:
        """Header entries of the fields above."""
        return {
            "learner": stored_value(self.learner),
            # Without seconds: the same training gives the same bytes.
            "history": [
                {name: stored_value(value) for name, value in epoch.items() if name != "seconds"}
                for epoch in self.history
            ],
            "best_epoch": self.best_epoch,
            "interrupted": self.interrupted,
            "temperature": float(self.temperature) if self.calibrated else None,
        }


def _copied(kind: type[Self], header: Any, arrays: Any, function: Any, learner: Any, history: Any) -> Self:
    model = kind.restored(ModelFile("<memory>", kind.kind, __version__, header, arrays), function)
    return replace(model, learner=learner, history=history)


def restored_training(file: ModelFile) -> dict[str, Any]:
    """The fields that `stored_training` wrote. Older files name the learner among the parameters alone."""
    learner = file.header["learner"] if "learner" in file.header else older_value(file, "learner")
    try:
        learner = restored_value({"name": learner} if isinstance(learner, str) else learner)
    except (TypeError, ValueError, KeyError) as error:
        raise file.error(f"its learner is wrong: {error}") from None
    calibrated = file.header.get("temperature") is not None  # older files have none
    return {
        "learner": learner,
        "history": _restored_history(file),
        "best_epoch": None if file.header.get("best_epoch") is None else file.value("best_epoch", int, minimum=1),
        "interrupted": file.value("interrupted", bool),
        "temperature": file.value("temperature", float, minimum=SMALLEST, maximum=LARGEST) if calibrated else 1.0,
        "calibrated": calibrated,
    }


def _restored_history(file: ModelFile) -> list[dict[str, Any]]:
    """Epochs with numbers, each counted from the start of its training."""
    history = file.value("history", list)
    for number, epoch in enumerate(history, 1):
        if not isinstance(epoch, dict) or not all(type(value) in _NUMBERS for value in epoch.values()):
            raise file.error(f"epoch {number} of its history should be numbers by name")
        if type(epoch.get("epoch")) is not int or not 1 <= epoch["epoch"] <= number:
            raise file.error(f"epoch {number} of its history should say which one of its training it is")
    return history


_NUMBERS = (int, float, bool, type(None))


def older_value(file: ModelFile, name: str) -> Any:
    """What older files have among the parameters alone; None where it is not there either."""
    return file.value("parameters", dict).get(name)


def learned_fields(learner: Any, result: Training, start: FittedModel | None, probabilistic: bool) -> dict[str, Any]:
    """The fields of a new model from a training that began anew, or with the weights of `start`.

    Without a learner that makes its scores log-probabilities, the temperature of `start` stays.
    """
    fields = {
        "learner": learner,
        "history": [*(start.history if start else ()), *(epoch.as_dict() for epoch in result.history)],
        "best_epoch": result.best_epoch,
        "interrupted": result.interrupted,
    }
    if start is None or probabilistic:
        return fields | {"temperature": 1.0, "calibrated": probabilistic}
    return fields | {"temperature": start.temperature, "calibrated": start.calibrated}


def part_of(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    """Some of the sequences, in whatever they are kept; None stays None."""
    if isinstance(sequences, (list, tuple)):
        return [sequences[i] for i in numbers]
    return None if sequences is None else sequences[numbers]
