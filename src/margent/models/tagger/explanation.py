"""Why a label won: the parts of the scores that made the difference, by name."""

from __future__ import annotations

from dataclasses import dataclass

from margent.models.contribution import Contribution, contribution_lines
from margent.printable import printable


@dataclass(frozen=True)
class Explanation:
    """Why the token at `position` has `label`.

    `rival` is the label it has in the best labelling of the sentence that labels it otherwise (None: no other label is
    possible), and `margin` by how much that labelling scores less. `contributions` are the parts of the margin, largest
    first; `rest` is what they leave, from further features and from tokens whose label changes along.
    """

    position: int
    label: str
    rival: str | None
    margin: float
    contributions: tuple[Contribution, ...]
    rest: float

    def __str__(self) -> str:
        if self.rival is None:
            return f"token {self.position}: {self.label} (no other label is possible)"
        lines = [f"token {self.position}: {self.label} over {self.rival} by {self.margin:.2f}"]
        lines += contribution_lines(self.contributions, self.rest, self.margin)
        return printable("\n".join(lines))
