"""Support sequences: as a picture in text, as a plot, and in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from margent import ModelFileError
from margent.models.tagger.support import SupportSequence, SupportSequences, SupportSet
from margent.storage import ModelFile

NAMES = ["O", "B-PER", "I-PER"]
X = [["Ana", "fue"], ["a"], ["de", "Juan", "Ruiz"]]
GOLD = np.array([1, 0, 0, 0, 1, -1], dtype=np.int32)
PTR = np.array([0, 2, 3, 6])
SUPPORT = [
    (2, 0.25, np.array([0, 0, 2], dtype=np.int32)),
    (0, 0.5, np.array([0, 0], dtype=np.int32)),
    (2, 1.5, np.array([1, 1, 2], dtype=np.int32)),
]


def made() -> SupportSet:
    return SupportSet.of(SUPPORT, X, GOLD, PTR)


def test_of_a_sentence_heaviest_first() -> None:
    support = made()
    assert len(support) == 3
    assert support.numbers.tolist() == [0, 2]
    found = support.of_sentence(2, NAMES)
    assert found == SupportSequences(
        2,
        ("de", "Juan", "Ruiz"),
        ("O", "B-PER", None),
        (SupportSequence(1.5, ["B-PER", "B-PER", "I-PER"]), SupportSequence(0.25, ["O", "O", "I-PER"])),
    )
    assert support.of_sentence(1, NAMES).sequences == ()


def test_printed_it_shows_only_what_differs() -> None:
    assert str(made().of_sentence(2, NAMES)).splitlines() == [
        "sentence 2: 2 support sequences",
        "     de    Juan  Ruiz",
        "gold O     B-PER ?",
        " 1.5 B-PER .     I-PER",
        "0.25 .     O     I-PER",
    ]
    assert str(made().of_sentence(1, NAMES)) == "sentence 1 has no support sequences"


def test_tokens_that_are_no_text_have_numbers() -> None:
    vectors = [np.zeros((2, 3)), np.zeros((1, 3)), np.zeros((3, 3))]
    assert SupportSet.of(SUPPORT, vectors, GOLD, PTR).of_sentence(2, NAMES).tokens == ("0", "1", "2")
    columns = [[("Ana", "NP"), ("fue", "V")], [("a", "P")], [("de", "P"), ("Juan", "NP"), ("Ruiz", "NP")]]
    for given in (columns, [[list(token) for token in sentence] for sentence in columns]):
        assert SupportSet.of(SUPPORT, given, GOLD, PTR).of_sentence(0, NAMES).tokens == ("Ana", "fue")


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = made().of_sentence(2, NAMES).plot(tmp_path / "support.svg")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts.count("I-PER") == 2 and "Ruiz" in texts
    assert (tmp_path / "support.svg").stat().st_size > 0
    dollars = SupportSequences(0, ("$a_$", "$$"), ("$", None), (SupportSequence(1.0, ["x^$", "$x_$"]),))
    assert dollars.plot(tmp_path / "s.png").axes[0].texts[0].get_text() == "$a_$"
    with pytest.raises(ValueError, match="sentence 1 has no support sequences, so there is nothing to draw"):
        made().of_sentence(1, NAMES).plot()


def file_of(header: dict[str, Any], arrays: dict[str, Any]) -> ModelFile:
    return ModelFile("m", "tagger", "0", header, arrays)


def test_stored_and_restored() -> None:
    restored = SupportSet.restored(file_of(*made().stored()), len(NAMES))
    assert restored is not None
    for number in range(3):
        assert restored.of_sentence(number, NAMES) == made().of_sentence(number, NAMES)
    assert SupportSet.restored(file_of({}, {}), len(NAMES)) is None
    empty = SupportSet.of([], X, GOLD, PTR)
    back = SupportSet.restored(file_of(*empty.stored()), len(NAMES))
    assert back is not None and len(back) == 0


@pytest.mark.parametrize(
    ("array", "value", "message"),
    [
        ("support.numbers", np.array([2, 0]), "should rise"),
        ("support.numbers", np.array([0, 3]), "'support.numbers' should hold numbers"),
        ("support.gold", GOLD[:3], "'support.ptr' should rise from 0 to 3"),
        ("support.owners", np.array([0, 1, 2]), "'support.owners' should hold numbers"),
        ("support.owners", np.array([1, 1, 1]), "as long as their sentences"),
        ("support.weights", np.array([1, np.nan, 1]), "finite"),
        ("support.weights", np.array([1.0, -1, 1]), "'support.weights' should hold numbers"),
        ("support.labels", np.array([0, 0, 3, 0, 0, 0, 0, 0], np.int32), "'support.labels' should hold numbers"),
    ],
)
def test_wrong_files(array: str, value: Any, message: str) -> None:
    header, arrays = made().stored()
    with pytest.raises(ModelFileError, match=message):
        SupportSet.restored(file_of(header, {**arrays, array: value}), len(NAMES))
