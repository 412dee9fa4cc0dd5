"""Expectation maximisation over latent alignments: the joint model of letters and phonemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.capability import Capabilities, Capability
from margent.learners.base import BatchLearner, Step
from margent.learners.protocol import AlignmentOracle
from margent.parameters import check_flag, check_number, check_whole

LARGEST_ORDER = 12
# Pairs in one native call: short enough for Ctrl-C. Always the same, so that sums do not depend on the speed.
_SLICE = 4096
# Where the search for discounts begins: of counts up to 1, of 2, and of 3 and more.
_DISCOUNTS = (0.8, 1.2, 1.6)


@dataclass(frozen=True)
class EM(BatchLearner):
    """Learns a model of n-grams of graphones by expectation maximisation (paper 003, section 4.4).

    A pair of word x and pronunciation y is aligned by graphones h = h_1 ... h_k in one of many ways, and

        p(x, y) = sum over h of  product over i of  p(h_i | h_{i-M+1} ... h_{i-1}),        M the order.

    A step counts each n-gram of M graphones by its expected count under the current model (the soft counts of
    (4.12)), and sets p(q | h) from these counts c: without smoothing to c(hq) / c(h), which raises the likelihood at
    every step.
    (Differs: the paper's M-step is printed with the sum over histories instead of the sum over last graphones.)

    Learning begins with single graphones, all alike. Graphones that are expected less often than `min_expected_count`
    in the end are dropped. Then the order grows by one at a time, each model giving the counts for the next. With
    smoothing, p(q | h) is interpolated with that of shorter histories by Kneser and Ney's method, for counts that are
    fractions: something is taken off each count, and shorter grams count in how many longer ones they are the end. How
    much is taken off is found in the end on pairs that are held out, by their likelihood; then these are counted too.
    (Bisani and Ney 2008 grow the order in the same way, with one discount instead of three for each level.)

    Cost: a step is O(pairs x alignments that differ in their last M - 1 graphones), the alignments limited by the beam.
    """

    order: int = field(default=8, metadata={"help": "number of graphones in an n-gram"})
    unigram_iterations: int = field(default=8, metadata={"help": "steps with single graphones"})
    iterations: int = field(default=2, metadata={"help": "steps with each higher order"})
    beam: int | None = field(default=50, metadata={"help": "states kept for each number of symbols; None: all (exact)"})
    smoothing: bool = field(default=True, metadata={"help": "smooth; otherwise the likelihood rises at each step"})
    min_expected_count: float = field(default=0.5, metadata={"help": "drop graphones with a smaller expected count"})
    prune_count: float = field(default=1e-4, metadata={"help": "ignore n-grams expected less often in a pair"})

    def __post_init__(self) -> None:
        check_whole(self, "order", minimum=1, maximum=LARGEST_ORDER)
        check_whole(self, "unigram_iterations", minimum=1)
        check_whole(self, "iterations", minimum=1)
        check_whole(self, "beam", minimum=1, optional=True)
        check_flag(self, "smoothing")
        check_number(self, "min_expected_count", minimum=0)
        check_number(self, "prune_count", minimum=0, maximum=1)

    @property
    def epochs(self) -> int:
        return int(self.unigram_iterations + (self.order - 1) * self.iterations + 1)

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.GRAPHONE_COUNTS})

    def objective(self, oracle: AlignmentOracle, threads: int) -> CosegmentLikelihood:
        return CosegmentLikelihood(oracle, threads, int(self.beam or 0), float(self.prune_count))

    def steps(
        self, objective: CosegmentLikelihood, random: np.random.Generator, advance: Callable[[int], None]
    ) -> Iterator[Step]:
        """EM steps of order 1, 2, ...; the likelihood of each is that of the model before it."""
        for order in range(1, self.order + 1):
            n_iterations = self.unigram_iterations if order == 1 else self.iterations
            for iteration in range(n_iterations):
                value = objective.step(order, advance, smoothed=self.smoothing and order > 1)
                if order == 1 and iteration in (n_iterations // 2, n_iterations - 1):
                    objective.trim(float(self.min_expected_count))
                if self.smoothing and order == self.order and order > 1 and iteration == n_iterations - 1:
                    objective.tune(order)
                yield Step(-value, -value, 1)
        if self.smoothing and objective.n_held_out:
            value = objective.step(self.order, advance, smoothed=self.order > 1, everything=True)
            yield Step(-value, -value, 1)


class CosegmentLikelihood:
    """The likelihood of pairs under grams of graphones, and the steps that raise it."""

    def __init__(self, oracle: AlignmentOracle, threads: int, beam: int, prune_count: float) -> None:
        self._oracle, self._pairs, self._development = oracle, oracle.pairs, oracle.development
        self.n_held_out = oracle.n_held_out
        self._graphones = oracle.graphones
        self._threads, self._beam, self._prune_count = threads, beam, prune_count
        self._discounts = np.tile(_DISCOUNTS, (LARGEST_ORDER, 1))
        self._discounts[0] = 0.1  # of single graphones little is taken off: all that can be used are known
        self._model = self._estimated(_core.GramCounts(), smoothed=False)

    def __len__(self) -> int:
        return len(self._pairs)

    def weights(self, average: bool) -> dict[str, Any]:
        """Graphones: letter_ptr, letters, phoneme_ptr, phonemes. Grams: begin, graphone, suffix, log_p, backoff.
        Discounts, all 0 where nothing is smoothed. How grams are counted: beam and prune_count.
        """
        return {
            "graphones": self._graphones.arrays(),
            "grams": self._model.trimmed().arrays(),
            "discounts": self._discounts[: self._model.order].copy() if self._smoothed else np.zeros((1, 3)),
            "counting": (self._beam, self._prune_count),
        }

    def step(self, order: int, advance: Callable[[int], None], *, smoothed: bool, everything: bool = False) -> float:
        """One E-step and one M-step; the log-likelihood before them. `everything`: held-out pairs are counted too."""
        counts = _core.GramCounts()
        n = len(self) if everything else len(self) - self.n_held_out
        beam = self._beam if order > 1 else 0  # single graphones have one state for each cell, and need no beam
        value, impossible = 0.0, 0
        for first in range(0, n, _SLICE):
            last = min(n, first + _SLICE)
            part, failed = _core.expect_grams(
                self._graphones,
                self._model,
                self._pairs,
                first,
                last,
                order,
                beam,
                self._prune_count,
                self._threads,
                counts,
            )
            value += part
            impossible += failed
            advance(last)
        self._model, self._oracle.n_impossible = self._estimated(counts, smoothed), impossible
        return value

    def _estimated(self, counts: _core.GramCounts, smoothed: bool) -> _core.GramModel:
        self._smoothed = smoothed
        model = _core.GramModel.of(counts, len(self._graphones))
        model.estimate(self._discounts if smoothed else np.zeros((1, 3)))
        return model

    def trim(self, min_expected_count: float) -> None:
        """Drops graphones expected less often; those that a letter or a pair cannot do without stay."""
        n = len(self._graphones)
        expected = np.zeros(n + 2)
        expected[self._model.graphones()[1:]] = self._model.counts()[1:]
        keep = expected[:n] >= min_expected_count
        keep |= self._needed(expected[:n], keep)
        counts = _core.GramCounts()
        for number, graphone in enumerate(np.flatnonzero(keep)):
            counts.add([number], max(float(expected[graphone]), 1e-6))
        counts.add([int(keep.sum())], float(expected[n]))
        self._graphones = _selected(self._graphones, keep)
        self._model = self._estimated(counts, smoothed=False)

    def _needed(self, expected: NDArray[np.float64], keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """For each letter without a kept graphone of its own, the most expected one."""
        letter_ptr, letters, _, _ = self._graphones.arrays()
        single = np.flatnonzero(np.diff(letter_ptr) == 1)
        needed = np.zeros(len(keep), bool)
        of_letter = letters[letter_ptr[single]]
        for letter in np.setdiff1d(of_letter, of_letter[keep[single]]):
            mine = single[of_letter == letter]
            needed[mine[np.argmax(expected[mine])]] = True
        return needed

    def tune(self, order: int) -> None:
        """Finds the discounts by the likelihood of the pairs that are watched, those of the longest grams first.

        Each is multiplied by 1.15 or divided by it as long as that helps: some five evaluations for each discount.
        """
        if self._development is None and not self.n_held_out:
            return
        best = self._watched()
        for level in reversed(range(order)):
            for place in range(3):
                for factor in (1.15, 1 / 1.15):
                    before = best
                    while (value := self._with_discount(level, place, factor)) > best + 1e-3:
                        best = value
                    self._discounts[level, place] /= factor
                    if best > before:  # it was right to go this way
                        break
        self._model.estimate(self._discounts)

    def _with_discount(self, level: int, place: int, factor: float) -> float:
        """Multiplies a discount; the log-likelihood of the pairs that are watched."""
        self._discounts[level, place] *= factor
        self._model.estimate(self._discounts)
        return self._watched()

    def _watched(self) -> float:
        """The log-likelihood of the pairs that are watched."""
        pairs, first = self._pairs, len(self) - self.n_held_out
        if self._development is not None:
            pairs, first = self._development, 0
        value, _ = _core.expect_grams(
            self._graphones, self._model, pairs, first, len(pairs), 1, self._beam, 0.0, self._threads, None
        )
        return value


def _selected(graphones: _core.Graphones, keep: NDArray[np.bool_]) -> _core.Graphones:
    sides = []
    arrays = graphones.arrays()
    for ptr, symbols in (arrays[:2], arrays[2:]):
        sizes = np.diff(ptr)
        sides += [np.concatenate([[0], np.cumsum(sizes[keep])]), symbols[np.repeat(keep, sizes)]]
    return _core.Graphones.of(*sides)
