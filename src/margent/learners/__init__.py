"""Learners: how mistakes move the weights. One file each; `protocol` says what they may see."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from margent.answer import Answer, Rival
from margent.capability import Capability
from margent.learners.base import BatchLearner, Learner, RuleLearner
from margent.learners.capabilities import capability_table, check_fits
from margent.learners.crf import CRF
from margent.learners.em import EM
from margent.learners.hidden_markov import HiddenMarkov
from margent.learners.hidden_markov_svm import DualPerceptron, HiddenMarkovSVM
from margent.learners.larank import LaRank
from margent.learners.latent_svm import LatentSVM
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.learners.mira import MIRA
from margent.learners.passive_aggressive import PassiveAggressive
from margent.learners.perceptron import Perceptron
from margent.learners.protocol import Oracle
from margent.learners.restricted_passive_aggressive import RestrictedPassiveAggressive
from margent.learners.sdm import SDM
from margent.learners.spectral import Spectral
from margent.learners.structured_svm import StructuredSVM
from margent.learners.training import Epoch, Training, train

LEARNERS: dict[str, type[Any]] = {
    "perceptron": Perceptron,
    "pa": PassiveAggressive,
    "rpa": RestrictedPassiveAggressive,
    "mira": MIRA,
    "sdm": SDM,
    "larank": LaRank,
    "ssvm": StructuredSVM,
    "crf": CRF,
    "latent-svm": LatentSVM,
    "hmm": HiddenMarkov,
    "hmsvm": HiddenMarkovSVM,
    "dual-perceptron": DualPerceptron,
    "spectral": Spectral,
}
"""Learners by the name under which the command line and `Tagger(learner=...)` know them."""


def learner_named(name: str, **parameters: Any) -> Any:
    """The learner of this name with these parameters."""
    if name not in LEARNERS:
        raise ValueError(f"learner={name!r} is not known; expected one of {', '.join(LEARNERS)}")
    kind = LEARNERS[name]
    known = [f.name for f in fields(kind)]
    for parameter in parameters:
        if parameter not in known:
            raise ValueError(f"the learner {name} has no parameter {parameter!r}; expected one of {', '.join(known)}")
    return kind(**parameters)


def learner_name(learner: Any) -> str | None:
    """The name of a learner of ours, or None for one of the user's."""
    return next((name for name, kind in LEARNERS.items() if type(learner) is kind), None)


__all__ = [
    "CRF",
    "EM",
    "LEARNERS",
    "MIRA",
    "SDM",
    "Answer",
    "BatchLearner",
    "Capability",
    "DualPerceptron",
    "Epoch",
    "HiddenMarkov",
    "HiddenMarkovSVM",
    "LaRank",
    "LatentSVM",
    "Learner",
    "MaximumLikelihood",
    "Oracle",
    "PassiveAggressive",
    "Perceptron",
    "RestrictedPassiveAggressive",
    "Rival",
    "RuleLearner",
    "Spectral",
    "StructuredSVM",
    "Training",
    "capability_table",
    "check_fits",
    "learner_name",
    "learner_named",
    "train",
]
