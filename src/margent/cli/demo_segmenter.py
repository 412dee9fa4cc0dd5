"""`margent demo segmenter`: generate speech of a made-up language, learn its sounds, and find them."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from margent.models.segmenter.segmenter import Segmenter

_N_TRAIN, _N_OTHER = 60, 15
_WIDTH = 100


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.audio import speech_frames
    from margent.cli.demo import heading
    from margent.datasets import GENERATED_PHONES, make_speech
    from margent.learners import StructuredSVM
    from margent.metrics import segment_scores
    from margent.models import Segmenter

    folder = Path(arguments.out)
    console = Console(highlight=False, markup=False)
    seeds = range(3 * arguments.seed, 3 * arguments.seed + 3)
    parts = {}
    for name, n, seed in zip(("train", "dev", "test"), (_N_TRAIN, _N_OTHER, _N_OTHER), seeds):
        sounds, y = make_speech(n, seed=seed)
        _write(folder / name, sounds, y)
        parts[name] = [speech_frames(*sound) for sound in sounds], y
    (X, y), (X_dev, y_dev), (X_test, y_test) = parts.values()

    heading(console, "Learning from recordings")
    console.print(
        f"Made up {_N_TRAIN} sentences of a language with {len(GENERATED_PHONES)} sounds, each said by another voice, "
        f"{_N_OTHER} to watch while learning, and {_N_OTHER} that the model never sees, to test it. Each 10 ms are a "
        f"frame of {X[0].shape[1]} numbers; {sum(map(len, X)):,} frames to learn from."
    )
    started = time.perf_counter()
    learner = StructuredSVM(C=0.001, method="subgradient", epochs=5)
    segmenter = Segmenter(learner=learner, repeat=False).fit(X, y, X_dev=X_dev, y_dev=y_dev)
    segmenter.save(folder / "phones.margent")
    console.print(
        f"\nTrained {len(segmenter.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(segmenter.classes_)} labels, {len(segmenter.weights_.weights):,} weights."
    )

    found = segmenter.predict(X_test)
    report = segment_scores(y_test, found)
    heading(console, "How good is it?")
    boundaries = report.boundaries
    figures = {
        "phone error rate": f"{100 * report.phone_error_rate:6.2f} %   sounds missed, mistaken or made up",
        "boundaries": f"{100 * boundaries.f1:6.2f} F1  right within 20 ms (R-value {100 * boundaries.r_value:.2f})",
        "frames": f"{100 * report.frame_accuracy:6.2f} %   of {report.frames:,} have the right label",
        "segments": f"{100 * report.f1:6.2f} F1  right in label, start and end to the frame",
    }
    for name, line in figures.items():
        console.print(f"  {name:16} {line}")

    at = _instructive(y_test, found)
    heading(console, "A sentence it never heard")
    console.print(f"Each column is {_frames_per_column(len(X_test[at])) * 10} ms.\n")
    for line in _picture({"right": y_test[at], "found": found[at]}, len(X_test[at])):
        console.print(line, soft_wrap=True)
    console.print(f"\n{_plot(segmenter, X_test[at], y_test[at], folder / 'segments.png')}", soft_wrap=True)

    heading(console, "Where are the sounds, when it is known which they are?")
    aligned = segmenter.predict(X_test, labels=[[s.label for s in row] for row in y_test])
    off = [abs(a.end - b.end) for row, right in zip(aligned, y_test) for a, b in zip(row[:-1], right[:-1])]
    share = 100 * sum(o <= 2 for o in off) / len(off)
    console.print(f"Forced alignment puts {share:.1f} % of {len(off)} boundaries within 20 ms of the right place.")
    _show_next(console, folder)
    return 0


def _write(folder: Path, sounds: Sequence[Any], y: Sequence[Any]) -> None:
    from margent.annotation import intervals_of_segments
    from margent.audio import write_sound
    from margent.formats import write_labels

    folder.mkdir(parents=True, exist_ok=True)
    for i, (sound, segments) in enumerate(zip(sounds, y)):
        write_sound(folder / f"{i:02}.wav", sound.samples, sound.rate)
        write_labels(folder / f"{i:02}.TextGrid", intervals_of_segments(segments), tier="phones")


def _instructive(y: Sequence[Any], found: Sequence[Any]) -> int:
    """The shortest sentence with a mistake in it; without any, the shortest."""
    wrong = [i for i, row in enumerate(y) if [s.label for s in row] != [s.label for s in found[i]]]
    return min(wrong or range(len(y)), key=lambda i: y[i][-1].end)


def _frames_per_column(length: int) -> int:
    return -(-length // _WIDTH)


def _picture(rows: dict[str, Sequence[Any]], length: int) -> list[str]:
    """A line of text for each segmentation, with a bar where a segment begins and its label after it."""
    per = _frames_per_column(length)
    lines = []
    for name, segments in rows.items():
        columns = [" "] * (-(-length // per)) + ["|"]
        for start, end, label in segments:
            place = start // per
            columns[place] = "|"
            room = max(0, end // per - place - 1)  # up to the next bar
            columns[place + 1 : place + 1 + min(room, len(label))] = label[:room]
        lines.append(f"{name:6}{''.join(columns)}")
    return lines


def _plot(segmenter: Segmenter, x: Any, y: Any, path: Path) -> str:
    """Draws it, and says where it is, or how to get it."""
    from margent.errors import MissingExtraError

    try:
        segmenter.plot(x, y, path, frame=0.01, title="39 values of each 10 ms, and its segments")
    except MissingExtraError as error:
        return f"No picture was drawn: {error}"
    return f"The picture is in {path}: the right segments above those found, mistakes in red."


def _show_next(console: Console, folder: Path) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    names = ("phones.margent", "mine.margent", "train", "dev", "test", "labels", "aligned")
    model, mine, train, dev, test, labels, aligned = (shlex.quote(str(folder / name)) for name in names)
    steps = {
        "label files for recordings, to look at in Praat": f"{margent} apply {model} {test} -o {labels}",
        "the times of labels that are known": f"{margent} align {model} {test} -o {aligned}",
        "how good is the model?": f"{margent} evaluate {model} {test}",
        "train one yourself; your own recordings with label files beside them will do": (
            f"{margent} train --task segmenter {train} --dev {dev} -m {mine}"
        ),
    }
    show_commands(console, steps)
