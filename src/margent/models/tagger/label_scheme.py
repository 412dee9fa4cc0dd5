"""How the labels of a model spell spans, and which of them may therefore follow each other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import SCHEMES, scheme_of_pairs, spans, transition_mask
from margent.errors import CorpusError
from margent.models.labels import LabelSet

Constrain = bool | Iterable[tuple[str | None, str | None]] | None
"""The parameter `constrain` of a tagger."""


def label_scheme(
    given: str | None,
    before: str | None,
    labels: LabelSet,
    ids: NDArray[np.int32],
    sequence_ptr: NDArray[np.int64],
) -> str | None:
    """The scheme as given, else the one found before, else the one that these labels follow; or None."""
    scheme = given or before or _found(ids, sequence_ptr, labels)
    if scheme is None:
        return None
    try:
        spans(labels.names, scheme)
    except CorpusError:
        if given is None:
            return None
        names = ", ".join(labels.names[:20])
        raise CorpusError(f"scheme={scheme!r} was given, but some of the labels are not in it: {names}") from None
    return scheme


def _found(ids: NDArray[np.int32], sequence_ptr: NDArray[np.int64], labels: LabelSet) -> str | None:
    """The scheme of encoded labels, from the pairs of neighbours that occur."""
    names: list[str | None] = [
        *labels.names,
        "O",
        None,
    ]  # the boundary of a sequence counts as O; -1 is a missing label
    boundary = len(labels)
    starts = sequence_ptr[:-1][np.diff(sequence_ptr) > 0]
    left = np.concatenate([[boundary], ids[:-1]]).astype(np.int64)
    left[starts] = boundary
    last = ids[sequence_ptr[1:][np.diff(sequence_ptr) > 0] - 1]
    # Pairs are counted by one number each; a missing label is counted as the last name.
    size = len(names)
    code = np.append(left, last) % size * size + np.append(ids, np.full(len(last), boundary)) % size
    counts = np.bincount(code, minlength=size * size)
    return scheme_of_pairs({(names[i // size], names[i % size]): int(counts[i]) for i in np.flatnonzero(counts)})


def allowed_pairs(constrain: Constrain, labels: LabelSet, scheme: str | None) -> NDArray[np.bool_] | None:
    """Which label may follow which, (L + 1, L + 1) with the boundary of a sequence last; None: nothing is forbidden."""
    if constrain is False or constrain is None:
        return None
    if constrain is True:
        if scheme is None:
            raise ValueError(
                f"constrain=True needs labels in a scheme ({', '.join(SCHEMES)}), and these follow none; "
                "give scheme=... to say which is meant"
            )
        return transition_mask(labels.names, scheme)
    boundary = len(labels)
    mask = np.ones((boundary + 1, boundary + 1), dtype=bool)
    for pair in constrain:
        for name in pair:
            if name is not None and name not in labels.ids:
                raise ValueError(f"constrain names the label {name!r}, which the training data do not have")
        left, right = (boundary if name is None else labels.ids[name] for name in pair)
        mask[left, right] = False
    return mask
