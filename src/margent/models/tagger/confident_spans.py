"""The spans of a labelling, each with the probability that exactly it is there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import Span, joined, spans
from margent.features.encoded import Encoded
from margent.models.confident_span import ConfidentSpan
from margent.models.labels import LabelSet
from margent.models.tagger.search import Search, SpanQueries


class FoundSpans:
    """The spans of the labellings `ids` (n_tokens,) of each sentence; without a scheme each token is one of its own.

    `found`: (sentence, span) for each of the n spans, in order.
    """

    def __init__(
        self,
        search: Search,
        encoded: Encoded,
        ids: NDArray[np.int32],
        labels: LabelSet,
        scheme: str | None,
    ) -> None:
        labellings = labels.decode(ids, encoded.lengths)
        self.found = [(s, span) for s, names in enumerate(labellings) for span in spans_of(names, scheme)]
        self._n_sentences = len(labellings)
        labels_of_spans = [
            ids[encoded.sequence_ptr[s] + span.start : encoded.sequence_ptr[s] + span.end] for s, span in self.found
        ]
        before, after = _neighbours([(int(own[0]), int(own[-1])) for own in labels_of_spans], labels, scheme)
        self._search = search
        self._queries = SpanQueries(
            np.array([s for s, _ in self.found], dtype=np.int64),
            np.array([span.start for _, span in self.found], dtype=np.int32),
            np.array([span.end for _, span in self.found], dtype=np.int32),
            np.cumsum([0, *map(len, labels_of_spans)]).astype(np.int64),
            np.concatenate(labels_of_spans) if labels_of_spans else np.empty(0, dtype=np.int32),
            before,
            after,
        )

    def log_probabilities(self, scale: float) -> NDArray[np.float64]:
        """(n,): log of the probability of each span, where a labelling has probability exp(scale * score) / Z.

        It sums over all labellings of the sentence that hold the span: its labels, and neighbours that do not continue
        it.
        """
        return self._search.span_log_probabilities(scale, self._queries)

    def with_confidence(self, scale: float) -> list[list[ConfidentSpan]]:
        """The spans of each sentence with their probabilities."""
        result: list[list[ConfidentSpan]] = [[] for _ in range(self._n_sentences)]
        for (s, span), confidence in zip(self.found, np.exp(self.log_probabilities(scale)).tolist()):
            result[s].append(ConfidentSpan(*span, confidence))
        return result


def spans_of(labels: list[str], scheme: str | None) -> list[Span]:
    """The spans that labels spell, or without a scheme one for each token."""
    return [Span(i, i + 1, label) for i, label in enumerate(labels)] if scheme is None else spans(labels)


def judged_spans(
    spans: FoundSpans, gold: list[list[str | None]], scheme: str | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(n,) whether it is known that a span is right, and (n,) whether it is; missing labels in `gold` are None."""
    there = [set(spans_of(["O" if name is None else name for name in names], scheme)) for names in gold]
    near = 0 if scheme is None else 1  # neighbours may continue a span
    judged = [None not in gold[s][max(span.start - near, 0) : span.end + near] for s, span in spans.found]
    right = [span in there[s] for s, span in spans.found]
    return np.array(judged, dtype=np.bool_), np.array(right, dtype=np.bool_)


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
