"""Small forged files that asked for seconds or gigabytes: each is refused, or answers, within tight limits."""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from tests.fuzz.format_targets import reader_targets
from tests.fuzz.kinds import segmenters, taggers
from tests.fuzz.model_bytes import packed
from tests.fuzz.model_targets import ModelTarget
from tests.fuzz.workers import Limits, run_cases

import margent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
TIGHT = Limits(seconds=3, megabytes=96)


@dataclass(frozen=True)
class Fixed:
    """One file, read in one way."""

    raw: bytes
    read: Callable[[Path], Any]
    name: str = "fixed"

    def prepare(self) -> None: ...

    def forged(self, dice: random.Random) -> bytes:
        return self.raw

    def run(self, path: Path, dice: random.Random) -> None:
        self.read(path)


@dataclass(frozen=True)
class Repeated:
    """A line of one sign, again and again, for a reader: a case for each sign."""

    target: Any
    signs: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.target.name)

    def prepare(self) -> None: ...

    def forged(self, dice: random.Random) -> bytes:
        return b"0 1 a\n" + dice.choice(self.signs).encode() * 50_000 + b"\n"

    def run(self, path: Path, dice: random.Random) -> None:
        self.target.run(path, random.Random(0))


def forged(cases: Any, name: str, change: Callable[[dict[str, Any], dict[str, Any]], None], X: Any = None) -> Fixed:
    """The file of one of the small models with a change, loaded and asked for predictions."""
    target = ModelTarget(name, *cases.CASES[name])
    header, arrays = dict(target.file.header), {key: np.array(array) for key, array in target.file.arrays.items()}
    change(header, arrays)

    def use(path: Path) -> None:
        margent.load(path).predict(target.X if X is None else X)

    return Fixed(packed(target.file.kind, header, arrays), use)


def _dimensions(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["n_dimensions"] = 2**31 - 1
    arrays["tokens.ids"][-1] = 2**31 - 2  # of the last token, so that the ids of each still rise


def _durations(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["longest"][:] = 2**20
    features, n_labels = 32, len(arrays["longest"])
    known = arrays["weights"]
    tail = known[-8 * (n_labels + 2) :]
    content = 8 * (len(arrays["segment_features.ends"]) if "segment_features.ends" in arrays else 0)
    arrays["weights"] = np.concatenate([known[:content], np.zeros(8 * features, np.float32), tail])


def _frame_durations(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["longest"][:] = 2**20


def _columns_of_weights(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["labels"] = [f"l{i}" for i in range(8500)]
    header["frame_features"] = {**header["frame_features"], "bins": 1000, "components": 255}
    header["has_follows"] = False
    arrays["shortest"] = arrays["longest"] = np.ones(8500, np.int32)


WIDE = [sparse.csr_matrix((np.ones(2), ([0, 1], [5, 2**31 - 2])), shape=(2, 2**31 - 1))]
MODELS: dict[str, tuple[Any, ...]] = {
    "blanks in a cell": (taggers, "templates", lambda header, _: header.update(templates=["U:%x[" + " " * 40_000])),
    "cells that do not end": (taggers, "templates", lambda header, _: header.update(templates=["U:" + "%x[" * 20_000])),
    "60,000 cells": (taggers, "templates", lambda header, _: header.update(templates=["U:" + "%x[0,0]" * 60_000])),
    "20,000 templates": (
        taggers,
        "templates",
        lambda header, _: header.update(templates=[*header["templates"], *(f"U{i}:%x[1,0]" for i in range(20_000))]),
    ),
    "10,000 columns": (taggers, "templates", lambda header, _: header.update(templates=["U:%x[0,*]"], n_columns=10**4)),
    "2^31 dimensions of a kernel": (taggers, "kernel matrices", _dimensions, WIDE),
    "a million tokens long": (segmenters, "tokens", _durations),
    "a million frames long": (segmenters, "likelihood", _frame_durations),
    "more columns than can be counted": (segmenters, "frames", _columns_of_weights),
    "2^40 empty rows": (taggers, "vectors", lambda _, arrays: arrays.update(weights=np.zeros((2**40, 0), np.float32))),
}


@pytest.mark.parametrize("name", MODELS)
def test_loading_takes_time_and_memory_in_proportion_to_the_file(name: str) -> None:
    target = forged(*MODELS[name])
    assert len(target.raw) < 2 << 20
    outcome = run_cases(target, 0, [0], TIGHT)
    assert not outcome.findings


def test_most_of_these_files_are_sound_but_for_their_size() -> None:
    """They fail for what they ask, not for a mistake in this test."""
    for name in ("2^31 dimensions of a kernel", "a million tokens long", "a million frames long"):
        assert run_cases(forged(*MODELS[name]), 0, [0], TIGHT).refused == 0, name


def test_the_rate_of_a_sound_asks_for_no_memory() -> None:
    (sound,) = (target for target in reader_targets() if target.name == "sound")
    wav = sound.samples[0]
    at = wav.index(b"fmt ") + 12
    for rate in (1, 2**32 - 1, 999_983, 10**7 + 19):
        raw = wav[:at] + struct.pack("<I", rate) + wav[at + 4 :] + bytes(100_000)
        target = Fixed(raw, lambda path: margent.audio.read_sound(path, rate=16000))
        assert not run_cases(target, 0, [0], Limits(seconds=5, megabytes=256)).findings


def test_text_that_repeats_itself_is_read_in_time_that_grows_with_it() -> None:
    """50,000 of each sign that means something to some format, in one line."""
    signs = (" ", "\t", "(", ")", "[", '"', "\\", "<", "</", "{", "&", "%x[", "a:", "=", "#", "1", "_", ".", "|")
    for target in reader_targets():
        outcome = run_cases(Repeated(target, signs), 0, range(12) if target.text else (), TIGHT)
        assert not outcome.findings, target.name


LONG = b"1" * 100_000
TWO_WAYS: dict[str, tuple[str, bytes]] = {
    "digits of a time": ("audacity/intervals/read", LONG + b"x\t2\ta\n"),
    "digits of a Praat number": (
        "textgrid/intervals/read",
        b'File type = "ooTextFile"\nObject class = "TextGrid"\n\n' + LONG + b"x\n",
    ),
    "the name of an element": (
        "muc/tokens/read",
        b"<DOC>\n<TEXT>\n<ENAMEX" + b"null" * 20_000 + b"\n</TEXT>\n</DOC>\n",
    ),
}


@pytest.mark.parametrize("name", TWO_WAYS)
def test_what_could_be_cut_in_two_ways_is_not_tried_in_all(name: str) -> None:
    reader, raw = TWO_WAYS[name]
    (target,) = (target for target in reader_targets() if target.name == reader)
    assert not run_cases(Fixed(raw, lambda path: target.run(path, random.Random(0)), reader), 0, [0], TIGHT).findings
