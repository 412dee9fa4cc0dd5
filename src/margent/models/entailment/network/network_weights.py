"""What a network has learned: its words, its numbers, and what it says of pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.features.feature_map import Stored
from margent.models.contribution import Contribution
from margent.models.entailment.data import PairData
from margent.models.entailment.network.batch import EncodedTrees, PairBatch
from margent.models.entailment.network.forward import Forward, forward
from margent.models.entailment.network.options import Network
from margent.models.entailment.network.oracle import NetworkOracle, one_thread, tensors_of
from margent.models.entailment.network.parameters import Shapes, grown_values, shapes_of, size_of
from margent.models.entailment.network.tree_lstm import torch_module
from margent.models.entailment.network.vocabulary import Vocabulary
from margent.models.entailment.weights import PairDetails
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.models.stored_parameters import restored_value, stored_value
from margent.storage import ModelFile

Doubles = NDArray[np.float64]
_BATCH = 64
"""Pairs that are answered at a time: of similar size, so that rectangles are full."""
MOST_NUMBERS = 1 << 28


@dataclass(frozen=True, eq=False)
class NetworkWeights:
    """`values`: all numbers in the order of `shapes`."""

    name: ClassVar[str] = "network"

    network: Network
    vocabulary: Vocabulary
    n_labels: int
    values: NDArray[np.float32]

    @property
    def dimensions(self) -> int:
        return self.network.words if self.vocabulary.given is None else self.vocabulary.given.dimensions

    @property
    def shapes(self) -> Shapes:
        return shapes_of(self.network, self.dimensions, self.vocabulary.n_learned, self.n_labels)

    @property
    def size(self) -> str:
        words = self.vocabulary.n_learned * self.dimensions
        return f"{len(self.values) - words:,} numbers, and {words:,} of words"

    def grown(self, data: PairData, n_labels: int, grow: bool, seed: int) -> NetworkWeights:
        """With the labels and, where asked, the words of these pairs."""
        vocabulary = self.vocabulary
        if grow:
            sentences = [tree.words for trees in (data.premises, data.hypotheses) for tree in trees]
            vocabulary = vocabulary.grown(sentences, int(self.network.min_count))
        new = replace(self, vocabulary=vocabulary, n_labels=n_labels)
        old = self.shapes if len(self.values) else {}
        start = float(self.network.start)
        return replace(new, values=grown_values(self.values, old, new.shapes, start, seed))

    def with_values(self, values: Any) -> NetworkWeights:
        return replace(self, values=np.asarray(values, dtype=np.float32))

    def encoded(self, data: PairData) -> EncodedTrees:
        return EncodedTrees.of(data, self.vocabulary, self.network.unknown == "spelling")

    def oracle(self, data: PairData, right: NDArray[np.int64], sample_weight: Doubles | None) -> NetworkOracle:
        given = None if self.vocabulary.given is None else self.vocabulary.given.vectors
        encoded = self.encoded(data)
        return NetworkOracle(self.network, self.shapes, self.values, given, encoded, right, sample_weight)

    # What it says

    def label_scores(self, data: PairData, threads: int) -> Doubles:
        return self.scores_of(self.encoded(data))

    def scores_of(self, encoded: EncodedTrees) -> Doubles:
        """(n, L) log-probabilities."""
        scores = np.zeros((len(encoded), self.n_labels))
        for numbers, found in self._answers(encoded):
            scores[numbers] = found.logits.double().log_softmax(1).cpu().numpy()
        return scores

    def details(self, data: PairData, scale: float, threads: int) -> list[PairDetails]:
        details: list[PairDetails | None] = [None] * len(data)
        for numbers, found in self._answers(self.encoded(data)):
            shares = (scale * found.logits.double()).softmax(1).cpu().numpy()
            for place, i in enumerate(numbers.tolist()):
                premise, n_nodes = data.premises[i], data.hypotheses[i].n_nodes
                trees = self.network.encoder == "tree"
                p, q = (premise.n_nodes, n_nodes) if trees else (len(premise), len(data.hypotheses[i]))
                alignment = np.eye(1, p + 1, p).repeat(q, axis=0)  # where nothing is aligned
                if found.alignment is not None:
                    rows = found.alignment[place, :q].double().cpu().numpy()
                    alignment = np.column_stack([rows[:, :p], rows[:, -1]])
                relations = np.repeat(shares[place][None], n_nodes, axis=0)  # where nodes have none of their own
                if found.relations is not None:
                    relations = (scale * found.relations[place, :q].double()).softmax(1).cpu().numpy()
                details[i] = PairDetails(alignment, relations)
        return [each for each in details if each is not None]

    def contributions(self, data: PairData, winner: int, rival: int, labels: Sequence[str]) -> list[Contribution]:
        return []

    def top_features(self, label: int, top: int) -> list[tuple[str, float]]:
        return []

    def _answers(self, encoded: EncodedTrees) -> Iterator[tuple[NDArray[np.int64], Forward]]:
        torch = torch_module()
        data = encoded.data
        sizes = [len(p) * len(h) for p, h in zip(data.premises, data.hypotheses)]
        order = np.argsort(sizes, kind="stable")
        for start in range(0, len(order), _BATCH):
            numbers = order[start : start + _BATCH]
            batch = PairBatch.of(encoded, numbers, self.network.encoder != "tree")
            with one_thread(torch), torch.no_grad():
                found = forward(self.network, self._tensors, self._given, batch)
            yield numbers, found

    @cached_property
    def _tensors(self) -> dict[str, Any]:
        return tensors_of(torch_module().tensor(self.values), self.shapes)

    @cached_property
    def _given(self) -> Any:
        given = self.vocabulary.given
        return None if given is None else torch_module().tensor(given.vectors.astype(np.float32))

    # Files

    def stored(self, compact: bool) -> Stored:
        header = {
            "network": stored_value(self.network),
            "has_given": self.vocabulary.given is not None,
            "half": compact,
        }
        return header, {**self.vocabulary.stored(), "values": stored_numbers(self.values, compact)}

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int) -> NetworkWeights:
        try:
            network = restored_value(file.value("network", dict))
        except (TypeError, ValueError, KeyError) as error:
            raise file.error(f"its network is wrong: {error}") from None
        if not isinstance(network, Network):
            raise file.error("its network should be a Network")
        vocabulary = Vocabulary.restored(file, file.value("has_given", bool))
        empty = cls(network, vocabulary, n_labels, np.zeros(0, np.float32))
        size = size_of(empty.shapes)
        if size > MOST_NUMBERS:
            raise file.error(f"its network should have at most {MOST_NUMBERS:,} numbers, not {size:,}")
        return replace(empty, values=restored_numbers(file, "values", file.value("half", bool), (size,)))
