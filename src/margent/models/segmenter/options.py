"""Parameters of a segmenter that only make sense together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import as_float, check_count

Frames = int | Mapping[str, int] | None


@storable
@dataclass(frozen=True)
class Durations:
    """The minimum and maximum length of segments, for all labels or by label. Segments `outside` have length 1.

    >>> Durations(max={"pause": 200})
    Durations(min=None, max={'pause': 200})
    """

    min: Frames = field(default=None, metadata={"help": "minimum length of a segment in frames or tokens; None: 1"})
    max: Frames = field(
        default=None,
        metadata={"help": "maximum length of a segment in frames or tokens; None: as in the training data"},
    )

    def __post_init__(self) -> None:
        for name in ("min", "max"):
            value = getattr(self, name)
            for number in value.values() if isinstance(value, Mapping) else [value]:
                check_count(f"{name} of Durations", number, 1, optional=True)


@storable
@dataclass(frozen=True)
class SegmentCosts:
    """The costs of mistakes in margin training.

    With 5 for a rare label the model misses it less, and finds it too often rather than not at all.
    """

    frame: float = field(default=1.0, metadata={"help": "cost of a frame with a wrong label"})
    boundary: float = field(default=0.0, metadata={"help": "cost of a boundary that is missing or superfluous"})
    labels: Mapping[str, float] | None = field(
        default=None,
        metadata={"help": "from labels to factors for the cost of their frames; others: 1"},
    )

    def __post_init__(self) -> None:
        for name in ("frame", "boundary"):
            if not 0 <= as_float(getattr(self, name)) < 1e6:
                raise ValueError(
                    f"{name} of SegmentCosts should be a number of at least 0, got {getattr(self, name)!r}"
                )
        if self.labels is not None and not isinstance(self.labels, Mapping):
            raise ValueError(f"labels of SegmentCosts should be a dict from label to cost, got {self.labels!r}")
        for label, cost in (self.labels or {}).items():
            if not 0 <= as_float(cost) < 1e6:
                raise ValueError(f"labels of SegmentCosts: {label!r} should cost a number of at least 0, got {cost!r}")
