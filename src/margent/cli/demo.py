"""`margent demo`: generate data, train a model on them, and show what it can do."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.options import integer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from margent.models.tagger.tagger import Tagger

_EXAMPLES = """\
Nothing is fetched and nothing is written outside the output folder. Takes a few seconds.

examples:
  margent demo
  margent demo --out /tmp/demo --seed 7
  margent demo segmenter
  margent demo parser
  margent demo phrases
  margent demo questions
  margent demo translator
"""

_N_TRAIN, _N_OTHER = 4000, 500
_LONGEST = 12  # tokens of an address that is shown
_COLOURS = {
    "NAME": 251,
    "ORG": 80,
    "POBOX": 182,
    "HOUSE": 222,
    "STREET": 111,
    "UNIT": 180,
    "POSTCODE": 217,
    "CITY": 156,
    "REGION": 147,
    "COUNTRY": 215,
}
"""Type of a span to a colour of the 256: pale enough for black text, on dark and on light terminals."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Generate labelled postal addresses, train a tagger on them, and show what it does; or speech, for a "
        "segmenter, sentences with trees, for one of the parsers, questions, for a semantic parser, or "
        "pairs of sentences, for a translator."
    )
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "what",
        nargs="?",
        choices=("tagger", "segmenter", "parser", "phrases", "questions", "translator"),
        default="tagger",
        help="(default: tagger)",
    )
    parser.add_argument(
        "--out", metavar="DIR", default="demo-output", help="folder for model, data and plot (default: ./demo-output)"
    )
    parser.add_argument("--seed", type=integer(0), default=0, metavar="N", help="seed of the data (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    if arguments.what != "tagger":
        return int(import_module(f"margent.cli.demo_{arguments.what}").run(arguments))
    from rich.console import Console

    from margent.datasets.generated import ADDRESS_COUNTRIES, make_addresses
    from margent.formats import write_columns
    from margent.learners import Perceptron
    from margent.models import Tagger

    folder = Path(arguments.out)
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, markup=False)
    seeds = range(3 * arguments.seed, 3 * arguments.seed + 3)
    train, dev, test = (make_addresses(n, seed=seed) for n, seed in zip((_N_TRAIN, _N_OTHER, _N_OTHER), seeds))
    for name, (X, y) in (("train", train), ("dev", dev), ("test", test)):
        write_columns(folder / f"{name}.txt", X, y)

    heading(console, "Learning to read postal addresses")
    console.print(
        f"Made up {_N_TRAIN:,} labelled addresses in the formats of {len(ADDRESS_COUNTRIES)} countries to learn from, "
        f"{_N_OTHER} to watch while learning, and {_N_OTHER} that the model never sees, to test it. Typing mistakes "
        "and forgotten commas are included."
    )
    started = time.perf_counter()
    tagger = Tagger(learner=Perceptron(epochs=10), constrain=True).fit(*train, X_dev=dev[0], y_dev=dev[1])
    tagger.save(folder / "addresses.margent")
    console.print(
        f"\nTrained {len(tagger.history_)} epochs in {time.perf_counter() - started:.1f} s: "
        f"{len(tagger.classes_)} labels, {tagger.feature_map_.n_unigrams:,} features."
    )
    console.print(_learning_curve(tagger, folder / "learning-curve.png"), soft_wrap=True)
    _show_report(console, test[1], tagger.predict(test[0]))
    _show_examples(console, tagger, test[0])
    sentence = _ambiguous(tagger, *test)
    _show_readings(console, tagger, sentence)
    write_columns(folder / "new.txt", [*test[0][:3], sentence])
    _show_next(console, folder)
    return 0


def heading(console: Console, text: str) -> None:
    from rich.text import Text

    console.print(Text(f"\n{text}", style="bold"))
    console.print("─" * len(text) if console.encoding.startswith("utf") else "-" * len(text), style="dim")


def _learning_curve(tagger: Tagger, path: Path) -> str:
    """Draws it, and says where it is, or how to get it."""
    from margent.errors import MissingExtraError
    from margent.metrics import plot_learning_curve

    names = {"epoch": "epoch", "accuracy": "tokens right while learning", "dev_score": "span F1 on other addresses"}
    rows = [{name: epoch[key] for key, name in names.items()} for epoch in tagger.history_]
    try:
        plot_learning_curve(rows, path, title="Learning to read postal addresses")
    except MissingExtraError as error:
        return f"No learning curve was drawn: {error}"
    return f"The learning curve is in {path}."


def _show_report(console: Console, gold: Any, predicted: Any) -> None:
    from margent.metrics import rich_table, span_scores

    report = span_scores(gold, predicted)
    heading(console, "How good is it?")
    console.print(f"Of the parts in the {_N_OTHER} test addresses, in per cent:")
    console.print(rich_table(report))


def _show_examples(console: Console, tagger: Tagger, sentences: Sequence[list[str]]) -> None:
    from rich.text import Text

    heading(console, "New addresses, taken apart")
    legend = Text()
    for kind in _COLOURS:
        legend.append(f" {kind} ", style=_style(kind)).append(" ")
    if _in_colour(console):
        console.print(legend)
        console.print()
    chosen = [sentence for sentence in sentences if 6 <= len(sentence) <= _LONGEST][:6]
    for sentence, labels in zip(chosen, tagger.predict(chosen)):
        console.print(_tagged(console, sentence, labels), soft_wrap=True)


def _in_colour(console: Console) -> bool:
    return console.color_system is not None and not console.no_color


def _style(kind: str) -> str:
    return f"black on color({_COLOURS[kind]})"


def _tagged(console: Console, sentence: Sequence[str], labels: Sequence[str]) -> Text:
    """The sentence with its spans in colour, or in brackets where there is none."""
    from rich.text import Text

    from margent.annotation import spans

    text, end = Text("  "), 0
    for span in spans(labels):
        text.append("".join(f"{token} " for token in sentence[end : span.start]))
        words = " ".join(sentence[span.start : span.end])
        if _in_colour(console):
            text.append(f" {words} ", style=_style(span.label))
        else:
            text.append(f"[{span.label} {words}]")
        text.append(" ")
        end = span.end
    return text.append(" ".join(sentence[end:]))


def _ambiguous(tagger: Tagger, sentences: Sequence[list[str]], gold: Sequence[list[str]]) -> list[str]:
    """The sentence that was read right with the smallest lead over the second best reading."""
    readings = tagger.predict_k_best(sentences, 2)
    leads = [
        (best.score - second.score, number)
        for number, (best, second) in enumerate(readings)
        if best.labels == gold[number] and 5 <= len(sentences[number]) <= _LONGEST
    ]
    return sentences[min(leads)[1]]


def _show_readings(console: Console, tagger: Tagger, sentence: list[str]) -> None:
    from rich.text import Text

    readings = tagger.predict_k_best([sentence], 4)[0]
    heading(console, "An ambiguous one: its four best readings")
    for number, reading in enumerate(readings, start=1):
        lead = Text(f"{number}. score {reading.score:8.2f}")
        console.print(lead + _tagged(console, sentence, reading.labels), soft_wrap=True)
    best, second = readings[0].labels, readings[1].labels
    position = next(i for i, (left, right) in enumerate(zip(best, second)) if left != right)
    explanation = tagger.explain(sentence, position, top=8)[0]
    heading(console, f'Why is "{sentence[position]}" {explanation.label}, and not {explanation.rival}?')
    console.print(f"Weights for {explanation.label} (+) and for {explanation.rival} (-):\n")
    for part in explanation.contributions:
        console.print(Text(f"  {part.weight:+8.2f}  ", style="green" if part.weight > 0 else "red") + Text(part.name))
    console.print(f"  {explanation.rest:+8.2f}  all the rest, also at the tokens that would change along")
    console.print(f"  {explanation.margin:+8.2f}  in all: a narrow win", style="bold")


def _show_next(console: Console, folder: Path) -> None:
    margent = program()
    names = ("addresses.margent", "mine.margent", "train.txt", "dev.txt", "test.txt", "new.txt")
    model, mine, train, dev, test, new = (shlex.quote(str(folder / name)) for name in names)
    steps = {
        "tag the addresses of a file, with the probability of each label": f"{margent} tag {model} {new} --marginals",
        "how good is the model?": f"{margent} tag {model} {test} | {margent} evaluate",
        "train one yourself": f"{margent} train {train} --dev {dev} -m {mine}",
        "what has it learned about cities?": f"{margent} inspect {model} --label B-CITY --top 8",
        "your own data: a token a line, its label in the last column, an empty line after each sentence": (
            f"{margent} train --help"
        ),
    }
    show_commands(console, steps)


def show_commands(console: Console, commands: dict[str, str]) -> None:
    """What to type next: commands by what they do."""
    from rich.text import Text

    heading(console, "What to type next")
    for what, command in commands.items():
        console.print(Text(f"# {what}", style="dim"), soft_wrap=True)
        console.print(Text(command, style="bold cyan"), soft_wrap=True)


def program() -> str:
    """How this program can be called again: by its name where the shell would find the same one."""
    here = sys.argv[0]
    if os.path.basename(here) == "margent" and os.path.exists(here):
        found = shutil.which("margent")
        return "margent" if found is not None and os.path.samefile(found, here) else shlex.quote(os.path.relpath(here))
    return f"{shlex.quote(sys.executable)} -m margent"
