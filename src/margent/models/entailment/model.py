"""What an entailment classifier has learned, as one value: its reading and writing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.models.entailment.alignment_weights import AlignmentWeights
from margent.models.entailment.data import PairData
from margent.models.entailment.network.network_weights import NetworkWeights
from margent.models.entailment.weights import EntailmentWeights
from margent.models.fitted import FittedModel, Stored, restored_training
from margent.storage import ModelFile

MOST_LABELS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class EntailmentModel(FittedModel):
    """`labels`: their names, in the order of their numbers."""

    kind: ClassVar[str] = "entailment"

    labels: tuple[str, ...]
    weights: EntailmentWeights

    def label_scores(self, data: PairData, threads: int) -> NDArray[np.float64]:
        return self.weights.label_scores(data, threads)

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        header, arrays = self.weights.stored(compact)
        own = {"labels": list(self.labels), "weights": self.weights.name}
        return {**header, **self.stored_training(), **own}, arrays

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> EntailmentModel:
        if function is not None:
            raise ValueError("an entailment classifier has no function; leave out `function`")
        labels = file.texts("labels")
        if not labels or len(labels) > MOST_LABELS or len(set(labels)) < len(labels) or "" in labels:
            raise file.error(f"its labels should be different texts, at least 1 and at most {MOST_LABELS:,}")
        kinds: dict[str, Any] = {each.name: each for each in (AlignmentWeights, NetworkWeights)}
        weights: EntailmentWeights = kinds[file.value("weights", str, choices=tuple(kinds))].restored(file, len(labels))
        return cls(**restored_training(file), labels=tuple(labels), weights=weights)
