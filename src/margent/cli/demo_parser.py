"""`margent demo parser`: generate sentences of a small grammar with their trees, and learn to find them."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from margent.models.parser.parser import Parser

_N_TRAIN, _N_OTHER = 800, 200
_CROSSING = 0.1
_LONGEST = 12  # words of a sentence that is shown


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.annotation import tree_svg
    from margent.cli.demo import heading
    from margent.datasets import make_trees
    from margent.formats import write_dependencies
    from margent.learners import PassiveAggressive
    from margent.models import Parser

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    parts = {}
    for i, (name, n) in enumerate({"train": _N_TRAIN, "dev": _N_OTHER, "test": _N_OTHER}.items()):
        parts[name] = make_trees(n, crossing=_CROSSING, seed=3 * arguments.seed + i)
        write_dependencies(folder / f"{name}.conllu", *parts[name])
    (X, y), (X_dev, y_dev), (X_test, y_test) = parts.values()

    heading(console, "Learning to parse")
    console.print(
        f"Made up {_N_TRAIN} sentences of a small grammar with their trees to learn from, {_N_OTHER} to watch while "
        f"learning, and {_N_OTHER} that the model never sees, to test it. Many words are invented. In "
        f"{100 * _CROSSING:.0f} of 100 trees arcs cross."
    )
    started = time.perf_counter()
    parser = Parser(learner=PassiveAggressive(epochs=5), seed=arguments.seed)
    parser.fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    parser.save(folder / "grammar.margent")
    console.print(
        f"\nTrained {len(parser.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(parser.classes_)} labels, {parser.weights_.n_features:,} features."
    )

    found = parser.predict(X_test)
    report = parser.evaluate(X_test, y_test)
    heading(console, "How good is it?")
    console.print(f"  UAS {100 * report.uas:6.2f} %   of {report.counts.words:,} words have the right head")
    console.print(f"  LAS {100 * report.las:6.2f} %   have the right head and label")
    console.print(
        f"      {100 * report.exact / report.sentences:6.2f} %   of {report.sentences} trees are right in all"
    )

    heading(console, "Sentences it never saw")
    for at in _instructive(X_test, y_test):
        _show(console, X_test[at], found[at])
    words = [[word[0] for word in sentence] for sentence in X_test[:20]]
    tags = [[word[1] for word in sentence] for sentence in X_test[:20]]
    (folder / "trees.svg").write_text(tree_svg(found[:20], words, tags), encoding="utf-8")
    console.print(f"Twenty trees as a picture are in {folder / 'trees.svg'}.", soft_wrap=True)
    _explain(console, parser, X_test)
    _show_next(console, folder)
    return 0


def _instructive(X: Sequence[Any], y: Sequence[Any]) -> list[int]:
    """A short sentence with a phrase of "with" on a noun, one on the verb, one with arcs that cross."""
    chosen: dict[str, int] = {}
    for at in sorted(range(len(X)), key=lambda at: (len(X[at]), at)):
        if not 7 <= len(X[at]) <= _LONGEST:
            continue
        for word, head in zip(X[at], y[at].heads):
            if word[0] == "with" and y[at].is_projective():
                chosen.setdefault(y[at].labels[head - 1], at)
        if not y[at].is_projective():
            chosen.setdefault("crossing", at)
    return list(dict.fromkeys(chosen.values()))


def _show(console: Console, sentence: Sequence[Any], tree: Any) -> None:
    from margent.annotation import tree_text

    plain = not console.encoding.startswith("utf")
    console.print(
        tree_text(tree, [word[0] for word in sentence], width=console.width, ascii_only=plain), soft_wrap=True
    )


def _explain(console: Console, parser: Parser, X: Sequence[Any]) -> None:
    """Why "with" a thing belongs to the verb, or not."""
    from margent.cli.demo import heading

    for sentence in X:
        places = [i for i, word in enumerate(sentence, start=1) if word[1] == "NOUN" and word[0].endswith("scope")]
        explanation = parser.explain(sentence, places[0], top=6)[0] if places else None
        if explanation is not None and explanation.rival is not None and len(sentence) <= _LONGEST:
            heading(console, f'Why is "{explanation.form}" {explanation.arc.label}, and not {explanation.rival.label}?')
            console.print(" ".join(word[0] for word in sentence), soft_wrap=True)
            console.print(f"{explanation}", soft_wrap=True)
            return


def _show_next(console: Console, folder: Path) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    names = ("grammar.margent", "mine.margent", "train.conllu", "dev.conllu", "test.conllu", "test.svg")
    model, mine, train, dev, test, picture = (shlex.quote(str(folder / name)) for name in names)
    steps = {
        "trees of the sentences of a file": f"{margent} apply {model} {test}",
        "draw them": f"{margent} apply {model} {test} --draw -o {picture}",
        "how good is the model, and where does it fail?": f"{margent} evaluate {model} {test}",
        "one that tags words itself, so that plain text will do": (
            f"{margent} train --task parser {train} --dev {dev} --tagger pos -m {mine}"
        ),
        "then": f"echo 'the doctor saw the man with the telescope .' | {margent} apply {mine} --draw",
    }
    show_commands(console, steps)
