"""The search for good parameters of any model: what is tried, on how much data, in how many processes, what came out.

Built on Optuna (the extra `tune`); the spaces, the split of the data, the checks and the tables are Margent's.
"""

from __future__ import annotations

from margent.tuning.default_spaces import default_space
from margent.tuning.result import Trial, TuningResult
from margent.tuning.search import tune
from margent.tuning.values import Range

__all__ = ["Range", "Trial", "TuningResult", "default_space", "tune"]
