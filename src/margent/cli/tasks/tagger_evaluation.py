"""`margent evaluate` for taggers: predicted labels, from files or from a model, against the right ones."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from margent.cli.command_line import UsageError
from margent.cli.files import check_plot_target
from margent.cli.options import SCHEMES
from margent.cli.tasks import load_model


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--calibration", action="store_true", help="for a model: report how far its probabilities can be trusted")
    add("--reliability", metavar="FILE", help="for a model: plot the same (.png, .svg, .pdf)")
    add("--tokens", action="store_true", help="score single tokens, and list the most frequent mistakes")
    add("--scheme", choices=(*SCHEMES, "conlleval"), help="label scheme (default: any; conlleval: as the script)")
    add("--confusion", metavar="FILE", help="plot which labels are confused with which (.png, .svg, .pdf)")
    add("--compare", metavar="OTHER", help="predictions of another system: test whether the difference could be chance")


def evaluated(task: Any, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The report, for people and for programs."""
    from margent import metrics
    from margent.cli.reports import as_json, calibration_json, calibration_table, report_of
    from margent.errors import CorpusError
    from margent.metrics.report import classification_table

    files = arguments.files or ["-"]
    if [*files, arguments.compare].count("-") > 1:
        raise UsageError("standard input can be read only once")
    if files[0] == "-" and sys.stdin.isatty():
        raise UsageError("which file? Give GOLD and PRED, or one file with both")
    if len(files) > (2 if arguments.model is None else 1):
        raise UsageError("expected at most GOLD and PRED, or a model and one file")
    for path in (arguments.confusion, arguments.reliability):
        if path:
            check_plot_target(path)
    curves: dict[str, Any] = {}
    if arguments.model is None:
        if arguments.calibration or arguments.reliability:
            raise UsageError("--calibration and --reliability need probabilities: give a model first, then the data")
        gold, predicted, words = _labels(files, arguments)
    else:
        model = load_model(task, arguments)
        X, gold = task.read(files, arguments, model)
        gold, predicted, words = list(gold), model.predict(X), _words(files[0], X, arguments)
        if arguments.calibration or arguments.reliability:
            curves = task.curves(model, X, gold)
    if not any(gold) and not any(predicted):
        raise CorpusError(f"{_named(files[0])}: found no tokens, expected some to evaluate")
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
    if curves:
        summary["calibration"] = calibration_json(curves)
        text += f"\nthe probabilities of {arguments.model}:\n\n{calibration_table(curves)}"
        if arguments.reliability:
            metrics.plot_reliability(curves, arguments.reliability, title=os.path.basename(arguments.model))
    if arguments.compare is not None:
        other, other_words = _last_column(arguments.compare, arguments)
        check_words(words, other_words, arguments.compare)
        more_text, summary["compare"] = _comparison(gold, predicted, other, report, arguments)
        text += more_text
    return text, summary


def _labels(files: list[str], arguments: argparse.Namespace) -> tuple[Any, Any, Any]:
    """Right labels, predicted labels, and the words where both files have them."""
    from margent.cli.tasks.tagger import called, format_of, format_options
    from margent.formats.column_format import read_chosen

    if len(files) == 1:
        format = format_of(files, arguments)
        if format.name != "columns":
            raise UsageError(f"a file in the format {format.name} holds one label for each token: give GOLD and PRED")
        columns = called(read_chosen, files[0], format_options(arguments))
        if columns.n_columns < 2 and len(columns):
            raise UsageError(
                f"{_named(files[0])} has only one column: give GOLD and PRED, or one file with both labels last"
            )
        if not len(columns):
            return [], [], None
        return columns.column(-2), columns.column(-1), columns.column(0) if columns.n_columns > 2 else None
    right, words = _last_column(files[0], arguments)
    guessed, guessed_words = _last_column(files[1], arguments)
    check_words(words, guessed_words, files[1])
    return right, guessed, words


def _last_column(path: str, arguments: argparse.Namespace) -> tuple[Any, Any]:
    """The labels of a file, and its words where it has some."""
    from margent.cli.tasks.tagger import called, format_of, format_options, labelled
    from margent.formats.column_format import read_chosen

    if format_of([path], arguments).name == "columns":
        columns = called(read_chosen, path, format_options(arguments))
        if not len(columns):
            return [], None
        return columns.column(-1), columns.column(0) if columns.n_columns > 1 else None
    X, y = labelled([path], arguments)
    return list(y), _words(path, X, arguments)


def _words(path: str, X: Any, arguments: argparse.Namespace) -> Any:
    from margent.cli.tasks.tagger import format_of
    from margent.formats.batch import words_of

    return words_of(X) if format_of([path], arguments).gives == "tokens" else None


def check_words(words: Any, others: Any, path: str) -> None:
    """Answers to different texts must not be compared."""
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
