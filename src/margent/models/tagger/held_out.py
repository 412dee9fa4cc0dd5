"""A temperature for probabilities from sentences that are held out of the training: `Tagger(calibration=0.1)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.models.inputs import sentence_weights
from margent.models.tagger.calibration import fitted_tagger_temperature
from margent.models.tagger.training import Lesson, learn, new_feature_map

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger


def held_out_sentences(tagger: Tagger, y: Any, sample_weight: Any) -> NDArray[np.int64]:
    """For `Tagger(calibration=share)`: a share of the sentences that count and have a label, drawn with its seed."""
    weights = sentence_weights(sample_weight, len(y))
    counting = [
        i
        for i, labels in enumerate(y)
        if (weights is None or weights[i] > 0) and any(label is not None for label in labels)
    ]
    if len(counting) < 2:
        raise CorpusError(
            f"calibration={tagger.calibration} holds out sentences that have a label and a weight above 0; expected at "
            f"least 2 of them, got {len(counting)}"
        )
    n = min(max(round(float(tagger.calibration or 0) * len(counting)), 1), len(counting) - 1)
    return np.sort(np.random.default_rng(tagger.seed).permutation(counting)[:n])


def held_out_temperature(tagger: Tagger, lesson: Lesson, held: NDArray[np.int64]) -> float | None:
    """The temperature of a tagger like this one, trained without the sentences `held` and fitted on them."""
    X, y = lesson.X, lesson.y
    rest = np.setdiff1d(np.arange(len(y)), held)
    weights = sentence_weights(lesson.sample_weight, len(y))
    other = type(tagger)(**{**tagger.get_params(deep=False), "calibration": 0, "scheme": tagger.scheme_})
    part = replace(lesson, X=_part(X, rest), y=_part(y, rest), sample_weight=_part(weights, rest), callbacks=())
    # With the labels of the whole: parameters may name some that are only in the sentences held out.
    learn(other, part, new_feature_map(tagger, part.X), tagger._labels)
    if other.interrupted_:  # half trained, its scores are not of the size of the other's
        raise KeyboardInterrupt
    return fitted_tagger_temperature(other, _part(X, held), _part(y, held), _part(weights, held))


def _part(sequences: Any, numbers: NDArray[np.int64]) -> Any:
    """Some of the sentences, in whatever they are kept."""
    if isinstance(sequences, (list, tuple)):
        return [sequences[i] for i in numbers]
    return None if sequences is None else sequences[numbers]
