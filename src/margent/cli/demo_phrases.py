"""`margent demo phrases`: generate trees of a small grammar, and learn what the grammar alone cannot tell."""

from __future__ import annotations

import argparse
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_N_TRAIN, _N_OTHER = 400, 100


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.annotation import phrase_svg, phrase_text
    from margent.cli.demo import heading
    from margent.datasets import make_phrases
    from margent.formats import write_brackets
    from margent.learners import PCFG
    from margent.models import PhraseParser

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    parts = {}
    for i, (name, n) in enumerate({"train": _N_TRAIN, "dev": _N_OTHER, "test": _N_OTHER}.items()):
        parts[name] = make_phrases(n, seed=3 * arguments.seed + i)
        write_brackets(folder / f"{name}.mrg", parts[name][1])
    (X, y), (X_dev, y_dev), (X_test, y_test) = parts.values()

    heading(console, "Learning to find phrases")
    console.print(
        f"Made up {_N_TRAIN} sentences of a small grammar with their trees to learn from, {_N_OTHER} to watch while "
        f'learning, and {_N_OTHER} to test. Phrases with "of" belong to the noun before them, those with "with" to the '
        "verb: the words tell, the tags do not."
    )
    started = time.perf_counter()
    parser = PhraseParser(seed=arguments.seed).fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    parser.save(folder / "phrases.margent")
    grammar = parser.grammar_
    console.print(
        f"\nTrained {len(parser.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(grammar.symbols)} symbols, {len(grammar.binary)} rules."
    )

    heading(console, "How good is it?")
    counted = PhraseParser(learner=PCFG()).fit(X, y)
    console.print(f"  F1 {100 * counted.score(X_test, y_test):6.2f} %   of the grammar alone, a PCFG")
    console.print(f"  F1 {100 * parser.score(X_test, y_test):6.2f} %   with what is seen of phrases\n")
    console.print(str(parser.evaluate(X_test, y_test)), soft_wrap=True)

    found = parser.predict(X_test)
    shown = next((tree for tree in found if "of" in tree.words and "with" in tree.words), found[0])
    heading(console, "A sentence it never saw")
    console.print(phrase_text(shown), soft_wrap=True)
    (folder / "trees.svg").write_text(phrase_svg(*found[:20]), encoding="utf-8")
    console.print(f"Twenty trees as a picture are in {folder / 'trees.svg'}.", soft_wrap=True)
    _show_next(console, folder)
    return 0


def _show_next(console: Console, folder: Path) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    names = ("phrases.margent", "test.mrg", "test.svg")
    model, test, picture = (shlex.quote(str(folder / name)) for name in names)
    steps = {
        "trees of plain words": f"echo 'Ann saw a dog of Kim .' | {margent} apply {model} --draw",
        "draw the trees of a file": f"{margent} apply {model} {test} --draw -o {picture}",
        "how good is the model?": f"{margent} evaluate {model} {test}",
        "why these trees?": f"{margent} explain {model} {test}",
    }
    show_commands(console, steps)
