"""`margent calibrate`: fit the temperature of a model, so that its probabilities can be taken at their word."""

from __future__ import annotations

import argparse
import json
import warnings

from margent.cli.options import add_reading, add_threads

_EXAMPLES = """\
The model goes on predicting the same labels; only probabilities change (margent tag --marginals, --spans). The data
must not be those that it was trained on. 'margent train --dev' and '--calibration' calibrate a model by themselves.

examples:
  margent calibrate model.margent held-out.txt
  margent calibrate model.margent held-out.txt -o calibrated.margent
  margent evaluate test.txt --model calibrated.margent --calibration
"""


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
    from margent.cli.data_files import DataReader, check_target
    from margent.cli.reports import calibration_json, calibration_table
    from margent.errors import CalibrationWarning
    from margent.models import Tagger, reliability

    target = arguments.output or arguments.model
    check_target(target)
    reader = DataReader.of(arguments)
    file = storage.read(arguments.model, kind="tagger")
    tagger = Tagger.from_file(file)
    given_threads = tagger.threads
    if arguments.threads is not None:
        tagger.threads = arguments.threads
    X, y = reader.labelled(arguments.data, tagger.scheme_)
    before = tagger.temperature_
    with warnings.catch_warnings():  # to say that the model is not calibrated would be no news
        warnings.simplefilter("ignore", CalibrationWarning)
        curves_before = reliability(tagger, X, y)
    tagger.calibrate(X, y)
    curves = reliability(tagger, X, y)
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
    print(f"temperature {tagger.temperature_:.4g} instead of {before:.4g}, fitted on {len(X):,} sentences\n")
    pairs = {name: {f"{name}, before": curves_before[name], f"{name}, after": curves[name]} for name in curves}
    print(calibration_table({row: curve for pair in pairs.values() for row, curve in pair.items()}))
    print(f"saved {target}")
    return 0
