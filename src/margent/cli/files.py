"""What the commands ask of files: can the result be written, what kind of model is this."""

from __future__ import annotations

import argparse
import errno
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from margent.atomic_file import checked_target
from margent.cli.command_line import UsageError
from margent.cli.output import complain, shortened
from margent.held_signals import HeldSignals


def check_target(path: str, inputs: Iterable[str] = ()) -> None:
    """What cannot be written should be known before the work, not after it; nor may it replace one of the inputs."""
    if path == "-":
        return
    for given in inputs:
        if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise UsageError(f"{path} would replace {given}, which is read: write to another file")
    if not os.path.exists(path) or os.path.isdir(path) or os.path.isfile(path):  # else it is written to as it is
        checked_target(path)


def check_model_target(path: str, inputs: Iterable[str] = ()) -> None:
    """As `check_target`, for a model, which cannot be written to standard output, a pipe or a device."""
    if path == "-":
        raise UsageError("a model is saved to a file: give it a name instead of '-'")
    check_target(path, inputs)
    if os.path.exists(path) and not os.path.isfile(path):
        raise UsageError(f"a model is saved to a file, and {path} is not a regular one")


def save_model(model: Any, path: str, **options: Any) -> None:
    """Saves what took a training. Where the file cannot be written any more, as the disk is full or the folder gone,
    the model is saved elsewhere, and the error says where. Ctrl-C waits until it is saved."""
    with HeldSignals(closed=True) as held:
        try:
            model.save(path, **options)
        except (OSError, ValueError) as error:
            other = _saved_elsewhere(model, Path(path).stem, options)
            if other is None:
                raise
            reason, code = (error.strerror, error.errno) if isinstance(error, OSError) else (str(error), errno.EIO)
            raise OSError(code, f"{reason}; the model is saved as {other} instead", path) from None
    if held.came:
        raise KeyboardInterrupt


def _saved_elsewhere(model: Any, stem: str, options: Mapping[str, Any]) -> Path | None:
    for folder in (Path.cwd(), Path(tempfile.gettempdir())):
        other = folder / f"{stem}-{os.urandom(4).hex()}.margent"
        with suppress(OSError, ValueError):
            model.save(other, **options)
            return other
    return None


def named_files(arguments: argparse.Namespace, *but: str) -> list[str]:
    """What a command reads: the files that its arguments name, without those (`but`) that say where it writes."""
    named: list[Any] = []
    for name, value in vars(arguments).items():
        if name not in but:
            named += value if isinstance(value, (list, tuple)) else [value]
    return [value for value in named if isinstance(value, str) and os.path.isfile(value)]


def check_plot_target(path: str) -> None:
    """As `check_target`, for a picture: its format and what draws it should be known before the work, too."""
    from margent.metrics.drawing import check_format

    check_target(path)
    try:
        check_format(path)
    except ValueError as error:
        raise UsageError(str(error)) from None


def model_kind(path: str) -> str | None:
    """The kind of model in a file; None where it is no model file, or none that can be read."""
    from margent.errors import MargentError
    from margent.storage import MAGIC, read

    try:
        with open(path, "rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
        return read(path, verify=False).kind
    except (MargentError, OSError):
        return None


def first_model(words: Sequence[str]) -> tuple[str, str] | None:
    """The first word of a command that names a model file, and the kind of that model."""
    for word in words:
        if not word.startswith("-") and os.path.isfile(word) and (kind := model_kind(word)) is not None:
            return word, kind
    return None


def warn(message: object) -> None:
    complain(f"margent: warning: {shortened(str(message))}")


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Warnings of the library are told as those of the command line are."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: warn(message)
        warnings.simplefilter("always", UserWarning)
        yield


class Failures:
    """Examples that have no answer while the others do: each is named at once, and the command fails at its end."""

    def __init__(self) -> None:
        self.number = 0

    def add(self, message: str) -> None:
        self.number += 1
        complain(f"margent: error: {shortened(message)}")

    def ask(self, where: str, question: Callable[[], object]) -> None:
        """An example that failed among others, asked about alone: adds what is wrong with it."""
        from margent.errors import MargentError

        try:
            question()
        except MargentError as error:
            self.add(f"{where}: {_WHICH.sub('', str(error))}")


_WHICH = re.compile(r"^(sequence|word|sentence) \d+(, '[^']*',)?:? ?")
"""How a message of the library begins, which counts the examples of one call."""


def number_of(n: int, what: str) -> str:
    """As many as there are, in words: 1 sentence, 2,000 sentences."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,} {what if n == 1 else many}"


def size_of(path: str) -> str:
    return f"{os.path.getsize(path) / 1e6:.1f} MB"


def told(value: Any) -> str:
    """A learner, or another value with fields, in one line."""
    if isinstance(value, dict) and "name" in value:
        return f"{value['name']}({', '.join(f'{name}={each}' for name, each in value.items() if name != 'name')})"
    return "none" if value is None else str(value)


def listed(items: Sequence[str]) -> str:
    """How many names there are, and the first of them."""
    return f"{len(items)}: {first_of(items)}"


def first_of(items: Sequence[str], between: str = " ") -> str:
    return between.join(items[:40]) + (f" and {len(items) - 40} more" if len(items) > 40 else "")
