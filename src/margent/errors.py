"""The errors a user may want to catch. Each message says in one sentence what was given, where, what was expected."""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

from margent.printable import printable

LONGEST = 600
"""So many characters of a message are told: what it quotes of a file may be of any length."""


class MargentError(Exception):
    """Base class of all errors that Margent raises on purpose."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*(_sentence(arg) if isinstance(arg, str) else arg for arg in args))


def _sentence(message: str) -> str:
    """In one line, whatever names and text it quotes, and without the middle of what is too long: where it happened
    comes first, what was expected mostly last."""
    message = printable(message).replace("\n", "\\n")
    if len(message) <= LONGEST:
        return message
    return f"{message[: 2 * LONGEST // 3]} ... {message[-LONGEST // 3 :]}"


class CorpusError(MargentError, ValueError):
    """A data file, label sequence or example is malformed. The message names file, line, token."""


class LimitError(CorpusError):
    """An input is larger than one of the `margent.formats.Limits`. The message says where, and which one."""


class MeaningError(CorpusError):
    """A text is not an expression or a type, or an expression does not fit together. The message says where and why."""


class ModelFileError(MargentError, ValueError):
    """A model file is truncated, corrupted, of another version or not a model file at all."""


class DataNotFoundError(MargentError, FileNotFoundError):
    """A public data set was not found. The message says where to get it and where to put it."""


class ConstraintError(MargentError, ValueError):
    """The constraints given for a sequence leave no labelling, or name a label or position that does not exist."""


class CapabilityError(MargentError, TypeError):
    """A learner needs something that a structure cannot do. The message names both, and learners that fit."""


class NotFittedError(MargentError, ValueError, AttributeError):
    """A model was used before `fit`. Once scikit-learn is imported, it is raised as its NotFittedError too."""


def not_fitted(message: str) -> NotFittedError:
    """The error to raise for a model that was used before `fit`.

    Who catches scikit-learn's own NotFittedError has imported it, so there is no need to import it here.
    """
    exceptions = sys.modules.get("sklearn.exceptions")
    return NotFittedError(message) if exceptions is None else _joint_class(exceptions.NotFittedError)(message)


@cache
def _joint_class(theirs: type[Exception]) -> type[NotFittedError]:
    def reduced(self: NotFittedError) -> tuple[Any, ...]:  # a class made here has no name to be found by
        return not_fitted, self.args

    return type("NotFittedError", (NotFittedError, theirs), {"__module__": __name__, "__reduce__": reduced})


class CalibrationWarning(UserWarning):
    """Probabilities were requested of a model whose scores are not log-probabilities, without a fitted temperature."""


class RestrictionWarning(UserWarning):
    """What a model may answer left some examples no answer, and was widened for these. The message says what and how
    often; it is said once of each model."""


class TrainingWarning(UserWarning):
    """A training came to its end without having learned anything. The message says why, and what to try."""


class CorpusWarning(UserWarning):
    """Something in a file is passed over. The message says what and how often."""


class SearchWarning(UserWarning):
    """The best value of a parameter lies at the edge of the range that was searched."""


class MissingExtraError(MargentError, ImportError):
    """An optional dependency is not installed. The message says which extra brings it."""
