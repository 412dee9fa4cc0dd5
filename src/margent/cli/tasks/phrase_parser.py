"""Phrase-structure parsers on the command line: trees in brackets, and sentences to be parsed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.files import listed, number_of
from margent.cli.options import add_format, integer, reading_options
from margent.cli.tasks.task import Inspection, Task

if TYPE_CHECKING:
    from margent.annotation.phrase_tree import PhraseTree
    from margent.formats.brackets import PhraseBatch
    from margent.models.phrase_parser.phrase_parser import PhraseParser

_EXAMPLES = {
    "train": """\
  margent train --task phrase-parser wsj_0001.mrg wsj_0002.mrg -m phrases.margent --dev wsj_0200.mrg --patience 2
  margent train --task phrase-parser trees.mrg -m phrases.margent --learner crf --no-tags
  margent train --task phrase-parser trees.mrg -m grammar.margent --learner pcfg --grammar-vertical 2

Trees are in brackets as in the Penn Treebank, (S (NP (PRP It)) (VP (VBZ works))), on one line each or over several.
Function tags and empty elements are dropped.
""",
    "apply": """\
  echo "It works ." | margent apply phrases.margent
  margent apply phrases.margent tagged.mrg --k 3
  margent apply phrases.margent text.txt --draw -o trees.svg

The input has one sentence per line, with blanks between the words, or trees, of which only words and tags are used.
""",
    "evaluate": "  margent evaluate phrases.margent test.mrg\n",
    "calibrate": "  margent calibrate phrases.margent held-out.mrg -o calibrated.margent\n",
    "explain": '  echo "It works ." | margent explain phrases.margent\n',
    "inspect": "  margent inspect phrases.margent --top 20\n",
}


class PhraseParserTask(Task):
    name = "phrase-parser"
    about = "find the phrases of sentences"
    examples = _EXAMPLES
    unit, part, files = "sentence", "word", "TREES"
    default_learner = "pa"

    def learners(self) -> dict[str, type]:
        from margent.learners import PCFG

        return {**super().learners(), "pcfg": PCFG}

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "phrases", what="trees and sentences")
        group.add_argument("--no-tags", action="store_true", help="use only the words of trees; predict tags, too")

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        from margent.formats.registry import format_named

        read = format_named(arguments.format or "brackets", "phrases").read
        if read is None:
            raise UsageError(f"{arguments.format} files hold no trees to learn from or to compare with")
        trees = [tree for path in paths for tree in read(path, reading_options(arguments))[1]]
        return [self._tokens(list(zip(tree.words, tree.tags)), arguments) for tree in trees], trees

    def _tokens(self, sentence: Sequence[Any], arguments: argparse.Namespace) -> list[Any]:
        if not arguments.no_tags:
            return list(sentence)
        return [token if isinstance(token, str) else token[0] for token in sentence]

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="write the K best trees of each sentence with their scores")
        add("--draw", action="store_true", help="draw the trees, as text or, into a file that ends in .svg, as SVG")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.annotation.phrase_picture import phrase_svg, phrase_text
        from margent.formats.batch import headed
        from margent.formats.brackets import PhrasePrediction

        drawn: list[PhraseTree] = []
        picture = arguments.draw and (arguments.output or "").endswith(".svg")
        for batch in self._batches(paths, arguments):
            X = self._short_enough(batch, model, arguments)
            if arguments.k is None:
                found = [[PhrasePrediction(tree)] for tree in model.predict(X)]
            else:
                found = [
                    [PhrasePrediction(one.tree, reading=i, score=one.score) for i, one in enumerate(readings, start=1)]
                    for readings in model.predict_k_best(X, arguments.k)
                ]
            if picture:
                drawn += [answer.tree for readings in found for answer in readings]
            elif arguments.draw:
                yield "".join(headed(one, f"{phrase_text(one.tree)}\n") for readings in found for one in readings)
            else:
                yield batch.text(found)
        if picture:
            yield phrase_svg(*drawn)

    def _batches(self, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[PhraseBatch]:
        """The sentences of files, as many at once as have arrived ("-": standard input)."""
        from margent.formats.brackets import phrase_batches

        for path in paths:
            yield from phrase_batches(path, reading_options(arguments), arguments.format)

    def _short_enough(self, batch: PhraseBatch, model: PhraseParser, arguments: argparse.Namespace) -> list[list[Any]]:
        """The sentences that have a chart; the others are named, and left out."""
        longest = model.model_.longest
        for line, sentence in zip(batch.lines, batch.X):
            if len(sentence) > longest:
                said = f"line {line}: a sentence of {len(sentence)} words; expected at most {longest}"
                arguments.failures.add(f"{said}, {model.model_.reason}")
        return [self._tokens(sentence, arguments) for sentence in batch.X if len(sentence) <= longest]

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        for batch in self._batches(paths, arguments):
            for sentence in batch.X:
                yield f"{model.explain(self._tokens(sentence, arguments))}\n"

    # What a model is

    def size(self, model: Any) -> str:
        weights = "" if model.weights_ is None else f", {len(model.weights_.keys):,} features"
        return f"{len(model.grammar_.symbols):,} symbols, {len(model.grammar_.binary):,} rules{weights}"

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "labels": list(model.classes_),
            "tags": list(model.tags_),
            "symbols": len(model.grammar_.symbols),
            "rules": len(model.grammar_.binary),
        }

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        if arguments.label:
            raise UsageError("--label is for models with labels of tokens, and this is a phrase-structure parser")
        grammar, weights = model.grammar_, model.weights_
        facts = {
            **self.trained(model),
            "words": len(model.model_.lexicon.counts),
            "features": None if weights is None else len(weights.keys),
        }
        order = (-grammar.binary_counts).argsort(kind="stable")[: arguments.top].tolist()
        rules = [(grammar.rule_text(r), float(grammar.binary_counts[r])) for r in order]
        lines = {
            "kind": f"phrase-parser of {'phrase features' if weights is not None else 'a PCFG alone'}",
            "labels": listed(facts["labels"]),
            "tags": listed(facts["tags"]),
            "grammar": f"{number_of(facts['rules'], 'rule')} over {number_of(facts['symbols'], 'symbol')}",
            "words": f"{facts['words']:,}",
            "features": "none: the grammar decides" if weights is None else f"{facts['features']:,}",
        }
        return Inspection(
            facts,
            lines,
            [("rules:", [f"{count:10g}  {name}" for name, count in rules])],
            {"top_rules": [{"rule": name, "count": count} for name, count in rules]},
        )


TASK = PhraseParserTask()
