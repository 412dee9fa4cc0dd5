"""What a tagger learned, as one value: its reading and writing, and the search by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.annotation.schemes import SCHEMES, spans
from margent.errors import CorpusError
from margent.features.choice import restored_feature_map
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap, restored_strings
from margent.models.fitted import FittedModel, Stored, older_value, restored_training
from margent.models.inputs import as_sentences
from margent.models.labels import LabelSet
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.constraints import Allowed, Restrictions, TagDictionary, allowed_labels
from margent.models.tagger.hidden.weights import HiddenWeights
from margent.models.tagger.label_scheme import Constrain, allowed_pairs
from margent.models.tagger.search import Structure
from margent.models.tagger.support import SupportSet
from margent.models.tagger.weights import Weights
from margent.storage import ModelFile

_KINDS = (ChainWeights.kind, "k-grams", HiddenWeights.kind)
"""What a tagger may learn, by the `kind` of its `Weights`."""

_KEPT = 4
"""So many structures are kept ready: as the parameters say, and what is searched where they leave no labelling."""


def weights_of_kind(kind: str) -> type[Weights]:
    """The weights of that `kind`. Those of k-grams are imported here, since they are built on the tagger's modules."""
    if kind == "k-grams":
        from margent.spectral.weights import KGramWeights

        return KGramWeights
    return HiddenWeights if kind == HiddenWeights.kind else ChainWeights


@dataclass(frozen=True)
class LabelSpace:
    """How tokens may be labelled: the labels, the scheme in which they spell spans, and what words were seen with."""

    labels: LabelSet
    scheme: str | None = None
    dictionary: TagDictionary | None = None

    def allowed(self, X: Any) -> Allowed | None:
        """The labels that each token of some sentences may have; None: any."""
        return None if self.dictionary is None else self.dictionary.allowed(X)


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggerModel(FittedModel):
    """`calibrated_beam`: the width of the beam that the temperature is for, as probabilities are shares among what
    survives a beam; None: for exact sums. `support`: the support sequences, where the learner keeps them."""

    kind: ClassVar[str] = "tagger"

    feature_map: FeatureMap
    space: LabelSpace
    weights: Weights
    calibrated_beam: int | None = None
    support: SupportSet | None = None

    @property
    def labels(self) -> LabelSet:
        return self.space.labels

    @property
    def scheme(self) -> str | None:
        return self.space.scheme

    @property
    def function(self) -> Any:
        return self.feature_map.function

    @property
    def n_features_in(self) -> int | None:
        return self.feature_map.n_dimensions

    # Search

    def encode(self, X: Any, constraints: Any = None, threads: int = 1) -> tuple[Encoded, Restrictions]:
        """Sentences, and the labels that their tokens may have."""
        X = as_sentences(X)
        encoded = self.feature_map.encode(X, threads=threads)
        return encoded, self.restrictions(X, encoded, constraints)

    def restrictions(self, X: Any, encoded: Encoded, constraints: Any) -> Restrictions:
        """The labels that tokens of encoded sentences may have."""
        seen = self.space.allowed(X)
        if constraints is None:
            return Restrictions(seen)
        return Restrictions(seen, *allowed_labels(constraints, encoded.lengths, self.labels, self.scheme))

    def pairs(self, constrain: Constrain) -> NDArray[np.bool_] | None:
        """Which label may follow which; None: any."""
        return allowed_pairs(constrain, self.labels, self.scheme)

    def structure(self, constrain: Constrain, beam: int | None) -> Structure:
        """The weights ready to be searched: made once, also with the restrictions lifted."""
        wanted = constrain if constrain is None or isinstance(constrain, bool) else tuple(map(tuple, constrain)), beam
        ready: dict[Any, Structure] = vars(self).get("_ready", {})
        if wanted not in ready:
            kept = dict(list(ready.items())[1 - _KEPT :])
            vars(self)["_ready"] = ready = kept | {wanted: self.weights.structure(self.pairs(constrain), beam)}
        return ready[wanted]

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        weights, keep, keep_edges = self.weights, None, None
        if self.feature_map.can_drop:  # what weighs nothing changes no score
            weights, keep, keep_edges = weights.without_zero_rows()
        map_header, map_arrays = self.feature_map.stored(keep, keep_edges)
        weight_header, weight_arrays = weights.stored(half=compact)
        dictionary = self.space.dictionary
        header = {
            **map_header,
            **weight_header,
            **self.stored_training(),
            "features": self.feature_map.kind,
            "structure": weights.kind,
            "labels": list(self.labels.names),
            "found_scheme": self.scheme,
            "calibrated_beam": self.calibrated_beam,
            "tag_dictionary": None if dictionary is None else dictionary.min_count,
        }
        arrays = {**map_arrays, **weight_arrays}
        if dictionary is not None:
            words, ends = dictionary.words.dump()
            arrays |= {"dictionary": words, "dictionary.ends": ends, "dictionary.pairs": dictionary.pairs}
        if self.support is not None and not compact:
            support_header, support_arrays = self.support.stored()
            header, arrays = {**header, **support_header}, {**arrays, **support_arrays}
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> TaggerModel:
        labels = LabelSet(file.texts("labels"))
        if not len(labels) or len(labels.ids) != len(labels) + 1:
            raise file.error("its labels should be different from each other, and at least one")
        feature_map = restored_feature_map(file)
        # Files that do not say of what kind their weights are, are older than the other kinds.
        kind = file.value("structure", str, choices=_KINDS) if "structure" in file.header else "chain"
        weights = weights_of_kind(kind).restored(file, len(labels), feature_map)
        space = LabelSpace(labels, _restored_scheme(file, labels), _restored_dictionary(file, len(labels)))
        model = cls(
            **restored_training(file),
            feature_map=feature_map,
            space=space,
            weights=weights,
            calibrated_beam=_restored_beam(file),
            support=SupportSet.restored(file, len(labels)),
        )
        if function is not None:
            feature_map.give_function(function)
        return model


def _older(file: ModelFile, name: str, old_name: str) -> Any:
    """A value of the header that older files have among the parameters, under another name."""
    return file.header[name] if name in file.header else older_value(file, old_name)


def _restored_beam(file: ModelFile) -> int | None:
    width = _older(file, "calibrated_beam", "beam")
    if width is not None and (type(width) is not int or width < 1):
        raise file.error(f"the beam that it is calibrated for should be a width, not {width!r}")
    return width


def _restored_scheme(file: ModelFile, labels: LabelSet) -> str | None:
    if file.header.get("found_scheme") is None:
        return None
    scheme = file.value("found_scheme", str, choices=SCHEMES)
    try:
        spans(labels.names, scheme)
    except CorpusError:
        raise file.error(f"its labels are not in the scheme {scheme}") from None
    return scheme


def _restored_dictionary(file: ModelFile, n_labels: int) -> TagDictionary | None:
    min_count = _older(file, "tag_dictionary", "restrict_labels")
    if min_count is None:
        return None
    if type(min_count) is not int or min_count < 1:
        raise file.error(f"its tag dictionary should have a minimum count of at least 1, not {min_count!r}")
    dictionary = TagDictionary(min_count)
    dictionary.words = restored_strings(file, "dictionary")
    pairs = file.array("dictionary.pairs", np.int64, (None, 3), minimum=0)
    if len(pairs) and (pairs[:, 0].max() >= len(dictionary.words) or pairs[:, 1].max() >= n_labels):
        raise file.error("its tag dictionary names words or labels that it does not have")
    if (np.diff(pairs[:, 0]) < 0).any():
        raise file.error("its tag dictionary is not sorted")
    dictionary.pairs = pairs
    return dictionary
