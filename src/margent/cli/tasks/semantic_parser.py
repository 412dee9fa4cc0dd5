"""Semantic parsers on the command line: questions with their meanings, and plain questions to be understood."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from margent.cli.command_line import UsageError
from margent.cli.files import number_of
from margent.cli.options import add_format, integer, limits_of
from margent.cli.parameters import Parameter
from margent.cli.tasks.task import Inspection, Task

if TYPE_CHECKING:
    from margent.formats.source import Source
    from margent.meaning import Expression
    from margent.models.semantic_parser.semantic_parser import SemanticParser

_EXAMPLES = {
    "train": """\
  margent train --task semantic-parser geo.questions -m geo.margent --domain geo.domain --dev dev.questions
  margent questions train geo.questions -m geo.margent --types simple --search-width 32 --epochs 20
  margent questions train geo.questions -m geo.margent --template mine.txt --learner mira

Each line is a question and its meaning, with a tab between them; nothing says how the words come to the meaning.
'margent domain' writes a domain to begin with: types, and how things are called.
""",
    "apply": """\
  echo "which states border texas" | margent apply geo.margent
  margent apply geo.margent new.txt --k 3
  margent apply geo.margent new.txt --type state

Read are questions, one a line, with blanks between the words. Written is each question with its meaning after a tab,
nothing where it cannot be understood; with --k, also the score and the confidence of each reading.
""",
    "evaluate": """\
  margent evaluate geo.margent test.questions
  margent questions evaluate gold.questions predicted.questions
  margent questions evaluate gold.questions one.questions --compare other.questions
""",
    "calibrate": "  margent calibrate geo.margent held-out.questions -o calibrated.margent\n",
    "explain": '  echo "which states border texas" | margent explain geo.margent --top 3\n',
    "inspect": "  margent inspect geo.margent --top 20\n",
}


class SemanticParserTask(Task):
    name = "semantic-parser"
    about = "understand questions to a database"
    examples = _EXAMPLES
    unit, part, files = "question", "word", "QUESTIONS"
    default_learner = "perceptron"
    applied = ("search",)
    own = ("features",)

    def hints(self) -> dict[str, Any]:
        from margent.models import Beam, LexiconOptions
        from margent.models.semantic_parser.model import TYPES

        return {
            **super().hints(),
            "domain": str | None,
            "search": Beam,
            "types": Literal[TYPES],
            "lexicon": LexiconOptions | None,
        }

    def parameters(self) -> list[Parameter]:
        """Without what a beam does with labels."""
        return [each for each in super().parameters() if each.path != ("search", "decode")]

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        from margent.cli.model_options import changed_model

        return changed_model(model, arguments, self)

    # Options of its own

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("what is seen of states and actions")
        group.add_argument(
            "--template", metavar="FILE", help="templates over named atoms, such as 's0.type q0.lower action.piece'"
        )

    def own_values(self, arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
        if getattr(arguments, "template", None) is None:
            return {}
        from margent.cli.tasks.parser import template_text

        return {"features": template_text(arguments.template).splitlines()}

    def own_given(self, arguments: argparse.Namespace) -> set[str]:
        return {"features"} if arguments.template is not None else set()

    def own_words(self, arguments: argparse.Namespace, model: Any, searched: Any = None) -> list[str]:
        given = {name: getattr(arguments, name) for name in ("template", "format", "encoding")}
        return [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "meanings", what="questions with meanings")

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        from margent.formats import read_questions

        X, y = list[list[str]](), list[Any]()
        for path in paths:
            part = read_questions(path, encoding=arguments.encoding or "utf-8", limits=limits_of(arguments))
            X, y = X + part[0], y + part[1]
        return X, y

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        from margent.meaning import NOTATIONS

        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="write the K best meanings of each question with their scores")
        add("--type", metavar="TYPE", help="only meanings that answer with something of this type, or a set of it")
        add("--notation", choices=NOTATIONS, default="lambda", help="of the meanings (default: lambda)")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.meaning import meaning_text

        _invite(paths)
        for questions in _batches(paths, arguments):
            if arguments.k is None:
                for words, meaning in zip(questions, model.predict(questions, answer_type=arguments.type)):
                    text = "" if meaning is None else meaning_text(meaning, arguments.notation)
                    yield f"{' '.join(words)}\t{text}\n"
                continue
            found = model.predict_k_best(questions, arguments.k, answer_type=arguments.type)
            for words, readings in zip(questions, found):
                if not readings:
                    yield f"{' '.join(words)}\t\t\t\n"
                for reading in readings:
                    sure = "" if reading.confidence is None else f"{reading.confidence:.6f}"
                    text = meaning_text(reading.meaning, arguments.notation)
                    yield f"{' '.join(words)}\t{text}\t{reading.score:.6g}\t{sure}\n"

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        if arguments.token is not None:
            raise UsageError("--token is for models that label tokens; a meaning is explained step by step")
        _invite(paths)
        for questions in _batches(paths, arguments):
            for words in questions:
                yield model.explain(words).text(arguments.top)
                yield "\n"

    # Results

    def add_evaluating(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--compare", metavar="OTHER", help="meanings of another system: is it more than luck?")
        parser.add_argument(
            "--calibration", action="store_true", help="of a model: how far its confidences can be trusted"
        )

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        from margent import metrics
        from margent.cli.reports import calibration_json, calibration_table, comparison
        from margent.cli.tasks import load_model

        files, curves = arguments.files, dict[str, Any]()
        predicted: list[Expression | None]
        if arguments.model is None:
            if len(files) != 2:
                raise UsageError(
                    "to evaluate a semantic-parser, give the model first, then questions; or GOLD and PREDICTED"
                )
            if arguments.calibration:
                raise UsageError("--calibration needs confidences: give a model first, then the data")
            X, gold = self.read(files[:1], arguments, None)
            predicted = _predicted(files[1], X, arguments)
        else:
            model = load_model(self, arguments)
            X, gold = self.read(files or ["-"], arguments, model)
            predicted = model.predict(X)
            curves = self.curves(model, X, gold) if arguments.calibration else {}
        report = metrics.meaning_scores(gold, predicted, X)
        text, summary = str(report), self.report_json(report)
        if curves:
            summary["calibration"] = calibration_json(curves)
            text += f"\nthe confidences of {arguments.model}:\n\n{calibration_table(curves)}"
        if arguments.compare is not None:
            other = _predicted(arguments.compare, X, arguments)
            measures = {"f1": metrics.meaning_metric()}
            more, summary["compare"] = comparison(gold, predicted, other, arguments.compare, measures)
            text += more
        return text, summary

    # What a model is

    def size(self, model: Any) -> str:
        facts = self.trained(model)
        return (
            f"{facts['pieces']:,} pieces, {facts['words']:,} words, {facts['features']:,} features, "
            f"{100 * facts['coverage']:.1f} % of the training questions have a derivation"
        )

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "pieces": len(model.lexicon_.pieces),
            "words": len(model.lexicon_.words),
            "features": len(model.weights_.table),
            "coverage": model.coverage_,
        }

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        if arguments.label:
            raise UsageError("--label is for models with labels of tokens, and this is a semantic parser")
        facts = {**self.trained(model), "types": len(model.model_.grammar.types), **_domain_facts(model)}
        facts["templates"] = model.weights_.templates.lines
        made = "made of the meanings" if model.model_.made else "as it was given"
        lines = {
            "kind": f"semantic-parser of derivations, {model.search}",
            "domain": f"{facts['names']:,} names, {facts['phrases']:,} phrases, {made}",
            "pieces": f"{facts['pieces']:,} of {number_of(facts['types'], 'type')}, for {facts['words']:,} words",
            "features": f"{facts['features']:,} by {number_of(len(facts['templates']), 'template')}",
            "coverage": f"{100 * facts['coverage']:.1f} % of the training questions have a derivation",
        }
        strongest = _strongest(model, arguments.top)
        rows = [f"{strength:8.3f}  {word}  {piece}" for word, piece, strength in strongest]
        return Inspection(
            facts,
            lines,
            [("words and what they say:", rows)],
            {"words": [{"word": w, "piece": piece, "strength": strength} for w, piece, strength in strongest]},
        )


def _domain_facts(model: SemanticParser) -> dict[str, Any]:
    domain = model.domain_
    return {"names": len(domain.types), "phrases": len(domain.phrases)}


def _strongest(model: SemanticParser, top: int) -> list[tuple[str, str, float]]:
    """The words that say a piece most surely."""
    lexicon = model.lexicon_
    found = [
        (word, str(lexicon.pieces[piece].expression), strength)
        for word, ways in lexicon.words.items()
        for piece, strength in ways[:1]
    ]
    return sorted(found, key=lambda each: (-each[2], each[0]))[:top]


def _invite(paths: Sequence[str]) -> None:
    if list(paths) == ["-"] and sys.stdin.isatty():
        print("margent: type a question a line, with blanks between its words; Ctrl-D ends", file=sys.stderr)


def _batches(paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[list[list[str]]]:
    """The questions of files, as many at once as have arrived ("-": standard input); of questions with meanings, what
    is before the tab. Those that are too long are named, and left out."""
    from margent.formats.batch import blocks
    from margent.formats.source import Source
    from margent.models.semantic_parser.data import LONGEST

    for path in paths:
        source = Source(sys.stdin.buffer if path == "-" else path, arguments.encoding or "utf-8", limits_of(arguments))
        for block in blocks(path, _questions(source)):
            chosen = []
            for number, words in block:
                if len(words) <= LONGEST:
                    chosen.append(words)
                    continue
                said = f"line {number}: a question of {len(words)} words; expected at most {LONGEST}"
                if not hasattr(arguments, "failures"):
                    raise UsageError(said)
                arguments.failures.add(said)
            yield chosen


def _questions(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The questions of plain text, or of a table with meanings, and the numbers of their lines."""
    column, started = 0, False
    for number, line in source.lines():
        fields = line.split("\t")
        if not started and line.strip():
            started = True
            if "question" in fields and "meaning" in fields:
                column = fields.index("question")
                continue
        words = fields[column].split() if column < len(fields) else []
        if words:
            yield number, words


def _predicted(path: str, questions: Sequence[Sequence[str]], arguments: argparse.Namespace) -> list[Expression | None]:
    """The meanings that a file has for these questions; None where it has none."""
    from margent.errors import CorpusError, MeaningError
    from margent.formats.source import Source
    from margent.meaning import parse_meaning

    source = Source(path, arguments.encoding or "utf-8", limits_of(arguments))
    found: list[Expression | None] = []
    for number, line in source.lines():
        fields = line.split("\t")
        if not line.strip() or (not found and fields[:2] == ["question", "meaning"]):
            continue
        if len(fields) < 2:
            raise source.error(number, "expected a question and its meaning with a tab between them")
        place = len(found)
        if place >= len(questions) or fields[0].split() != list(questions[place]):
            wanted = "the end" if place >= len(questions) else repr(" ".join(questions[place])[:60])
            raise source.error(number, f"expected {wanted}, as in the right answers, got {fields[0][:60]!r}")
        try:
            found.append(parse_meaning(fields[1]) if fields[1].strip() else None)
        except MeaningError as error:
            raise source.error(number, str(error)) from None
    if len(found) != len(questions):
        raise CorpusError(f"{path}: expected {len(questions)} questions, as in the right answers, got {len(found)}")
    return found


TASK = SemanticParserTask()
