"""What is searched when nobody says what: for each learner the parameters that matter, where good values were found."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from margent.learners import EM, LEARNERS, MaximumLikelihood
from margent.tuning.values import Range

_EPOCHS = [5, 10, 20]
_MARGIN: dict[str, Any] = {"C": Range(0.001, 10, log=True), "k": [1, 2, 5], "epochs": _EPOCHS}

_SPACES: dict[str, dict[str, Any]] = {
    "perceptron": {"k": [1, 2, 5], "epochs": _EPOCHS},
    "pa": _MARGIN,
    "rpa": _MARGIN,
    "mira": _MARGIN,
    "arow": {"r": Range(1, 10000, log=True), "epochs": _EPOCHS},
    "sdm": _MARGIN,
    "larank": {"C": Range(0.001, 10, log=True), "k": [1, 2, 5]},  # made for a single pass
    "ssvm": {"C": Range(0.001, 10, log=True)},
    "latent-svm": {"C": Range(0.001, 10, log=True)},
    "crf": {"l2": Range(0.001, 100, log=True)},
    "hmm": {"smoothing": Range(0.001, 10, log=True), "transition_smoothing": [0.01, 0.1, 1.0]},
    "hmsvm": {"C": Range(0.001, 10, log=True)},
    "dual-perceptron": {"epochs": _EPOCHS},
    "spectral": {"tau": Range(0.3, 30, log=True)},
    "adam": {"learning_rate": Range(0.0001, 0.01, log=True), "epochs": [10, 20, 40]},
    "maximum-likelihood": {"shrinkage": Range(0.001, 1, log=True)},
    "em": {"order": [4, 6, 8]},
}
KINDS: dict[str, type[Any]] = {"maximum-likelihood": MaximumLikelihood, "em": EM, **LEARNERS}
"""All that learns, by name: the learners, and those that belong to one model."""


def default_space(learner: str) -> dict[str, Any]:
    """The parameters that `tune` searches for a learner of this name when it is given no space, and their values.

    >>> default_space("perceptron")
    {'k': [1, 2, 5], 'epochs': [5, 10, 20]}
    """
    if learner not in _SPACES or learner not in KINDS:
        known = ", ".join(name for name in _SPACES if name in KINDS)
        raise ValueError(f"there is no default space for the learner {learner}, only for {known}: give a space")
    own = [field.name for field in fields(KINDS[learner])]
    return {name: values for name, values in _SPACES[learner].items() if name in own}
