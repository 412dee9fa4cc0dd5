"""The training of a transcriber: EM for the joint model, then the learner of a decoder on top of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from margent.errors import CorpusError
from margent.learners.em import EM
from margent.learners.training import Training, check_patience
from margent.models.base import Problem, Run
from margent.models.fitted import learned_fields
from margent.models.training_data import TrainingData
from margent.models.transcriber.direct_decoding import DirectDecoder, direct_oracle
from margent.models.transcriber.joint_grams import Alphabet, JointGrams
from margent.models.transcriber.model import Decoder, TranscriberModel
from margent.models.transcriber.reranking import Reranker, reranking_oracle
from margent.models.transcriber.spellings import as_pairs, check_entries
from margent.models.transcriber.word_folds import WordFolds
from margent.structures.cosegments import Cosegments

if TYPE_CHECKING:
    from margent.metrics.transcription import TranscriptionReport
    from margent.models.transcriber.transcriber import Transcriber

METRICS = ("word_accuracy", "phoneme_accuracy")
"""1 minus the word error, 1 minus the phoneme error."""

# What is odd in a dictionary is dropped silently, up to this share: that is what `min_expected_count` of EM is for.
_MANY = 0.01


@dataclass(frozen=True)
class References:
    """Words, each once, as numbers, with all their right pronunciations."""

    words: list[list[int]]
    right: list[list[list[str]]]

    @classmethod
    def of(cls, X: Any, y: Any, numbers: Callable[[Sequence[Sequence[str]]], list[list[int]]]) -> References:
        """Entries of the same word are grouped. `numbers`: from words to the numbers of their letters."""
        found: dict[Any, list[list[str]]] = {}
        for word, spoken in zip(*as_pairs(X, y)):
            found.setdefault(word if isinstance(word, str) else tuple(word), []).extend(spoken)
        return cls(numbers(list(found)), list(found.values()))

    def report(self, predicted: list[list[str]]) -> TranscriptionReport:
        from margent.metrics.transcription import transcription_scores

        return transcription_scores(self.right, predicted)


@dataclass(frozen=True)
class TranscriberProblem(Problem[TranscriberModel]):
    """`spelled`: words and pronunciations as numbers; `oracle`: the same, for EM."""

    transcriber: Transcriber
    em: EM
    learner: Any
    letters: Alphabet
    phonemes: Alphabet
    spelled: list[tuple[list[int], list[int]]]
    oracle: Cosegments
    development: References | None = None
    metric: str | None = None
    progress: bool | None = None

    @classmethod
    def of(cls, transcriber: Transcriber, given: TrainingData) -> TranscriberProblem:
        em, learner = transcriber.resolved("em"), transcriber.resolved("learner")
        if given.dev_metric is not None and given.dev_metric not in METRICS:
            raise ValueError(f"dev_metric should be one of {', '.join(METRICS)} or None, got {given.dev_metric!r}")
        given.check_development()
        words, pronunciations = as_pairs(given.X, given.y)
        if not any(map(len, words)):
            raise CorpusError("expected words to learn from, got none")
        check_entries(words, pronunciations)
        if given.X_dev is not None and given.y_dev is None:
            raise CorpusError("X_dev was given without y_dev")
        if learner is not None:
            check_patience(learner, given.X_dev is not None)  # before EM, which takes long
        development = None if given.X_dev is None else as_pairs(given.X_dev, given.y_dev)
        if development is not None and not development[0]:
            raise CorpusError("expected development words, got none; X_dev=None is to do without")
        letters, phonemes = Alphabet(), Alphabet()
        share = 0.0 if development is not None or not em.smoothing else float(transcriber.held_out)
        order, n_held_out = _split(words, pronunciations, share, int(transcriber.seed))
        spelled = [(letters.grown(words[i]), phonemes.grown(one)) for i in order for one in pronunciations[i]]
        known = None if development is None else known_pairs(letters, phonemes, *development)
        oracle = Cosegments(
            [word for word, _ in spelled],
            [spoken for _, spoken in spelled],
            transcriber.sizes,
            n_held_out=n_held_out,
            development=None if known is None else _sides(known),
        )
        if not len(oracle.graphones):
            sizes = transcriber.sizes
            raise CorpusError(f"none of {len(spelled)} entries can be aligned by graphones of the sizes {sizes}")
        references = None
        if development is not None:
            references = References.of(*development, lambda words: transcriber.numbers(words, letters))
        return cls(
            *(transcriber, em, learner, letters, phonemes, spelled, oracle),
            *(references, given.dev_metric, given.progress),
        )

    def learned(self, run: Run) -> TranscriberModel:
        watched = self.development is not None
        result = run(self.em, self.oracle, (lambda w: self._right(self._joint(w), None)) if watched else None)
        joint, decoder = self._joint(result.weights), None
        if self.learner is not None and not result.interrupted:
            kind = DirectDecoder if self.transcriber.decoder == "direct" else Reranker
            evaluate = (lambda w: self._right(joint, kind(w))) if watched else None
            try:
                with run.interruptible():
                    oracle = self._decoder_oracle(joint, result.weights["discounts"])
                trained = run(self.learner, oracle, evaluate)
            except KeyboardInterrupt:
                result.interrupted = True
            else:
                decoder = kind(trained.weights) if trained.history else None  # None: Ctrl-C before its first step
                history = [*result.history, *trained.history]
                result = Training(None, history=history, best_epoch=trained.best_epoch, interrupted=trained.interrupted)
        self._warn_skipped()
        probabilistic = decoder is None or (isinstance(decoder, Reranker) and self.learner.probabilistic)
        return TranscriberModel(
            **learned_fields(self.learner, result, None, probabilistic),
            joint=joint,
            decoder=decoder,
            n_skipped=self.oracle.n_impossible,
        )

    def _joint(self, weights: Any) -> JointGrams:
        return JointGrams(self.letters, self.phonemes, weights)

    def _right(self, joint: JointGrams, decoder: Decoder) -> float:
        """The score of a model on the development words."""
        assert self.development is not None
        model = TranscriberModel(learner=None, history=[], joint=joint, decoder=decoder)
        report = self.transcriber.report(model, self.development)
        return 1 - (report.phoneme_error if self.metric == "phoneme_accuracy" else report.word_error)

    def _decoder_oracle(self, joint: JointGrams, discounts: Any) -> Any:
        """The oracle that the learner of the decoder learns from."""
        transcriber, progress = self.transcriber, self.progress
        folds = WordFolds(joint, discounts, self.spelled, n_folds=int(transcriber.folds), seed=int(transcriber.seed))
        search, threads = transcriber.resolved("search"), transcriber.resolved("threads")
        if transcriber.decoder == "direct":
            return direct_oracle(folds, search, threads, progress)
        return reranking_oracle(folds, int(transcriber.candidates), search, threads, progress)

    def _warn_skipped(self) -> None:
        skipped, n = self.oracle.n_impossible, len(self.spelled)
        if skipped > _MANY * n:
            warnings.warn(
                f"{skipped} of {n} entries cannot be aligned, and were not learned from: "
                f"sizes={self.transcriber.sizes} may be too narrow for them, or graphones that they need too rare "
                "(min_expected_count of EM)",
                UserWarning,
                stacklevel=5,
            )


def _split(
    words: list[Sequence[str]], pronunciations: list[list[list[str]]], share: float, seed: int
) -> tuple[list[int], int]:
    """The entries in an order in which a share of the words, held out, come last, and how many pairs these have."""
    if not share:
        return list(range(len(words))), 0
    keys = [tuple(word) for word in words]
    different = sorted(set(keys))
    chosen = np.random.default_rng(seed).permutation(len(different))[: int(share * len(different))]
    held = {different[i] for i in chosen}
    order = sorted(range(len(words)), key=lambda i: keys[i] in held)
    return order, sum(len(pronunciations[i]) for i in order if keys[i] in held)


def known_pairs(
    letters: Alphabet, phonemes: Alphabet, words: Sequence[Sequence[str]], pronunciations: list[list[list[str]]]
) -> Iterator[tuple[int, list[int], list[int]]]:
    """The pairs of known symbols alone: their places among all pairs, and both sides as numbers."""
    pairs = ((word, spoken) for word, several in zip(words, pronunciations) for spoken in several)
    for place, (word, spoken) in enumerate(pairs):
        if letters.ids.keys() >= set(word) and phonemes.ids.keys() >= set(spoken):
            yield place, [letters.ids[letter] for letter in word], [phonemes.ids[phoneme] for phoneme in spoken]


def _sides(known: Iterable[tuple[int, list[int], list[int]]]) -> tuple[list[list[int]], list[list[int]]]:
    pairs = [(word, spoken) for _, word, spoken in known]
    return [word for word, _ in pairs], [spoken for _, spoken in pairs]
