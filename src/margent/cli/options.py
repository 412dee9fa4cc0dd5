"""Types of option values, and the options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from margent.formats.limits import Limits
    from margent.formats.registry import FormatOptions, Gives

SCHEMES = ("iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou")
"""As `margent.annotation.SCHEMES`, which would need numpy."""


def integer(minimum: int) -> Callable[[str], int]:
    """A type of option: an integer of at least `minimum`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"expected an integer of at least {minimum}, got {text!r}")
        return value

    return parse


def positive(text: str) -> float:
    """A type of option: a number above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text!r}")
    return value


def add_format(parser: argparse._ActionsContainer, *gives: Gives, what: str = "the data") -> None:
    """`--format` and `--encoding`, the same for all tasks."""
    from margent.formats.registry import all_formats

    formats = list({f.name: f for f in all_formats() if f.gives in gives}.values())
    known = ", ".join(f"{f.name} ({' '.join(f.extensions)})" if f.extensions else f.name for f in formats)
    parser.add_argument(
        "--format",
        choices=[f.name for f in formats],
        metavar="NAME",
        help=f"of {what}: {known}; by default recognised from the name or the content",
    )
    parser.add_argument("--encoding", metavar="NAME", help="encoding of the text (default: utf-8)")
    parser.add_argument(
        "--limit",
        type=_limit,
        action="append",
        metavar="NAME=N",
        help="how large a line, tokens or sentence, empty_lines in a row, a file or the expansion of gzip may be, as "
        "in line=10000000 (may be repeated); errors name the limit that was met",
    )


def _limit(text: str) -> tuple[str, int]:
    """A type of option: the name and value of a limit."""
    from dataclasses import fields

    from margent.formats.limits import Limits

    name, _, value = text.partition("=")
    names = [field.name for field in fields(Limits)]
    if name not in names:
        raise argparse.ArgumentTypeError(f"expected NAME=N where NAME is one of {', '.join(names)}, got {text!r}")
    return name, integer(1)(value)


def limits_of(arguments: argparse.Namespace) -> Limits:
    """The limits that `--limit` sets, the others as usual."""
    from margent.formats.limits import Limits

    return Limits(**dict(getattr(arguments, "limit", None) or ()))


def reading_options(arguments: argparse.Namespace, **more: Any) -> FormatOptions:
    """How files are read, as the options of `add_format` and `add_columns` say it; `more`: other fields."""
    from margent.formats.registry import FormatOptions

    given = {name: value for name in ("columns", "tabs", "comment") if (value := getattr(arguments, name, None))}
    return FormatOptions(arguments.encoding, limits=limits_of(arguments), **given, **more)


def add_columns(parser: argparse._ActionsContainer) -> None:
    """How tokens in columns are read."""
    parser.add_argument(
        "--columns",
        metavar="LIST",
        help="which columns to use and in which order, the label last: numbers from 0 such as 0,1,3; "
        "names for CoNLL-U (default there: form,upos)",
    )
    parser.add_argument("--tabs", action="store_true", help="single tabs separate columns, so cells may hold spaces")
    parser.add_argument("--comment", metavar="TEXT", help="lines that begin with this are comments (default: none)")


def add_output(parser: argparse._ActionsContainer, text: str, metavar: str = "OUT") -> None:
    parser.add_argument("-o", "--output", metavar=metavar, help=text)


def add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_threads(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--threads",
        type=integer(1),
        metavar="N",
        help="number of threads (default: as many as processors); does not change results",
    )
