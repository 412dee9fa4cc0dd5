"""`margent tune`: search for the parameters with which a model does best."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError
from margent.cli.options import integer
from margent.cli.output import say, say_json

if TYPE_CHECKING:
    from margent.tuning import TuningResult

_EXAMPLES = """\
Without --search, the parameters of the learner that matter most are searched. Many candidates are tried on few
sentences, and only the best of them on all (successive halving). The score is that of 'margent evaluate', averaged over
the folds of cross-validation or measured on --dev.

examples:
  margent tune train.txt --learner pa
  margent tune train.txt --dev dev.txt --learner pa,perceptron -m best.margent
  margent tune train.txt --learner pa --search C=0.01..10:log k=1,2,5 epochs=5..20 --trials 50
  margent tune train.txt --search features=generic,ner,mine.txt order=1,2 constrain=yes,no --halving 1
  margent tune train.txt --learner hmsvm --kernel rbf --search gamma=0.01..1:log window=1,3,5

Lists are tried in full where --trials allows it; from a range LOW..HIGH (or LOW..HIGH:log) --sampler chooses. Ctrl-C
stops the search, and the same command resumes it; run twice at once, both work on it. --seed also chooses the
candidates and the folds.
"""
_PLOTS = ("history", "importances", "slices")


def configure(parser: Parser) -> None:
    from margent.cli.model_options import add_model_options
    from margent.cli.tasks import chosen_learners, chosen_task
    from margent.tuning.search import RESOURCES
    from margent.tuning.study import SAMPLERS

    task = chosen_task(parser)
    learners = chosen_learners(parser, task)
    parser.description = "Search for the parameters with which a model does best on data it has not seen."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("files", metavar=task.files, nargs="+", help="labelled data, gzip or not")
    scoring = parser.add_mutually_exclusive_group()
    scoring.add_argument("--dev", metavar="PATH", help="score on these labelled data instead of cross-validation")
    scoring.add_argument("--folds", type=integer(2), default=5, metavar="N", help="number of folds (default: 5)")
    add(
        "--search",
        nargs="+",
        action="extend",
        metavar="NAME=VALUES",
        help="what to search: a list such as k=1,2,5 or a range such as C=0.01..10:log, of any parameter of the "
        "learner, the model or its kernel",
    )
    add("--trials", type=integer(1), metavar="N", help="number of candidates (default: all of lists, otherwise 27)")
    add(
        "--sampler",
        choices=SAMPLERS,
        default="tpe",
        help="how candidates are chosen (default: tpe, by the scores so far)",
    )
    add(
        "--halving",
        type=integer(1),
        default=3,
        metavar="FACTOR",
        help="factor; 1: try every candidate on all data (default: 3)",
    )
    add("--resource", choices=RESOURCES, default="sentences", help="what halving reduces (default: sentences)")
    add("--min-sentences", type=integer(1), default=100, metavar="N", help="never judge on fewer (default: 100)")
    add("--jobs", type=integer(1), metavar="N", help="number of processes (default: one per processor)")
    add("--storage", metavar="DIR", default="tune-output", help="for study, results and plots (default: ./tune-output)")
    add("-m", "--model", metavar="MODEL", help="train the best model on all of TRAIN and save it to this file")
    add("--top", type=integer(1), default=10, metavar="N", help="number of trials in the table (default: 10)")
    add("--json", action="store_true", help="print one JSON object instead of tables")
    add_model_options(parser, task, learners, several=True)
    task.add_reading(parser)
    parser.set_defaults(chosen=task, names=learners)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.files import check_model_target, named_files, save_model
    from margent.cli.model_options import chosen_learner, chosen_model, fixed_parameters, train_words
    from margent.cli.search_space import search_space
    from margent.errors import SearchWarning
    from margent.tuning import tune
    from margent.tuning.space import SearchSpace
    from margent.tuning.study import import_optuna

    import_optuna()
    task, names = arguments.chosen, arguments.names or [None]
    models = {name: chosen_model(arguments, task, chosen_learner(arguments, task, name)) for name in names}
    model = next(iter(models.values()))
    try:
        for name, candidate in models.items():
            task.check(candidate, name)
        space = search_space(arguments.search, models, fixed_parameters(arguments, task, arguments.names))
        SearchSpace(model, space)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    if os.path.exists(arguments.storage) and not os.path.isdir(arguments.storage):
        raise UsageError(f"--storage must be a folder, and {arguments.storage} is a file")
    if arguments.model is not None:
        check_model_target(arguments.model, named_files(arguments, "model"))
    X, y = task.read(arguments.files, arguments, model)
    X_dev: Any
    y_dev: Any
    X_dev, y_dev = (None, None) if arguments.dev is None else task.read([arguments.dev], arguments, model)
    how = f"{arguments.folds} folds of cross-validation" if X_dev is None else f"{task.size_of(X_dev)} to score on"
    if not arguments.json:
        say(f"{task.size_of(X)} to learn from, {how}", flush=True)
    asked = ("folds", "trials", "sampler", "halving", "resource", "min_sentences", "jobs", "storage")
    progress = False if arguments.json else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SearchWarning)  # the report says it
            options = {name: getattr(arguments, name) for name in asked}
            result = tune(model, X, y, space, X_dev=X_dev, y_dev=y_dev, progress=progress, seed=model.seed, **options)
    except KeyboardInterrupt:  # before the first trial was done
        return _interrupted()
    best = result.best_model()
    command = shlex.join(train_words(arguments, task, best, result.best_parameters.get("features")))
    _report(result, command, arguments)
    if result.interrupted:
        return _interrupted()
    if arguments.model is not None:
        best.fit(X, y, progress=progress)
        # Not given to fit, which would choose the epoch by them once more.
        stopped = best.interrupted_
        try:
            if X_dev is not None and not best.calibrated_ and not stopped:
                best.calibrate(X_dev, y_dev)
        except KeyboardInterrupt:
            stopped = True
        task.remember(best, arguments)
        save_model(best, arguments.model)
        if not arguments.json:
            say(f"saved {arguments.model}: {os.path.getsize(arguments.model) / 1e6:.1f} MB")
        if stopped:
            print("interrupted: the model as it was then is saved", file=sys.stderr)
            return 130
    return 0


def _interrupted() -> int:
    print("interrupted: the same command continues from here", file=sys.stderr)
    return 130


def _report(result: TuningResult, command: str, arguments: argparse.Namespace) -> None:
    folder = Path(arguments.storage)
    plots = _plot(result, folder)
    importances, notes = result.importances(), result.edges()
    if arguments.json:
        summary = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        more = {"importances": importances, "notes": notes, "command": command}
        say_json({**summary, **more})
        return
    if sys.stdout.isatty():
        from rich.console import Console

        Console(highlight=False).print(result.rich_table(arguments.top))
    else:
        say(f"\n{result.table(arguments.top)}")
    if len(importances) > 1:
        shares = ", ".join(f"{name} {100 * share:.0f} %" for name, share in importances.items())
        say(f"what the differences in score are due to: {shares}")
    reasons = list(dict.fromkeys(trial.error for trial in result.trials if trial.error is not None))
    for line in [*(f"failed: {reason}" for reason in reasons[:3]), *(f"note: {note}" for note in notes)]:
        say(line)
    say(f"all trials are in {folder / 'results.csv'}; {plots}\n\nthe best:\n\n  {command}\n", flush=True)


def _plot(result: TuningResult, folder: Path) -> str:
    """Draws the search, and says where it is, or how to get it."""
    from margent.errors import CorpusError, MissingExtraError

    drawn = []
    for kind in _PLOTS:
        try:
            result.plot(folder / f"{kind}.png", kind)
        except MissingExtraError as error:
            return f"no plots were drawn: {error}"
        except CorpusError:  # too little to draw
            continue
        drawn.append(f"{kind}.png")
    return f"plots are in {', '.join(drawn)}" if drawn else "there was too little to draw"
