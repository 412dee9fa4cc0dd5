"""Other names of labels: those of TIMIT that are usual, or what a file says."""

from __future__ import annotations

from margent.errors import CorpusError


def label_map(name: str, encoding: str | None = None) -> dict[str, str | None]:
    """From label to label, or to None where it is left out.

    name : "timit-48" (61 labels of the files to the 48 that models learn), "timit-39" (either to the 39 that count), or
        the path of a file with two columns, old and new label; a line with one leaves that label out
    """
    from margent.datasets.timit import TIMIT_39, timit_fold
    from margent.formats.source import read_text

    if name == "timit-48":
        return timit_fold(48)
    if name == "timit-39":
        return {**TIMIT_39, **timit_fold(39)}
    path, text = read_text(name, encoding)
    names: dict[str, str | None] = {}
    for number, line in enumerate(text.split("\n"), 1):
        columns = line.split()
        if not columns:
            continue
        if len(columns) > 2:
            raise CorpusError(f"{path}, line {number}: expected one or two labels, got {len(columns)}: {line!r}")
        if columns[0] in names:
            raise CorpusError(f"{path}, line {number}: the label {columns[0]!r} has a line already")
        names[columns[0]] = columns[1] if len(columns) == 2 else None
    if not names:
        raise CorpusError(f"{path}: expected two columns, old and new label; the file is empty")
    return names
