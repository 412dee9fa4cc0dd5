"""How a parser is told to search, as its weights see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from margent.models.beam import Beam

EXACT_SEARCHES = ("eisner", "mst")
"""Projective trees by Eisner's algorithm, and all trees, by Chu-Liu-Edmonds."""
SYSTEMS = ("arc-standard", "arc-hybrid", "arc-eager", "swap")
"""Transition systems, for a search with a beam; "swap" alone makes trees whose arcs cross."""


@dataclass(frozen=True)
class ParserSetting:
    """The parameters of a parser that its weights look at.

    search : "eisner", "mst" or a `Beam`
    system : a transition system, where `search` is a beam
    templates : the lines of templates, the name of a preset, or None for those that go with the search
    order : 1: arcs alone, 2: pairs of arcs as well; for "eisner"
    label_cost : what a wrong label on a right arc costs; a wrong head costs 1
    single_root : whether exactly one word is attached to the root
    exploration : greedy training with a dynamic oracle: the probability of continuing with a wrong choice
    """

    search: Any
    system: str = "arc-standard"
    templates: tuple[str, ...] | str | None = None
    order: int = 2
    label_cost: float = 0.5
    single_root: bool = True
    exploration: float = 0.0

    @property
    def beam(self) -> Beam | None:
        return self.search if isinstance(self.search, Beam) else None
