"""`margent COMMAND ...`: finds the command, runs it, and answers every failure with one line and an exit status.

0: done. 1: failed, such as a file that cannot be read. 2: wrong usage. 130: interrupted with Ctrl-C. 143: ended by
SIGTERM.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from margent import __version__
from margent.cli.output import complain, flush_complaints, flush_out, shortened, silence
from margent.cli.termination import STATUS_INTERRUPTED, termination_interrupts
from margent.printable import printable

COMMANDS = {
    "train": "train a model on labelled files",
    "apply": "predict with a model: labels, segments, pronunciations or trees for new data",
    "align": "align known labels with recordings, or phonemes with letters",
    "evaluate": "compare predictions with the right answers",
    "calibrate": "calibrate the probabilities of a model",
    "tune": "search for good parameters",
    "inspect": "show what is in a model and what it has learned",
    "explain": "show why a model predicts what it predicts",
    "ask": "say what a question means, and what the answer is",
    "templates": "print the feature templates that ship with Margent",
    "convert": "convert a file to another format or label scheme",
    "domain": "write or check a domain: types, names and phrases of questions",
    "reproduce": "rerun the experiments of a paper",
    "demo": "generate data, train a model on them, and show what it can do",
}
"""Each is a module of this package with `configure(parser)` and `run(arguments) -> exit status`; align is in apply."""

SHORT_NAMES = {
    "tag": ("tagger", "apply"),
    "segment": ("segmenter", None),
    "g2p": ("transcriber", None),
    "parse": ("parser", None),
    "phrases": ("phrase-parser", None),
    "questions": ("semantic-parser", None),
    "translate": ("translator", None),
    "entail": ("entailment", None),
}
"""From a short name to the task, and to the command where it does not follow: `margent g2p train`."""

_OF_A_TASK = ("train", "apply", "align", "evaluate", "calibrate", "tune", "inspect", "explain")

_EXAMPLES = """
short names:
  tag MODEL ...        apply, for taggers
  segment COMMAND ...  COMMAND for segmenters: margent segment train = margent train --task segmenter
  g2p COMMAND ...      COMMAND for transcribers
  parse COMMAND ...    COMMAND for dependency parsers
  phrases COMMAND ...  COMMAND for phrase-structure parsers
  questions COMMAND .. COMMAND for semantic parsers
  translate COMMAND .. COMMAND for translators
  entail COMMAND ...   COMMAND for entailment classifiers

examples:
  margent demo
  margent train train.txt --dev dev.txt -m model.margent
  margent tag model.margent new.txt > tagged.txt
  margent tag model.margent test.txt | margent evaluate
  margent train --task segmenter recordings/ -m phones.margent
  margent train --task parser treebank.conllu -m trees.margent
  margent inspect model.margent

'margent COMMAND --help' shows the options of a command.
"""


def with_article(name: str) -> str:
    """a tagger, an entailment"""
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


class UsageError(Exception):
    """The arguments are wrong in a way that the parser cannot see."""


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line.

    `words`: what it will parse, from which a command sees which task and learner its options are for. `elsewhere`:
    what to say of an option that this task or learner does not have, if another has it. `task`: as a short name says.
    """

    def __init__(self, words: Sequence[str] = (), task: str | None = None, **options: object) -> None:
        super().__init__(allow_abbrev=False, formatter_class=_Help, **options)  # type: ignore[arg-type]
        self.words, self.task = list(words), task
        self.elsewhere: Callable[[str], str | None] | None = None

    def error(self, message: str) -> NoReturn:
        start = "unrecognized arguments: "
        if message.startswith(start) and self.elsewhere is not None:
            options = [word.partition("=")[0] for word in message.removeprefix(start).split() if word.startswith("--")]
            message = next((told for option in options if (told := self.elsewhere(option))), message)
        text = f"margent: error: {' '.join(message.split())} (see '{self.prog} --help')"
        self.exit(2, printable(text) + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status. `arguments`: those of the process if not given."""
    for name in ("stdout", "stderr"):  # closed before the start: the next file would take their places
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    with termination_interrupts() as termination:
        status = termination.status(_run(list(sys.argv[1:] if arguments is None else arguments)))
        flush_complaints()
        return status


def _run(given: list[str]) -> int:
    debug = "--debug" in given
    try:
        name, task, prog, rest = _command(given)
        command = importlib.import_module(f"margent.cli.{'apply' if name == 'align' else name}")
        parser = Parser([word for word in rest if word != "--debug"], task, prog=prog)
        parser.set_defaults(command=name)
        parser.add_argument("--debug", action="store_true", help="show a traceback when something fails")
        try:
            command.configure(parser)
            parsed = parser.parse_intermixed_args(rest)  # options may stand before, between and after files
            status = int(command.run(parsed))
        except UsageError as error:
            parser.error(str(error))
        flush_out()
        return status
    except SystemExit as exit:  # from the parser: --help, --version, or wrong usage
        return exit.code if isinstance(exit.code, int) else 1
    except BrokenPipeError:
        silence()  # the reader, `head` perhaps, has seen enough
        return 0
    except KeyboardInterrupt:
        if debug:
            raise
        return _failed("interrupted", STATUS_INTERRUPTED)
    except Exception as error:
        if debug:
            raise
        status = _failed(_sentence(error), 1)
        with contextlib.suppress(OSError):  # whose sentence is told; at the exit it would be one more
            flush_out()
        return status


def _command(given: Sequence[str]) -> tuple[str, str | None, str, list[str]]:
    """The command, the task of a short name, what the program is called, and the arguments that remain.

    Only that command is imported, for some need slow imports.
    """
    parser = Parser(
        prog="margent",
        description="Structured prediction on an ordinary CPU: learn to label sequences from examples.",
        usage="margent [--debug] COMMAND ...",
        epilog="commands:\n" + "".join(f"  {name:11}{text}\n" for name, text in COMMANDS.items()) + _EXAMPLES,
    )
    names = (*COMMANDS, *SHORT_NAMES)
    parser.add_argument("command", metavar="COMMAND", choices=names, help="see below")
    parser.add_argument(
        "--version", action="version", version=f"margent {__version__}", help="show the version and exit"
    )
    parser.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    first, rest = _split(given)
    name = str(parser.parse_args(first).command)
    if name not in SHORT_NAMES:
        return name, None, f"margent {name}", rest
    task, command = SHORT_NAMES[name]
    if command is not None:
        return command, task, f"margent {name}", rest
    inner = Parser(
        prog=f"margent {name}",
        usage=f"margent {name} COMMAND ...",
        description=f"The commands for {task}s: 'margent {name} train' is 'margent train --task {task}', and so on.",
        epilog="examples:\n" + "".join(f"  margent {name} {each:10} {COMMANDS[each]}\n" for each in _OF_A_TASK),
    )
    inner.add_argument("command", metavar="COMMAND", choices=_OF_A_TASK, help="see below")
    inner.add_argument("--debug", action="store_true", help="show a traceback when something fails")
    first, rest = _split(rest)
    command = str(inner.parse_args(first).command)
    return command, task, f"margent {name} {command}", rest


def _split(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Up to the first word that is no option, and the rest."""
    position = next((i for i, argument in enumerate(given) if not argument.startswith("-")), len(given))
    return list(given[: position + 1]), list(given[position + 1 :])


def _failed(message: str, status: int) -> int:
    complain(f"margent: error: {shortened(message)}")
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
    if isinstance(error, (TypeError, ValueError, ImportError)):
        return str(error)
    return f"unexpected {type(error).__name__}: {error} ('margent --debug' shows where)"
