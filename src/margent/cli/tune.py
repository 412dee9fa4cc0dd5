"""`margent tune`: search for the parameters with which a model does best."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_reading, whole

if TYPE_CHECKING:
    from margent.models import Tagger
    from margent.tuning import TuningResult

_EXAMPLES = """\
Without --search, the parameters of the learner that matter most are searched. Many candidates are tried on few
sentences, the best of them on more, the last few on all (successive halving). Scores are span F1 where labels spell
spans, else accuracy, averaged over the folds of cross-validation or measured on --dev.

examples:
  margent tune train.txt --learner pa
  margent tune train.txt --dev dev.txt --learner pa,perceptron -m best.margent
  margent tune train.txt --learner pa --search C=0.01..10:log k=1,2,5 epochs=5..20 --trials 50
  margent tune train.txt --search features=generic,ner,mine.txt order=1,2 constrain=yes,no --halving 1

A list is tried in full, a range LOW..HIGH (or LOW..HIGH:log) is drawn from. Ctrl-C stops the search, and the same
command goes on with it. --seed also chooses the candidates and the folds.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from margent.cli.learner_options import add_learner_options
    from margent.cli.search_options import learner_names
    from margent.cli.tagger_options import add_tagger_options
    from margent.learners import LEARNERS

    parser.description = "Search for the parameters with which a model does best on data it has not seen."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("train", metavar="TRAIN", nargs="+", help="labelled data, gzip or not; '-' is standard input")
    scoring = parser.add_mutually_exclusive_group()
    scoring.add_argument("--dev", metavar="FILE", help="labelled data to score on, instead of cross-validation")
    scoring.add_argument("--folds", type=whole(2), default=5, metavar="N", help="of cross-validation (default: 5)")
    add(
        "--learner",
        type=learner_names,
        default=["pa"],
        metavar="LIST",
        help=f"learners to try, separated by commas, of {', '.join(LEARNERS)} (default: pa)",
    )
    add(
        "--search",
        nargs="+",
        action="extend",
        metavar="NAME=VALUES",
        help="what to search: a list such as k=1,2,5 or a range such as C=0.01..10:log, of the learner's parameters, "
        "or of features, order, hidden, search, constrain, tag-dictionary, min-count",
    )
    add("--trials", type=whole(1), metavar="N", help="candidates to try (default: all of a grid, else 27)")
    add("--halving", type=whole(1), default=3, metavar="FACTOR", help="1: every candidate on all data (default: 3)")
    add("--min-sentences", type=whole(1), default=100, metavar="N", help="never judge by fewer (default: 100)")
    add("--jobs", type=whole(1), metavar="N", help="processes (default: all processors); does not change results")
    add(
        "--out",
        metavar="DIR",
        default="tune-output",
        help="folder for journal, results and plot (default: ./tune-output)",
    )
    add("-m", "--model", metavar="MODEL", help="train the best on all of TRAIN, and save it there")
    add("--top", type=whole(1), default=10, metavar="N", help="trials in the table (default: 10)")
    add("--json", action="store_true", help="print one JSON object instead of tables")
    add_tagger_options(parser)
    add_learner_options(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.data_files import DataReader, check_model_target, counted
    from margent.cli.learner_options import chosen_learners
    from margent.cli.search_options import search_space
    from margent.cli.tagger_options import chosen_tagger
    from margent.tuning import tune
    from margent.tuning.space import SearchSpace

    learners = chosen_learners(arguments, arguments.learner)
    space = search_space(arguments, learners)
    tagger, *_ = [chosen_tagger(arguments, learner) for learner in learners.values()]
    try:
        SearchSpace(tagger, space)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if os.path.exists(arguments.out) and not os.path.isdir(arguments.out):
        raise UsageError(f"--out must be a folder, and {arguments.out} is a file")
    if arguments.model is not None:
        check_model_target(arguments.model)
    reader = DataReader.of(arguments)
    X, y = reader.labelled(arguments.train, arguments.scheme)
    X_dev: Any
    y_dev: Any
    X_dev, y_dev = (None, None) if arguments.dev is None else reader.labelled([arguments.dev], arguments.scheme)
    how = f"{arguments.folds} folds of cross-validation" if X_dev is None else f"{counted(X_dev)} to score on"
    if not arguments.json:
        print(f"{counted(X)} to learn from, {how}", flush=True)
    try:
        result = tune(
            tagger,
            X,
            y,
            space,
            X_dev=X_dev,
            y_dev=y_dev,
            folds=arguments.folds,
            trials=arguments.trials,
            halving=arguments.halving,
            min_sentences=arguments.min_sentences,
            jobs=arguments.jobs,
            folder=arguments.out,
            seed=arguments.seed,
            progress=False if arguments.json else None,
        )
    except KeyboardInterrupt:  # before the first trial was done
        return _interrupted()
    best = result.best_tagger()
    command = train_command(arguments, best, result.best_parameters)
    _report(result, command, arguments)
    if result.interrupted:
        return _interrupted()
    if arguments.model is not None:
        best.fit(X, y, progress=False if arguments.json else None)
        # Not given to fit, which would choose the epoch by them once more.
        if X_dev is not None and not best.calibrated_ and not best.interrupted_:
            best.calibrate(X_dev, y_dev)
        best.save(arguments.model)
        if not arguments.json:
            print(f"saved {arguments.model}: {os.path.getsize(arguments.model) / 1e6:.1f} MB")
        if best.interrupted_:
            print("interrupted: the model as it was then is saved", file=sys.stderr)
            return 130
    return 0


def _interrupted() -> int:
    print("interrupted: the same command goes on from here", file=sys.stderr)
    return 130


def _report(result: TuningResult, command: str, arguments: argparse.Namespace) -> None:
    plot = _plot(result, Path(arguments.out))
    if arguments.json:
        summary = json.loads((Path(arguments.out) / "results.json").read_text(encoding="utf-8"))
        print(json.dumps({**summary, "command": command}, indent=2, ensure_ascii=False))
        return
    if sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(result.rich_table(arguments.top))
    else:
        print(f"\n{result.table(arguments.top)}")
    reasons = list(dict.fromkeys(trial.error for trial in result.trials if trial.error is not None))
    for reason in reasons[:3]:
        print(f"failed: {reason}")
    print(f"all trials are in {Path(arguments.out) / 'results.csv'}; {plot}\n\nthe best:\n\n  {command}\n", flush=True)


def _plot(result: TuningResult, folder: Path) -> str:
    """Draws the search, and says where it is, or how to get it."""
    from margent.errors import MissingExtraError

    try:
        result.plot(folder / "plot.png")
    except MissingExtraError as error:
        return f"no plot was drawn: {error}"
    return f"the plot is {folder / 'plot.png'}"


def train_command(arguments: argparse.Namespace, tagger: Tagger, searched: dict[str, Any]) -> str:
    """The `margent train` that trains this tagger."""
    from margent.cli.learner_options import as_options
    from margent.cli.tagger_options import kernel_words
    from margent.features import Kernel

    words = ["margent", "train", *arguments.train, "-m", arguments.model or "best.margent", *as_options(tagger.learner)]
    features = searched.get("features", arguments.template or arguments.features)
    source = tagger.resolved("features").source
    seen = source.features if isinstance(source, Kernel) else source
    if features is not None:
        words += ["--template" if seen != features else "--features", str(features)]
    words += kernel_words(arguments)
    hidden, beam = tagger.resolved("hidden"), tagger.search if tagger.beam_width is not None else None
    plain = {
        "order": (tagger.order, 1),
        "hidden": (1 if hidden is None else hidden.n, 1),
        "restarts": (getattr(tagger.hidden, "restarts", 1), 1),
        "decode": (tagger.decode, "viterbi"),
        "scheme": (tagger.scheme, None),
        "tag-dictionary": (tagger.tag_dictionary, None),
        "min-count": (tagger.resolved("features").min_count, 1),
        "seed": (tagger.seed, 0),
    }
    words += [word for name, (value, usual) in plain.items() if value != usual for word in (f"--{name}", str(value))]
    if beam is not None:
        words += ["--beam-search", str(beam.width), "--beam-update", beam.update]  # type: ignore[union-attr]
    words += ["--constrain"] if tagger.constrain else []
    words += [word for label, cost in arguments.label_cost or () for word in ("--label-cost", f"{label}={cost}")]
    words += [word for pair in arguments.pair_cost or () for word in ("--pair-cost", *pair)]
    for name, usual in (("format", None), ("encoding", "utf-8"), ("columns", None), ("comment", None)):
        if getattr(arguments, name) != usual:
            words += [f"--{name}", getattr(arguments, name)]
    return shlex.join([*words, *(["--tabs"] if arguments.tabs else [])])
