"""Learned search: the best cut of a word by weights that were learned under the very same search.

What a cut scores is the sum of the weights of its features, those of `rescoring`, with the log-probability of the joint
model as one of them. Beam search goes from letter to letter and keeps what scores most, so that a pronunciation that
the joint model thinks little of can win. Learning with it is the latent perceptron under inexact search (paper 003,
chapters 3 and 4): how a training word is cut is not known, and the right side is the best cut that the weights find. A
CRF(search="beam") is the latent CRF: its right side are all right cuts that its beam finds, together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.capability import Capability
from margent.learners.progress import ProgressBar
from margent.models.transcriber.joint_grams import INSERTIONS, JointGrams
from margent.models.transcriber.rescoring import BITS, CandidateLists, Rows, started
from margent.models.transcriber.word_folds import WordFolds
from margent.structures.cosegments import native_pairs


class LearnedSearch:
    """Weights of features, and the search by them."""

    def __init__(self, weights: NDArray[Any]) -> None:
        self.weights = np.ascontiguousarray(weights, np.float32)

    def listed(
        self, model: JointGrams, words: Rows, k: int, beam: int | None, threshold: float, threads: int
    ) -> CandidateLists:
        """The k best pronunciations of each word by their best cuts, all different, best first."""
        pairs = native_pairs(words, [()] * len(words))
        return CandidateLists.of(
            *_core.search_words(
                model.units, model.grams, pairs, self.weights, k, beam or 0, threshold, INSERTIONS, threads
            )
        )


def leads_search(learner: Any, update: str | None) -> bool:
    """Whether the weights of the learner lead the search, rather than reorder what the joint model finds."""
    return update is not None or (learner is not None and Capability.BEAM_LIKELIHOOD in learner.needs)


def search_oracle(
    folds: WordFolds, beam: int | None, threshold: float, update: str | None, threads: int, progress: bool | None = None
) -> _core.CosegmentOracle:
    """The oracle of all words under search with the joint models of their folds. `update`: None for a CRF."""
    models = []
    with ProgressBar(1, len(folds.words), shown=progress) as bar:
        for end, (_, model) in zip(folds.bounds[1:], folds.models(threads)):
            models.append(model)
            bar.advance(end)
    fold = np.repeat(np.arange(len(models), dtype=np.int32), [end - begin for begin, end in pairwise(folds.bounds)])
    words = _core.TranscriptionExamples(folds.pairs, folds.starts, fold, tuple(model.grams for model in models))
    policy = getattr(_core.BeamUpdate, (update or "standard").replace("-", "_"))
    units = models[0].units
    return started(_core.CosegmentOracle(units, words, BITS, beam or 0, threshold, INSERTIONS, policy))
