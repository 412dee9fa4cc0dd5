"""`margent train`: learn a model from labelled files."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from typing import Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_reading, add_threads, share

_EXAMPLES = """\
examples:
  margent train train.txt -m model.margent
  margent train train.txt --dev dev.txt -m model.margent --epochs 20 --patience 3
  margent train train.txt -m ner.margent --features ner --constrain --min-count 2
  margent train train.txt.gz -m mine.margent --template my-templates.txt
  margent train train.txt -m kernel.margent --kernel polynomial --degree 2 --window 3 --learner perceptron
  margent train words.txt -m sounds.margent --learner spectral --tau 10
  margent train train.txt --dev dev.txt -m split.margent --hidden 4 --restarts 3 --learner crf
  margent train train.conllu -m pos.margent --features pos --columns form,upos
  margent train train.jsonl -m model.margent --json > report.json

Ctrl-C ends the training and saves the best model so far.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from margent.cli.learner_options import add_learner_options
    from margent.cli.tagger_options import add_tagger_options
    from margent.learners import LEARNERS

    parser.description = "Learn to label tokens from files in which the last column is the label."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("train", metavar="TRAIN", nargs="+", help="labelled data, gzip or not; '-' is standard input")
    add("-m", "--model", metavar="MODEL", required=True, help="where to save the model")
    add("--dev", metavar="FILE", help="labelled data to watch: the epoch that does best on them is kept")
    add("--learner", choices=tuple(LEARNERS), default="pa", help="how mistakes move the weights (default: pa)")
    add_tagger_options(parser)
    add(
        "--calibration",
        type=share,
        metavar="SHARE",
        help="fit the probabilities on this share of the sentences, such as 0.1, by a second training without them "
        "(not needed with --dev, on which they are fitted anyway; 0: not at all)",
    )
    add("--compact", action="store_true", help="save a smaller model: 16-bit weights, no features of weight zero")
    add("--json", action="store_true", help="print one JSON object instead of tables")
    add_threads(parser, "training a crf, and for tagging the development data")
    add_learner_options(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.data_files import DataReader, check_model_target, counted
    from margent.cli.learner_options import chosen_learner
    from margent.cli.reports import as_json, classification_table, report_of
    from margent.cli.tagger_options import chosen_tagger, hidden_labels
    from margent.errors import TrainingWarning

    learner = chosen_learner(arguments)
    if getattr(learner, "patience", None) is not None and arguments.dev is None:
        raise UsageError("--patience watches the development data: give --dev FILE")
    check_model_target(arguments.model)
    reader = DataReader.of(arguments)
    tagger = chosen_tagger(arguments, learner).set_params(threads=arguments.threads, calibration=arguments.calibration)
    X, y = reader.labelled(arguments.train, arguments.scheme)
    X_dev: Any
    y_dev: Any
    X_dev, y_dev = (None, None) if arguments.dev is None else reader.labelled([arguments.dev], arguments.scheme)
    say = Printer(quiet=arguments.json)
    say(f"{counted(X)} to learn from" + (f", {counted(X_dev)} to watch" if X_dev is not None else ""))
    started = time.perf_counter()
    table = EpochTable(say, with_dev=X_dev is not None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", TrainingWarning)
        tagger.fit(X, y, X_dev=X_dev, y_dev=y_dev, callbacks=[table.add], progress=False if arguments.json else None)
    for warning in caught:
        print(f"margent: warning: {warning.message}", file=sys.stderr)
    seconds = time.perf_counter() - started
    tagger.save(arguments.model, compact=arguments.compact)
    report = None if X_dev is None else report_of(y_dev, tagger.predict(X_dev), arguments.scheme)
    if arguments.json:
        summary = {
            "model": arguments.model,
            "bytes": os.path.getsize(arguments.model),
            "sentences": len(X),
            "labels": [str(name) for name in tagger.classes_],
            "hidden_labels": hidden_labels(tagger),
            "scheme": tagger.scheme_,
            "features": tagger.feature_map_.n_unigrams + tagger.feature_map_.n_edges,
            "seconds": seconds,
            "epochs": tagger.history_,
            "best_epoch": tagger.best_epoch_,
            "interrupted": tagger.interrupted_,
            "temperature": tagger.temperature_,
            "calibrated": tagger.calibrated_,
            "dev": None if report is None else as_json(report),
        }
        say.always(json.dumps(summary, indent=2, ensure_ascii=False))
        return 130 if tagger.interrupted_ else 0
    if tagger.interrupted_:
        say(interruption(tagger))
    elif table.gap is not None and learner.gap is not None and table.gap > learner.gap:
        say(f"the gap is {table.gap:.2g}, wanted {learner.gap:.2g}: it takes more --epochs")
    if report is not None:
        best = f" (epoch {tagger.best_epoch_})" if tagger.best_epoch_ is not None else ""
        say(f"\non the development data{best}:\n\n{classification_table(report)}")
    if tagger.calibrated_ and tagger.temperature_ != 1:
        say(f"probabilities are calibrated: temperature {tagger.temperature_:.4g}")
    features = tagger.feature_map_.n_unigrams + tagger.feature_map_.n_edges
    kind = "features" if tagger.feature_map_.kernel is None else "support observations"
    kind = "symbols" if tagger.feature_map_.kind == "symbols" else kind
    say(
        f"saved {arguments.model}: {len(tagger.classes_)} labels{_hidden(tagger)}, {features:,} {kind}, "
        f"{os.path.getsize(arguments.model) / 1e6:.1f} MB, trained in {seconds:.1f} s"
    )
    return 130 if tagger.interrupted_ else 0


def _hidden(tagger: Any) -> str:
    from margent.cli.tagger_options import hidden_labels

    found = hidden_labels(tagger)
    return "" if found is None else f" (split into {sum(found.values())} hidden ones)"


def interruption(tagger: Any) -> str:
    from margent.cli.data_files import number_of

    done = len(tagger.history_)
    if tagger.best_epoch_ is not None:
        best = f"the model of epoch {tagger.best_epoch_}, the best so far, is kept"
        return f"interrupted after {number_of(done, 'epoch')}: {best}"
    return f"interrupted in epoch {done + 1}: the model as it was then is kept"


class Printer:
    """Prints lines as they come; a reader that has gone away does not stop the training."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        # The progress bar catches sys.stdout to print above itself: right on a terminal, wrong for a file.
        self._stream = None if sys.stdout.isatty() else sys.stdout

    def __call__(self, text: str) -> None:
        if not self._quiet:
            self.always(text)

    def always(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except BrokenPipeError:
            self._quiet = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class EpochTable:
    """One line for each epoch, written when it ends, with the columns that its learner has something to say in."""

    def __init__(self, say: Printer, *, with_dev: bool) -> None:
        self._say = say
        self._best = -1.0
        self._with_dev = with_dev
        self._begun = False
        self.gap: float | None = None

    def add(self, epoch: Any) -> None:
        self.gap = epoch.gap
        # A learner that does not search while it learns has an objective to watch instead.
        searched = epoch.accuracy is not None
        columns = [("epoch", 5, f"{epoch.epoch}")]
        if searched:
            columns.append(("accuracy", 8, f"{100 * epoch.accuracy:.2f}%"))
        if epoch.objective is not None and (epoch.gap is not None or not searched):
            columns.append(("objective", 12, f"{epoch.objective:.2f}"))
        if epoch.gap is not None:
            columns += [("primal", 12, f"{epoch.primal:.2f}"), ("gap", 8, f"{epoch.gap:.2g}")]
        if epoch.rank is not None:
            columns.append(("rank", 5, f"{epoch.rank}"))
        columns.append(("updates", 10 if searched else 8, f"{epoch.updates:,}"))
        columns.append(("seconds", 7, f"{epoch.seconds:.2f}"))
        if not self._begun:
            heading = "  ".join(f"{name:>{width}}" for name, width, _ in columns)
            self._say(f"\n{heading}" + ("     dev" if self._with_dev else ""))
            self._begun = True
        line = "  ".join(f"{text:>{width}}" for _, width, text in columns)
        if epoch.dev_score is not None:
            line += f"  {100 * epoch.dev_score:6.2f}{' *' if epoch.dev_score > self._best else ''}"
            self._best = max(self._best, epoch.dev_score)
        self._say(line)
