"""`margent tag`: label new data with a model."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_reading, add_threads, whole

if TYPE_CHECKING:
    from margent.cli.batches import Answer, Batch
    from margent.models.tagger.tagger import Tagger

_EXAMPLES = """\
The input has the columns of the training data without the label; the predicted label is added as the last column. One
more column is taken for the right label and kept, so that 'margent evaluate' can read the output. Each sentence is
answered as soon as the empty line after it has arrived.

With --k, each reading is a block of its own after a line '# reading 1 score=12.3'. With --spans, each sentence is a
JSON object with its spans and the probability of each: positions count tokens, or characters for JSON lines.

examples:
  margent tag model.margent new.txt > tagged.txt
  margent tag model.margent test.txt | margent evaluate
  printf 'Rue\\nde\\nParis\\n\\n' | margent tag model.margent --k 3
  margent tag model.margent new.jsonl --spans -o found.jsonl
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Label the tokens of new data with a model."
    parser.epilog = _EXAMPLES
    parser.add_argument("model", metavar="MODEL", help="a file that 'margent train' or Tagger.save wrote")
    parser.add_argument("files", metavar="FILE", nargs="*", help="data to label, gzip or not (default: standard input)")
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help="where to write (default: standard output)")
    parser.add_argument(
        "--k", type=whole(1), metavar="K", help="print the K best readings of each sentence with scores"
    )
    parser.add_argument("--marginals", action="store_true", help="add a column with the label's probability")
    parser.add_argument(
        "--all-marginals", action="store_true", help="add a column LABEL:PROBABILITY for each label of the model"
    )
    parser.add_argument("--spans", action="store_true", help="print JSON lines with spans and their probabilities")
    add_threads(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.spans and (arguments.k or arguments.marginals or arguments.all_marginals):
        raise UsageError("--spans cannot be combined with --k or --marginals")
    from margent import storage
    from margent.cli.batches import batches
    from margent.cli.data_files import DataReader, check_target
    from margent.errors import CalibrationWarning
    from margent.formats.source import open_target
    from margent.models import Tagger

    check_target(arguments.output)
    reader = DataReader.of(arguments)
    tagger = Tagger.from_file(storage.read(arguments.model, kind="tagger"))
    if arguments.threads is not None:
        tagger.threads = arguments.threads
    paths = arguments.files or ["-"]
    if paths == ["-"] and sys.stdin.isatty():
        print("margent: type a token a line and an empty line after each sentence; Ctrl-D ends", file=sys.stderr)
    if not tagger.calibrated_ and (arguments.spans or arguments.marginals or arguments.all_marginals):
        print(
            f"margent: warning: the probabilities of {arguments.model} are not calibrated; "
            "'margent calibrate' does that with labelled data that it was not trained on",
            file=sys.stderr,
        )
    with open_target(arguments.output, arguments.encoding) as write, warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # said above, in terms of the command line
        for path in paths:
            for batch in batches(path, reader, tagger):
                write(_text(batch, tagger, arguments))
                if arguments.output == "-":
                    sys.stdout.buffer.flush()
    return 0


def _text(batch: Batch, tagger: Tagger, arguments: argparse.Namespace) -> str:
    X = batch.X
    if arguments.spans:
        import json

        records = batch.span_records(tagger.predict_spans(X))
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return batch.text(list(_answers(X, tagger, arguments)))


def _answers(X: Any, tagger: Tagger, arguments: argparse.Namespace) -> Iterator[list[Answer]]:
    """The labellings of each sentence: one, or with --k several."""
    from margent.cli.batches import Answer

    wanted = arguments.marginals or arguments.all_marginals
    marginals = tagger.predict_marginals(X) if wanted else None
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

    if arguments.k is None:
        for i, labels in enumerate(tagger.predict(X)):
            yield [Answer(labels, cells(i, labels))]
    else:
        for i, readings in enumerate(tagger.predict_k_best(X, arguments.k)):
            yield [
                Answer(labels, cells(i, labels), number, score)
                for number, (score, labels) in enumerate(readings, start=1)
            ]
