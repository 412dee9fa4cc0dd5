"""Direct decoding: the best alignment of a word by weights that were learned under the very same search.

What an alignment scores is the sum of the weights of its features, those of `reranking`, with the log-probability of
the joint model as one of them. Beam search goes from letter to letter and keeps what scores most, so that a
pronunciation that the joint model thinks little of can win. Learning with it is the latent perceptron under inexact
search (paper 003, chapters 3 and 4): how a training word is aligned is not known, and the right side is the best
alignment that the weights find. A CRF(search="beam") is the latent CRF: its right side are all right alignments that
its beam finds, together.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.progress import ProgressBar
from margent.models.transcriber.joint_grams import INSERTIONS, JointGrams
from margent.models.transcriber.options import AlignmentBeam
from margent.models.transcriber.reranking import BITS, CandidateLists, Rows, started
from margent.models.transcriber.word_folds import WordFolds
from margent.structures.cosegments import native_pairs


class DirectDecoder:
    """Weights of features, and the search by them."""

    kind: ClassVar[str] = "direct"

    def __init__(self, weights: NDArray[Any]) -> None:
        self.weights = np.ascontiguousarray(weights, np.float32)

    def listed(self, joint: JointGrams, words: Rows, k: int, search: AlignmentBeam, threads: int) -> CandidateLists:
        """The k best pronunciations of each word by their best alignments, all different, best first."""
        pairs, width, threshold = native_pairs(words, [()] * len(words)), search.width or 0, float(search.threshold)
        return CandidateLists.of(
            *_core.search_words(
                joint.graphones, joint.grams, pairs, self.weights, k, width, threshold, INSERTIONS, threads
            )
        )


def direct_oracle(
    folds: WordFolds, search: AlignmentBeam, threads: int, progress: bool | None = None
) -> _core.CosegmentOracle:
    """The oracle of all words under search with the joint models of their folds."""
    models = []
    with ProgressBar(1, len(folds.words), shown=progress) as bar:
        for end, (_, model) in zip(folds.bounds[1:], folds.models(threads)):
            models.append(model)
            bar.advance(end)
    fold = np.repeat(np.arange(len(models), dtype=np.int32), [end - begin for begin, end in pairwise(folds.bounds)])
    words = _core.TranscriptionExamples(folds.pairs, folds.starts, fold, tuple(model.grams for model in models))
    policy = getattr(_core.BeamUpdate, search.update.replace("-", "_"))
    width, threshold = search.width or 0, float(search.threshold)
    return started(_core.CosegmentOracle(models[0].graphones, words, BITS, width, threshold, INSERTIONS, policy))
