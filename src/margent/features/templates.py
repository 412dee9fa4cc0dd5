"""Feature templates in the syntax of CRF++, with derived columns.

A template is a line of text in which each `%x[row,column]` is replaced by a cell of the data: `row` counts from the
token at hand, `column` from 0. The text that results is the feature:

    U05:%x[-1,0]/%x[0,0]        the word before and the word, paired with the label
    B01:%x[0,1]                 the second column, paired with the previous label and the label
    B                           label pairs alone: the transitions of the chain
    Usuffix=%x[0,0.suffix3]     a derived column (see margent.features.derived) of column 0
    Utag[-1]=%x[-1,*]           one such template for each column after the first

Lines that are empty or start with # are skipped. Cells before the first token read _B-1, _B-2, ... and after the last
_B+1, _B+2, ..., as in CRF++. Two templates of the same text that name the same columns at different rows share their
features (a bag of words). Differs: CRF++ shares them across columns too, when the texts agree by chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from os import PathLike
from pathlib import Path

from margent.errors import CorpusError
from margent.features.derived import DERIVATIONS
from margent.parameters import in_order

PRESETS = ("generic", "chunking", "ner", "pos", "letters", "spelling")

_MAX_ROW = 100
_MOST_CELLS = 200_000
"""That lines with `*` may stand for: some seconds of parsing."""


@dataclass(frozen=True)
class Cell:
    """One `%x[row,column.derived]`."""

    row: int
    column: int
    derived: str | None = None


@dataclass(frozen=True)
class TemplateLine:
    """One parsed template: `pieces` of text around its `cells`; `edge` for B templates."""

    edge: bool
    pieces: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def text(self) -> str:
        """What identifies its features besides the cells' contents: the text and the columns, but not the rows."""
        columns = [f"{c.column}.{c.derived}" if c.derived else str(c.column) for c in self.cells]
        return "".join(f"{piece}%x[{column}]" for piece, column in zip(self.pieces, columns)) + self.pieces[-1]


@dataclass(frozen=True)
class Templates:
    """Feature templates, one per line. Use `Templates.preset("ner")`, `Templates.from_file(path)` or give the lines."""

    lines: tuple[str, ...]

    def __init__(self, lines: str | Iterable[str]) -> None:
        split = lines.splitlines() if isinstance(lines, str) else in_order(lines)
        for line in split:
            if not isinstance(line, str):
                raise TypeError(f"templates should be lines of text, got {line!r}")
        kept = (line.strip() for line in split)
        object.__setattr__(self, "lines", tuple(line for line in kept if line and not line.startswith("#")))
        if not self.lines:
            raise CorpusError("expected at least one template, a line that starts with U or B, got none")
        for line in self.lines:
            _parse(line, n_columns=2)

    @classmethod
    def preset(cls, name: str) -> Templates:
        """The templates that ship with Margent under this name."""
        return cls(preset_text(name))

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Templates:
        """Templates from a file in CRF++'s syntax."""
        try:
            return cls(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise CorpusError(f"{path}: a template file must be UTF-8 text") from None
        except CorpusError as error:
            raise CorpusError(f"{path}: {error}") from None

    @property
    def label_transitions(self) -> bool:
        """Whether a plain B line asks for label transitions."""
        return any(line.startswith("B") and "%x" not in line for line in self.lines)

    def parse(self, n_columns: int) -> list[TemplateLine]:
        """The templates for data of `n_columns` columns; plain B lines are left out."""
        parsed: list[TemplateLine] = []
        n_cells = n_columns * sum(line.count("%x[") for line in self.lines if "*" in line)
        if n_cells > _MOST_CELLS:
            raise CorpusError(
                f"templates with * stand for {n_cells} cells in data of {n_columns} columns; expected at most "
                f"{_MOST_CELLS}"
            )
        for line in self.lines:
            templates = _parse(line, n_columns)
            named = max((cell.column for template in templates for cell in template.cells), default=0)
            if named >= n_columns:
                raise CorpusError(
                    f"template {line!r} names column {named}, counted from 0, but the data has {n_columns} input "
                    f"column{'s' if n_columns != 1 else ''}; at least {named + 1} are needed besides the label"
                )
            parsed += templates
        return [template for template in parsed if template.cells or not template.edge]


def preset_text(name: str) -> str:
    """The template file of a preset, to print or to start one's own from."""
    if name not in PRESETS:
        raise ValueError(f"there are no feature templates named {name!r}; expected one of {', '.join(PRESETS)}")
    return (resources.files("margent.features") / "presets" / f"{name}.txt").read_text(encoding="utf-8")


def _parse(line: str, n_columns: int) -> list[TemplateLine]:
    """A line as templates: one, or one per column after the first where it says `*`. Time goes with what they hold."""
    if line[0] not in "UB":
        raise CorpusError(f"template {line!r} must start with U (one label) or B (two labels)")
    first, *rest = line.split("%x[")
    pieces, places = [first], []
    for part in rest:
        inside, bracket, piece = part.partition("]")
        row, comma, column = inside.partition(",")
        if not bracket or not comma:
            raise _malformed(line)
        column, dot, derived = column.partition(".")
        places.append((row.strip(), column.strip(), derived.strip() if dot else None))
        pieces.append(piece)
    if any("%x" in piece for piece in pieces):
        raise _malformed(line)
    if not any(column == "*" for _, column, _ in places):
        return [TemplateLine(line[0] == "B", tuple(pieces), tuple(_cell(line, *place) for place in places))]
    parsed = []
    for number in range(1, n_columns):
        named = ((row, str(number) if column == "*" else column, derived) for row, column, derived in places)
        # The column number keeps the features of two columns apart.
        own = (f"{first[:1]}{number}:{first[1:]}", *pieces[1:])
        parsed.append(TemplateLine(line[0] == "B", own, tuple(_cell(line, *place) for place in named)))
    return parsed


def _malformed(line: str) -> CorpusError:
    return CorpusError(f"template {line!r}: expected cells as %x[row,column] or %x[row,column.derived]")


def _cell(line: str, row: str, column: str, derived: str | None) -> Cell:
    try:
        cell = Cell(int(row), int(column), derived)
    except ValueError:
        raise CorpusError(f"template {line!r}: row and column of %x[{row},{column}] must be integers") from None
    if abs(cell.row) > _MAX_ROW or cell.column < 0:
        raise CorpusError(f"template {line!r}: expected a row within {_MAX_ROW} tokens and a column from 0 on")
    if derived is not None and derived not in DERIVATIONS:
        raise CorpusError(f"template {line!r}: no derived column {derived!r}; expected one of {', '.join(DERIVATIONS)}")
    return cell
