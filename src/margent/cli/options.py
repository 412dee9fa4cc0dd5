"""Types of option values, and the options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

FORMATS = ("columns", "conllu", "crfsuite", "svmhmm", "jsonl")
"""The formats of data files that are read and written."""

SCHEMES = ("iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou")
"""As `margent.annotation.SCHEMES`, which would need numpy."""


def whole(minimum: int) -> Callable[[str], int]:
    """A type of option: a whole number of at least `minimum`."""

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            raise argparse.ArgumentTypeError(f"expected a whole number of at least {minimum}, got {text!r}")
        return value

    return parse


def share(text: str) -> float:
    """A type of option: a number from 0 to less than 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"expected a share from 0 to less than 1, got {text!r}")
    return value


def not_negative(text: str) -> float:
    """A type of option: a number of at least 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, got {text!r}")
    return value


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How data files are read."""
    group = parser.add_argument_group("how files are read")
    group.add_argument(
        "--format", choices=FORMATS, help="of the data; guessed from the name (.conllu, .jsonl, ...), else columns"
    )
    group.add_argument("--encoding", default="utf-8", metavar="NAME", help="of the text (default: utf-8)")
    group.add_argument(
        "--columns",
        metavar="LIST",
        help="which columns to use and in which order, the label last: numbers from 0 such as 0,1,3; "
        "names for CoNLL-U (default there: form,upos)",
    )
    group.add_argument("--tabs", action="store_true", help="single tabs separate the columns, so cells may hold spaces")
    group.add_argument("--comment", metavar="TEXT", help="lines that begin with this are comments (default: none)")


def add_threads(parser: argparse.ArgumentParser, used_for: str = "tagging") -> None:
    parser.add_argument(
        "--threads",
        type=whole(1),
        metavar="N",
        help=f"for {used_for} (default: all processors); does not change results",
    )
