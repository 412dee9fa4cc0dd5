"""The tagger: a label for each token of a sequence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import SCHEMES
from margent.errors import ConstraintError, RestrictionWarning
from margent.features.choice import Features
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.features.kernel import Kernel
from margent.features.templates import Templates
from margent.learners import PassiveAggressive, check_fits
from margent.models.base import Confidences, Finds, StructuredModel
from margent.models.beam import DECODINGS, Beam
from margent.models.confident_span import ConfidentSpan
from margent.models.contribution import largest
from margent.models.failures import answered, check_on_error
from margent.models.inputs import sentence_weights, sentences_and_labels
from margent.models.labels import Labellings
from margent.models.score_range import LARGEST_EXACT, LARGEST_SCORE, for_probabilities, out_of_range
from margent.models.tagger.confident_spans import FoundSpans, judged_spans
from margent.models.tagger.constraints import Constraints, Restrictions
from margent.models.tagger.explanation import Explanation
from margent.models.tagger.fallback import FallbackSearch, fallback_search, levels_of, said_of_lifted
from margent.models.tagger.label_costs import LabelCosts, check_label_costs
from margent.models.tagger.model import TaggerModel
from margent.models.tagger.options import HiddenLabels
from margent.models.tagger.problem import TaggerProblem, structure_name, weights_kind
from margent.models.tagger.search import Ids, Structure
from margent.models.tagger.support import SupportSequences
from margent.models.tagger.tagged_data import TaggedData
from margent.models.tagger.weights import LONGEST_ORDER, Comparison, Weights
from margent.models.training_data import TrainingData
from margent.parameters import check_count, check_room, check_whole

if TYPE_CHECKING:
    from margent.spectral.k_gram_table import KGramTable

Labels = list[str]
Given = Sequence["Constraints | Mapping[int, Any] | None"]
"""For each sentence what is known of its labels."""


class Reading(NamedTuple):
    """One labelling of a sentence with its score."""

    score: float
    labels: Labels


class Tagger(StructuredModel[TaggerModel]):
    """Learns to label the tokens of sequences.

    X is a sequence of sentences: lists of tokens, of tuples (columns), of dicts or lists (attributes), or arrays
    (tokens, features); `Columns` from a file; or a `TokenMatrix`. y has a list of labels for each sentence. None
    instead of a label means that it is unknown; the best completion then counts as right. If X is a `Columns` and there
    is no y, the last column holds the labels. `score` is span F1 if the labels encode spans, otherwise token accuracy;
    `dev_metric` may be "span_f1", "inside_f1" (over the tokens that are not `O`) or "accuracy".

    Parameters
    ----------
    features : str, Templates, list of str, callable, Kernel, Features or None
        The features of a token: the name of a preset ("generic", "chunking", "ner", "pos", "letters", "spelling"),
        templates, "attributes", "vectors", "symbols" (the token itself), or a function from a sentence to a list of the
        attributes of each token. None: depends on the data: "generic" for tokens and columns, attributes for dicts,
        vectors for arrays; "symbols" with a `Spectral` learner, which takes nothing else. A `Kernel` labels by
        similarity to tokens of the training data. `Features(source, min_count=2)`: any of these without rare features.
    learner : learner, str or None
        An object such as `CRF(l2=1)` or a name such as "crf". None: `PassiveAggressive()`.
    order : int
        How many labels back the transitions look: 1 for label pairs, 2 for triples. With a `Spectral` learner, which
        has an order of its own, it stays 1.
    hidden : HiddenLabels, int or None
        `HiddenLabels(2)`, or 2 for short, splits each label into two hidden ones, subclasses of the label that the
        training data do not distinguish. See docs/hidden-labels.md.
    search : "viterbi", "sum", "posterior" or Beam
        What to predict: the labelling with the highest score (with hidden labels, that of the best hidden labelling),
        the one with the largest sum over its hidden labellings, or the most probable label at each token. `Beam(8)`:
        inexact search, in training and in prediction.
    scheme : str or None
        The label scheme: iob1, iob2, ioe1, ioe2, iobes or bilou. None: detected from the training labels.
    constrain : bool or list of (label, label)
        True: predict only sequences that the scheme allows. A list: pairs of labels that may not follow each other,
        where None stands for the start (left) or the end (right).
    label_costs : dict or None
        The cost of a mistake, by right label, or by (right label, predicted label). Anything not named costs 1; pairs
        take precedence over labels.
    tag_dictionary : int or None
        A word seen at least this often in training gets only labels it was seen with. Needs tokens or columns.
    calibration : float or None
        A share of the training sentences, such as 0.1, to hold out for calibrating probabilities. A second training
        without it gives the `temperature_`, so training takes twice as long. None: calibrate on development data only;
        0: never.
    seed : int
        Determines the order of examples in training.
    threads : int or None
        Threads for prediction, and for training a `CRF` or `Spectral`; None: one per processor. Does not change the
        results.

    Attributes
    ----------
    model_ : TaggerModel, everything that was learned; the other attributes are views of it
    classes_ : array of the labels, in the order of the columns of `predict_marginals`
    history_ : list of dicts, one per epoch; with `restarts`, of the training that was kept
    scheme_ : the scheme of the labels, or None if they do not encode spans
    feature_map_, weights_ : the feature map, and the weights of its features
    n_features_in_ : the number of values per token, if the input is arrays
    best_epoch_, interrupted_ : how the last training ended
    temperature_ : probabilities are exp(score / temperature_), divided by the sum over all labellings
    calibrated_ : whether probabilities are calibrated, by the learner or by a fitted temperature; with a beam, only if
        the temperature was fitted with that beam, as probabilities are shares among what survives it

    Examples
    --------
    >>> from margent import Tagger
    >>> tagger = Tagger().fit([["the", "cat"], ["a", "dog", "barks"]], [["D", "N"], ["D", "N", "V"]])
    >>> tagger.predict([["the", "dog", "barks"]])
    [['D', 'N', 'V']]
    """

    fitted: ClassVar[type[TaggerModel]] = TaggerModel

    def __init__(
        self,
        features: Any = None,
        learner: Any = None,
        *,
        order: int = 1,
        hidden: HiddenLabels | int | None = None,
        search: str | Beam = "viterbi",
        scheme: str | None = None,
        constrain: bool | Sequence[tuple[str | None, str | None]] = False,
        label_costs: LabelCosts | None = None,
        tag_dictionary: int | None = None,
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.order = order
        self.hidden = hidden
        self.search = search
        self.scheme = scheme
        self.constrain = constrain
        self.label_costs = label_costs
        self.tag_dictionary = tag_dictionary
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(self, X: Any, constraints: Given | None = None, *, on_error: str = "raise") -> Labellings:
        """The best labelling of each sentence: a list of lists of labels.

        `constraints`: for each sentence what is known of its labels (`Constraints`, or a dict from position to label
        or list of labels), or None. The answer is the best among the labellings that meet them; where there is none,
        `ConstraintError` names the sentence, or with `on_error="none"` its answer is None.

        Where the tag dictionary, or else `constrain`, leaves a sentence no labelling, it does not hold there; a
        `RestrictionWarning` says so once.
        """
        model, encoded, restrictions = self._asked(X, constraints, on_error)
        encoded, restrictions = self._within_range(model, encoded, restrictions, on_error)
        search = self._decoded(model, encoded, restrictions)
        ids, possible = search.best()
        failures = self._failures(model, search, restrictions, possible)
        return answered(model.labels.decode(ids, encoded.lengths), failures, on_error)

    def predict_k_best(
        self, X: Any, k: int = 5, constraints: Given | None = None, *, on_error: str = "raise"
    ) -> list[list[Reading]]:
        """The k best labellings of each sentence with their scores, best first; exact. Fewer where fewer exist."""
        check_count("k", k, 1)
        model, encoded, restrictions = self._asked(X, constraints, on_error)
        k = _no_more_than(int(k), len(model.labels), int(encoded.lengths.max(initial=0)))
        check_room("k", k, encoded.n_tokens)
        encoded, restrictions = self._within_range(model, encoded, restrictions, on_error)
        search = self._decoded(model, encoded, restrictions)
        ids, values, counts = search.k_best(k)
        failures = self._failures(model, search, restrictions, counts > 0)
        result = []
        for s, (start, length) in enumerate(zip(encoded.sequence_ptr[:-1].tolist(), encoded.lengths.tolist())):
            block = ids[k * start : k * (start + length)].reshape(k, length)[: counts[s]]
            names = model.labels.decode(block.ravel(), np.full(counts[s], length))
            result.append([Reading(float(score), labels) for score, labels in zip(values[s], names)])
        return answered(result, failures, on_error)

    def predict_marginals(
        self, X: Any, constraints: Given | None = None, *, on_error: str = "raise"
    ) -> list[NDArray[np.float64]]:
        """The probability of each label at each token: an array (tokens, labels) per sentence, columns as `classes_`.

        Probabilities are exp(score / temperature_) over the sum of all labellings. The scores of a perceptron or a
        margin learner are not made for that: without a fitted temperature there is a `CalibrationWarning`; `calibrate`
        says how to get one.
        """
        model, encoded, restrictions = self._asked(X, constraints, on_error)
        scale = self._scale(model)
        encoded, restrictions = self._within_range(model, encoded, restrictions, on_error, scale)
        search = self._search(model, encoded, restrictions)
        nodes, possible = search.marginals(scale)
        failures = self._failures(model, search, restrictions, possible)
        return answered([nodes[a:b] for a, b in pairwise(encoded.sequence_ptr)], failures, on_error)

    def predict_spans(
        self, X: Any, constraints: Given | None = None, *, on_error: str = "raise"
    ) -> list[list[ConfidentSpan]]:
        """The spans of the best labelling of each sentence, each with the probability that exactly it is there.

        The confidence sums over all labellings of the sentence that hold the span: its labels, and neighbours that
        do not continue it. Labels that do not spell spans make each token a span of its own. As with
        `predict_marginals`, a fitted `temperature_` calibrates the confidences.
        """
        model, encoded, restrictions = self._asked(X, constraints, on_error)
        scale = self._scale(model)
        encoded, restrictions = self._within_range(model, encoded, restrictions, on_error, scale)
        search = self._decoded(model, encoded, restrictions)
        ids, possible = search.best()
        failures = self._failures(model, search, restrictions, possible)
        check_on_error(on_error, failures)
        spans = FoundSpans(search, encoded, ids, model.labels, model.scheme)
        return answered(spans.with_confidence(scale), failures, on_error)

    def sample(self, X: Any, n: int = 1, seed: int = 0) -> list[list[Labels]]:
        """Draws `n` labellings of each sentence with their probabilities; the same for the same seed."""
        check_count("n", n, 1)
        check_count("seed", seed, 0)
        model = self._fitted()
        encoded, restrictions = model.encode(X)
        check_room("n", n, encoded.n_tokens)
        scale = self._scale(model)
        encoded, restrictions = self._within_range(model, encoded, restrictions, "raise", scale)
        search = self._search(model, encoded, restrictions)
        ids, possible = search.samples(scale, int(seed) % 2**64, int(n))
        check_on_error("raise", self._failures(model, search, restrictions, possible))
        starts = encoded.sequence_ptr
        return [model.labels.decode(ids[n * a : n * b], np.full(n, b - a)) for a, b in pairwise(starts)]

    def explain(self, sentence: Any, position: int | None = None, *, top: int = 10) -> list[Explanation]:
        """Why each token (or the one at `position`) got its label: which features, over which rival label.

        The rival is the best labelling of the whole sentence that has another label at this token. An explanation
        lists the `top` contributions to the difference of the two scores; printed, it reads as a small table.
        """
        model = self._fitted()
        encoded, restrictions = model.encode([sentence])
        length = encoded.n_tokens
        check_count("top", top, 0)
        if position is not None and (not isinstance(position, (int, np.integer)) or not -length <= position < length):
            raise ValueError(f"position should be within the sentence of {length} tokens, got {position!r}")
        names = model.labels.names
        winner = self._best(model, encoded, restrictions)
        explanations = []
        for t in range(length) if position is None else [int(position) % length]:
            others = {t: [name for i, name in enumerate(names) if i != winner[t]]}
            label = names[winner[t]]
            restrictions = model.restrictions([sentence], encoded, [others])
            search = self._decoded(model, encoded, restrictions)
            rival, possible = search.best()
            try:
                check_on_error("raise", self._failures(model, search, restrictions, possible))
                compared = Comparison(names, encoded, t, winner, rival, top)
                margin, parts = model.weights.margin_breakdown(model.feature_map, compared)
            except ConstraintError:
                explanations.append(Explanation(t, label, None, float("inf"), (), 0.0))
                continue
            explanations.append(Explanation(t, label, names[rival[t]], margin, *largest(parts, margin, top)))
        return explanations

    # What was learned

    @property
    def feature_map_(self) -> FeatureMap:
        return self.model_.feature_map

    @property
    def weights_(self) -> Weights:
        return self.model_.weights

    @property
    def classes_(self) -> NDArray[np.object_]:
        return np.array(self.model_.labels.names, dtype=object)

    @property
    def scheme_(self) -> str | None:
        return self.model_.scheme

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The highest-weighted features of a label, and after them the lowest-weighted, from high to low."""
        model = self._fitted()
        check_count("n", n, 1)
        labels = model.labels
        if label is None or label not in labels.ids:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(labels.names)}")
        return model.weights.top_features(model.feature_map, labels.names, labels.ids[label], n)

    def top_transitions(self, n: int = 20) -> list[tuple[str, str, float]]:
        """The n label pairs with the largest and the n with the smallest transition weights, from high to low."""
        model = self._fitted()
        check_count("n", n, 1)
        return model.weights.top_transitions(model.labels.names, n)

    def support_sequences(self, sentence: int) -> SupportSequences:
        """The wrong labellings of a training sentence, by its number, that the weights are made of; heaviest first.

        For taggers that learned with `HiddenMarkovSVM` or `DualPerceptron`. Printed, it shows the right labels and,
        of each support sequence, its weight and the labels that differ; `plot` draws that.
        """
        model = self._fitted()
        if model.support is None:
            raise ValueError(
                "this tagger keeps no support sequences: they come with HiddenMarkovSVM and DualPerceptron, and "
                "are not in a compact model file"
            )
        check_count("sentence", sentence, 0)
        if sentence >= model.support.n_sentences:
            raise ValueError(
                f"there is no sentence {sentence}: training had {model.support.n_sentences}, counted from 0"
            )
        return model.support.of_sentence(int(sentence), model.labels.names)

    def k_gram_table(self) -> KGramTable:
        """The scores of all k-grams of symbols and labels that a `Spectral` learner found.

        Its bi-symbols are pairs (symbol, label). (None, None) stands before and after each sequence, one time less than
        the longest k-gram has symbols. Gives hidden states, too: `k_gram_table().operators(states=...)`.
        """
        from margent.spectral.weights import KGramWeights

        model = self._fitted()
        if not isinstance(model.weights, KGramWeights):
            raise ValueError("this tagger has no table of k-gram scores: it comes with Spectral")
        return model.weights.named_table(model.feature_map, model.labels.names)

    # What the template asks of a tagger

    def _problem(self, data: TrainingData, start: TaggerModel | None, grow: bool) -> TaggerProblem:
        return TaggerProblem.of(self, data, start, grow)

    def _answers(self, model: TaggerModel, X: Any, y: Any, sample_weight: Any = None) -> TaggedData:
        X, y = sentences_and_labels(X, y)
        encoded, restrictions = model.encode(X)
        labels = model.labels.extended(y)
        weights = sentence_weights(sample_weight, encoded.n_sequences)
        return TaggedData(X, encoded, labels, labels.encode(y, encoded.lengths), weights, restrictions.seen)

    def _score(self, model: TaggerModel, answers: TaggedData) -> float:
        found = self._best(model, answers.encoded, Restrictions(answers.allowed))
        return answers.score(found, spans=model.scheme is not None)

    def _report(self, model: TaggerModel, answers: TaggedData) -> Any:
        """Over spans where the labels spell any, else over tokens; sentences with missing labels are left out."""
        from margent.metrics import span_scores, token_scores

        found = answers.decoded(self._best(model, answers.encoded, Restrictions(answers.allowed)))
        pairs = [(g, p) for g, p in zip(answers.names(), found) if None not in g]
        gold, predicted = [[side[i] for side in pairs] for i in (0, 1)]
        if model.scheme is not None:
            return span_scores(gold, predicted)  # type: ignore[arg-type]
        return token_scores(gold, predicted)  # type: ignore[arg-type]

    def _finds(self, model: TaggerModel, answers: TaggedData) -> Finds | None:
        """The spans of the best labellings (the tokens, where labels spell no spans), with the confidences that
        `predict_spans` gives. A span can be judged where its tokens and its neighbours are labelled.

        Why not the likelihood of the labels, as in training: on CoNLL-2000, CoNLL-2002 Spanish and generated addresses,
        with three learners each, the T that is best for the labels of tokens leaves spans up to three times as far off
        where most tokens are outside of spans, and the one that is best for whole labellings is worse for tokens and
        for spans on the others. This one is the best or close to it for both everywhere.

        Costs one search for the two best labellings and about ten passes for the probabilities.
        """
        beyond = np.array([*self._beyond(model, answers.encoded, 1.0)], dtype=np.int64)
        encoded = answers.encoded.without_features(beyond) if len(beyond) else answers.encoded
        allowed = model.space.allowed(answers.X) if answers.allowed is None else answers.allowed
        search = self._search(model, encoded, Restrictions(allowed))
        ids, possible = search.best()
        possible[beyond] = False
        spans = FoundSpans(search, encoded, ids, model.labels, model.scheme)
        judged, right = judged_spans(spans, answers.names(), model.scheme)
        weights = np.where(possible, 1.0 if answers.sample_weight is None else answers.sample_weight, 0.0)
        weights = weights[np.array([s for s, _ in spans.found], dtype=np.int64)]
        judged &= weights > 0  # some sentences may have no labelling at all, or none with a probability
        if not judged.any():
            return None
        _, scores, counts = search.k_best(2)
        margins = np.array([first - second for (first, second), count in zip(scores, counts) if count == 2])
        return Finds(lambda scale: spans.log_probabilities(scale)[judged], right[judged], weights[judged], margins)

    def _confidences(self, model: TaggerModel, answers: TaggedData) -> Confidences:
        """Of the label that each token is given and, where the labels spell spans, of the spans."""
        scale = self._scale(model, stacklevel=4)
        encoded, restrictions = self._within_range(model, answers.encoded, Restrictions(answers.allowed), scale=scale)
        search = self._decoded(model, encoded, restrictions)
        ids, known = search.best()[0], answers.known
        nodes, _ = search.marginals(scale)
        found = {"tokens": (nodes[np.arange(len(ids)), ids][known], ids[known] == answers.ids[known])}
        if model.scheme is not None:
            spans = FoundSpans(search, answers.encoded, ids, model.labels, model.scheme)
            judged, right = judged_spans(spans, answers.names(), model.scheme)
            found["spans"] = np.exp(spans.log_probabilities(scale))[judged], right[judged]
        return found

    def _at_temperature(self, model: TaggerModel, temperature: float) -> TaggerModel:
        return replace(super()._at_temperature(model, temperature), calibrated_beam=self.beam_width)

    def _is_calibrated(self, model: TaggerModel) -> bool:
        return model.calibrated and model.calibrated_beam == self.beam_width

    def _uncalibrated(self) -> str:
        if self.beam_width is None:
            return super()._uncalibrated()
        return f"with {self.search!r} they are shares among the labellings that survive, larger than true ones"

    # Search

    def _asked(self, X: Any, constraints: Given | None, on_error: str) -> tuple[TaggerModel, Encoded, Restrictions]:
        """The model as it is now, and what it is asked about."""
        model = self._fitted()
        encoded, restrictions = model.encode(X, constraints, self.resolved("threads"))
        check_on_error(on_error, restrictions.errors)
        return model, encoded, restrictions

    @property
    def beam_width(self) -> int | None:
        """How many states the search keeps; None: all."""
        return int(self.search.width) if isinstance(self.search, Beam) else None

    @property
    def decode(self) -> str:
        """What is predicted: "viterbi", "sum" or "posterior"."""
        return self.search.decode if isinstance(self.search, Beam) else self.search

    def _search(
        self, model: TaggerModel, encoded: Encoded, restrictions: Restrictions, decode: str = "viterbi"
    ) -> FallbackSearch:
        """All labellings of encoded sentences, with that one as the best which `decode` says."""
        self._check_search()
        scale = 1.0 if decode == "viterbi" else self._scale(model, stacklevel=5)

        def structure(pairs: bool, beam: bool) -> Structure:
            return model.structure(self.constrain if pairs else False, self.beam_width if beam else None)

        pairs = model.pairs(self.constrain)
        levels = levels_of(restrictions, encoded, pairs=pairs is not None, beam=self.beam_width is not None)
        threads = self._threads(encoded)
        return fallback_search(encoded, levels, structure, model.feature_map, threads, decode, scale, pairs)

    def _threads(self, encoded: Encoded) -> int:
        """A sentence is never shared; then it is not asked how many processors there are, which takes time."""
        return 1 if encoded.n_sequences == 1 else int(self.resolved("threads"))

    def _beyond(self, model: TaggerModel, encoded: Encoded, scale: float | None = None) -> dict[int, Exception]:
        """By the number of a sentence: that its numbers make scores which cannot be added up or, with a scale, turned
        into probabilities."""
        limit, purpose = LARGEST_SCORE, "added up"
        if scale is not None and (exact := for_probabilities(LARGEST_EXACT, scale)) < limit:
            limit, purpose = exact, "turned into probabilities"
        structure = model.structure(self.constrain, self.beam_width)
        beyond = structure.beyond(model.feature_map, encoded, limit, self._threads(encoded))
        return out_of_range(beyond, "sentence", limit, purpose)

    def _within_range(
        self,
        model: TaggerModel,
        encoded: Encoded,
        restrictions: Restrictions,
        on_error: str = "raise",
        scale: float | None = None,
    ) -> tuple[Encoded, Restrictions]:
        """What can be searched: sentences beyond the range are among the errors, and have no features."""
        failures = self._beyond(model, encoded, scale)
        check_on_error(on_error, failures)
        if not failures:
            return encoded, restrictions
        encoded = encoded.without_features(np.array([*failures], dtype=np.int64))
        return encoded, replace(restrictions, errors={**failures, **restrictions.errors})

    def _decoded(self, model: TaggerModel, encoded: Encoded, restrictions: Restrictions) -> FallbackSearch:
        """The same, as `search` says."""
        return self._search(model, encoded, restrictions, self.decode)

    def _best(self, model: TaggerModel, encoded: Encoded, restrictions: Restrictions) -> Ids:
        """(tokens,) the best labelling of each sentence."""
        encoded, restrictions = self._within_range(model, encoded, restrictions)
        search = self._decoded(model, encoded, restrictions)
        ids, _ = search.best()
        self._warn_lifted(model, search)
        return ids

    def _failures(
        self, model: TaggerModel, search: FallbackSearch, restrictions: Restrictions, possible: NDArray[np.bool_]
    ) -> dict[int, Exception]:
        """What is wrong with the constraints of sentences that were searched; what was lifted is said once."""
        self._warn_lifted(model, search, stacklevel=4)
        if possible.all():
            return dict(restrictions.errors)
        left = np.flatnonzero(~possible).tolist()
        none = {s: ConstraintError(f"sentence {s}: the constraints leave no labelling") for s in left}
        return {**none, **restrictions.errors}

    def _warn_lifted(self, model: TaggerModel, search: FallbackSearch, stacklevel: int = 3) -> None:
        lifted = search.lifted()
        if lifted and model.first_warning("restrictions"):
            warnings.warn(said_of_lifted(lifted), RestrictionWarning, stacklevel=stacklevel)

    # Parameters

    def _default_learner(self) -> Any:
        return PassiveAggressive()

    def resolved(self, name: str) -> Any:
        if name == "features":
            return Features.of(self.features)
        if name == "hidden":
            value = HiddenLabels(self.hidden) if isinstance(self.hidden, (int, np.integer)) else self.hidden
            return None if isinstance(value, HiddenLabels) and value.n == 1 else value
        return super().resolved(name)

    def _nested(self, name: str) -> Any:
        return self.features if name == "features" and isinstance(self.features, Kernel) else super()._nested(name)

    def check_parameters(self) -> None:
        self.check_common()
        check_whole(self, "order", minimum=1, maximum=LONGEST_ORDER)
        check_whole(self, "tag_dictionary", minimum=1, optional=True)
        if isinstance(self.hidden, bool) or not isinstance(self.hidden, (HiddenLabels, int, np.integer, type(None))):
            raise ValueError(f"hidden of Tagger should be HiddenLabels(...), a number or None, got {self.hidden!r}")
        self.resolved("hidden")
        self._check_search()
        check_label_costs(self.label_costs)
        _check_constrain(self.constrain)
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise ValueError(f"scheme of Tagger should be one of {', '.join(SCHEMES)} or None, got {self.scheme!r}")
        learner = self.resolved("learner")
        check_fits(learner, structure_name(self, learner))

    def _check_search(self) -> None:
        if not isinstance(self.search, Beam) and (not isinstance(self.search, str) or self.search not in DECODINGS):
            raise ValueError(
                f"search of Tagger should be one of {', '.join(DECODINGS)} or a Beam(...), got {self.search!r}"
            )
        if isinstance(self.search, Beam):
            self.search.check_reference("Tagger")

    # Files

    @classmethod
    def from_file(cls, file: Any, function: Any = None) -> Any:
        tagger = super().from_file(file, function)
        if function is not None:
            source = tagger.feature_map_.source
            given = tagger.features
            tagger.features = replace(given, source=source) if isinstance(given, Features) else source
        return tagger

    def _stored_parameters(self, model: TaggerModel) -> dict[str, Any]:
        parameters = super()._stored_parameters(model)
        hidden, dictionary = self.resolved("hidden"), model.space.dictionary
        if (1 if hidden is None else hidden.n) != model.weights.hidden:
            parameters["hidden"] = None if model.weights.hidden == 1 else HiddenLabels(model.weights.hidden)
        parameters["order"] = model.weights.order
        parameters["tag_dictionary"] = None if dictionary is None else dictionary.min_count
        parameters["constrain"] = False if self.constrain is None else self.constrain
        return parameters

    @classmethod
    def _upgraded(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Files from before options were grouped into values."""
        if "restrict_labels" not in given:
            return given
        old = dict(given)
        new = {name: old[name] for name in ("learner", "order", "scheme", "calibration", "seed", "threads")}
        features = {"source": old.get("features"), "min_count": old["min_count"], "layout": old["layout"]}
        decode = "viterbi" if old["decode"] == "path" else old["decode"]
        beam = {"type": "Beam", "width": old["beam"], "update": old["update"], "decode": decode}
        hidden = {"type": "HiddenLabels", "n": old["hidden"], "restarts": old["restarts"]}
        costs = old.get("label_costs")
        if isinstance(costs, dict):
            costs = list(costs.items())
        if costs is not None:
            items = [[{"type": "tuple", "items": k} if isinstance(k, list) else k, cost] for k, cost in costs]
            costs = {"type": "dict", "items": items}
        constrain = old["constrain"]
        if not isinstance(constrain, bool):
            constrain = [{"type": "tuple", "items": pair} for pair in constrain]
        return new | {
            "features": old.get("features") if features["min_count"] == 1 and features["layout"] == "auto"
            else {"type": "Features", **features},
            "search": decode if old["beam"] is None else beam,
            "hidden": None if old["hidden"] == 1 else hidden,
            "tag_dictionary": old["restrict_labels"],
            "constrain": constrain,
            "label_costs": costs,
        }  # fmt: skip

    def _check_model(self, model: TaggerModel) -> None:
        hidden = self.resolved("hidden")
        if model.weights.order != self.order:
            raise ValueError("its weights are of another order than its parameters say")
        if model.weights.hidden != (1 if hidden is None else hidden.n):
            raise ValueError("its weights are of other hidden labels than its parameters say")
        if self.scheme not in (None, model.scheme):
            raise ValueError(f"they say that its labels are in the scheme {self.scheme}, which they are not")
        source = self.resolved("features").source
        if not isinstance(source, (Templates, Kernel, str, list, type(None))):
            raise TypeError(f"features should not be {source!r}")
        learner = self.resolved("learner")
        if self.learner is not None:
            weights_kind(self, learner).check(self, learner)
        type(model.weights).check(self, learner)
        model.structure(self.constrain, self.beam_width)


def _no_more_than(k: int, n_labels: int, length: int) -> int:
    """k, or the number of labellings of so many tokens, if these are fewer."""
    few = n_labels == 1 or length * math.log(n_labels) < math.log(k) + 1  # else the power may be a very long number
    return min(k, n_labels**length) if few else k


def _check_constrain(constrain: Any) -> None:
    if constrain is None or isinstance(constrain, bool):
        return
    wanted = "constrain of Tagger should be True, False or a list of pairs of labels"
    if isinstance(constrain, str) or not isinstance(constrain, Iterable):
        raise ValueError(f"{wanted}, got {constrain!r}")
    for pair in constrain:
        names = isinstance(pair, (tuple, list)) and all(name is None or isinstance(name, str) for name in pair)
        if not names or len(pair) != 2:
            raise ValueError(f"{wanted}, got {pair!r} in it")
