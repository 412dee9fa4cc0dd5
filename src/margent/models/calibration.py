"""From scores to probabilities that can be taken at their word: a temperature, fitted on held-out data.

A margin learner makes the right labelling win; how large its scores are means nothing. Probabilities are made from them
as exp(score / T) over the sum of all labellings, and the temperature T is the one number that decides how sure of
themselves they are (Guo et al. 2017, "On calibration of modern neural networks", for classifiers). It does not change
which labelling is best.

T is where the confidences that `predict_spans` gives have the smallest log loss:

    minimise over T   - sum over right spans of log c(T) - sum over wrong spans of log(1 - c(T)),

over the spans of the best labellings of the held-out sentences (the tokens, where labels spell no spans). Why not the
likelihood of the labels, as in training: on CoNLL-2000, CoNLL-2002 Spanish and generated addresses, with three learners
each, the T that is best for the labels of tokens leaves spans up to three times as far off where most tokens are
outside of spans, and the one that is best for whole labellings is worse for tokens and for spans on the others. This
one is the best or close to it for both everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.choice import feature_map_for
from margent.models.confident_spans import FoundSpans, spans_of
from margent.models.inputs import sentence_weights, sentences_and_labels
from margent.models.labels import MISSING

if TYPE_CHECKING:
    from margent.metrics.calibration import Calibration
    from margent.models.tagger import Tagger

Floats = NDArray[np.float64]

SMALLEST, LARGEST = 1e-30, 1e30  # temperatures beyond these are for no scores that training makes
_SURE = 1 - 1e-12  # closer to 1 a confidence is rounding


def fitted_temperature(tagger: Tagger, X: Any, y: Any, sample_weight: Any = None) -> float | None:
    """The temperature for a fitted tagger on data that it was not trained on; None if no span there can be judged.

    A predicted span can be judged where its tokens and its neighbours are labelled. `sample_weight`: (n_sentences,),
    what each span of a sentence counts. So that a few spans that are all right do not make T zero and every confidence
    1, two more are added, one right and one wrong, both with the mean of all log probabilities (as Platt 1999 does for
    classifiers). T is the same multiple for scores that are multiplied, and 1 if nothing is better.

    Costs one search for the two best labellings and about ten passes for the probabilities.
    """
    encoded, allowed = tagger._encode(X, None)
    extended = tagger._labels.extended(y)
    gold = extended.encode(y, encoded.lengths)
    weights = sentence_weights(sample_weight, encoded.n_sequences)
    if tagger.weights_.n_labels == 1:
        return 1.0
    chain, threads = tagger._chain(), tagger._threads()
    ids, scores = chain.best(encoded.examples(allowed=allowed), threads)
    spans = FoundSpans(chain, encoded, allowed, ids, tagger._labels, tagger.scheme_, threads)
    names = np.array([*extended.names, None], dtype=object)[gold]  # missing: -1, the last
    by_sentence = [names[a:b].tolist() for a, b in zip(encoded.sequence_ptr[:-1], encoded.sequence_ptr[1:])]
    judged, right = _judged(spans, by_sentence, tagger.scheme_)
    sentences = np.array([s for s, _ in spans.found], dtype=np.int64)
    judged &= (scores > -np.inf)[sentences]
    counted = np.ones(len(judged)) if weights is None else weights[sentences].astype(np.float64)
    judged &= counted > 0
    if not judged.any():
        return None
    share = counted[judged] / counted[judged].sum()
    n = int(judged.sum())
    hits = (n * share * right[judged] + share) / (n + 2)
    misses = (n * share * ~right[judged] + share) / (n + 2)

    @cache
    def loss(log_temperature: float) -> float:
        log_c = spans.log_probabilities(2.0**-log_temperature)[judged]
        return -float(hits @ log_c + misses @ np.log1p(-np.minimum(np.exp(log_c), _SURE)))

    _, readings, counts = chain.k_best(encoded.examples(allowed=allowed), 2, threads)
    gaps = np.array([two[0] - two[1] for two, count in zip(readings, counts) if count == 2])
    gaps = gaps[gaps > 0]
    unit = float(np.clip(np.median(gaps), SMALLEST, LARGEST)) if len(gaps) else 1.0
    best = _lowest(loss, float(np.log2(unit)))
    return float(np.clip(2.0**best, SMALLEST, LARGEST)) if loss(best) < loss(0.0) else 1.0


def _judged(
    spans: FoundSpans, gold: list[list[str | None]], scheme: str | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(n,) whether it is known that a span is right, and (n,) whether it is; missing labels in `gold` are None."""
    there = [set(spans_of(["O" if name is None else name for name in names], scheme)) for names in gold]
    near = 0 if scheme is None else 1  # neighbours may continue a span
    judged = [None not in gold[s][max(span.start - near, 0) : span.end + near] for s, span in spans.found]
    right = [span in there[s] for s, span in spans.found]
    return np.array(judged, dtype=np.bool_), np.array(right, dtype=np.bool_)


def _lowest(function: Callable[[float], float], start: float, steps: int = 60) -> float:
    """Where a smooth function with one valley is lowest: steps of 1 downhill, then parabolas through three points.

    Within about 0.002, in about ten evaluations.
    """
    step = 1.0 if function(start + 1) < function(start) else -1.0
    while steps and function(start + step) < function(start):
        start, steps = start + step, steps - 1
    for width in (1.0, 0.25, 0.0625):
        left, middle, right = function(start - width), function(start), function(start + width)
        bend = left - 2 * middle + right
        vertex = start + float(np.clip(width * (left - right) / (2 * bend), -width, width)) if bend > 0 else start
        start = min((vertex, start, start - width, start + width), key=function)
    return start


class HeldOut:
    """The split for `Tagger(calibration=share)`: a share of the labelled sentences, drawn with the tagger's seed."""

    def __init__(self, share: float, seed: int, y: Any) -> None:
        labelled = np.array([i for i, labels in enumerate(y) if any(label is not None for label in labels)], dtype=int)
        if len(labelled) < 2:
            raise CorpusError(
                f"calibration={share} holds out labelled sentences, but there are only {len(labelled)}; "
                "expected at least 2"
            )
        n = min(max(round(share * len(labelled)), 1), len(labelled) - 1)
        drawn = np.random.default_rng(seed).permutation(labelled)[:n]
        self._held = np.sort(drawn)
        self._rest = np.setdiff1d(np.arange(len(y)), drawn)

    def temperature(
        self, tagger: Tagger, X: Any, y: Any, sample_weight: Any, development: tuple[Any, Any], progress: bool | None
    ) -> float | None:
        """The temperature of a tagger like this one, trained without the held-out sentences; None: see above."""
        weights = sentence_weights(sample_weight, len(y))
        held = _part(X, self._held), _part(y, self._held), _part(weights, self._held)
        X, y, weights = _part(X, self._rest), _part(y, self._rest), _part(weights, self._rest)
        parameters = {**tagger.get_params(deep=False), "calibration": None, "scheme": tagger.scheme_}
        other = type(tagger)(**parameters)
        # The labels of the whole: parameters may name some that are only in the sentences held out.
        feature_map = feature_map_for(tagger.features, X)
        other._learn(feature_map, tagger._labels, None, X, y, weights, *development, (), progress, True)
        if other.interrupted_:  # half trained, its scores are not of the size of the other's
            raise KeyboardInterrupt
        return fitted_temperature(other, *held)


def _part(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    """Some of the sentences, in whatever they are kept."""
    if isinstance(sequences, (list, tuple)):
        return [sequences[i] for i in numbers]
    return None if sequences is None else sequences[numbers]


def reliability(
    tagger: Tagger, X: Any, y: Any = None, *, bins: int = 10, equal: str = "width"
) -> dict[str, Calibration]:
    """How far the probabilities of a tagger can be trusted, measured on data with known labels.

    "tokens": the probability of the label that `predict` gives each token, against whether it is right. "spans", where
    the labels spell spans: the confidences of `predict_spans`. `bins` and `equal` as in `calibration_scores`. Tokens
    without a label, and sentences with such tokens for spans, are left out.

    >>> from margent import Tagger, make_addresses
    >>> X, y = make_addresses(400, seed=1)
    >>> tagger = Tagger().fit(X[:300], y[:300], X_dev=X[300:350], y_dev=y[300:350])
    >>> found = reliability(tagger, X[350:], y[350:])
    >>> found["spans"].expected_error < 0.2
    True
    """
    from margent.metrics.calibration import calibration_scores, span_confidences

    X, y = sentences_and_labels(X, y)
    encoded, _ = tagger._encode(X, None)
    gold = tagger._labels.extended(y).encode(y, encoded.lengths)
    columns = {str(name): i for i, name in enumerate(tagger.classes_)}
    predicted = np.array([columns[name] for labels in tagger.predict(X) for name in labels], dtype=np.int64)
    table = np.concatenate([*tagger.predict_marginals(X), np.empty((0, len(columns)))])
    there = gold != MISSING
    confidences = np.minimum(table[np.arange(len(predicted)), predicted][there], 1.0)
    result = {"tokens": calibration_scores(confidences, predicted[there] == gold[there], bins=bins, equal=equal)}
    if tagger.scheme_ is not None:
        pairs = [(list(g), p) for g, p in zip(y, tagger.predict_spans(X)) if None not in g]
        confidences, right = span_confidences([g for g, _ in pairs], [p for _, p in pairs])
        result["spans"] = calibration_scores(np.minimum(confidences, 1.0), right, bins=bins, equal=equal)
    return result
