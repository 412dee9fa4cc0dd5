"""`margent demo questions`: generate questions about a company, learn what they mean, and answer them."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from margent.models.semantic_parser.semantic_parser import SemanticParser

_N_TRAIN, _N_OTHER, _EPOCHS, _SHOWN = 240, 60, 5, 4


def run(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from margent.cli.demo import heading
    from margent.datasets import make_questions
    from margent.formats import write_domain, write_facts, write_questions
    from margent.learners import Perceptron
    from margent.models import SemanticParser

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    parts = {}
    for i, (name, n) in enumerate({"train": _N_TRAIN, "dev": _N_OTHER, "test": _N_OTHER}.items()):
        parts[name] = make_questions(n, seed=3 * arguments.seed + i)
        write_questions(folder / f"{name}.questions", parts[name].X, parts[name].y)
    train, dev, test = parts.values()
    write_domain(folder / "company.domain", train.domain)
    write_facts(folder / "company.facts", train.facts)

    heading(console, "Learning what questions mean")
    console.print(
        f"Made up {_N_TRAIN} questions about a company with their meanings to learn from, {_N_OTHER} to watch while "
        f"learning, and {_N_OTHER} to test. Nothing says which words stand for what, nor by which steps.\n"
    )
    console.print(f"  {' '.join(train.X[0])}\n  {train.y[0]}", soft_wrap=True)
    started = time.perf_counter()
    parser = SemanticParser(train.domain, learner=Perceptron(epochs=_EPOCHS), seed=arguments.seed).fit(
        train.X, train.y, X_dev=dev.X, y_dev=dev.y, progress=False
    )
    parser.save(folder / "company.margent")
    console.print(
        f"\nTrained {len(parser.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(parser.lexicon_.pieces)} pieces of meanings; {100 * parser.coverage_:.0f} % of the training questions "
        "have a derivation of their meaning."
    )
    heading(console, "How good is it?")
    console.print(str(parser.evaluate(test.X, test.y)), soft_wrap=True)
    _show_answers(console, parser, test)
    _show_readings(console, parser, test.X)
    _show_next(console, folder, " ".join(test.X[0]))
    return 0


def _show_answers(console: Console, parser: SemanticParser, test: Any) -> None:
    """Some questions that were never seen, their meanings, and what the facts say."""
    from margent.cli.ask import answer_text
    from margent.cli.demo import heading
    from margent.errors import MeaningError
    from margent.meaning import answer

    heading(console, "Questions it never saw, and their answers")
    n_shown = 0
    for words, meaning in zip(test.X, parser.predict(test.X)):
        if meaning is None or n_shown == _SHOWN:
            continue
        try:
            said = answer_text(answer(meaning, test.facts))
        except MeaningError as error:
            said = str(error)
        console.print(f"{' '.join(words)}\n  {meaning}\n  {said}", soft_wrap=True)
        n_shown += 1


def _show_readings(console: Console, parser: SemanticParser, X: Sequence[Sequence[str]]) -> None:
    """A question with two readings, and why the first one won."""
    from margent.cli.demo import heading

    for words in X:
        readings = parser.predict_k_best([words], 3)[0]
        if len(readings) < 2 or len(words) > 9:
            continue
        heading(console, "What else could it mean?")
        console.print(" ".join(words), soft_wrap=True)
        for reading in readings:
            sure = "" if reading.confidence is None else f"{100 * reading.confidence:5.1f} %"
            console.print(f"  {sure}  {reading.meaning}", soft_wrap=True)
        heading(console, "Step by step, with what weighs most")
        console.print(parser.explain(words).text(top=1), soft_wrap=True)
        return


def _show_next(console: Console, folder: Path, question: str) -> None:
    from margent.cli.demo import program, show_commands

    margent = program()
    files = ("company.margent", "mine.margent", "company.domain", "company.facts")
    model, mine, domain, facts = (shlex.quote(str(folder / name)) for name in files)
    train, dev, test = (shlex.quote(str(folder / f"{name}.questions")) for name in ("train", "dev", "test"))
    steps = {
        "ask": f"{margent} ask {model} {shlex.quote(question)} --facts {facts}",
        "how good is the model?": f"{margent} evaluate {model} {test}",
        "why these meanings?": f"{margent} explain {model} {test} --top 3",
        "train one yourself": f"{margent} train --task semantic-parser {train} --dev {dev} --domain {domain} -m {mine}",
    }
    show_commands(console, steps)
