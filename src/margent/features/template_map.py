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

UNKNOWN = -1


class TemplateMap(FeatureMap):
    """Features by templates over columns of strings; see margent.features.templates for the syntax."""

    kind: ClassVar[str] = "templates"

    def __init__(self, templates: Templates) -> None:
        self.templates = templates
        self.label_transitions = templates.label_transitions
        self.n_columns = 0
        self._cells: list[tuple[int, str | None]] = []  # column and derivation of what templates read
        self._columns: _core.TemplateColumns | None = None
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
        self._cells = list(names)
        self._columns = _core.TemplateColumns(self._cells, DERIVATIONS)
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
        self._encoder = _core.TemplateEncoder(specs, len(self._cells))

    def copy(self) -> TemplateMap:
        copied = TemplateMap(self.templates)
        if self._encoder is not None:
            copied._prepare(self.n_columns)
            assert self._columns is not None and copied._encoder is not None
            copied._columns = self._columns.copy()
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
        assert self._encoder is not None and self._columns is not None
        if columns.n_columns != self.n_columns:
            raise CorpusError(
                f"the data has {columns.n_columns} input column{'s' if columns.n_columns != 1 else ''}, "
                f"but the templates were trained on {self.n_columns}"
                + ("; leave out the label column: X, y = columns.split()" if self._has_label_column(columns, X) else "")
            )
        starts = sequence_ptr(columns.lengths)
        before = (self.n_unigrams, self.n_edges)
        ids, ptr, edge_ids, edge_ptr = self._encoder.encode(
            self._columns, columns.table, list(columns.column_indices), columns.sentence_indices, starts, grow, threads
        )
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

    def name(self, feature: int, *, edge: bool = False) -> str:
        assert self._encoder is not None
        text, codes = self._encoder.name(edge, feature)
        line = self._line_of[self._texts[text], edge]
        values = [self._value(self._cells.index((c.column, c.derived)), code) for c, code in zip(line.cells, codes)]
        return "".join(piece + value for piece, value in zip(line.pieces, values)) + line.pieces[-1]

    def _value(self, column: int, code: int) -> str:
        """The text of a cell; codes below UNKNOWN stand for cells outside the sentence (core/text/templates.hpp)."""
        assert self._columns is not None
        if code >= 0:
            value = self._columns.string(column, code)
            return "?" if value is None else value
        distance, side = divmod(-code, 2)
        return f"_B+{distance}" if side else f"_B-{distance}"

    def stored(self, keep: Mask | None = None, keep_edges: Mask | None = None) -> Stored:
        assert self._encoder is not None and self._columns is not None
        header = {"templates": list(self.templates.lines), "n_columns": self.n_columns}
        arrays: dict[str, NDArray[Any]] = {}
        for edge, kind, kept in ((False, "features", keep), (True, "edge_features", keep_edges)):
            text, ptr, codes = self._encoder.dump(edge)
            if kept is not None:
                codes = codes[np.repeat(kept, np.diff(ptr))]
                ptr = sequence_ptr(np.diff(ptr)[kept])
                text = text[kept]
            arrays |= {f"{kind}.text": text, f"{kind}.ptr": ptr, f"{kind}.codes": codes}
        for i, (_, derived) in enumerate(self._cells):
            arrays[f"column{i}"], arrays[f"column{i}.ends"] = self._columns.dump(i)
            if derived is not None:
                arrays[f"column{i}.of_word"] = self._columns.of_word(i)
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
        assert self._encoder is not None and self._columns is not None
        strings = [restored_strings(file, f"column{i}") for i in range(len(self._cells))]
        words = {column: len(own) for (column, derived), own in zip(self._cells, strings) if derived is None}
        for i, ((column, derived), own) in enumerate(zip(self._cells, strings)):
            of_word = np.empty(0, dtype=np.int32)
            if derived is not None:
                shape = (words[column],)
                of_word = file.array(f"column{i}.of_word", np.int32, shape, minimum=UNKNOWN, maximum=len(own) - 1)
            self._columns.restore(i, own, of_word)
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
