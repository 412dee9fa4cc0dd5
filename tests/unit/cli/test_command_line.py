"""The program as a whole: help, version, wrong usage, and what it imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from margent import __version__
from margent.cli.command_line import COMMANDS


def test_help_names_every_command(margent):
    outcome = margent("--help")
    assert outcome.status == 0
    assert all(name in outcome.output for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(margent, command):
    outcome = margent(command, "--help")
    assert outcome.status == 0
    assert "examples:" in outcome.output
    assert f"  margent {command}" in outcome.output or f"margent {command}" in outcome.output


def test_version(margent):
    assert margent("--version").output == f"margent {__version__}\n"


def test_wrong_usage(fails):
    fails(2, "COMMAND")
    fails(2, "'fly'", "fly")
    fails(2, "MODEL", "tag")
    fails(2, "--wings", "demo", "--wings")
    fails(2, "--ep", "train", "x", "-m", "y", "--ep", "3")  # options are not guessed from their beginnings


def test_debug_shows_where_it_failed(margent, tmp_path):
    with pytest.raises(FileNotFoundError):
        margent("tag", tmp_path / "nothing.margent", "--debug")
    with pytest.raises(FileNotFoundError):
        margent("--debug", "tag", tmp_path / "nothing.margent")


def test_unexpected_errors_are_one_line_too(fails, monkeypatch):
    def broken(arguments):
        raise KeyError("seven\nlines")

    monkeypatch.setattr("margent.cli.templates.run", broken)
    fails(1, "unexpected KeyError", "templates")


def test_interruption(margent, monkeypatch):
    def interrupted(arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("margent.cli.templates.run", interrupted)
    outcome = margent("templates")
    assert outcome.status == 130
    assert outcome.errors.count("\n") == 1


def _modules(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_help_imports_nothing_heavy():
    assert "numpy" not in _modules("from margent.cli import main; main(['--help'])")


def test_tagging_imports_nothing_heavy(folder):
    arguments = ["tag", str(folder / "model.margent"), str(folder / "one.txt")]
    modules = _modules(f"from margent.cli import main; assert main({arguments!r}) == 0")
    assert "margent.models.tagger.tagger" in modules
    assert not modules & {"rich", "sklearn", "scipy", "matplotlib"}
