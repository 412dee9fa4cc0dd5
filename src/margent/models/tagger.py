"""The tagger: a label for each token of a sequence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core, storage
from margent.corpus.columns import Columns
from margent.corpus.schemes import SCHEMES, Span, joined, scheme_of_pairs, spans, transition_mask
from margent.errors import ConstraintError, CorpusError
from margent.features.attribute_map import VectorMap
from margent.features.choice import feature_map_for
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.learners import LEARNERS, Perceptron, learner_named, train
from margent.learners.training import Callback
from margent.metrics.span_counts import SpanCounter
from margent.models import tagger_file
from margent.models.chain_weights import ChainWeights
from margent.models.constraints import Allowed, Constraints, LabelDictionary, allowed_labels, both_allowed
from margent.models.estimator import Estimator
from margent.models.explanation import Explanation, explain_token, top_features
from margent.models.inputs import as_sentences, sentence_weights, sentences_and_labels
from margent.models.labels import MISSING, Labellings, LabelSet

Self = TypeVar("Self", bound="Tagger")
Labels = list[str]

# Above this many bytes of feature weights in training, only the weights that are touched are kept.
_DENSE_LIMIT = 1 << 30


class Reading(NamedTuple):
    """One labelling of a sentence with its score."""

    score: float
    labels: Labels


class ConfidentSpan(NamedTuple):
    """A span with the probability that it is there, exactly with these borders and this type."""

    start: int
    end: int
    label: str
    confidence: float


class Tagger(Estimator):
    """Learns to label the tokens of sequences.

    Parameters
    ----------
    features : str, Templates, list of str, callable or None
        What is seen of a token: the name of a preset ("generic", "chunking", "ner", "pos", "letters"), templates,
        "attributes", "vectors", or a function from a sentence to a list with the attributes of each token. None: as
        the data are: "generic" for tokens and columns, attributes for dicts, vectors for arrays.
    learner : learner, str or None
        How mistakes move the weights: an object such as `Perceptron(epochs=5)` or a name. None: the perceptron.
    order : int
        How many labels back the transitions look: 1 for label pairs, 2 for triples.
    scheme : str or None
        How labels spell spans: one of iob1, iob2, ioe1, ioe2, iobes, bilou. None: found out from the training labels.
    constrain : bool or list of (label, label)
        True: predict only sequences that the scheme allows. A list: pairs of labels that may not follow each other;
        None stands for the start (left) or the end (right).
    label_costs : dict or None
        What a mistake costs where this label is right; labels not named cost 1.
    restrict_labels : int or None
        A word seen at least so often in training gets only labels it was seen with. Needs tokens or columns.
    min_count : int
        Features that occur less often in the training data are left out.
    layout : "auto", "dense" or "sparse"
        How weights are kept: rows over all labels, or only those touched. Does not change the results.
    seed : int
        Of the order of examples in training.
    threads : int or None
        For prediction; None: as many as there are processors. Does not change the results.

    Attributes
    ----------
    classes_ : array of the labels, in the order of the columns of `predict_marginals`
    history_ : list of dicts, one per epoch: loss, accuracy, seconds, dev_score
    scheme_ : the scheme of the labels, or None if they do not spell spans
    feature_map_, weights_ : what was learned
    n_features_in_ : how many numbers a token has, where the input is arrays
    best_epoch_, interrupted_ : how the last training ended

    Examples
    --------
    >>> from margent import Tagger
    >>> tagger = Tagger().fit([["the", "cat"], ["a", "dog", "barks"]], [["D", "N"], ["D", "N", "V"]])
    >>> tagger.predict([["the", "dog", "barks"]])
    [['D', 'N', 'V']]
    """

    # What was learned; set by `fit` and by loading a file.
    feature_map_: FeatureMap
    weights_: ChainWeights
    _dictionary: LabelDictionary | None
    _native: tuple[Any, _core.LinearChain] | None

    def __init__(
        self,
        features: Any = None,
        learner: Any = None,
        *,
        order: int = 1,
        scheme: str | None = None,
        constrain: bool | Sequence[tuple[str | None, str | None]] = False,
        label_costs: Mapping[str, float] | None = None,
        restrict_labels: int | None = None,
        min_count: int = 1,
        layout: str = "auto",
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.order = order
        self.scheme = scheme
        self.constrain = constrain
        self.label_costs = label_costs
        self.restrict_labels = restrict_labels
        self.min_count = min_count
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
            The weights of the epoch that does best on them are kept, and the learner's `patience` watches them.
        callbacks : functions called with each `Epoch`; returning True ends the training
        progress : show a progress bar; None: only on a terminal
        """
        self._check_parameters()
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        X, y = sentences_and_labels(X, y)
        feature_map = feature_map_for(self.features, X)
        self._learn(feature_map, LabelSet(), None, X, y, sample_weight, X_dev, y_dev, callbacks, progress, True)
        return self

    def partial_fit(
        self: Self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        X_dev: Any = None,
        y_dev: Any = None,
        callbacks: Iterable[Callback] = (),
        progress: bool | None = None,
        freeze_features: bool = False,
    ) -> Self:
        """Goes on learning from the weights as they are; new labels and features are welcome.

        `freeze_features`: no new features. Averaging starts anew from the present weights, also for a loaded model.
        The first call on a new tagger is `fit`.
        """
        if not self.__sklearn_is_fitted__():
            return self.fit(
                X, y, sample_weight=sample_weight, X_dev=X_dev, y_dev=y_dev, callbacks=callbacks, progress=progress
            )
        self._check_parameters()
        feature_map, weights = self.feature_map_, self.weights_
        if weights.order != self.order:
            raise ValueError(
                f"order is {self.order} now, but this Tagger was fitted with order {weights.order}: "
                "partial_fit goes on as training began; to change the order, start anew with fit"
            )
        X, y = sentences_and_labels(X, y)
        grow = not freeze_features
        try:
            self._learn(
                feature_map, self._labels, weights, X, y, sample_weight, X_dev, y_dev, callbacks, progress, grow
            )
        except BaseException:
            # The features found so far stay, with weight 0: the tagger is as good as before.
            self.weights_ = weights.with_features(feature_map.n_unigrams, feature_map.n_edges)
            self._native = None
            raise
        return self

    def _learn(
        self,
        feature_map: FeatureMap,
        labels: LabelSet,
        weights: ChainWeights | None,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_dev: Any,
        y_dev: Any,
        callbacks: Iterable[Callback],
        progress: bool | None,
        grow: bool,
    ) -> None:
        encoded = feature_map.encode(X, grow=grow, min_count=self.min_count)
        labels = labels.extended(y)
        ids = labels.encode(y, encoded.lengths)
        if encoded.n_tokens == 0 or (ids == MISSING).all():
            raise CorpusError("there is nothing to learn from: the training data have no labelled token")
        scheme = self._scheme_of(labels, ids, encoded, None if weights is None else self.scheme_)
        self._mask(labels, scheme)  # wrong constraints are found before training
        dictionary = self._grown_dictionary(X, ids, weights is not None)
        allowed = None if dictionary is None else dictionary.allowed(Columns.from_sentences(X))
        given_weights = sentence_weights(sample_weight, encoded.n_sequences)
        if weights is None and given_weights is not None and not given_weights.any():
            raise CorpusError("there is nothing to learn from: the sample_weight of every sentence is zero")
        examples = encoded.examples(ids, given_weights, allowed)

        n_labels = len(labels)
        learner = self._learner()
        start = None if weights is None else weights.with_labels(n_labels)
        sparse = self._sparse(feature_map.n_unigrams, n_labels) if start is None else start.sparse
        oracle = _core.ChainOracle(
            examples,
            n_labels,
            self.order,
            feature_map.label_transitions,
            feature_map.n_unigrams,
            feature_map.n_edges,
            sparse,
            self._costs(labels),
        )
        if start is not None:
            oracle.start_from(start.for_oracle())
        evaluate = None
        if X_dev is None and y_dev is not None:
            raise CorpusError("y_dev was given without X_dev")
        if X_dev is not None:
            evaluate = self._evaluation(feature_map, labels, scheme, dictionary, *sentences_and_labels(X_dev, y_dev))
        result = train(learner, oracle, seed=self.seed, evaluate=evaluate, callbacks=callbacks, progress=progress)
        before = getattr(self, "history_", [])
        self.feature_map_ = feature_map
        self._dictionary = dictionary
        self._set_labels(labels, scheme)
        self.weights_ = ChainWeights.from_oracle(n_labels, int(self.order), result.weights)
        self.history_ = [*before, *(epoch.as_dict() for epoch in result.history)]
        self.best_epoch_ = result.best_epoch
        self.interrupted_ = result.interrupted
        self._native = None
        self._chain()

    def _set_labels(self, labels: LabelSet, scheme: str | None) -> None:
        self._labels = labels
        self.classes_ = np.array(labels.names, dtype=object)
        self.scheme_ = scheme

    def _scheme_of(self, labels: LabelSet, ids: NDArray[np.int32], encoded: Encoded, before: str | None) -> str | None:
        """The scheme as given, else the one found before, else the one that these labels follow; or None."""
        scheme = self.scheme or before or _scheme(ids, encoded.sequence_ptr, labels)
        if scheme is None:
            return None
        try:
            spans(labels.names, scheme)
        except CorpusError:
            if self.scheme is None:
                return None
            names = ", ".join(labels.names[:20])
            raise CorpusError(f"scheme={scheme!r} was given, but some of the labels are not in it: {names}") from None
        return scheme

    def _check_parameters(self) -> None:
        for name, least in (("order", 1), ("min_count", 1), ("seed", 0)):
            if not _is_whole(getattr(self, name), least):
                raise ValueError(
                    f"{name} of Tagger should be a whole number of at least {least}, got {getattr(self, name)!r}"
                )
        for name in ("restrict_labels", "threads"):
            if getattr(self, name) is not None and not _is_whole(getattr(self, name), 1):
                raise ValueError(
                    f"{name} of Tagger should be a whole number of at least 1 or None, got {getattr(self, name)!r}"
                )
        if self.label_costs is not None and not isinstance(self.label_costs, Mapping):
            raise ValueError(f"label_costs of Tagger should be a dict from label to cost, got {self.label_costs!r}")
        if self.constrain is not None and not isinstance(self.constrain, bool):
            for pair in self.constrain:
                if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(map(_is_label, pair)):
                    raise ValueError(
                        f"constrain of Tagger should be True, False or a list of pairs of labels, got {pair!r} in it"
                    )
        if self.layout not in ("auto", "dense", "sparse"):
            raise ValueError(f"layout of Tagger should be auto, dense or sparse, got {self.layout!r}")
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise ValueError(f"scheme of Tagger should be one of {', '.join(SCHEMES)} or None, got {self.scheme!r}")

    def _learner(self) -> Any:
        if isinstance(self.learner, str):
            return learner_named(self.learner)
        if isinstance(self.learner, type) or not (self.learner is None or hasattr(self.learner, "rule")):
            raise TypeError(f"learner should be a learner such as Perceptron(), its name or None, got {self.learner!r}")
        return Perceptron() if self.learner is None else self.learner

    def _meant(self, name: str) -> Any:
        value = getattr(self, name)
        if name == "learner" and (value is None or (isinstance(value, str) and value in LEARNERS)):
            return self._learner()
        return value

    def _sparse(self, n_features: int, n_labels: int) -> bool:
        size = 2 * 4 * n_features * _core.padded_width(n_labels)  # weights and their sums, in bytes
        return self.layout == "sparse" or (self.layout == "auto" and size > _DENSE_LIMIT)

    def _costs(self, labels: LabelSet) -> list[float]:
        if self.label_costs is None:
            return []
        for name, cost in self.label_costs.items():
            if name not in labels.ids or name is None:
                raise ValueError(f"label_costs names {name!r}, which is not among the labels {', '.join(labels.names)}")
            if not isinstance(cost, (int, float, np.number)) or not (np.isfinite(cost) and cost >= 0):
                raise ValueError(f"the cost of label {name!r} should be a number of at least 0, got {cost!r}")
        return [float(self.label_costs.get(name, 1.0)) for name in labels.names]

    def _grown_dictionary(self, X: Any, ids: NDArray[np.int32], go_on: bool) -> LabelDictionary | None:
        if self.restrict_labels is None:
            return None
        old = getattr(self, "_dictionary", None) if go_on else None
        dictionary = old if old is not None else LabelDictionary(int(self.restrict_labels))
        return dictionary.grown(Columns.from_sentences(X), ids, int(self.restrict_labels))

    def _evaluation(
        self,
        feature_map: FeatureMap,
        labels: LabelSet,
        scheme: str | None,
        dictionary: LabelDictionary | None,
        X: Any,
        y: Any,
    ) -> Any:
        """From exported weights to the score on development data."""
        encoded = feature_map.encode(X)
        # A label that was never seen in training cannot be right: it gets an id of its own.
        gold = labels.extended(y).encode(y, encoded.lengths)
        allowed = None if dictionary is None else dictionary.allowed(Columns.from_sentences(X))
        examples = encoded.examples(allowed=allowed)
        counter = SpanCounter(labels.extended(y).names) if scheme is not None else None
        mask = self._mask(labels, scheme)

        def evaluate(exported: dict[str, Any]) -> float:
            chain = ChainWeights.from_oracle(len(labels), self.order, exported).native(mask)
            predicted, _ = chain.best(examples, self._threads())
            return _score(gold, predicted, encoded, counter)

        return evaluate

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
        ids, scores = self._chain().best(encoded.examples(allowed=allowed), self._threads())
        _check_found(scores > -np.inf)
        return self._labels.decode(ids, encoded.lengths)

    def predict_k_best(
        self, X: Any, k: int = 5, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> list[list[Reading]]:
        """The k best labellings of each sentence with their scores, best first; exact. Fewer where fewer exist."""
        if not _is_whole(k, 1):
            raise ValueError(f"k should be a whole number of at least 1, got {k!r}")
        encoded, allowed = self._encode(X, constraints)
        k = min(int(k), len(self._labels) ** int(encoded.lengths.max(initial=0)))  # there are no more
        ids, values, counts = self._chain().k_best(encoded.examples(allowed=allowed), k, self._threads())
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

        Probabilities are exp(score) over the sum of all labellings. The scores of a perceptron are not probabilities
        by nature: they rank well, but are too sure of themselves.
        """
        encoded, allowed = self._encode(X, constraints)
        nodes, _, log_z = self._chain().marginals(encoded.examples(allowed=allowed), 1.0, False, self._threads())
        _check_found(log_z > -np.inf)
        return [nodes[a:b] for a, b in pairwise(encoded.sequence_ptr)]

    def predict_spans(
        self, X: Any, constraints: Sequence[Constraints | Mapping[int, Any] | None] | None = None
    ) -> list[list[ConfidentSpan]]:
        """The spans of the best labelling of each sentence, each with the probability that exactly it is there.

        The confidence sums over all labellings of the sentence that hold the span: its labels, and neighbours that
        do not continue it. Labels that do not spell spans make each token a span of its own.
        """
        encoded, allowed = self._encode(X, constraints)
        examples = encoded.examples(allowed=allowed)
        ids, scores = self._chain().best(examples, self._threads())
        _check_found(scores > -np.inf)
        labellings = self._labels.decode(ids, encoded.lengths)
        found = [(s, span) for s, labels in enumerate(labellings) for span in self._spans(labels)]
        runs = [ids[encoded.sequence_ptr[s] + span.start : encoded.sequence_ptr[s] + span.end] for s, span in found]
        before, after = self._neighbours([(int(run[0]), int(run[-1])) for run in runs])
        log_probabilities = self._chain().runs(
            examples,
            1.0,
            np.array([s for s, _ in found], dtype=np.int64),
            np.array([span.start for _, span in found], dtype=np.int32),
            np.array([span.end for _, span in found], dtype=np.int32),
            np.cumsum([0, *(len(run) for run in runs)]).astype(np.int64),
            np.concatenate(runs) if runs else np.empty(0, dtype=np.int32),
            before,
            after,
            self._threads(),
        )
        result: list[list[ConfidentSpan]] = [[] for _ in labellings]
        for (s, span), log_probability in zip(found, log_probabilities):
            result[s].append(ConfidentSpan(*span, float(np.exp(log_probability))))
        return result

    def sample(self, X: Any, n: int = 1, seed: int = 0) -> list[list[Labels]]:
        """Draws `n` labellings of each sentence with their probabilities; the same for the same seed."""
        if not _is_whole(n, 1):
            raise ValueError(f"n should be a whole number of at least 1, got {n!r}")
        if not _is_whole(seed, 0):
            raise ValueError(f"seed should be a whole number of at least 0, got {seed!r}")
        encoded, allowed = self._encode(X, None)
        seed = int(seed) % 2**64
        ids, log_z = self._chain().samples(encoded.examples(allowed=allowed), 1.0, seed, int(n), self._threads())
        _check_found(log_z > -np.inf)
        starts = encoded.sequence_ptr
        return [self._labels.decode(ids[n * a : n * b], np.full(n, b - a)) for a, b in pairwise(starts)]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Span F1 where the labels spell spans, otherwise the share of right tokens. Higher is better.

        `sample_weight`: (n_sentences,), what each span or token of a sentence counts.
        """
        self._check_fitted()
        X, y = sentences_and_labels(X, y)
        encoded, allowed = self._encode(X, None)
        gold_labels = self._labels.extended(y)
        gold = gold_labels.encode(y, encoded.lengths)
        predicted, scores = self._chain().best(encoded.examples(allowed=allowed), self._threads())
        _check_found(scores > -np.inf)
        counter = SpanCounter(gold_labels.names) if self.scheme_ is not None else None
        return _score(gold, predicted, encoded, counter, sentence_weights(sample_weight, encoded.n_sequences))

    def explain(self, sentence: Any, position: int | None = None, *, top: int = 10) -> list[Explanation]:
        """Why each token (or the one at `position`) got its label: which features, over which rival label.

        The rival is the best labelling of the whole sentence that has another label at this token. An explanation
        lists the `top` contributions to the difference of the two scores; printed, it reads as a small table.
        """
        encoded, allowed = self._encode([sentence], None)
        length = encoded.n_tokens
        if position is not None and not -length <= position < length:
            raise ValueError(f"position should be within the sentence of {length} tokens, got {position}")
        positions = range(length) if position is None else [position % length]
        winner, best = self._chain().best(encoded.examples(allowed=allowed), 1)
        _check_found(best > -np.inf)
        explanations = []
        for t in positions:
            others = {t: [name for i, name in enumerate(self._labels.names) if i != winner[t]]}
            try:
                _, restricted = self._encode([sentence], [others])
                rival, score = self._chain().best(encoded.examples(allowed=restricted), 1)
            except ConstraintError:
                rival, score = winner, np.array([-np.inf])
            explanations.append(
                explain_token(
                    self.weights_,
                    self.feature_map_,
                    self._labels.names,
                    encoded,
                    t,
                    winner,
                    rival,
                    possible=bool(score[0] > -np.inf),
                    top=top,
                )
            )
        return explanations

    # What was learned

    @property
    def n_features_in_(self) -> int:
        """How many numbers a token has; only of a tagger that was fitted to arrays."""
        self._check_fitted()
        if not isinstance(self.feature_map_, VectorMap):
            raise AttributeError(f"n_features_in_ is for arrays; this {type(self).__name__} was fitted to text")
        return self.feature_map_.n_dimensions

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The features that speak most for a label, with their weights; and after them those most against it."""
        self._check_fitted()
        if not _is_whole(n, 1):
            raise ValueError(f"n should be a whole number of at least 1, got {n!r}")
        return top_features(self.weights_, self.feature_map_, self._label_id(label), n)

    def top_transitions(self, n: int = 20) -> list[tuple[str, str, float]]:
        """The n label pairs with the largest and the n with the smallest transition weights, from high to low."""
        self._check_fitted()
        if not _is_whole(n, 1):
            raise ValueError(f"n should be a whole number of at least 1, got {n!r}")
        matrix = self.weights_.transitions[0][: len(self._labels), : len(self._labels)]
        order = np.argsort(-matrix, axis=None, kind="stable")
        chosen = order if len(order) <= 2 * n else np.concatenate([order[:n], order[-n:]])
        pairs = (divmod(int(i), len(self._labels)) for i in chosen)
        return [(self._labels.names[i], self._labels.names[j], float(matrix[i, j])) for i, j in pairs]

    def _label_id(self, label: str) -> int:
        if label is None or label not in self._labels.ids:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(self._labels.names)}")
        return self._labels.ids[label]

    # Storage

    def save(self, path: str | os.PathLike[str], *, compact: bool = False) -> None:
        """Writes the model to one file; an existing file is replaced only when the new one is complete.

        `compact`: leave out features whose weights are all zero and keep the others in 16 bits. Half the size or less;
        predictions may change where two labellings are nearly equal.
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
        return encoded, both_allowed(self._dictionary.allowed(Columns.from_sentences(X)), given)

    def _chain(self) -> _core.LinearChain:
        """The native chain, made anew after a change of the weights or of `constrain`."""
        if self._native is None or self._native[0] != self.constrain:
            self._native = self.constrain, self.weights_.native(self._mask(self._labels, self.scheme_))
        return self._native[1]

    def _mask(self, labels: LabelSet, scheme: str | None) -> NDArray[np.bool_] | None:
        """Which label may follow which (L + 1, L + 1), or None where nothing is forbidden."""
        if self.constrain is False or self.constrain is None:
            return None
        if self.constrain is True:
            if scheme is None:
                raise ValueError(
                    f"constrain=True needs labels in a scheme ({', '.join(SCHEMES)}), and these follow none; "
                    "give scheme=... to say which is meant"
                )
            return transition_mask(labels.names, scheme)
        mask = np.ones((len(labels) + 1, len(labels) + 1), dtype=bool)
        for left, right in self.constrain:
            for name in (left, right):
                if name is not None and name not in labels.ids:
                    raise ValueError(f"constrain names the label {name!r}, which the training data do not have")
            mask[
                len(labels) if left is None else labels.ids[left], len(labels) if right is None else labels.ids[right]
            ] = False
        return mask

    def _spans(self, labels: Labels) -> list[Span]:
        if self.scheme_ is None:
            return [Span(i, i + 1, label) for i, label in enumerate(labels)]
        return spans(labels)

    def _neighbours(self, edges: list[tuple[int, int]]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """For spans by first and last label: (n, L + 1) which labels may stand before and after them."""
        names = self._labels.names
        before = np.ones((len(edges), len(names) + 1), dtype=np.uint8)
        after = np.ones((len(edges), len(names) + 1), dtype=np.uint8)
        if self.scheme_ is not None and edges:
            firsts, first = np.unique([first for first, _ in edges], return_inverse=True)
            lasts, last = np.unique([last for _, last in edges], return_inverse=True)
            before[:, :-1] = np.array([[not joined(name, names[i]) for name in names] for i in firsts])[first]
            after[:, :-1] = np.array([[not joined(names[i], name) for name in names] for i in lasts])[last]
        return before, after

    def _threads(self) -> int:
        if self.threads is not None:
            return min(int(self.threads), 1 << 20)
        if hasattr(os, "sched_getaffinity"):
            return len(os.sched_getaffinity(0))
        return os.cpu_count() or 1


def _is_whole(value: Any, least: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, np.integer)) and bool(value >= least)


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _scheme(ids: NDArray[np.int32], sequence_ptr: NDArray[np.int64], labels: LabelSet) -> str | None:
    """The scheme of encoded labels, from the pairs of neighbours that occur."""
    names: list[str | None] = [*labels.names, "O", None]  # the border of a sequence counts as O; -1 is a missing label
    border = len(labels)
    starts = sequence_ptr[:-1][np.diff(sequence_ptr) > 0]
    left = np.concatenate([[border], ids[:-1]]).astype(np.int64)
    left[starts] = border
    last = ids[sequence_ptr[1:][np.diff(sequence_ptr) > 0] - 1]
    # Pairs are counted by one number each; a missing label is counted as the last name.
    size = len(names)
    code = np.append(left, last) % size * size + np.append(ids, np.full(len(last), border)) % size
    counts = np.bincount(code, minlength=size * size)
    return scheme_of_pairs({(names[i // size], names[i % size]): int(counts[i]) for i in np.flatnonzero(counts)})


def _check_found(found: NDArray[np.bool_]) -> None:
    if not found.all():
        raise ConstraintError(f"sentence {int(np.argmin(found))}: the constraints leave no labelling")


def _score(
    gold: NDArray[np.int32],
    predicted: NDArray[np.int32],
    encoded: Encoded,
    counter: SpanCounter | None,
    weights_of_sentences: NDArray[np.float32] | None = None,
) -> float:
    weights = None if weights_of_sentences is None else np.repeat(weights_of_sentences, encoded.lengths)
    if counter is not None and (gold != MISSING).all():
        return counter.f1(gold, predicted, encoded.sequence_ptr, weights)
    there = gold != MISSING
    right = gold[there] == predicted[there]
    counted = np.ones(len(right)) if weights is None else weights[there]
    return float(np.average(right, weights=counted)) if counted.any() else 0.0


__all__ = ["ConfidentSpan", "Constraints", "Reading", "Tagger"]
