"""Why a word got its head: the features that make the margin over the best tree in which it has another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from margent.models.contribution import Contribution, contribution_lines
from margent.printable import printable


class Arc(NamedTuple):
    """The head of a word, 0 for the root, and the label."""

    head: int
    label: str


@dataclass(frozen=True)
class ArcExplanation:
    """Why `word`, counted from 1, has `arc`.

    `rival` is its arc in the best tree of the sentence in which it has another one (None: none was found), and `margin`
    by how much that tree scores less. `contributions` are the parts of the margin, largest first; `rest` is what they
    leave: smaller ones, and of other words, whose arcs change along.
    """

    word: int
    form: str
    arc: Arc
    rival: Arc | None
    margin: float
    contributions: tuple[Contribution, ...]
    rest: float

    def __str__(self) -> str:
        chosen = f"word {self.word} {self.form!r}: {self.arc.label} of {self.arc.head}"
        if self.rival is None:
            return f"{chosen} (no other arc was found)"
        lines = [f"{chosen} over {self.rival.label} of {self.rival.head} by {self.margin:.2f}"]
        return printable("\n".join([*lines, *contribution_lines(self.contributions, self.rest, self.margin)]))
