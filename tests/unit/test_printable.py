"""Control characters never reach a terminal raw, wherever labels, tokens and messages are shown."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from margent import CRF, Perceptron, Tagger
from margent.cli import main
from margent.formats import write_columns
from margent.learners import HiddenMarkovSVM
from margent.metrics import span_scores, token_scores
from margent.metrics.report import classification_table, rich_table
from margent.printable import printable, printable_json

EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2J\x7f\x08"
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
X = [[f"w{EVIL}", "dog"], ["dog", "cat"]] * 4
Y = [[f"A{EVIL}", "B"], ["B", "C"]] * 4


def test_text() -> None:
    assert printable("tab\tline\nümläut ‰ 日本 👍") == "tab\tline\nümläut ‰ 日本 👍"
    assert printable("a\x1b[0m\r\x00\x9b") == r"a\x1b[0m\r\x00\x9b"
    every = "".join(map(chr, range(0x300)))
    assert not CONTROLS.search(printable(every)) and not CONTROLS.search(printable_json(json.dumps(every)))
    assert json.loads(printable_json(json.dumps(every, ensure_ascii=False))) == every


def test_reports_and_explanations() -> None:
    from io import StringIO

    from rich.console import Console

    tagger = Tagger(["U:%x[0,0]", "B"], HiddenMarkovSVM()).fit(X, Y, progress=False)
    shown = [str(why) for why in tagger.explain(X[0])] + [str(tagger.support_sequences(0))]
    wrong = [[f"C{EVIL}", "B"], ["C", "C"]] * 4
    spans = [[f"B-{label}" for label in labels] for labels in Y]
    for report in (token_scores(Y, wrong), span_scores(spans, spans)):
        console = Console(file=StringIO(), width=200, color_system=None)
        console.print(rich_table(report))
        shown += [classification_table(report), str(report), console.file.getvalue()]  # type: ignore[attr-defined]
    assert any(r"\x1b[31mred" in text for text in shown)
    for text in shown:
        assert not CONTROLS.search(text), text


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    write_columns(folder / "train.txt", X, Y)
    Tagger(["U:%x[0,0]", "B"], CRF(epochs=5)).fit(X, Y, progress=False).save(folder / "m.margent")
    return folder


COMMANDS: list[list[str]] = [
    ["train", "train.txt", "--dev", "train.txt", "-m", "new.margent", "--learner", "perceptron"],
    ["train", "train.txt", "--dev", "train.txt", "-m", "new.margent", "--json"],
    ["evaluate", "m.margent", "train.txt"],
    ["evaluate", "m.margent", "train.txt", "--json"],
    ["evaluate", "m.margent", "train.txt", "--confusion"],
    ["inspect", "m.margent"],
    ["inspect", "m.margent", "--json"],
    ["inspect", "m.margent", "--label", f"Z{EVIL}"],
    ["explain", "m.margent", "train.txt", "--columns", "0"],
    ["calibrate", "m.margent", "train.txt", "-o", "c.margent"],
    ["apply", f"no such {EVIL}.margent", "train.txt"],
    ["evaluate", "m.margent", f"no such {EVIL}"],
    ["train", "train.txt", "-m", "new.margent", "--scheme", "iob2"],
    [EVIL],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: printable(" ".join(command)))
def test_commands(
    command: list[str], files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    status = main(command)
    output, errors = capsys.readouterr()
    assert output or errors
    assert not CONTROLS.search(output) and not CONTROLS.search(errors), (status, output, errors)
    if "--json" in command:
        assert json.loads(output)


def test_what_is_applied_is_shown_on_a_terminal_and_given_to_a_file(files: Path, monkeypatch: Any) -> None:
    import pty
    import subprocess
    import sys

    monkeypatch.chdir(files)
    command = [sys.executable, "-m", "margent", "apply", "m.margent", "train.txt", "--columns", "0"]
    main([*command[3:], "-o", "out.txt"])
    assert EVIL in (files / "out.txt").read_text(encoding="utf-8")
    leader, follower = pty.openpty()
    process = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL)
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 4096)
        except OSError:  # its other end is closed
            break
        if not piece:
            break
        shown += piece
    assert process.wait() == 0
    os.close(leader)
    text = shown.decode().replace("\r\n", "\n")
    assert r"\x1b[31mred" in text and not CONTROLS.search(text)


def test_learners_show_labels_in_messages() -> None:
    with pytest.raises(ValueError, match="there is no label") as caught:
        Tagger(["U:%x[0,0]"], Perceptron(epochs=1)).fit(X, Y, progress=False).top_features(EVIL)
    assert "\x1b" not in printable(str(caught.value))
