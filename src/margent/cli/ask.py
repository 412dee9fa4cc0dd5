"""`margent ask`: what a question means, and its answer from a database."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError, with_article
from margent.cli.options import add_json, add_threads
from margent.cli.output import complain, say, say_json

if TYPE_CHECKING:
    from margent.models.semantic_parser.semantic_parser import SemanticParser

_EXAMPLES = """\
A model that 'margent train --task semantic-parser' learned says what the question means. With facts, the meaning is
answered: those of a file (docs/meanings.md), or of the database of GeoQuery.

examples:
  margent ask geo.margent "which states border texas"
  margent ask geo.margent "which states border texas" --facts geoquery
  margent ask geo.margent "what is the longest river" --facts mine.facts --type river
"""


def configure(parser: Parser) -> None:
    parser.description = "Say what a question means, of what type that is, and what the answer is."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file of a semantic-parser")
    add("question", metavar="QUESTION", nargs="*", help="the question; default: those of standard input, one a line")
    add("--facts", metavar="FILE", help="facts to answer with: a file, or 'geoquery'")
    add("--type", metavar="TYPE", help="only meanings that answer with something of this type, or a set of it")
    add("--data", metavar="DIR", help="folder of the data sets (default: as MARGENT_DATA says)")
    add_threads(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.files import model_kind
    from margent.models import load

    kind = model_kind(arguments.model)
    if kind is not None and kind != "semantic-parser":
        raise UsageError(f"{arguments.model} holds {with_article(kind)}; expected a semantic-parser")
    model = load(arguments.model)
    if arguments.threads is not None:
        model.set_params(threads=arguments.threads)
    facts = _facts(arguments)
    questions: Iterable[str] = [" ".join(arguments.question)] if arguments.question else _typed()
    found = [_asked(model, facts, question, arguments) for question in questions if question.split()]
    if arguments.json:
        say_json(found)
    return 1 if any(one["meaning"] is None or one.get("error") for one in found) else 0


def _typed() -> Iterable[str]:
    if sys.stdin.isatty():
        print("margent: type a question a line; Ctrl-D ends", file=sys.stderr)
    return sys.stdin


def _facts(arguments: argparse.Namespace) -> Any:
    if arguments.facts is None:
        return None
    if arguments.facts == "geoquery":
        from margent.datasets import load_geoquery_facts

        return load_geoquery_facts(data_home=arguments.data)
    from margent.formats import read_facts

    return read_facts(arguments.facts)


def _asked(model: SemanticParser, facts: Any, question: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """What is said of one question, which is told at once unless it goes into JSON."""
    words = question_words(question)
    explained = model.explain(words, answer_type=arguments.type)
    found: dict[str, Any] = {
        "question": " ".join(words),
        "meaning": None if explained.meaning is None else str(explained.meaning),
        "type": explained.type or None,
        "unknown": list(explained.unknown),
    }
    if explained.meaning is not None and facts is not None:
        found |= _answered(explained.meaning, facts)
    if not arguments.json:
        _tell(found)
    return found


def _answered(meaning: Any, facts: Any) -> dict[str, Any]:
    from margent.errors import MeaningError
    from margent.meaning import answer

    try:
        return {"answer": _plain(answer(meaning, facts))}
    except MeaningError as error:
        return {"answer": None, "error": str(error)}


def _plain(value: Any) -> Any:
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


def _tell(found: dict[str, Any]) -> None:
    if found["meaning"] is None:
        words = f": it has no meaning for {', '.join(map(repr, found['unknown']))}" if found["unknown"] else ""
        complain(f"margent: error: {found['question']!r} cannot be understood{words}")
        return
    say(f"meaning  {found['meaning']}")
    say(f"type     {found['type']}")
    if found.get("error"):
        complain(f"margent: error: {found['error']}")
    elif "answer" in found:
        say(f"answer   {answer_text(found['answer'])}")


def answer_text(value: Any) -> str:
    """An answer for people: yes or no, or what there is, separated by commas."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        inner = (f"({answer_text(one)})" if isinstance(one, (list, tuple)) else answer_text(one) for one in value)
        return ", ".join(inner) or "nothing"
    return f"{value:g}" if isinstance(value, float) else str(value)


def question_words(question: str) -> list[str]:
    """The words of a question as it is typed: without the mark at its end."""
    return question.strip().rstrip("?!.").split()
