"""The kinds of weights that a parser may learn, by the search; each is imported when it is first needed."""

from __future__ import annotations

from importlib import import_module

from margent.models.parser.setting import ParserSetting
from margent.models.parser.weights import ParserWeights

KINDS = ("transitions", "graph")
"""Their names in model files."""


def weights_kind(setting: ParserSetting) -> type[ParserWeights]:
    """Transitions where the search has a beam, a graph where it is exact."""
    return weights_of_kind("graph" if setting.beam is None else "transitions")


def weights_of_kind(kind: str) -> type[ParserWeights]:
    """The weights of that `kind`."""
    home = import_module(f"margent.models.parser.{kind}.weights")
    found: type[ParserWeights] = home.GraphWeights if kind == "graph" else home.TransitionWeights
    return found
