"""Is one system really better than another on the same sentences, or was it luck?"""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import eq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import spans
from margent.errors import CorpusError
from margent.metrics.score import Sequences, paired, sentences

Statistics = NDArray[np.float64]


class McNemarResult(NamedTuple):
    """`only_first` tokens were right in the first system alone, `only_second` in the second alone.

    `statistic` is the chi-square value, or the smaller of the two counts if the test was `exact`.
    """

    only_first: int
    only_second: int
    statistic: float
    p_value: float
    exact: bool


class BootstrapResult(NamedTuple):
    """The metric for both systems, second minus first, its confidence interval, and the two-sided p-value."""

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


class SentenceMetric(NamedTuple):
    """A metric that is computed from numbers added up over sentences.

    `statistics(gold, predicted)` gives an array of shape (sentences, k), such as the numbers of right, gold and
    predicted spans; `value(sums)` maps sums of its rows, an array of shape (samples, k), to (samples,) values.
    """

    statistics: Callable[[Sequences, Sequences], Statistics]
    value: Callable[[Statistics], Statistics]


def mcnemar_test(gold: Sequences, first: Sequences, second: Sequences, *, exact: bool | None = None) -> McNemarResult:
    """McNemar's test on the tokens that exactly one of two systems labels right.

    If the systems are equally good, each such token is a fair coin toss. The p-value (two-sided) is exact, from the
    binomial distribution, when there are fewer than 25 of them or `exact=True`; otherwise it comes from the chi-square
    distribution with one degree of freedom and continuity correction, (|b - c| - 1)^2 / (b + c).

    The test takes tokens as independent, which neighbours are not: where a result is close, or the metric is the span
    F1, rather trust `paired_bootstrap`.
    """
    only_first = only_second = 0
    for right, one, two in zip(*_in_step(gold, first, second)):
        for label, a, b in zip(right, one, two):
            only_first += a == label != b
            only_second += b == label != a
    total, smaller = only_first + only_second, min(only_first, only_second)
    if exact or (exact is None and total < 25):
        tail = sum(math.comb(total, count) for count in range(smaller + 1))
        p_value = min(1.0, 2 * tail / (1 << total)) if total else 1.0
        return McNemarResult(only_first, only_second, float(smaller), p_value, True)
    statistic = max(abs(only_first - only_second) - 1, 0) ** 2 / total if total else 0.0
    return McNemarResult(only_first, only_second, statistic, math.erfc(math.sqrt(statistic / 2)), False)


def paired_bootstrap(
    gold: Sequences,
    first: Sequences,
    second: Sequences,
    metric: str | SentenceMetric = "span_f1",
    *,
    scheme: str | None = None,
    samples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> BootstrapResult:
    """The paired bootstrap test over sentences, for the difference between two systems.

    Draws as many sentences as there are, with replacement, `samples` times, and computes the difference d* of the
    metric (second minus first) in each sample. The interval holds the middle `confidence` of the d*; the two-sided
    p-value is the share of samples where d* is at least as far from the observed d as d is from zero,
    (1 + #{|d* - d| >= |d|}) / (1 + samples).

    `metric` is `"span_f1"` (spans read in `scheme`), `"accuracy"`, `"sentence_accuracy"`, `"inside_f1"` (the F1 over
    tokens that are not `O`), or a `SentenceMetric`, such as `segment_metric` gives. Cost: O(samples x sentences),
    vectorised; memory does not grow with `samples`. The same seed gives the same answer.
    """
    if samples < 1 or not 0 < confidence < 1:
        raise CorpusError(f"samples is {samples} and confidence {confidence}; expected at least 1, and between 0 and 1")
    chosen = _metric(metric, scheme) if isinstance(metric, str) else metric
    if isinstance(metric, str):
        gold, first, second = _in_step(gold, first, second)
    else:  # a metric of one's own may compare what is no token by token labelling, and says itself what it expects
        gold, first, second = list(gold), list(first), list(second)
    one = np.asarray(chosen.statistics(gold, first), dtype=np.float64)
    two = np.asarray(chosen.statistics(gold, second), dtype=np.float64)
    number = len(gold)
    if one.ndim != 2 or one.shape != two.shape or len(one) != number:
        raise CorpusError(
            f"the metric's statistics have shape {one.shape}, but one row for each of {number} was expected"
        )
    if not number:
        return BootstrapResult(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    value_one, value_two = (float(chosen.value(side.sum(axis=0, keepdims=True))[0]) for side in (one, two))
    generator = np.random.default_rng(seed)
    batch = max(1, (1 << 20) // number)
    pieces = []
    for begin in range(0, samples, batch):
        size = min(batch, samples - begin)
        drawn = generator.integers(number, size=(size, number)) + number * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * number).reshape(size, number).astype(np.float64)
        pieces.append(chosen.value(times @ two) - chosen.value(times @ one))
    differences = np.concatenate(pieces)
    difference = value_two - value_one
    # A hair of slack, so that samples equal to the observed difference up to rounding count as equal.
    extreme = int(np.count_nonzero(np.abs(differences - difference) >= abs(difference) - 1e-12))
    low, high = np.quantile(differences, [(1 - confidence) / 2, (1 + confidence) / 2])
    return BootstrapResult(value_one, value_two, difference, float(low), float(high), (1 + extreme) / (1 + samples))


def _in_step(gold: Sequences, first: Sequences, second: Sequences) -> tuple[list[list[str]], ...]:
    """The three sides as lists, each sentence of the same length in all."""
    gold, first, second = (
        list(sentences(side, name)) for side, name in ((gold, "gold"), (first, "first"), (second, "second"))
    )
    for side in (first, second):
        for _ in paired(gold, side):
            pass
    return gold, first, second


def _f1(sums: Statistics) -> Statistics:
    """Columns: right, gold, predicted."""
    return 2 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1)


def _share(sums: Statistics) -> Statistics:
    """Columns: right, all."""
    return sums[:, 0] / np.maximum(sums[:, 1], 1)


def _metric(name: str, scheme: str | None) -> SentenceMetric:
    def of_spans(right: list[str], guess: list[str]) -> tuple[int, ...]:
        there, found = spans(right, scheme), spans(guess, scheme)
        return len(set(there).intersection(found)), len(there), len(found)

    def of_tokens(right: list[str], guess: list[str]) -> tuple[int, ...]:
        return sum(map(eq, right, guess)), len(right)

    def of_sentences(right: list[str], guess: list[str]) -> tuple[int, ...]:
        return int(right == guess), 1

    def of_inside(right: list[str], guess: list[str]) -> tuple[int, ...]:
        correct = sum(a == b != "O" for a, b in zip(right, guess))
        return correct, len(right) - right.count("O"), len(guess) - guess.count("O")

    known = {
        "span_f1": (of_spans, _f1, 3),
        "accuracy": (of_tokens, _share, 2),
        "sentence_accuracy": (of_sentences, _share, 2),
        "inside_f1": (of_inside, _f1, 3),
    }
    if name not in known:
        raise CorpusError(f"unknown metric {name!r}; the metrics are {', '.join(known)}, or a SentenceMetric")
    count, value, columns = known[name]

    def statistics(gold: Sequences, predicted: Sequences) -> Statistics:
        rows = [count(right, guess) for right, guess in paired(gold, predicted)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), columns)

    return SentenceMetric(statistics, value)
