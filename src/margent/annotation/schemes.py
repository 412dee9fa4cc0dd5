"""Label schemes: how chunks (spans of tokens with a type) are written as one label per token, and read back.

A label is a prefix, a dash and a type (`B-NP`); only the first dash counts, so the type of `B-NP-TMP` is `NP-TMP`. A
label without a dash (`B`) has the empty type; `O` is outside of all chunks.

| scheme | a chunk of three tokens, then one of a single token and the same type |
| --- | --- |
| `iob1` | `I-X I-X I-X B-X`: `B` only where a chunk follows another of its type |
| `iob2` | `B-X I-X I-X B-X`: `B` on every first token (CoNLL-2000 and CoNLL-2002 data) |
| `ioe1` | `I-X I-X E-X I-X`: `E` only where a chunk is followed by another of its type |
| `ioe2` | `I-X I-X E-X E-X`: `E` on every last token |
| `iobes` | `B-X I-X E-X S-X` |
| `bilou` | `B-X I-X L-X U-X`: the same as `iobes` with other letters |

**Reading.** All six are read by one rule, that of the CoNLL-2000 script `conlleval`, which gives a meaning to
malformed sequences as well: two neighbouring tokens are in the same chunk if and only if both are inside, their types
are equal, the first is not `E` or `S`, and the second is not `B` or `S` (`L` counts as `E`, `U` as `S`). A chunk that
was never opened thus begins at its first token, one that was never closed ends at its last.

Differs: the script of 2004 does not know `S`, `L` and `U`, and does not split `E-X B-X`, so that it glues neighbouring
chunks of IOBES data together. On labels with the prefixes `B`, `I`, `O`, or `I`, `E`, `O`, in any order, our reading
and the script's are the same. The name `"conlleval"` instead of a scheme asks for the script's reading to the letter;
prefixes that it does not know are then judged by their types alone, as it does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.errors import ConstraintError, CorpusError

__all__ = [
    "SCHEMES",
    "Span",
    "convert",
    "detect_scheme",
    "joined",
    "labels_of",
    "scheme_of_pairs",
    "span_constraints",
    "spans",
    "split_label",
    "transition_mask",
]


class Span(NamedTuple):
    """The tokens `start` to `end` (exclusive) form a chunk of type `label`."""

    start: int
    end: int
    label: str


class _Rules(NamedTuple):
    """What a well-formed sequence of a scheme looks like, as pairs of neighbours.

    A label may stand next to the boundary of the sequence, to `O` or to another type if it is in `opening` (at the left
    edge of a chunk) or in `closing` (at the right edge). Neighbours of one type must be a pair in `together`.
    """

    opening: str
    closing: str
    together: frozenset[str]

    @property
    def prefixes(self) -> set[str]:
        return set("".join(self.together))


def _pairs(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RULES = {
    "iob1": _Rules("I", "BI", _pairs("BB BI IB II")),
    "iob2": _Rules("B", "BI", _pairs("BB BI IB II")),
    "ioe1": _Rules("IE", "I", _pairs("EE EI IE II")),
    "ioe2": _Rules("IE", "E", _pairs("EE EI IE II")),
    "iobes": _Rules("BS", "ES", _pairs("BI BE II IE EB ES SB SS")),
    "bilou": _Rules("BU", "LU", _pairs("BI BL II IL LB LU UB UU")),
}

SCHEMES = tuple(_RULES)
"""The names of the schemes."""

_CONLLEVAL = "conlleval"
_KNOWN = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
"""Prefixes inside of a chunk, with the BILOU letters said in IOBES."""


def _rules(scheme: str) -> _Rules:
    if scheme not in _RULES:
        raise CorpusError(f"unknown label scheme {scheme!r}; the schemes are {', '.join(SCHEMES)}")
    return _RULES[scheme]


def split_label(label: str) -> tuple[str, str]:
    """Prefix and type of a label: `B-NP-TMP` gives `("B", "NP-TMP")`, `O` gives `("O", "")`."""
    prefix, _, kind = label.partition("-")
    return prefix, kind


def _check_labels(labels: Sequence[str], scheme: str, noun: str) -> None:
    prefixes = _rules(scheme).prefixes
    bad = {label for label in set(labels) - {"O"} if split_label(label)[0] not in prefixes}
    if bad:
        position, label = next((i, label) for i, label in enumerate(labels) if label in bad)
        letters = ", ".join(sorted(prefixes))
        raise CorpusError(
            f"{noun} {position} has the label {label!r}, but the scheme {scheme} has only O and the prefixes {letters}"
        )


@lru_cache(maxsize=1 << 14)
def _inside(label: str) -> bool:
    # A prefix that no scheme knows makes a chunk only through its type, as in conlleval: plain labels hold no chunks.
    prefix, kind = split_label(label)
    return prefix in _KNOWN or (kind != "" and prefix not in ("O", "."))


@lru_cache(maxsize=1 << 16)
def joined(left: str, right: str, to_the_letter: bool = False) -> bool:
    """Whether two neighbouring labels belong to one chunk."""
    (before, kind), (after, kind_after) = split_label(left), split_label(right)
    if kind != kind_after or not (_inside(left) and _inside(right)):
        return False
    if to_the_letter:
        return before + after not in ("BB", "IB", "EE", "EI")
    return _KNOWN.get(before) not in ("E", "S") and _KNOWN.get(after) not in ("B", "S")


def spans(labels: Iterable[str], scheme: str | None = None) -> list[Span]:
    """The chunks of one label sequence, from left to right, as `conlleval` sees them.

    With `scheme=None` any label is welcome. With a scheme, a label that it does not have (such as `S-X` in `iob2`) is a
    `CorpusError`; a sequence of its labels in an order that it does not allow (such as `O I-X` in `iob2`) is read by
    the rule of this module. `scheme="conlleval"` reads as the Perl script does, to the letter.

    >>> spans(["B-NP", "I-NP", "O", "I-VP"])
    [Span(start=0, end=2, label='NP'), Span(start=3, end=4, label='VP')]
    """
    labels = list(labels)
    to_the_letter = scheme == _CONLLEVAL
    for position, label in enumerate(labels):
        if not isinstance(label, str):
            raise CorpusError(f"the label of token {position} is {label!r}, but a string was expected")
    if scheme is not None and not to_the_letter:
        _check_labels(labels, scheme, "token")
    found: list[Span] = []
    start, previous = 0, "O"
    for position, label in enumerate([*labels, "O"]):
        if not joined(previous, label, to_the_letter):
            if _inside(previous):
                found.append(Span(start, position, split_label(previous)[1]))
            start = position
        previous = label
    return found


def _in_order(given: Iterable[tuple[int, int, str]], length: int) -> list[Span]:
    """The spans sorted; a `CorpusError` if one is empty, reaches outside the sequence, or two overlap."""
    ordered = sorted(Span(*span) for span in given)
    end = 0
    for span in ordered:
        if not 0 <= span.start < span.end <= length:
            raise CorpusError(f"{span} is empty or reaches outside of a sequence of {length} tokens")
        if span.start < end:
            raise CorpusError(f"{span} overlaps the span before it, which ends at {end}")
        end = span.end
    return ordered


def _prefix(scheme: str, first: bool, last: bool, after_same: bool, before_same: bool) -> str:
    """The prefix of a token inside a span: is it its first, its last, is the neighbouring span of the same type?"""
    if scheme == "iob1":
        return "B" if first and after_same else "I"
    if scheme == "iob2":
        return "B" if first else "I"
    if scheme == "ioe1":
        return "E" if last and before_same else "I"
    if scheme == "ioe2":
        return "E" if last else "I"
    begin, end, single = "BES" if scheme == "iobes" else "BLU"
    if first:
        return single if last else begin
    return end if last else "I"


def labels_of(spans: Iterable[tuple[int, int, str]], length: int, scheme: str = "iob2") -> list[str]:
    """The label sequence of `length` tokens that holds exactly these spans (in any order, without overlap).

    >>> labels_of([Span(0, 2, "NP"), Span(3, 4, "VP")], 4, "iobes")
    ['B-NP', 'E-NP', 'O', 'S-VP']
    """
    _rules(scheme)
    ordered = _in_order(spans, length)
    starts = {(span.start, span.label) for span in ordered}
    ends = {(span.end, span.label) for span in ordered}
    labels = ["O"] * length
    for start, end, kind in ordered:
        after_same, before_same = (start, kind) in ends, (end, kind) in starts
        for position in range(start, end):
            prefix = _prefix(scheme, position == start, position == end - 1, after_same, before_same)
            labels[position] = f"{prefix}-{kind}" if kind else prefix
    return labels


def convert(labels: Iterable[str], source: str | None, target: str) -> list[str]:
    """The same spans in another scheme; `source=None` reads labels of any scheme.

    A malformed sequence comes out well formed. Converting a scheme to itself thus repairs it.

    >>> convert(["I-NP", "I-NP", "B-NP"], "iob1", "iob2")
    ['B-NP', 'I-NP', 'B-NP']
    """
    labels = list(labels)
    return labels_of(spans(labels, source), len(labels), target)


def _may_follow(rules: _Rules, left: str, right: str) -> bool:
    """Whether `right` may stand after `left`, both of the scheme. The boundary of the sequence acts as an `O`."""
    (before, kind_before), (after, kind_after) = split_label(left), split_label(right)
    if before != "O" and after != "O" and kind_before == kind_after:
        return before + after in rules.together
    return (before == "O" or before in rules.closing) and (after == "O" or after in rules.opening)


def detect_scheme(sequences: Iterable[Iterable[str | None]], tolerance: float = 0.001) -> str | None:
    """The scheme of the label sequences, or None if they are in none: plain labels, or not a single chunk.

    Every label must be one of the scheme; the order of labels may break its rules in up to `tolerance` of the pairs of
    neighbours, because published data has mistakes (each file of CoNLL-2002 Spanish has one `O I-X` in its IOB2
    labels). `tolerance=0` asks for a scheme without exception; otherwise `convert(labels, scheme, scheme)` repairs the
    sequences where it matters. The scheme with the fewest mistakes wins.

    As soon as there is one chunk, at most one scheme fits without mistakes, with one exception: labels that are all
    `I-` and `O` fit both `iob1` and `ioe1`; they mean the same spans in both, and the answer is `iob1`. A missing label
    (None) says nothing. Takes one pass over the data, which it does not keep.
    """
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    for number, sequence in enumerate(sequences):
        if isinstance(sequence, str):
            raise CorpusError(f"sequence {number} is {sequence!r}, but a list of labels was expected")
        labels = list(sequence)
        pairs.update(zip(["O", *labels], [*labels, "O"]))
    return scheme_of_pairs(pairs, tolerance)


def scheme_of_pairs(pairs: Mapping[tuple[str | None, str | None], int], tolerance: float = 0.001) -> str | None:
    """As `detect_scheme`, from how often each pair of neighbours occurs; the boundaries of a sequence count as `O`."""
    names = {label for pair in pairs for label in pair} - {None, "O"}
    prefixes = {split_label(label)[0] if isinstance(label, str) else label for label in names}
    fitting = [scheme for scheme, rules in _RULES.items() if prefixes <= rules.prefixes] if names else []
    known = [(left, right, count) for (left, right), count in pairs.items() if left is not None and right is not None]
    mistakes = {
        scheme: sum(count for left, right, count in known if not _may_follow(_RULES[scheme], left, right))
        for scheme in fitting
    }
    best = min(fitting, key=mistakes.__getitem__, default=None)
    return best if best is not None and mistakes[best] <= tolerance * sum(pairs.values()) else None


def transition_mask(label_names: Sequence[str], scheme: str) -> NDArray[np.bool_]:
    """Which label may follow which in a well-formed sequence of the scheme.

    Returns a boolean array of shape `(L + 1, L + 1)`, L the number of labels: entry `[i, j]` says whether label j may
    follow label i; row L stands for the start of the sequence, column L for its end (`[L, L]`: it may be empty). The
    sequences that it admits are exactly those that `labels_of` writes. A label that the scheme does not have is a
    `CorpusError`.

    >>> transition_mask(["O", "B-X", "I-X"], "iob2").astype(int).tolist()
    [[1, 1, 0, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1]]
    """
    rules = _rules(scheme)
    _check_labels(label_names, scheme, "entry")
    prefixes, kinds = (np.array(part) for part in zip(*map(split_label, [*label_names, "O"])))
    outside = prefixes == "O"
    closing, opening = (outside | np.isin(prefixes, list(edge)) for edge in (rules.closing, rules.opening))
    neighbours = np.isin(np.char.add(prefixes[:, None], prefixes[None, :]), list(rules.together))
    same = (kinds[:, None] == kinds[None, :]) & ~(outside[:, None] | outside[None, :])
    return np.where(same, neighbours, closing[:, None] & opening[None, :])


def span_constraints(
    spans: Iterable[tuple[int, int, str]], length: int, label_names: Sequence[str], scheme: str
) -> dict[int, list[str]]:
    """Position to allowed labels, such that each given span is in every labelling they allow, and nothing else is said.

    Tokens of a span have one label each. The free tokens next to it may not have a label that would join it, so the
    span neither begins earlier nor ends later than asked. Positions that are not mentioned are free.

    In `iob1` and `ioe1`, where the label at the edge of a chunk depends on its neighbour, a set of labels for each
    position cannot say "another chunk of the same type, or something else". There a free token next to a given span
    is never of the same type. Give that neighbour as a span of its own to have it.

    A `ConstraintError` tells of a span that needs a label which is not in `label_names`, or leaves a neighbour none.
    """
    _check_labels(label_names, scheme, "entry")
    ordered = _in_order(spans, length)
    fixed = labels_of(ordered, length, scheme)
    inside = {position: span for span in ordered for position in range(span.start, span.end)}
    for position, span in inside.items():
        if fixed[position] not in label_names:
            raise ConstraintError(f"{span} needs the label {fixed[position]!r}, which is not among the labels known")
    allowed = {position: [fixed[position]] for position in inside}

    for span in ordered:
        for free, inner in ((span.start - 1, span.start), (span.end, span.end - 1)):
            if not 0 <= free < length or free in inside:
                continue
            edge = fixed[inner]
            allowed[free] = [
                name
                for name in allowed.get(free, label_names)
                if not (joined(name, edge) if free < inner else joined(edge, name))
            ]
            if not allowed[free]:
                raise ConstraintError(f"{span} leaves no label for its neighbour, token {free}")
    return dict(sorted(allowed.items()))
