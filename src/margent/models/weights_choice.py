"""Which kind of weights a learner makes, and a model file holds."""

from __future__ import annotations

from typing import Any

from margent.features.feature_map import FeatureMap
from margent.models.chain_weights import ChainWeights
from margent.models.k_gram_weights import KGramWeights
from margent.models.weights import Weights
from margent.storage import ModelFile

_KINDS: dict[str, type[Weights]] = {kind.kind: kind for kind in (ChainWeights, KGramWeights)}


def weights_of(learner: Any) -> type[Weights]:
    """The kind that a learner makes: those of the label chain, unless its `structure` says otherwise."""
    kind = getattr(learner, "structure", ChainWeights.kind)
    if kind not in _KINDS:
        raise TypeError(
            f"{type(learner).__name__} is made for the structure {kind!r}, and a tagger has {', '.join(_KINDS)}"
        )
    return _KINDS[kind]


def restored_weights(file: ModelFile, n_labels: int, feature_map: FeatureMap) -> Weights:
    """The weights that a model file holds; files that do not say of what kind they are, are older than the others."""
    kind = file.value("structure", str, choices=tuple(_KINDS)) if "structure" in file.header else ChainWeights.kind
    return _KINDS[kind].restored(file, n_labels, feature_map)
