"""TIMIT, the corpus of phone recognition (Garofolo et al. 1993, LDC93S1): its folders, its labels, its standard parts.

The files are licensed by the Linguistic Data Consortium. They lie in ``TRAIN/DR1/FCJF0/SX127.WAV`` and so on, in upper
or lower case, the sound as NIST SPHERE or as WAV, with the phones in a file ``.PHN`` beside it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from margent.annotation.intervals import fold_segments, segments_of_intervals
from margent.annotation.segments import Segmentation
from margent.audio import read_sound, speech_frames
from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError
from margent.formats.label_files import read_labels

_DEV = """
faks0 fdac1 fjem0 mgwt0 mjar0 mmdb1 mmdm2 mpdf0 fcmh0 fkms0 mbdg0 mbwm0 mcsh0 fadg0 fdms0 fedw0 mgjf0 mglb0 mrtk0 mtaa0
mtdt0 mthc0 mwjg0 fnmr0 frew0 fsem0 mbns0 mmjr0 mdls0 mdlf0 mdvc0 mers0 fmah0 fdrw0 mrcs0 mrjm4 fcal1 mmwh0 fjsj0 majc0
mjsw0 mreb0 fgjd0 fjmg0 mroa0 mteb0 mjfc0 mrjr0 fmml0 mrws1
"""
_TEST = """
mdab0 mwbt0 felc0 mtas1 mwew0 fpas0 mjmp0 mlnt0 fpkt0 mlll0 mtls0 fjlm0 mbpm0 mklt0 fnlp0 mcmj0 mjdh0 fmgd0 mgrt0 mnjm0
fdhc0 mjln0 mpam0 fmld0
"""

TIMIT_DEV_SPEAKERS = frozenset(_DEV.split())
"""The 50 speakers of the usual development set (Halberstadt 1998), all from TEST."""

TIMIT_TEST_SPEAKERS = frozenset(_TEST.split())
"""The 24 speakers of the core test set, two men and a woman of each dialect region."""

_ALIKE = (  # 61 labels to 48, Lee and Hon 1989, table I: those that are not themselves
    "ax-h:ax axr:er hv:hh ux:uw em:m nx:n eng:ng "
    "pcl:cl tcl:cl kcl:cl qcl:cl bcl:vcl dcl:vcl gcl:vcl h#:sil #h:sil pau:sil"
)
_PLAIN = (
    "aa ae ah ao aw ax ay b ch d dh dx eh el en epi er ey f g hh ih ix iy jh k l m n ng ow oy p r s sh t th uh uw v w "
    "y z zh"
)

TIMIT_48: Mapping[str, str | None] = {
    **{name: name for name in _PLAIN.split()},
    **dict(pair.split(":") for pair in _ALIKE.split()),
    "q": None,
}
"""From the labels of the files to the 48 that models are trained on; the glottal stop q is dropped."""

TIMIT_39: Mapping[str, str] = {
    **{name: name for name in [*_PLAIN.split(), "sil"]},
    "cl": "sil",
    "vcl": "sil",
    "epi": "sil",
    "el": "l",
    "en": "n",
    "zh": "sh",
    "ao": "aa",
    "ax": "ah",
    "ix": "ih",
}
"""From the 48 labels to the 39 that count as different when errors are counted."""


class TimitUtterance(NamedTuple):
    """One sentence of one speaker; all names in lower case."""

    part: str
    dialect: str
    speaker: str
    sentence: str
    sound: Path
    labels: Path


def timit_utterances(folder: str | os.PathLike[str]) -> list[TimitUtterance]:
    """All utterances in the folder of TIMIT, sorted by part, dialect, speaker and sentence.

    `folder` is the one with TRAIN and TEST in it, or one that holds it under the name TIMIT, timit or data.
    """
    root = Path(folder)
    inner = _children(root)
    for name in ("timit", "data"):
        if "train" not in inner and name in inner:
            root = inner[name]
            inner = _children(root)
    missing = [part for part in ("train", "test") if part not in inner]
    if missing:
        raise CorpusError(f"{folder}: found no folder {missing[0].upper()}; expected TIMIT's folders TRAIN and TEST")
    found = []
    for part in ("train", "test"):
        for dialect, region in sorted(_children(inner[part]).items()):
            for speaker, home in sorted(_children(region).items() if dialect.startswith("dr") else ()):
                files = {path.name.lower(): path for path in home.iterdir()}
                for name in sorted(name for name in files if name.endswith(".phn")):
                    stem = name.removesuffix(".phn")
                    sound = files.get(f"{stem}.wav") or files.get(f"{stem}.wav.wav")
                    if sound is None:
                        raise CorpusError(f"{files[name]}: found no sound beside it; expected {stem.upper()}.WAV")
                    found.append(TimitUtterance(part, dialect, speaker, stem, sound, files[name]))
    return found


def _children(folder: Path) -> dict[str, Path]:
    """The folders in a folder by their names in lower case."""
    return {path.name.lower(): path for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else {}


def timit_part(utterances: Iterable[TimitUtterance], part: str) -> list[TimitUtterance]:
    """The utterances of a standard part: "train" (462 speakers, 3,696 utterances), "dev" (50, 400), "test" (24, 192).

    The two sa sentences, which every speaker reads, are left out: whoever trained on them would know them by heart.
    """
    speakers = {"dev": TIMIT_DEV_SPEAKERS, "test": TIMIT_TEST_SPEAKERS}
    if part != "train" and part not in speakers:
        raise CorpusError(f"part is {part!r}; expected 'train', 'dev' or 'test'")
    return [
        u
        for u in utterances
        if not u.sentence.startswith("sa")
        and (u.part == "train" if part == "train" else u.part == "test" and u.speaker in speakers[part])
    ]


def timit_fold(labels: int) -> dict[str, str | None]:
    """From the labels of the files to 61, 48 or 39 labels, for `fold_segments`; None where one is dropped."""
    if labels == 61:
        return {name: {"#h": "h#", "qcl": "q"}.get(name, name) for name in TIMIT_48}
    if labels == 48:
        return dict(TIMIT_48)
    if labels == 39:
        return {name: None if kept is None else TIMIT_39.get(kept, kept) for name, kept in TIMIT_48.items()}
    raise CorpusError(f"labels is {labels!r}; expected 61, 48 or 39")


def read_timit(
    utterance: TimitUtterance, *, labels: int = 48, normalise: bool = True
) -> tuple[npt.NDArray[np.float32], Segmentation]:
    """The frames (T, 39) of an utterance at 10 ms, and its segmentation in 61, 48 or 39 labels.

    The time of the glottal stop, which the 48 and 39 labels lack, goes half to the segment before it and half to the
    one after it. A stretch without a label, as at the end of some files, counts as silence (h#).
    """
    fold = timit_fold(labels)
    sound = read_sound(utterance.sound)
    frames = speech_frames(sound.samples, sound.rate, normalise=normalise)
    intervals = read_labels(utterance.labels, "timit", rate=sound.rate)
    name = str(utterance.labels)
    unknown = {interval.label for interval in intervals} - fold.keys()
    if unknown:
        raise CorpusError(f"{name}: the label {min(unknown)!r} is not one of TIMIT's; expected one of its 61 phones")
    segments = segments_of_intervals(intervals, length=len(frames), gap="h#", where=name)
    return frames, fold_segments(segments, fold)


def load_timit(
    folder: str | os.PathLike[str] | None = None,
    *,
    labels: int = 48,
    normalise: bool = True,
    data_home: str | os.PathLike[str] | None = None,
) -> Dataset:
    """TIMIT as it is used for phone recognition: X arrays (T, 39) float32, y segmentations at 10 ms.

    Parameters
    ----------
    folder : path or None
        The folder with TRAIN and TEST in it. None: the folder ``timit`` under `data_home`.
    labels : 61, 48 or 39
        The usual way is to train on 48 and to score on 39: `segment_scores(gold, predicted, label_map=TIMIT_39)`.
    normalise : bool
        Whether each of the 39 values has mean 0 and variance 1 over an utterance.

    3,696 utterances to train on, 400 for development, 192 in the core test set.
    """
    timit_fold(labels)
    if folder is None:
        home = DataHome(data_home, ["timit", "TIMIT"], "https://catalog.ldc.upenn.edu/LDC93S1")
        if not home.folder.is_dir():
            raise home.missing("TRAIN/DR1/FCJF0/SX127.WAV")
        folder = home.folder
    utterances = timit_utterances(folder)
    parts: list[Part] = []
    for name in ("train", "dev", "test"):
        chosen = timit_part(utterances, name)
        if not chosen:
            raise CorpusError(f"{folder}: found no utterance of the {name} part; expected all speakers of TIMIT")
        pairs = [read_timit(utterance, labels=labels, normalise=normalise) for utterance in chosen]
        parts.append(Part([frames for frames, _ in pairs], [segments for _, segments in pairs]))
    return Dataset(
        "timit",
        train=parts[0],
        dev=parts[1],
        test=parts[2],
        description="American English read by 630 speakers; Garofolo et al., DARPA TIMIT, 1993.",
        terms="Licensed by the Linguistic Data Consortium, LDC93S1.",
    )
