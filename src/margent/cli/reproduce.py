"""`margent reproduce`: rerun the experiments of a paper."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from pathlib import Path
from typing import Any

from margent.cli.command_line import UsageError
from margent.cli.options import integer

_EXAMPLES = """\
examples:
  margent reproduce                       lists the papers
  margent reproduce kbest --quick         minutes: part of the data and of the settings
  margent reproduce kbest                 everything; after Ctrl-C, the same command resumes
  margent reproduce kbest --out /tmp/kbest --jobs 4
  margent reproduce latent                all experiments of this paper; latent/g2p is one of them
  margent reproduce semi-markov --timit /corpora/TIMIT

The experiments are part of Margent's repository, not of the installed package.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Rerun the experiments of a paper; tables and plots show the paper's figures next to ours."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("name", metavar="NAME", nargs="?", help="the paper; without it, the names are listed")
    add("--quick", action="store_true", help="a small version that shows that everything works")
    add("--out", metavar="DIR", help="for results and plots (default: papers/NAME/results, or results-quick there)")
    add("--jobs", type=integer(1), metavar="N", help="simultaneous trainings (default: one per processor)")
    add("--data", metavar="DIR", help="folder of the data sets (default: as MARGENT_DATA says)")
    add("--timit", metavar="DIR", help="semi-markov: use TIMIT, as in the paper, from this folder")
    add("--papers", metavar="DIR", help="the folder papers of Margent's repository (default: looked for)")


def run(arguments: argparse.Namespace) -> int:
    from margent.processors import processor_count

    papers = _papers_folder(arguments.papers)
    names = _names(papers)
    if arguments.name is None:
        for name, module in names.items():
            about = (_imported(papers, module.removesuffix(".run")).__doc__ or "").partition("\n")[0]
            print(f"{name:16}{about}")
        return 0
    parts = [name for name in names if name == arguments.name or name.startswith(f"{arguments.name}/")]
    if not parts:
        raise UsageError(f"there is no paper {arguments.name!r} in {papers}; expected one of {', '.join(names)}")
    if arguments.data is not None and not Path(arguments.data).is_dir():
        raise UsageError(f"--data: {arguments.data} is not a folder")
    if arguments.timit is not None and arguments.name != "semi-markov":
        raise UsageError(f"--timit is for the paper semi-markov, not for {arguments.name}")
    if arguments.timit is not None and not Path(arguments.timit).is_dir():
        raise UsageError(f"--timit: {arguments.timit} is not a folder")
    if arguments.out is not None and os.path.exists(arguments.out) and not os.path.isdir(arguments.out):
        raise UsageError(f"--out must be a folder, and {arguments.out} is a file")
    options = _imported(papers, "papers.experiment").Options(
        quick=arguments.quick,
        out=None if arguments.out is None else Path(arguments.out),
        jobs=arguments.jobs or processor_count(),
        data=None if arguments.data is None else Path(arguments.data).resolve(),
        timit=None if arguments.timit is None else Path(arguments.timit).resolve(),
    )
    for name in parts:
        report: Path = _imported(papers, names[name]).run(options)
        print(report.read_text(encoding="utf-8"))
        print(f"Tables, plots and figures are in {os.path.relpath(report.parent)}.")
    return 0


def _names(papers: Path) -> dict[str, str]:
    """NAME for papers/NAME/run.py, and NAME/OTHER for each other file there that has a function `run(options)`.

    A folder is named as Python needs it, with `_` where NAME has `-`.
    """
    found = {}
    for path in sorted(papers.glob("*/*.py"), key=lambda path: (path.parent, path.stem != "run", path.stem)):
        if path.stem == "run" or "\ndef run(options: Options" in path.read_text(encoding="utf-8"):
            paper = path.parent.name.replace("_", "-")
            found[paper if path.stem == "run" else f"{paper}/{path.stem}"] = f"papers.{path.parent.name}.{path.stem}"
    return found


def _papers_folder(given: str | None) -> Path:
    """The folder given; else that of the working folder or one above it; else that of the source of this package."""
    if given is not None:
        folder = Path(given).resolve()
        if folder.name != "papers" or not (folder / "experiment.py").is_file():
            raise UsageError(f"--papers: expected the folder papers of Margent's repository, got {given}")
        return folder
    here = Path.cwd()
    for root in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (root / "papers" / "experiment.py").is_file():
            return root / "papers"
    raise UsageError(
        "the experiments are in the folder papers of Margent's repository, which is not a part of the installed "
        "package: run this in a copy of the repository, or say where it is with --papers DIR"
    )


def _imported(papers: Path, name: str) -> Any:
    """A module of the repository. The processes that it starts inherit the search path."""
    if str(papers.parent) not in sys.path:
        sys.path.insert(0, str(papers.parent))
    return importlib.import_module(name)
