"""Model files of segmenters: damaged and forged ones are refused, or make a segmenter that works."""

from __future__ import annotations

import copy
import os
import random
import struct
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import (
    CRF,
    Durations,
    FrameFeatures,
    MaximumLikelihood,
    Perceptron,
    SegmentConstraints,
    Segmenter,
    TokenFeatures,
    storage,
)
from margent.errors import CalibrationWarning, ConstraintError, CorpusError, ModelFileError
from unit.models.mutation import mutate_arrays, mutate_value

RNG = np.random.default_rng(0)
FRAMES = [RNG.normal(size=(n, 2)) + np.repeat([[0, 0], [2, 1]], [n // 2, n - n // 2], axis=0) for n in (6, 8, 5, 7)]
SEGMENTS = [[(0, len(x) // 2, "a"), (len(x) // 2, len(x), "b")] for x in FRAMES]
WORDS = [["Ann", "Lee", "left", "Kyiv"], ["rain"], ["Bob", "saw", "New", "York"]]
SPANS = [[(0, 2, "PER"), (3, 4, "LOC")], [], [(0, 1, "PER"), (2, 4, "LOC")]]
ONE = Perceptron(epochs=1)

CASES: dict[str, tuple[Segmenter, Any, Any]] = {
    "frames": (Segmenter(FrameFeatures(bins=2), ONE), FRAMES, SEGMENTS),
    "bins by label": (
        Segmenter(
            FrameFeatures(bins={"a": 2}, covariance="diagonal"), CRF(epochs=1), durations=Durations(max={"a": 7})
        ),
        FRAMES,
        SEGMENTS,
    ),
    "components": (
        Segmenter(FrameFeatures(bins=1, components=2, content="mean"), ONE, repeat=False, start=MaximumLikelihood()),
        FRAMES,
        SEGMENTS,
    ),
    "likelihood": (Segmenter(FrameFeatures(durations=None), MaximumLikelihood(), transitions=False), FRAMES, SEGMENTS),
    "tokens": (Segmenter(TokenFeatures(string=False), ONE, outside="O"), WORDS, SPANS),
    "names": (
        Segmenter(
            TokenFeatures(names={"city": ["New York", "Kyiv"]}, similar=0.6),
            ONE,
            outside="O",
            durations=Durations(min=1),
        ),
        WORDS,
        SPANS,
    ),
}


def fitted(name: str) -> Segmenter:
    segmenter, X, y = CASES[name]
    return copy.deepcopy(segmenter).fit(X, y, progress=False)


def stored(name: str, folder: Path) -> storage.ModelFile:
    fitted(name).save(folder / "m.margent")
    return storage.read(folder / "m.margent", mmap=False)


ANYTHING: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 2**31, -(2**40), 1.5, -0.5, 1e300, "", "a", "O", "frames", "tokens", "crf",
    "full", "mean", [], ["a"], ["a", "b", "c"], [["a"]], {}, {"name": "perceptron"}, {"a": 1}, {"frame": -1}, [[0, 1]],
]  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_no_mutation_does_more_than_raise_the_right_error(name: str, tmp_path: Path) -> None:
    """Files with right checksums and wrong contents are refused, or make a segmenter that works."""
    file, (_, X, y) = stored(name, tmp_path), CASES[name]
    dice, refused, count = random.Random(name), 0, int(os.environ.get("MARGENT_MUTATIONS", "200"))
    for _ in range(count):
        header, arrays = file.header, file.arrays
        if dice.random() < 0.5:
            header = mutate_value(copy.deepcopy(header), dice, ANYTHING)
            if not isinstance(header, dict):
                continue
        else:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                arrays = mutate_arrays(arrays, dice)
        try:
            segmenter = Segmenter.from_file(storage.ModelFile("m.margent", "segmenter", "0", header, arrays))
        except ModelFileError as problem:
            refused += 1
            assert "the model file m.margent: " in str(problem) and len(str(problem)) < 1000
            continue
        except ValueError as problem:
            assert "trained with function" in str(problem)
            continue
        use(segmenter, X, y)
    assert refused > count / 5


def use(segmenter: Segmenter, X: Any, y: Any) -> None:
    """Whatever it was made to be, it answers, or says in one sentence why not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            segmenter.predict(X)
            segmenter.predict_k_best(X, 2)
            segmenter.predict_marginals(X)
            segmenter.predict(X, constraints=[SegmentConstraints(boundaries=[1]), *[None] * (len(X) - 1)])
    except ConstraintError:
        pass  # durations, neighbours or weights that allow nothing
    except CorpusError as error:
        assert "is expecting" in str(error)  # frames of another size
    segmenter.top_transitions(3)
    segmenter.top_features(segmenter.classes_[0], 3)
    segmenter.set_params(learner=ONE, start=None)
    try:
        segmenter.partial_fit(X, y, progress=False)
    except CorpusError as error:  # labels or durations of another model, frames of another size
        assert any(words in str(error) for words in ("is not known to the model", "lasts", "is expecting", "rules out"))
    except ValueError as error:
        assert "training diverged" in str(error)  # weights beyond all bounds


def seal(raw: bytearray) -> bytes:
    """The bytes with checksums made right (docs/model-file.md)."""
    length = struct.unpack_from("<I", raw, 12)[0]
    struct.pack_into("<I", raw, 24, zlib.crc32(raw[32 + length :]))
    struct.pack_into("<I", raw, 28, zlib.crc32(raw[:28] + raw[32 : 32 + length]))
    return bytes(raw)


@pytest.mark.parametrize("name", ["frames", "names"])
@pytest.mark.parametrize("sealed", [False, True])
def test_flipped_bits_on_disk(name: str, sealed: bool, tmp_path: Path) -> None:
    _, X, y = CASES[name]
    fitted(name).save(tmp_path / "m")
    raw, dice, path = (tmp_path / "m").read_bytes(), random.Random(name), tmp_path / "broken"
    for _ in range(150):
        data = bytearray(raw)
        for _ in range(dice.choice([1, 3])):
            data[dice.randrange(24 if sealed else 0, len(data))] ^= 1 << dice.randrange(8)
        path.write_bytes(seal(data) if sealed else data)
        try:
            loaded = margent.load(path, mmap=dice.random() < 0.5)
        except ModelFileError:
            continue
        assert sealed or bytes(data) == raw
        use(loaded, X, y)
