"""The command `margent`: one file for each subcommand. See docs/command-line.md."""

from __future__ import annotations

from margent.cli.command_line import main

__all__ = ["main"]
