"""Feature templates in CRF++'s syntax, expanded as strings.

A feature is (template, cells): the template's text with `%x[column]` for each cell, and the cells' contents, where a
cell outside the sentence is ("_B-1",) rather than a word that happens to be spelled so.
"""

from __future__ import annotations

import re
from collections import Counter

CELL = re.compile(r"%x\[(-?\d+),(\d+|\*)(?:\.(\w+))?\]")


def one_per_column(lines, n_columns):
    """The lines with each `*` template written out for every column after the first."""
    for line in lines:
        if "*" in line:
            for column in range(1, n_columns):
                yield f"{line[0]}{column}:{line[1:]}".replace("*", str(column))
        else:
            yield line


def cell(sentence, position, column, derive):
    """The content of one cell, or None for a derived column that this word does not have."""
    if position < 0:
        return (f"_B{position}",)
    if position >= len(sentence):
        return (f"_B+{position - len(sentence) + 1}",)
    return sentence[position][int(column)] if derive is None else derive(sentence[position][int(column)])


def expand(lines, sentence, position, n_columns, derivations, kind):
    """The features of one token from the templates of one kind, U or B; a plain B line is no feature."""
    features = []
    for line in one_per_column(lines, n_columns):
        found = CELL.findall(line)
        if line[0] != kind or (kind == "B" and not found):
            continue
        cells = [
            cell(sentence, position + int(row), column, derivations[derived] if derived else None)
            for row, column, derived in found
        ]
        if None not in cells:
            text = CELL.sub(lambda m: f"%x[{m[2]}.{m[3]}]" if m[3] else f"%x[{m[2]}]", line)
            features.append((text, tuple(cells)))
    return features


def name(feature):
    """The text of a feature, as CRF++ would write it."""
    text, cells = feature
    pieces = re.split(r"%x\[[^\]]*\]", text)
    words = [c[0] if isinstance(c, tuple) else c for c in cells]
    return "".join(piece + word for piece, word in zip(pieces, words)) + pieces[-1]


class PlainMap:
    """A growing set of features of one kind."""

    def __init__(self, lines, n_columns, derivations, kind):
        self.lines, self.n_columns, self.derivations, self.kind = lines, n_columns, derivations, kind
        self.known = set()

    def encode(self, sentences, grow=False, min_count=1):
        rows = [
            expand(self.lines, sentence, t, self.n_columns, self.derivations, self.kind)
            for sentence in sentences
            for t in range(len(sentence))
        ]
        if grow:
            counts = Counter(feature for row in rows for feature in row)
            self.known |= {feature for feature, count in counts.items() if count >= min_count}
        return [[feature for feature in row if feature in self.known] for row in rows]
