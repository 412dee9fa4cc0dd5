"""What a semantic parser answers: meanings with their scores, and why a meaning is the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from margent.meaning import Expression


class MeaningReading(NamedTuple):
    """One meaning of a question, in normal form.

    score : of the best derivation of it that was found
    confidence : how probable it is among all meanings that the beam found; None: the model is not calibrated
    """

    score: float
    meaning: Expression
    confidence: float | None = None


class MeaningStep(NamedTuple):
    """A step of a derivation.

    action : "skip", "shift", "forward", "backward", "both", "either" or "finish"
    words : of the question, those that the step reads; none for one that puts expressions together
    meaning, type : what is on top of the stack after it, if anything
    score, features : what it scores, and what was seen of it with its weights, which sum up to that
    """

    action: str
    words: tuple[str, ...]
    meaning: Expression | None
    type: str
    score: float
    features: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class MeaningExplanation:
    """Why the best meaning of a question scores as it does. `str()` gives lines to read.

    words : the question
    meaning, type, score : the best meaning; None: it cannot be understood
    runner_up, margin : the second best, and by how much it scores less; None: no other was found
    steps : how the meaning was made, whose scores sum up to `score`
    unknown : words that say nothing the model knows
    """

    words: tuple[str, ...]
    meaning: Expression | None
    type: str
    score: float
    runner_up: Expression | None
    margin: float | None
    steps: tuple[MeaningStep, ...]
    unknown: tuple[str, ...]

    def text(self, top: int = 5) -> str:
        """With the `top` features of each step that weigh most."""
        lines = [" ".join(self.words)]
        if self.meaning is None:
            lines.append("cannot be understood")
        else:
            lines.append(f"{self.meaning} : {self.type}  {self.score:.3f}")
        if self.runner_up is not None:
            lines.append(f"before {self.runner_up}, which scores {self.margin:.3f} less")
        if self.unknown:
            lines.append(f"words without a meaning of their own: {', '.join(self.unknown)}")
        for step in self.steps:
            said = f" {' '.join(step.words)!r}" if step.words else ""
            made = "" if step.meaning is None or step.action == "skip" else f": {step.meaning} : {step.type}"
            lines.append(f"{step.score:+9.3f}  {step.action}{said}{made}")
            chosen = sorted(step.features, key=lambda feature: -abs(feature[1]))[:top]
            lines += [f"           {weight:+9.3f}  {name}" for name, weight in chosen]
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text()
