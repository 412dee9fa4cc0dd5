"""Constraints on the labelling of one sentence, and the labels that a word was seen with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.schemes import span_constraints
from margent.errors import ConstraintError, CorpusError
from margent.features.encoded import IntArray, PtrArray
from margent.formats.columns import Columns
from margent.models.labels import MISSING, LabelSet

Allowed = tuple[IntArray, PtrArray]
"""Labels allowed at each token in compressed rows (ids, ptr); an empty row allows all."""


@dataclass(frozen=True)
class Restrictions:
    """The labels that tokens of some sentences may have: those that words were `seen` with, and those that the caller
    has `given`; None: any. `errors`: by sentence, why it has no answer, so that constraints do not matter: what is
    wrong with these, or with its numbers."""

    seen: Allowed | None = None
    given: Allowed | None = None
    errors: Mapping[int, Exception] = field(default_factory=dict)


@dataclass(frozen=True)
class Constraints:
    """What is known about the labels of one sentence.

    labels : position to the label that it has, or to a list of labels that it may have
    forbidden : position to a label or list of labels that it does not have
    spans : (start, end, type), end exclusive: exactly this span is there

    Positions count from 0; in `labels` and `forbidden` negative ones count from the end.

    >>> Constraints(labels={0: "B-PER", 3: ["O", "B-LOC"]}, spans=[(4, 6, "ORG")])
    Constraints(labels={0: 'B-PER', 3: ['O', 'B-LOC']}, forbidden={}, spans=[(4, 6, 'ORG')])
    """

    labels: Mapping[int, str | Sequence[str]] = field(default_factory=dict)
    forbidden: Mapping[int, str | Sequence[str]] = field(default_factory=dict)
    spans: Sequence[tuple[int, int, str]] = ()


def allowed_labels(
    constraints: Iterable[Constraints | Mapping[int, Any] | None],
    lengths: NDArray[np.int64],
    labels: LabelSet,
    scheme: str | None,
) -> tuple[Allowed, dict[int, ConstraintError]]:
    """The labels that constraints, one per sentence, leave at each token; and by sentence what is wrong with them."""
    if isinstance(constraints, (Mapping, Constraints, str)) or not isinstance(constraints, Iterable):
        raise ConstraintError(
            f"expected a list with the constraints of each sentence, got {type(constraints).__name__}"
        )
    constraints = list(constraints)
    if len(constraints) != len(lengths):
        raise ConstraintError(f"found constraints for {len(constraints)} sentences, expected them for {len(lengths)}")
    rows: dict[int, list[int]] = {}
    errors: dict[int, ConstraintError] = {}
    start = 0
    for sentence, (given, length) in enumerate(zip(constraints, lengths)):
        if given is not None and not isinstance(given, (Constraints, Mapping)):
            raise ConstraintError(f"sentence {sentence}: expected Constraints, a dict or None, got {given!r}")
        if given:
            constraint = given if isinstance(given, Constraints) else Constraints(labels=given)
            try:
                kept_labels = _kept(constraint, int(length), labels, scheme, sentence)
            except ConstraintError as error:
                errors[sentence] = error
            else:
                rows |= {start + position: sorted(kept) for position, kept in kept_labels.items()}
        start += int(length)
    sizes = np.zeros(start + 1, dtype=np.int64)
    for token, kept_ids in rows.items():
        sizes[token + 1] = len(kept_ids)
    ids = [i for token in sorted(rows) for i in rows[token]]
    return (np.array(ids, dtype=np.int32), np.cumsum(sizes)), errors


def _kept(given: Constraints, length: int, labels: LabelSet, scheme: str | None, sentence: int) -> dict[int, set[int]]:
    """Position to the labels that are left there."""
    kept: dict[int, set[int]] = {}

    def restrict(position: int, names: str | Iterable[str], *, keep: bool) -> None:
        if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
            raise ConstraintError(f"sentence {sentence}: expected a position as an integer, got {position!r}")
        if not isinstance(names, Iterable):
            raise ConstraintError(f"sentence {sentence}, position {position}: expected labels, got {names!r}")
        if not -length <= position < length:
            raise ConstraintError(f"sentence {sentence}: no position {position} in a sentence of {length} tokens")
        ids = set()
        for name in [names] if isinstance(names, str) else names:
            if not isinstance(name, str) or name not in labels.ids:
                raise ConstraintError(f"sentence {sentence}, position {position}: no label {name!r} in this model")
            ids.add(labels.ids[name])
        place = int(position) % length
        there = kept.get(place, set(range(len(labels))))
        kept[place] = there & ids if keep else there - ids
        if not kept[place]:
            raise ConstraintError(f"sentence {sentence}, position {position}: the constraints leave no label")

    for field_name, positions in (("labels", given.labels), ("forbidden", given.forbidden)):
        if not isinstance(positions, Mapping):
            raise ConstraintError(
                f"sentence {sentence}: expected {field_name} as a dict from position to label, got {positions!r}"
            )
        for position, names in positions.items():
            restrict(position, names, keep=field_name == "labels")
    if given.spans:
        if scheme is None:
            raise ConstraintError("spans can only be fixed where labels follow a scheme such as iob2")
        try:
            found = span_constraints(given.spans, length, labels.names, scheme)
        except (CorpusError, ConstraintError) as error:
            raise ConstraintError(f"sentence {sentence}: {error}") from None
        except TypeError:
            raise ConstraintError(
                f"sentence {sentence}: expected spans as (start, end, type), got {given.spans!r}"
            ) from None
        for position, names in found.items():
            restrict(position, names, keep=True)
    return kept


def both_allowed(first: Allowed | None, second: Allowed | None) -> Allowed | None:
    """The labels that two restrictions leave; where they leave none, the second one (the caller's) holds alone."""
    if first is None or second is None:
        return first if second is None else second
    rows: list[NDArray[np.int32]] = []
    for t in range(len(first[1]) - 1):
        a = first[0][first[1][t] : first[1][t + 1]]
        b = second[0][second[1][t] : second[1][t + 1]]
        common = np.intersect1d(a, b).astype(np.int32) if len(a) and len(b) else (a if len(a) else b)
        rows.append(common if len(common) else b)
    ptr = np.cumsum([0, *(len(row) for row in rows)], dtype=np.int64)
    return (np.concatenate(rows) if rows else np.empty(0, dtype=np.int32)), ptr


class TagDictionary:
    """For each word, the labels it was seen with in training: the search then looks at these alone.

    Words seen fewer than `min_count` times, or never, may have any label. Makes large label sets fast to search; the
    answer is exact among the labellings that the dictionary admits.
    """

    def __init__(self, min_count: int) -> None:
        self.min_count = min_count
        self.words = _core.StringTable()
        self.pairs: NDArray[np.int64] = np.empty((0, 3), dtype=np.int64)  # word, label, how often; sorted

    def grown(self, X: Any, ids: NDArray[np.int32], min_count: int) -> TagDictionary:
        """A new dictionary that has counted the words of `X` with their label ids too."""
        new = TagDictionary(min_count)
        new.words = self.words.filter(np.ones(len(self.words), dtype=bool))
        codes = new._encode(X, grow=True)
        there = ids != MISSING
        seen = np.stack([codes[there].astype(np.int64), ids[there].astype(np.int64)], axis=1)
        unique, place = np.unique(np.concatenate([self.pairs[:, :2], seen]), axis=0, return_inverse=True)
        counts = np.zeros(len(unique), dtype=np.int64)
        np.add.at(counts, place.ravel(), np.append(self.pairs[:, 2], np.ones(len(seen), dtype=np.int64)))
        new.pairs = np.column_stack([unique, counts])
        return new

    def allowed(self, X: Any) -> Allowed:
        """The labels allowed at each token of `X`."""
        codes = self._encode(X, grow=False)
        n_words = len(self.words)
        counts = np.bincount(self.pairs[:, 0], weights=self.pairs[:, 2], minlength=n_words)
        sizes = np.bincount(self.pairs[:, 0], minlength=n_words)
        sizes = np.where(counts >= self.min_count, sizes, 0)
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.pairs[:, 0], minlength=n_words))])
        known = codes < n_words
        word = np.where(known, codes, 0)
        row_sizes = np.where(known, sizes[word] if n_words else 0, 0)
        ptr = np.concatenate([[0], np.cumsum(row_sizes)]).astype(np.int64)
        within = np.arange(ptr[-1]) - np.repeat(ptr[:-1], row_sizes)
        ids = self.pairs[np.repeat(starts[word], row_sizes) + within, 1] if n_words else np.empty(0)
        return ids.astype(np.int32), ptr

    def _encode(self, X: Any, grow: bool) -> NDArray[np.int32]:
        """(n_tokens,) the number of each word; those from `len(self.words)` on are not known."""
        try:
            columns = Columns.from_sentences(X)
        except CorpusError as error:
            raise CorpusError(f"tag_dictionary looks up words, the first column, but {error}") from None
        if not columns.n_tokens:
            return np.empty(0, dtype=np.int32)
        first = columns.column_indices[0]
        return _core.encode_column(columns.table, first, columns.sentence_indices, self.words, grow)[0]
