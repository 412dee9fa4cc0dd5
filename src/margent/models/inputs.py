"""Sentences, labels and weights as users give them, checked at the border."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.corpus.columns import Columns
from margent.errors import CorpusError


def sentences_and_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Sentences and labels; those of a file in columns may come as one."""
    if y is None:
        if not isinstance(X, Columns) or X.n_columns < 2:
            raise CorpusError(
                "a tagger requires y to be passed, but the target y is None; "
                "only with Columns whose last column is the labels it may be left out"
            )
        return X.split()
    return as_sentences(X), y if hasattr(y, "__len__") else _listed(y, "label sequences")


def as_sentences(X: Any) -> Any:
    """`X` as something that can be gone through more than once, if it can be sentences at all."""
    if hasattr(X, "tocsr"):
        raise CorpusError("a sparse matrix does not say where sequences begin: give TokenMatrix(matrix, lengths)")
    kind = getattr(X, "dtype", None)
    if kind is not None and kind.kind != "O" and X.ndim < 2:
        raise CorpusError(f"expected a sequence of sentences, got an array of {kind} of {X.ndim} dimensions")
    return X if hasattr(X, "__len__") else _listed(X, "sentences")


def _listed(given: Any, what: str) -> list[Any]:
    try:
        return list(given)
    except TypeError:
        raise CorpusError(f"expected a sequence of {what}, got {given!r:.60}") from None


def sentence_weights(given: Any, n: int) -> NDArray[np.float32] | None:
    """(n,) weights of sentences, or None where all count the same."""
    if given is None:
        return None
    weights = np.asarray(given, dtype=np.float32)
    if weights.shape != (n,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise CorpusError(f"sample_weight should be {n} finite numbers of at least 0, one for each sentence")
    if n and not weights.any():
        raise CorpusError("sample_weight is zero for every sentence: there must be at least one that counts")
    return weights
