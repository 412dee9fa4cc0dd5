"""What a tagger asks of a structure: the labellings of some sequences, whatever gives them their scores.

Prediction, evaluation and calibration see nothing but this. A structure is a kind of `Weights` and its `Search`: the
label chain (`chain/search.py`), k-grams of symbols and labels (`margent.spectral.tagging`).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.tagger.constraints import Allowed

Ids = NDArray[np.int32]
Doubles = NDArray[np.float64]
Bools = NDArray[np.bool_]


class SpanQueries(NamedTuple):
    """Spans of labels at certain places: span r has `labels[ptr[r]:ptr[r + 1]]` at tokens begins[r] to ends[r] - 1.

    sequences : (R,) in which sequence; begins and ends count from its start
    before, after : (R, L + 1), 1 for the labels that may stand beside it; the last column is the end of the sequence
    """

    sequences: NDArray[np.int64]
    begins: Ids
    ends: Ids
    ptr: NDArray[np.int64]
    labels: Ids
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]


class Search(Protocol):
    """All labellings of n sequences with T tokens together, of L labels, and their scores.

    Only labels that are allowed, and pairs of them that may follow each other, are looked at. Probabilities are
    exp(scale * score), over the sum for all labellings of a sequence. Everything is exact, and the same for any number
    of threads.
    """

    def best(self) -> tuple[Ids, Bools]:
        """(T,) the labelling of each sequence with the highest score, and (n,) whether it has a labelling at all."""

    def k_best(self, k: int) -> tuple[Ids, Doubles, Ids]:
        """The k best labellings, best first: ids (k T,), scores (n, k) and how many there are (n,), at most k.

        Those of tokens a to b - 1 are `ids[k * a : k * b].reshape(k, b - a)`.
        """

    def marginals(self, scale: float) -> tuple[Doubles, Bools]:
        """(T, L) the probability of each label at each token; and as `best`."""

    def samples(self, scale: float, seed: int, n: int) -> tuple[Ids, Bools]:
        """n labellings of each sequence drawn with their probabilities, laid out as in `k_best`; and as `best`."""

    def span_log_probabilities(self, scale: float, queries: SpanQueries) -> Doubles:
        """(R,) the logarithm of the probability of each span."""


class Structure(Protocol):
    """Weights made ready to be searched."""

    def search(self, feature_map: FeatureMap, encoded: Encoded, allowed: Allowed | None, threads: int) -> Search:
        """The labellings of these sequences. `allowed`: labels at each token; None: any."""

    def beyond(self, feature_map: FeatureMap, encoded: Encoded, limit: float, threads: int) -> Bools:
        """(n,) whether a sequence has numbers so large that a token may score more than this."""
