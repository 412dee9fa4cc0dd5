"""Segmenters on the command line: recordings, and label files that say what is when."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from margent.cli.command_line import UsageError
from margent.cli.files import check_plot_target, check_target, first_of, listed, named_files, number_of
from margent.cli.options import add_format, integer, limits_of, positive
from margent.cli.tasks import load_model
from margent.cli.tasks.task import Inspection, Task, weight_parts, weights_json

if TYPE_CHECKING:
    from margent.cli.files import Failures
    from margent.cli.recordings import FrontEnd, LabelReader, Recording
    from margent.models.segmenter.segmenter import Segmenter

_ABOUT_FILES = """\

Recordings are sound files (WAV and NIST SPHERE; FLAC, OGG, MP3 and others with 'margent[audio]'), NumPy arrays of
shape (frames, values) in .npy files, or .npz files with many of them. Folders are searched for them. The labels of
speech/a.wav are in speech/a.phn (TIMIT), a.TextGrid (Praat), a.lab (HTK, festival), a.rec or a.txt (Audacity), the
first of these that there is; --labels names another folder, or a master label file of HTK.
"""
_EXAMPLES = {
    "train": """\
  margent train --task segmenter train/ --dev dev/ -m phones.margent --epochs 20 --patience 3
  margent segment train train/ -m phones.margent --learner crf --features-covariance diagonal
  margent segment train TIMIT/TRAIN -m phones.margent --label-map timit-48 --features-components 2
  margent segment train walks.npz --labels marks/ --frame 0.02 --gap-label still -m steps.margent
"""
    + _ABOUT_FILES
    + "Labels without times, with blanks between them, do where other recordings have times.\n",
    "apply": """\
  margent apply phones.margent new/ -o labels/
  margent apply phones.margent a.wav b.wav -o labels/ --to audacity
""",
    "align": """\
  margent align phones.margent new/ -o labels/
  margent align phones.margent speech/ --labels words/ -o times/
"""
    + _ABOUT_FILES,
    "evaluate": """\
  margent evaluate phones.margent test/
  margent evaluate phones.margent TIMIT/TEST --label-map timit-39 --plot first.png
""",
    "calibrate": "  margent calibrate phones.margent held-out/ -o calibrated.margent\n",
    "inspect": "  margent inspect phones.margent --label sh --top 20\n",
}


class SegmenterTask(Task):
    name = "segmenter"
    about = "divide recordings into labelled segments"
    examples = _EXAMPLES
    unit, part, files = "recording", "frame", "RECORDING"
    default_learner = "ssvm"
    learner_defaults = MappingProxyType({"C": 0.001, "method": "subgradient"})
    reads_standard_input = False

    def learners(self) -> dict[str, type]:
        from margent.learners import MaximumLikelihood

        return {**super().learners(), "likelihood": MaximumLikelihood}

    def hints(self) -> dict[str, Any]:
        from margent.features.frame_map import FrameFeatures
        from margent.learners import MaximumLikelihood

        return {**super().hints(), "features": FrameFeatures, "start": Literal["auto"] | MaximumLikelihood | None}

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        from margent.features.frame_map import FrameMap

        if arguments.command != "inspect" and not isinstance(model.feature_map_, FrameMap):
            raise UsageError(f"{arguments.model} is a segmenter of tokens: it works in Python, by margent.load")
        return model

    # Data

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument_group("frames of the recordings").add_argument
        add("--frame", type=positive, metavar="SECONDS", help="time between frames of an array (default: 0.01)")
        add("--rate", type=integer(1), metavar="HZ", help="sampling rate of audio after resampling (default: 16000)")
        add("--no-normalise", action="store_true", help="do not normalise the values over each recording")

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("label files that are read")
        add = group.add_argument
        add("--labels", metavar="PATH", help="folder or master label file (default: beside the recordings)")
        add_format(group, "intervals", what="label files")
        add("--ending", metavar="TEXT", help="extension of label files, such as wrd (default: the first found)")
        add("--tier", metavar="NAME", help="which tier of a TextGrid (default: the only one)")
        add("--gap-label", metavar="LABEL", help="label for stretches that have none (default: an error)")
        add(
            "--label-map",
            metavar="NAME",
            help="rename labels: timit-48, timit-39, or a file of old and new labels; without a new one, drop it",
        )

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        from margent.cli.recordings import LabelReader, find_recordings, read_folded

        front_end = self._front_end(model, arguments, paths)
        return read_folded(find_recordings(paths), front_end, LabelReader.of(arguments), arguments.label_map)

    def remember(self, model: Any, arguments: argparse.Namespace) -> None:
        model.with_front_end(arguments.front_end.stored())

    def _front_end(self, model: Any, arguments: argparse.Namespace, paths: Sequence[str] = ()) -> FrontEnd:
        """How frames are made: as a trained model has it, or as the options of `train` say."""
        from margent.cli.recordings import FrontEnd, find_recordings, front_end_of

        if arguments.command not in ("train", "tune"):
            return FrontEnd.of(model.front_end_, arguments.model)
        if not hasattr(arguments, "front_end"):
            watched = [arguments.dev] if isinstance(arguments.dev, str) else arguments.dev or []
            recordings = find_recordings([*paths, *watched])
            made = front_end_of(recordings, arguments.frame, arguments.rate, not arguments.no_normalise)
            start = getattr(arguments, "start", None)
            kept = None if start is None else model.front_end_
            arguments.front_end = made if kept is None else FrontEnd.of(kept, str(start))
        return arguments.front_end  # type: ignore[no-any-return]

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        from margent.formats.registry import format_names

        add = parser.add_argument_group("label files that are written, into the folder -o").add_argument
        formats = format_names("intervals", read=False, write=True)
        add("--to", choices=(*formats, "mlf"), help="their format (default: textgrid); mlf: a single file, -o")
        add("--overwrite", action="store_true", help="replace existing files")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        raise NotImplementedError  # label files, one for each recording: see `write`

    def write(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace, *, align: bool) -> None:
        """Label files for recordings: of the segments found, or of labels that are given, put where they fit."""
        from margent.cli.recordings import LabelReader, batches, find_recordings, read_frames
        from margent.terminal_bar import TerminalBar

        if arguments.output is None:
            raise UsageError(f"'margent {arguments.command}' of a segmenter needs -o DIR, where to write label files")
        if not align:
            for name in ("labels", "format", "ending", "tier", "gap_label", "label_map"):
                if getattr(arguments, name) is not None:
                    raise UsageError(
                        f"--{name.replace('_', '-')} is for label files that are read, and apply reads none"
                    )
        front_end = self._front_end(model, arguments)
        recordings = find_recordings(paths)
        inputs = named_files(arguments, "output")
        target = _Target(recordings, arguments.output, arguments.to or "textgrid", arguments.overwrite, inputs)
        reader: LabelReader | None = LabelReader.of(arguments) if align else None
        labels = None if reader is None else [reader.labels(recording) for recording in recordings]
        done = 0
        with TerminalBar("finding segments", len(recordings)) as bar:
            for batch in batches(recordings):
                read = [read_frames(recording, front_end, limits_of(arguments)) for recording in batch]
                given = None if labels is None else labels[done : done + len(batch)]
                segmented = _segmented(model, batch, [frames for frames, _ in read], given, arguments.failures)
                for i, (segments, (_, rate)) in enumerate(zip(segmented, read), start=done):
                    if segments is not None:
                        target.add(i, segments, front_end.frame, rate)
                done += len(batch)
                bar.update(advance=len(batch))
        target.finish()
        where = "standard output" if arguments.output == "-" else arguments.output
        if written := done - arguments.failures.number:
            print(f"margent: wrote the labels of {number_of(written, 'recording')} to {where}", file=sys.stderr)

    # Results

    def report(self, model: Any, X: Any, y: Any, arguments: argparse.Namespace) -> Any:
        from margent.metrics import segment_scores

        if any(isinstance(row[0], str) for row in y if row):
            return None
        return segment_scores(y, model.predict(X), frame=self._front_end(model, arguments).frame)

    def add_evaluating(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--tolerance", type=positive, metavar="SECONDS", help="how far off a boundary may be (default: 0.02)")
        add("--plot", metavar="FILE", help="draw the first recording with gold segments above predicted ones")

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        from margent.cli.label_map import label_map
        from margent.cli.recordings import LabelReader, find_recordings, read_all
        from margent.metrics import segment_scores

        if arguments.model is None or not arguments.files:
            raise UsageError("to evaluate a segmenter, give the model first, then recordings")
        names = None if arguments.label_map is None else label_map(arguments.label_map, arguments.encoding)
        if arguments.plot is not None:
            check_plot_target(arguments.plot)
        model = load_model(self, arguments)
        front_end, reader = self._front_end(model, arguments), LabelReader.of(arguments)
        recordings = find_recordings(arguments.files)
        X, y = read_all(recordings, front_end, reader)
        for recording, right in zip(recordings, y):
            if right and isinstance(right[0], str):
                raise UsageError(
                    f"{reader.path(recording)}: the labels have no times, with which those found are compared"
                )
        report = segment_scores(
            y, model.predict(X), label_map=names, frame=front_end.frame, tolerance=arguments.tolerance or 0.02
        )
        if arguments.plot is not None:
            model.plot(X[0], y[0], arguments.plot, frame=front_end.frame, title=str(recordings[0]))
        return str(report), self.report_json(report)

    # What a model is

    def size(self, model: Any) -> str:
        return f"{number_of(len(model.classes_), 'label')}, {number_of(len(model.weights_.weights), 'weight')}"

    def trained(self, model: Any) -> dict[str, Any]:
        return {"labels": model.classes_.tolist(), "weights": len(model.weights_.weights)}

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        labels = arguments.label or model.classes_.tolist()
        features = {label: model.top_features(label, arguments.top) for label in labels}
        transitions = model.top_transitions(arguments.top) if model.transitions else []
        parts = weight_parts(features, [] if arguments.label else transitions)
        facts = _facts(model)
        return Inspection(facts, _lines(facts), parts, weights_json(features, transitions))


class _Target:
    """Where label files go: one for each recording into a folder, or all into a master label file.

    Nothing twice, and nothing that is there already unless told, which is checked before the work.
    """

    def __init__(
        self, recordings: Sequence[Recording], output: str, format: str, overwrite: bool, inputs: Sequence[str]
    ) -> None:
        from margent.cli.recordings import targets_of
        from margent.errors import CorpusError

        self._recordings, self._output, self._format = recordings, output, format
        self._found: dict[str, Any] = {}
        if format == "mlf":
            if len({self._name(number) for number in range(len(recordings))}) < len(recordings):
                raise CorpusError("two recordings have the same name, which a master label file cannot tell apart")
            check_target(output, inputs)
            if output != "-" and os.path.exists(output) and not overwrite:
                raise CorpusError(f"{output}: the file is there already; --overwrite replaces it")
        else:
            self._paths = targets_of(recordings, output, format, overwrite)

    def add(self, number: int, segments: Any, frame: float, rate: int) -> None:
        from margent.annotation import intervals_of_segments
        from margent.formats import write_labels

        intervals = intervals_of_segments(segments, frame=frame)
        if self._format == "mlf":
            self._found[self._name(number)] = intervals
        else:
            self._paths[number].parent.mkdir(parents=True, exist_ok=True)
            write_labels(self._paths[number], intervals, self._format, rate=rate)

    def _name(self, number: int) -> str:
        return os.path.basename(self._recordings[number].name)

    def finish(self) -> None:
        from margent.formats import write_mlf

        if self._format == "mlf":
            write_mlf(self._output, self._found)


def _segmented(
    segmenter: Segmenter, batch: Sequence[Recording], X: list[Any], labels: Any, failures: Failures
) -> list[Any]:
    """The segments of some recordings, None for each that fails. What is wrong with one is said of it alone."""
    from margent.errors import MargentError

    def alone(i: int) -> list[Any]:
        return segmenter.predict(X[i : i + 1], labels=None if labels is None else labels[i : i + 1])

    try:
        found = segmenter.predict(X, labels=labels, on_error="none")
    except MargentError:  # frames that are no frames of this model
        found = []
        for i in range(len(X)):
            try:
                found += alone(i)
            except MargentError:
                found.append(None)  # type: ignore[arg-type]
    for i, (recording, segments) in enumerate(zip(batch, found)):
        if segments is None:
            failures.ask(str(recording), lambda: alone(i))  # noqa: B023
    return found


def _facts(segmenter: Segmenter) -> dict[str, Any]:
    import numpy as np

    from margent.features.frame_map import FrameMap

    feature_map, weights = segmenter.feature_map_, segmenter.weights_
    seen: dict[str, Any] = {"kind": feature_map.kind}
    if isinstance(feature_map, FrameMap):
        seen |= {"values": feature_map.n_dimensions, **feature_map.stored()[0]["frame_features"]}
    else:
        given = feature_map.features  # type: ignore[attr-defined]
        seen |= {
            **{name: list(getattr(given, name)) for name in ("inside", "first", "last", "before", "after")},
            "string": given.string,
            "names": {name: len(entries) for name, entries in given.names.items()},
            "similar": given.similar,
            "functions": len(given.functions),
            "features": len(feature_map.ids),  # type: ignore[attr-defined]
        }
    limits = weights.limits
    return {
        "labels": list(limits.labels),
        "shortest": limits.shortest.tolist(),
        "longest": limits.longest.tolist(),
        "features": seen,
        "weights": len(weights.weights),
        "weights_not_zero": int(np.count_nonzero(weights.weights)),
        "front_end": segmenter.front_end_,
        "parameters": {"features": None},  # told above
    }


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    labels, seen, front_end = facts["labels"], facts["features"], facts["front_end"]
    durations = [f"{name} {low} to {high}" for name, low, high in zip(labels, facts["shortest"], facts["longest"])]
    unit = seen["kind"]
    made = "" if front_end is None else f", one each {front_end.get('frame')} s"
    if front_end is not None and front_end.get("rate"):
        made += f" of sound at {front_end['rate']} Hz"
    return {
        "kind": f"segmenter of {unit}",
        "labels": listed(labels),
        "durations": f"in {unit}: {first_of(durations, ', ')}",
        "input": f"frames of {seen['values']} values{made}" if unit == "frames" else "tokens",
        "features": ", ".join(f"{name}={value}" for name, value in seen.items() if name not in ("kind", "values")),
        "weights": f"{facts['weights']:,}, of which {facts['weights_not_zero']:,} are not zero",
    }


TASK = SegmenterTask()
