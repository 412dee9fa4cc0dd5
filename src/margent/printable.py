"""Text as a terminal should get it: what a label or token holds must not move the cursor, or do worse."""

from __future__ import annotations

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    r"""The text with control characters, but for line ends and tabs, written as Python writes them.

    >>> print(printable("B-\x1b[31mX"))
    B-\x1b[31mX
    """
    return _CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def printable_json(text: str) -> str:
    r"""The same for JSON, which `\u009b` stays.

    >>> print(printable_json('{"label": "\x9b31m"}'))
    {"label": "\u009b31m"}
    """
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
