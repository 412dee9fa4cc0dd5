"""The feature map of templates over columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.errors import CorpusError
from margent.features.derived import DERIVATIONS
from margent.features.encoded import Encoded, keep_features, sequence_ptr
from margent.features.feature_map import FeatureMap, Mask, Stored, rare, restored_strings
from margent.features.templates import TemplateLine, Templates
from margent.formats.columns import Columns
from margent.storage import ModelFile

Codes = NDArray[np.int32]
UNKNOWN = -1


class _Column:
    """One column of codes that templates read: a column of the data, or a property derived from one.

    `strings` are its distinct values. For a derived column, `of_word[code]` is the value of each distinct string of
    the column it is derived from, so that spelling is looked at once per distinct word.
    """

    def __init__(self, column: int, derived: str | None) -> None:
        self.column = column
        self.derived = derived
        self.strings = _core.StringTable()
        self.of_word: Codes = np.empty(0, dtype=np.int32)

    def copy(self) -> _Column:
        copied = _Column(self.column, self.derived)
        copied.strings, copied.of_word = self.strings.copy(), self.of_word
        return copied

    def derive(self, words: list[str], *, grow: bool) -> Codes:
        """Codes of the derived values of some words; UNKNOWN where there is none or it is not known."""
        assert self.derived is not None
        function = DERIVATIONS[self.derived]
        values = [function(word) for word in words]
        if None not in values:
            return self.strings.add_all(values) if grow else self.strings.find_all(values)
        codes = np.full(len(words), UNKNOWN, dtype=np.int32)
        there = [i for i, value in enumerate(values) if value is not None]
        some = [values[i] for i in there]
        codes[there] = self.strings.add_all(some) if grow else self.strings.find_all(some)
        return codes


class TemplateMap(FeatureMap):
    """Features by templates over columns of strings; see margent.features.templates for the syntax."""

    kind: ClassVar[str] = "templates"

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        self.label_transitions = templates.label_transitions
        self.n_columns = 0
        self._columns: list[_Column] = []
        self._lines: list[TemplateLine] = []
        self._texts: list[str] = []
        self._line_of: dict[tuple[str, bool], TemplateLine] = {}  # the first of each text
        self._encoder: _core.TemplateEncoder | None = None

    def _prepare(self, n_columns: int) -> None:
        """Compiles the templates for data of so many columns."""
        self.n_columns = n_columns
        self._lines = self.templates.parse(n_columns)
        names = dict.fromkeys((cell.column, cell.derived) for line in self._lines for cell in line.cells)
        for column in dict.fromkeys(column for column, _ in names):
            names.setdefault((column, None))  # a derived column needs the codes of the words it is derived from
        self._columns = [_Column(*name) for name in names]
        place = {name: i for i, name in enumerate(names)}
        texts: dict[str, int] = {}
        specs = [
            (
                texts.setdefault(line.text, len(texts)),
                line.edge,
                [(cell.row, place[cell.column, cell.derived]) for cell in line.cells],
            )
            for line in self._lines
        ]
        self._texts = list(texts)
        self._line_of = {(line.text, line.edge): line for line in reversed(self._lines)}
        self._encoder = _core.TemplateEncoder(specs, len(self._columns))

    def copy(self) -> TemplateMap:
        copied = TemplateMap(self.templates)
        if self._encoder is not None:
            copied._prepare(self.n_columns)
            copied._columns = [column.copy() for column in self._columns]
            assert copied._encoder is not None
            for edge in (False, True):
                copied._encoder.restore(edge, *self._encoder.dump(edge))
        return copied

    @property
    def n_unigrams(self) -> int:
        return self._encoder.size(False) if self._encoder else 0

    @property
    def n_edges(self) -> int:
        return self._encoder.size(True) if self._encoder else 0

    def encode(self, X: Any, *, grow: bool = False, min_count: int = 1, threads: int = 1) -> Encoded:
        columns = Columns.from_sentences(X)
        if not columns.n_tokens:  # there is nothing to count the columns in
            columns = Columns.from_sentences([[]] * len(columns), n_columns=self.n_columns or 1)
        if self._encoder is None:
            self._prepare(columns.n_columns)
        assert self._encoder is not None
        if columns.n_columns != self.n_columns:
            raise CorpusError(
                f"the data has {columns.n_columns} input column{'s' if columns.n_columns != 1 else ''}, "
                f"but the templates were trained on {self.n_columns}"
                + ("; leave out the label column: X, y = columns.split()" if self._has_label_column(columns, X) else "")
            )
        starts = sequence_ptr(columns.lengths)
        before = (self.n_unigrams, self.n_edges)
        ids, ptr, edge_ids, edge_ptr = self._encoder.encode(self._codes(columns, grow, threads), starts, grow, threads)
        if grow:
            keep = rare(ids, before[0], self.n_unigrams, min_count)
            if keep is not None:
                self._encoder.filter(False, keep)
                ids, ptr, _ = keep_features(ids, ptr, None, keep)
            keep = rare(edge_ids, before[1], self.n_edges, min_count)
            if keep is not None:
                self._encoder.filter(True, keep)
                edge_ids, edge_ptr, _ = keep_features(edge_ids, edge_ptr, None, keep)
        if self.n_edges == 0:
            return Encoded(starts, ids, ptr)
        return Encoded(starts, ids, ptr, edge_ids=edge_ids, edge_ptr=edge_ptr)

    def _has_label_column(self, columns: Columns, X: Any) -> bool:
        """Whether these are columns as they came from a file, the labels still with them, so far as one can tell."""
        return columns is X and columns.n_columns == self.n_columns + 1

    def _codes(self, columns: Columns, grow: bool, threads: int) -> list[Codes]:
        """The codes of every column that the templates read, one array (n_tokens,) each."""
        result: dict[int, Codes] = {}
        for place, base in enumerate(self._columns):
            if base.derived is not None:
                continue
            known = len(base.strings)
            codes, fresh = _core.encode_column(
                columns.table,
                columns.column_indices[base.column],
                columns.sentence_indices,
                base.strings,
                grow,
                threads,
            )
            if grow:
                fresh = base.strings.strings(known)
            for other, column in enumerate(self._columns):
                if column.derived is None or column.column != base.column:
                    continue
                of_word = column.of_word
                if fresh:
                    of_word = np.concatenate([of_word, column.derive(fresh, grow=grow)])
                if grow:
                    column.of_word = of_word
                result[other] = of_word[codes]
            if fresh and not grow:
                codes = np.where(codes < known, codes, np.int32(UNKNOWN))
            result[place] = codes
        return [result[place] for place in range(len(self._columns))]

    def name(self, feature: int, *, edge: bool = False) -> str:
        assert self._encoder is not None
        text, codes = self._encoder.name(edge, feature)
        line = self._line_of[self._texts[text], edge]
        columns = {(column.column, column.derived): column for column in self._columns}
        values = [_string(columns[cell.column, cell.derived], code) for cell, code in zip(line.cells, codes)]
        return "".join(piece + value for piece, value in zip(line.pieces, values)) + line.pieces[-1]

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        assert self._encoder is not None
        header = {"templates": list(self.templates.lines), "n_columns": self.n_columns}
        arrays: dict[str, NDArray[Any]] = {}
        for edge, kind, kept in ((False, "features", keep), (True, "edge_features", keep_edges)):
            text, ptr, codes = self._encoder.dump(edge)
            if kept is not None:
                codes = codes[np.repeat(kept, np.diff(ptr))]
                ptr = sequence_ptr(np.diff(ptr)[kept])
                text = text[kept]
            arrays |= {f"{kind}.text": text, f"{kind}.ptr": ptr, f"{kind}.codes": codes}
        for i, column in enumerate(self._columns):
            arrays[f"column{i}"], arrays[f"column{i}.ends"] = column.strings.dump()
            if column.derived is not None:
                arrays[f"column{i}.of_word"] = column.of_word
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> TemplateMap:
        lines, n_columns = file.texts("templates"), file.value("n_columns", int, minimum=1, maximum=10_000)
        if any("*" in line for line in lines) and n_columns - 1 > len(file.arrays):
            raise file.error(f"it has templates for {n_columns} columns, but only {len(file.arrays)} arrays")
        try:
            self = cls(Templates(lines))
            self._prepare(n_columns)
        except CorpusError as error:
            raise file.error(f"its templates are wrong: {error}") from None
        assert self._encoder is not None
        for i, column in enumerate(self._columns):
            column.strings = restored_strings(file, f"column{i}")
        words = {column.column: len(column.strings) for column in self._columns if column.derived is None}
        for i, column in enumerate(self._columns):
            if column.derived is not None:
                column.of_word = file.array(
                    f"column{i}.of_word",
                    np.int32,
                    (words[column.column],),
                    minimum=UNKNOWN,
                    maximum=len(column.strings) - 1,
                )
        number = {text: i for i, text in enumerate(self._texts)}
        for edge, kind in ((False, "features"), (True, "edge_features")):
            text = file.array(f"{kind}.text", np.int32, (None,), minimum=0, maximum=len(self._texts) - 1)
            codes = file.array(f"{kind}.codes", np.int32, (None,))
            ptr = file.row_starts(f"{kind}.ptr", len(codes), len(text))
            # The number of cells of each text; -1: a text of the other kind.
            cells = np.full(len(self._texts), -1)
            for line in self._lines:
                if line.edge == edge:
                    cells[number[line.text]] = len(line.cells)
            if (np.diff(ptr) != cells[text]).any():
                raise file.error(f"its {kind.replace('_', ' ')} do not fit its templates")
            try:
                self._encoder.restore(edge, text, ptr, codes)
            except ValueError as error:
                raise file.error(str(error)) from None
        return self


def _string(column: _Column, code: int) -> str:
    """The text of a cell; codes below UNKNOWN stand for cells outside the sentence (core/text/templates.hpp)."""
    if code >= 0:
        return str(column.strings[code]) if code < len(column.strings) else "?"
    distance, side = divmod(-code, 2)
    return f"_B+{distance}" if side else f"_B-{distance}"
