"""`margent demo entailment`: generate pairs of sentences, and learn whether one follows from the other, and why."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_N_TRAIN, _N_OTHER = 2000, 300


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.cli.demo import heading
    from margent.datasets import make_entailment
    from margent.formats import write_pairs
    from margent.models import EntailmentClassifier

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    parts = {}
    for i, (name, n) in enumerate({"train": _N_TRAIN, "dev": _N_OTHER, "test": _N_OTHER}.items()):
        parts[name] = make_entailment(n, seed=3 * arguments.seed + i)
        write_pairs(folder / f"{name}.tsv", *parts[name][:2])
    (X, y, _), (X_dev, y_dev, _), (X_test, y_test, truth) = parts.values()

    heading(console, "Learning whether one sentence follows from another")
    console.print(
        f"Made up {_N_TRAIN:,} pairs of descriptions to learn from, {_N_OTHER} to watch while learning, and {_N_OTHER} "
        "to test. The second sentence repeats the first, with words left out, made more general or more special, or "
        "exchanged; nobody says which."
    )
    started = time.perf_counter()
    model = EntailmentClassifier(seed=arguments.seed).fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    model.save(folder / "pairs.margent")
    console.print(
        f"\nTrained {len(model.history_)} epochs in {time.perf_counter() - started:.1f} s: {model.weights_.size}."
    )

    heading(console, "How good is it?")
    console.print(str(model.evaluate(X_test, y_test)), soft_wrap=True)
    found = model.predict_marginals(X_test)
    aligned = total = 0
    for one, right in zip(found, truth):
        for row, j in zip(one.alignment, right.alignment):
            aligned += int(row.argmax()) == (j if j >= 0 else len(row) - 1)
            total += 1
    console.print(f"Words aligned as the truth has them, which was never shown: {100 * aligned / total:.1f} %")

    shown = next((i for i, label in enumerate(model.predict(X_test)) if label == y_test[i] == "contradiction"), 0)
    why = model.explain(X_test[shown])
    heading(console, "Why a sentence contradicts another")
    console.print(why.text(top=5), soft_wrap=True)
    (folder / "alignment.svg").write_text(why.alignment_svg(), encoding="utf-8")
    (folder / "composition.svg").write_text(why.composition_svg(), encoding="utf-8")
    console.print(f"Pictures of it are {folder / 'alignment.svg'} and composition.svg.", soft_wrap=True)
    _show_next(console, folder)
    return 0


def _show_next(console: Console, folder: Path) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    model, train, dev, test, mine = (
        shlex.quote(str(folder / name))
        for name in ("pairs.margent", "train.tsv", "dev.tsv", "test.tsv", "mine.margent")
    )
    steps = {
        "a pair of your own": f"printf 'the cat is sleeping\\tthe animal is resting\\n' | {margent} apply {model}",
        "how good is the model?": f"{margent} evaluate {model} {test}",
        "why these labels?": f"{margent} explain {model} {test} --top 3",
        "train one yourself": f"{margent} train --task entailment {train} --dev {dev} -m {mine} --learner perceptron",
    }
    show_commands(console, steps)
