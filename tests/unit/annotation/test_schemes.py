from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.annotation.schemes import (
    SCHEMES,
    Span,
    convert,
    detect_scheme,
    labels_of,
    span_constraints,
    spans,
    transition_mask,
)
from margent.errors import ConstraintError, CorpusError

PREFIXES = {"iob1": "BI", "iob2": "BI", "ioe1": "IE", "ioe2": "IE", "iobes": "BIES", "bilou": "BILU"}


def names(scheme: str, kinds: tuple[str, ...] = ("X", "Y")) -> list[str]:
    return ["O", *(f"{prefix}-{kind}" for prefix in PREFIXES[scheme] for kind in kinds)]


def admitted(mask: np.ndarray, label_names: list[str], labels: tuple[str, ...]) -> bool:
    boundary = len(label_names)
    path = [boundary, *(label_names.index(label) for label in labels), boundary]
    return all(mask[i, j] for i, j in itertools.pairwise(path))


@st.composite
def bracketings(draw: st.DrawFn, kinds: tuple[str, ...] = ("X", "Y", "NP-TMP", "")) -> tuple[list[Span], int]:
    """Random spans without overlap, often side by side, and the length of the sequence."""
    found, position = [], 0
    for gap, size, kind in draw(
        st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.sampled_from(kinds)), max_size=6)
    ):
        found.append(Span(position + gap, position + gap + size, kind))
        position += gap + size
    return found, position + draw(st.integers(0, 2))


def all_bracketings(length: int, kinds: str = "XY") -> list[list[Span]]:
    """Every set of spans without overlap in a sequence of this length."""
    if length <= 0:
        return [[]] if length == 0 else []
    found = list(all_bracketings(length - 1, kinds))
    for size in range(1, length + 1):
        for kind in kinds:
            found += [[*rest, Span(length - size, length, kind)] for rest in all_bracketings(length - size, kinds)]
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=150)
@given(bracketings())
def test_spans_survive_being_written_and_read(scheme: str, case: tuple[list[Span], int]) -> None:
    found, length = case
    labels = labels_of(reversed(found), length, scheme)
    assert len(labels) == length
    assert spans(labels) == spans(labels, scheme) == found


@pytest.mark.parametrize("source", SCHEMES)
@pytest.mark.parametrize("target", SCHEMES)
@settings(deadline=None, max_examples=40)
@given(bracketings())
def test_conversion_keeps_spans_and_goes_back(source: str, target: str, case: tuple[list[Span], int]) -> None:
    labels = labels_of(*case, source)
    there = convert(labels, source, target)
    assert spans(there, target) == case[0]
    assert convert(there, target, source) == labels


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_mask_admits_exactly_what_the_scheme_writes(scheme: str) -> None:
    label_names = names(scheme)
    mask = transition_mask(label_names, scheme)
    for length in range(5 if len(label_names) < 6 else 4):
        written = {tuple(labels_of(found, length, scheme)) for found in all_bracketings(length)}
        allowed = {
            labels for labels in itertools.product(label_names, repeat=length) if admitted(mask, label_names, labels)
        }
        assert allowed == written


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(bracketings())
def test_written_sequences_satisfy_the_mask(scheme: str, case: tuple[list[Span], int]) -> None:
    label_names = [name.removesuffix("-") for name in names(scheme, ("X", "Y", "NP-TMP", ""))]
    mask = transition_mask(label_names, scheme)
    assert admitted(mask, label_names, tuple(labels_of(*case, scheme)))


def test_reading_of_examples() -> None:
    assert spans(["B-NP-TMP", "I-NP-TMP", "O"]) == [Span(0, 2, "NP-TMP")]
    assert spans(["I-X", "I-Y", "B-Y", "O", "I-Y"]) == [
        Span(0, 1, "X"),
        Span(1, 2, "Y"),
        Span(2, 3, "Y"),
        Span(4, 5, "Y"),
    ]
    assert spans(["B", "I", "O", "S", "S"]) == [Span(0, 2, ""), Span(3, 4, ""), Span(4, 5, "")]
    assert spans(["B-X", "L-X", "U-X", "B-X"]) == [Span(0, 2, "X"), Span(2, 3, "X"), Span(3, 4, "X")]
    assert spans(["DT", "NN", "."]) == []
    assert spans([]) == []


def test_the_script_to_the_letter_glues_iobes_chunks() -> None:
    labels = ["B-X", "E-X", "B-X", "E-X", "S-Y", "S-Y"]
    assert [span[:2] for span in spans(labels)] == [(0, 2), (2, 4), (4, 5), (5, 6)]
    assert [span[:2] for span in spans(labels, "conlleval")] == [(0, 4), (4, 6)]


@pytest.mark.parametrize("alphabet", ["BIO", "IEO"])
def test_both_readings_agree_on_the_schemes_the_script_knows(alphabet: str) -> None:
    label_names = [prefix if prefix == "O" else f"{prefix}-{kind}" for prefix in alphabet for kind in "XY"]
    for labels in itertools.product(sorted(set(label_names)), repeat=4):
        assert spans(labels) == spans(labels, "conlleval")


def test_malformed_sequences_are_repaired_by_conversion() -> None:
    assert convert(["O", "I-X", "I-X", "I-Y"], "iob2", "iob2") == ["O", "B-X", "I-X", "B-Y"]
    assert convert(["I-X", "O", "B-X"], "iobes", "iobes") == ["S-X", "O", "S-X"]


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(deadline=None, max_examples=60)
@given(st.lists(bracketings(kinds=("X", "Y")), min_size=1, max_size=4))
def test_detection(scheme: str, cases: list[tuple[list[Span], int]]) -> None:
    sequences = [labels_of(*case, scheme) for case in cases]
    detected = detect_scheme(iter(sequences))
    labels = {label[0] for sequence in sequences for label in sequence} - {"O"}
    if not labels:
        assert detected is None
    elif labels == {"I"}:
        assert detected == "iob1" and scheme in ("iob1", "ioe1")
    else:
        assert detected == scheme


def test_detection_of_other_things() -> None:
    assert detect_scheme([]) is None
    with pytest.raises(CorpusError, match="sequence 0 is 'B-X', but a list of labels was expected"):
        detect_scheme(["B-X", "I-X"])
    assert detect_scheme([[], ["O", "O"]]) is None
    assert detect_scheme([["DT", "NN"], ["VB"]]) is None
    assert detect_scheme([["B-X", "O"], ["O", "I-X"]]) is None  # a mistake
    assert detect_scheme([["O-X", "B-X"]]) is None
    assert detect_scheme([[1, 2]]) is None  # type: ignore[list-item]
    assert detect_scheme([["B-X", None, "I-X", "B-X"], [None]]) == "iob2"


def test_detection_overlooks_a_mistake_in_a_thousand() -> None:
    sequences = [["B-X", "I-X", "O", "B-Y"]] * 500 + [["O", "I-X"]]
    assert detect_scheme(sequences) == "iob2"
    assert detect_scheme(sequences, tolerance=0) is None
    assert detect_scheme([["O"] * 5000, ["O", "B-X", "O"]]) == "iob2"  # few chunks, but none of iob1's


@pytest.mark.parametrize("name", ["conll2000/train.txt.gz", "conll2002/esp.train.gz", "ner-wnut17/train.conll.gz"])
def test_detection_on_public_data(name: str) -> None:
    path = Path(os.environ.get("MARGENT_DATA", "")) / name
    if not os.environ.get("MARGENT_DATA") or not path.exists():
        pytest.skip(f"MARGENT_DATA has no {name}")
    text = gzip.decompress(path.read_bytes()).decode("latin-1")
    sentences = [
        [line.split()[-1] for line in block.strip("\n").split("\n")] for block in text.split("\n\n") if block.strip()
    ]
    assert detect_scheme(sentences) == "iob2"


def test_wrong_input_is_named() -> None:
    with pytest.raises(CorpusError, match=r"token 1 has the label 'S-X', but the scheme iob2"):
        spans(["O", "S-X"], "iob2")
    with pytest.raises(CorpusError, match=r"entry 1 has the label 'NN'"):
        transition_mask(["O", "NN"], "iobes")
    with pytest.raises(CorpusError, match=r"token 0 is None"):
        spans([None])  # type: ignore[list-item]
    for call in (lambda: spans(["O"], "bio"), lambda: labels_of([], 0, "bio"), lambda: transition_mask([], "bio")):
        with pytest.raises(CorpusError, match=r"unknown label scheme 'bio'; the schemes are iob1"):
            call()
    with pytest.raises(CorpusError, match="overlaps"):
        labels_of([(0, 2, "X"), (1, 3, "X")], 3, "iob2")
    for wrong in ((1, 1, "X"), (-1, 1, "X"), (0, 4, "X")):
        with pytest.raises(CorpusError, match="outside of a sequence of 3 tokens"):
            labels_of([wrong], 3, "iob2")


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_constraints_hold_the_spans_and_lose_nothing_else(scheme: str, masked: bool) -> None:
    label_names, length = names(scheme), 4
    mask = transition_mask(label_names, scheme)
    every = [
        labels
        for labels in itertools.product(label_names, repeat=length)
        if not masked or admitted(mask, label_names, labels)
    ]
    for fixed in ([Span(1, 3, "X")], [Span(0, 1, "Y")], [Span(3, 4, "X")], [Span(1, 2, "X"), Span(2, 3, "X")], []):
        allowed = span_constraints(fixed, length, label_names, scheme)
        obeying = {labels for labels in every if all(labels[i] in choice for i, choice in allowed.items())}
        holding = {labels for labels in every if set(fixed) <= set(spans(labels, scheme))}
        assert obeying <= holding and obeying
        if masked and scheme not in ("iob1", "ioe1"):
            assert obeying == holding
        elif masked:
            # The documented price of these two: a free neighbour is not of the same type.
            edges = {(i, span.label) for span in fixed for i in (span.start - 1, span.end)}
            inner = {i for span in fixed for i in range(span.start, span.end)}
            apart = {
                labels
                for labels in holding
                if not any(labels[i].endswith(kind) for i, kind in edges if 0 <= i < length and i not in inner)
            }
            assert obeying >= apart


def test_constraints_that_cannot_be_met() -> None:
    with pytest.raises(ConstraintError, match=r"Span\(start=0, end=2, label='Z'\) needs the label 'B-Z'"):
        span_constraints([(0, 2, "Z")], 3, ["O", "B-X", "I-X"], "iob2")
    with pytest.raises(ConstraintError, match="leaves no label for its neighbour, token 1"):
        span_constraints([(0, 1, "X")], 2, ["I-X"], "iob1")
