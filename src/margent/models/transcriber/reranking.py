"""Reranking: the pronunciations that the joint model finds, put in a better order by weights that were learned.

Each candidate is a pronunciation with its best alignment. Its features are its graphones in their letter windows, grams
of graphones and of phonemes, hashed into a table of 2^20 weights, and the log-probability that the joint model gives
it. Learning needs candidates as they will be found for new words, so those of each training word come from a model
without its fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.progress import ProgressBar
from margent.models.transcriber.joint_grams import JointGrams
from margent.models.transcriber.options import AlignmentBeam
from margent.models.transcriber.word_folds import WordFolds
from margent.structures.cosegments import flat_rows

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
    alignments: tuple[NDArray[np.int64], NDArray[np.int32]]

    @classmethod
    def of(
        cls, counts: NDArray[np.int32], scores: NDArray[np.float64], phonemes: Any, alignments: Any
    ) -> CandidateLists:
        """From what a search found: how many for each word, scores, (ptr, symbols) of phonemes and of graphones."""
        ptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if len(scores):
            starts = ptr[:-1][counts > 0]
            word = np.repeat(np.arange(len(starts)), counts[counts > 0])
            scores = scores - np.maximum.reduceat(scores, starts)[word]
            scores -= np.log(np.add.reduceat(np.exp(scores), starts))[word]
        return cls(ptr, scores, phonemes, alignments)

    def spoken(self, candidate: int) -> tuple[int, ...]:
        ptr, symbols = self.phonemes
        return tuple(symbols[ptr[candidate] : ptr[candidate + 1]].tolist())


class Reranker:
    """Weights of features, and what they say of candidates."""

    kind: ClassVar[str] = "reranker"

    def __init__(self, weights: NDArray[Any]) -> None:
        self.weights = np.ascontiguousarray(weights, np.float32)

    def listed(self, joint: JointGrams, words: Rows, k: int, search: AlignmentBeam, threads: int) -> CandidateLists:
        """The k best of the joint model, with new scores. It has learned from sums over alignments alone."""
        lists = CandidateLists.of(*joint.listed(words, k, replace(search, sum_alignments=True), threads))
        letter_ptr, letters = flat_rows(words)
        graphone_ptr, graphones = lists.alignments
        scores = _core.rerank(
            joint.graphones,
            letter_ptr,
            letters,
            lists.ptr,
            graphone_ptr,
            graphones,
            lists.scores,
            self.weights,
            threads,
        )
        return lists._replace(scores=scores)


def reranking_oracle(
    folds: WordFolds, k: int, search: AlignmentBeam, threads: int, progress: bool | None = None
) -> _core.CandidateOracle:
    """The oracle of all words with their out-of-fold candidates."""
    parts = []
    with ProgressBar(1, len(folds.words), shown=progress) as bar:
        for part, other in folds.models(threads):
            lists = CandidateLists.of(*other.listed(part, k, replace(search, sum_alignments=True), threads))
            letter_ptr, letters = flat_rows(part)
            graphone_ptr, graphones = lists.alignments
            feature_ptr, features, values = _core.candidate_features(
                other.graphones, letter_ptr, letters, lists.ptr, graphone_ptr, graphones, lists.scores, BITS, threads
            )
            right = [set(folds.entries[word]) for word in part]
            owner = np.repeat(np.arange(len(part)), np.diff(lists.ptr)).tolist()
            losses = np.array([lists.spoken(c) not in right[i] for c, i in enumerate(owner)], np.float32)
            parts.append((lists.ptr, feature_ptr, features, values, losses))
            bar.advance(sum(len(ptr) - 1 for ptr, *_ in parts))
    example_ptrs, feature_ptrs, *others = zip(*parts)
    features, values, losses = map(np.concatenate, others)
    n_positions = np.ones(len(folds.words), np.int32)
    candidates = _core.Candidates(_joined(example_ptrs), _joined(feature_ptrs), features, values, losses, n_positions)
    return started(_core.CandidateOracle(candidates, N_WEIGHTS))


Started = TypeVar("Started", bound=_core.FlatOracle)


def started(oracle: Started) -> Started:
    """The oracle with the weights to begin with: the joint model decides."""
    weights = np.zeros(oracle.n_features)
    weights[0] = 1.0
    oracle.start_from(weights)
    return oracle


def _joined(pointers: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Row starts of tables that are put one after the other."""
    ends = np.cumsum([0, *(ptr[-1] for ptr in pointers)])
    return np.concatenate([[0], *(ptr[1:] + end for ptr, end in zip(pointers, ends))]).astype(np.int64)
