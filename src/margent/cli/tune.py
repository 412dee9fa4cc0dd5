"""`margent tune`: search for the parameters with which a model does best."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError
from margent.cli.options import whole

if TYPE_CHECKING:
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


def configure(parser: Parser) -> None:
    from margent.cli.model_options import add_model_options
    from margent.cli.tasks import chosen_learners, chosen_task

    task = chosen_task(parser)
    if task.name != "tagger":
        raise UsageError(f"'margent tune' searches for taggers so far, not for a {task.name}")
    learners = chosen_learners(parser, task)
    parser.description = "Search for the parameters with which a model does best on data it has not seen."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("files", metavar="TRAIN", nargs="+", help="labelled data, gzip or not; '-' is standard input")
    scoring = parser.add_mutually_exclusive_group()
    scoring.add_argument("--dev", metavar="FILE", help="labelled data to score on, instead of cross-validation")
    scoring.add_argument("--folds", type=whole(2), default=5, metavar="N", help="of cross-validation (default: 5)")
    add(
        "--search",
        nargs="+",
        action="extend",
        metavar="NAME=VALUES",
        help="what to search: a list such as k=1,2,5 or a range such as C=0.01..10:log, of the learner's parameters, "
        "or of features, order, hidden, growth, decode, constrain, restrict-labels, min-count",
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
    add_model_options(parser, task, learners, several=True)
    task.add_reading(parser)
    parser.set_defaults(chosen=task, names=learners)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.files import check_model_target
    from margent.cli.model_options import chosen_learner, chosen_model, fixed_parameters, train_words
    from margent.cli.search_options import search_space
    from margent.tuning import tune
    from margent.tuning.space import SearchSpace

    task = arguments.chosen
    learners = {name: chosen_learner(arguments, task, name) for name in arguments.names}
    space = search_space(arguments, learners, fixed_parameters(arguments, task, arguments.names))
    models = {name: chosen_model(arguments, task, learner) for name, learner in learners.items()}
    tagger = next(iter(models.values()))
    try:
        for name, model in models.items():
            task.check(model, name)
        SearchSpace(tagger, space)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if os.path.exists(arguments.out) and not os.path.isdir(arguments.out):
        raise UsageError(f"--out must be a folder, and {arguments.out} is a file")
    if arguments.model is not None:
        check_model_target(arguments.model)
    X, y = task.read(arguments.files, arguments, tagger)
    X_dev: Any
    y_dev: Any
    X_dev, y_dev = (None, None) if arguments.dev is None else task.read([arguments.dev], arguments, tagger)
    how = f"{arguments.folds} folds of cross-validation" if X_dev is None else f"{task.counted(X_dev)} to score on"
    if not arguments.json:
        print(f"{task.counted(X)} to learn from, {how}", flush=True)
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
            seed=tagger.seed,
            progress=False if arguments.json else None,
        )
    except KeyboardInterrupt:  # before the first trial was done
        return _interrupted()
    best = result.best_tagger()
    command = shlex.join(train_words(arguments, task, best, result.best_parameters.get("features")))
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
