"""The feature map of a kernel: each distinct observation is one feature, and features have things in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.attribute_map import AttributeMap, VectorMap
from margent.features.encoded import Encoded, FloatArray, IntArray
from margent.features.feature_map import FeatureMap, KernelRows, Mask, Stored
from margent.features.kernel import Kernel
from margent.features.observations import NOTHING, DenseVectors, KeptRows, Observations, SparseVectors, TokenVectors
from margent.features.spectrum_map import SpectrumMap
from margent.features.template_map import TemplateMap
from margent.features.token_matrix import TokenMatrix
from margent.formats.columns import Columns
from margent.storage import ModelFile, string_arrays

_BLOCK_BYTES = 64 << 20  # of kernel values at once, in prediction
_MOST_ROWS = 256
_MOST_MEGABYTES = float(1 << 40)  # as bytes still a number of 64 bits
_MOST_SCORE = 1e25  # as large as a weight may be: with these the score of a long sequence is still a finite number
_KEPT_SHARE = 8  # one part in so many of the cache is for rows of tokens, the others for rows of observations
_SHOWN = 3  # attributes in the name of an observation


@dataclass(frozen=True)
class KernelEncoded(Encoded):
    """Sequences whose ids point to `observations` of their own, or in growing to all that the map has by then."""

    observations: Observations | None = None


class MissingFunction:
    """Stands for a kernel function that was in training and is not in the model file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, A: Any, B: Any) -> Any:
        raise CorpusError(
            f"this model was trained with the kernel function {self.name}; code is not stored in model files, so give "
            "it again: margent.load(path, function=...)"
        )


class KernelMap(FeatureMap):
    """The observations of the training data, and the kernel between them and others.

    A token has one id, that of its observation, and the weights of observation u are row u of K beta. In training the
    ids are the map's own and the oracle asks `kernel` for rows of K; afterwards only the observations with a weight are
    kept. In prediction the ids are the batch's, and `rows` gives K(batch, support) @ beta, in blocks.

    Same data and same seed give the same bits, whatever `threads` is: it does not reach the kernel. Sums of features
    that are named are made in one order in 64 bits; those of dense arrays are the matrix products of BLAS, where the
    last bits may depend on which rows are computed together: in training on `cache_mb`, in prediction on the batch.
    """

    kind: ClassVar[str] = "kernel"
    drops_unused = True

    def __init__(self, parameters: Kernel, inner: FeatureMap) -> None:
        if isinstance(inner, TemplateMap):
            for line in inner.templates.lines:
                if line.startswith("B") and "%x" in line:
                    raise CorpusError(
                        f"template {line!r}: a kernel is between observations for one label; templates for two, which "
                        "start with B, cannot name cells there"
                    )
        self.parameters = parameters
        self.inner = inner
        self.gamma = None if parameters.gamma is None else float(parameters.gamma)
        self.label_transitions = inner.label_transitions
        self.takes = inner.takes
        self._observations: Observations | None = None
        self._words: list[str] = []  # of the distinct tokens, where they are text
        # For training alone, and made anew when the map grows.
        self._vectors: Any = None
        self._kept_rows: KeptRows | None = None

    def copy(self) -> KernelMap:
        copied = super().copy()
        copied.inner = self.inner.copy()
        return copied

    @property
    def n_unigrams(self) -> int:
        return 0 if self._observations is None else len(self._observations)

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        return self.inner.n_columns

    @property
    def n_dimensions(self) -> int | None:  # type: ignore[override]
        return self.inner.n_dimensions

    @property
    def n_tokens(self) -> int:
        """How many distinct tokens the observations are made of."""
        return 0 if self._observations is None else len(self._observations.tokens) - 1

    # What is seen

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        vectors, starts = self._token_vectors(X, grow, min_count)
        if not grow:
            batch, ids, _ = self._empty(vectors).extended(vectors, starts)
            return KernelEncoded(starts, ids, np.arange(len(ids) + 1), observations=batch)
        before = self._empty(vectors) if self._observations is None else self._observations
        grown, ids, fresh = before.extended(vectors, starts)
        with np.errstate(over="ignore"):
            norms = grown.squared_norms
        if not np.isfinite(norms).all():
            raise CorpusError(
                "the squares of the features, summed over a window, are too large for 32 bits; scale them"
            )
        self._observations = grown
        self._vectors, self._kept_rows = None, KeptRows(self._cache_bytes // _KEPT_SHARE)
        if self.takes == "tokens":
            words = [word for sentence in Columns.from_sentences(X).column(0) for word in sentence] if len(ids) else []
            self._words = [*(self._words or [""]), *(words[token] for token in fresh.tolist())]
        if self.gamma is None and len(norms):
            mean = float(norms.mean(dtype=np.float64))
            self.gamma = 1 / mean if mean > 0 else 1.0
        return KernelEncoded(starts, ids, np.arange(len(ids) + 1), observations=grown)

    def _token_vectors(self, X: Any, grow: bool, min_count: int) -> tuple[TokenVectors, NDArray[np.int64]]:
        if isinstance(self.inner, VectorMap):
            X = TokenMatrix.of(X, self.inner.n_dimensions or None)
        encoded = self.inner.encode(X, grow=grow, min_count=min_count)
        if self._observations is None:
            dense = isinstance(X, TokenMatrix) and isinstance(X.matrix, np.ndarray)
        else:
            dense = isinstance(self._observations.tokens, DenseVectors)
        if dense:
            rows = X.matrix if isinstance(X.matrix, np.ndarray) else X.matrix.toarray()
            return DenseVectors.of(rows), encoded.sequence_ptr
        return SparseVectors.of(encoded.ids, encoded.ptr, encoded.values), encoded.sequence_ptr

    def _empty(self, vectors: TokenVectors) -> Observations:
        """No observation, and the one token of which nothing is seen."""
        return Observations(vectors.nothing(), np.empty((0, int(self.parameters.window)), dtype=np.int32))

    # Kernel values

    @property
    def kernel(self) -> KernelRows | None:
        return self._own_values

    @property
    def cache_bytes(self) -> int:
        return self._cache_bytes - self._cache_bytes // _KEPT_SHARE

    @property
    def _cache_bytes(self) -> int:
        return int(min(float(self.parameters.cache_mb), _MOST_MEGABYTES) * (1 << 20))

    def _own_values(self, ids: IntArray) -> FloatArray:
        assert self._observations is not None
        return self._values(self._observations, ids, self._kept_rows)

    def _values(self, others: Observations, ids: NDArray[Any], kept: KeptRows | None = None) -> FloatArray:
        """(len(ids), n_unigrams) the kernel between some of the others and all observations of the map."""
        own, parameters = self._observations, self.parameters
        assert own is not None and self.gamma is not None
        if callable(parameters.kind):
            return self._called(others, ids)
        with np.errstate(over="ignore"):
            values = own.products(others, ids, kept)
            values = parameters.values(values, others.squared_norms[ids], own.squared_norms, self.gamma)
        if not np.isfinite(values).all():
            raise CorpusError(
                f"the kernel {parameters.kind} of degree {parameters.degree} with gamma {self.gamma:g} gives numbers "
                "that are too large for 32 bits; scale the features, or choose a smaller gamma"
            )
        return values

    def _called(self, others: Observations, ids: NDArray[Any]) -> FloatArray:
        own, n_features = self._observations, self.inner.n_unigrams
        assert own is not None
        if self._vectors is None:
            self._vectors = own.vectors(n_features)
        chosen = Observations(others.tokens, others.windows[ids]).vectors(n_features)
        values = self.parameters.kind(chosen, self._vectors)
        values = np.ascontiguousarray(values.toarray() if hasattr(values, "toarray") else values)
        if values.dtype.kind not in "buif":
            raise CorpusError(f"the kernel function should give an array of numbers, got {values.dtype}")
        values = values.astype(np.float32, copy=False)
        if values.shape != (len(ids), len(own)) or not np.isfinite(values).all():
            raise CorpusError(
                f"the kernel function should give finite numbers of shape {(len(ids), len(own))} for so many vectors, "
                f"got {'numbers that are not' if values.shape == (len(ids), len(own)) else f'shape {values.shape}'}"
            )
        return values

    def rows(self, encoded: Encoded, unigrams: Any) -> Any:
        """(n, width) K(observations of the batch, support) @ beta, beta being `unigrams` (n_unigrams, width)."""
        assert isinstance(encoded, KernelEncoded) and encoded.observations is not None
        used = np.asarray(unigrams.any(axis=1))
        support = self if used.all() else self.kept(used)
        beta = np.ascontiguousarray(unigrams if support is self else unigrams[used])
        batch = encoded.observations
        result = np.zeros((len(batch), unigrams.shape[1]), dtype=np.float32)
        if len(beta):
            # In the making, each has a row over the observations, and one over the tokens for each place of its window.
            width = max(len(beta), int(self.parameters.window) * support.n_tokens)
            with np.errstate(over="ignore", invalid="ignore"):
                for ids in _blocks(len(batch), width):
                    np.matmul(support._values(batch, ids), beta, out=result[ids[0] : ids[-1] + 1])
        if not (np.abs(result) <= _MOST_SCORE).all():
            raise CorpusError(
                f"the kernel times the weights gives scores beyond {_MOST_SCORE:g}; scale the features, or choose a "
                "smaller gamma, C or cost"
            )
        return result

    def contributions(self, encoded: Encoded, token: int) -> tuple[IntArray, FloatArray]:
        assert isinstance(encoded, KernelEncoded) and encoded.observations is not None
        values = self._values(encoded.observations, encoded.ids[token : token + 1])[0]
        return np.arange(len(values), dtype=np.int32), values

    # Support

    def kept(self, keep: Mask) -> KernelMap:
        """The map of the observations of a mask (n_unigrams,) alone, over the same features of tokens.

        Features that no observation is left with stay, for they count in the norms of what is to be predicted.
        """
        assert self._observations is not None
        copied = KernelMap(self.parameters, self.inner)
        copied.gamma = self.gamma
        copied._observations, used = self._observations.kept(keep)
        copied._words = [self._words[i] for i in used.tolist()] if self._words else []
        return copied

    def name(self, feature: int, *, edge: bool = False) -> str:
        """Text: the words of the window with the token in brackets; attributes: some of the token's; else a number."""
        assert self._observations is not None
        window = self._observations.windows[feature].tolist()
        middle = len(window) // 2
        if self._words:
            words = [self._words[number] for number in window]
            words[middle] = f"[{words[middle] or '?'}]"
            return " ".join(word for word in words if word)
        tokens = self._observations.tokens
        if not isinstance(tokens, SparseVectors) or isinstance(self.inner, VectorMap):
            return f"x#{feature}"
        ids = tokens.ids[tokens.ptr[window[middle]] : tokens.ptr[window[middle] + 1]].tolist()
        names = " ".join(self.inner.name(i) for i in ids[:_SHOWN]) + (" ..." if len(ids) > _SHOWN else "")
        return f"x#{feature} [{names}]"

    # Code that a file cannot hold

    @property
    def needs_function(self) -> bool:  # type: ignore[override]
        return isinstance(self.parameters.kind, MissingFunction) or self.inner.needs_function

    @property
    def function(self) -> Any:
        """The functions that it was made with: the kernel, the feature function, or both as a pair; or None."""
        kernel = self.parameters.kind
        code = [kernel if callable(kernel) and not isinstance(kernel, MissingFunction) else None]
        code = [part for part in (*code, self.inner.function) if part is not None]
        return tuple(code) if len(code) == 2 else next(iter(code), None)

    @property
    def source(self) -> Kernel:
        return self.parameters

    def give_function(self, function: Any) -> None:
        missing = isinstance(self.parameters.kind, MissingFunction)
        if missing and self.inner.needs_function:
            if not isinstance(function, tuple) or len(function) != 2 or not all(map(callable, function)):
                raise TypeError(
                    "function should be a pair, the kernel function and the feature function that the model was "
                    f"trained with, got {function!r}"
                )
            kernel, features = function
        elif missing:
            if not callable(function):
                raise TypeError(f"function should be the kernel function of the training, got {function!r}")
            kernel, features = function, None
        else:
            kernel, features = None, function
        if features is not None:
            self.inner.give_function(features)
            self.parameters = replace(self.parameters, features=features)
        if kernel is not None:
            self.parameters = replace(self.parameters, kind=kernel)

    # Storage

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        if keep is not None:
            return self.kept(keep).stored()
        assert self._observations is not None
        inner_header, arrays = self.inner.stored()
        header = {**self.parameters.stored(), "inner": self.inner.kind, "used_gamma": self.gamma}
        if callable(self.parameters.kind):
            kind = self.parameters.kind
            named = isinstance(kind, MissingFunction)
            header["function"] = kind.name if named else getattr(kind, "__qualname__", repr(kind))
        tokens = self._observations.tokens
        arrays = {**arrays, "windows": self._observations.windows}
        if isinstance(tokens, SparseVectors):
            arrays |= {"tokens.ptr": tokens.ptr, "tokens.ids": tokens.ids, "tokens.values": tokens.values}
        elif isinstance(tokens, DenseVectors):
            arrays["tokens"] = tokens.rows
        if self._words:
            arrays |= string_arrays("words", self._words)
        return {**inner_header, "kernel": header}, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> KernelMap:
        from margent.spectral.symbol_map import SymbolMap

        own = ModelFile(file.path, file.kind, file.version, dict(file.value("kernel", dict)), file.arrays)
        maps: tuple[type[FeatureMap], ...] = (TemplateMap, AttributeMap, VectorMap, SpectrumMap, SymbolMap)
        kinds = {kind.kind: kind for kind in maps}
        inner = kinds[own.value("inner", str, choices=tuple(kinds))].restored(file)
        gamma = own.value("used_gamma", float, minimum=0)
        given = {k: v for k, v in own.header.items() if k not in ("inner", "used_gamma", "function")}
        if "function" in own.header:
            given["kind"] = MissingFunction(own.value("function", str))
        try:
            self = cls(Kernel.restored(given), inner)
        except (CorpusError, TypeError, ValueError) as error:
            raise file.error(f"its kernel is wrong: {error}") from None
        if self.parameters.gamma not in (None, gamma) or not 0 < gamma < np.inf:
            raise file.error(f"the gamma of its kernel is {gamma:g}; expected a number above 0")
        if (self.parameters.kind == "string-spectrum") != isinstance(inner, SpectrumMap):
            raise file.error("its kernel is not made for the features that it has")
        self.gamma = gamma
        tokens = _restored_tokens(file, inner)
        windows = file.array(
            "windows", np.int32, (None, int(self.parameters.window)), minimum=0, maximum=len(tokens) - 1
        )
        self._observations = Observations(tokens, windows)
        with np.errstate(over="ignore"):
            norms = self._observations.squared_norms
            largest = self.parameters.values(norms[:, None].copy(), norms, np.zeros(1, np.float32), gamma)
        if not np.isfinite(largest).all():
            raise file.error("its kernel gives numbers that are too large")
        if self.takes == "tokens":
            self._words = file.strings("words")
            if len(self._words) != len(tokens):
                raise file.error("its words should be as many as its tokens")
        return self


def _restored_tokens(file: ModelFile, inner: FeatureMap) -> TokenVectors:
    tokens: TokenVectors
    if isinstance(inner, VectorMap) and "tokens" in file.arrays:
        tokens = DenseVectors(file.array("tokens", np.float32, (None, inner.n_unigrams), finite=True))
    else:
        ids = file.array("tokens.ids", np.int32, (None,), minimum=0, maximum=inner.n_unigrams - 1)
        values = file.array("tokens.values", np.float32, (len(ids),), finite=True)
        tokens = SparseVectors(file.row_starts("tokens.ptr", len(ids), None), ids, values)
    with np.errstate(over="ignore"):
        norms = tokens.squared_norms
    if not np.isfinite(norms).all():
        raise file.error("its tokens have numbers that are too large")
    if not len(tokens) or norms[NOTHING] != 0:
        raise file.error("the first of its tokens should be the one of which nothing is seen")
    return tokens


def _blocks(n: int, width: int) -> Iterator[NDArray[np.int64]]:
    """0 .. n - 1 in parts, so that a row of `width` numbers for each stays within bounds."""
    size = max(1, min(_MOST_ROWS, _BLOCK_BYTES // (4 * width)))
    for start in range(0, n, size):
        yield np.arange(start, min(start + size, n))
