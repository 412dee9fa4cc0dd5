"""The transcriber: from the letters of a word to its phonemes."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import storage
from margent.errors import CorpusError
from margent.learners import Learner, RuleLearner, check_fits, learner_named
from margent.learners.em import EM
from margent.learners.training import Callback, check_patience, train
from margent.models.estimator import Estimator
from margent.models.labels import Labellings
from margent.models.transcriber import file as transcriber_file
from margent.models.transcriber.joint_grams import Alphabet, JointGrams
from margent.models.transcriber.learned_search import LearnedSearch, leads_search, search_oracle
from margent.models.transcriber.rescoring import CandidateLists, Rescorer, training_oracle
from margent.models.transcriber.spellings import as_pairs, as_words, check_entries
from margent.models.transcriber.word_folds import WordFolds
from margent.parameters import check_choice, check_count, check_flag, check_whole
from margent.processors import processor_count
from margent.structures.beam_oracle import UPDATES
from margent.structures.cosegments import SIZES, Cosegments, checked_sizes

if TYPE_CHECKING:
    from margent.metrics.transcription import TranscriptionReport

Self = TypeVar("Self", bound="Transcriber")
Learned: TypeAlias = Rescorer | LearnedSearch | None


class Pronunciation(NamedTuple):
    """One pronunciation of a word, and its share of the probability of all that the search found."""

    phonemes: list[str]
    probability: float


class Cosegment(NamedTuple):
    """Letters that are spoken together, and the phonemes they are spoken as; either may be none."""

    letters: tuple[str, ...]
    phonemes: tuple[str, ...]


class Transcriber(Estimator):
    """Learns to pronounce words from a dictionary (grapheme to phoneme).

    Parameters
    ----------
    order : int or None
        How many units the model sees at once, 1 to 12; 6 to 9 for a large dictionary. None: as `em` says.
    em : EM or None
        How the joint model of letters and phonemes is learned. None: `EM()`, which has order 8.
    learner : learner, str or None
        A learner such as `MIRA(C=0.01)` or its name: weights of units in their letter contexts have the last word, in
        one of the two ways that `update` chooses from. None: the joint model decides.
    update : "max-violation", "early", "standard", "skip" or None
        None: the best `candidates` pronunciations that the joint model finds are put in a better order. Otherwise beam
        search goes by the learned weights themselves, in training and in prediction, and this says what is learned from
        where it goes wrong; see `margent.structures.BeamOracle`. For learners that go from example to example. Weights
        of a `CRF(search="beam")` lead the search as well; it needs no `update`, and its own `beam` is that of training.
    sizes : pairs (letters, phonemes)
        The sizes of units. Where units without letters are missing, no word can have more phonemes than its units.
    beam : int or None
        How many states the search keeps at each letter. None: all, which finds the best exactly; but with `summed`, or
        where a learner leads the search, a state is a pronunciation so far, and there can be exponentially many.
    threshold : float
        States whose log-probability by the joint model is so far below the best at their letter are dropped; 0: none.
    summed : bool
        Whether cuts with the same phonemes count together. False: the best cut decides, which is faster. Where a
        learner leads the search, the best cut always decides.
    candidates : int
        How many pronunciations of a word the learner chooses from, unless it leads the search.
    folds : int
        Into how many parts the training words are dealt for the learner, to see what a joint model says of a word that
        it has not counted.
    held_out : float
        The share of the words on which the smoothing is chosen, before they are learned from too. Unused where
        development words are given.
    unseen : "skip" or "error"
        What to do with a letter that did not occur in training: leave it out with a warning, or raise `CorpusError`.
    seed : int
        Of the choice of words to hold out.
    threads : int or None
        None: as many as there are processors. Does not change the results.

    Attributes
    ----------
    letters_, phonemes_ : the symbols seen in training
    history_ : list of dicts, one per EM step: objective (minus the log-likelihood before the step), seconds, dev_score;
        then one per epoch of the learner
    model_, learned_ : the joint model, and the weights on top of it; None where there is no learner
    n_skipped_ : pairs of the training data that cannot be cut into units; a warning where they are over 1 %
    interrupted_ : whether Ctrl-C ended the training

    Examples
    --------
    >>> from margent import Transcriber
    >>> words = ["cab", "back", "tack", "cat", "bat", "tact"]
    >>> spoken = ["K AE B", "B AE K", "T AE K", "K AE T", "B AE T", "T AE K T"]
    >>> Transcriber(order=3).fit(words, spoken).predict(["tab"])
    [['T', 'AE', 'B']]
    """

    model_: JointGrams
    learned_: Learned
    history_: list[dict[str, Any]]
    interrupted_: bool
    n_skipped_: int

    def __init__(
        self,
        order: int | None = None,
        em: EM | None = None,
        learner: Any = None,
        *,
        update: str | None = None,
        sizes: Sequence[tuple[int, int]] = SIZES,
        beam: int | None = 40,
        threshold: float = 10.0,
        summed: bool = True,
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
        self.update = update
        self.sizes = sizes
        self.beam = beam
        self.threshold = threshold
        self.summed = summed
        self.candidates = candidates
        self.folds = folds
        self.held_out = held_out
        self.unseen = unseen
        self.seed = seed
        self.threads = threads

    # Learning

    def fit(
        self: Self,
        X: Any,
        y: Any,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from words and their pronunciations.

        Parameters
        ----------
        X : sequence of words
            Strings, or sequences of letters. A word may come several times, with another pronunciation each time.
        y : sequence of pronunciations
            Strings with blanks between the phonemes, or sequences of phonemes; a list of lists of phonemes for a word
            with several pronunciations.
        X_dev, y_dev : development words
            The smoothing is chosen on them, and `history_` has the share of them that is right after each step.
        callbacks : functions called with each `Epoch`; returning True ends the training
        progress : show a progress bar; None: only on a terminal

        Ctrl-C ends the training and keeps what was learned by then: without weights of the learner, the joint model.
        """
        em, learner = self._checked()
        words, pronunciations = as_pairs(X, y)
        if not any(map(len, words)):
            raise CorpusError("expected words to learn from, got none")
        check_entries(words, pronunciations)
        if (X_dev is None) != (y_dev is None):
            raise ValueError("development data are both X_dev and y_dev, or neither")
        if learner is not None:
            check_patience(learner, X_dev is not None)  # before EM, which takes long
        development = None if X_dev is None else as_pairs(X_dev, y_dev)
        if development is not None and not development[0]:
            raise CorpusError("expected development words, got none; X_dev=None is to do without")
        letters, phonemes = Alphabet(), Alphabet()
        order, n_held_out = self._split(words, pronunciations, development is not None or not em.smoothing)
        spelled = [(letters.grown(words[i]), phonemes.grown(one)) for i in order for one in pronunciations[i]]
        oracle = Cosegments(
            [word for word, _ in spelled],
            [spoken for _, spoken in spelled],
            self.sizes,
            n_held_out=n_held_out,
            development=None if development is None else _sides(_known(letters, phonemes, *development)),
        )
        if not len(oracle.units):
            raise CorpusError(f"none of {len(spelled)} entries can be cut into units of the sizes {self.sizes}")
        references = None if development is None else _references(*development)
        watched = None if references is None else self._numbers(list(references), letters)  # once: it may warn

        def right(model: JointGrams, learned: Learned) -> float:
            assert references is not None
            return 1 - self._report(model, learned, references, watched).word_error

        training = train(
            em,
            oracle,
            threads=self._threads(),
            evaluate=None if references is None else lambda w: right(JointGrams(letters, phonemes, w), None),
            callbacks=callbacks,
            progress=progress,
        )
        model, learned = JointGrams(letters, phonemes, training.weights), None
        history, interrupted = training.history, training.interrupted
        if learner is not None and not interrupted:
            try:
                top = self._top_oracle(learner, model, training.weights["discounts"], spelled, progress)
            except KeyboardInterrupt:
                interrupted = True
            else:
                kind = LearnedSearch if leads_search(learner, self.update) else Rescorer
                training = train(
                    learner,
                    top,
                    seed=int(self.seed),
                    threads=self._threads(),
                    evaluate=None if references is None else lambda w: right(model, kind(w)),
                    callbacks=callbacks,
                    progress=progress,
                )
                learned = kind(training.weights) if training.history else None  # None: Ctrl-C before its first step
                history, interrupted = history + training.history, training.interrupted
        self.model_, self.learned_ = model, learned
        self.history_ = [epoch.as_dict() for epoch in history]
        self.interrupted_ = interrupted
        self.n_skipped_ = oracle.n_impossible
        if self.n_skipped_ > _MANY * len(spelled):
            warnings.warn(
                f"{self.n_skipped_} of {len(spelled)} entries cannot be cut into units, and were not learned from: "
                f"sizes={self.sizes} may be too narrow for them, or units that they need too rare (evidence of EM)",
                UserWarning,
                stacklevel=2,
            )
        return self

    def _top_oracle(
        self,
        learner: Any,
        model: JointGrams,
        discounts: Any,
        spelled: list[tuple[list[int], list[int]]],
        progress: bool | None,
    ) -> Any:
        """The oracle that the learner on top learns from."""
        folds = WordFolds(model, discounts, spelled, n_folds=int(self.folds), seed=int(self.seed))
        threshold, threads = float(self.threshold), self._threads()
        if leads_search(learner, self.update):
            return search_oracle(folds, self.beam, threshold, self.update, threads, progress)
        return training_oracle(folds, int(self.candidates), self.beam, threshold, threads, progress)

    def _split(
        self, words: list[Sequence[str]], pronunciations: list[list[list[str]]], everything: bool
    ) -> tuple[list[int], int]:
        """The entries in an order in which the words held out come last, and how many pairs these have."""
        if everything or not self.held_out:
            return list(range(len(words))), 0
        keys = [tuple(word) for word in words]
        different = sorted(set(keys))
        chosen = np.random.default_rng(self.seed).permutation(len(different))[: int(self.held_out * len(different))]
        held = {different[i] for i in chosen}
        order = sorted(range(len(words)), key=lambda i: keys[i] in held)
        return order, sum(len(pronunciations[i]) for i in order if keys[i] in held)

    # Prediction

    def predict(self, X: Any) -> Labellings:
        """The best pronunciation of each word: a list of lists of phonemes."""
        self._check_fitted()
        given = as_words(X)
        words = self._numbers(given)
        found = self._best(self.model_, self.learned_, words)
        _warn_unread(given, words, found)
        return Labellings(self._named(found, self.model_))

    def predict_k_best(self, X: Any, k: int = 5) -> list[list[Pronunciation]]:
        """The k best pronunciations of each word, all different, best first, with their probabilities.

        The first is what `predict` gives. There may be fewer than k: the search has found no more, or, with a learner,
        there are `candidates` only; none for a word without any letter that occurred in training.
        A probability is p(word, pronunciation), summed over the cuts that the search kept (of the best cut, where
        `summed` is False), as a share of all pronunciations that it kept: too large by what the beam left out. With a
        learner it is exp(score) as a share of all candidates, which is a probability if the learner is a `CRF` that
        reorders them, and else only an order. Where a learner leads the search, the candidates are all that the beam
        kept to the end, each with its best cut.
        """
        self._check_fitted()
        check_count("k", k, 1)
        given = as_words(X)
        words = self._numbers(given)
        n = int(self.candidates) if isinstance(self.learned_, Rescorer) else _ALL
        lists = self._listed(self.model_, self.learned_, words, n)
        result = []
        for first, last, word, spelling in zip(lists.ptr[:-1].tolist(), lists.ptr[1:].tolist(), words, given):
            if not word:
                result.append([] if len(spelling) else [Pronunciation([], 1.0)])
                continue
            scores = lists.scores[first:last]
            shares = np.exp(scores - scores.max(initial=-math.inf))
            order = np.argsort(-shares, kind="stable")[: int(k)].tolist()
            named = self._named([lists.spoken(first + c) for c in order], self.model_)
            chosen = (shares[order] / shares.sum()).tolist() if order else []
            result.append([Pronunciation(*both) for both in zip(named, chosen)])
        _warn_unread(given, words, result)
        return result

    def align(self, X: Any, y: Any) -> list[list[Cosegment]]:
        """The best cut of each word and its pronunciation into units, exactly.

        One pronunciation for each word. `CorpusError` where a pair has a symbol that is not known, or cannot be cut.
        """
        self._check_fitted()
        words, pronunciations = as_pairs(X, y)
        rows = []
        for number, (word, spoken) in enumerate(zip(words, pronunciations)):
            if len(spoken) != 1:
                raise CorpusError(f"word {number} has {len(spoken)} pronunciations, expected one to align it with")
            for kind, symbols, alphabet in (
                ("letter", word, self.model_.letters),
                ("phoneme", spoken[0], self.model_.phonemes),
            ):
                unknown = [symbol for symbol in symbols if symbol not in alphabet.ids]
                if unknown:
                    raise CorpusError(
                        f"word {number}, {''.join(word)!r}, has the {kind} {unknown[0]!r}, which did not occur in "
                        f"training{_stress_hint(unknown[0], alphabet)}"
                    )
            rows.append((self.model_.letters.grown(word), self.model_.phonemes.grown(spoken[0])))
        if not rows:
            return []
        scores, paths = self.model_.cut([word for word, _ in rows], [spoken for _, spoken in rows], self._threads())
        for number, score in enumerate(scores.tolist()):
            if score == -math.inf:
                raise CorpusError(
                    f"word {number}, {''.join(words[number])!r}, cannot be cut into units with its pronunciation "
                    f"{' '.join(pronunciations[number][0])!r}"
                )
        return [[Cosegment(*self.model_.unit(unit)) for unit in path.tolist()] for path in paths]

    def log_probabilities(self, X: Any, y: Any) -> NDArray[np.float64]:
        """log p(word, pronunciation) of the joint model, summed over all cuts exactly, whatever beams are set.

        One number for each pronunciation, in the order given; -inf where it has an unknown symbol or cannot be cut.
        """
        self._check_fitted()
        words, pronunciations = as_pairs(X, y)
        known = [*_known(self.model_.letters, self.model_.phonemes, words, pronunciations)]
        found = np.full(sum(map(len, pronunciations)), -math.inf)
        if known:
            places, rows, spoken = zip(*known)
            found[list(places)] = self.model_.log_probabilities(rows, spoken, self._threads())
        return found

    def evaluate(self, X: Any, y: Any) -> TranscriptionReport:
        """Word and phoneme error.

        A word is right if it is any of its pronunciations; its phonemes are compared with the nearest of them. Entries
        of the same word are put together.
        """
        self._check_fitted()
        return self._report(self.model_, self.learned_, _references(*as_pairs(X, y)))

    def score(self, X: Any, y: Any) -> float:
        """The share of words that are right: 1 - word error."""
        return 1 - self.evaluate(X, y).word_error

    def _report(
        self,
        model: JointGrams,
        learned: Learned,
        references: dict[Any, Any],
        words: list[list[int]] | None = None,
    ) -> TranscriptionReport:
        """`words`: those of `references` as numbers, where they are known already."""
        from margent.metrics.transcription import transcription_scores

        words = self._numbers(list(references)) if words is None else words
        return transcription_scores(references.values(), self._named(self._best(model, learned, words), model))

    def _best(self, model: JointGrams, learned: Learned, words: list[list[int]]) -> list[Sequence[int]]:
        """The best pronunciation of each word; none for a word without letters, or that no units can spell."""
        if learned is None:
            found = model.transcribe(words, 1, self.beam, float(self.threshold), bool(self.summed), self._threads())
            return [one[0].phonemes.tolist() if one and word else [] for word, one in zip(words, found)]
        lists = self._listed(model, learned, words, int(self.candidates) if isinstance(learned, Rescorer) else 1)
        bounds = zip(lists.ptr[:-1].tolist(), lists.ptr[1:].tolist())
        return [
            lists.spoken(first + int(np.argmax(lists.scores[first:last]))) if word and last > first else []
            for word, (first, last) in zip(words, bounds)
        ]

    def _listed(self, model: JointGrams, learned: Learned, words: list[list[int]], k: int) -> CandidateLists:
        """The k best: of the joint model, with its scores or with new ones, or of the learned search."""
        options = words, k, self.beam, float(self.threshold), self._threads()
        if learned is not None:  # it has seen sums alone
            return learned.listed(model, *options)
        return CandidateLists.found(model, *options, bool(self.summed))

    def _named(self, found: Iterable[Sequence[int]], model: JointGrams) -> list[list[str]]:
        names = model.phonemes.names
        return [[names[phoneme] for phoneme in phonemes] for phonemes in found]

    def _numbers(self, words: Sequence[Sequence[str]], letters: Alphabet | None = None) -> list[list[int]]:
        """Words as numbers; unseen letters as `unseen` says."""
        ids = (letters or self.model_.letters).ids
        unknown: dict[str, int] = {}
        rows = []
        for number, word in enumerate(words):
            rows.append([ids[letter] for letter in word if letter in ids])
            if len(rows[-1]) < len(word):
                for letter in word:
                    if letter not in ids:
                        unknown.setdefault(letter, number)
        if unknown:
            letter, number = next(iter(unknown.items()))
            word = "".join(words[number])
            said = f"word {number}, {word!r}, has the letter {letter!r}, which did not occur in training"
            if self.unseen == "error":
                raise CorpusError(said)
            rest = f" (and {len(unknown) - 1} more such letters)" if len(unknown) > 1 else ""
            nothing = [number for number, (row, word) in enumerate(zip(rows, words)) if len(word) and not row]
            if nothing:
                rest += f"; of {len(nothing)} words, the first {''.join(words[nothing[0]])!r}, nothing is left to read"
            warnings.warn(f"{said}{rest}; it is left out", UserWarning, stacklevel=3)
        return rows

    # Parameters and files

    def _checked(self) -> tuple[EM, Any]:
        """The EM and the learner that are meant, after all parameters were checked."""
        if not isinstance(self.em, (EM, type(None))):
            raise TypeError(f"em of Transcriber should be an EM(...) or None, got {self.em!r}")
        em: EM = self._meant("em")
        learner = self._meant("learner")
        if not isinstance(learner, (Learner, type(None))):
            raise TypeError(
                f"learner of Transcriber should be a learner such as MIRA(), its name or None, got {learner!r}"
            )
        self._check_update(learner)
        if learner is not None:
            check_fits(learner, "co-segments" if leads_search(learner, self.update) else "listed answers")
        check_whole(self, "candidates", minimum=1)
        check_whole(self, "folds", minimum=2)
        checked_sizes(self.sizes)
        for name in ("beam", "threads"):
            check_whole(self, name, minimum=1, optional=True)
        check_flag(self, "summed")
        check_count("seed of Transcriber", self.seed, 0)
        for name, most in (("threshold", math.inf), ("held_out", 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 <= value < most:
                raise ValueError(f"{name} of Transcriber should be a number from 0 to less than {most}, got {value!r}")
        if self.unseen not in ("skip", "error"):
            raise ValueError(f"unseen of Transcriber should be skip or error, got {self.unseen!r}")
        return em, learner

    def _check_update(self, learner: Any) -> None:
        if self.update is None:
            return
        check_choice(self, "update", UPDATES)
        said = f"update={self.update!r} of Transcriber is for a learner that goes from example to example"
        if learner is None:
            raise ValueError(f"{said}, and there is none: learner=MIRA(C=0.01), for example")
        if not isinstance(learner, RuleLearner) or learner.keeps_support:
            name = type(learner).__name__
            instead = ": CRF(search='beam') with update=None searches by itself" if name == "CRF" else ""
            raise ValueError(f"{said} and keeps no answers, such as Perceptron or MIRA, and {name} does not{instead}")

    def _meant(self, name: str) -> Any:
        if name == "learner" and isinstance(self.learner, str):
            return learner_named(self.learner)
        if name != "em":
            return getattr(self, name)
        learner = EM() if self.em is None else self.em
        return learner if self.order is None else replace(learner, order=self.order)

    def _threads(self) -> int:
        return processor_count() if self.threads is None else min(int(self.threads), 1 << 20)

    @property
    def letters_(self) -> list[str]:
        return self.model_.letters.names

    @property
    def phonemes_(self) -> list[str]:
        return self.model_.phonemes.names

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file, in one step: see docs/model-file.md."""
        self._check_fitted()
        header, arrays = transcriber_file.stored(self)
        storage.write(path, header, arrays, kind="transcriber")

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str], *, mmap: bool = True) -> Self:
        """The model in a file that `save` wrote; `ModelFileError` for anything else."""
        return cls.from_file(storage.read(path, mmap=mmap, kind="transcriber"))

    @classmethod
    def from_file(cls: type[Self], file: storage.ModelFile, function: Any = None) -> Self:
        if function is not None:
            raise ValueError("function is for models with a feature function, and a Transcriber has none")
        return transcriber_file.restored(cls, file)


# What is odd in a dictionary is dropped silently, up to this share: that is what `evidence` of EM is for.
_MANY = 0.01
# For the probabilities of the best, all that the search kept must be known.
_ALL = 1 << 20


def _warn_unread(words: Sequence[Sequence[str]], rows: list[list[int]], found: Sequence[Sequence[Any]]) -> None:
    """Says which words got no phonemes, though their letters are known; to the caller's caller."""
    unread = [number for number, (row, one) in enumerate(zip(rows, found)) if row and not len(one)]
    if unread:
        said = f"word {unread[0]}, {''.join(words[unread[0]])!r}, gets no phonemes"
        rest = f" (and {len(unread) - 1} more such words)" if len(unread) > 1 else ""
        warnings.warn(f"{said}{rest}: no units read it, or only silent ones", UserWarning, stacklevel=3)


def _stress_hint(symbol: str, alphabet: Alphabet) -> str:
    plain = symbol.rstrip("0123456789")
    if plain == symbol or plain not in alphabet.ids:
        return ""
    return f", but {plain!r} did: read the dictionary without stress (--no-stress, or stress=False)"


def _references(words: Sequence[Sequence[str]], pronunciations: list[list[list[str]]]) -> dict[Any, list[list[str]]]:
    """All pronunciations of each word, by the word."""
    references: dict[Any, list[list[str]]] = {}
    for word, spoken in zip(words, pronunciations):
        references.setdefault(word if isinstance(word, str) else tuple(word), []).extend(spoken)
    return references


def _known(
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
