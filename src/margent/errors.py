"""The errors a user may want to catch. Each message says in one sentence what was given, where, what was expected."""

from __future__ import annotations


class MargentError(Exception):
    """Base class of all errors that Margent raises on purpose."""


class CorpusError(MargentError, ValueError):
    """A data file, label sequence or example is not what its format says. The message names file, line, token."""


class ModelFileError(MargentError, ValueError):
    """A model file is truncated, corrupted, of another version or not a model file at all."""


class DataNotFoundError(MargentError, FileNotFoundError):
    """A public data set is not where it is looked for. The message says where to get it and where to put it."""


class ConstraintError(MargentError, ValueError):
    """The constraints given for a sequence leave no labelling, or name a label or position that does not exist."""


class NotFittedError(MargentError, ValueError, AttributeError):
    """A model was used before `fit`."""


class MissingExtraError(MargentError, ImportError):
    """An optional dependency is not installed. The message says which extra brings it."""
