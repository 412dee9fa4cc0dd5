"""Does a confidence of 0.8 mean right in eight cases of ten?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from margent.annotation.schemes import Span, spans
from margent.errors import CorpusError
from margent.metrics.score import Sequences

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Calibration:
    """A reliability curve and its summaries; bin i goes from `edges[i]` to `edges[i + 1]`.

    `confidence[i]` is the mean confidence and `accuracy[i]` the share that is right among the `counts[i]` predictions
    of the bin; both are NaN in an empty one.
    """

    edges: Floats
    counts: NDArray[np.int64]
    confidence: Floats
    accuracy: Floats
    brier: float
    log_loss: float

    @property
    def gaps(self) -> Floats:
        """The distance between confidence and accuracy in each bin, 0 in an empty one."""
        return np.nan_to_num(np.abs(self.accuracy - self.confidence))

    @property
    def expected_error(self) -> float:
        """Expected calibration error: the mean gap, each bin weighted by its number of predictions; 0 without any."""
        return float(self.gaps @ self.counts / max(int(self.counts.sum()), 1))

    @property
    def maximum_error(self) -> float:
        """Maximum calibration error: the largest gap of a bin that is not empty."""
        return float(self.gaps.max(initial=0.0))


MOST_BINS = 1_000_000
"""More cannot be shown."""


def calibration_scores(
    confidences: ArrayLike, correct: ArrayLike, *, bins: int = 10, equal: str = "width"
) -> Calibration:
    """Compare confidences with how often they were right.

    `confidences`: shape (n,), between 0 and 1; `correct`: shape (n,), true or false. `equal="width"` cuts [0, 1] into
    `bins` intervals of the same width; `equal="mass"` cuts at quantiles, so that all bins hold about the same number of
    predictions (fewer bins where many confidences are equal, which are never torn apart). A bin holds its upper edge,
    and the first one its lower edge too. The Brier score is the mean of (confidence - correct)^2, the log loss that of
    -log(confidence) where it is right and -log(1 - confidence) where not, at most 36; lower is better for both.

    >>> calibration_scores([0.75, 0.75, 0.75, 0.75], [True, True, True, False]).expected_error
    0.0
    """
    given = np.asarray(confidences, dtype=np.float64)
    right = np.asarray(correct)
    if given.ndim != 1 or right.shape != given.shape:
        raise CorpusError(
            f"confidences of shape {given.shape} and correct of shape {right.shape}; expected equal shapes"
        )
    if not np.isin(right, (0, 1)).all():
        raise CorpusError("correct holds something other than booleans")
    if (wrong := ~((given >= 0) & (given <= 1))).any():
        index = int(np.flatnonzero(wrong)[0])
        raise CorpusError(f"confidence {index} is {given[index]}, but a number between 0 and 1 was expected")
    whole = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
    if not whole or not 1 <= bins <= MOST_BINS or equal not in ("width", "mass"):
        raise CorpusError(
            f"bins is {bins} and equal {equal!r}; expected an integer from 1 to {MOST_BINS}, and 'width' or 'mass'"
        )
    edges = np.linspace(0.0, 1.0, bins + 1)
    if equal == "mass" and given.any():
        # Edges that are confidences which occur, so that equal confidences fall on the same side of an edge.
        edges = np.unique(np.concatenate([[0.0], np.quantile(given, edges[1:], method="inverted_cdf")]))
        if given.min() < edges[1]:
            edges[0] = given.min()
    place = np.clip(np.searchsorted(edges, given, side="left") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    hits = right.astype(np.float64)
    with np.errstate(invalid="ignore"):
        mean_confidence = np.bincount(place, given, minlength=len(counts)) / counts
        mean_accuracy = np.bincount(place, hits, minlength=len(counts)) / counts
    brier = float(np.mean((given - hits) ** 2)) if given.size else 0.0
    # A confidence of 1 in something wrong would make the mean infinite; nearer to it than this is rounding.
    believed = np.clip(np.where(right, given, 1 - given), np.finfo(np.float64).eps, None)
    log_loss = -float(np.mean(np.log(believed))) if given.size else 0.0
    return Calibration(edges, counts.astype(np.int64), mean_confidence, mean_accuracy, brier, log_loss)


def span_confidences(
    gold: Sequences, predicted: Iterable[Iterable[Any]], scheme: str | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Confidence and correctness of every predicted span, to be given to `calibration_scores`.

    `predicted` holds for each sentence tuples that begin with start, end (exclusive) and label and end with the
    confidence. A span is right if start, end and label are those of a span in the gold labels.
    """
    rows: list[tuple[float, bool]] = []
    gold_sentences, predicted_sentences = list(gold), list(predicted)
    if len(gold_sentences) != len(predicted_sentences):
        raise CorpusError(f"{len(gold_sentences)} gold sentences, but {len(predicted_sentences)} with predicted spans")
    for labels, found in zip(gold_sentences, predicted_sentences):
        there = set(spans(labels, scheme))
        rows += [(float(span[-1]), Span(*span[:3]) in there) for span in found]
    confidences = np.array([confidence for confidence, _ in rows], dtype=np.float64)
    return confidences, np.array([correct for _, correct in rows], dtype=np.bool_)
