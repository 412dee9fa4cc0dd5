"""From scores to probabilities that can be taken at their word: a temperature, fitted on held-out data.

A margin learner makes the right labelling win; how large its scores are means nothing. Probabilities are made from them
as exp(score / T) over the sum of all labellings, and the temperature T is the one number that decides how sure of
themselves they are (Guo et al. 2017, "On calibration of modern neural networks", for classifiers). It does not change
which labelling is best.

`margent.models.temperature` says how T is fitted: over the spans of the best labellings of the held-out sentences (the
tokens, where labels spell no spans), with the confidences that `predict_spans` gives. Why not the
likelihood of the labels, as in training: on CoNLL-2000, CoNLL-2002 Spanish and generated addresses, with three learners
each, the T that is best for the labels of tokens leaves spans up to three times as far off where most tokens are
outside of spans, and the one that is best for whole labellings is worse for tokens and for spans on the others. This
one is the best or close to it for both everywhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.models.inputs import sentence_weights, sentences_and_labels
from margent.models.labels import MISSING
from margent.models.tagger.confident_spans import FoundSpans, spans_of
from margent.models.temperature import fitted_temperature

if TYPE_CHECKING:
    from margent.metrics.calibration import Calibration
    from margent.models.tagger.tagger import Tagger


def fitted_tagger_temperature(tagger: Tagger, X: Any, y: Any, sample_weight: Any = None) -> float | None:
    """The temperature for a fitted tagger on data that it was not trained on; None if no span there can be judged.

    A predicted span can be judged where its tokens and its neighbours are labelled. `sample_weight`: (n_sentences,),
    what each span of a sentence counts.

    Costs one search for the two best labellings and about ten passes for the probabilities.
    """
    encoded, allowed = tagger._encode(X, None)
    extended = tagger._labels.extended(y)
    gold = extended.encode(y, encoded.lengths)
    weights = sentence_weights(sample_weight, encoded.n_sequences)
    if tagger.weights_.n_labels == 1:
        return 1.0
    search = tagger._search(encoded, allowed)
    ids, possible = search.best()
    spans = FoundSpans(search, encoded, ids, tagger._labels, tagger.scheme_)
    names = np.array([*extended.names, None], dtype=object)[gold]  # missing: -1, the last
    judged, right = _judged(spans, [names[a:b].tolist() for a, b in pairwise(encoded.sequence_ptr)], tagger.scheme_)
    counted = np.where(possible, 1.0 if weights is None else weights, 0.0)  # some may have no labelling at all
    counted = counted[np.array([s for s, _ in spans.found], dtype=np.int64)]
    judged &= counted > 0
    if not judged.any():
        return None
    _, scores, counts = search.k_best(2)
    leads = np.array([first - second for (first, second), count in zip(scores, counts) if count == 2])
    return fitted_temperature(
        lambda scale: spans.log_probabilities(scale)[judged], right[judged], counted[judged], leads
    )


def _judged(
    spans: FoundSpans, gold: list[list[str | None]], scheme: str | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(n,) whether it is known that a span is right, and (n,) whether it is; missing labels in `gold` are None."""
    there = [set(spans_of(["O" if name is None else name for name in names], scheme)) for names in gold]
    near = 0 if scheme is None else 1  # neighbours may continue a span
    judged = [None not in gold[s][max(span.start - near, 0) : span.end + near] for s, span in spans.found]
    right = [span in there[s] for s, span in spans.found]
    return np.array(judged, dtype=np.bool_), np.array(right, dtype=np.bool_)


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
