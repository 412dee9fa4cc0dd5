"""`margent domain`: write a domain of questions, or check one against questions with meanings."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import Parser, UsageError
from margent.cli.options import add_json
from margent.cli.output import say, say_json

if TYPE_CHECKING:
    from margent.meaning import Domain, Expression

_EXAMPLES = """\
A domain says what questions are about: types, predicates and constants with their types, and how things are called
(docs/meanings.md). Those of the public corpora are made of the files that come with them. From a file of questions with
meanings a domain with simple types is made, to begin with.

examples:
  margent domain geoquery -o geo.domain
  margent domain atis --check
  margent domain mine.domain --check train.questions
  margent domain train.questions -o mine.domain
"""

_CORPORA = ("geoquery", "jobs", "atis")
LONGEST_NAME = 10
"""So many words of a question may be how one thing is called."""


def configure(parser: Parser) -> None:
    parser.description = "Write a domain of questions to a file, or check it."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("source", metavar="SOURCE",
        help=f"{', '.join(_CORPORA)}, a file that ends in .domain, or a file of questions with meanings")  # fmt: skip
    add("-o", "--output", metavar="FILE", help="where to write the domain; '-' is standard output")
    add("--simple", action="store_true", help="with simple types: each becomes the topmost one above it (e, i, t)")
    add("--notation", choices=("lambda", "typed"), default="lambda",
        help="whose names are typed, for geoquery (default: lambda)")  # fmt: skip
    add("--check", nargs="?", const="", metavar="QUESTIONS",
        help="how many meanings of a file have a type, and how many questions name all their constants; of a corpus, "
        "those of its parts")  # fmt: skip
    add("--data", metavar="DIR", help="folder of the data sets (default: as MARGENT_DATA says)")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    from margent.cli.files import check_target, named_files
    from margent.formats import write_domain

    if arguments.check == "" and arguments.source not in _CORPORA:
        raise UsageError("--check: expected a file of questions with meanings after it")
    if arguments.output is not None:
        check_target(arguments.output, named_files(arguments, "output"))
    domain = _domain(arguments)
    if arguments.simple:
        domain = domain.simplified()
    if arguments.output is not None:
        write_domain(arguments.output, domain)
        if arguments.check is None:
            return 0
    facts: dict[str, Any] = {
        "basic types": len(domain.hierarchy.names),
        "names": len(domain.types),
        "phrases": len(domain.phrases),
        "seeds": len(domain.seeds),
    }
    parts = _parts(arguments) if arguments.check is not None else {}
    checked = {name: _checked(domain, X, y) for name, (X, y) in parts.items()}
    if arguments.json:
        say_json({**facts, "checked": checked})
        return 0
    say("\n".join(f"{name:12} {number}" for name, number in facts.items()))
    for name, found in checked.items():
        n, typed, named = found["questions"], found["typed"], found["named"]
        say(f"\n{name}: {typed} of {n} meanings have a type, {named} of {n} questions name all their constants")
        for problem in found["problems"]:
            say(f"  {problem}")
        if found["unnamed"]:
            say(f"  not named: {', '.join(f'{constant} ({times})' for constant, times in found['unnamed'].items())}")
    return 0


def _domain(arguments: argparse.Namespace) -> Domain:
    from margent import datasets
    from margent.formats import read_domain, read_questions
    from margent.meaning import Domain

    if arguments.source == "geoquery":
        return datasets.load_geoquery_domain(notation=arguments.notation, data_home=arguments.data)
    if arguments.source in _CORPORA:
        loader = datasets.load_jobs_domain if arguments.source == "jobs" else datasets.load_atis_domain
        return loader(data_home=arguments.data)
    if arguments.source.removesuffix(".gz").endswith(".domain"):
        return read_domain(arguments.source)
    return Domain.from_meanings(read_questions(arguments.source)[1])


def _parts(arguments: argparse.Namespace) -> dict[str, tuple[Sequence[Sequence[str]], Sequence[Expression]]]:
    from margent import datasets
    from margent.formats import read_questions

    if arguments.check:
        return {arguments.check: read_questions(arguments.check)}
    if arguments.source == "geoquery":
        data = datasets.load_geoquery(notation=arguments.notation, data_home=arguments.data)
    else:
        loader = datasets.load_jobs if arguments.source == "jobs" else datasets.load_atis
        data = loader(data_home=arguments.data)
    parts = {"train": data.train, "dev": data.dev, "test": data.test}
    return {name: (part.X, part.y) for name, part in parts.items() if part is not None}


def _checked(domain: Domain, X: Sequence[Sequence[str]], y: Sequence[Expression], most: int = 10) -> dict[str, Any]:
    """How many meanings have a type, and how many questions have words for all constants of their meanings."""
    from margent.errors import MeaningError
    from margent.meaning import BaseType, infer_type

    problems: list[str] = []
    unnamed: Counter[str] = Counter()
    n_named = n_typed = 0
    for words, meaning in zip(X, y, strict=True):
        try:
            infer_type(meaning, domain)
            n_typed += 1
        except MeaningError as error:
            problems.append(f"{' '.join(words)}: {error}")
        found: set[str] = set()
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + LONGEST_NAME) + 1):
                found.update(domain.constants_of(words[start:end]))
        types = {name: domain.types_of(name) for name in meaning.constants()}
        things = {name for name, of in types.items() if of and all(isinstance(one, BaseType) for one in of)}
        n_named += things <= found
        unnamed.update(things - found)
    return {
        "questions": len(X),
        "typed": n_typed,
        "named": n_named,
        "problems": problems[:most],
        "unnamed": dict(unnamed.most_common(most)),
    }
