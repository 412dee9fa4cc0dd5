"""Which kind of weights a tagger learns, and a model file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.capability import Capability, chain_structure
from margent.features.feature_map import FeatureMap
from margent.features.kernel import Kernel
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.hidden.weights import HiddenWeights
from margent.models.tagger.k_grams.weights import KGramWeights
from margent.models.tagger.weights import Weights
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger

_KINDS: dict[str, type[Weights]] = {kind.kind: kind for kind in (ChainWeights, KGramWeights, HiddenWeights)}


def weights_of(tagger: Tagger) -> type[Weights]:
    """Those of the label chain, unless the tagger has hidden labels, or a learner that needs tables of k-grams."""
    if tagger.hidden > 1:
        return HiddenWeights
    return KGramWeights if Capability.K_GRAM_HINGE in tagger._learner().needs else ChainWeights


def structure_of(tagger: Tagger) -> str:
    """The name of the structure that a tagger learns with, which says what it can do for a learner."""
    if weights_of(tagger) is KGramWeights:
        return "k-grams"
    return chain_structure(
        beam=tagger.beam is not None, hidden=tagger.hidden > 1, kernel=isinstance(tagger.features, Kernel)
    )


def restored_weights(file: ModelFile, n_labels: int, feature_map: FeatureMap) -> Weights:
    """The weights that a model file holds; files that do not say of what kind they are, are older than the others."""
    kind = file.value("structure", str, choices=tuple(_KINDS)) if "structure" in file.header else ChainWeights.kind
    return _KINDS[kind].restored(file, n_labels, feature_map)
