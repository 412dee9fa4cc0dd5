"""A file of JSON lines that a process writes while it works: what it had written is there after it was killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from margent import strict_json


class LineFile:
    """Lines are written at once and whole or not at all: a last line that was cut short is dropped.

    Nothing is changed before the first `write`: a file that turns out to be someone else's stays as it is.

    lines : list of bytes, what the file holds
    rest : bytes, the beginning of a line that was cut short
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        content = path.read_bytes() if path.exists() else b""
        self._whole = content.rfind(b"\n") + 1
        self.lines = content[: self._whole].splitlines()
        self.rest = content[self._whole :]

    def write(self, line: dict[str, Any]) -> None:
        with self.path.open("ab") as file:
            if self.rest:
                file.truncate(self._whole)
                self.rest = b""
            file.write(strict_json.encode(line) + b"\n")
