"""The answers of a phrase-structure parser: trees with scores, probabilities of phrases, and why a tree is the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from margent.annotation.phrase_tree import PhraseTree
from margent.annotation.schemes import Span
from margent.models.confident_span import ConfidentSpan


class PhraseReading(NamedTuple):
    """One tree of a sentence with its score."""

    score: float
    tree: PhraseTree


class PhraseProbabilities(NamedTuple):
    """tree: the best one; phrases: its phrases in preorder, each with its probability; spans: the probability of every
    phrase that some tree has."""

    tree: PhraseTree
    phrases: list[ConfidentSpan]
    spans: dict[Span, float]


class PhraseReason(NamedTuple):
    """A step of the best tree: a tag, a phrase of two parts, a chain of phrases, what is above the sentence. `rule`
    says which, `features` what was seen of it with its weights, the largest first, which sum up to `score`."""

    start: int
    end: int
    rule: str
    score: float
    features: list[tuple[str, float]]


@dataclass(frozen=True)
class PhraseExplanation:
    """Why the best tree of a sentence scores as it does. `str()` gives lines to read.

    tree, score : the best tree
    runner_up, margin : the second best, and by how much it scores less; None: there is no other
    reasons : the steps of the tree, whose scores sum up to `score`
    """

    tree: PhraseTree
    score: float
    runner_up: PhraseTree | None
    margin: float | None
    reasons: list[PhraseReason]

    def text(self, top: int = 5) -> str:
        """With the `top` features of each step that weigh most."""
        lines = [f"{self.tree.brackets()}  {self.score:.3f}"]
        if self.runner_up is not None:
            lines.append(f"before {self.runner_up.brackets()}, which scores {self.margin:.3f} less")
        for reason in self.reasons:
            words = " ".join(self.tree.words[reason.start : reason.end])
            lines.append(f"{reason.score:+9.3f}  {reason.rule}  ({words})")
            chosen = sorted(reason.features, key=lambda feature: -abs(feature[1]))[:top]
            lines += [f"           {weight:+9.3f}  {name}" for name, weight in chosen]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text()
