"""Checks of what a segmenter was told: one sentence that names parameter, wanted and got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from margent.features.frame_map import FrameFeatures
from margent.features.segment_token_map import TokenFeatures
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.models.segmenter.scores import DevMetric, check_segment_metric
from margent.parameters import as_float, check_count

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


def check_segmenter(segmenter: Segmenter, dev_metric: str | DevMetric | None) -> None:
    """All that can be checked before the data are seen."""
    check_segment_metric("dev_metric", dev_metric)
    if not isinstance(segmenter.features, (FrameFeatures, TokenFeatures, type(None))):
        raise TypeError(f"features should be FrameFeatures, TokenFeatures or None, got {segmenter.features!r}")
    for name in ("min_duration", "max_duration"):
        value = getattr(segmenter, name)
        for number in value.values() if isinstance(value, Mapping) else [value]:
            check_count(f"{name} of Segmenter", number, 1, optional=True)
    check_count("seed of Segmenter", segmenter.seed, 0)
    check_count("threads of Segmenter", segmenter.threads, 1, optional=True)
    for name in ("frame_cost", "boundary_cost"):
        value = getattr(segmenter, name)
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < 1e6:
            raise ValueError(f"{name} of Segmenter should be a number of at least 0, got {value!r}")
    costs = segmenter.label_costs
    if costs is not None and not isinstance(costs, Mapping):
        raise ValueError(f"label_costs of Segmenter should be a dict from label to cost, got {costs!r}")
    for label, cost in (costs or {}).items():
        if not 0 <= as_float(cost) < 1e6:
            raise ValueError(f"label_costs of Segmenter: {label!r} should cost a number of at least 0, got {cost!r}")
    for name in ("transitions", "repeat", "calibration"):
        if not isinstance(getattr(segmenter, name), (bool, np.bool_)):
            raise ValueError(f"{name} of Segmenter should be True or False, got {getattr(segmenter, name)!r}")
    if not (segmenter.start is None or segmenter.start == "auto" or isinstance(segmenter.start, MaximumLikelihood)):
        raise ValueError(f"start of Segmenter should be 'auto', MaximumLikelihood() or None, got {segmenter.start!r}")
    if segmenter.outside is not None and not isinstance(segmenter.outside, str):
        raise ValueError(f"outside of Segmenter should be a label or None, got {segmenter.outside!r}")
    segmenter._learner()
