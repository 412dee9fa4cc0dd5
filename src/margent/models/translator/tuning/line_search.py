"""BLEU as the weights move along a line, exactly: it changes only where another candidate becomes the best one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.metrics.bleu_statistics import corpus_bleu
from margent.models.translator.tuning.candidates import Candidates

Doubles = NDArray[np.float64]
_WIDE = 1.0  # how far beyond the outermost corners a step may go


class Pieces(NamedTuple):
    """The best candidates along a line: of each sentence one from x = -inf on, then others from corners on.

    start : (10,) BLEU statistics from -inf on; corners : (n,) rising; changes : (n, 10), added to them at each corner
    """

    start: Doubles
    corners: Doubles
    changes: Doubles


class LinePoint(NamedTuple):
    """A step along a line, and BLEU there, from 0 to 1."""

    step: float
    bleu: float


def best_step(pieces: Pieces) -> LinePoint:
    """The middle of an interval where BLEU is largest: of several the widest, an endless one counts as twice `_WIDE`.

    BLEU is constant between corners. Cost: O(n log n) for n corners.
    """
    if not len(pieces.corners):
        return LinePoint(0.0, float(corpus_bleu(pieces.start)))
    order = np.argsort(pieces.corners, kind="stable")
    corners = pieces.corners[order]
    sums = pieces.start + np.concatenate([np.zeros((1, len(pieces.start))), pieces.changes[order]]).cumsum(axis=0)
    ends = np.concatenate([[corners[0] - 2 * _WIDE], corners, [corners[-1] + 2 * _WIDE]])
    widths = np.diff(ends)
    scores = np.where(widths > 1e-9, corpus_bleu(sums), -1.0)
    best = scores >= scores.max() - 1e-12
    k = int(np.argmax(np.where(best, widths, -1.0)))
    return LinePoint(float((ends[k] + ends[k + 1]) / 2), float(scores[k]))


def pieces_of_candidates(candidates: Candidates, weights: Doubles, direction: Doubles) -> Pieces:
    """The upper envelope of each sentence's candidates, which score weights . f + x * direction . f.

    From the line with the least slope, which is the highest at x = -inf, one goes from corner to corner: the next line
    is the one that crosses first, of several the steepest. All sentences take a step at once. Cost: O(N) for each of
    the corners that a sentence has at most.
    """
    slopes, heights = candidates.features @ direction, candidates.features @ weights
    ptr, sentence = candidates.ptr, candidates.sentences
    now = _first_extreme(-slopes, heights, ptr)
    start = candidates.statistics[now].sum(axis=0)
    corners, changes = [], []
    open_sentences = np.ones(len(candidates), bool)
    while open_sentences.any():
        rise = slopes - slopes[now][sentence]
        ahead = (rise > 1e-12) & open_sentences[sentence]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = np.where(ahead, (heights[now][sentence] - heights) / np.where(ahead, rise, 1.0), np.inf)
        first = np.minimum.reduceat(crossing, ptr[:-1])
        following = _first_extreme(-crossing, slopes, ptr)
        open_sentences &= first < np.inf
        moved = np.flatnonzero(open_sentences)
        corners.append(first[moved])
        changes.append(candidates.statistics[following[moved]] - candidates.statistics[now[moved]])
        now = np.where(open_sentences, following, now)
    return Pieces(start, np.concatenate(corners), np.concatenate(changes))


def _first_extreme(values: Doubles, then: Doubles, ptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each row the number of its largest value, of equal ones the one with the largest `then`, then the first."""
    counts = np.diff(ptr)
    largest = values == np.repeat(np.maximum.reduceat(values, ptr[:-1]), counts)
    second = np.where(largest, then, -np.inf)
    chosen = largest & (second == np.repeat(np.maximum.reduceat(second, ptr[:-1]), counts))
    numbers = np.where(chosen, np.arange(len(values)), len(values))
    found: NDArray[np.int64] = np.minimum.reduceat(numbers, ptr[:-1])
    return found
