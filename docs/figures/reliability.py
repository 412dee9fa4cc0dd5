"""The reliability plots and the table of docs/confidence.md, from generated addresses with careless writers.

    python docs/figures/reliability.py

writes docs/figures/reliability-LEARNER.svg for each learner and prints the table. Takes about half a minute; needs
matplotlib (`pip install 'margent[plot]'`). The same on every machine, but for the last digits.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import matplotlib

from margent import CalibrationWarning, Tagger, make_addresses
from margent.learners import LEARNERS
from margent.metrics import plot_reliability

FOLDER = Path(__file__).parent
TITLES = {"perceptron": "Perceptron", "pa": "PassiveAggressive", "crf": "CRF"}


def main() -> None:
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # no date in the files, so that they change only when a curve does
    matplotlib.rcParams["svg.hashsalt"] = "margent"
    warnings.simplefilter("ignore", CalibrationWarning)
    X, y = make_addresses(8000, seed=7, noise=0.3)
    train, held_out, test = (X[:2000], y[:2000]), (X[2000:3000], y[2000:3000]), (X[3000:], y[3000:])
    print("| learner | temperature | tokens: expected error | Brier | spans: expected error | Brier |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in (name for name in TITLES if name in LEARNERS):
        tagger = Tagger(learner=name).fit(*train)
        curves = {}
        for when in ("as trained", "calibrated"):
            if when == "calibrated":
                tagger.calibrate(*held_out)
            found = tagger.reliability(*test)
            curves[f"{when}: temperature {tagger.temperature_:.3g}"] = found["spans"]
            cells = [f"{100 * found[kind].expected_error:.1f} % | {found[kind].brier:.3f}" for kind in found]
            print(f"| {TITLES[name]}, {when} | {tagger.temperature_:.3g} | {' | '.join(cells)} |")
        plot_reliability(curves, FOLDER / f"reliability-{name}.svg", title=f"Spans of {TITLES[name]} on new addresses")


if __name__ == "__main__":
    main()
