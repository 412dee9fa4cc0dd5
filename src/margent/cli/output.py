"""What the commands print: text without control characters, and what happens where nothing more can be written."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any, TextIO

from margent.printable import printable, printable_json


def say(text: str, *, end: str = "\n", flush: bool = False) -> None:
    """To standard output. Names of labels and the like may hold anything; a terminal gets them as printable text."""
    write_out(printable(text) + end, flush=flush)


def say_json(value: Any) -> None:
    """One JSON object to standard output."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    write_out(printable_json(text) + "\n", flush=True)


def write_out(text: str, *, flush: bool = False) -> None:
    try:
        sys.stdout.write(text)
        if flush:
            sys.stdout.flush()
    except OSError as error:
        raise out_error(error) from None


def out_error(error: OSError) -> OSError:
    """The error to raise for one of standard output, to which nothing is written any more."""
    silence()
    return OSError(error.errno, error.strerror, "standard output")


def flush_out() -> None:
    try:
        sys.stdout.flush()
    except OSError as error:
        raise out_error(error) from None


def flush_complaints() -> None:
    """At the end: what standard error cannot take is dropped, as Python would end with another status for it."""
    try:
        sys.stderr.flush()
    except (OSError, ValueError):
        silence(sys.stderr)


def silence(stream: TextIO | None = None) -> None:
    """What is still buffered, for standard output if nothing is given, must not fail once more at the end of the
    process."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), (stream or sys.stdout).fileno())


def complain(text: str) -> None:
    """One line to standard error; where that cannot be written either, there is nobody to tell."""
    with contextlib.suppress(OSError, ValueError):
        print(printable(" ".join(text.split())), file=sys.stderr, flush=True)


def shortened(message: str, most: int = 1000) -> str:
    """A message in which a file may be quoted, of a length that can be read."""
    return message if len(message) <= most else f"{message[: most - 100]} ... {message[-100:]}"
