"""What taggers and segmenters answer with when they are asked how sure they are."""

from __future__ import annotations

from typing import NamedTuple


class ConfidentSpan(NamedTuple):
    """A span with the probability that it is there, exactly with these boundaries and this type."""

    start: int
    end: int
    label: str
    confidence: float
