"""Recordings and their label files, as `margent segment` finds, reads and writes them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from margent.annotation.segments import Segmentation
from margent.audio.sound import MOST_SAMPLES
from margent.cli.command_line import UsageError
from margent.cli.options import limits_of
from margent.errors import CorpusError
from margent.formats.array_files import array_names, read_array
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.terminal_bar import TerminalBar

Frames = npt.NDArray[np.generic]

ARRAYS = (".npy", ".npz")
SOUNDS = (".wav", ".flac", ".ogg", ".mp3", ".aif", ".aiff", ".sph", ".nist")
LABELS = (".phn", ".textgrid", ".lab", ".rec", ".txt")
"""Endings of label files, in the order in which they are looked for."""

ENDINGS = {"timit": ".phn", "htk": ".lab", "xwaves": ".lab", "textgrid": ".TextGrid", "audacity": ".txt"}
"""The format of a label file that is written to the ending of its name."""

_TIMED = re.compile(r"\s*\d+\s+\d+\s")


@dataclass(frozen=True)
class FrontEnd:
    """How frames are made of recordings. It is kept in the model, so that new recordings are treated alike.

    frame : seconds from one frame to the next
    rate : samples per second that sounds are brought to; None: the recordings are arrays of frames already
    normalise : each of the 39 values of a sound has mean 0 and variance 1 over the recording
    """

    frame: float = 0.01
    rate: int | None = 16000
    normalise: bool = True

    @classmethod
    def of(cls, stored: Mapping[str, Any] | None, path: str) -> FrontEnd:
        """As a model has it; models that were trained in Python do not, and are taken to be as usual."""
        given = asdict(cls()) | dict(stored or {})
        frame, rate, normalise = (given[name] for name in ("frame", "rate", "normalise"))
        whole = rate is None or (isinstance(rate, int) and 0 < rate <= MOST_SAMPLES)
        if not isinstance(frame, (int, float)) or not 1e-6 <= frame <= 1e6 or not whole:
            raise CorpusError(f"{path}: how its frames were made is not clear (frame={frame!r}, rate={rate!r})")
        return cls(float(frame), rate, bool(normalise))

    def stored(self) -> dict[str, Any]:
        return asdict(self)


class Recording(NamedTuple):
    """One sound, or one array of frames. `name`: of what is written about it; `key`: which array of an .npz file."""

    name: str
    path: str
    key: str | None = None

    @property
    def is_sound(self) -> bool:
        return _ending(self.path) in SOUNDS

    def __str__(self) -> str:
        return self.path if self.key is None else f"{self.path}[{self.key}]"


def find_recordings(paths: Sequence[str]) -> list[Recording]:
    """The recordings that are named, and those in the folders that are named, and in folders within them."""
    found: list[Recording] = []
    for path in paths:
        if os.path.isdir(path):
            inside = sorted(p for p in Path(path).rglob("*") if p.suffix.lower() in (*SOUNDS, *ARRAYS) and p.is_file())
            if not inside:
                raise CorpusError(f"{path}: the folder has no recording in it ({', '.join((*SOUNDS, *ARRAYS))})")
            for file in inside:
                found += _recordings(str(file), str(file.relative_to(path).with_suffix("")))
        elif _ending(path) in (*SOUNDS, *ARRAYS):
            found += _recordings(path, Path(path).stem)
        else:
            raise UsageError(f"{path}: expected a folder or a recording ({', '.join((*SOUNDS, *ARRAYS))})")
    return found


def _recordings(path: str, name: str) -> list[Recording]:
    if _ending(path) != ".npz":
        return [Recording(name, path)]
    keys = array_names(path)
    for key in keys:
        # It names what is written: no name out of a file may decide a folder.
        if key in ("", ".", "..") or not {"/", "\\", "\0"}.isdisjoint(key):
            raise CorpusError(f"{path}: the array {key!r} has a name that cannot be that of a file")
    return [Recording(os.path.join(os.path.dirname(name), key), path, key) for key in keys]


def front_end_of(recordings: Sequence[Recording], frame: float | None, rate: int | None, normalise: bool) -> FrontEnd:
    """How frames are to be made of these recordings, which must be of one kind."""
    sounds = {recording.is_sound for recording in recordings}
    if len(sounds) > 1:
        first = next(r for r in recordings if r.is_sound != recordings[0].is_sound)
        raise UsageError(f"{first}: sounds and arrays of frames cannot be mixed")
    if sounds == {False}:
        if rate is not None or not normalise:
            raise UsageError("--rate and --no-normalise are for sounds, and these recordings are arrays of frames")
        return FrontEnd(0.01 if frame is None else frame, None)
    if frame is not None:
        raise UsageError("--frame is for arrays of frames; those of sounds are 0.01 s long")
    return FrontEnd(rate=16000 if rate is None else rate, normalise=normalise)


def read_frames(recording: Recording, front_end: FrontEnd, limits: Limits = DEFAULT_LIMITS) -> tuple[Frames, int]:
    """Frames (T, D) of a recording, and how many samples the times in label files count each second."""
    if not recording.is_sound:
        return read_array(recording.path, recording.key, limits=limits), 16000
    if front_end.rate is None:
        raise CorpusError(f"{recording}: the model was trained on arrays of frames, not on sounds")
    from margent.audio import read_sound, speech_frames
    from margent.audio.sound import resampled

    sound = read_sound(recording.path)
    same = resampled(sound, front_end.rate)
    return speech_frames(same.samples, same.rate, normalise=front_end.normalise), sound.rate


@dataclass(frozen=True)
class LabelReader:
    """Finds and reads the labels of recordings.

    source : folder or master label file that they are in; None: beside the recordings
    format : one of `LABEL_FORMATS`, "plain" for labels without times, or None: seen from the file
    ending : of the names of label files, such as ".wrd"; None: the first of `LABELS` that there is
    tier : which one of a TextGrid
    gap : the label of what has none
    limits : how large the files may be
    """

    source: str | None = None
    format: str | None = None
    ending: str | None = None
    tier: str | None = None
    gap: str | None = None
    encoding: str | None = None
    limits: Limits = DEFAULT_LIMITS

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> LabelReader:
        """As the options of a command say."""
        if arguments.labels is not None and not os.path.exists(arguments.labels):
            raise FileNotFoundError(2, os.strerror(2), arguments.labels)
        names = ("labels", "format", "ending", "tier", "gap_label", "encoding")
        return replace(cls(*(getattr(arguments, name) for name in names)), limits=limits_of(arguments))

    def segments(self, recording: Recording, length: int, rate: int, frame: float) -> Segmentation | list[str]:
        """Segments in frames, or the labels in their order where a file has no times."""
        from margent.annotation import segments_of_intervals

        where, found = self._read(recording, rate)
        if found and isinstance(found[0], str):
            return found
        return segments_of_intervals(found, frame=frame, length=length, gap=self.gap, where=where)

    def labels(self, recording: Recording) -> list[str]:
        """The labels in their order, whether they have times or not; an empty one is the gap."""
        where, found = self._read(recording, 16000)
        labels: list[Any] = [each if isinstance(each, str) else each.label or self.gap for each in found]
        if not labels or None in labels:
            raise CorpusError(f"{where}: expected labels, {'and there are none' if not labels else 'got an empty one'}")
        return labels

    def _read(self, recording: Recording, rate: int) -> tuple[str, list[Any]]:
        """Where the labels are, and what is there: intervals, or labels alone."""
        from margent.formats import read_labels

        if self.source is not None and not os.path.isdir(self.source):
            name = os.path.basename(recording.name)
            if name not in self._utterances:
                raise CorpusError(f"{self.source}: there are no labels for {name!r} ({recording})")
            return f"{self.source}, {name}", self._utterances[name]
        path = self.path(recording)
        if self._is_plain(path):
            return path, self._plain(path)
        more: Any = {"tier": self.tier, "encoding": self.encoding, "limits": self.limits}
        return path, read_labels(path, self.format, rate=rate, **more)

    def path(self, recording: Recording) -> str:
        """The label file of a recording."""
        if self.source is None:
            base = Path(recording.path).with_suffix("")
            base = base if recording.key is None else base.with_name(recording.key)
        else:
            base = Path(self.source) / recording.name
        known = self._names(str(base.parent))
        wanted = LABELS if self.ending is None else (f".{self.ending.lower().removeprefix('.')}",)
        for ending in wanted:
            if base.name.lower() + ending in known:
                return str(base.parent / known[base.name.lower() + ending])
        looked = " or ".join(wanted) if len(wanted) < 3 else f"{', '.join(wanted[:-1])} or {wanted[-1]}"
        raise CorpusError(f"{recording}: there is no label file for it; expected {base} with the ending {looked}")

    @cached_property
    def _utterances(self) -> Mapping[str, Any]:
        """What is in the master label file."""
        from margent.formats import read_mlf

        return read_mlf(str(self.source), encoding=self.encoding, limits=self.limits)

    @cached_property
    def _folders(self) -> dict[str, dict[str, str]]:
        return {}

    def _names(self, folder: str) -> dict[str, str]:
        """The names of the files in a folder, by their names in lower case: TIMIT has both."""
        if folder not in self._folders:
            names = os.listdir(folder) if os.path.isdir(folder) else []
            self._folders[folder] = {name.lower(): name for name in sorted(names)}
        return self._folders[folder]

    def _is_plain(self, path: str) -> bool:
        from margent.formats.label_files import label_format
        from margent.formats.source import read_text

        if self.format is not None:
            return self.format == "plain"
        name, text = read_text(path, self.encoding, self.limits)
        try:
            found = label_format(text, name)
        except CorpusError:
            return _ending(path) == ".txt"
        lines = [line for line in text.split("\n") if line.strip()]
        return found == "htk" and bool(lines) and not any(_TIMED.match(line) for line in lines)

    def _plain(self, path: str) -> list[str]:
        from margent.formats.source import read_text

        labels = read_text(path, self.encoding, self.limits)[1].split()
        if not labels:
            raise CorpusError(f"{path}: expected labels with blanks or line ends between them, found none")
        return labels


def read_all(
    recordings: Sequence[Recording], front_end: FrontEnd, reader: LabelReader | None
) -> tuple[list[Frames], list[Any]]:
    """Frames of all recordings, and their segments or labels unless `reader` is None."""
    X: list[Frames] = []
    y: list[Any] = []
    limits = DEFAULT_LIMITS if reader is None else reader.limits
    with TerminalBar("reading", len(recordings)) as bar:
        for recording in recordings:
            frames, rate = read_frames(recording, front_end, limits)
            X.append(frames)
            if reader is not None:
                y.append(reader.segments(recording, len(frames), rate, front_end.frame))
            bar.update(advance=1)
    return X, y


def read_folded(
    recordings: Sequence[Recording], front_end: FrontEnd, reader: LabelReader, name: str | None
) -> tuple[list[Frames], list[Any]]:
    """Frames, and segments or labels under other names; the time of one that has none goes to its neighbours."""
    from margent.annotation import fold_segments
    from margent.cli.label_map import label_map

    names = None if name is None else label_map(name, reader.encoding)
    X, y = read_all(recordings, front_end, reader)
    if names is None:
        return X, y
    return X, [
        [new for label in row if (new := names.get(label, label)) is not None]
        if row and isinstance(row[0], str)
        else fold_segments(row, names)
        for row in y
    ]


def targets_of(recordings: Sequence[Recording], folder: str, format: str, overwrite: bool) -> list[Path]:
    """Where the label file of each recording is written: nothing twice, and nothing that is there already."""
    targets = [Path(folder) / (recording.name + ENDINGS[format]) for recording in recordings]
    seen: dict[Path, Recording] = {}
    for target, recording in zip(targets, recordings):
        if target in seen:
            raise UsageError(f"{seen[target]} and {recording} would both be written to {target}")
        seen[target] = recording
    there = [target for target in targets if target.exists()]
    if there and not overwrite:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise CorpusError(f"{there[0]}{more}: the file is there already; --overwrite replaces it")
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise CorpusError(f"{folder}: expected a folder to write label files to, and it is a file")
    return targets


def batches(recordings: Sequence[Recording], size: int = 64) -> Iterator[Sequence[Recording]]:
    return (recordings[i : i + size] for i in range(0, len(recordings), size))


def _ending(path: str) -> str:
    return os.path.splitext(path)[1].lower()
