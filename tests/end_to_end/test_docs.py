"""The documentation is true: its code runs, its links lead somewhere, its examples give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import margent

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINKING = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
MODULES = [m.name for m in pkgutil.walk_packages(margent.__path__, "margent.") if not m.name.endswith("__main__")]

FENCE = re.compile(r"^(`{3,}|~{3,})\s*(\w*)")
NOT_RUN = re.compile(r"^<!-- not run: \S.* -->$")
REPORTS = sorted((ROOT / "papers").rglob("*.md"))
FILE = re.compile(r"`((?:core|docs|src|tests|papers|benchmarks)/[\w/.-]+\.\w+)`")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


class Block(NamedTuple):
    language: str
    line: int
    code: str
    run: bool


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page; `line` is that of the opening fence, counted from 1."""
    lines = text.splitlines()
    i = 0
    while i < len(lines):
        opening = FENCE.match(lines[i])
        if opening is None:
            i += 1
            continue
        closing = next((j for j in range(i + 1, len(lines)) if lines[j].rstrip() == opening[1]), None)
        assert closing is not None, f"the block that begins in line {i + 1} does not end"
        run = i == 0 or NOT_RUN.match(lines[i - 1].strip()) is None
        yield Block(opening[2], i + 1, "\n".join(lines[i + 1 : closing]), run)
        i = closing + 1


def prose(page: Path) -> str:
    """The page without its blocks of code: there brackets and # mean something else."""
    return re.sub(r"(?ms)^(`{3,}|~{3,}).*?^\1\s*$", "", page.read_text("utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and most other renderers make them."""
    headings = re.findall(r"^#+ +(.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_code_of_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block, from top to bottom in one namespace, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace: dict[str, object] = {"__name__": page.stem}
    for block in blocks(page.read_text("utf-8")):
        if block.language == "python" and block.run:
            # Empty lines before the code make a traceback name the line of the page.
            exec(compile("\n" * block.line + block.code, name(page), "exec"), namespace)


@pytest.mark.parametrize("page", LINKING, ids=name)
def test_links_resolve(page: Path) -> None:
    broken = []
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert not broken


@pytest.mark.parametrize("page", [*LINKING, *REPORTS], ids=name)
def test_files_that_are_named_exist(page: Path) -> None:
    assert not [path for path in FILE.findall(page.read_text("utf-8")) if not (ROOT / path).exists()]


def test_every_page_is_in_the_table_of_contents() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / target.partition("#")[0]).resolve() for target in LINK.findall(prose(index))}
    missing = [name(page) for page in PAGES if page.parent != ROOT and page != index and page.resolve() not in linked]
    assert not missing


def test_the_design_names_every_package_and_module() -> None:
    layout = re.search(r"(?ms)^## Layout$.*?^## ", (ROOT / "docs" / "design.md").read_text("utf-8"))
    assert layout is not None
    there = [path.name for path in (ROOT / "src" / "margent").iterdir() if path.is_dir() or path.suffix == ".py"]
    assert len(there) > 20
    assert not [each for each in there if not each.startswith("__") and each not in layout[0]]


@pytest.mark.parametrize("module", ["margent", *MODULES])
def test_examples_in_docstrings(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    result = doctest.testmod(importlib.import_module(module), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_a_block_is_left_out_only_with_a_reason() -> None:
    page = (
        "<!-- not run: needs a GPU -->\n```python\na\n```\n\n```python\nb\n```\n<!-- not run: -->\n```python\nc\n```\n"
    )
    assert [(block.code, block.run) for block in blocks(page)] == [("a", False), ("b", True), ("c", True)]
