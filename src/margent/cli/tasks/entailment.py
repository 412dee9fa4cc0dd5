"""Entailment classifiers on the command line: tables or JSON lines of pairs of sentences."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.files import listed
from margent.cli.options import add_format, integer, limits_of, reading_options
from margent.cli.tasks.task import Inspection, Task

if TYPE_CHECKING:
    from margent.formats.pairs import LabelledPair

_EXAMPLES = {
    "train": """\
  margent train --task entailment train.tsv -m pairs.margent --dev dev.tsv --patience 3
  margent train --task entailment snli_1.0_train.jsonl -m pairs.margent --learner crf --features-candidates 8

Each line is a label, a premise and a hypothesis, with tabs between them, or columns with these names (or those of SNLI:
gold_label, sentence1, sentence2, sentence1_binary_parse, sentence2_binary_parse) under a line that names them; or a
JSON object with these names. Lines with the label "-" are left out.
""",
    "apply": """\
  printf 'A cat sleeps.\\tAn animal sleeps.\\n' | margent apply pairs.margent
  margent apply pairs.margent new.tsv --probabilities
  margent apply pairs.margent new.jsonl --draw pictures

Read are pairs, with or without labels. Written is the label, the premise and the hypothesis of each, between tabs.
""",
    "evaluate": "  margent evaluate pairs.margent test.tsv\n",
    "calibrate": "  margent calibrate pairs.margent held-out.tsv -o calibrated.margent\n",
    "explain": "  printf 'A cat sleeps.\\tA dog sleeps.\\n' | margent explain pairs.margent --top 5\n",
    "inspect": "  margent inspect pairs.margent --top 20\n",
}
_BLOCK = 256
_WEIGHTS = {"alignment": "aligned words with features", "network": "a network of trees"}


class EntailmentTask(Task):
    name = "entailment"
    about = "tell whether one sentence follows from another"
    examples = _EXAMPLES
    unit, part, files = "pair", "sentence", "PAIRS"
    default_learner = "pa"
    learner_defaults: Mapping[str, Any] = {"C": 0.02, "epochs": 6}

    def hints(self) -> dict[str, Any]:
        return {**super().hints(), "vectors": str | None}

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "pairs", what="pairs of sentences")

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        from margent.formats.registry import format_named

        X, y = list[Any](), list[str]()
        for path in paths:
            read = format_named(_format(path, arguments), "pairs").read
            assert read is not None
            part = read(path, reading_options(arguments))
            X, y = X + part[0], y + part[1]
        return X, y

    def labels(self, model: Any, y: Any) -> tuple[set[str], set[str]]:
        return set(model.classes_), set(y)

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--k", type=integer(1), metavar="K", help="write the K best labels of each pair with their scores")
        add("--probabilities", action="store_true", help="write a JSON object for each pair, with that of each label")
        add("--draw", metavar="DIR", help="also write pictures of alignments and relations into this folder")

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        from margent.formats.pairs import sentence_text

        if arguments.probabilities:
            self.check_calibrated(model, arguments)
        number = 0
        for pairs in _batches(paths, arguments):
            texts = [[sentence_text(sentence) for sentence in pair] for pair in pairs]
            if arguments.draw is not None:
                for pair in pairs:
                    number += 1
                    _draw(model.explain(pair), Path(arguments.draw), number)
            if arguments.probabilities:
                for (premise, hypothesis), row in zip(texts, _probabilities(model, pairs)):
                    said = {"label": max(row, key=row.__getitem__), "probabilities": row}
                    yield json.dumps({"premise": premise, "hypothesis": hypothesis, **said}, ensure_ascii=False) + "\n"
            elif arguments.k is not None:
                for both, readings in zip(texts, model.predict_k_best(pairs, arguments.k)):
                    for reading in readings:
                        yield _line(reading.label, *both, f"{reading.score:.6g}")
            else:
                for both, label in zip(texts, model.predict(pairs)):
                    yield _line(label, *both)

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        if arguments.token is not None:
            raise UsageError("--token is for models that label tokens; a pair is explained as a whole")
        for pairs in _batches(paths, arguments):
            for pair in pairs:
                yield f"{model.explain(pair).text(arguments.top)}\n"

    # What a model is

    def size(self, model: Any) -> str:
        return f"{len(model.classes_)} labels, {model.weights_.size}"

    def trained(self, model: Any) -> dict[str, Any]:
        return {"labels": list(model.classes_), "weights": model.weights_.name, "size": model.weights_.size}

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        facts = self.trained(model)
        chosen = arguments.label or facts["labels"]
        for label in chosen:
            if label not in facts["labels"]:
                raise UsageError(f"--label {label}: the model has {listed(facts['labels'])}")
        top = {label: model.top_features(label, arguments.top) for label in chosen}
        lines = {
            "kind": f"entailment of {_WEIGHTS[facts['weights']]}",
            "labels": listed(facts["labels"]),
            "size": facts["size"],
        }
        parts = [
            (f"features of {label}:", [f"{weight:+10.3f}  {name}" for name, weight in rows])
            for label, rows in top.items()
            if rows
        ]
        named = {label: [{"feature": name, "weight": w} for name, w in rows] for label, rows in top.items()}
        return Inspection(facts, lines, parts, {"top_features": named})


def _format(path: str, arguments: argparse.Namespace) -> str:
    from margent.formats.registry import guessed_format

    return arguments.format or guessed_format(path, "pairs") or "pairs"


def _batches(paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[list[Any]]:
    """The pairs of files, as many at once as have arrived ("-": standard input)."""
    import sys

    from margent.formats.batch import blocks
    from margent.formats.pairs import iter_pair_records, iter_pairs

    for path in paths:
        read = iter_pair_records if _format(path, arguments) == "jsonl" else iter_pairs
        source: Any = sys.stdin.buffer if path == "-" else path
        items: Iterator[LabelledPair] = read(
            source, encoding=arguments.encoding or "utf-8", limits=limits_of(arguments)
        )
        for block in blocks(path, items):
            for start in range(0, len(block), _BLOCK):
                yield [one.pair for one in block[start : start + _BLOCK]]


def _probabilities(model: Any, pairs: Sequence[Any]) -> list[dict[str, float]]:
    import warnings

    from margent.errors import CalibrationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # it was said in terms of the command line
        shares = model.predict_proba(pairs)
    return [{str(label): round(p, 6) for label, p in zip(model.classes_, row)} for row in shares.tolist()]


def _line(*fields: str) -> str:
    return "\t".join(" ".join(field.split()) for field in fields) + "\n"


def _draw(explanation: Any, folder: Path, number: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{number}-alignment.svg").write_text(explanation.alignment_svg(), encoding="utf-8")
    (folder / f"{number}-composition.svg").write_text(explanation.composition_svg(), encoding="utf-8")


TASK = EntailmentTask()
