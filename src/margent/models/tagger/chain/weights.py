"""The weights of a trained label chain: arrays, their native view, their growth, their place in a model file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.choice import feature_map_for
from margent.features.feature_map import FeatureMap, Mask
from margent.models.contribution import Contribution
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.models.tagger.chain.explanation import chain_margin_breakdown, chain_top_features
from margent.models.tagger.chain.search import ChainStructure
from margent.models.tagger.chain.sparse_rows import Floats, SparseRows
from margent.models.tagger.weights import LONGEST_ORDER, Comparison, Trainable, Weights
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.problem import TaggerProblem

# Above this many bytes of feature weights in training, only the weights that are touched are kept.
_DENSE_LIMIT = 1 << 30

_LARGEST_BEAM = 1 << 30


@dataclass(frozen=True)
class ChainWeights(Weights):
    """All weights of a chain of order k over L labels, B = L + 1, rows padded to `width` columns.

    unigrams : (n_features, width), or SparseRows
        feature x label
    edges : SparseRows with columns previous label * width + label, or None
        feature x previous label x label; previous label L stands for the start
    transitions : k arrays (B^j, width), j = 1 .. k
        label after each history of j labels (base-B numbers, the digit L being the start)
    ends : k arrays (B^(j-1), width), j = 1 .. k
        ending after a history of j labels, the last of them being the column
    """

    kind: ClassVar[str] = "chain"

    n_labels: int
    order: int
    unigrams: Floats | SparseRows
    edges: SparseRows | None
    transitions: list[Floats]
    ends: list[Floats]

    @classmethod
    def feature_map(cls, source: Any, X: Any) -> FeatureMap:
        return feature_map_for(source, X)

    @classmethod
    def trainable(cls, problem: TaggerProblem, start: ChainWeights | None) -> Trainable:
        data, labels, order = problem.data, problem.space.labels, problem.order
        examples = data.encoded.examples(data.ids, data.sample_weight, data.allowed)
        oracle = chain_oracle(problem, examples, len(labels), problem.costs, start)
        return Trainable(oracle, lambda exported: cls.from_oracle(len(labels), order, exported))

    @classmethod
    def from_oracle(cls, n_labels: int, order: int, exported: dict[str, Any]) -> ChainWeights:
        unigrams, edges = exported["unigrams"], exported["edges"]
        return cls(
            n_labels,
            order,
            SparseRows(*unigrams) if isinstance(unigrams, tuple) else unigrams,
            None if edges is None else SparseRows(*edges),
            list(exported["transitions"]),
            list(exported["ends"]),
        )

    def for_oracle(self) -> dict[str, Any]:
        """In the form in which a training oracle starts from given weights."""
        return {
            "unigrams": self.unigrams.arrays if isinstance(self.unigrams, SparseRows) else self.unigrams,
            "edges": None if self.edges is None else self.edges.arrays,
            "transitions": self.transitions,
            "ends": self.ends,
        }

    @property
    def width(self) -> int:
        return _core.padded_width(self.n_labels)

    @property
    def sparse(self) -> bool:
        return isinstance(self.unigrams, SparseRows)

    @property
    def n_features(self) -> int:
        return len(self.unigrams.ptr) - 1 if isinstance(self.unigrams, SparseRows) else len(self.unigrams)

    @property
    def n_edge_features(self) -> int:
        return 0 if self.edges is None else len(self.edges.ptr) - 1

    @property
    def n_weights(self) -> int:
        """How many weights are not zero."""
        rows = self.unigrams.weights if isinstance(self.unigrams, SparseRows) else self.unigrams
        parts = [rows, *self.transitions, *self.ends] + ([self.edges.weights] if self.edges is not None else [])
        return int(sum(np.count_nonzero(part) for part in parts))

    def label_weights(self, feature: int) -> Floats:
        """(L,) the weights of a feature."""
        row = (
            self.unigrams.row(feature, self.width) if isinstance(self.unigrams, SparseRows) else self.unigrams[feature]
        )
        return row[: self.n_labels]

    def entries(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Feature, label and weight of each feature weight that is not zero, by features."""
        if isinstance(self.unigrams, SparseRows):
            ptr, columns, weights = self.unigrams.arrays
            there = np.flatnonzero(weights[: ptr[-1]])
            rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
            return rows[there], columns[there].astype(np.int64), weights[there]
        features, labels = np.nonzero(self.unigrams[:, : self.n_labels])
        return features, labels, self.unigrams[features, labels]

    def edge_weights(self, feature: int) -> Floats:
        """(L + 1, L) the weights of an edge feature by previous label and label."""
        assert self.edges is not None
        row = self.edges.row(feature, (self.n_labels + 1) * self.width)
        return row.reshape(self.n_labels + 1, self.width)[:, : self.n_labels]

    def totals(self) -> tuple[Floats, Floats]:
        """Transitions (B^k, width) and ends (B^(k-1), width): the levels added up."""
        return _add_levels(self.transitions), _add_levels(self.ends)

    def structure(self, pairs: NDArray[np.bool_] | None, beam: int | None = None) -> ChainStructure:
        return ChainStructure(self, pairs, beam, self.native(pairs, beam=beam))

    def native(
        self,
        allowed: NDArray[np.bool_] | None = None,
        unigrams: Floats | SparseRows | None = None,
        beam: int | None = None,
    ) -> _core.LinearChain:
        """The frozen native chain. `allowed` (B, B): which label may follow which; row L: start, column L: end.

        `unigrams`: other feature weights instead of these. `beam`: how many states survive at each token.
        """
        transitions, ends = self.totals()
        if allowed is not None:
            labels, previous = self.n_labels, np.arange(len(transitions)) % (self.n_labels + 1)
            transitions = transitions.copy()
            transitions[:, :labels][~allowed[previous][:, :labels]] = -np.inf
            ends = ends.copy()
            ends[:, :labels][:, ~allowed[:labels, labels]] = -np.inf
        arrays = (self if unigrams is None else replace(self, unigrams=unigrams)).for_oracle()
        rows = arrays["unigrams"], arrays["edges"]
        return _core.LinearChain(self.n_labels, self.order, *rows, transitions, ends, min(beam or 0, _LARGEST_BEAM))

    def with_features(self, n_features: int, n_edges: int) -> ChainWeights:
        """The same weights over more features: the new ones come after the old ones, with weight 0."""
        unigrams = self.unigrams
        if isinstance(unigrams, SparseRows):
            unigrams = _more_rows(unigrams, n_features)
        elif len(unigrams) < n_features:
            unigrams = np.pad(unigrams, ((0, n_features - len(unigrams)), (0, 0)))
        edges = self.edges
        if n_edges:
            empty = SparseRows(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))
            edges = _more_rows(edges or empty, n_edges)
        return ChainWeights(self.n_labels, self.order, unigrams, edges, self.transitions, self.ends)

    def with_labels(self, n_labels: int) -> ChainWeights:
        """The same weights over more labels: the new ones come after the old ones, with weight 0."""
        if n_labels == self.n_labels:
            return self
        width = _core.padded_width(n_labels)
        unigrams = self.unigrams
        if not isinstance(unigrams, SparseRows):
            wider = np.zeros((len(unigrams), width), dtype=np.float32)
            wider[:, : self.n_labels] = unigrams[:, : self.n_labels]
            unigrams = wider
        edges = self.edges
        if edges is not None:
            previous, label = np.divmod(edges.columns, self.width)
            previous = np.where(previous == self.n_labels, n_labels, previous)
            edges = SparseRows(edges.ptr, (previous * width + label).astype(np.int32), edges.weights)
        return ChainWeights(
            n_labels,
            self.order,
            unigrams,
            edges,
            [self._respread(level, j + 1, n_labels, width) for j, level in enumerate(self.transitions)],
            [self._respread(level, j, n_labels, width) for j, level in enumerate(self.ends)],
        )

    def _respread(self, level: Floats, digits: int, n_labels: int, width: int) -> Floats:
        """A table over histories of `digits` labels, spread over more labels; the start stays the last digit."""
        old = level.reshape((self.n_labels + 1,) * digits + (self.width,))[..., : self.n_labels]
        new = np.zeros((n_labels + 1,) * digits + (width,), dtype=np.float32)
        digit = np.append(np.arange(self.n_labels), n_labels)
        new[np.ix_(*[digit] * digits, np.arange(self.n_labels))] = old
        return new.reshape(-1, width)

    def margin_breakdown(self, feature_map: FeatureMap, compared: Comparison) -> tuple[float, list[Contribution]]:
        return chain_margin_breakdown(self, feature_map, compared)

    def top_features(self, feature_map: FeatureMap, names: list[str], label: int, n: int) -> list[tuple[str, float]]:
        return chain_top_features(self, feature_map, label, n)

    def top_transitions(self, names: list[str], n: int) -> list[tuple[str, str, float]]:
        matrix = self.transitions[0][: len(names), : len(names)]
        order = np.argsort(-matrix, axis=None, kind="stable")
        chosen = order if len(order) <= 2 * n else np.concatenate([order[:n], order[-n:]])
        pairs = (divmod(int(i), len(names)) for i in chosen)
        return [(names[i], names[j], float(matrix[i, j])) for i, j in pairs]

    def stored(self, *, half: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header entries and arrays for a model file; `half`: feature weights in 16 bits."""
        header = {"order": self.order, "layout": "sparse" if self.sparse else "dense", "half": half}
        arrays: dict[str, NDArray[Any]] = {}
        if isinstance(self.unigrams, SparseRows):
            arrays |= _stored_rows("weights", self.unigrams, half)
        else:
            arrays["weights"] = stored_numbers(self.unigrams, half)
        if self.edges is not None:
            arrays |= _stored_rows("edge_weights", self.edges, half)
        for j in range(self.order):
            arrays[f"transitions{j + 1}"] = self.transitions[j]
            arrays[f"ends{j + 1}"] = self.ends[j]
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int, feature_map: FeatureMap) -> ChainWeights:
        n_features, n_edges = feature_map.n_unigrams, feature_map.n_edges
        order = file.value("order", int, minimum=1, maximum=LONGEST_ORDER)
        half = file.value("half", bool)
        width, base = _core.padded_width(n_labels), n_labels + 1
        if base**order * width > 2**31:
            raise file.error(f"{n_labels} labels are too many for a chain of order {order}")
        unigrams: Floats | SparseRows
        if file.value("layout", str, choices=("dense", "sparse")) == "sparse":
            unigrams = _restored_rows(file, "weights", half, n_features, width)
        else:
            unigrams = restored_numbers(file, "weights", half, (n_features, width))
        edges = _restored_rows(file, "edge_weights", half, n_edges, base * width) if n_edges else None
        levels = range(1, order + 1)
        transitions = [restored_numbers(file, f"transitions{j}", False, (base**j, width)) for j in levels]
        ends = [restored_numbers(file, f"ends{j}", False, (base ** (j - 1), width)) for j in levels]
        return cls(n_labels, order, unigrams, edges, transitions, ends)

    def without_zero_rows(self) -> tuple[ChainWeights, Mask, Mask]:
        """The same weights without the features that have none, and which features (and edge features) were kept."""
        if isinstance(self.unigrams, SparseRows):
            keep = np.diff(self.unigrams.ptr) > 0
            unigrams: Floats | SparseRows = _kept(self.unigrams, keep)
        else:
            keep = np.asarray(self.unigrams.any(axis=1))
            unigrams = self.unigrams[keep]
        keep_edges = np.zeros(0, dtype=bool) if self.edges is None else np.diff(self.edges.ptr) > 0
        edges = None if self.edges is None else _kept(self.edges, keep_edges)
        return ChainWeights(self.n_labels, self.order, unigrams, edges, self.transitions, self.ends), keep, keep_edges


def chain_oracle(
    problem: TaggerProblem,
    examples: _core.Examples,
    n_labels: int,
    costs: list[float],
    start: ChainWeights | None,
) -> _core.ChainOracle:
    """For the training of a chain of so many labels. `start`: the weights to begin with, which may be of fewer features
    and labels."""
    feature_map, beam = problem.feature_map, problem.beam
    oracle = _core.ChainOracle(
        examples,
        n_labels,
        problem.order,
        feature_map.label_transitions,
        feature_map.n_unigrams,
        feature_map.n_edges,
        _sparse(problem.layout, feature_map, n_labels) if start is None else start.sparse,
        costs,
        feature_map.kernel,
        feature_map.cache_bytes,
    )
    if start is not None:
        grown = start.with_features(feature_map.n_unigrams, feature_map.n_edges).with_labels(n_labels)
        oracle.start_from(grown.for_oracle())
    if beam is not None:
        oracle.set_beam(min(int(beam.width), _LARGEST_BEAM), getattr(_core.BeamUpdate, beam.update.replace("-", "_")))
    return oracle


def _sparse(layout: str, feature_map: FeatureMap, n_labels: int) -> bool:
    if feature_map.kernel is not None:  # few observations beside the rows of their kernel
        return False
    size = 2 * 4 * feature_map.n_unigrams * _core.padded_width(n_labels)  # weights and their sums, in bytes
    return layout == "sparse" or (layout == "auto" and size > _DENSE_LIMIT)


def _add_levels(levels: list[Floats]) -> Floats:
    """Each level tells histories by their last labels only, so it repeats over the longer histories."""
    total = levels[-1]
    for level in levels[:-1]:
        total = (total.reshape(-1, *level.shape) + level).reshape(total.shape)
    return np.ascontiguousarray(total)


def _more_rows(rows: SparseRows, n_rows: int) -> SparseRows:
    added = np.full(n_rows + 1 - len(rows.ptr), rows.ptr[-1])
    return SparseRows(np.concatenate([rows.ptr, added]), rows.columns, rows.weights)


def _kept(rows: SparseRows, keep: NDArray[np.bool_]) -> SparseRows:
    ptr = np.append(np.int64(0), rows.ptr[1:][keep])
    return SparseRows(ptr, rows.columns, rows.weights)


def _stored_rows(name: str, rows: SparseRows, half: bool) -> dict[str, NDArray[Any]]:
    return {
        f"{name}.ptr": rows.ptr,
        f"{name}.columns": rows.columns,
        f"{name}.values": stored_numbers(rows.weights, half),
    }


def _restored_rows(file: ModelFile, name: str, half: bool, n_rows: int, width: int) -> SparseRows:
    columns = file.array(f"{name}.columns", np.int32, (None,), minimum=0, maximum=width - 1)
    values = restored_numbers(file, f"{name}.values", half, (len(columns),))
    return SparseRows(file.row_starts(f"{name}.ptr", len(columns), n_rows), columns, values)
