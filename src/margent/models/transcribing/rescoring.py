"""Rescoring: the pronunciations that the joint model finds, put in a better order by weights that were learned.

Each candidate is a pronunciation with its best cut. Its features are its units in their letter windows, grams of units
and of phonemes, hashed into a table of 2^20 weights, and the log-probability that the joint model gives it. Learning
needs candidates as they will be found for new words. So the training words are dealt into folds, and the candidates of
each fold come from a model that has counted the other folds alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.progress import ProgressBar
from margent.learners.training import train
from margent.models.transcribing.joint_grams import JointGrams
from margent.structures.cosegments import flat_rows, native_pairs

BITS = 20
N_WEIGHTS = 2**BITS + 1
Rows = Sequence[Sequence[int]]


class CandidateLists(NamedTuple):
    """Candidates of words, one after the other: those of word i are [ptr[i], ptr[i + 1]).

    `scores`: the logarithm of the share of a candidate in the probability of all of its word.
    """

    ptr: NDArray[np.int64]
    scores: NDArray[np.float64]
    phonemes: tuple[NDArray[np.int64], NDArray[np.int32]]
    cuts: tuple[NDArray[np.int64], NDArray[np.int32]]

    @classmethod
    def found(
        cls,
        model: JointGrams,
        words: Rows,
        k: int,
        beam: int | None,
        threshold: float,
        threads: int,
        summed: bool = True,
    ) -> Any:
        counts, scores, phonemes, cuts = model.listed(words, k, beam, threshold, summed, threads)
        ptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if len(scores):
            starts = ptr[:-1][counts > 0]
            word = np.repeat(np.arange(len(starts)), counts[counts > 0])
            scores = scores - np.maximum.reduceat(scores, starts)[word]
            scores -= np.log(np.add.reduceat(np.exp(scores), starts))[word]
        return cls(ptr, scores, phonemes, cuts)

    def spoken(self, candidate: int) -> tuple[int, ...]:
        ptr, symbols = self.phonemes
        return tuple(symbols[ptr[candidate] : ptr[candidate + 1]].tolist())


class Rescorer:
    """Weights of features, and what they say of candidates."""

    def __init__(self, weights: NDArray[Any]) -> None:
        self.weights = np.ascontiguousarray(weights, np.float32)

    def scores(self, model: JointGrams, words: Rows, lists: CandidateLists, threads: int) -> NDArray[np.float64]:
        letter_ptr, letters = flat_rows(words)
        unit_ptr, cuts = lists.cuts
        return _core.rescore(
            model.units, letter_ptr, letters, lists.ptr, unit_ptr, cuts, lists.scores, self.weights, threads
        )


def training_oracle(
    model: JointGrams,
    discounts: NDArray[np.float64],
    entries: dict[tuple[int, ...], list[tuple[int, ...]]],
    *,
    folds: int,
    k: int,
    beam: int | None,
    threshold: float,
    seed: int,
    threads: int,
    progress: bool | None = None,
) -> _core.CandidateOracle:
    """The oracle of all words with their out-of-fold candidates. `entries`: the right pronunciations of each word."""
    words = list(entries)
    words = [words[i] for i in np.random.default_rng(seed).permutation(len(words))]
    pairs = native_pairs(
        [word for word in words for _ in entries[word]], [spoken for word in words for spoken in entries[word]]
    )
    starts = np.concatenate([[0], np.cumsum([len(entries[word]) for word in words])])
    bounds = np.linspace(0, len(words), min(folds, len(words)) + 1).astype(int).tolist()
    parts = []
    with ProgressBar(1, len(words), shown=progress) as bar:
        for begin, end in pairwise(bounds):
            part = words[begin:end]
            other = model.without(pairs, int(starts[begin]), int(starts[end]), discounts, threads)
            lists = CandidateLists.found(other, part, k, beam, threshold, threads)
            letter_ptr, letters = flat_rows(part)
            unit_ptr, cuts = lists.cuts
            feature_ptr, features, values = _core.cosegment_features(
                model.units, letter_ptr, letters, lists.ptr, unit_ptr, cuts, lists.scores, BITS, threads
            )
            right = [set(entries[word]) for word in part]
            owner = np.repeat(np.arange(len(part)), np.diff(lists.ptr)).tolist()
            losses = np.array([lists.spoken(c) not in right[i] for c, i in enumerate(owner)], np.float32)
            parts.append((lists.ptr, feature_ptr, features, values, losses))
            bar.advance(end)
    example_ptrs, feature_ptrs, *others = zip(*parts)
    features, values, losses = map(np.concatenate, others)
    candidates = _core.Candidates(
        _joined(example_ptrs), _joined(feature_ptrs), features, values, losses, np.ones(len(words), np.int32)
    )
    oracle = _core.CandidateOracle(candidates, N_WEIGHTS)
    start = np.zeros(N_WEIGHTS)
    start[0] = 1.0  # at first the joint model decides
    oracle.start_from(start)
    return oracle


def check_learner(learner: Any) -> None:
    """A TypeError if the learner cannot learn from listed answers: it is tried on one word, as long training is far."""
    rows, two = np.arange(3, dtype=np.int64), np.ones(2, np.float32)
    listed = _core.Candidates(rows[::2].copy(), rows, np.arange(2, dtype=np.int32), two, 1 - two, np.ones(1, np.int32))
    try:
        train(
            learner,
            _core.CandidateOracle(listed, 2),
            evaluate=lambda _: 0.0,
            callbacks=[lambda _: True],
            progress=False,
        )
    except (TypeError, ValueError) as error:
        raise TypeError(f"learner of Transcriber should be one that learns from listed answers: {error}") from None


def _joined(pointers: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Row starts of tables that are put one after the other."""
    ends = np.cumsum([0, *(ptr[-1] for ptr in pointers)])
    return np.concatenate([[0], *(ptr[1:] + end for ptr, end in zip(pointers, ends))]).astype(np.int64)
