"""Whether what a paper claims held in our runs, did not hold, or may be chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from margent.metrics import SentenceMetric, paired_bootstrap

LEVEL = 0.05
"""From this p on, a difference may be chance."""
HELD, CHANCE, FAILED = "held", "held, but may be chance", "did not hold"


def verdict(holds: bool, p: float) -> str:
    """Of a difference that is as claimed or not, and its p."""
    return FAILED if not holds else CHANCE if p >= LEVEL else HELD


def ratio(sums: Any) -> Any:
    """A score of sums (samples, 2): the share of the second that the first is."""
    return sums[:, 0] / np.maximum(sums[:, 1], 1)


def p_value(first: Sequence[Sequence[int]], second: Sequence[Sequence[int]], score: Any = ratio) -> float:
    """Of the paired bootstrap over sequences; the counts of each, that the score is made from, are known already."""
    metric = SentenceMetric(lambda _, counts: np.array(counts, dtype=np.float64), score)
    return float(paired_bootstrap(first, first, second, metric, samples=2000).p_value)


def told(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
