"""Segmentations by listing all of them: tuples of (begin, end, label), for the questions of enumeration.py."""

from __future__ import annotations

import itertools
import math

import numpy as np


def segmentations(length, n_labels, longest, score):
    """[(score, segments)] of all segmentations whose score, `score(segments)`, is not -inf."""
    listed = []

    def extend(done):
        end = done[-1][1] if done else 0
        if end == length:
            value = score(done)
            if value > -math.inf:
                listed.append((float(value), done))
            return
        for duration in range(1, min(longest, length - end) + 1):
            for label in range(n_labels):
                extend((*done, (end, end + duration, label)))

    extend(())
    return listed


def total_score(segments, transitions, start, end, segment):
    """The score of one segmentation; `segment(begin, end, label)` is that of a segment by itself."""
    if not segments:
        return 0.0
    total = start[segments[0][2]] + end[segments[-1][2]]
    for (_, _, before), (_, _, label) in itertools.pairwise(segments):
        total += transitions[before][label]
    return total + sum(segment(*each) for each in segments)


def label_marginals(listed, probabilities, length, n_labels):
    table = np.zeros((length, n_labels))
    for p, (_, segments) in zip(probabilities, listed):
        for begin, end, label in segments:
            table[begin:end, label] += p
    return table


def segment_marginals(listed, probabilities, length, longest, n_labels):
    table = np.zeros((length, longest, n_labels))
    for p, (_, segments) in zip(probabilities, listed):
        for begin, end, label in segments:
            table[begin, end - begin - 1, label] += p
    return table


def losses(segments, gold, boundary_cost=0.0, label_costs=None):
    """Frame errors, times the cost of the right label, and boundary_cost for each boundary that only one has."""
    frames = [label for begin, end, label in segments for _ in range(end - begin)]
    right = [label for begin, end, label in gold for _ in range(end - begin)]
    wrong = sum((a != b) * (1 if label_costs is None else label_costs[b]) for a, b in zip(frames, right))
    return wrong + boundary_cost * len({end for _, end, _ in segments} ^ {end for _, end, _ in gold})
