"""Whether an exception is an answer or a fault.

A hostile file may be refused in one way: with an error that our own code raises on purpose, in one sentence. An
exception that a library or the interpreter raised below us means that something was not checked.
"""

from __future__ import annotations

import dis
import traceback
from pathlib import Path
from types import TracebackType

import margent
from margent.errors import MargentError

PACKAGE = Path(margent.__file__).parent
LONGEST = 1000
_RAISE = dis.opmap["RAISE_VARARGS"]


def fault(error: BaseException) -> str | None:
    """None for an answer; else what is wrong with it, and where, in a line that is the same for the same fault."""
    if isinstance(error, MemoryError):
        return f"memory: {_place(error)}"
    message = str(error)
    if not isinstance(error, (MargentError, ValueError, TypeError)) or not _raised_on_purpose(error):
        return f"{type(error).__name__}: {_place(error)}"
    if not message.strip() or "\n" in message or len(message) > LONGEST:
        return f"{type(error).__name__} that is not a sentence: {_place(error)}"
    return None


def _raised_on_purpose(error: BaseException) -> bool:
    """Whether the last frame is ours, and it stopped at a `raise`."""
    last = _last(error.__traceback__)
    if last is None or not Path(last.tb_frame.f_code.co_filename).is_relative_to(PACKAGE):
        return False
    return last.tb_frame.f_code.co_code[last.tb_lasti] == _RAISE


def _last(found: TracebackType | None) -> TracebackType | None:
    while found is not None and found.tb_next is not None:
        found = found.tb_next
    return found


def _place(error: BaseException) -> str:
    """The last line of ours."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).is_relative_to(PACKAGE):
            return f"{Path(frame.filename).relative_to(PACKAGE)}:{frame.lineno} {frame.name}"
    return "outside of the package"
