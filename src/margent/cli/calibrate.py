"""`margent calibrate`: fit the temperature of a model, so that its probabilities can be taken at their word."""

from __future__ import annotations

import argparse
import json
import sys
import warnings

from margent.cli.command_line import UsageError
from margent.cli.options import add_reading, add_threads

_EXAMPLES = """\
The model goes on predicting the same labels; only probabilities change (margent tag --marginals, --spans). The data
must not be those that it was trained on. 'margent train --dev' and '--calibration' calibrate a model by themselves.
The table before and after is measured on the data given; data not seen yet say more (margent evaluate --calibration).

examples:
  margent calibrate model.margent held-out.txt
  margent calibrate model.margent held-out.txt -o calibrated.margent
  margent evaluate test.txt --model calibrated.margent --calibration
"""


_ENOUGH = 50  # predictions; with fewer, one more mistake would change the temperature a lot


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Fit the temperature of a model on labelled data, so that 0.8 means right 8 times of 10."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file; replaced unless -o is given")
    add("data", metavar="DATA", nargs="+", help="labelled data, gzip or not; '-' is standard input")
    add("-o", "--output", metavar="OUT", help="where to save the calibrated model (default: MODEL)")
    add("--json", action="store_true", help="print one JSON object")
    add_threads(parser)
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent import storage
    from margent.cli.data_files import DataReader, check_model_target, number_of
    from margent.cli.reports import calibration_json, calibration_table
    from margent.errors import CalibrationWarning, CorpusError
    from margent.models import Tagger, reliability

    target = arguments.output or arguments.model
    check_model_target(target)
    reader = DataReader.of(arguments)
    file = storage.read(arguments.model)
    if file.kind == "segmenter":
        raise UsageError(f"{arguments.model} is a segmenter: margent segment calibrate MODEL RECORDINGS")
    if file.kind != "tagger":
        raise file.error(f"it holds a {file.kind!r}, not a 'tagger'")
    tagger = Tagger.from_file(file)
    given_threads = tagger.threads
    if arguments.threads is not None:
        tagger.threads = arguments.threads
    X, y = reader.labelled(arguments.data, tagger.scheme_)
    known = {str(name) for name in tagger.classes_}
    given = {label for labels in y for label in labels if label is not None}
    if given and not known & given:
        raise CorpusError(
            f"{', '.join(arguments.data)}: none of the labels there, such as {min(given)!r}, is one of the model's, "
            f"such as {min(known)!r}; expected data labelled in the same way"
        )
    before = tagger.temperature_
    with warnings.catch_warnings():  # to say that the model is not calibrated would be no news
        warnings.simplefilter("ignore", CalibrationWarning)
        curves_before = reliability(tagger, X, y)
    tagger.calibrate(X, y)
    curves = reliability(tagger, X, y)
    kind, curve = list(curves.items())[-1]  # spans where the labels spell spans
    judged = int(curve.counts.sum())
    if judged < _ENOUGH:
        what = number_of(judged, kind.removesuffix("s"))
        print(f"margent: warning: only {what} to judge by, so the temperature is uncertain", file=sys.stderr)
    tagger.threads = given_threads
    tagger.save(target, compact=file.value("half", bool))
    if arguments.json:
        summary = {
            "model": target,
            "sentences": len(X),
            "before": {"temperature": before, **calibration_json(curves_before)},
            "after": {"temperature": tagger.temperature_, **calibration_json(curves)},
        }
        print(json.dumps(summary, indent=2, ensure_ascii=False))
        return 0
    print(f"temperature {tagger.temperature_:.4g} instead of {before:.4g}, fitted on {number_of(len(X), 'sentence')}\n")
    pairs = {name: {f"{name}, before": curves_before[name], f"{name}, after": curves[name]} for name in curves}
    print(calibration_table({row: curve for pair in pairs.values() for row, curve in pair.items()}))
    print("measured on the data that the temperature was fitted on; others: margent evaluate --calibration\n")
    print(f"saved {target}")
    return 0
