"""The learners of the library by name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from margent.learners.adam import Adam
from margent.learners.arow import AROW
from margent.learners.crf import CRF
from margent.learners.hidden_markov import HiddenMarkov
from margent.learners.hidden_markov_svm import DualPerceptron, HiddenMarkovSVM
from margent.learners.larank import LaRank
from margent.learners.latent_svm import LatentSVM
from margent.learners.mira import MIRA
from margent.learners.passive_aggressive import PassiveAggressive
from margent.learners.perceptron import Perceptron
from margent.learners.restricted_passive_aggressive import RestrictedPassiveAggressive
from margent.learners.sdm import SDM
from margent.learners.structured_svm import StructuredSVM
from margent.spectral.learner import Spectral

LEARNERS: dict[str, type[Any]] = {
    "perceptron": Perceptron,
    "pa": PassiveAggressive,
    "rpa": RestrictedPassiveAggressive,
    "mira": MIRA,
    "arow": AROW,
    "sdm": SDM,
    "larank": LaRank,
    "ssvm": StructuredSVM,
    "crf": CRF,
    "latent-svm": LatentSVM,
    "hmm": HiddenMarkov,
    "hmsvm": HiddenMarkovSVM,
    "dual-perceptron": DualPerceptron,
    "spectral": Spectral,
    "adam": Adam,
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
