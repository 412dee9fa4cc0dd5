"""The search for good parameters: what is tried, on how much data, on how many processors, and what came out."""

from __future__ import annotations

from margent.tuning.default_spaces import default_space
from margent.tuning.result import Trial, TuningResult
from margent.tuning.search import tune
from margent.tuning.values import Range

__all__ = ["Range", "Trial", "TuningResult", "default_space", "tune"]
