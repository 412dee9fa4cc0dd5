"""The column format, read plainly."""

from __future__ import annotations


def read_plainly(
    text: str, tabs_only: bool = False, comment: str = "", drop_docstart: bool = True
) -> list[list[tuple]]:
    sentences: list[list[tuple]] = [[]]
    for line in text.removeprefix("\ufeff").split("\n"):
        line = line.removesuffix("\r")
        if not line.strip(" \t"):
            sentences.append([])
        elif comment and line.startswith(comment):
            continue
        elif drop_docstart and line.replace("\t", " ").split(" ")[0] == "-DOCSTART-":
            sentences.append([])
        else:
            cells = line.split("\t") if tabs_only else [c for c in line.replace("\t", " ").split(" ") if c]
            sentences[-1].append(tuple(cells))
    return [sentence for sentence in sentences if sentence]
