"""Segments of tokens: words with their features, whole segments with theirs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.derived import DERIVATIONS
from margent.features.encoded import rows_of, sequence_ptr
from margent.features.feature_map import Mask, Stored
from margent.features.name_list import NameLists, folded
from margent.features.segment_map import EncodedSegments, Gold, Ids, Ptr, SegmentLimits, SegmentMap
from margent.parameters import as_float, check_flag, in_order, is_text
from margent.storage import ModelFile, string_arrays

SegmentFunction = Callable[[Sequence[str], int, int], "Iterable[str] | Mapping[str, float]"]
"""From tokens, begin and end of a segment to the names of its features, or their values by name."""

Part = tuple[Ids, "NDArray[np.float32] | None", Ptr]

_MOST_DURATIONS = 32
_ROLES = ("inside", "first", "last", "before", "after")
_WORD = ("word", "lower", "short_shape", "capitalisation", "digits", "prefix3", "suffix3")


@dataclass(frozen=True)
class TokenFeatures:
    """What is seen of a segment of tokens.

    inside, first, last, before, after : properties of the tokens inside a segment (each of them), of its first and its
        last one, and of those next to it: "word", or a derived column such as "lower", "short_shape", "suffix3"
    string : the whole segment, in lower case, is a feature: those of the training data that are right somewhere, and
        single tokens
    durations : its length is one, up to the longest
    names : list name to names that belong to it; a segment that is one of them has that as a feature
    similar : a segment whose similarity (common character trigrams) to a name is at least so large has that, with the
        similarity as value; None: only those that are equal
    functions : of (tokens, begin, end), giving names of features or a dict of their values; called once per segment
    """

    inside: Sequence[str] = _WORD
    first: Sequence[str] = _WORD
    last: Sequence[str] = _WORD
    before: Sequence[str] = ("lower", "short_shape", "suffix3")
    after: Sequence[str] = ("lower", "short_shape", "suffix3")
    string: bool = True
    durations: bool = True
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    similar: float | None = None
    functions: Sequence[SegmentFunction] = ()

    def __post_init__(self) -> None:
        for name in (*_ROLES, "functions"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Iterable):
                what = "functions" if name == "functions" else "names of columns"
                raise ValueError(f"{name} of TokenFeatures should be a list of {what}, got {value!r}")
            object.__setattr__(self, name, tuple(in_order(value)))
        for name in ("string", "durations"):
            check_flag(self, name)
        if not isinstance(self.names, Mapping):
            raise ValueError(f"names of TokenFeatures should be a dict from list name to names, got {self.names!r}")
        lists = {}
        for which, entries in sorted(self.names.items(), key=lambda item: repr(item[0])):
            several = isinstance(entries, Iterable) and not isinstance(entries, str)
            lists[which] = tuple(in_order(entries)) if several else ()
            if not several or not all(map(is_text, (which, *lists[which]))):
                raise ValueError(f"names of TokenFeatures: {which!r} should have a list of names, got {entries!r}")
        object.__setattr__(self, "names", lists)
        for name in _ROLES:
            for column in getattr(self, name):
                if column != "word" and column not in DERIVATIONS:
                    raise ValueError(
                        f"{name} of TokenFeatures names {column!r}; expected word or one of {', '.join(DERIVATIONS)}"
                    )
        if self.similar is not None and not 0 < as_float(self.similar) <= 1:
            raise ValueError(f"similar of TokenFeatures should be above 0 and at most 1, or None, got {self.similar!r}")
        if not all(map(callable, self.functions)):
            raise ValueError(f"functions of TokenFeatures should be functions, got {self.functions!r}")


class EncodedTokens(EncodedSegments):
    """Features of tokens and segments as ids in compressed rows."""

    def __init__(self, n_features: int, sequence_ptr: Ptr, parts: Mapping[str, Part | None], longest: int) -> None:
        self.n_features, self.sequence_ptr, self.parts, self.longest = n_features, sequence_ptr, parts, longest

    def part(self, numbers: Ptr) -> EncodedTokens:
        tokens = rows_of(self.sequence_ptr, numbers)
        lengths = self.lengths[numbers]
        longest = min(self.longest, int(lengths.max(initial=1)))
        spans = (tokens[:, None] * self.longest + np.arange(longest)).ravel()  # whole segments, by begin and end
        parts: dict[str, Part | None] = {}
        for name, part in self.parts.items():
            rows = spans if name == "whole" else tokens
            parts[name] = None if part is None else _rows(*part, rows)
        return EncodedTokens(self.n_features, sequence_ptr(lengths), parts, longest)

    def data(self, limits: SegmentLimits) -> _core.TokenData:
        return _core.TokenData(
            len(limits.labels), self.n_features, self.longest, self.sequence_ptr, *self.parts.values()
        )


class SegmentTokenMap(SegmentMap):
    """Names of features to ids."""

    kind = "tokens"

    def __init__(self, features: TokenFeatures) -> None:
        self.features = features
        self.ids: dict[str, int] = {}
        self._lists = NameLists(features.names)
        self._columns: dict[tuple[str, str], tuple[str, ...]] = {}  # (role, word) to names of features

    def copy(self) -> SegmentTokenMap:
        other = super().copy()
        other.ids = dict(self.ids)
        return other

    @property
    def functions(self) -> tuple[SegmentFunction, ...]:
        return tuple(self.features.functions)

    def encode(self, X: Any, limits: SegmentLimits, *, grow: bool = False, gold: Gold | None = None) -> EncodedTokens:
        sentences = [_tokens(x, i) for i, x in enumerate(X)]
        ptr = np.concatenate([[0], np.cumsum([len(tokens) for tokens in sentences])]).astype(np.int64)
        most = limits.within(max(map(len, sentences), default=1)).most
        places = [(s, t) for s in sentences for t in range(len(s))]
        parts: dict[str, Part | None] = {
            "inside": self._part(([self._word("inside", s[t])] for s, t in places), grow),
            "first": self._part((self._edge(s, t, "first", "before", -1) for s, t in places), grow),
            "last": self._part((self._edge(s, t, "last", "after", 1) for s, t in places), grow),
            "whole": None,
        }
        if self.features.string or self.features.names or self.features.functions:
            if grow and self.features.string:
                self._learn_strings(sentences, most, gold)
            parts["whole"] = self._part(self._segments(sentences, most), grow)
        return EncodedTokens(len(self.ids), ptr, parts, most)

    def _word(self, role: str, word: str) -> tuple[str, ...]:
        """The names of the features of a word in a role, made once for each distinct word."""
        key = role, word
        if key not in self._columns:
            named = []
            for column in getattr(self.features, role):
                value = word if column == "word" else DERIVATIONS[column](word)
                if value is not None:
                    named.append(f"{role}.{column}={value}")
            self._columns[key] = tuple(named)
        return self._columns[key]

    def _edge(self, tokens: Sequence[str], t: int, own: str, other: str, step: int) -> list[tuple[str, ...]]:
        beside = t + step
        outside = self._word(other, tokens[beside]) if 0 <= beside < len(tokens) else (f"{other}=none",)
        return [self._word(own, tokens[t]), outside]

    def _learn_strings(self, sentences: list[Sequence[str]], most: int, gold: Gold | None) -> None:
        """Of single tokens and of right segments; where these are not known, of all. The string of every candidate
        would make millions of features, nearly all of which are seen once, and wrong."""
        for tokens, right in zip(sentences, [None] * len(sentences) if gold is None else gold):
            n = len(tokens)
            places = [(t, t + 1) for t in range(n)]
            if right is None:
                places += [(t, end) for t in range(n) for end in range(t + 2, min(t + most, n) + 1)]
            else:
                places += [(begin, end) for begin, end, _ in right.tolist() if end - begin > 1]
            for begin, end in places:
                self.ids.setdefault(f"segment={folded(tokens[begin:end])}", len(self.ids))

    def _segments(self, sentences: list[Sequence[str]], most: int) -> Iterator[list[Any]]:
        for tokens in sentences:
            for begin in range(len(tokens)):
                for end in range(begin + 1, begin + most + 1):
                    yield self._whole(tokens, begin, end) if end <= len(tokens) else []

    def _whole(self, tokens: Sequence[str], begin: int, end: int) -> list[Any]:
        name = folded(tokens[begin:end])
        known = self.features.string and f"segment={name}" in self.ids
        groups: list[Any] = [(f"segment={name}",)] if known else []
        if self.features.names:
            groups.append([f"name.{which}" for which in self._lists.exact(name)])
            if self.features.similar is not None:
                near = self._lists.similar(name, self.features.similar)
                groups.append({f"like.{which}": similarity for which, similarity in near.items()})
        for i, function in enumerate(self.features.functions):
            groups.append(_called(function, i, tokens, begin, end))
        return groups

    def _part(self, rows: Iterable[list[Any]], grow: bool) -> Part:
        """Compressed rows; each row is some groups of names, or of values by name."""
        ids, values, ptr = array("i"), array("f"), array("q", [0])  # there are millions: a list takes tenfold
        plain, known = True, self.ids
        for groups in rows:
            for group in groups:
                weighted = isinstance(group, Mapping)
                plain = plain and not weighted
                for name in group:
                    feature = known.get(name)
                    if feature is None:
                        if not grow:
                            continue
                        feature = known[name] = len(known)
                    ids.append(feature)
                    values.append(group[name] if weighted else 1.0)
            ptr.append(len(ids))
        weights = None if plain else np.array(values, dtype=np.float32)
        return np.array(ids, dtype=np.int32), weights, np.array(ptr, dtype=np.int64)

    def duration_features(self, most: int, longest: int) -> NDArray[np.float64]:
        """One feature for each duration, those from 32 on having one together."""
        if not self.features.durations:
            return np.zeros((longest + 1, 0))
        table = np.zeros((longest + 1, min(most, _MOST_DURATIONS)))
        d = np.arange(1, longest + 1)
        table[d, np.minimum(d, _MOST_DURATIONS) - 1] = 1
        return table

    def n_content(self, limits: SegmentLimits) -> int:
        return len(self.ids) * _core.padded_width(len(limits.labels))

    def name(self, feature: int) -> str:
        return list(self.ids)[feature]

    def overlaid(
        self, content: NDArray[np.float32], known: NDArray[np.float32], limits: SegmentLimits, before: SegmentLimits
    ) -> NDArray[np.float32]:
        new: NDArray[np.float32] = content.reshape(-1, _core.padded_width(len(limits.labels))).copy()
        old, n = known.reshape(-1, _core.padded_width(len(before.labels))), len(before.labels)
        new[: len(old), :n] = old[:, :n]
        return new.reshape(-1)

    def weighted(self, content: NDArray[np.float32]) -> Mask | None:
        return np.asarray(content.reshape(len(self.ids), -1).any(axis=1)) if self.ids else None

    def stored(self, keep: Mask | None = None) -> Stored:
        features = self.features
        header = {name: list(getattr(features, name)) for name in _ROLES}
        plain = {"string": features.string, "durations": features.durations, "similar": features.similar}
        lists = {name: list(entries) for name, entries in features.names.items()}
        return (
            {
                "token_features": {**header, **plain, "names": lists},
                "needs_function": bool(features.functions),
                "n_functions": len(features.functions),
            },
            string_arrays("segment_features", self.ids if keep is None else compress(self.ids, keep)),
        )

    @classmethod
    def restored(cls, file: ModelFile) -> SegmentTokenMap:
        try:
            feature_map = cls(TokenFeatures(**file.value("token_features", dict)))
        except (TypeError, ValueError, AttributeError) as error:
            raise file.error(f"its features are wrong: {error}") from None
        names = file.strings("segment_features")
        feature_map.ids = {name: i for i, name in enumerate(names)}
        if len(feature_map.ids) != len(names):
            raise file.error("its features should be different from each other")
        return feature_map


def _rows(ids: Ids, values: NDArray[np.float32] | None, ptr: Ptr, rows: Ptr) -> Part:
    """Some of the rows of a table in compressed rows."""
    places = rows_of(ptr, rows)
    return ids[places], None if values is None else values[places], sequence_ptr(np.diff(ptr)[rows])


def _called(function: SegmentFunction, i: int, tokens: Sequence[str], begin: int, end: int) -> Any:
    """What a function says of a segment, under names of its own: names, or finite values by name."""
    found = function(tokens, begin, end)
    values = found.values() if isinstance(found, Mapping) else ()
    wrong = isinstance(found, str) or not isinstance(found, Iterable)
    if wrong or not all(math.isfinite(as_float(value)) for value in values):
        raise CorpusError(
            f"function {i} of TokenFeatures gave {found!r} for {tokens[begin:end]!r}; expected a list of names, or a "
            "dict from name to finite number"
        )
    if isinstance(found, Mapping):
        return {f"function{i}.{name}": float(found[name]) for name in in_order(found.keys())}
    return [f"function{i}.{name}" for name in in_order(found)]


def _tokens(x: Any, i: int) -> Sequence[str]:
    if isinstance(x, (str, bytes)) or not hasattr(x, "__len__"):
        raise CorpusError(f"sentence {i}: expected a list of tokens, got {x!r}")
    for t, token in enumerate(x):
        if not is_text(token):
            raise CorpusError(f"sentence {i}, token {t}: expected a word of type str that is valid text, got {token!r}")
    return x  # type: ignore[no-any-return]
