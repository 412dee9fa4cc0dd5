"""Taggers on the command line: tokens in columns and other formats, a label for each."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_columns, add_format, integer, reading_options
from margent.cli.parameters import Parameter, documented, field_parameters, value_class
from margent.cli.tasks.task import Inspection, Task
from margent.processors import ahead

if TYPE_CHECKING:
    from margent.formats.batch import Batch, Prediction
    from margent.formats.registry import FormatOptions
    from margent.models.tagger.tagger import Tagger

_EXAMPLES = {
    "train": """\
  margent train train.txt -m model.margent
  margent train train.txt --dev dev.txt -m model.margent --epochs 20 --patience 3
  margent train train.txt -m ner.margent --features ner --constrain --learner crf --l2 0.1
  margent train train.txt.gz -m mine.margent --template my-templates.txt
  margent train train.txt -m kernel.margent --kernel polynomial --degree 2 --learner perceptron
  margent train train.conllu -m pos.margent --features pos --columns form,upos
  margent train more.txt --continue model.margent -m better.margent
""",
    "apply": """\
  margent apply model.margent new.txt > tagged.txt
  margent apply model.margent test.txt | margent evaluate
  printf 'Rue\\nde\\nParis\\n\\n' | margent tag model.margent --k 3
  margent tag model.margent new.jsonl --spans -o found.jsonl

The input has the columns of the training data without the label; the predicted label is added as the last column. One
more column is taken to be the right label and kept, so that 'margent evaluate' can read the output. Each sentence is
answered as soon as the empty line after it has arrived.

With --k, each reading is a separate block after a line '# reading 1 score=12.3'. With --spans, each sentence is a JSON
object with its spans and their probabilities; positions count tokens, or characters for JSON lines.
""",
    "evaluate": """\
  margent evaluate gold.txt predicted.txt
  margent tag model.margent test.txt | margent evaluate
  margent evaluate tagged.txt --tokens --confusion confusion.png
  margent evaluate gold.txt one.txt --compare other.txt
  margent evaluate model.margent test.txt --reliability reliability.svg

With two files, their last columns are compared; with one file, its last two columns (right, predicted). Without a file,
standard input is read. With a model first, the last column is compared with the model's predictions. Labels that encode
spans are scored by span, in the layout of conlleval; others by token.
""",
    "calibrate": """\
  margent calibrate model.margent held-out.txt
  margent calibrate model.margent held-out.txt -o calibrated.margent
  margent evaluate calibrated.margent test.txt --calibration
""",
    "inspect": """\
  margent inspect model.margent
  margent inspect model.margent --label B-PER --top 20
  margent inspect model.margent --support 3 --plot support.png
  margent inspect model.margent --json > model.json
""",
    "explain": """\
  margent explain model.margent new.txt
  printf 'Rue\\nde\\nParis\\n\\n' | margent explain model.margent --token 2 --top 5
""",
}
_OF_A_KERNEL = ("degree", "gamma", "coef0", "window", "cache_mb")
_KERNELS = ("linear", "polynomial", "rbf", "string-spectrum")


class TaggerTask(Task):
    name = "tagger"
    about = "label the tokens of sequences"
    examples = _EXAMPLES
    unit, part, files = "sentence", "token", "TRAIN"
    default_learner = "pa"
    own = ("features",)

    def hints(self) -> dict[str, Any]:
        from margent.features import Features

        return {**super().hints(), "features": Features}

    def parameters(self) -> list[Parameter]:
        """Also those of what wraps the features, where the tagger takes such a value: its source has other options."""
        wrapper = value_class(self.hints().get("features"))
        fields = [] if wrapper is None else field_parameters("features", wrapper)
        return [*super().parameters(), *(field for field in fields if field.path[1] != "source")]

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        from margent.features import Kernel
        from margent.features.templates import PRESETS

        group = parser.add_argument_group("features of a token")
        features = group.add_mutually_exclusive_group()
        features.add_argument(
            "--features",
            choices=(*PRESETS, "symbols"),
            help="default: generic; with --kernel: spelling; with --learner spectral: symbols",
        )
        features.add_argument("--template", metavar="FILE", help="feature templates in CRF++'s syntax")
        group.add_argument("--kernel", choices=_KERNELS, help="label by similarity to tokens of the training data")
        told = documented(Kernel)
        for field in dataclasses.fields(Kernel):
            if field.name in _OF_A_KERNEL:
                text = f"with --kernel: {told[field.name]} (default: {field.default})".replace("None", "none")
                group.add_argument(_option(field.name), type=_number, metavar="X", help=text.replace("%", "%%"))
        parser.add_argument(
            "--pair-cost",
            nargs=3,
            action="append",
            metavar=("RIGHT", "PREDICTED", "COST"),
            help="cost of predicting PREDICTED where RIGHT is right; goes before --label-costs (may be repeated)",
        )

    def own_values(self, arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        seen = _chosen_features(arguments)
        if "features" in found:  # a value around the features, made of options already
            seen = dataclasses.replace(found["features"], source=seen)
        if seen is not None:
            values["features"] = seen
        if arguments.pair_cost:
            costs: dict[Any, float] = dict(found.get("label_costs") or {})
            for right, predicted, text in arguments.pair_cost:
                costs[right, predicted] = _cost(text)
                if right == predicted:
                    raise UsageError(f"--pair-cost: expected two different labels, got {right!r} twice")
            values["label_costs"] = costs
        return values

    def own_given(self, arguments: argparse.Namespace) -> set[str]:
        seen = (arguments.features, arguments.template, arguments.kernel)
        given = {name for name in _OF_A_KERNEL if getattr(arguments, name) is not None}
        return given | ({"features"} if any(value is not None for value in seen) else set())

    def own_words(self, arguments: argparse.Namespace, model: Any, searched: Any = None) -> list[str]:
        from margent.features import Kernel

        source = getattr(model.features, "source", model.features)
        given: dict[str, Any] = {}
        if isinstance(source, Kernel):
            given |= {field.name: getattr(source, field.name) for field in dataclasses.fields(Kernel)}
            given = {name: value for name, value in given.items() if value != getattr(Kernel(), name)}
            given["kernel"], source = source.kind, source.features
            given = {name: given[name] for name in ("kernel", *_OF_A_KERNEL) if name in given}
        if source is not None:
            named = isinstance(source, str)
            given["features" if named else "template"] = source if named else searched or arguments.template
        given |= {name: getattr(arguments, name) for name in ("format", "encoding", "columns", "comment")}
        words = [word for name, value in given.items() if value is not None for word in (_option(name), str(value))]
        words += [word for pair in arguments.pair_cost or () for word in ("--pair-cost", *pair)]
        words += [word for name, number in arguments.limit or () for word in ("--limit", f"{name}={number}")]
        return [*words, *(["--tabs"] if arguments.tabs else [])]

    def check(self, model: Any, learner: str | None) -> None:
        pairs = [key for key in model.label_costs or {} if isinstance(key, tuple)]
        if pairs and model.resolved("learner").probabilistic:
            raise UsageError(f"the learner {learner} knows --label-costs, but not --pair-cost")
        super().check(model, learner)

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "tokens", "attributes")
        add_columns(group)

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        return labelled(paths, arguments, getattr(model, "scheme_", None) or getattr(arguments, "scheme", None))

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="print the K best readings of each sentence with scores")
        add("--marginals", action="store_true", help="add a column with the label's probability")
        add("--all-marginals", action="store_true", help="add a column LABEL:PROBABILITY for each label of the model")
        add("--spans", action="store_true", help="print JSON lines with spans and their probabilities")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.errors import CalibrationWarning

        probabilities = arguments.marginals or arguments.all_marginals
        if arguments.spans and (arguments.k or probabilities):
            raise UsageError("--spans cannot be combined with --k or --marginals")
        if arguments.spans or probabilities:
            self.check_calibrated(model, arguments)
        if list(paths) == ["-"] and sys.stdin.isatty():
            print("margent: type a token a line and an empty line after each sentence; Ctrl-D ends", file=sys.stderr)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # said above, in terms of the command line
            done = 0
            for batch in batches(paths, arguments, model):
                if arguments.spans:
                    spans = model.predict_spans(batch.X, on_error="none")
                    failed = [i for i, found in enumerate(spans) if found is None]
                    records = batch.span_records(spans)
                    yield "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
                else:
                    answers = list(_answers(batch.X, model, arguments))
                    failed = [i for i, readings in enumerate(answers) if not readings]
                    yield batch.text(answers)
                ask = model.predict_marginals if arguments.spans or probabilities else model.predict
                for i in failed:
                    arguments.failures.ask(f"sentence {done + i + 1}", lambda: ask([batch.X[i]]))  # noqa: B023
                done += len(batch.X)

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        for batch in batches(paths, arguments, model):
            for sentence in batch.X:
                words = [token if isinstance(token, str) else " ".join(map(str, token)) for token in sentence]
                self.check_token(arguments, len(words))
                for each in model.explain(sentence, arguments.token, top=arguments.top):
                    yield f"{words[each.position]}\t{each}\n"
                yield "\n"

    # Results

    def report(self, model: Any, X: Any, y: Any, arguments: argparse.Namespace) -> Any:
        from margent.cli.reports import report_of

        return report_of(y, model.predict(X), model.scheme)

    def report_text(self, report: Any) -> str:
        from margent.metrics.report import classification_table

        return classification_table(report)

    def add_evaluating(self, parser: argparse.ArgumentParser) -> None:
        from margent.cli.tasks.tagger_evaluation import add_options

        add_options(parser)

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        from margent.cli.tasks.tagger_evaluation import evaluated

        return evaluated(self, arguments)

    def labels(self, model: Any, y: Any) -> tuple[set[str], set[str]]:
        return {*map(str, model.classes_)}, {label for labels in y for label in labels if label is not None}

    # What a model is

    def size(self, model: Any) -> str:
        hidden = hidden_labels(model)
        split = "" if hidden is None else f" (split into {sum(hidden.values())} hidden ones)"
        kind = "features" if model.feature_map_.kernel is None else "support observations"
        kind = "symbols" if model.feature_map_.kind == "symbols" else kind
        features = model.feature_map_.n_unigrams + model.feature_map_.n_edges
        return f"{len(model.classes_)} labels{split}, {features:,} {kind}"

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "labels": [str(name) for name in model.classes_],
            "hidden_labels": hidden_labels(model),
            "scheme": model.scheme_,
            "features": model.feature_map_.n_unigrams + model.feature_map_.n_edges,
        }

    def add_inspecting(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--support",
            type=integer(0),
            metavar="N",
            help="number of training sentences to show with their support sequences, "
            "hardest first (models of hmsvm and dual-perceptron; default: 1)",
        )
        parser.add_argument("--plot", metavar="FILE", help="draw the support sequences of the hardest sentence")

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        from margent.cli.tasks.tagger_inspection import inspected

        return inspected(model, arguments)


def hidden_labels(tagger: Tagger) -> dict[str, int] | None:
    """How many hidden labels each label of a fitted tagger has; None where labels are not split."""
    from margent.models.tagger.hidden.weights import HiddenWeights

    weights = tagger.weights_
    if not isinstance(weights, HiddenWeights):
        return None
    return {str(name): size for name, size in zip(tagger.classes_, weights.labels.sizes.tolist())}


def format_options(arguments: argparse.Namespace, scheme: str | None = None) -> FormatOptions:
    """How files are read, as the options say it."""
    from margent.formats.registry import format_named

    if (
        arguments.columns is not None
        and arguments.format is not None
        and not format_named(arguments.format, "tokens", "attributes").takes_columns
    ):
        raise UsageError(f"--columns has no meaning for the format {arguments.format}")
    return reading_options(arguments, scheme=scheme)


def format_of(paths: Sequence[str], arguments: argparse.Namespace) -> Any:
    """The format given, or the one that the names promise; they must agree."""
    from margent.formats.registry import format_named, guessed_format

    if arguments.format is not None:
        return format_named(arguments.format, "tokens", "attributes")
    found = {guessed_format(path, "tokens", "attributes") or "columns" for path in paths}
    if len(found) > 1:
        raise UsageError(f"the files look like different formats ({', '.join(sorted(found))}): say which with --format")
    return format_named(found.pop() if found else "columns", "tokens", "attributes")


def labelled(paths: Sequence[str], arguments: argparse.Namespace, scheme: str | None = None) -> tuple[Any, Any]:
    """(X, y) of all files together. `scheme`: in which spans become labels, iob2 if None."""
    format, options = format_of(paths, arguments), format_options(arguments, scheme)
    if format.name == "columns":
        return called(format.read, list(paths), options)  # type: ignore[no-any-return]
    parts = [called(format.read, path, options) for path in paths]
    if len(parts) == 1:
        return parts[0]  # type: ignore[no-any-return]
    return [x for X, _ in parts for x in X], [labels for _, y in parts for labels in y]


def called(read: Any, path: Any, options: FormatOptions) -> Any:
    """What a reader gives; what it says of options is wrong usage."""
    try:
        return read(path, options)
    except ValueError as error:
        if type(error) is ValueError and str(error).startswith("columns: "):
            raise UsageError(f"--{error}") from None
        raise


def batches(paths: Sequence[str], arguments: argparse.Namespace, tagger: Tagger) -> Iterator[Batch]:
    """The sentences of files, as many at once as have arrived ("-": standard input)."""
    from margent.errors import CorpusError
    from margent.formats.batch import Expected
    from margent.formats.registry import format_names

    options = format_options(arguments)
    takes = tagger.feature_map_.takes
    for path in paths:
        format = format_of([path], arguments)
        if format.gives != takes or format.stream is None:
            wanted = (
                f"{takes} (--format {' or '.join(format_names(takes))})"  # type: ignore[arg-type]
                if takes in ("tokens", "attributes")
                else "vectors, which only Python can give it"
            )
            name = "<stdin>" if path == "-" else path
            raise CorpusError(f"{name}: the format is {format.name}, but the model takes {wanted}")
        expected = Expected(tagger.feature_map_.n_columns, tagger.scheme_ is not None)
        found = called(lambda path, options: format.stream(path, options, expected), path, options)  # noqa: B023
        yield from ahead(found) if os.path.isfile(path) else found


def _answers(X: Any, tagger: Tagger, arguments: argparse.Namespace) -> Iterator[list[Prediction]]:
    """The labellings of each sentence: one, or with --k several; none where it has no answer."""
    from margent.formats.batch import Prediction

    wanted = arguments.marginals or arguments.all_marginals
    marginals = tagger.predict_marginals(X, on_error="none") if wanted else None
    names = [str(name) for name in tagger.classes_]
    place = {name: i for i, name in enumerate(names)}

    def cells(sentence: int, labels: list[str]) -> list[tuple[str, ...]] | None:
        """The columns of probabilities: of the label given, of all labels, or both."""
        if marginals is None:
            return None
        rows = marginals[sentence]
        own: list[tuple[str, ...]] = [(f"{row[place[label]]:.6f}",) for row, label in zip(rows, labels)]
        if not arguments.all_marginals:
            return own
        each = [tuple(f"{name}:{value:.6f}" for name, value in zip(names, row)) for row in rows]
        return [one + all_ for one, all_ in zip(own, each)] if arguments.marginals else each

    def answered(i: int, found: Any) -> bool:
        return found is not None and (marginals is None or marginals[i] is not None)

    if arguments.k is None:
        for i, labels in enumerate(tagger.predict(X, on_error="none")):
            yield [Prediction(labels, cells(i, labels))] if answered(i, labels) else []
    else:
        for i, readings in enumerate(tagger.predict_k_best(X, arguments.k, on_error="none")):
            yield [
                Prediction(labels, cells(i, labels), number, score)
                for number, (score, labels) in enumerate(readings if answered(i, readings) else (), start=1)
            ]


def _chosen_features(arguments: argparse.Namespace) -> Any:
    from margent.features import Kernel, Templates

    seen = arguments.features if arguments.template is None else Templates.from_file(arguments.template)
    given = {name: getattr(arguments, name) for name in _OF_A_KERNEL if getattr(arguments, name) is not None}
    if arguments.kernel is None:
        for name in given:
            raise UsageError(f"{_option(name)} is for a kernel: give --kernel too")
        return seen
    try:
        return Kernel(arguments.kernel, features=seen, **given)
    except ValueError as error:
        raise UsageError(f"--kernel: {error}") from None


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _number(text: str) -> float:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from None


def _cost(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"--pair-cost: expected a cost of at least 0, got {text!r}")
    return value


TASK = TaggerTask()
