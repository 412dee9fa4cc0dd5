"""The answers of an entailment classifier: labels with scores, probabilities, and why a label is the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.annotation.binary_tree import BinaryTree
from margent.annotation.entailment_picture import alignment_svg, composition_svg
from margent.models.contribution import Contribution, contribution_lines, largest


class LabelReading(NamedTuple):
    """One label of a pair with its score."""

    score: float
    label: str


class EntailmentProbabilities(NamedTuple):
    """label : the best one
    probabilities : of each label
    alignment : (q, p + 1), how probable it is that each word (or node, of a network) of the hypothesis is aligned to
        each word (or node) of the premise or, last, to none
    relations : (nodes, L), how probable each label is as the relation of each node of the hypothesis, words first
    """

    label: str
    probabilities: dict[str, float]
    alignment: NDArray[np.float64]
    relations: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EntailmentExplanation:
    """Why a label is the best. `str()` gives lines to read; pictures are SVG.

    premise, hypothesis : as trees
    label, probabilities : the best label, and the probability of each
    runner_up, margin : the second label, and by how much it scores less; None: there is no other
    alignment, relations : as in `EntailmentProbabilities`, columns of relations in the order of `probabilities`
    contributions : what adds to the margin, the largest first; empty for a network
    """

    premise: BinaryTree
    hypothesis: BinaryTree
    label: str
    probabilities: dict[str, float]
    runner_up: str | None
    margin: float | None
    alignment: NDArray[np.float64]
    relations: NDArray[np.float64]
    contributions: list[Contribution]

    def aligned(self) -> list[tuple[str, str | None, float, str]]:
        """Of each row of `alignment`: the words of the hypothesis, those of the premise that they are most probably
        aligned to (None: to none), how probable that is, and the most probable relation."""
        rows = []
        labels = list(self.probabilities)
        best = self.alignment.argmax(axis=1).tolist()
        n_columns = self.alignment.shape[1] - 1
        for node, column in enumerate(best):
            other = None if column == n_columns else self.premise.text(column)
            relation = labels[int(self.relations[node].argmax())]
            rows.append((self.hypothesis.text(node), other, float(self.alignment[node, column]), relation))
        return rows

    def alignment_svg(self) -> str:
        """The alignment of words as a matrix (Fig. 5.10)."""
        return alignment_svg(self.premise, self.hypothesis, self.alignment)

    def composition_svg(self) -> str:
        """The relation of each node, and what it is aligned to (Fig. 5.11)."""
        return composition_svg(self.premise, self.hypothesis, self.alignment, self.relations, list(self.probabilities))

    def text(self, top: int = 10) -> str:
        """With the `top` contributions of the largest size."""
        said = ", ".join(f"{label} {p:.3f}" for label, p in self.probabilities.items())
        lines = [f"{' '.join(self.premise.words)}  =>  {' '.join(self.hypothesis.words)}", f"{self.label}  ({said})"]
        for words, other, probability, relation in self.aligned():
            lines.append(f"  {words} -- {other or '(nothing)'}  {probability:.3f}  {relation}")
        if self.runner_up is not None and self.margin is not None:
            lines.append(f"before {self.runner_up}, which scores {self.margin:.3f} less")
            if self.contributions:
                lines += contribution_lines(*largest(self.contributions, self.margin, top), self.margin)
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text()
