"""The tagger: a label for each token of a sequence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import storage
from margent.errors import CalibrationWarning, ConstraintError, CorpusError
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.learners import LEARNERS, Learner, PassiveAggressive, learner_named
from margent.learners.training import Callback
from margent.models.confident_span import ConfidentSpan
from margent.models.estimator import Estimator
from margent.models.inputs import as_sentences, sentence_weights, sentences_and_labels
from margent.models.labels import Labellings, LabelSet
from margent.models.tagger import file as tagger_file
from margent.models.tagger.calibration import fitted_tagger_temperature
from margent.models.tagger.confident_spans import FoundSpans
from margent.models.tagger.constraints import Allowed, Constraints, LabelDictionary, allowed_labels, both_allowed
from margent.models.tagger.decoding import decoded
from margent.models.tagger.evaluation import Gold
from margent.models.tagger.explanation import Explanation
from margent.models.tagger.held_out import held_out_sentences, held_out_temperature
from margent.models.tagger.k_grams.weights import KGramWeights
from margent.models.tagger.label_costs import LabelCosts
from margent.models.tagger.label_scheme import allowed_pairs
from margent.models.tagger.parameters import check_decode, check_parameters
from margent.models.tagger.search import Search, Structure
from margent.models.tagger.support import SupportSequences, SupportSet
from margent.models.tagger.training import Lesson, fit_temperature, learn, new_feature_map
from margent.models.tagger.weights import Weights
from margent.models.tagger.weights_choice import weights_of
from margent.parameters import check_count
from margent.processors import processor_count
from margent.structures.k_gram_table import KGramTable

Self = TypeVar("Self", bound="Tagger")
Labels = list[str]


class Reading(NamedTuple):
    """One labelling of a sentence with its score."""

    score: float
    labels: Labels


class Tagger(Estimator):
    """Learns to label the tokens of sequences.

    Parameters
    ----------
    features : str, Templates, list of str, callable, Kernel or None
        What is seen of a token: the name of a preset ("generic", "chunking", "ner", "pos", "letters", "spelling"),
        templates, "attributes", "vectors", "symbols" (the token as it is), or a function from a sentence to a list with
        the attributes of each token. None: as the data are: "generic" for tokens and columns, attributes for dicts,
        vectors for arrays; "symbols" with a `Spectral` learner, which takes nothing else. A `Kernel`: labels by
        likeness to tokens of the training data.
    learner : learner, str or None
        How mistakes move the weights: an object such as `CRF(l2=1)` or a name such as "crf". None:
        `PassiveAggressive()`.
    order : int
        How many labels back the transitions look: 1 for label pairs, 2 for triples. With a `Spectral` learner, which
        says itself how long the pieces are that it scores, it stays 1.
    hidden : int
        How many hidden labels each label stands for: 2 or more let the learner find out kinds of a label that the
        training data do not tell apart. See docs/hidden-labels.md.
    restarts : int
        With hidden labels: how many trainings from different random weights; the best is kept, by the development
        score, or else by what the learner lowers. Unused where `hidden` is 1: there is one start only.
    growth : "split-merge" or None
        With hidden labels: "split-merge" starts with one for each label and splits them in two again and again, up to
        `hidden`; splits that do not help are taken back. None: all from the start. Unused where `hidden` is 1.
    decode : "path", "sum" or "posterior"
        What is predicted: the labelling with the highest score (with hidden labels, of the best hidden one), the one
        with the largest sum over its hidden ones, or at each token the most probable label.
    scheme : str or None
        How labels spell spans: one of iob1, iob2, ioe1, ioe2, iobes, bilou. None: found out from the training labels.
    constrain : bool or list of (label, label)
        True: predict only sequences that the scheme allows. A list: pairs of labels that may not follow each other;
        None stands for the start (left) or the end (right).
    label_costs : dict or None
        What a mistake costs: by the label that is right, or for single mistakes by (right label, predicted label).
        What is not named costs 1; a pair goes before its label.
    beam : int or None
        Search keeps only so many states (the last `order` labels) at each token, in training and in prediction, which
        pays where labels or orders are many. None: exact search.
    update : "max-violation", "early", "standard" or "skip"
        With a beam, what is learned from where the search goes wrong; see `margent.structures.BeamOracle`. Unused
        without a beam: exact search goes wrong only at the end.
    restrict_labels : int or None
        A word seen at least so often in training gets only labels it was seen with. Needs tokens or columns.
    min_count : int
        Features that occur less often in the training data are left out.
    calibration : float or None
        A share of the training sentences, such as 0.1, to make probabilities honest with: after the training a second
        one without them gives the `temperature_`. Takes twice the time. None: only on development data; 0: not at all.
    layout : "auto", "dense" or "sparse"
        How weights are kept: rows over all labels, or only those touched. Does not change the results.
    seed : int
        Of the order of examples in training.
    threads : int or None
        For prediction, and to train a `CRF` or `Spectral`; None: as many as there are processors. Does not change the
        results.

    Attributes
    ----------
    classes_ : array of the labels, in the order of the columns of `predict_marginals`
    history_ : list of dicts, one per epoch: loss, accuracy, objective, seconds, dev_score; of several trainings
        (`restarts`, `growth`) that of the one that was kept
    scheme_ : the scheme of the labels, or None if they do not spell spans
    feature_map_, weights_ : what was learned
    n_features_in_ : how many numbers a token has, where the input is arrays
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : probabilities are exp(score / temperature_), over the sum of all labellings
    calibrated_ : whether they can be taken at their word: the learner is made for that, or the temperature was fitted;
        with the `beam` that it was fitted for, as probabilities are shares among what survives a beam

    Examples
    --------
    >>> from margent import Tagger
    >>> tagger = Tagger().fit([["the", "cat"], ["a", "dog", "barks"]], [["D", "N"], ["D", "N", "V"]])
    >>> tagger.predict([["the", "dog", "barks"]])
    [['D', 'N', 'V']]
    """

    # What was learned; set by `fit` and by loading a file.
    feature_map_: FeatureMap
    weights_: Weights
    history_: list[dict[str, Any]]
    best_epoch_: int | None
    interrupted_: bool
    _dictionary: LabelDictionary | None
    _support: SupportSet | None
    _ready: tuple[Any, Structure] | None
    temperature_: float
    _calibrated_for: tuple[int | None, ...] = ()  # the beams whose probabilities the temperature makes honest
    _warned = False

    def __init__(
        self,
        features: Any = None,
        learner: Any = None,
        *,
        order: int = 1,
        hidden: int = 1,
        restarts: int = 1,
        growth: str | None = None,
        decode: str = "path",
        scheme: str | None = None,
        constrain: bool | Sequence[tuple[str | None, str | None]] = False,
        label_costs: LabelCosts | None = None,
        beam: int | None = None,
        update: str = "max-violation",
        restrict_labels: int | None = None,
        min_count: int = 1,
        calibration: float | None = None,
        layout: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.order = order
        self.hidden = hidden
        self.restarts = restarts
        self.growth = growth
        self.decode = decode
        self.scheme = scheme
        self.constrain = constrain
        self.label_costs = label_costs
        self.beam = beam
        self.update = update
        self.restrict_labels = restrict_labels
        self.min_count = min_count
        self.calibration = calibration
        self.layout = layout
        self.seed = seed
        self.threads = threads

    # Learning

    def fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: str | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
    ) -> Self:
        """Learns from sentences and their labels.

        Parameters
        ----------
        X : sequence of sentences
            Lists of tokens, of tuples (columns), of dicts or lists (attributes), or arrays (tokens, features);
            `Columns` from a file; `TokenMatrix`.
        y : sequence of label sequences
            None in the place of a label says that it is not known: the best completion is then taken for right.
            With `X` a `Columns` and no `y`, the last column is the labels.
        sample_weight : (n_sentences,) numbers, or None
            What each sentence counts.
        X_dev, y_dev : development data
            The weights of the epoch that does best on them are kept, and the learner's `patience` watches them. They
            also give the `temperature_` for probabilities, unless the learner needs none.
        dev_metric : "span_f1", "inside_f1", "accuracy" or None
            What "best" means: F1 of spans, F1 of the tokens that are not `O`, or the share of right tokens. None: as
            `score` does.
        callbacks : functions called with each `Epoch`; returning True ends the training
        progress : show a progress bar; None: only on a terminal
        """
        check_parameters(self)
        lesson = Lesson(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        held = held_out_sentences(self, lesson.y, sample_weight) if self.calibration else None
        learn(self, lesson, new_feature_map(self, lesson.X), LabelSet())
        if held is not None and not self.interrupted_:
            fit_temperature(self, lambda: held_out_temperature(self, lesson, held))
        return self

    def partial_fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        dev_metric: str | None = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
        freeze_features: bool = False,
    ) -> Self:
        """Goes on learning from the weights as they are; new labels and features are welcome.

        `freeze_features`: no new features. Averaging starts anew from the present weights, also for a loaded model.
        The first call on a new tagger is `fit`. The `temperature_` stays as it was, which is no longer quite right; it
        is fitted anew where development data are given. `calibration` counts for `fit` alone.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(
                X,
                y,
                sample_weight=sample_weight,
                X_dev=X_dev,
                y_dev=y_dev,
                dev_metric=dev_metric,
                callbacks=callbacks,
                progress=progress,
            )
        check_parameters(self)
        feature_map, weights = self.feature_map_, self.weights_
        if weights.order != self.order:
            raise ValueError(
                f"order is {self.order} now, but this Tagger was fitted with order {weights.order}: "
                "partial_fit goes on as training began; to change the order, start anew with fit"
            )
        if weights.hidden != self.hidden:
            raise ValueError(
                f"hidden is {self.hidden} now, but this Tagger was fitted with hidden {weights.hidden}: "
                "partial_fit goes on as training began; to change it, start anew with fit"
            )
        if not isinstance(weights, weights_of(self)):
            raise ValueError(
                f"{type(self._learner()).__name__} learns other weights than this Tagger has: partial_fit goes on as "
                "training began; to change to this learner, start anew with fit"
            )
        lesson = Lesson(X, y, sample_weight, X_dev, y_dev, dev_metric, callbacks, progress)
        try:
            learn(self, lesson, feature_map, self._labels, weights, grow=not freeze_features)
        except BaseException:
            # The features found so far stay, with weight 0: the tagger is as good as before.
            self.weights_ = weights.with_features(feature_map.n_unigrams, feature_map.n_edges)
            self._ready = None
            raise
        return self

    def calibrate(self: Self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Fits the `temperature_`, so that a confidence of 0.8 means right in eight cases of ten.

        X, y : sentences that the tagger was not trained on, and their labels, as for `fit`; None: a label not known
        sample_weight : (n_sentences,) numbers, or None

        What is predicted does not change, unless `decode` asks for sums; only `predict_marginals`, `predict_spans` and
        `sample` do. Some hundred spans are enough. `fit` does this by itself with development data, or with
        `calibration`. `margent.models.tagger.calibration` says what is minimised.
        """
        self._check_fitted()
        temperature = fitted_tagger_temperature(self, *sentences_and_labels(X, y), sample_weight)
        if temperature is None:
            raise CorpusError("the tagger predicts no span in these data that their labels could confirm or refute")
        self.temperature_, self.calibrated_ = temperature, True
        return self

    @property
    def calibrated_(self) -> bool:
        return self.beam in self._calibrated_for

    @calibrated_.setter
    def calibrated_(self, value: bool) -> None:
        self._calibrated_for = (self.beam,) if value else ()

    def _set_labels(self, labels: LabelSet, scheme: str | None) -> None:
        self._labels = labels
        self.classes_ = np.array(labels.names, dtype=object)
        self.scheme_ = scheme

    def _learner(self) -> Any:
        if isinstance(self.learner, str):
            return learner_named(self.learner)
        if not isinstance(self.learner, (Learner, type(None))):
            raise TypeError(f"learner should be a learner such as CRF(), its name or None, got {self.learner!r}")
        return PassiveAggressive() if self.learner is None else self.learner

    def _meant(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "learner" and (value is None or (isinstance(value, str) and value in LEARNERS)):
            return self._learner()
        return value

    # Prediction

    def predict(
        self, X: Any, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> Labellings:
        """The best labelling of each sentence: a list of lists of labels.

        `constraints`: for each sentence what is known of its labels (`Constraints`, or a dict from position to label
        or list of labels), or None. The answer is the best among the labellings that meet them; where there is none,
        `ConstraintError` names the sentence.
        """
        encoded, allowed = self._encode(X, constraints)
        ids, possible = self._decoded(encoded, allowed).best()
        _check_found(possible)
        return self._labels.decode(ids, encoded.lengths)

    def predict_k_best(
        self, X: Any, k: int = 5, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> list[list[Reading]]:
        """The k best labellings of each sentence with their scores, best first; exact. Fewer where fewer exist."""
        check_count("k", k, 1)
        encoded, allowed = self._encode(X, constraints)
        k = min(int(k), len(self._labels) ** int(encoded.lengths.max(initial=0)))  # there are no more
        ids, values, counts = self._decoded(encoded, allowed).k_best(k)
        _check_found(counts > 0)
        result = []
        for s, (start, length) in enumerate(zip(encoded.sequence_ptr[:-1].tolist(), encoded.lengths.tolist())):
            block = ids[k * start : k * (start + length)].reshape(k, length)[: counts[s]]
            names = self._labels.decode(block.ravel(), np.full(counts[s], length))
            result.append([Reading(float(score), labels) for score, labels in zip(values[s], names)])
        return result

    def predict_marginals(
        self, X: Any, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> list[NDArray[np.float64]]:
        """The probability of each label at each token: an array (tokens, labels) per sentence, columns as `classes_`.

        Probabilities are exp(score / temperature_) over the sum of all labellings. The scores of a perceptron or a
        margin learner are not made for that: without a fitted temperature there is a `CalibrationWarning`; `calibrate`
        says how to get one.
        """
        encoded, allowed = self._encode(X, constraints)
        nodes, possible = self._search(encoded, allowed).marginals(self._scale())
        _check_found(possible)
        return [nodes[a:b] for a, b in pairwise(encoded.sequence_ptr)]

    def predict_spans(
        self, X: Any, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> list[list[ConfidentSpan]]:
        """The spans of the best labelling of each sentence, each with the probability that exactly it is there.

        The confidence sums over all labellings of the sentence that hold the span: its labels, and neighbours that
        do not continue it. Labels that do not spell spans make each token a span of its own. As with
        `predict_marginals`, a fitted `temperature_` makes the confidences honest.
        """
        encoded, allowed = self._encode(X, constraints)
        search = self._decoded(encoded, allowed)
        ids, possible = search.best()
        _check_found(possible)
        spans = FoundSpans(search, encoded, ids, self._labels, self.scheme_)
        return spans.with_confidence(self._scale())

    def sample(self, X: Any, n: int = 1, seed: int = 0) -> list[list[Labels]]:
        """Draws `n` labellings of each sentence with their probabilities; the same for the same seed."""
        check_count("n", n, 1)
        check_count("seed", seed, 0)
        encoded, allowed = self._encode(X, None)
        ids, possible = self._search(encoded, allowed).samples(self._scale(), int(seed) % 2**64, int(n))
        _check_found(possible)
        starts = encoded.sequence_ptr
        return [self._labels.decode(ids[n * a : n * b], np.full(n, b - a)) for a, b in pairwise(starts)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Span F1 where the labels spell spans, otherwise the share of right tokens. Higher is better.

        `sample_weight`: (n_sentences,), what each span or token of a sentence counts.
        """
        self._check_fitted()
        X, y = sentences_and_labels(X, y)
        encoded, allowed = self._encode(X, None)
        gold = Gold(y, encoded, self._labels, spans=self.scheme_ is not None)
        predicted, possible = self._decoded(encoded, allowed).best()
        _check_found(possible)
        return gold.score(predicted, sentence_weights(sample_weight, encoded.n_sequences))

    def explain(self, sentence: Any, position: int | None = None, *, top: int = 10) -> list[Explanation]:
        """Why each token (or the one at `position`) got its label: which features, over which rival label.

        The rival is the best labelling of the whole sentence that has another label at this token. An explanation
        lists the `top` contributions to the difference of the two scores; printed, it reads as a small table.
        """
        encoded, allowed = self._encode([sentence], None)
        length = encoded.n_tokens
        check_count("top", top, 0)
        if position is not None and (not isinstance(position, (int, np.integer)) or not -length <= position < length):
            raise ValueError(f"position should be within the sentence of {length} tokens, got {position!r}")
        positions = range(length) if position is None else [position % length]
        names = self._labels.names
        winner, possible = self._decoded(encoded, allowed).best()
        _check_found(possible)
        explanations = []
        for t in positions:
            others = {t: [name for i, name in enumerate(names) if i != winner[t]]}
            label = names[winner[t]]
            try:
                rival, possible = self._decoded(*self._encode([sentence], [others])).best()
                _check_found(possible)
                margin, parts = self.weights_.lead(self.feature_map_, names, encoded, t, winner, rival, top)
            except ConstraintError:
                explanations.append(Explanation(t, label, None, float("inf"), (), 0.0))
                continue
            explanations.append(Explanation.of(t, label, names[rival[t]], margin, parts, top))
        return explanations

    # What was learned

    @property
    def n_features_in_(self) -> int:
        """How many numbers a token has; only of a tagger that was fitted to arrays."""
        self._check_fitted()
        if self.feature_map_.n_dimensions is None:
            raise AttributeError(f"n_features_in_ is for arrays; this {type(self).__name__} was fitted to text")
        return self.feature_map_.n_dimensions

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The features that speak most for a label, with their weights; and after them those most against it."""
        self._check_fitted()
        check_count("n", n, 1)
        return self.weights_.top_features(self.feature_map_, self._labels.names, self._label_id(label), n)

    def top_transitions(self, n: int = 20) -> list[tuple[str, str, float]]:
        """The n label pairs with the largest and the n with the smallest transition weights, from high to low."""
        self._check_fitted()
        check_count("n", n, 1)
        return self.weights_.top_transitions(self._labels.names, n)

    def support_sequences(self, sentence: int) -> SupportSequences:
        """The wrong labellings of a training sentence, by its number, that the weights are made of; heaviest first.

        For taggers that learned with `HiddenMarkovSVM` or `DualPerceptron`. Printed, it shows the right labels and,
        of each support sequence, its weight and the labels that differ; `plot` draws that.
        """
        self._check_fitted()
        if self._support is None:
            raise ValueError(
                "this tagger keeps no support sequences: they come with HiddenMarkovSVM and DualPerceptron, and "
                "are not in a compact model file"
            )
        check_count("sentence", sentence, 0)
        if sentence >= self._support.n_sentences:
            raise ValueError(
                f"there is no sentence {sentence}: training had {self._support.n_sentences}, counted from 0"
            )
        return self._support.of_sentence(int(sentence), self._labels.names)

    def k_gram_table(self) -> KGramTable:
        """The scores of all pieces of symbols and labels that a `Spectral` learner found.

        Its bi-symbols are pairs (symbol, label). (None, None) stands before and after each sequence, one time less than
        the longest piece has symbols. Gives hidden states, too: `k_gram_table().operators(states=...)`.
        """
        self._check_fitted()
        if not isinstance(self.weights_, KGramWeights):
            raise ValueError("this tagger has no table of k-gram scores: it comes with Spectral")
        return self.weights_.named_table(self.feature_map_, self._labels.names)

    def _label_id(self, label: str) -> int:
        if label is None or label not in self._labels.ids:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(self._labels.names)}")
        return self._labels.ids[label]

    # Storage

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Writes the model to one file; an existing file is replaced only when the new one is complete.

        `compact`: leave out features whose weights are all zero, and support sequences, and keep the other weights in
        16 bits. Half the size or less; predictions may change where two labellings are nearly equal.
        """
        self._check_fitted()
        header, arrays = tagger_file.stored(self, compact=compact)
        storage.write(path, header, arrays, kind="tagger")

    @classmethod
    def from_file(cls, file: storage.ModelFile, function: Any = None) -> Tagger:
        """The tagger in a model file that was read; see `margent.load`."""
        return tagger_file.restored(cls, file, function)

    def __getstate__(self) -> dict[str, Any]:
        """For copies made by `copy` and by scikit-learn's processes: parameters, and what was learned as plain data."""
        return tagger_file.copied_state(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        tagger_file.set_copied_state(self, state)

    # Parts

    def _encode(self, X: Any, constraints: Any) -> tuple[Encoded, Allowed | None]:
        self._check_fitted()
        X = as_sentences(X)
        encoded = self.feature_map_.encode(X)
        given = None
        if constraints is not None:
            given = allowed_labels(constraints, encoded.lengths, self._labels, self.scheme_)
        if self._dictionary is None:
            return encoded, given
        return encoded, both_allowed(self._dictionary.allowed(X), given)

    def _search(self, encoded: Encoded, allowed: Allowed | None) -> Search:
        """All labellings of encoded sentences."""
        return self._structure().search(self.feature_map_, encoded, allowed, self._threads())

    def _decoded(self, encoded: Encoded, allowed: Allowed | None) -> Search:
        """The same, with that labelling as the best which `decode` says."""
        search = self._search(encoded, allowed)
        if self.decode == "path":
            return search
        check_decode(self.decode)
        pairs = allowed_pairs(self.constrain, self._labels, self.scheme_)
        return decoded(search, self.decode, self._scale(stacklevel=4), encoded, pairs)

    def _structure(self) -> Structure:
        """The weights ready to be searched; made anew after a change of them, of `constrain` or of `beam`."""
        wanted = self.constrain, self.beam
        if self._ready is None or self._ready[0] != wanted:
            pairs = allowed_pairs(self.constrain, self._labels, self.scheme_)
            self._ready = wanted, self.weights_.structure(pairs, self.beam)
        return self._ready[1]

    def _scale(self, stacklevel: int = 3) -> float:
        """What scores are multiplied with to become log probabilities; said once if that is not calibrated."""
        if not self.calibrated_ and not self._warned:
            self._warned = True
            reason = "the scores that it learned rank well, but are no log probabilities"
            if self.beam is not None:
                reason = (
                    f"with beam={self.beam} they are shares among the labellings that survive, larger than true ones"
                )
            warnings.warn(
                f"the probabilities of this {type(self).__name__} are not calibrated: {reason}; give fit X_dev and "
                "y_dev, set calibration=0.1, or call calibrate(X, y) with sentences that it was not trained on",
                CalibrationWarning,
                stacklevel=stacklevel,
            )
        return 1.0 / self.temperature_

    def _threads(self) -> int:
        return processor_count() if self.threads is None else min(int(self.threads), 1 << 20)


def _check_found(found: NDArray[np.bool_]) -> None:
    if not found.all():
        raise ConstraintError(f"sentence {int(np.argmin(found))}: the constraints leave no labelling")


__all__ = ["ConfidentSpan", "Constraints", "Reading", "Tagger"]
