"""Atoms of tokens: what is seen of a token alone, each property as a number of its own dictionary.

Parsers look at a few tokens at once, of which templates (`margent.features.part_templates`) name the atoms: `s0.word`,
`n0.upos`. Strings become numbers here, once for each distinct string of a text; a template is then a few numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.derived import DERIVATIONS
from margent.features.encoded import IntArray, PtrArray, rows_of, sequence_ptr
from margent.features.feature_map import Stored, restored_strings
from margent.features.word_clusters import WordClusters
from margent.formats.columns import Columns
from margent.formats.dependencies import DEPENDENCY_COLUMNS
from margent.storage import ModelFile

Atom = Callable[[str], "str | None"]
"""From a cell of a column to a property; None: the cell does not have it."""

_CLUSTER = re.compile(r"cluster([1-9][0-9]?)?")
_FEATURE = "feat."
_NOT_KNOWN = "_"
ATOM_NAMES = (
    *("word", "lower", "lemma", "upos", "xpos", "feats", "feat.NAME", "cluster", "clusterN"),
    *(name for name in DERIVATIONS if name != "lower"),
)
"""What atoms there are, as an error message lists them: NAME is a morphological feature, N a number of bits."""


def is_token_atom(name: str) -> bool:
    """Whether there is an atom of this name.

    word, lemma, upos, xpos, feats: a column; feat.NAME: one morphological feature, as in Case=Nom|Number=Sing;
    lower, shape, prefix3, ...: a derived column (`margent.features.derived`) of the word; cluster, cluster4: its
    cluster, or the first bits of that.
    """
    return (
        name in ("word", *DEPENDENCY_COLUMNS[1:])
        or name in DERIVATIONS
        or _CLUSTER.fullmatch(name) is not None
        or (name.startswith(_FEATURE) and len(name) > len(_FEATURE))
    )


@dataclass(frozen=True)
class EncodedTokens:
    """Sentences of tokens, one after the other. Sentence s is the rows `sequence_ptr[s]` to `sequence_ptr[s + 1] - 1`.

    atoms : (T, A) int32 in C order, the number of each atom of each token; 0: it has none, or none that is known
    sequence_ptr : (n + 1,) int64
    """

    atoms: IntArray
    sequence_ptr: PtrArray

    def __len__(self) -> int:
        return len(self.sequence_ptr) - 1

    @property
    def n_tokens(self) -> int:
        return len(self.atoms)

    @property
    def lengths(self) -> PtrArray:
        return np.diff(self.sequence_ptr)

    def part(self, numbers: PtrArray) -> EncodedTokens:
        """The sentences of these numbers alone."""
        rows = rows_of(self.sequence_ptr, numbers)
        return EncodedTokens(np.ascontiguousarray(self.atoms[rows]), sequence_ptr(self.lengths[numbers]))


class TokenAtoms:
    """A dictionary for each of A atoms. Numbers begin with 1; 0 stands for what is absent or was not seen in training.

    Parameters
    ----------
    names : names of atoms, see `is_token_atom`
    clusters : `WordClusters`, needed where a name asks for them

    The columns of X are `DEPENDENCY_COLUMNS`: form, upos, xpos, feats, lemma, or the first of them. "_" is what is not
    known, except for a form. Numbers are never given twice: those that are known stay when a copy grows.

    >>> atoms = TokenAtoms(["word", "upos", "suffix2"])
    >>> encoded = atoms.encode([[("the", "DET"), ("cat", "NOUN")]], grow=True)
    >>> encoded.atoms.tolist(), atoms.encode([[("cats", "NOUN")]]).atoms.tolist()
    ([[1, 1, 1], [2, 2, 2]], [[0, 2, 0]])
    >>> atoms.name(2, 2)
    'at'
    """

    def __init__(self, names: Iterable[str], clusters: WordClusters | None = None) -> None:
        self.names = tuple(names)
        self.clusters = clusters
        for name in self.names:
            if not is_token_atom(name):
                raise CorpusError(f"there is no atom {name!r} of a token; expected one of {', '.join(ATOM_NAMES)}")
            if _CLUSTER.fullmatch(name) and clusters is None:
                raise CorpusError(f"the atom {name!r} needs clusters of words; expected clusters or vectors")
        if len(set(self.names)) < len(self.names):
            raise CorpusError(f"expected different atoms, got {', '.join(self.names)}")
        self._values = [_core.StringTable() for _ in self.names]

    @property
    def n_values(self) -> IntArray:
        """(A,): one more than the largest number of each atom."""
        return np.array([len(values) + 1 for values in self._values], dtype=np.int32)

    def name(self, atom: int, number: int) -> str:
        """The text of a number of an atom; "?" for 0."""
        return str(self._values[atom][number - 1]) if number else "?"

    def copy(self) -> TokenAtoms:
        """One that knows the same and can grow by itself."""
        copied = TokenAtoms(self.names, self.clusters)
        copied._values = [values.copy() for values in self._values]
        return copied

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1) -> EncodedTokens:
        """The atoms of all tokens. With `grow`, what occurs at least `min_count` times in X gets a number.

        Properties are worked out once for each distinct cell. O(T A + distinct cells x A).
        """
        columns = Columns.from_sentences(X)
        if not columns.n_tokens:
            return EncodedTokens(np.zeros((0, len(self.names)), np.int32), sequence_ptr(columns.lengths))
        if columns.n_columns > len(DEPENDENCY_COLUMNS):
            raise CorpusError(
                f"expected tokens of up to {len(DEPENDENCY_COLUMNS)} columns ({', '.join(DEPENDENCY_COLUMNS)}), "
                f"got {columns.n_columns}"
            )
        atoms = np.zeros((columns.n_tokens, len(self.names)), dtype=np.int32)
        for column, wanted in self._by_column.items():
            if column >= columns.n_columns:
                continue
            distinct = _core.StringTable()
            codes, _ = _core.encode_column(
                columns.table, columns.column_indices[column], columns.sentence_indices, distinct, True
            )
            for place, atom in wanted:
                if grow:
                    counts = np.bincount(codes, minlength=len(distinct)) if min_count > 1 else None
                    self._learn(place, [atom(cell) for cell in distinct.strings(0)], min_count, counts)
                atoms[:, place] = self._numbers(place, atom, distinct)[codes]
        return EncodedTokens(atoms, sequence_ptr(columns.lengths))

    def _learn(self, place: int, given: list[str | None], min_count: int, counts: NDArray[np.int64] | None) -> None:
        """Gives numbers to the atoms of distinct cells. `counts`: how often each occurs."""
        values = self._values[place]
        there = [value for value in given if value is not None]
        if counts is None:
            values.add_all(there)
        else:
            seen = _core.StringTable()
            ids = seen.add_all(there)
            weights = counts[[value is not None for value in given]]
            often = np.bincount(ids, weights, minlength=len(seen)) >= min_count
            values.add_all([value for value, keep in zip(seen.strings(0), often.tolist()) if keep])

    def _numbers(self, place: int, atom: Atom, distinct: _core.StringTable) -> IntArray:
        """The number of the atom of each distinct cell: by native code, but for what is seldom asked for."""
        name, values = self.names[place], self._values[place]
        if name in DERIVATIONS:
            numbers = values.find_derived(distinct, name, DERIVATIONS[name]) + 1
        elif name == "word" or name in DEPENDENCY_COLUMNS:  # "_" has no number, as nobody has given it one
            numbers = values.find_table(distinct) + 1
        else:
            given = [atom(cell) for cell in distinct.strings(0)]
            numbers = np.zeros(len(given), dtype=np.int32)
            there = [value is not None for value in given]
            numbers[there] = values.find_all([value for value in given if value is not None]) + 1
        return numbers

    @cached_property
    def _by_column(self) -> dict[int, list[tuple[int, Atom]]]:
        """By column of X: the places of the atoms that are made of it, and how."""
        found: dict[int, list[tuple[int, Atom]]] = {}
        for place, name in enumerate(self.names):
            column, atom = _atom(name, self.clusters)
            found.setdefault(column, []).append((place, atom))
        return found

    def stored(self) -> Stored:
        """Header entries and arrays for a model file."""
        arrays: dict[str, NDArray[Any]] = {}
        for i, values in enumerate(self._values):
            arrays[f"atom{i}"], arrays[f"atom{i}.ends"] = values.dump()
        if self.clusters is not None:
            arrays |= self.clusters.stored()[1]
        return {"atoms": list(self.names), "has_clusters": self.clusters is not None}, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> TokenAtoms:
        clusters = WordClusters.restored(file) if file.value("has_clusters", bool) else None
        try:
            self = cls(file.texts("atoms"), clusters)
        except CorpusError as error:
            raise file.error(str(error)) from None
        self._values = [restored_strings(file, f"atom{i}") for i in range(len(self.names))]
        return self


def _atom(name: str, clusters: WordClusters | None) -> tuple[int, Atom]:
    """The column of X that an atom is made of, and how it is made of a cell."""
    if name in DEPENDENCY_COLUMNS:
        return DEPENDENCY_COLUMNS.index(name), lambda cell: None if cell == _NOT_KNOWN else cell
    if name.startswith(_FEATURE):
        key = name[len(_FEATURE) :]
        return DEPENDENCY_COLUMNS.index("feats"), lambda cell: _feature(cell, key)
    bits = _CLUSTER.fullmatch(name)
    if bits is not None and clusters is not None:
        length = int(bits[1]) if bits[1] else None
        return 0, lambda cell: None if (found := clusters.find(cell)) is None else found[:length]
    return 0, (lambda cell: cell) if name == "word" else DERIVATIONS[name]


def _feature(cell: str, key: str) -> str | None:
    """The value of one morphological feature among `Case=Nom|Number=Sing`."""
    for pair in cell.split("|"):
        name, equals, value = pair.partition("=")
        if equals and name == key:
            return value
    return None
