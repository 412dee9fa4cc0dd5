"""`margent demo translator`: make up sentences of an invented language, learn to translate them, and draw how."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from margent.models.translator.translator import Translator

_N_TRAIN, _N_OTHER, _EPOCHS = 400, 60, 5


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.cli.demo import heading
    from margent.datasets import make_translations
    from margent.formats import write_parallel_text, write_word_alignments
    from margent.learners import Perceptron
    from margent.models import DenseStart, Translator

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    parts = []
    for i, (name, n) in enumerate({"train": _N_TRAIN, "dev": _N_OTHER, "test": _N_OTHER}.items()):
        parts.append(make_translations(n, seed=3 * arguments.seed + i))
        write_parallel_text(folder / f"{name}.parallel", *parts[-1][:2])
    (X, y, alignments), (X_dev, y_dev, _), (X_test, y_test, _) = parts
    write_word_alignments(folder / "train.align", alignments)

    heading(console, "Learning to translate")
    console.print(
        f"Made up {_N_TRAIN} sentences of an invented language with their translations to learn from, {_N_OTHER} to "
        f"watch while learning, and {_N_OTHER} to test. The verb stands last, adjectives behind their nouns, and the "
        "river of the man is the man no river. Which words belong together is known, but not by which rules a sentence "
        "is translated.\n"
    )
    console.print(f"  {' '.join(X[0])}\n  {' '.join(y[0])}", soft_wrap=True)
    started = time.perf_counter()
    start = DenseStart(scale=20, step=0.1)  # so few sentences teach dense features, too
    translator = Translator(learner=Perceptron(epochs=_EPOCHS), dense=start, seed=arguments.seed).fit(
        X, y, alignments=alignments, X_dev=X_dev, y_dev=y_dev, progress=False
    )
    translator.save(folder / "translator.margent")
    console.print(
        f"\nTrained {len(translator.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(translator.rules_):,} rules; {100 * translator.coverage_:.0f} % of the training sentences can be "
        "translated rightly by rules that others have, too."
    )
    _show_rules(console, translator)
    heading(console, "How good is it?")
    console.print(str(translator.evaluate(X_test, y_test)), soft_wrap=True)
    _show_derivation(console, translator, X_test, folder)
    _show_next(console, folder, " ".join(X_test[0]))
    return 0


def _show_rules(console: Console, translator: Translator) -> None:
    """Those that were seen most often and turn something around."""
    from margent.cli.demo import heading

    heading(console, "Rules that turn things around")
    table = translator.rules_
    order = sorted(range(len(table)), key=lambda number: (-table.arrays.rule_counts[number], number))
    shown = 0
    for number in order:
        rule = table.rule(number)
        gaps = [symbol for symbol in rule.target if not isinstance(symbol, str)]
        if gaps == [2, 1] and shown < 5:
            console.print(f"  {table.arrays.rule_counts[number]:5.0f}  {rule}", soft_wrap=True)
            shown += 1


def _show_derivation(console: Console, translator: Translator, X: Sequence[Sequence[str]], folder: Path) -> None:
    """A sentence that was never seen, its translations, and how the first was made."""
    from margent.cli.demo import heading
    from margent.models.translator.drawing import derivation_svg, drawn

    words = next((words for words in X if 7 <= len(words) <= 10), X[0])
    readings = translator.predict_k_best([words], 3)[0]
    if not readings:
        return
    heading(console, "What else could it be?")
    console.print(" ".join(words), soft_wrap=True)
    for reading in readings:
        sure = "" if reading.confidence is None else f"{100 * reading.confidence:5.1f} %"
        console.print(f"  {sure}  {' '.join(reading.words)}", soft_wrap=True)
    heading(console, "How the first was made")
    console.print(drawn(readings[0].derivation), soft_wrap=True)
    picture = folder / "derivation.svg"
    picture.write_text(derivation_svg(readings[0].derivation, translator.tokens(words)), encoding="utf-8")
    console.print(f"\nThe same as a picture: {picture}", soft_wrap=True)


def _show_next(console: Console, folder: Path, sentence: str) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    model, mine = (shlex.quote(str(folder / name)) for name in ("translator.margent", "mine.margent"))
    train, dev, test = (shlex.quote(str(folder / f"{name}.parallel")) for name in ("train", "dev", "test"))
    links = shlex.quote(str(folder / "train.align"))
    steps: dict[str, Any] = {
        "translate": f"echo {shlex.quote(sentence)} | {margent} apply {model} --k 3",
        "how good is the model?": f"{margent} evaluate {model} {test}",
        "why these words?": f"{margent} explain {model} {test} --top 3",
        "train one yourself": f"{margent} train --task translator {train} --alignments {links} --dev {dev} -m {mine} "
        "--dense-scale 20",
    }
    show_commands(console, steps)
