"""`margent align`: put known labels or phonemes where they belong. See `apply`."""

from __future__ import annotations

from margent.cli import apply
from margent.cli.apply import run
from margent.cli.command_line import Parser


def configure(parser: Parser) -> None:
    apply.configure(parser, "align")


__all__ = ["configure", "run"]
