"""`margent evaluate`: compare predicted labels with the right ones."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from typing import Any

from margent.cli.command_line import UsageError
from margent.cli.options import SCHEMES, add_reading

_EXAMPLES = """\
With two files, the last column of each is compared; with one, its last two columns (right, predicted). Without a file,
standard input is read. With --model, the last column is compared with what the model predicts. Labels that spell spans
are scored by span, in the layout of conlleval; others by token.

examples:
  margent evaluate gold.txt predicted.txt
  margent tag model.margent test.txt | margent evaluate
  margent evaluate tagged.txt --tokens --confusion confusion.png
  margent evaluate gold.txt one.txt --compare other.txt
  margent evaluate test.txt --model model.margent --reliability reliability.svg
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Compare predicted labels with the right ones."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("gold", metavar="GOLD", nargs="?", default="-", help="the right labels, or right and predicted in one file")
    add("predicted", metavar="PRED", nargs="?", help="the predicted labels")
    add("--model", metavar="MODEL", help="predict with this model instead of reading predictions")
    add("--calibration", action="store_true", help="with --model: how far its probabilities can be trusted")
    add("--reliability", metavar="FILE", help="with --model: draw how far (.png, .svg, .pdf)")
    add("--tokens", action="store_true", help="score single tokens, and list the most frequent mistakes")
    add(
        "--scheme",
        choices=(*SCHEMES, "conlleval"),
        help="how labels spell spans (default: any; conlleval: by its letter)",
    )
    add("--confusion", metavar="FILE", help="draw which labels are mistaken for which (.png, .svg, .pdf)")
    add("--compare", metavar="OTHER", help="predictions of another system: is the difference more than luck?")
    add("--json", action="store_true", help="print one JSON object")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent import metrics
    from margent.cli.data_files import DataReader, check_plot_target
    from margent.cli.reports import as_json, calibration_json, calibration_table, classification_table, report_of
    from margent.errors import CorpusError

    if [arguments.gold, arguments.predicted, arguments.compare].count("-") > 1:
        raise UsageError("standard input can be read only once")
    if arguments.gold == "-" and sys.stdin.isatty():
        raise UsageError("which file? Give GOLD and PRED, or one file with both")
    for path in (arguments.confusion, arguments.reliability):
        if path:
            check_plot_target(path)
    reader = DataReader.of(arguments)
    curves = None
    if arguments.model is None:
        if arguments.calibration or arguments.reliability:
            raise UsageError("--calibration and --reliability need probabilities: give --model MODEL")
        gold, predicted, words = _labels(reader, arguments.gold, arguments.predicted)
    elif arguments.predicted is not None:
        raise UsageError("--model predicts the labels: give it or PRED, not both")
    else:
        gold, predicted, words, curves = _predictions(reader, arguments)
    if not any(gold) and not any(predicted):
        raise CorpusError(f"{_named(arguments.gold)}: found no tokens, expected some to evaluate")
    if arguments.tokens:
        report: Any = metrics.token_scores(gold, predicted)
    else:
        report = report_of(gold, predicted, arguments.scheme)
    summary: dict[str, Any] = as_json(report)
    text = str(report) if isinstance(report, metrics.SpanReport) else classification_table(report)
    if arguments.tokens or arguments.confusion:
        matrix = metrics.confusion_matrix(gold, predicted)
        confused = [mistake for mistake in matrix.most_confused(10) if mistake.tokens]
        if arguments.tokens:
            summary["most_confused"] = [mistake._asdict() for mistake in confused]
            if confused:
                text += f"\nthe most frequent mistakes:\n\n{metrics.confusion_table(matrix)}"
        if arguments.confusion:
            metrics.plot_confusion(matrix, arguments.confusion)
    if curves is not None:
        summary["calibration"] = calibration_json(curves)
        text += f"\nthe probabilities of {arguments.model}:\n\n{calibration_table(curves)}"
        if arguments.reliability:
            metrics.plot_reliability(curves, arguments.reliability, title=os.path.basename(arguments.model))
    if arguments.compare is not None:
        other, other_words = _predicted(reader, arguments.compare)
        _check_words(words, other_words, arguments.compare)
        more_text, summary["compare"] = _comparison(gold, predicted, other, report, arguments)
        text += more_text
    print(json.dumps(summary, indent=2, ensure_ascii=False) if arguments.json else text.rstrip("\n"))
    return 0


def _labels(reader: Any, gold: str, predicted: str | None) -> tuple[Any, Any, Any]:
    """Right labels, predicted labels, and the words where both files have them."""
    if predicted is None:
        kind = reader.format_of([gold])
        if kind != "columns":
            raise UsageError(f"a file in the format {kind} holds one label for each token: give GOLD and PRED")
        columns = reader.all_columns([gold])
        if columns.n_columns < 2 and len(columns):
            raise UsageError(
                f"{_named(gold)} has only one column: give GOLD and PRED, or one file with both labels last"
            )
        if not len(columns):
            return [], [], None
        return columns.column(-2), columns.column(-1), columns.column(0) if columns.n_columns > 2 else None
    right, words = _predicted(reader, gold)
    guessed, guessed_words = _predicted(reader, predicted)
    _check_words(words, guessed_words, predicted)
    return right, guessed, words


def _predictions(reader: Any, arguments: argparse.Namespace) -> tuple[Any, Any, Any, Any]:
    """Right labels, the labels that a model predicts, the words, and reliability curves where they are wanted."""
    from margent import storage
    from margent.cli.data_files import ATTRIBUTE_FORMATS, words_of
    from margent.errors import CalibrationWarning
    from margent.models import Tagger, reliability

    tagger = Tagger.from_file(storage.read(arguments.model, kind="tagger"))
    X, y = reader.labelled([arguments.gold], tagger.scheme_)
    words = None if reader.format_of([arguments.gold]) in ATTRIBUTE_FORMATS else words_of(X)
    curves = None
    if arguments.calibration or arguments.reliability:
        with warnings.catch_warnings():  # that they are not calibrated will be seen
            warnings.simplefilter("ignore", CalibrationWarning)
            curves = reliability(tagger, X, y)
    return list(y), tagger.predict(X), words, curves


def _predicted(reader: Any, path: str) -> tuple[Any, Any]:
    """The last column of a file, and its first where that is another."""
    from margent.cli.data_files import ATTRIBUTE_FORMATS, words_of

    kind = reader.format_of([path])
    if kind == "columns":
        columns = reader.all_columns([path])
        if not len(columns):
            return [], None
        return columns.column(-1), columns.column(0) if columns.n_columns > 1 else None
    X, y = reader.labelled([path])
    return list(y), None if kind in ATTRIBUTE_FORMATS else words_of(X)


def _check_words(words: Any, others: Any, path: str) -> None:
    """Labels of different texts must not be compared."""
    from margent.errors import CorpusError

    if words is None or others is None:
        return
    for number, (sentence, other) in enumerate(zip(words, others)):
        for place, (left, right) in enumerate(zip(sentence, other)):
            if left != right:
                raise CorpusError(
                    f"{_named(path)}: sentence {number}, token {place} is {right!r}, but {left!r} in the other file"
                )


def _named(path: str) -> str:
    return "<stdin>" if path == "-" else path


def _comparison(gold: Any, first: Any, second: Any, report: Any, arguments: Any) -> tuple[str, dict[str, Any]]:
    """McNemar's test over tokens, the paired bootstrap over sentences for the measure that was reported."""
    from margent import metrics

    by_span = isinstance(report, metrics.SpanReport)
    measure, name = ("span_f1", "span F1") if by_span else ("accuracy", "accuracy")
    scheme = {"scheme": arguments.scheme} if by_span else {}
    tokens = metrics.mcnemar_test(gold, first, second)
    sampled = metrics.paired_bootstrap(gold, first, second, measure, **scheme)
    surely = "a real difference" if sampled.p_value < 0.05 else "may well be luck"
    text = (
        f"\ncompared with {arguments.compare}:\n"
        f"  {name} {100 * sampled.first:.2f} here, {100 * sampled.second:.2f} there: {100 * sampled.difference:+.2f}, "
        f"95% between {100 * sampled.low:+.2f} and {100 * sampled.high:+.2f}\n"
        f"  paired bootstrap over sentences: p = {sampled.p_value:.4f} ({surely})\n"
        f"  McNemar's test over tokens: {tokens.only_first} right only here, {tokens.only_second} only there, "
        f"p = {tokens.p_value:.4g}\n"
    )
    return text, {"measure": measure, "bootstrap": sampled._asdict(), "mcnemar": tokens._asdict()}
