"""Loaders of recorded speech with phone labels: X frames of 39 values, y segmentations. See docs/audio.md."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from margent.annotation.schemes import Span
from margent.audio import frames_of_log_mel
from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError


def load_russian_speech(
    *, features: str = "cepstra", normalise: bool = True, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """Russian sentences read by one man, with phone boundaries: X arrays (T, 39) float32, y segmentations.

    620 sentences, 596,831 frames of 10 ms, 54,372 segments, 51 labels; 496 sentences to train on, 62 for development,
    62 to test. Boundaries were found by forced alignment, on a grid of 10 ms. File: ``speech-ru-festvox/ru_logmel.npz``
    with the arrays feats, feat_scale, feat_offset, frame_offsets, phones, seg_label, seg_end_frame, seg_offsets, split.

    Parameters
    ----------
    features : "cepstra" or "log_mel"
        The 39 values of `margent.audio.frames_of_log_mel`, or the 40 mel bands (T, 40) they are made of.
    normalise : bool
        Whether the 39 values have mean 0 and variance 1 over each utterance.

    Takes about four seconds.
    """
    if features not in ("cepstra", "log_mel"):
        raise CorpusError(f"features is {features!r}; expected 'cepstra' or 'log_mel'")
    home = DataHome(
        data_home, ["speech-ru-festvox"], "the Debian package festvox-ru (wav/ and lab/, log mel spectra of 40 bands)"
    )
    path = home.find("ru_logmel.npz")
    from zipfile import BadZipFile

    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            stored, scale, offset = (arrays[name] for name in ("feats", "feat_scale", "feat_offset"))
            phones, labels, ends = (arrays[name].tolist() for name in ("phones", "seg_label", "seg_end_frame"))
            frame_ptr, segment_ptr = (arrays[name].tolist() for name in ("frame_offsets", "seg_offsets"))
            split = arrays["split"].tolist()
    except (BadZipFile, EOFError, KeyError, OSError, ValueError) as error:
        raise CorpusError(f"{path}: expected the arrays feats, phones, seg_label and so on ({error})") from None
    parts: list[Part] = [Part([], []), Part([], []), Part([], [])]
    for place, (start, end), (first, last) in zip(split, pairwise(frame_ptr), pairwise(segment_ptr)):
        spectra = np.asarray(stored[start:end] * scale + offset, dtype=np.float32)
        boundaries = [0, *ends[first:last]]
        names = [phones[label] for label in labels[first:last]]
        parts[place].X.append(_frames(spectra, features, normalise))
        parts[place].y.append([Span(a, b, name) for (a, b), name in zip(pairwise(boundaries), names)])
    train, dev, test = parts
    return Dataset(
        "speech-ru-festvox",
        train=train,
        dev=dev,
        test=test,
        description="Read Russian with aligned phones; the voice msu_ru_nsh_clunits by Nickolay V. Shmyrev, 2005.",
        terms="Free to use, change and distribute with its notice; copyright 2005 Nickolay V. Shmyrev.",
    )


def _frames(spectra: npt.NDArray[np.float32], features: str, normalise: bool) -> npt.NDArray[np.float32]:
    return frames_of_log_mel(spectra, normalise=normalise) if features == "cepstra" else spectra
