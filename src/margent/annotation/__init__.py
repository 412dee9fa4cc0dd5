"""What people say of a sequence: spans in labels, segments, intervals of time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.annotation.intervals import Interval as Interval
    from margent.annotation.intervals import fold_segments as fold_segments
    from margent.annotation.intervals import intervals_of_segments as intervals_of_segments
    from margent.annotation.intervals import nearest_frame as nearest_frame
    from margent.annotation.intervals import segments_of_intervals as segments_of_intervals
    from margent.annotation.schemes import SCHEMES as SCHEMES
    from margent.annotation.schemes import Span as Span
    from margent.annotation.schemes import convert as convert
    from margent.annotation.schemes import detect_scheme as detect_scheme
    from margent.annotation.schemes import labels_of as labels_of
    from margent.annotation.schemes import span_constraints as span_constraints
    from margent.annotation.schemes import spans as spans
    from margent.annotation.schemes import transition_mask as transition_mask
    from margent.annotation.segments import Segmentation as Segmentation
    from margent.annotation.segments import check_segmentation as check_segmentation
    from margent.annotation.segments import frame_labels as frame_labels
    from margent.annotation.segments import segments_of as segments_of

_HOME = {
    "Interval": "intervals",
    "SCHEMES": "schemes",
    "Segmentation": "segments",
    "Span": "schemes",
    "check_segmentation": "segments",
    "convert": "schemes",
    "detect_scheme": "schemes",
    "fold_segments": "intervals",
    "frame_labels": "segments",
    "intervals_of_segments": "intervals",
    "labels_of": "schemes",
    "nearest_frame": "intervals",
    "segments_of": "segments",
    "segments_of_intervals": "intervals",
    "span_constraints": "schemes",
    "spans": "schemes",
    "transition_mask": "schemes",
}
"""Public name to the module that defines it."""

__all__ = [*_HOME]


__getattr__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
