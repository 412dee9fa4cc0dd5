"""`margent segment`: learn to cut recordings into labelled segments, and do it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_threads, whole

if TYPE_CHECKING:
    from margent.cli.recordings import FrontEnd, Recording
    from margent.models.segmenter.segmenter import Segmenter

_EXAMPLES = """\
ACTION is one of
  train     learn from recordings with label files:   margent segment train train/ -m phones.margent
  apply     write label files for new recordings:     margent segment apply phones.margent new/ -o labels/
  align     find the times of labels that are known:  margent segment align phones.margent new/ -o labels/
  evaluate  phone error, boundaries, frames:          margent segment evaluate phones.margent test/
  calibrate make probabilities honest:                margent segment calibrate phones.margent held-out/

Recordings are sound files (WAV and NIST SPHERE; FLAC, OGG, MP3 and others with 'margent[audio]'), NumPy arrays of
shape (frames, values) in .npy files, or .npz files with many of them. Folders are searched for them. The labels of
speech/a.wav are in speech/a.phn (TIMIT), a.TextGrid (Praat), a.lab (HTK, festival), a.rec or a.txt (Audacity), the
first of these that there is; --labels names another folder, or a master label file of HTK. Labels without times, with
blanks between them, are read as well: 'align' needs no more, and 'train' finds the times itself where some recordings
have them.

How frames were made in training is kept in the model. Ctrl-C ends the training and saves the best model so far.

examples:
  margent segment train train/ --dev dev/ -m phones.margent --components 2 --epochs 20 --patience 3
  margent segment train train/ -m phones.margent --learner crf --covariance diagonal
  margent segment train TIMIT/TRAIN -m phones.margent --fold timit-48
  margent segment evaluate phones.margent TIMIT/TEST --fold timit-39
  margent segment train walks.npz --labels marks/ --frame 0.02 --gap-label still -m steps.margent
  margent segment apply phones.margent a.wav b.wav -o labels/ --to audacity
  margent segment align phones.margent speech/ --labels words/ -o times/
"""
ACTIONS = ("train", "apply", "align", "evaluate", "calibrate")
_OF_TRAINING = {
    "model": None, "dev": None, "learner": None, "bins": None, "components": None, "covariance": None,
    "content": None, "no_durations": False, "min_duration": None, "max_duration": None, "no_repeat": False,
    "no_transitions": False, "frame_cost": None, "boundary_cost": None, "no_start": False, "seed": None,
    "frame": None, "rate": None, "no_normalise": False,
}  # fmt: skip
"""Options of `train` alone, and what they are where they are not given."""
_WRITING = {"output": None, "to": None, "overwrite": False}
_SCORING = {"tolerance": None, "plot": None}
_FOLDING = {"fold": None}


def configure(parser: argparse.ArgumentParser) -> None:
    from margent.cli.learner_options import add_learner_options
    from margent.cli.recordings import ENDINGS
    from margent.cli.segment_training import segment_learners
    from margent.formats.label_files import LABEL_FORMATS

    parser.description = "Learn to cut recordings into labelled segments, such as speech into phones, and do it."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("action", metavar="ACTION", choices=ACTIONS, help="train, apply, align, evaluate or calibrate")
    add("files", metavar="FILE", nargs="+", help="recordings and folders; first the model, for all actions but train")
    add("--json", action="store_true", help="train, evaluate, calibrate: print one JSON object")
    add_threads(parser, "training a crf, and for finding segments")

    add = parser.add_argument_group("label files that are read").add_argument
    add("--labels", metavar="PATH", help="folder or master label file they are in (default: beside the recordings)")
    add("--format", choices=(*LABEL_FORMATS, "plain"), help="of label files (default: seen from the file)")
    add("--ending", metavar="TEXT", help="of their names, such as wrd (default: the first that there is)")
    add("--tier", metavar="NAME", help="which one of a TextGrid (default: the only one)")
    add("--gap-label", metavar="LABEL", help="the label of times that have none (default: that is an error)")
    add("--fold", metavar="NAME", help="train, evaluate, calibrate: other names of labels, those of TIMIT by timit-48 "
        "or timit-39, others by a file with two columns, or one for labels to leave out")  # fmt: skip
    add("--encoding", metavar="NAME", help="of the text (default: UTF-8, or UTF-16 where the file says so)")

    add = parser.add_argument_group("apply, align: label files that are written").add_argument
    add("-o", "--output", metavar="DIR", help="folder to write them to; a file for --to mlf; calibrate: the model")
    add("--to", choices=(*ENDINGS, "mlf"), help="their format (default: textgrid)")
    add("--overwrite", action="store_true", help="replace files that are there already")

    add = parser.add_argument_group("evaluate").add_argument
    add("--tolerance", type=_seconds, metavar="SECONDS", help="how far off a boundary may be (default: 0.02)")
    add("--plot", metavar="FILE", help="draw the first recording with its right segments above those found")

    add = parser.add_argument_group("train").add_argument
    add("-m", "--model", metavar="MODEL", help="where to save the model")
    add("--dev", metavar="PATH", action="append", help="recordings to watch: the epoch that does best on them is kept")
    add("--learner", choices=tuple(segment_learners()), help="how mistakes move the weights (default: ssvm "
        "with --method subgradient --C 0.001); likelihood: a generative model, by counting")  # fmt: skip
    add("--bins", type=whole(1), metavar="N", help="equal parts that a segment is cut into (default: 3)")
    add("--components", type=whole(1), metavar="N", help="Gaussians for each label and part (default: 1)")
    add("--covariance", choices=("full", "diagonal"), help="products of all values, or squares alone (default: full)")
    add("--content", choices=("sum", "mean"), help="what frames of a segment add up to (default: sum)")
    add("--no-durations", action="store_true", help="do not learn how long segments of a label last")
    add("--min-duration", type=whole(1), metavar="N", help="frames that a segment lasts at least (default: 1)")
    add("--max-duration", type=whole(1), metavar="N", help="frames that a segment lasts at most (default: as seen)")
    add("--no-repeat", action="store_true", help="neighbouring segments have different labels")
    add("--no-transitions", action="store_true", help="do not learn which label follows which")
    add("--frame-cost", type=float, metavar="X", help="what a frame with a wrong label costs (default: 1)")
    add("--boundary-cost", type=float, metavar="X", help="what a wrong boundary costs (default: 0)")
    add("--no-start", action="store_true", help="begin with weights of zero instead of maximum likelihood")
    add("--seed", type=whole(0), metavar="N", help="of the order of the recordings (default: 0)")
    add("--frame", type=_seconds, metavar="SECONDS", help="from one frame of an array to the next (default: 0.01)")
    add("--rate", type=whole(1), metavar="HZ", help="samples per second that sounds are brought to (default: 16000)")
    add("--no-normalise", action="store_true", help="leave the values of sounds as loud as they are")
    add_learner_options(parser, segment_learners())


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.learner_options import given_parameters

    action = arguments.action
    owned: dict[str, dict[str, Any]] = {
        "train": _OF_TRAINING | _FOLDING,
        "apply": _WRITING,
        "align": _WRITING,
        "evaluate": _SCORING | _FOLDING,
        "calibrate": {"output": None} | _FOLDING,
    }
    for options in (_OF_TRAINING, _WRITING, _SCORING, _FOLDING):
        for name, default in options.items():
            if name not in owned[action] and getattr(arguments, name) != default:
                whose = " or ".join(other for other, known in owned.items() if name in known)
                raise UsageError(f"--{name.replace('_', '-')} is for 'margent segment {whose}'")
    if action != "train" and given_parameters(arguments):
        raise UsageError(f"'margent segment {action}' has no learner, and so no parameters of one")
    if arguments.json and action in ("apply", "align"):
        raise UsageError("--json is for 'margent segment train', 'evaluate' or 'calibrate'")
    if action == "train":
        from margent.cli.segment_training import train

        return train(arguments)
    model, *paths = arguments.files
    if not paths:
        raise UsageError(f"'margent segment {action}' needs a model and recordings, a folder of them perhaps")
    segmenter, front_end = _loaded(model, arguments)
    act = {"evaluate": _evaluate, "calibrate": _calibrate}.get(action, _write)
    return act(segmenter, front_end, paths, arguments)


def _loaded(path: str, arguments: argparse.Namespace) -> tuple[Segmenter, FrontEnd]:
    from margent.cli.recordings import FrontEnd
    from margent.features.frame_map import FrameMap
    from margent.models.segmenter.segmenter import Segmenter
    from margent.storage import read

    file = read(path, kind="segmenter")
    segmenter = Segmenter.from_file(file)
    if not isinstance(segmenter.feature_map_, FrameMap):
        raise UsageError(f"{path} is a segmenter of tokens: it works in Python, by margent.load")
    if arguments.threads is not None:
        segmenter.threads = arguments.threads
    return segmenter, FrontEnd.of(segmenter.front_end_, path)


def _evaluate(segmenter: Segmenter, front_end: FrontEnd, paths: Sequence[str], arguments: argparse.Namespace) -> int:
    from margent.cli.data_files import check_plot_target
    from margent.cli.label_fold import label_fold
    from margent.cli.recordings import LabelReader, find_recordings, read_all
    from margent.cli.reports import segment_json
    from margent.metrics import segment_scores

    fold = None if arguments.fold is None else label_fold(arguments.fold, arguments.encoding)
    if arguments.plot is not None:
        check_plot_target(arguments.plot)
    recordings = find_recordings(paths)
    reader = LabelReader.of(arguments)
    X, y = read_all(recordings, front_end, reader)
    for recording, right in zip(recordings, y):
        if right and isinstance(right[0], str):
            raise UsageError(f"{reader.path(recording)}: the labels have no times, with which those found are compared")
    tolerance = 0.02 if arguments.tolerance is None else arguments.tolerance
    report = segment_scores(y, segmenter.predict(X), fold=fold, frame=front_end.frame, tolerance=tolerance)
    if arguments.plot is not None:
        segmenter.plot(X[0], y[0], arguments.plot, frame=front_end.frame, title=str(recordings[0]))
    text = (
        json.dumps(segment_json(report), indent=2, ensure_ascii=False) if arguments.json else str(report).rstrip("\n")
    )
    print(text)
    return 0


def _calibrate(segmenter: Segmenter, front_end: FrontEnd, paths: Sequence[str], arguments: argparse.Namespace) -> int:
    """Fits the temperature, and saves the model with it."""
    from margent.cli.data_files import check_model_target, number_of
    from margent.cli.recordings import LabelReader, find_recordings, read_folded

    target = arguments.output or arguments.files[0]
    check_model_target(target)
    X, y = read_folded(find_recordings(paths), front_end, LabelReader.of(arguments), arguments.fold)
    before = segmenter.temperature_
    segmenter.calibrate(X, y)
    segmenter.save(target)
    if arguments.json:
        after = {"model": target, "recordings": len(X), "before": before, "temperature": segmenter.temperature_}
        print(json.dumps(after, indent=2, ensure_ascii=False))
        return 0
    fitted = f"temperature {segmenter.temperature_:.4g} instead of {before:.4g}"
    print(f"{fitted}, fitted on {number_of(len(X), 'recording')}\nsaved {target}")
    return 0


def _write(segmenter: Segmenter, front_end: FrontEnd, paths: Sequence[str], arguments: argparse.Namespace) -> int:
    """Label files for recordings: of the segments that are found, or of labels that are given, put where they fit."""
    from margent.annotation import intervals_of_segments
    from margent.cli.data_files import check_target, number_of
    from margent.cli.recordings import LabelReader, batches, find_recordings, read_frames, targets_of
    from margent.errors import CorpusError
    from margent.formats import write_labels, write_mlf
    from margent.terminal_bar import TerminalBar

    if arguments.output is None:
        raise UsageError(f"'margent segment {arguments.action}' needs -o DIR, where to write label files")
    if arguments.action == "apply":
        for name in ("labels", "format", "ending", "tier", "gap_label"):
            if getattr(arguments, name) is not None:
                raise UsageError(f"--{name.replace('_', '-')} is for label files that are read, and apply reads none")
    recordings = find_recordings(paths)
    reader = LabelReader.of(arguments) if arguments.action == "align" else None
    format = arguments.to or "textgrid"
    whole_file = format == "mlf"
    if whole_file:
        check_target(arguments.output)
        if arguments.output != "-" and os.path.exists(arguments.output) and not arguments.overwrite:
            raise CorpusError(f"{arguments.output}: the file is there already; --overwrite replaces it")
        targets: Sequence[Any] = [None] * len(recordings)
    else:
        targets = targets_of(recordings, arguments.output, format, arguments.overwrite)
    labels = None if reader is None else [reader.labels(recording) for recording in recordings]
    found: dict[str, Any] = {}
    done = 0
    with TerminalBar("finding segments", len(recordings)) as bar:
        for batch in batches(recordings):
            read = [read_frames(recording, front_end) for recording in batch]
            given = None if labels is None else labels[done : done + len(batch)]
            segmented = _segmented(segmenter, batch, [frames for frames, _ in read], given)
            for recording, segments, (_, rate), target in zip(batch, segmented, read, targets[done:]):
                intervals = intervals_of_segments(segments, frame=front_end.frame)
                if whole_file:
                    found[os.path.basename(recording.name)] = intervals
                else:
                    target.parent.mkdir(parents=True, exist_ok=True)
                    write_labels(target, intervals, format, rate=rate)
            done += len(batch)
            bar._update(advance=len(batch))
    if whole_file:
        if len(found) != len(recordings):
            raise CorpusError("two recordings have the same name, which a master label file cannot tell apart")
        write_mlf(arguments.output, found)
    where = "standard output" if arguments.output == "-" else arguments.output
    print(f"margent: wrote the labels of {number_of(done, 'recording')} to {where}", file=sys.stderr)
    return 0


def _segmented(segmenter: Segmenter, batch: Sequence[Recording], X: list[Any], labels: Any) -> list[Any]:
    """The segments of some recordings; an error names the one that it is about."""
    from margent.errors import MargentError

    try:
        return segmenter.predict(X, labels=labels)
    except MargentError:
        for i, (recording, frames) in enumerate(zip(batch, X)):
            try:
                segmenter.predict([frames], labels=None if labels is None else labels[i : i + 1])
            except MargentError as error:
                message = str(error).removeprefix("sequence 0: ").removeprefix("sequence 0 ")
                raise type(error)(f"{recording}: {message}") from None
        raise


def _seconds(text: str) -> float:
    """A type of option: a time above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text!r}")
    return value
