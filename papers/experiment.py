"""What all experiments share: results that outlive a killed run, all processors at work, generated parts of a page."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.page import with_generated as with_generated

from margent import strict_json
from margent.datasets import Dataset, Part, make_addresses
from margent.errors import CorpusError
from margent.formats import Columns
from margent.line_file import LineFile
from margent.metrics import drawing
from margent.processes import Processes, first_interrupt
from margent.tuning.fingerprint import fingerprint

Task = dict[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """What `margent reproduce` was told. `out`: where results go; None: the folder `results` of the paper. `timit`: the
    folder of that corpus."""

    quick: bool = False
    out: Path | None = None
    jobs: int = 1
    data: Path | None = None
    timit: Path | None = None

    def folder(self, paper: Path) -> Path:
        """Where results go; a quick run never replaces a full one."""
        folder = self.out or paper / ("results-quick" if self.quick else "results")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def environment(self) -> Any:
        """The loaders of this process and of those it starts look for data where the user said."""
        told = {"MARGENT_DATA": self.data, "MARGENT_TIMIT": self.timit}
        before = {name: os.environ.get(name) for name in told}
        os.environ.update({name: str(path) for name, path in told.items() if path is not None})
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name, None)
                if value is not None:
                    os.environ[name] = value


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
        self._file = LineFile(path)
        for number, line in enumerate(self._file.lines, 1):
            try:
                entry = strict_json.decode(line)
                self._known[_key(entry["task"])] = entry["result"], entry["commit"]
            except (ValueError, TypeError, KeyError):
                raise _foreign(path, number) from None
        begin = b'{"task":'
        if not self._file.rest.startswith(begin[: len(self._file.rest)]):
            raise _foreign(path, len(self._file.lines) + 1)

    def result(self, task: Task) -> Result | None:
        found = self._known.get(_key(task))
        if found is None:
            return None
        self.commits.add(found[1])
        return found[0]

    def add(self, task: Task, result: Result) -> None:
        self._file.write({"task": task, "result": result, "commit": self._commit})
        self._known[_key(task)] = result, self._commit


def _foreign(path: Path, line: int) -> CorpusError:
    return CorpusError(f"{path}, line {line}: expected a result of an experiment in JSON")


def _key(task: Task) -> str:
    return json.dumps(task, sort_keys=True)


def data_fingerprint(data: Dataset) -> str:
    """Of all sentences and labels, so that results with other data are not taken for results with these."""
    parts = [part for part in (data.train, data.dev, data.test) if part is not None]
    return fingerprint(*(side for part in parts for side in (part.X, part.y)))[:12]


def generated_addresses(train: int, dev: int | None, test: int) -> Dataset:
    """So many sentences each, so that an experiment on words can be tried without data."""
    parts = [
        None if n is None else Part(*(Columns.from_sentences(side) for side in make_addresses(n, seed=n)))
        for n in (train, dev, test)
    ]
    assert parts[0] is not None
    return Dataset("addresses", parts[0], *parts[1:], description="Generated addresses.", terms="")


def run_tasks(
    function: Callable[[Task], Result], tasks: Sequence[Task], journal: Journal, *, jobs: int, title: str
) -> list[Result]:
    """`function(task)` for each task, those in the journal left out, in `jobs` processes; results in order of tasks.

    `function` must be at the top of a module, as other processes import it. Ctrl-C ends the run when the tasks under
    way are done or, pressed again, at once; the journal has what was finished.
    """
    missing = [task for task in {_key(t): t for t in tasks}.values() if journal.result(task) is None]
    workers = min(jobs, len(missing))
    stopped = False
    with _Progress(title, total=len(tasks), done=len(tasks) - len(missing)) as progress:

        def stop() -> None:
            nonlocal stopped
            stopped = True
            under_way = min(workers, progress.missing)
            progress.say(f"finishing {under_way} training{'s' * (under_way != 1)}; Ctrl-C again stops at once")

        with first_interrupt(stop):
            for task, result in _results(function, missing, workers, lambda: stopped):
                journal.add(task, result)
                progress.advance()
    if stopped:
        raise KeyboardInterrupt
    results = [journal.result(task) for task in tasks]
    return [result for result in results if result is not None]


def _results(
    function: Callable[[Task], Result], tasks: Sequence[Task], jobs: int, stopped: Callable[[], bool]
) -> Iterator[tuple[Task, Result]]:
    if jobs > 1:
        with Processes(jobs) as processes:
            yield from processes.results(function, tasks, stopped)
        return
    for task in tasks:
        if stopped():
            return
        yield task, function(task)


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
            self._say_done()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self) -> None:
        before, self._done = self._done, self._done + 1
        if self._bar is not None:
            self._bar.update(self._row, completed=self._done)
        elif 10 * before // self._total < 10 * self._done // self._total:
            self._say_done()

    @property
    def missing(self) -> int:
        return self._total - self._done

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)  # above the bar, which catches the stream

    def _say_done(self) -> None:
        self.say(f"{self._title}: {self._done} of {self._total}")


def write_json(path: Path, content: Any) -> None:
    """With machine, versions and commit beside it, as a new file that takes the place of the old.

    Lists of numbers are lines of their own, so that a file of thousands can still be looked at.
    """
    text = json.dumps({"machine": describe_machine(), **content}, indent=1)
    text = re.sub(r"\[[-+.,\deE\s]*\]", lambda numbers: re.sub(r"\s+", " ", numbers[0]), text)
    beside = path.with_suffix(".new")
    beside.write_text(text + "\n", encoding="utf-8")
    beside.replace(path)


def publish(
    experiment: Callable[[Any, Options], Any],
    plan: Any,
    options: Options,
    *,
    report: Any,
    figures: Any,
    full: Path | None,
) -> Path:
    """Runs what is missing of a plan, and writes results.json, report.md and the plots into the output folder.

    `experiment(plan, options)` has `results()` and the `folder`. `report` and `figures` are modules of the paper:
    `report.parts(results, plots=...)` gives texts by the names of their places, `report.page(parts)` all of them as a
    page, `figures.draw(results, folder)` the plots. `full`: the page whose generated parts a run in its default place
    renews; None: there is none for this plan. Gives the path of report.md.
    """
    figures.check()  # before hours of training, not after them
    with options.environment():
        run = experiment(plan, options)
        results = run.results()
    write_json(run.folder / "results.json", results)
    written = run.folder / "report.md"
    written.write_text(report.page(report.parts(results)), encoding="utf-8")
    figures.draw(results, run.folder)
    if full is not None and options.out is None:
        text = with_generated(full.read_text("utf-8"), report.parts(results, plots="results/"))
        full.write_text(text, encoding="utf-8")
    return Path(written)


def run_part(
    name: str,
    part: Any,
    options: Options,
    plan: Any = None,
    *,
    title: str,
    caption: str,
    long: Sequence[str] = (),
    jobs: int | None = None,
) -> Path:
    """Runs what is missing of one of several experiments of a paper, and publishes it (`publish_part`).

    `part`: its module, with plans FULL and QUICK, of which `options` chooses, `tasks(plan)`, `measure(task)`, and
    `report(rows)` and `draw(rows, path)` of the tasks with their results; a full run in its default place renews a part
    of README.md beside it. `long`: results that stay in the journal, as they are long. `jobs`: where it must not be
    what the user said, as times are measured.
    """
    plan = plan or (part.QUICK if options.quick else part.FULL)
    new_figure(1)  # a missing matplotlib is found before the work, not after it
    here = Path(part.__file__).parent
    folder = options.folder(here)
    journal = Journal(folder / f"{name}-journal.jsonl")
    with options.environment():
        planned = part.tasks(plan)
        found = run_tasks(part.measure, planned, journal, jobs=jobs or options.jobs, title=title)
    rows = [{**task, **result} for task, result in zip(planned, found)]
    shown = [{key: value for key, value in row.items() if key not in long} for row in rows]
    results = {"plan": asdict(plan), "results": shown, "commits": sorted(journal.commits)}
    page = here / "README.md" if options.out is None and plan == part.FULL else None
    return publish_part(name, results, part.report(rows), partial(part.draw, rows), caption, folder, page)


def publish_part(
    name: str, results: Result, text: str, draw: Callable[[Path], None], caption: str, folder: Path, page: Path | None
) -> Path:
    """As `publish`, for one of several experiments: NAME.json, NAME.md, NAME.png, and the part NAME of a page."""
    write_json(folder / f"{name}.json", results)
    draw(folder / f"{name}.png")
    written = folder / f"{name}.md"
    written.write_text(f"{text}\n![{caption}]({name}.png)\n", encoding="utf-8")
    if page is not None:
        parts = {name: f"{text}\n![{caption}](results/{name}.png)\n"}
        page.write_text(with_generated(page.read_text("utf-8"), parts), encoding="utf-8")
    return written


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> str:
    """A table in Markdown; the first `left` columns are text, the others numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows))


def new_figure(columns: int, *, width: float = 5.2, height: float = 3.8) -> tuple[Any, list[Any]]:
    """An empty figure of matplotlib with so many panels side by side, and its panels."""
    figure = drawing.new_figure(width * columns, height)
    panels = list(figure.subplots(1, columns, squeeze=False)[0])
    for axes in panels:
        drawing.quieten(axes)
    return figure, panels
