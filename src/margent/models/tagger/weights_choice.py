"""Which kind of weights a tagger learns, and a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.features.feature_map import FeatureMap
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.hidden.weights import HiddenWeights
from margent.models.tagger.k_grams.weights import KGramWeights
from margent.models.tagger.weights import Weights
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger

_KINDS: dict[str, type[Weights]] = {kind.kind: kind for kind in (ChainWeights, KGramWeights, HiddenWeights)}


def weights_of(tagger: Tagger) -> type[Weights]:
    """Those of the label chain, unless the tagger has hidden labels, or a learner whose `structure` is another."""
    if tagger.hidden > 1:
        return HiddenWeights
    learner, known = tagger._learner(), (ChainWeights.kind, KGramWeights.kind)
    kind = getattr(learner, "structure", ChainWeights.kind)
    if kind not in known:
        raise TypeError(
            f"{type(learner).__name__} is made for the structure {kind!r}, and a tagger has {', '.join(known)}"
        )
    return _KINDS[kind]


def restored_weights(file: ModelFile, n_labels: int, feature_map: FeatureMap) -> Weights:
    """The weights that a model file holds; files that do not say of what kind they are, are older than the others."""
    kind = file.value("structure", str, choices=tuple(_KINDS)) if "structure" in file.header else ChainWeights.kind
    return _KINDS[kind].restored(file, n_labels, feature_map)
