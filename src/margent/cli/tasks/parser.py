"""Dependency parsers on the command line: treebanks in CoNLL-U and other formats, plain sentences, pictures."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from margent.cli.command_line import UsageError
from margent.cli.files import first_of, listed, number_of
from margent.cli.options import add_columns, add_format, integer, reading_options
from margent.cli.parameters import Parameter, field_parameters
from margent.cli.tasks.task import Inspection, Task, weight_parts, weights_json

if TYPE_CHECKING:
    from margent.formats.dependencies import DependencyBatch, TreePrediction
    from margent.models.parser.parser import Parser

_EXAMPLES = {
    "train": """\
  margent train --task parser train.conllu --dev dev.conllu -m en.margent
  margent parse train train.conllu --search-width 8 --system arc-eager -m fast.margent
  margent parse train train.conllu --search mst --learner crf -m en.margent
  margent parse train train.conllu --template mine.txt --clusters brown.txt -m en.margent
  margent parse train train.conllu --tagger pos -m words.margent

Treebanks are CoNLL-U, CoNLL-X (.conllx, .conll), or columns that --columns names. With --tagger, the parser learns to
tag words as well, and then needs nothing but words.
""",
    "apply": """\
  margent apply en.margent text.conllu > parsed.conllu
  echo 'She reads old books .' | margent apply words.margent
  echo 'She reads old books .' | margent apply words.margent --draw
  margent apply en.margent text.conllu --draw -o trees.svg

The output is CoNLL-U. Everything else about the sentences is kept, except tags and lemmas if the parser has its own
taggers. Plain text has one sentence per line, with blanks between the words; each line is answered at once.

With --k, each of the best trees comes after a comment '# reading 1 score=12.3'. With --marginals, the probability of
each head is added under misc.
""",
    "evaluate": """\
  margent evaluate en.margent test.conllu
  margent parse evaluate gold.conllu predicted.conllu
  margent parse evaluate gold.conllu one.conllu --compare other.conllu

Labelled and unlabelled attachment scores (LAS, UAS), content words (CLAS), with and without punctuation and subtypes.
""",
    "calibrate": "  margent calibrate en.margent held-out.conllu\n",
    "inspect": "  margent inspect en.margent --label nsubj --top 20\n",
    "explain": """\
  margent explain en.margent new.conllu
  margent explain en.margent new.conllu --token 2 --top 5
""",
}


class ParserTask(Task):
    name = "parser"
    about = "find the head of each word of a sentence"
    examples = _EXAMPLES
    unit, part, files = "sentence", "word", "TREEBANK"
    default_learner = "pa"
    applied = ("search",)
    own = ("features", "tagger")

    def hints(self) -> dict[str, Any]:
        from margent.models import Beam, ParserFeatures
        from margent.models.parser.problem import CROSSING
        from margent.models.parser.setting import EXACT_SEARCHES, SYSTEMS

        return {
            **super().hints(),
            "features": ParserFeatures,
            "search": Literal[EXACT_SEARCHES] | Beam,
            "system": Literal[SYSTEMS],
            "crossing": Literal[CROSSING],
            "order": Literal[1, 2],
        }

    def parameters(self) -> list[Parameter]:
        """Without what a beam does with labels, and with what wraps the templates."""
        from margent.models import ParserFeatures

        found = [each for each in super().parameters() if each.path != ("search", "decode")]
        return [*found, *field_parameters("features", ParserFeatures)]

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        from margent.cli.model_options import changed_model

        return changed_model(model, arguments, self)

    # Options of its own

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        from margent.features.templates import PRESETS

        group = parser.add_argument_group("features of words")
        features = group.add_mutually_exclusive_group()
        features.add_argument("--features", metavar="NAME", help="a preset of templates (default: depends on --search)")
        features.add_argument("--template", metavar="FILE", help="templates over named atoms, such as 'h.upos m.upos'")
        group.add_argument(
            "--clusters", metavar="FILE", help="word clusters: a word, a tab and its cluster on each line"
        )
        group.add_argument(
            "--tagger", choices=PRESETS, help="learn to tag words, too, with this preset (default: tags are given)"
        )

    def own_values(self, arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
        from margent.models import ParserFeatures, Tagger

        given = vars(arguments)
        if "template" not in given:  # of a model that is applied, these stay
            return {}
        values: dict[str, Any] = {}
        templates: Any = arguments.features
        if arguments.template is not None:
            templates = template_text(arguments.template).splitlines()
        if templates is not None or arguments.clusters is not None or "features" in found:
            base = found.get("features", ParserFeatures())
            values["features"] = dataclasses.replace(base, templates=templates, clusters=arguments.clusters)
        if arguments.tagger is not None:
            values["tagger"] = Tagger(features=arguments.tagger)
        return values

    def own_given(self, arguments: argparse.Namespace) -> set[str]:
        seen = (arguments.features, arguments.template)
        given = {name for name in ("clusters", "tagger") if getattr(arguments, name) is not None}
        return given | ({"features"} if any(value is not None for value in seen) else set())

    def own_words(self, arguments: argparse.Namespace, model: Any, searched: Any = None) -> list[str]:
        names = ("template", "clusters", "tagger", "format", "encoding", "columns", "comment")
        given = {"features": arguments.features or searched} | {name: getattr(arguments, name) for name in names}
        words = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
        return [*words, *(["--tabs"] if arguments.tabs else [])]

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "dependencies", what="treebanks and text")
        add_columns(group)

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        return _read(paths, arguments, single_root=bool(model.single_root))

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="print the K best trees of each sentence with scores")
        add("--marginals", action="store_true", help="add the probability of each head, where the search is exact")
        add("--draw", action="store_true", help="draw the trees, as text or, into a file that ends in .svg, as SVG")
        add("--width", type=integer(20), metavar="N", help="columns for --draw (default: those of the terminal)")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.errors import CalibrationWarning

        if arguments.draw and arguments.marginals:
            raise UsageError("--draw cannot be combined with --marginals")
        if arguments.width is not None and not arguments.draw:
            raise UsageError("--width is for --draw")
        if arguments.marginals:
            self.check_calibrated(model, arguments)
        if list(paths) == ["-"] and sys.stdin.isatty():
            print("margent: type a sentence a line, with blanks between its words; Ctrl-D ends", file=sys.stderr)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)  # said above, in terms of the command line
            found = (_answered(batch, model, arguments) for batch in _batches(paths, arguments))
            if arguments.draw:
                yield from _drawn(found, arguments)
                return
            for batch, answers in found:
                yield batch.text(answers)

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        for batch in _batches(paths, arguments):
            for sentence in batch.X:
                self.check_token(arguments, len(sentence))
                word = None if arguments.token is None else arguments.token + 1
                for each in model.explain(sentence, word, top=arguments.top):
                    yield f"{each}\n"
                yield "\n"

    # Results

    def add_evaluating(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--compare", metavar="OTHER", help="trees of another system: could the difference be chance?"
        )
        parser.add_argument(
            "--calibration", action="store_true", help="for a model: report how far its probabilities can be trusted"
        )

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        from margent import metrics
        from margent.cli.reports import calibration_json, calibration_table, comparison
        from margent.cli.tasks import load_model
        from margent.cli.tasks.tagger_evaluation import check_words

        files = arguments.files
        curves: dict[str, Any] = {}
        if arguments.model is None:
            if len(files) != 2:
                raise UsageError("to evaluate a parser, give the model first, then treebanks; or GOLD and PRED")
            if arguments.calibration:
                raise UsageError("--calibration needs probabilities: give a model first, then the data")
            (X, gold), (other, predicted) = (_read([path], arguments, single_root=False) for path in files)
            check_words(X.column(0), other.column(0), files[1])
        else:
            model = load_model(self, arguments)
            X, gold = _read(files or ["-"], arguments, single_root=False)
            predicted = model.predict(X)
            curves = self.curves(model, X, gold) if arguments.calibration else {}
        report = metrics.dependency_scores(gold, predicted, X)
        text, summary = str(report), self.report_json(report)
        if curves:
            summary["calibration"] = calibration_json(curves)
            text += f"\nthe probabilities of {arguments.model}:\n\n{calibration_table(curves)}"
        if arguments.compare is not None:
            other, trees = _read([arguments.compare], arguments, single_root=False)
            check_words(X.column(0), other.column(0), arguments.compare)
            measures = {name: metrics.dependency_metric(name) for name in ("las", "uas")}
            more, summary["compare"] = comparison(gold, predicted, trees, arguments.compare, measures)
            text += more
        return text, summary

    def labels(self, model: Any, y: Any) -> tuple[set[str], set[str]]:
        return {*model.classes_}, {label for tree in y for label in tree.labels}

    # What a model is

    def size(self, model: Any) -> str:
        return f"{len(model.classes_)} labels, {model.weights_.n_features:,} features"

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "labels": model.classes_.tolist(),
            "features": model.weights_.n_features,
            "taggers": [*model.taggers_],
        }

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        from margent.errors import CapabilityError

        features: dict[str, Any] = {}
        for label in arguments.label or model.classes_.tolist():
            try:
                features[label] = model.top_features(label, arguments.top)
            except CapabilityError as error:
                if arguments.label:
                    raise UsageError(str(error)) from None
                break
        setting = model.model_.setting
        templates = model.weights_.templates(setting)
        facts = {
            "labels": model.classes_.tolist(),
            "search": str(setting.search),
            "system": setting.system if setting.beam is not None else None,
            "features": model.weights_.n_features,
            "templates": templates.lines,
            "atoms": {name: int(n) for name, n in zip(model.atoms_.names, model.atoms_.n_values)},
            "taggers": {name: len(tagger.classes_) for name, tagger in model.taggers_.items()},
            "lemmas": model.model_.own is not None and model.model_.own.lemmatizer is not None,
        }
        lines = {
            "kind": f"parser of arcs, search {facts['search']}, order {setting.order}"
            if setting.beam is None
            else f"parser of transitions, {setting.system}, {setting.beam}",
            "labels": listed(facts["labels"]),
            "features": f"{facts['features']:,} by {number_of(len(templates), 'template')}",
            "atoms": first_of([f"{name} {n:,}" for name, n in facts["atoms"].items()]),
            "tags": ", ".join(f"{name} of its own ({n})" for name, n in facts["taggers"].items()) or "given",
            **({"lemmas": "of its own"} if facts["lemmas"] else {}),
        }
        return Inspection(facts, lines, weight_parts(features, []), weights_json(features, []))


def template_text(path: str) -> str:
    """The text of a file of templates."""
    from margent.errors import CorpusError

    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: a template file must be UTF-8 text") from None


def _read(paths: Sequence[str], arguments: argparse.Namespace, *, single_root: bool) -> tuple[Any, Any]:
    """Sentences and trees of all files together."""
    from margent.cli.tasks.tagger import called
    from margent.errors import CorpusError
    from margent.formats import Columns
    from margent.formats.registry import format_named, guessed_format

    parts = []
    for path in paths:
        format = format_named(arguments.format or guessed_format(path, "dependencies") or "conllu", "dependencies")
        if format.read is None:
            raise CorpusError(f"{path}: {format.name} files hold no trees; expected conllu, conllx or columns")
        parts.append(called(format.read, path, reading_options(arguments, single_root=single_root)))
    if len(parts) == 1:
        return parts[0]  # type: ignore[no-any-return]
    return Columns.from_sentences([x for X, _ in parts for x in X]), [tree for _, y in parts for tree in y]


def _batches(paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[DependencyBatch]:
    """The sentences of files, as many at once as have arrived ("-": standard input)."""
    from margent.cli.tasks.tagger import called
    from margent.formats.dependencies import dependency_batches

    options = reading_options(arguments, single_root=False)
    for path in paths:
        yield from called(lambda path, options: dependency_batches(path, options, arguments.format), path, options)


def _answered(
    batch: DependencyBatch, model: Parser, arguments: argparse.Namespace
) -> tuple[DependencyBatch, list[list[TreePrediction]]]:
    """The sentences with their trees; those that are too long are named, and left out."""
    longest = model.weights_.longest
    kept = []
    for sentence in batch.sentences:
        if len(sentence) <= longest:
            kept.append(sentence)
        else:
            said = f"line {sentence.line}: a sentence of {len(sentence)} words; expected at most {longest}"
            arguments.failures.add(said)
    batch = dataclasses.replace(batch, sentences=kept)
    return batch, list(_answers(batch.X, model, arguments))


def _answers(X: Any, model: Parser, arguments: argparse.Namespace) -> Iterator[list[TreePrediction]]:
    """The trees of each sentence: one, or with --k several."""
    from margent.formats.dependencies import DEPENDENCY_COLUMNS, TreePrediction

    columns: list[dict[str, list[str]] | None] = [None] * len(X)
    if (own := model.model_.own) is not None:
        tagged = model.tag(X)
        names = [(name, DEPENDENCY_COLUMNS.index(name)) for name in own.columns]
        columns = [{name: [word[at] for word in sentence] for name, at in names} for sentence in tagged]
    marginals = model.predict_marginals(X) if arguments.marginals else None

    def cells(sentence: int, tree: Any) -> list[tuple[str, ...]] | None:
        if marginals is None:
            return None
        return [(f"{row[head]:.6f}",) for row, head in zip(marginals[sentence].heads, tree.heads)]

    if arguments.k is None:
        for i, tree in enumerate(model.predict(X)):
            yield [TreePrediction(tree, columns[i], cells(i, tree))]
    else:
        for i, readings in enumerate(model.predict_k_best(X, arguments.k)):
            yield [
                TreePrediction(tree, columns[i], cells(i, tree), number, score)
                for number, (score, tree) in enumerate(readings, start=1)
            ]


def _drawn(found: Iterator[tuple[DependencyBatch, list[list[TreePrediction]]]], arguments: Any) -> Iterator[str]:
    """Pictures of the trees: a text for each, or one SVG of all."""
    import shutil

    from margent.annotation import tree_svg, tree_text
    from margent.formats.batch import headed

    everything = (
        (words, tags, answer)
        for batch, answers in found
        for words, tags, readings in zip(batch.X.column(0), batch.X.column(1), answers)
        for answer in readings
    )
    if (arguments.output or "").endswith(".svg"):
        rows = list(everything)
        shown = [(answer.columns or {}).get("upos", tags) for _, tags, answer in rows]
        shown = [["" if tag == "_" else tag for tag in tags] for tags in shown]
        yield tree_svg([answer.tree for _, _, answer in rows], [words for words, _, _ in rows], shown)
        return
    plain = arguments.output is None and not (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    width = arguments.width or shutil.get_terminal_size((100, 24)).columns
    for words, _, answer in everything:
        yield headed(answer, f"{tree_text(answer.tree, words, width=width, ascii_only=plain)}\n")


TASK = ParserTask()
