"""Parts of a margin by name: of what explanations of all kinds of models are made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Contribution:
    """What one feature or transition adds to the winner's margin over its rival; negative: it favours the rival."""

    name: str
    weight: float


def largest(parts: Iterable[Contribution], margin: float, top: int) -> tuple[tuple[Contribution, ...], float]:
    """The `top` parts of the largest size, those that favour the winner first, and what they leave of the margin."""
    there = sorted((part for part in parts if part.weight != 0), key=lambda part: (-abs(part.weight), part.name))
    shown = tuple(sorted(there[:top], key=lambda part: -part.weight))
    return shown, margin - sum(part.weight for part in shown)


def contribution_lines(parts: Iterable[Contribution], rest: float, margin: float) -> list[str]:
    """The lines of a table; `rest` is what the parts leave of the margin."""
    lines = [f"  {part.weight:+9.2f}  {part.name}" for part in parts]
    if abs(rest) > 1e-6 * max(1.0, abs(margin)):
        lines.append(f"  {rest:+9.2f}  (the rest)")
    return lines
