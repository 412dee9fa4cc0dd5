"""The spans of a labelling, each with the probability that exactly it is there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.corpus.schemes import Span, joined, spans
from margent.features.encoded import Encoded
from margent.models.constraints import Allowed
from margent.models.labels import LabelSet


class ConfidentSpan(NamedTuple):
    """A span with the probability that it is there, exactly with these borders and this type."""

    start: int
    end: int
    label: str
    confidence: float


def confident_spans(
    chain: _core.LinearChain,
    encoded: Encoded,
    allowed: Allowed | None,
    ids: NDArray[np.int32],
    labels: LabelSet,
    scheme: str | None,
    threads: int,
) -> list[list[ConfidentSpan]]:
    """The spans of the labellings `ids` (n_tokens,) of each sentence.

    The confidence sums over all labellings of the sentence that hold the span: its labels, and neighbours that do not
    continue it. Without a scheme each token is a span of its own.
    """
    labellings = labels.decode(ids, encoded.lengths)
    found = [(s, span) for s, names in enumerate(labellings) for span in _spans(names, scheme)]
    runs = [ids[encoded.sequence_ptr[s] + span.start : encoded.sequence_ptr[s] + span.end] for s, span in found]
    before, after = _neighbours([(int(run[0]), int(run[-1])) for run in runs], labels, scheme)
    log_probabilities = chain.runs(
        encoded.examples(allowed=allowed),
        1.0,
        np.array([s for s, _ in found], dtype=np.int64),
        np.array([span.start for _, span in found], dtype=np.int32),
        np.array([span.end for _, span in found], dtype=np.int32),
        np.cumsum([0, *(len(run) for run in runs)]).astype(np.int64),
        np.concatenate(runs) if runs else np.empty(0, dtype=np.int32),
        before,
        after,
        threads,
    )
    result: list[list[ConfidentSpan]] = [[] for _ in labellings]
    for (s, span), log_probability in zip(found, log_probabilities):
        result[s].append(ConfidentSpan(*span, float(np.exp(log_probability))))
    return result


def _spans(labels: list[str], scheme: str | None) -> list[Span]:
    return [Span(i, i + 1, label) for i, label in enumerate(labels)] if scheme is None else spans(labels)


def _neighbours(
    edges: list[tuple[int, int]], labels: LabelSet, scheme: str | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """For spans by first and last label: (n, L + 1) which labels may stand before and after them."""
    names = labels.names
    before = np.ones((len(edges), len(names) + 1), dtype=np.uint8)
    after = np.ones((len(edges), len(names) + 1), dtype=np.uint8)
    if scheme is not None and edges:
        firsts, first = np.unique([first for first, _ in edges], return_inverse=True)
        lasts, last = np.unique([last for _, last in edges], return_inverse=True)
        before[:, :-1] = np.array([[not joined(name, names[i]) for name in names] for i in firsts])[first]
        after[:, :-1] = np.array([[not joined(names[i], name) for name in names] for i in lasts])[last]
    return before, after
