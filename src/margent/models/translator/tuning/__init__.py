"""Tuning of the dense weights of translations on development data: MERT, PRO, batch MIRA."""

from margent.models.translator.tuning.batch_mira import BatchMira
from margent.models.translator.tuning.mert import Mert
from margent.models.translator.tuning.pro import Pro
from margent.models.translator.tuning.tuner import Tuning, rule_translator, tune_weights

__all__ = ["BatchMira", "Mert", "Pro", "Tuning", "rule_translator", "tune_weights"]
