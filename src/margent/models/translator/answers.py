"""What a translator answers: translations with their scores and derivations, and why one is the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class DerivationNode:
    """A rule over a span of the source sentence, and what its nonterminals stand for.

    rule : as text, such as "X -> yu [X,1] , with [X,1]"
    begin, end : the words of the source, from 0
    target : what is said, as words and derivations in the order of the target side
    parts : the derivations of the nonterminals, in the order of the source side
    places : the words of the source that the rule itself has
    """

    rule: str
    begin: int
    end: int
    target: tuple[str | DerivationNode, ...]
    parts: tuple[DerivationNode, ...]
    places: tuple[int, ...]

    @property
    def words(self) -> list[str]:
        """The translation."""
        out: list[str] = []
        for symbol in self.target:
            out.extend([symbol] if isinstance(symbol, str) else symbol.words)
        return out


class TranslationReading(NamedTuple):
    """One translation of a sentence.

    score : of its best derivation
    confidence : how probable it is among the best translations that were found; None: the model is not calibrated
    """

    score: float
    words: list[str]
    derivation: DerivationNode
    confidence: float | None = None


class TranslationStep(NamedTuple):
    """A use of a rule: what it scores, and the features that this is the sum of, each with its weight times value."""

    node: DerivationNode
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class TranslationExplanation:
    """Why the best translation of a sentence scores as it does. `str()` gives lines to read.

    words : the sentence; pieces of words that no rule has stand alone
    translation, score : the best one
    derivation : how it was made
    runner_up, margin : the second best translation, and by how much it scores less; None: no other was found
    steps : the uses of rules, whose scores sum up to `score`
    unknown : words that are left as they are
    """

    words: tuple[str, ...]
    translation: tuple[str, ...]
    score: float
    derivation: DerivationNode | None
    runner_up: tuple[str, ...] | None
    margin: float | None
    steps: tuple[TranslationStep, ...]
    unknown: tuple[str, ...]

    def text(self, top: int = 5) -> str:
        """With the `top` features of each step that weigh most."""
        from margent.models.translator.drawing import drawn

        lines = [" ".join(self.words)]
        if self.derivation is None:
            return "\n".join([*lines, "there is nothing to translate"]) + "\n"
        lines.append(f"{' '.join(self.translation)}  {self.score:.3f}")
        if self.runner_up is not None and self.margin is not None:
            lines.append(f"runner-up: {' '.join(self.runner_up)}, by {self.margin:.3f}")
        if self.unknown:
            lines.append(f"left as they are: {' '.join(self.unknown)}")
        lines += ["", *drawn(self.derivation).splitlines(), ""]
        for step in self.steps:
            lines.append(f"{step.score:+8.3f}  {step.node.rule}")
            for name, amount in sorted(step.features, key=lambda each: (-abs(each[1]), each[0]))[:top]:
                lines.append(f"{'':10}{amount:+8.3f}  {name}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text()
