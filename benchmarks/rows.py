"""Results that are a table of rows, which may be measured one at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.page import with_generated

DOCS = Path(__file__).resolve().parents[1] / "docs"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows that were measured so far."""
    if not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["rows"]
    return rows


def add_row(path: Path, row: dict[str, Any], key: Sequence[str]) -> None:
    """Puts a row in place of the one with the same values of `key`, or after all others."""
    rows = rows_of(path)
    same = [i for i, other in enumerate(rows) if all(other[name] == row[name] for name in key)]
    if same:
        rows[same[0]] = row
    else:
        rows.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
    new.replace(path)


def publish(page: str, name: str, table: str) -> None:
    """Puts the table into a page of docs/, where it has `<!-- generated: NAME -->`."""
    path = DOCS / page
    path.write_text(with_generated(path.read_text("utf-8"), {name: table}), encoding="utf-8")
