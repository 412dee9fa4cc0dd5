"""A fingerprint of data: the same for the same sentences and labels in every process, whatever they are kept in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np


def fingerprint(*collections: Any) -> str:
    """SHA-256 over sequences of sentences or labels, one collection after the other; None stands for nothing."""
    digest = hashlib.sha256()
    for collection in collections:
        for sequence in () if collection is None else _sentences(collection):
            for part in _bytes(sequence):
                digest.update(part)
            digest.update(b"\n")
        digest.update(b"\0")
    return digest.hexdigest()


def _sentences(collection: Any) -> Iterable[Any]:
    return (collection[i] for i in range(len(collection)))


def _bytes(sequence: Any) -> Iterable[bytes]:
    if hasattr(sequence, "tocsr"):
        matrix = sequence.tocsr()
        yield repr(matrix.shape).encode()
        yield from (np.ascontiguousarray(array).tobytes() for array in (matrix.indptr, matrix.indices, matrix.data))
    elif isinstance(sequence, np.ndarray) and sequence.dtype != object:
        yield f"{sequence.dtype.str}{sequence.shape}".encode()
        yield np.ascontiguousarray(sequence).tobytes()
    else:
        whole = list(sequence) if isinstance(sequence, Iterable) else sequence  # a tree is a value, no sequence
        yield repr(whole).encode("utf-8", "surrogatepass")
