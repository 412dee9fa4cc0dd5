"""Translators on the command line: sentence pairs to learn from, and plain sentences to be translated."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_format, integer, limits_of
from margent.cli.tasks.task import Inspection, Task

if TYPE_CHECKING:
    from margent.models.translator.answers import TranslationReading
    from margent.models.translator.translator import Translator

_EXAMPLES = {
    "train": """\
  margent train --task translator train.parallel -m zh-en.margent --alignments train.align --dev dev.parallel
  margent train --task translator train.parallel -m zh-en.margent --language-model en.arpa --search-pop-limit 200
  margent train --task translator train.parallel -m zh-en.margent --template mine.txt --learner mira

Each line is a sentence and its translation, with a tab or ||| between them, and blanks between words. Alignments have a
line for each pair, such as "0-0 1-2"; without them they are made by a simple model. Neighbouring development pairs with
the same sentence are several right translations of it.
""",
    "apply": """\
  echo "das Haus" | margent apply de-en.margent
  margent apply de-en.margent new.txt --k 3
  margent apply de-en.margent new.txt --derivations --svg pictures/

Read are sentences, one a line, with blanks between the words; of sentence pairs, what is before the tab. Written is the
translation of each, a line each; with --k, the sentence, a translation, its score and its confidence, between tabs.
""",
    "evaluate": "  margent evaluate de-en.margent test.parallel\n",
    "calibrate": "  margent calibrate de-en.margent held-out.parallel -o calibrated.margent\n",
    "explain": '  echo "das Haus" | margent explain de-en.margent --top 3\n',
    "inspect": "  margent inspect de-en.margent --top 20\n",
}


class TranslatorTask(Task):
    name = "translator"
    about = "translate sentences"
    examples = _EXAMPLES
    unit, part, files = "sentence", "word", "PAIRS"
    default_learner = "perceptron"
    applied = ("search",)
    own = ("features",)

    def hints(self) -> dict[str, Any]:
        from margent.models import CubePruning, DenseStart, RuleExtraction

        return {
            **super().hints(),
            "search": CubePruning,
            "dense": DenseStart,
            "extraction": RuleExtraction | None,
            "language_model": str | None,
        }

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        from margent.cli.model_options import changed_model

        return changed_model(model, arguments, self)

    # Options of its own

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("what is learned from")
        group.add_argument("--alignments", metavar="FILE", help="which words of each pair belong together: 0-0 1-2 ...")
        group.add_argument(
            "--template", metavar="FILE", help="templates over named atoms, such as 'source.first.word target.first'"
        )

    def own_values(self, arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
        if getattr(arguments, "template", None) is None:
            return {}
        from margent.cli.tasks.parser import template_text

        return {"features": template_text(arguments.template).splitlines()}

    def own_given(self, arguments: argparse.Namespace) -> set[str]:
        return {"features"} if arguments.template is not None else set()

    def own_words(self, arguments: argparse.Namespace, model: Any, searched: Any = None) -> list[str]:
        given = {name: getattr(arguments, name, None) for name in ("template", "alignments", "format", "encoding")}
        return [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]

    def fitting(self, arguments: argparse.Namespace) -> dict[str, Any]:
        if getattr(arguments, "alignments", None) is None:
            return {}
        from margent.formats import read_word_alignments

        found = read_word_alignments(
            arguments.alignments, encoding=arguments.encoding or "utf-8", limits=limits_of(arguments)
        )
        return {"alignments": found}

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "translations", what="sentence pairs")

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        """Sentences and translations; to be judged by, neighbours with the same sentence are one with several."""
        from margent.formats import read_parallel_text

        X, y = list[list[str]](), list[Any]()
        for path in paths:
            part = read_parallel_text(
                sys.stdin.buffer if path == "-" else path,
                encoding=arguments.encoding or "utf-8",
                limits=limits_of(arguments),
            )
            X, y = X + part[0], y + part[1]
        return X, y

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="write the K best translations of each sentence, with scores")
        add("--derivations", action="store_true", help="write the rules of each translation as a tree under it")
        add("--svg", metavar="FOLDER", help="draw the derivation of each sentence's translation into this folder")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.models.translator.drawing import drawn

        _invite(paths)
        number = 0
        for sentences in _batches(paths, arguments):
            if arguments.k is None and not arguments.derivations and arguments.svg is None:
                for words in model.predict(sentences):
                    yield f"{' '.join(words)}\n"
                continue
            for words, readings in zip(sentences, model.predict_k_best(sentences, arguments.k or 1)):
                number += 1
                if not readings:
                    yield "\n" if arguments.k is None else f"{' '.join(words)}\t\t\t\n"
                    continue
                for reading in readings:
                    yield _line(words, reading, arguments.k is not None)
                    if arguments.derivations:
                        yield f"{drawn(reading.derivation)}\n\n"
                if arguments.svg is not None:
                    _draw(model, words, readings[0], Path(arguments.svg) / f"{number}.svg")

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        if arguments.token is not None:
            raise UsageError("--token is for models that label tokens; a translation is explained rule by rule")
        _invite(paths)
        for sentences in _batches(paths, arguments):
            for words in sentences:
                yield model.explain(words).text(arguments.top)
                yield "\n"

    # Results

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        from margent.cli.tasks import load_model
        from margent.datasets import grouped_references

        if arguments.model is None:
            raise UsageError(f"to evaluate a {self.name}, give the model first, then the data")
        model = load_model(self, arguments)
        X, y = self.read(arguments.files or ["-"], arguments, model)
        report = model.evaluate(*grouped_references(X, y))
        return str(report), self.report_json(report)

    # What a model is

    def size(self, model: Any) -> str:
        facts = self.trained(model)
        return (
            f"{facts['rules']:,} rules, {facts['grams']:,} grams, {facts['features']:,} features, "
            f"{100 * facts['coverage']:.1f} % of the training sentences have a derivation of their translation"
        )

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "rules": len(model.rules_),
            "grams": model.language_model_.n_grams,
            "features": len(model.weights_.table),
            "coverage": model.coverage_,
        }

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        if arguments.label:
            raise UsageError("--label is for models with labels of tokens, and this is a translator")
        facts = {**self.trained(model), "order": model.language_model_.order}
        facts["templates"] = model.weights_.templates.lines
        dense = sorted(model.weights_.dense.items(), key=lambda each: (-abs(each[1]), each[0]))
        lines = {
            "kind": f"translator of hierarchical phrases, {model.search}",
            "rules": f"{facts['rules']:,}, of {len(model.rules_.sources):,} and {len(model.rules_.targets):,} words",
            "language model": f"{facts['grams']:,} grams of up to {facts['order']} words",
            "features": f"{facts['features']:,} by {len(facts['templates'])} templates",
            "coverage": f"{100 * facts['coverage']:.1f} % of the training sentences have a derivation",
        }
        rows = [f"{weight:+10.3f}  {name}" for name, weight in dense]
        frequent = _frequent(model, arguments.top)
        shown = [f"{count:8.0f}  {rule}" for rule, count in frequent]
        return Inspection(
            facts,
            lines,
            [("weights of dense features:", rows), ("rules that were seen most often:", shown)],
            {"dense": dict(dense), "rules_shown": [{"rule": rule, "count": count} for rule, count in frequent]},
        )


def _line(words: Sequence[str], reading: TranslationReading, scored: bool) -> str:
    said = " ".join(reading.words)
    if not scored:
        return f"{said}\n"
    sure = "" if reading.confidence is None else f"{reading.confidence:.6f}"
    return f"{' '.join(words)}\t{said}\t{reading.score:.6g}\t{sure}\n"


def _draw(model: Translator, words: Sequence[str], reading: TranslationReading, path: Path) -> None:
    from margent.models.translator.drawing import derivation_svg

    os.makedirs(path.parent, exist_ok=True)
    path.write_text(derivation_svg(reading.derivation, model.tokens(words)), encoding="utf-8")


def _frequent(model: Translator, top: int) -> list[tuple[str, float]]:
    counts = model.rules_.arrays.rule_counts
    chosen = sorted(range(len(counts)), key=lambda rule: (-counts[rule], rule))[:top]
    return [(str(model.rules_.rule(rule)), float(counts[rule])) for rule in chosen]


def _invite(paths: Sequence[str]) -> None:
    if list(paths) == ["-"] and sys.stdin.isatty():
        print("margent: type a sentence a line, with blanks between its words; Ctrl-D ends", file=sys.stderr)


def _batches(paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[list[list[str]]]:
    """The sentences of files, as many at once as have arrived ("-": standard input). Those that are too long are named,
    and left out."""
    from margent.formats.batch import blocks
    from margent.formats.source import Source
    from margent.models.translator.options import LONGEST

    for path in paths:
        source = Source(sys.stdin.buffer if path == "-" else path, arguments.encoding or "utf-8", limits_of(arguments))
        lines = ((number, _sentence(line)) for number, line in source.lines())
        for block in blocks(path, ((number, words) for number, words in lines if words)):
            chosen = []
            for number, words in block:
                if len(words) <= LONGEST:
                    chosen.append(words)
                    continue
                said = f"line {number}: a sentence of {len(words)} words; expected at most {LONGEST}"
                if not hasattr(arguments, "failures"):
                    raise UsageError(said)
                arguments.failures.add(said)
            yield chosen


def _sentence(line: str) -> list[str]:
    """Of a line with a sentence alone, or with its translation."""
    return line.partition("\t")[0].partition(" ||| ")[0].split()


TASK = TranslatorTask()
