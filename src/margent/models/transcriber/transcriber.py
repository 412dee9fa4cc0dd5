"""The transcriber: from the letters of a word to its phonemes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent.capability import Capability
from margent.errors import CorpusError
from margent.learners import check_fits
from margent.learners.em import EM
from margent.learners.training import Callback
from margent.models.base import Confidences, StructuredModel, Unavailable
from margent.models.failures import answered, check_on_error
from margent.models.labels import Labellings
from margent.models.training_data import TrainingData
from margent.models.transcriber.joint_grams import Alphabet, JointGrams
from margent.models.transcriber.model import Decoder, TranscriberModel
from margent.models.transcriber.options import AlignmentBeam
from margent.models.transcriber.problem import References, TranscriberProblem, known_pairs
from margent.models.transcriber.reranking import Reranker
from margent.models.transcriber.spellings import as_pairs, as_words
from margent.parameters import as_float, check_choice, check_count, check_whole, in_order
from margent.structures.cosegments import SIZES, checked_sizes

if TYPE_CHECKING:
    from margent.metrics.transcription import TranscriptionReport

Self = TypeVar("Self", bound="Transcriber")


class Pronunciation(NamedTuple):
    """One pronunciation of a word, and its share of the probability of everything that the search found."""

    phonemes: list[str]
    probability: float


class Cosegment(NamedTuple):
    """Letters and the phonemes that they are pronounced as; either may be empty."""

    letters: tuple[str, ...]
    phonemes: tuple[str, ...]


class Transcriber(StructuredModel[TranscriberModel]):
    """Learns to pronounce words from a dictionary (grapheme to phoneme).

    X is a sequence of words: strings, or sequences of letters. A word may occur several times with different
    pronunciations. y has a string with blanks between the phonemes for each word, a sequence of phonemes, or a list of
    lists of phonemes if there are several pronunciations. `score` is the share of correct words; `dev_metric` may be
    "word_accuracy" or "phoneme_accuracy".

    Parameters
    ----------
    order : int or None
        How many graphones the model sees at once, 1 to 12; 6 to 9 for a large dictionary. None: as in `em`.
    em : EM or None
        How the joint model of letters and phonemes is learned. None: `EM()`, which has order 8.
    learner : learner, str or None
        A learner such as `MIRA(C=0.01)` or its name, for weights of graphones in their letter contexts on top of the
        joint model; `decoder` says how they are used. None: the joint model decides.
    decoder : "rerank" or "direct"
        "rerank": reorder the best `candidates` pronunciations of the joint model. "direct": beam search with the
        learned weights themselves, in training and in prediction; for learners that go from example to example, which
        learn by `search.update`, and for `CRF(search="beam")`, whose own `beam` is the one used in training.
    sizes : pairs (letters, phonemes)
        The sizes of graphones. Without graphones that have no letter, a word cannot have more phonemes than graphones.
    search : AlignmentBeam or None
        How many alignments the search keeps. None: `AlignmentBeam()`, with 40 states at each letter.
    candidates : int
        The number of pronunciations that a reranker chooses from.
    folds : int
        The number of parts into which the training words are split for the learner, so that the candidates of a word
        come from a joint model that has not seen it.
    held_out : float
        The share of the words held out for choosing the smoothing, before they are learned from as well. Unused if
        development words are given.
    unseen : "skip" or "error"
        What to do with letters that did not occur in training: skip them with a warning, or raise `CorpusError`.
    seed : int
        Determines which words are held out.
    threads : int or None
        None: one per processor. Does not change the results.

    Attributes
    ----------
    model_ : TranscriberModel, everything that was learned; the other attributes are views of it
    letters_, phonemes_ : the symbols seen in training
    history_ : list of dicts, one per EM step: objective (minus the log-likelihood before the step), seconds, dev_score;
        then one per epoch of the learner
    joint_, decoder_ : the joint model, and the weights on top of it; None if there is no learner
    n_skipped_ : number of training pairs that cannot be aligned; above 1 % there is a warning
    interrupted_ : whether Ctrl-C ended the training

    Examples
    --------
    >>> from margent import Transcriber
    >>> words = ["cab", "back", "tack", "cat", "bat", "tact"]
    >>> spoken = ["K AE B", "B AE K", "T AE K", "K AE T", "B AE T", "T AE K T"]
    >>> Transcriber(order=3).fit(words, spoken).predict(["tab"])
    [['T', 'AE', 'B']]
    """

    fitted: ClassVar[type[TranscriberModel]] = TranscriberModel
    calibration: ClassVar[float] = 0  # type: ignore[misc]

    partial_fit: Any = Unavailable("EM counts all entries anew in each step, and a model does not hold them")
    predict_marginals: Any = Unavailable("a pronunciation has a probability as a whole, which `predict_k_best` gives")
    calibrate: Any = Unavailable("probabilities are shares among the pronunciations that the beam kept")

    def __init__(
        self,
        order: int | None = None,
        em: EM | None = None,
        learner: Any = None,
        *,
        decoder: str = "rerank",
        sizes: Sequence[tuple[int, int]] = SIZES,
        search: AlignmentBeam | None = None,
        candidates: int = 10,
        folds: int = 5,
        held_out: float = 0.05,
        unseen: str = "skip",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.order = order
        self.em = em
        self.learner = learner
        self.decoder = decoder
        self.sizes = sizes
        self.search = search
        self.candidates = candidates
        self.folds = folds
        self.held_out = held_out
        self.unseen = unseen
        self.seed = seed
        self.threads = threads

    def fit(  # type: ignore[override]
        self: Self,
        X: Any,
        y: Any = None,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: str | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from words and their pronunciations; the arguments are those of all models (`StructuredModel.fit`).

        There is no sample_weight: give an entry several times. On development words the smoothing is chosen too, and
        `history_` has their score after each step. Ctrl-C ends the training and keeps what was learned by then: without
        weights of the learner, the joint model.
        """
        data = TrainingData(X, y, None, X_dev, y_dev, dev_metric, callbacks, progress)
        self.model_ = self._learned(data, None)
        return self

    # Prediction

    def predict(self, X: Any, *, on_error: str = "raise") -> Labellings:
        """The best pronunciation of each word: a list of lists of phonemes.

        With `unseen="error"`, a word with a letter that did not occur in training is a `CorpusError`, or with
        `on_error="none"` its answer is None.
        """
        check_on_error(on_error)
        model, given = self._fitted(), as_words(X)
        failures: dict[int, Exception] = {}
        words = self.numbers(given, model.joint.letters, failures)
        check_on_error(on_error, failures)
        found = self._best(model, words)
        _warn_unread(given, words, found)
        return answered(Labellings(model.named(found)), failures, on_error)

    def predict_k_best(self, X: Any, k: int = 5, *, on_error: str = "raise") -> list[list[Pronunciation]]:
        """The k best pronunciations of each word, all different, best first, with their probabilities.

        The first is what `predict` gives. There may be fewer than k: the search has found no more, or, with a reranker,
        there are `candidates` only; none for a word without any letter that occurred in training.
        A probability is p(word, pronunciation), summed over the alignments that the search kept (of the best one, where
        `sum_alignments` is False), as a share of all pronunciations that it kept: too large by what the beam left out.
        With a learner it is exp(score) as a share of all candidates, which is a probability if the learner is a `CRF`
        that reranks them, and else only an order. With direct decoding, the candidates are all that the beam kept to
        the end, each with its best alignment.
        """
        check_count("k", k, 1)
        check_on_error(on_error)
        model, given = self._fitted(), as_words(X)
        failures: dict[int, Exception] = {}
        words = self.numbers(given, model.joint.letters, failures)
        check_on_error(on_error, failures)
        result = []
        for word, spelling, (phonemes, shares) in zip(words, given, self._shares(model, words)):
            if not word:
                result.append([] if len(spelling) else [Pronunciation([], 1.0)])
                continue
            named = model.named(phonemes[: int(k)])
            result.append([Pronunciation(*both) for both in zip(named, shares.tolist())])
        _warn_unread(given, words, result)
        return answered(result, failures, on_error)

    def align(self, X: Any, y: Any, *, on_error: str = "raise") -> list[list[Cosegment]]:
        """The best alignment of each word with its pronunciation, as graphones, exactly.

        One pronunciation for each word. `CorpusError` where a pair has a symbol that is not known, or no alignment;
        with `on_error="none"` the answer is None there.
        """
        check_on_error(on_error)
        joint = self._fitted().joint
        words, pronunciations = as_pairs(X, y)
        for number, spoken in enumerate(pronunciations):
            if len(spoken) != 1:
                raise CorpusError(f"word {number} has {len(spoken)} pronunciations, expected one to align it with")
        failures: dict[int, Exception] = {}
        for number, (word, (phonemes,)) in enumerate(zip(words, pronunciations)):
            for kind, symbols, alphabet in (("letter", word, joint.letters), ("phoneme", phonemes, joint.phonemes)):
                unknown = [symbol for symbol in symbols if symbol not in alphabet.ids]
                if unknown:
                    failures.setdefault(
                        number,
                        CorpusError(
                            f"word {number}, {''.join(word)!r}, has the {kind} {unknown[0]!r}, which did not occur in "
                            f"training{_stress_hint(unknown[0], alphabet)}"
                        ),
                    )
        check_on_error(on_error, failures)
        known = [number for number in range(len(words)) if number not in failures]
        alignments: list[Any] = [None] * len(words)
        if known:
            rows = [[joint.letters.ids[s] for s in words[number]] for number in known]
            sounds = [[joint.phonemes.ids[s] for s in pronunciations[number][0]] for number in known]
            scores, paths = joint.align(rows, sounds, self.resolved("threads"))
            for number, score, path in zip(known, scores.tolist(), paths):
                alignments[number] = [Cosegment(*joint.graphone(graphone)) for graphone in path.tolist()]
                if score == -math.inf:
                    failures[number] = CorpusError(
                        f"word {number}, {''.join(words[number])!r}, cannot be aligned with its pronunciation "
                        f"{' '.join(pronunciations[number][0])!r}"
                    )
        return answered(alignments, failures, on_error)

    def log_probabilities(self, X: Any, y: Any) -> NDArray[np.float64]:
        """log p(word, pronunciation) of the joint model, summed over all alignments exactly, whatever beams are set.

        One number for each pronunciation, in the order given; -inf where it has an unknown symbol or no alignment.
        """
        joint = self._fitted().joint
        words, pronunciations = as_pairs(X, y)
        known = [*known_pairs(joint.letters, joint.phonemes, words, pronunciations)]
        found = np.full(sum(map(len, pronunciations)), -math.inf)
        if known:
            places, rows, spoken = zip(*known)
            found[list(places)] = joint.log_probabilities(rows, spoken, self.resolved("threads"))
        return found

    def score(self, X: Any, y: Any = None) -> float:  # type: ignore[override]
        """The share of words that are right: 1 - word error."""
        return super().score(X, y)

    # What was learned

    @property
    def letters_(self) -> list[str]:
        return self.model_.joint.letters.names

    @property
    def phonemes_(self) -> list[str]:
        return self.model_.joint.phonemes.names

    @property
    def joint_(self) -> JointGrams:
        return self.model_.joint

    @property
    def decoder_(self) -> Decoder:
        return self.model_.decoder

    @property
    def n_skipped_(self) -> int:
        return self.model_.n_skipped

    # What the template asks of a transcriber

    def _problem(self, data: TrainingData, start: TranscriberModel | None, grow: bool) -> TranscriberProblem:
        return TranscriberProblem.of(self, data)

    def _answers(self, model: TranscriberModel, X: Any, y: Any, sample_weight: Any = None) -> References:
        return References.of(X, y, lambda words: self.numbers(words, model.joint.letters))

    def _score(self, model: TranscriberModel, answers: References) -> float:
        return 1 - self.report(model, answers).word_error

    def _report(self, model: TranscriberModel, answers: References) -> TranscriptionReport:
        """A word is right if it is any of its pronunciations; its phonemes are compared with the nearest of them."""
        return self.report(model, answers)

    def report(self, model: TranscriberModel, answers: References) -> TranscriptionReport:
        """Word and phoneme error of a model with the search of this transcriber."""
        return answers.report(model.named(self._best(model, answers.words)))

    def _confidences(self, model: TranscriberModel, answers: References) -> Confidences:
        """Of the best pronunciation of each word."""
        found = [
            (float(shares[0]), model.named(phonemes[:1])[0] in right)
            for (phonemes, shares), right in zip(self._shares(model, answers.words), answers.right)
            if len(shares)
        ]
        shares, right = zip(*found) if found else ((), ())
        return {"words": (np.array(shares, dtype=np.float64), np.array(right, dtype=bool))}

    def _best(self, model: TranscriberModel, words: list[list[int]]) -> list[Sequence[int]]:
        return model.best(words, int(self.candidates), self.resolved("search"), self.resolved("threads"))

    def _shares(
        self, model: TranscriberModel, words: list[list[int]]
    ) -> list[tuple[list[tuple[int, ...]], NDArray[np.float64]]]:
        """For each word its candidates, best first, and their shares of the probability."""
        n = int(self.candidates) if isinstance(model.decoder, Reranker) else _ALL
        lists = model.candidates(words, n, self.resolved("search"), self.resolved("threads"))
        result: list[tuple[list[tuple[int, ...]], NDArray[np.float64]]] = []
        for first, last in zip(lists.ptr[:-1].tolist(), lists.ptr[1:].tolist()):
            scores = lists.scores[first:last]
            if not (scores < math.inf).all() or (last > first and scores.max() == -math.inf):
                raise CorpusError(
                    f"word {len(result)}: its candidates have scores of {scores}; expected finite numbers"
                )
            shares = np.exp(scores - scores.max(initial=-math.inf))
            order = np.argsort(-shares, kind="stable")
            result.append(([lists.spoken(first + c) for c in order.tolist()], shares[order] / shares.sum()))
        return result

    def numbers(
        self, words: Sequence[Sequence[str]], letters: Alphabet, failures: dict[int, Exception] | None = None
    ) -> list[list[int]]:
        """Words as numbers of letters; unseen letters as `unseen` says. `failures`, where they are given, get what
        would be an error, and the word no letter."""
        ids = letters.ids
        unknown: dict[str, int] = {}
        rows = []
        for number, word in enumerate(words):
            rows.append([ids[letter] for letter in word if letter in ids])
            if len(rows[-1]) < len(word):
                for letter in word:
                    if letter not in ids:
                        unknown.setdefault(letter, number)
        if unknown and self.unseen == "error":
            for number, (row, word) in enumerate(zip(rows, words)):
                if len(row) < len(word):
                    error = CorpusError(_unseen(number, word, next(x for x in word if x not in ids)))
                    if failures is None:
                        raise error
                    rows[number], failures[number] = [], error
        elif unknown:
            letter, number = next(iter(unknown.items()))
            said = _unseen(number, words[number], letter)
            rest = f" (and {len(unknown) - 1} more such letters)" if len(unknown) > 1 else ""
            nothing = [number for number, (row, word) in enumerate(zip(rows, words)) if len(word) and not row]
            if nothing:
                rest += f"; of {len(nothing)} words, the first {''.join(words[nothing[0]])!r}, nothing is left to read"
            warnings.warn(f"{said}{rest}; it is left out", UserWarning, stacklevel=3)
        return rows

    # Parameters

    def resolved(self, name: str) -> Any:
        if name == "search":
            return AlignmentBeam() if self.search is None else self.search
        if name == "em":
            em = EM() if self.em is None else self.em
            return em if self.order is None or not isinstance(em, EM) else replace(em, order=self.order)
        return super().resolved(name)

    def check_parameters(self) -> None:
        if not isinstance(self.em, (EM, type(None))):
            raise TypeError(f"em of Transcriber should be an EM(...) or None, got {self.em!r}")
        if not isinstance(self.search, (AlignmentBeam, type(None))):
            raise TypeError(f"search of Transcriber should be an AlignmentBeam(...) or None, got {self.search!r}")
        self.resolved("em")
        self.check_common()
        check_choice(self, "decoder", ("rerank", "direct"))
        self._check_learner(self.resolved("learner"))
        check_whole(self, "candidates", minimum=1)
        check_whole(self, "folds", minimum=2)
        checked_sizes(self.sizes)
        if not 0 <= as_float(self.held_out) < 1:
            raise ValueError(
                f"held_out of Transcriber should be a number from 0 to less than 1.0, got {self.held_out!r}"
            )
        if self.unseen not in ("skip", "error"):
            raise ValueError(f"unseen of Transcriber should be skip or error, got {self.unseen!r}")

    def _check_learner(self, learner: Any) -> None:
        """Before EM, which takes long."""
        direct = self.decoder == "direct"
        said = "decoder='direct' of Transcriber is for a learner that goes from example to example"
        if learner is None:
            if direct:
                raise ValueError(f"{said}, and there is none: learner=MIRA(C=0.01), for example")
            return
        if Capability.BEAM_LIKELIHOOD in learner.needs and not direct:
            raise ValueError("CRF(search='beam') sums over what its beam finds: give decoder='direct'")
        check_fits(learner, "co-segments" if direct else "listed answers")

    # Files

    @classmethod
    def _upgraded(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Files from before options were grouped into values, or before those of EM got their names."""
        em = given.get("em")
        if isinstance(em, dict):
            given = given | {"em": {_EM_NAMES.get(name, name): value for name, value in em.items()}}
        if "beam" not in given:
            return given
        old = dict(given)
        update, learner = old.pop("update"), old.get("learner")
        direct = update is not None or (isinstance(learner, dict) and learner.get("search") == "beam")
        beam = {"type": "AlignmentBeam", "width": old.pop("beam"), "threshold": old.pop("threshold")}
        beam |= {"sum_alignments": old.pop("summed"), "update": update or "max-violation"}
        sizes = {"type": "tuple", "items": [{"type": "tuple", "items": size} for size in old["sizes"]]}
        em = old["em"] if old["em"] is None else {"type": "EM", **old["em"]}
        return old | {"decoder": "direct" if direct else "rerank", "search": beam, "sizes": sizes, "em": em}

    def _stored_parameters(self, model: TranscriberModel) -> dict[str, Any]:
        parameters = super()._stored_parameters(model)
        parameters["sizes"] = tuple((int(letters), int(phonemes)) for letters, phonemes in in_order(self.sizes))
        return parameters

    @classmethod
    def _restored_parameters(cls, given: dict[str, Any], model: TranscriberModel) -> dict[str, Any]:
        if given.get("learner") is None:  # one that the file could not hold: of no use without it
            given = given | {"decoder": "rerank"}
        return given


# What older files call the parameters of EM.
_EM_NAMES = {"unit_iterations": "unigram_iterations", "evidence": "min_expected_count", "least": "prune_count"}
# For the probabilities of the best, all that the search kept must be known.
_ALL = 1 << 20


def _unseen(number: int, word: Sequence[str], letter: str) -> str:
    return f"word {number}, {''.join(word)!r}, has the letter {letter!r}, which did not occur in training"


def _warn_unread(words: Sequence[Sequence[str]], rows: list[list[int]], found: Sequence[Sequence[Any]]) -> None:
    """Says which words got no phonemes, though their letters are known; to the caller's caller."""
    unread = [number for number, (row, one) in enumerate(zip(rows, found)) if row and not len(one)]
    if unread:
        said = f"word {unread[0]}, {''.join(words[unread[0]])!r}, gets no phonemes"
        rest = f" (and {len(unread) - 1} more such words)" if len(unread) > 1 else ""
        warnings.warn(f"{said}{rest}: no graphones read it, or only silent ones", UserWarning, stacklevel=3)


def _stress_hint(symbol: str, alphabet: Alphabet) -> str:
    plain = symbol.rstrip("0123456789")
    if plain == symbol or plain not in alphabet.ids:
        return ""
    return f", but {plain!r} did: read the dictionary without stress (--no-stress, or stress=False)"
