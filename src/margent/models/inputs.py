"""Sentences, labels and weights as users give them, checked at the boundary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.formats.columns import Columns


def sentences_and_labels(X: Any, y: Any, names: tuple[str, str] = ("X", "y")) -> tuple[Any, Any]:
    """Sentences and labels; those of a file in columns may come as one. `names`: how the caller calls the two."""
    if y is None:
        if isinstance(X, Columns) and not X.n_tokens:
            raise CorpusError(f"{names[0]} has no tokens")
        if not isinstance(X, Columns) or X.n_columns < 2:
            raise CorpusError(
                f"labels are missing: a tagger requires y to be passed, but the target {names[1]} is None; "
                f"only with {names[0]} as Columns whose last column is the labels it may be left out"
            )
        return X.split()
    return as_sentences(X), _listed(y)


def as_sentences(X: Any) -> Any:
    """`X` as something that can be gone through more than once, if it can be sentences at all."""
    if hasattr(X, "tocsr"):
        raise CorpusError("a sparse matrix does not say where sequences begin: give TokenMatrix(matrix, lengths)")
    kind = getattr(X, "dtype", None)
    if kind is not None and kind.kind != "O" and X.ndim < 2:
        raise CorpusError(f"expected a list of sequences, got an array of {kind} of {X.ndim} dimensions")
    return _listed(X)


def _listed(sequences: Any) -> Any:
    """What can be gone through more than once: an iterator becomes a list."""
    if not isinstance(sequences, Iterable) or isinstance(sequences, (str, bytes)):
        raise CorpusError(f"expected a list of sequences, got {type(sequences).__name__}")
    return sequences if hasattr(sequences, "__len__") else list(sequences)


def sentence_weights(given: Any, n: int) -> NDArray[np.float32] | None:
    """(n,) weights of sentences, or None where all count the same."""
    if given is None:
        return None
    try:
        weights = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        weights = np.empty(0, dtype=np.float32)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise CorpusError(f"sample_weight should be {n} finite numbers of at least 0, one for each sentence")
    return weights


def training_weights(given: Any, n: int, what: str = "sentence") -> NDArray[np.float32] | None:
    """The same of training data, of which some must count."""
    weights = sentence_weights(given, n)
    if weights is not None and not weights.any():
        raise CorpusError(f"there is nothing to learn from: the sample_weight of every {what} is zero")
    return weights
