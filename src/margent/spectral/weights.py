"""The weights of a tagger of symbols: a table of scores of k-grams, and its place in a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import ConstraintError, CorpusError
from margent.features.encoded import Encoded
from margent.features.feature_map import FeatureMap
from margent.models.beam import Beam
from margent.models.contribution import Contribution
from margent.models.labels import MISSING
from margent.models.stored_numbers import LARGEST, restored_numbers, stored_numbers
from margent.models.tagger.tagged_data import TaggedData
from margent.models.tagger.weights import Comparison, Trainable, Weights
from margent.spectral.bi_symbols import UNSEEN, BiSymbols
from margent.spectral.hankel_basis import HankelBasis
from margent.spectral.k_gram_oracle import KGramOracle
from margent.spectral.k_gram_table import KGramTable
from margent.spectral.operator_model import OperatorModel
from margent.spectral.symbol_map import UNKNOWN, SymbolMap, symbol_numbers
from margent.spectral.tagging import BOUNDARY, KGramStructure, with_boundaries
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.tagger.problem import TaggerProblem
    from margent.models.tagger.tagger import Tagger

Integers = NDArray[np.int64]

_LONGEST = 16
_MOST = 2**31
_MOST_FROM_OPERATORS = 2**24


@dataclass(frozen=True, eq=False)
class KGramWeights(Weights):
    """Scores of k-grams of bi-symbols: pairs (number of a symbol, number of a label), of L labels.

    Sequences have k - 1 boundaries on both sides, the bi-symbol (BOUNDARY, BOUNDARY), so that k-grams can tell where
    one begins and ends, and each symbol stands in k of them.

    table : the scores, of length k alone or of all lengths from 0 to k; they fit into 32 bits each
    label_counts : (L,) how often each label was seen in training; the most frequent is that of unknown symbols
    operators : the operator model that gives the scores of the table, where they are its scores; what is stored then
    """

    kind: ClassVar[str] = "k-grams"
    order: ClassVar[int] = 1  # type: ignore[misc]  # of the tagger, which leaves the length of k-grams to the learner

    n_labels: int
    table: KGramTable
    label_counts: Integers
    operators: OperatorModel | None = None

    def recovered(self) -> KGramWeights:
        """With the operators that are recovered from the table, as many as its rank, and the scores that these give."""
        model = self.table.operators(self.table.rank() or 1)
        table = KGramTable.from_operators(model, self.table.scores, self.table.bi_symbols)
        return replace(self, table=table, operators=model)

    @property
    def n_boundaries(self) -> int:
        return max(self.table.scores) - 1

    @property
    def most_frequent_label(self) -> int:
        return int(np.argmax(self.label_counts))

    @cached_property
    def labels_of_bi_symbols(self) -> Integers:
        """(m + 1,) the label of each bi-symbol; L for the boundary; and last, also UNSEEN, the most frequent."""
        labels = [self.n_labels if label == BOUNDARY else label for _, label in self._pairs]
        return np.array([*labels, self.most_frequent_label], dtype=np.int64)

    @property
    def _pairs(self) -> Sequence[tuple[int, int]]:
        return self.table.bi_symbols.symbols  # type: ignore[return-value]

    # Learning

    @classmethod
    def check(cls, tagger: Tagger, learner: Any) -> None:
        """What the chain can do and this cannot."""
        who, source = type(learner).__name__, tagger.resolved("features").source
        if source is not None and not (isinstance(source, str) and source == SymbolMap.kind):
            raise ValueError(
                f"{who} learns from symbols, the tokens as they are: features should be None or 'symbols', "
                f"got {source!r}"
            )
        if tagger.order != 1:
            raise ValueError(
                f"order is {tagger.order}, but how far back {who} looks is for the learner to say: leave order at 1, "
                f"and give {who}(order=...), the symbols in a k-gram"
            )
        if tagger.tag_dictionary is not None:
            raise ValueError(f"tag_dictionary is not for {who}, which gives a symbol only labels that it was seen with")
        if tagger.label_costs:
            raise ValueError(f"label_costs are not for {who}, to which all mistakes cost the same")
        if isinstance(tagger.search, Beam):
            raise ValueError(f"search={tagger.search!r} is for label chains; k-grams are searched exactly")

    @classmethod
    def feature_map(cls, source: Any, X: Any) -> SymbolMap:
        return SymbolMap()

    @classmethod
    def trainable(cls, problem: TaggerProblem, start: KGramWeights | None) -> Trainable:
        data, learner = problem.data, problem.learner
        _check_data(learner, data)
        n_boundaries, n_labels = int(learner.order) - 1, len(problem.space.labels)
        symbols = _symbols_to_learn(data)
        sequences = list(pairwise(data.encoded.sequence_ptr.tolist()))
        X = [with_boundaries(symbols[a:b], n_boundaries) for a, b in sequences]
        y = [with_boundaries(data.ids[a:b], n_boundaries) for a, b in sequences]
        counts = np.bincount(data.ids, minlength=n_labels)
        if start is not None:
            _check_same_k_grams(learner, start)
            counts[: start.n_labels] += start.label_counts
        seen = BiSymbols.observed(X, y)
        known = () if start is None else start._pairs
        bi_symbols = BiSymbols(dict.fromkeys([*known, *seen.symbols]), int(np.argmax(counts)))
        oracle = KGramOracle(X, y, bi_symbols)
        if start is not None:
            oracle.start_from(_enlarged(start.table.scores, len(bi_symbols)))

        def weights(scores: Mapping[int, NDArray[np.float64]]) -> KGramWeights:
            rounded = {length: array.astype(np.float32) for length, array in scores.items()}
            found = cls(n_labels, KGramTable(bi_symbols, rounded), counts)
            return found.recovered() if learner.recover else found

        return Trainable(oracle, weights)

    def without_zero_rows(self) -> tuple[KGramWeights, None, None]:
        return self, None, None

    def structure(self, pairs: NDArray[np.bool_] | None, beam: int | None = None) -> KGramStructure:
        if beam is not None:
            raise ValueError(f"a beam of {beam} is for label chains; k-grams are searched exactly")
        return KGramStructure(self, pairs)

    # What was learned

    def named_table(self, feature_map: FeatureMap, names: Sequence[str]) -> KGramTable:
        """The table over symbols and labels by name; the boundary is (None, None)."""
        pairs = [(None, None) if s == BOUNDARY else (feature_map.name(s), names[label]) for s, label in self._pairs]
        return KGramTable(BiSymbols(pairs, names[self.most_frequent_label]), self.table.scores)

    def margin_breakdown(self, feature_map: FeatureMap, compared: Comparison) -> tuple[float, list[Contribution]]:
        """The parts are all k-grams in which the token stands."""
        x = with_boundaries(symbol_numbers(compared.encoded), self.n_boundaries)
        outputs = [with_boundaries(labels, self.n_boundaries) for labels in (compared.winner, compared.rival)]
        numbers = [self.table.bi_symbols.numbers(x, y) for y in outputs]
        place = compared.position + self.n_boundaries
        if numbers[1][place] == UNSEEN:
            raise ConstraintError("the symbol was never seen with the label of the rival")
        total, parts = 0.0, []
        for length, scores in self.table.scores.items():
            for t in range(length, len(x) + 1) if length else ():
                window = slice(t - length, t)
                won, lost = (_score(scores, own[window]) for own in numbers)
                total += won - lost
                if window.start <= place < window.stop:
                    inputs = _shown(feature_map.name, x[window])
                    first, second = (_shown(compared.names.__getitem__, y[window]) for y in outputs)
                    parts.append(Contribution(f"{inputs}: {first} rather than {second}", won - lost))
        return total, parts

    def top_features(self, feature_map: FeatureMap, names: list[str], label: int, n: int) -> list[tuple[str, float]]:
        """K-grams that end with the label."""
        own = np.flatnonzero(self.labels_of_bi_symbols[:-1] == label)
        found: list[tuple[float, tuple[int, ...]]] = []
        for length, scores in self.table.scores.items():
            if length:
                flat = np.where(self._possible(length), scores, 0.0)[..., own].ravel()
                for i in _ends(flat, n):
                    *before, last = np.unravel_index(i, (*scores.shape[:-1], len(own)))
                    found.append((float(flat[i]), (*map(int, before), int(own[last]))))
        found = [item for item in sorted(found, key=lambda item: (-item[0], item[1])) if item[0] != 0]
        chosen = found if len(found) <= 2 * n else found[:n] + found[-n:]
        return [(self._gram_name(gram, feature_map, names), score) for score, gram in chosen]

    def _possible(self, length: int) -> NDArray[np.bool_]:
        """(m, ..., m) whether a k-gram can end within a sequence: without a boundary after a symbol."""
        boundary = self.labels_of_bi_symbols[:-1] == self.n_labels
        possible = np.ones((len(boundary),) * length, dtype=bool)
        for t in range(1, length):
            before, after = (
                np.expand_dims(x, tuple({*range(length)} - {i})) for x, i in ((boundary, t - 1), (boundary, t))
            )
            possible &= before | ~after
        return possible

    def _gram_name(self, gram: Sequence[int], feature_map: FeatureMap, names: list[str]) -> str:
        symbols, labels = zip(*(self._pairs[i] for i in gram))
        return f"{_shown(feature_map.name, symbols)}: {_shown(names.__getitem__, labels)}"

    def top_transitions(self, names: list[str], n: int) -> list[tuple[str, str, float]]:
        raise ValueError(
            "this tagger has no transitions between labels: it scores k-grams of symbols and labels together, which "
            "top_features shows"
        )

    # Storage

    def stored(self, *, half: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {
            "bi_symbols": np.array(self._pairs, dtype=np.int32),
            "label_counts": self.label_counts,
        }
        longest = max(self.table.scores)
        model = self.operators if len(self._pairs) ** longest <= _MOST_FROM_OPERATORS else None
        if model is not None:
            kind = _operator_type(half)
            arrays["initial"], arrays["final"] = model.initial.astype(kind), model.final.astype(kind)
            arrays["operators"] = np.array([model.operators[pair] for pair in self._pairs], dtype=kind)
        else:
            for length, scores in self.table.scores.items():
                arrays[f"k_grams{length}"] = stored_numbers(scores.ravel(), half)
        header = {"longest": longest, "shorter": 0 in self.table.scores, "half": half, "recovered": model is not None}
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int, feature_map: FeatureMap) -> KGramWeights:
        if not isinstance(feature_map, SymbolMap):
            raise file.error(f"its k-grams should be of symbols, not of {feature_map.kind}")
        longest, shorter = file.value("longest", int, minimum=1, maximum=_LONGEST), file.value("shorter", bool)
        pairs = file.array("bi_symbols", np.int32, (None, 2))
        inner = pairs[~(pairs == BOUNDARY).all(axis=1)]
        limits = (feature_map.n_unigrams, n_labels)
        if (
            (inner < 0).any()
            or (inner >= limits).any()
            or len(np.unique(pairs, axis=0)) != len(pairs)
            or not len(inner)
        ):
            raise file.error("its bi-symbols should be different pairs of symbols and labels that it has")
        half = file.value("half", bool)
        if len(pairs) ** longest >= _MOST:
            raise file.error(f"{len(pairs)} bi-symbols are too many for {longest}-grams")
        lengths = HankelBasis(len(pairs), longest, shorter).lengths
        counts = file.array("label_counts", np.int64, (n_labels,), minimum=0)
        bi_symbols = BiSymbols([(int(symbol), int(label)) for symbol, label in pairs], int(np.argmax(counts)))
        if file.value("recovered", bool):
            model, table = _restored_operators(file, half, bi_symbols, lengths)
            return cls(n_labels, table, counts, model)
        scores = {}
        for length in lengths:
            flat = restored_numbers(file, f"k_grams{length}", half, (len(pairs) ** length,))
            scores[length] = flat.reshape((len(pairs),) * length)
        return cls(n_labels, KGramTable(bi_symbols, scores), counts)


def _operator_type(half: bool) -> type[Any]:
    """Operators of scores that are nearly of lower rank are large and cancel out: they need more digits than scores."""
    return np.float32 if half else np.float64


def _restored_operators(
    file: ModelFile, half: bool, bi_symbols: BiSymbols, lengths: range
) -> tuple[OperatorModel, KGramTable]:
    m = len(bi_symbols)
    if m ** lengths[-1] > _MOST_FROM_OPERATORS:  # a small file should not ask for much memory
        raise file.error(f"{m} bi-symbols are too many for {lengths[-1]}-grams by operators")
    kind = _operator_type(half)
    initial = file.array("initial", kind, (None,), minimum=-LARGEST, maximum=LARGEST)
    n = len(initial)
    final = file.array("final", kind, (n,), minimum=-LARGEST, maximum=LARGEST)
    operators = file.array("operators", kind, (m, n, n), minimum=-LARGEST, maximum=LARGEST)
    model = OperatorModel(initial, final, dict(zip(bi_symbols.symbols, operators)))
    with np.errstate(all="ignore"):
        if any(not (np.abs(model.k_gram_scores(length)) <= LARGEST).all() for length in lengths):
            raise file.error(f"its operators give scores beyond {LARGEST:g}")
    return model, KGramTable.from_operators(model, lengths, bi_symbols)


def _check_data(learner: Any, data: TaggedData) -> None:
    who = type(learner).__name__
    if data.sample_weight is not None and (data.sample_weight != 1).any():
        raise ValueError(f"sample_weight is not for {who}, to which all sentences count the same")
    if (data.ids == MISSING).any():
        s, t = _place(data.encoded, int(np.argmax(data.ids == MISSING)))
        raise CorpusError(f"sentence {s}, token {t} has no label, and {who} needs one for each token")


def _check_same_k_grams(learner: Any, start: KGramWeights) -> None:
    """Scores to continue from must be of the k-grams that the learner scores."""
    scores = start.table.scores
    order, loss = max(scores), "up-to-k" if 0 in scores else "k"
    if (learner.order, learner.loss) != (order, loss):
        raise ValueError(
            f"the learner has order={learner.order} and loss={learner.loss!r} now, but this Tagger was fitted with "
            f"order={order} and loss={loss!r}: partial_fit continues as training began; to change them, start anew "
            "with fit"
        )


def _symbols_to_learn(data: TaggedData) -> Integers:
    symbols = symbol_numbers(data.encoded)
    if (symbols == UNKNOWN).any():
        s, t = _place(data.encoded, int(np.argmax(symbols == UNKNOWN)))
        raise CorpusError(
            f"sentence {s}, token {t} is a symbol that min_count or freeze_features leaves out, and this learner needs "
            "all of them"
        )
    return symbols


def _place(encoded: Encoded, token: int) -> tuple[int, int]:
    s = int(np.searchsorted(encoded.sequence_ptr, token, side="right")) - 1
    return s, token - int(encoded.sequence_ptr[s])


def _enlarged(scores: Mapping[int, NDArray[np.float64]], size: int) -> dict[int, NDArray[np.float64]]:
    """The same scores over more bi-symbols: the new ones come after the old ones, and score 0."""
    return {
        length: np.pad(array, [(0, size - side) for side in array.shape]) if length else array
        for length, array in scores.items()
    }


def _score(scores: NDArray[np.float64], gram: Integers) -> float:
    return 0.0 if (gram == UNSEEN).any() else float(scores[tuple(gram)])


def _ends(values: NDArray[np.float64], n: int) -> list[int]:
    """Where the n largest and the n smallest values are, each once."""
    if len(values) <= 2 * n:
        return list(range(len(values)))
    parted = np.argpartition(values, [n, len(values) - n])
    return [*parted[:n].tolist(), *parted[-n:].tolist()]


def _shown(name: Any, numbers: Sequence[int]) -> str:
    return " ".join("(boundary)" if i == BOUNDARY else "?" if i < 0 else name(i) for i in numbers)
