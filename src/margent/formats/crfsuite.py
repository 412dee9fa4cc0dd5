"""CRFsuite's attribute files (https://www.chokkan.org/software/crfsuite/manual.html): an item a line, its
label and attributes separated by tabs, ``attribute:weight`` where the weight is not 1, a blank line after each
sequence. A colon or backslash in a name is written with a backslash before it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from margent.formats.batch import attribute_batches
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.parallel import apart, token_lines
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike, TargetLike, open_target

Attributes: TypeAlias = "dict[str, float]"
"""The attributes of one item with their weights."""


def iter_crfsuite(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[list[Attributes], list[str]]]:
    """Read a CRFsuite attribute file sequence by sequence: yields (attributes of each item, label of each item)."""
    opened = Source(source, encoding, limits)
    items: list[Attributes] = []
    labels: list[str] = []
    size = 0
    for number, line in opened.lines():
        if not line:
            if labels:
                yield items, labels
                items, labels, size = [], [], 0
            continue
        size += len(line)
        if len(items) == limits.tokens or size > limits.sentence:
            raise opened.beyond("tokens" if size <= limits.sentence else "sentence", number)
        label, *fields = line.split("\t")
        if not label:
            raise opened.error(number, "expected a label before the first tab, got none")
        attributes: Attributes = {}
        try:
            labels.append(_parse(label)[0])
            for field in fields:
                if field:
                    name, weight = _parse(field)
                    attributes[name] = attributes.get(name, 0.0) + weight
        except ValueError as error:
            raise opened.error(number, str(error)) from None
        items.append(attributes)
    if labels:
        yield items, labels


def read_crfsuite(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[list[Attributes]], list[list[str]]]:
    """Read a CRFsuite attribute file.

    An attribute without a weight, or with an empty one, weighs 1; weights of an attribute that an item names twice are
    added, for so CRFsuite scores it.

    Returns
    -------
    X : list of sequences, each a list of dicts from attribute to weight
    y : list of sequences of labels

    Examples
    --------
    >>> read_crfsuite(b"B-NP\\tw=the\\tlength:3\\nI-NP\\tw=10\\\\:30\\n")
    ([[{'w=the': 1.0, 'length': 3.0}, {'w=10:30': 1.0}]], [['B-NP', 'I-NP']])
    """
    return apart(iter_crfsuite(source, encoding=encoding, limits=limits))


def write_crfsuite(
    target: TargetLike,
    X: Iterable[Sequence[Mapping[str, float] | Sequence[str]]],
    y: Iterable[Sequence[str]],
    *,
    encoding: str = "utf-8",
) -> None:
    """Write sequences as a CRFsuite attribute file.

    Parameters
    ----------
    X : sequences of items, each a mapping from attribute to weight, or a list of attributes that weigh 1
    y : sequences of labels
    """
    with open_target(target, encoding) as write:
        for lines in token_lines(X, y, _line):
            if lines:
                write("\n".join([*lines, "", ""]))


def _parse(field: str) -> tuple[str, float]:
    """Name and weight; the first colon without a backslash stands between them."""
    if "\\" not in field:
        name, colon, weight = field.partition(":")
    else:
        characters, colon, weight = [], "", ""
        position = 0
        while position < len(field):
            character = field[position]
            if character == "\\" and field[position + 1 : position + 2] in (":", "\\"):
                position += 1
                character = field[position]
            elif character == ":":
                colon, weight = ":", field[position + 1 :]
                break
            characters.append(character)
            position += 1
        name = "".join(characters)
    if not colon or not weight:
        return name, 1.0
    try:
        value = float(weight)
    except ValueError:
        raise ValueError(f"expected a number after the colon in {field!r}; write '\\:' for a colon in a name") from None
    if not math.isfinite(value):
        raise ValueError(f"expected a finite weight in {field!r}")
    return name, value


def _line(number: int, item: Mapping[str, float] | Sequence[str], label: str) -> str:
    weights = item if isinstance(item, Mapping) else dict.fromkeys(item, 1.0)
    return "\t".join([_escape(label), *(_format(name, weight) for name, weight in weights.items())])


def _escape(name: str) -> str:
    if not isinstance(name, str) or not name or any(c in name for c in "\t\n\r"):
        raise ValueError(f"expected a name without tabs and line ends, got {name!r}")
    return name.replace("\\", "\\\\").replace(":", "\\:")


def _format(name: str, weight: float) -> str:
    value = float(weight)
    if not math.isfinite(value):
        raise ValueError(f"expected a finite weight for {name!r}, got {weight!r}")
    return _escape(name) if value == 1.0 else f"{_escape(name)}:{value!r}"


FORMATS = (
    Format(
        "crfsuite",
        "attributes",
        "attributes as CRFsuite takes them",
        (".crfsuite",),
        lambda path, options: read_crfsuite(path, **options.reading),
        lambda path, options, expected: attribute_batches(path, iter_crfsuite(path, **options.reading)),
        lambda target, X, y, options: write_crfsuite(target, X, y, **options.text),
    ),
)
