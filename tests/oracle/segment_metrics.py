"""Plain twins of the segment metrics: recursion and search where the library walks and accumulates."""

from __future__ import annotations

from functools import cache
from math import sqrt

Segments = list[tuple[int, int, str]]


def edits(gold: tuple[str, ...], predicted: tuple[str, ...]) -> tuple[int, int, int, int]:
    """(errors, -hits, deletions, insertions) of the best alignment, by recursion over prefixes."""

    @cache
    def best(i: int, j: int) -> tuple[int, int, int, int]:
        if i == j == 0:
            return 0, 0, 0, 0
        options = []
        if i:
            e, h, d, n = best(i - 1, j)
            options.append((e + 1, h, d + 1, n))
        if j:
            e, h, d, n = best(i, j - 1)
            options.append((e + 1, h, d, n + 1))
        if i and j:
            e, h, d, n = best(i - 1, j - 1)
            options.append((e, h - 1, d, n) if gold[i - 1] == predicted[j - 1] else (e + 1, h, d, n))
        return min(options)

    return best(len(gold), len(predicted))


def boundary_pairs(gold: list[int], predicted: list[int], tolerance: int) -> int:
    """The size of the largest one-to-one matching, by augmenting paths."""
    partner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, position in enumerate(predicted):
            if abs(gold[i] - position) <= tolerance and j not in seen:
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(gold)))


def r_value(hits: int, gold: int, found: int) -> float:
    """The formulas of Räsänen, Laine and Altosaar (2009), in per cent as printed there."""
    hit_rate = 100 * hits / gold
    over = 100 * (found / gold - 1)
    r1 = sqrt((100 - hit_rate) ** 2 + over**2)
    r2 = (-over + hit_rate - 100) / sqrt(2)
    return 1 - (abs(r1) + abs(r2)) / 200


def frame_labels(segments: Segments) -> list[str]:
    return [label for start, end, label in segments for _ in range(start, end)]
