"""`margent COMMAND ...`: finds the command, runs it, and answers every failure with one line and an exit status.

0: done. 1: failed, such as a file that cannot be read. 2: wrong usage. 130: interrupted with Ctrl-C.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from margent import __version__

COMMANDS = {
    "train": "learn a model from labelled files",
    "tag": "label new data with a model",
    "evaluate": "compare predicted labels with the right ones",
    "g2p": "learn to pronounce words from dictionaries, and do it",
    "tune": "search for good parameters",
    "calibrate": "make the probabilities of a model honest",
    "inspect": "show what a model is and what it has learned",
    "templates": "print the feature templates that ship with Margent",
    "convert": "convert a labelled file to another format or label scheme",
    "reproduce": "run the experiments of a paper again",
    "demo": "generate data, train a tagger on it, and look around",
}
"""Each is a module of this package with `configure(parser)` and `run(arguments) -> exit status`."""

_EXAMPLES = """
examples:
  margent demo
  margent train train.txt --dev dev.txt -m model.margent
  margent tag model.margent new.txt > tagged.txt
  margent tag model.margent test.txt | margent evaluate
  margent inspect model.margent

'margent COMMAND --help' tells more about a command.
"""


class UsageError(Exception):
    """The arguments are wrong in a way that the parser cannot see."""


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, **options: object) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Help, **options)  # type: ignore[arg-type]

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"margent: error: {message} (see '{self.prog} --help')\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. `arguments`: those of the process if not given."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        name, rest = _command(given)
        command = importlib.import_module(f"margent.cli.{name}")
        parser = Parser(prog=f"margent {name}")
        parser.add_argument("--debug", action="store_true", help="show a traceback when something fails")
        command.configure(parser)
        parsed = parser.parse_intermixed_args(rest)  # options may stand before, between and after files
        try:
            status = int(command.run(parsed))
        except UsageError as error:
            parser.error(str(error))
        sys.stdout.flush()
        return status
    except SystemExit as exit:  # from the parser: --help, --version, or wrong usage
        return exit.code if isinstance(exit.code, int) else 1
    except BrokenPipeError:
        # The reader, `head` perhaps, has seen enough. What is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        if debug:
            raise
        return _failed("interrupted", 130)
    except Exception as error:
        if debug:
            raise
        return _failed(_sentence(error), 1)


def _command(given: Sequence[str]) -> tuple[str, list[str]]:
    """The name of the command and its arguments. Only that command is imported, for some need slow imports."""
    parser = Parser(
        prog="margent",
        description="Structured prediction on an ordinary CPU: learn to label sequences from examples.",
        usage="margent [--debug] COMMAND ...",
        epilog="commands:\n" + "".join(f"  {name:11}{text}\n" for name, text in COMMANDS.items()) + _EXAMPLES,
    )
    parser.add_argument("command", metavar="COMMAND", choices=tuple(COMMANDS), help="what to do, see below")
    parser.add_argument(
        "--version", action="version", version=f"margent {__version__}", help="show the version and exit"
    )
    parser.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    position = next((i for i, argument in enumerate(given) if not argument.startswith("-")), len(given))
    return str(parser.parse_args(given[: position + 1]).command), list(given[position + 1 :])


def _failed(message: str, status: int) -> int:
    one_line = " ".join(message.split())
    print(f"margent: error: {one_line}", file=sys.stderr)
    return status


def _sentence(error: Exception) -> str:
    """What happened, for a person."""
    from margent.errors import MargentError

    if isinstance(error, MargentError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if isinstance(error, (ValueError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} ('margent --debug' shows where)"
