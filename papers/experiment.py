"""What all experiments share: results that outlive a killed run, all processors at work, generated parts of a page."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from benchmarks.machine import describe_machine

from margent.errors import CorpusError, MissingExtraError

Task = dict[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What `margent reproduce` was told. `out`: where results go; None: the folder `results` of the paper."""

    quick: bool = False
    out: Path | None = None
    jobs: int = 1
    data: Path | None = None

    def folder(self, paper: Path) -> Path:
        """Where results go; a quick run never takes the place of a full one."""
        folder = self.out or paper / ("results-quick" if self.quick else "results")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def environment(self) -> Any:
        """The loaders of this process and of those it starts look for data where the user said."""
        before = os.environ.get("MARGENT_DATA")
        if self.data is not None:
            os.environ["MARGENT_DATA"] = str(self.data)
        try:
            yield
        finally:
            if self.data is not None:
                os.environ.pop("MARGENT_DATA")
                if before is not None:
                    os.environ["MARGENT_DATA"] = before


class Journal:
    """Results of finished tasks, a line of JSON each: what a killed run has finished, the next need not do again.

    A task is known by its description, so a changed setting is a new task. Each line says with which commit it was
    made; `commits` are those of the results that were used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.commits: set[str] = set()
        self._commit = str(describe_machine()["commit"])
        self._known: dict[str, tuple[Result, str]] = {}
        if path.exists():
            content = path.read_bytes()
            whole = content.rfind(b"\n") + 1
            for number, line in enumerate(content[:whole].splitlines(), 1):
                try:
                    entry = json.loads(line)
                    self._known[_key(entry["task"])] = entry["result"], entry["commit"]
                except (ValueError, TypeError, KeyError):
                    raise CorpusError(f"{path}, line {number}: expected a result of an experiment in JSON") from None
            if whole < len(content):  # the run was killed while it wrote the last line
                os.truncate(path, whole)

    def result(self, task: Task) -> Result | None:
        found = self._known.get(_key(task))
        if found is None:
            return None
        self.commits.add(found[1])
        return found[0]

    def add(self, task: Task, result: Result) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"task": task, "result": result, "commit": self._commit}) + "\n")
        self._known[_key(task)] = result, self._commit


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


def run_tasks(
    function: Callable[[Task], Result], tasks: Sequence[Task], journal: Journal, *, jobs: int, title: str
) -> list[Result]:
    """`function(task)` for each task, those in the journal left out, in `jobs` processes; results in order of tasks.

    `function` must be at the top of a module, as other processes import it. Ctrl-C ends the run when the tasks under
    way are done or, pressed again, at once; the journal has what was finished.
    """
    missing = [task for task in {_key(t): t for t in tasks}.values() if journal.result(task) is None]
    with _Progress(title, total=len(tasks), done=len(tasks) - len(missing)) as progress:
        if jobs == 1:
            for task in missing:
                journal.add(task, function(task))
                progress.advance()
        elif missing:
            workers = min(jobs, len(missing))
            with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_with_parent) as pool:
                running = {pool.submit(function, task): task for task in missing}
                try:
                    for future in as_completed(running):
                        journal.add(running[future], future.result())
                        progress.advance()
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    raise
    results = [journal.result(task) for task in tasks]
    return [result for result in results if result is not None]


def _end_with_parent() -> None:
    """Let no process go on working for a run that was killed."""
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()


class _Progress:
    """A bar on a terminal; elsewhere a line at the start and at each tenth, on standard error."""

    def __init__(self, title: str, *, total: int, done: int) -> None:
        self._title, self._total, self._done = title, total, done
        self._bar: Any = None
        if sys.stderr.isatty() and done < total:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._row = self._bar.add_task(title, total=total, completed=done)

    def __enter__(self) -> _Progress:
        if self._bar is not None:
            self._bar.start()
        else:
            self._say()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self) -> None:
        before, self._done = self._done, self._done + 1
        if self._bar is not None:
            self._bar.update(self._row, completed=self._done)
        elif 10 * before // self._total < 10 * self._done // self._total:
            self._say()

    def _say(self) -> None:
        print(f"{self._title}: {self._done} of {self._total}", file=sys.stderr, flush=True)


def write_json(path: Path, content: Any) -> None:
    """With machine, versions and commit beside it, as a new file that takes the place of the old."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps({"machine": describe_machine(), **content}, indent=1) + "\n", encoding="utf-8")
    beside.replace(path)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table in Markdown; the first `left` columns are text, the others numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows))


def with_generated(page: str, parts: dict[str, str]) -> str:
    """The page with what stands between `<!-- generated: NAME -->` and `<!-- end -->` replaced by `parts[NAME]`."""
    for name, text in parts.items():
        begin, end = f"<!-- generated: {name} -->", "<!-- end -->"
        pattern = re.compile(rf"({re.escape(begin)}\n).*?({re.escape(end)})", re.DOTALL)
        page, count = pattern.subn(lambda match, text=text: f"{match[1]}\n{text.strip()}\n\n{match[2]}", page)
        if count != 1:
            raise CorpusError(f"expected one part '{begin}' to '{end}' in the page, found {count}")
    return page


def new_figure(columns: int, *, width: float = 5.2, height: float = 3.8) -> tuple[Any, list[Any]]:
    """An empty figure of matplotlib with so many panels side by side, and its panels."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("plots need matplotlib; install it with: pip install 'margent[plot]'") from error
    figure = Figure(figsize=(width * columns, height), dpi=150, layout="constrained")
    panels = list(figure.subplots(1, columns, squeeze=False)[0])
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#d9d9d9", linewidth=0.6)
        axes.set_axisbelow(True)
    return figure, panels
