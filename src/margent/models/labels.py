"""Labels as users give them, and as the native chain sees them: ids, with missing ones as -1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.encoded import sequence_ptr
from margent.formats.columns import Columns
from margent.parameters import is_text

Ids = NDArray[np.int32]
MISSING = -1


Answer = TypeVar("Answer")


class Predictions(list[Answer]):
    """What was predicted, one list for each sequence: a list like any other.

    Only as an array it differs: (n_sequences,) objects, each a list, whether or not all are equally long. So
    scikit-learn's `cross_val_predict` can put together what was predicted for several parts of the data.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = np.fromiter(self, dtype=object, count=len(self))
        return array if dtype is None else array.astype(dtype, copy=False)


Labellings = Predictions[list[str]]
"""Label sequences, one for each sentence."""


class LabelSet:
    """The labels of a model in order of their ids."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names: list[str] = list(names)
        self.ids: dict[str | None, int] = {None: MISSING}
        self.ids.update((name, i) for i, name in enumerate(self.names))

    def __len__(self) -> int:
        return len(self.names)

    def extended(self, y: Any) -> LabelSet:
        """This set and, after it in sorted order, the labels in `y` that it lacks."""
        if isinstance(y, Columns):
            _check_one_column(y)
            table = _core.StringTable()
            _core.encode_column(y.table, y.column_indices[0], y.sentence_indices, table, True)
            found: set[Any] = set(table.strings())
        else:
            _check_sequences(y)
            try:
                found = set(chain.from_iterable(y))
            except TypeError:  # a label that cannot be hashed is no text either
                raise _wrong_label(y) from None
            if not all(map(_is_label, found)):
                raise _wrong_label(y)
        return LabelSet([*self.names, *sorted(map(str, found - set(self.ids)))])

    def encode(self, y: Any, lengths: NDArray[np.int64]) -> Ids:
        """(n_tokens,) ids of label sequences that must fit the lengths of the sentences."""
        if isinstance(y, Columns):
            _check_one_column(y)
            _check_lengths(y.lengths, lengths)
            table = _core.StringTable()
            codes, _ = _core.encode_column(y.table, y.column_indices[0], y.sentence_indices, table, True)
            return np.array([self._id(name) for name in table.strings()] or [0], dtype=np.int32)[codes]
        _check_lengths(np.fromiter((len(labels) for labels in y), dtype=np.int64), lengths)
        try:
            return np.array([self.ids[label] for labels in y for label in labels], dtype=np.int32)
        except KeyError as error:
            raise self._unknown(error.args[0]) from None

    def decode(self, ids: Ids, lengths: NDArray[np.int64]) -> Labellings:
        """Ids of many sequences, one after the other, as lists of names."""
        ends = sequence_ptr(lengths)
        return Labellings(_core.named_rows(np.ascontiguousarray(ids, dtype=np.int32), ends, self.names))

    def _id(self, name: str) -> int:
        if name not in self.ids:
            raise self._unknown(name)
        return self.ids[name]

    def _unknown(self, name: str) -> CorpusError:
        return CorpusError(f"label {name!r} is not known to the model, which has {', '.join(self.names[:20])}")


def _check_one_column(y: Columns) -> None:
    if y.n_columns > 1:
        raise CorpusError(f"expected labels in one column, got {y.n_columns} columns; choose one: y.select(-1)")


def _check_sequences(y: Any) -> None:
    for s, labels in enumerate(y):
        if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__"):
            raise CorpusError(f"sentence {s}: expected a list of labels, got {labels!r}")


def _is_label(label: Any) -> bool:
    return label is None or is_text(label)


def _check_lengths(found: NDArray[np.int64], wanted: NDArray[np.int64]) -> None:
    if len(found) != len(wanted):
        raise CorpusError(f"found labels for {len(found)} sentences, expected them for {len(wanted)}")
    wrong = np.flatnonzero(found != wanted)
    if len(wrong):
        i = int(wrong[0])
        raise CorpusError(f"sentence {i} has {wanted[i]} tokens, but {found[i]} labels")


def _wrong_label(y: Sequence[Sequence[Any]]) -> CorpusError:
    s, t, label = next((s, t, i) for s, labels in enumerate(y) for t, i in enumerate(labels) if not _is_label(i))
    return CorpusError(f"sentence {s}, token {t}: expected a label of type str that is valid text, got {label!r}")
