"""The program as people run it: processes, pipes, signals."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from margent.datasets import make_addresses
from margent.formats import write_columns

MARGENT = [sys.executable, "-m", "margent"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command-line")
    for name, n, seed in (("train", 500, 1), ("dev", 100, 2), ("test", 100, 3)):
        write_columns(folder / f"{name}.txt", *make_addresses(n, seed=seed))
    run(folder, "train train.txt --dev dev.txt -m model.margent --epochs 5")
    return folder


def run(folder: Path, arguments: str, status: int = 0, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([*MARGENT, *shlex.split(arguments)], cwd=folder, capture_output=True, text=True, **options)
    assert done.returncode == status, done
    return done


def test_train_tag_evaluate(folder):
    tagged = run(folder, "tag model.margent test.txt").stdout
    report = run(folder, "evaluate", input=tagged).stdout
    assert report.startswith("processed ")
    assert float(report.split("FB1:")[1].split()[0]) > 80
    (folder / "tagged.txt").write_text(tagged, encoding="utf-8")
    assert run(folder, "evaluate test.txt tagged.txt").stdout == report


def test_a_sentence_is_answered_before_the_next_is_asked(folder):
    command = [*MARGENT, "tag", "model.margent"]
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        for words in (["Rue", "de", "Paris"], ["12"], ["Main", "Street"]):
            process.stdin.write("\n".join(words) + "\n\n")
            process.stdin.flush()
            answer = [process.stdout.readline().split() for _ in range(len(words) + 1)]
            assert [row[0] for row in answer[:-1]] == words
            assert answer[-1] == []
        process.stdin.close()
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a process of its own there")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_keep_the_best_model(folder, number, status):
    command = [*MARGENT, "train", "train.txt", "--dev", "dev.txt", "-m", "interrupted.margent", "--epochs", "1000000"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            if line.split()[:1] == ["2"]:
                process.send_signal(number)
                break
        rest, errors = process.communicate()
    assert process.returncode == status, errors
    assert "interrupted" in rest and "saved interrupted.margent" in rest
    assert run(folder, "tag interrupted.margent test.txt").stdout


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a process of its own there")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_while_waiting_for_input(folder, number, status):
    """The file that is being written goes."""
    written = folder / f"written-{status}"
    written.mkdir()
    command = [*MARGENT, "tag", "model.margent", "-o", written / "tagged.txt"]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write("Rue\n\n")
        process.stdin.flush()
        while not list(written.iterdir()):
            time.sleep(0.01)
        process.send_signal(number)
        errors = process.stderr.read()
    assert process.returncode == status
    assert errors == "margent: error: interrupted\n"
    assert not list(written.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a process of its own there")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_and_sigterm_in_a_search_which_then_goes_on(folder, number, status):
    """As on a terminal, the signal goes to the workers too; none of them is left behind or complains."""
    search = "tune test.txt --learner pa --search C=0.1,1 k=1,5 --epochs 20 --folds 5 --jobs 2 --storage"
    stopped_in, straight_in = f"stopped-{status}", f"straight-{status}"
    command = [*MARGENT, *search.split(), stopped_in]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        study = folder / stopped_in / "study.log"
        while process.poll() is None and not (study.exists() and b'"rungs"' in study.read_bytes()):
            time.sleep(0.01)
        os.killpg(process.pid, number)
        output, errors = process.communicate()
    assert process.returncode == status, (output, errors)
    assert errors == "interrupted: the same command continues from here\n"
    done = study.read_bytes()
    assert 1 <= done.count(b'"rungs"') < 4
    run(folder, f"{search} {stopped_in}")
    assert study.read_bytes().startswith(done) and study.read_bytes().count(b'"rungs"') == 4  # nothing twice
    run(folder, f"{search} {straight_in} --jobs 1")
    folders = (folder / stopped_in, folder / straight_in)
    stopped, straight = (json.loads((each / "results.json").read_bytes()) for each in folders)
    for trial in (*stopped["trials"], *straight["trials"]):
        del trial["seconds"]
    assert stopped == straight


def test_a_reader_that_goes_away_is_no_error(folder):
    write_columns(folder / "long.txt", *make_addresses(20_000, seed=4))
    command = [*MARGENT, "tag", "model.margent", "long.txt"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, "")


def test_a_reader_that_goes_away_does_not_stop_the_training(folder):
    command = [*MARGENT, "train", "train.txt", "-m", "unwatched.margent", "--epochs", "30"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        errors = process.stderr.read()
    assert (process.returncode, errors) == (0, "")
    assert (folder / "unwatched.margent").exists()


def test_failures_are_one_line_without_traceback(folder):
    for arguments, status in (("tag nothing.margent", 1), ("train nothing.txt -m m", 1), ("fly", 2), ("", 2)):
        done = run(folder, arguments, status)
        assert done.stderr.startswith("margent: error: ") and done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert "Traceback" in run(folder, "--debug tag nothing.margent", 1).stderr


def test_what_the_demo_says_to_type_works(tmp_path):
    output = run(tmp_path, "demo").stdout
    commands = [line for line in output.splitlines() if line.startswith(shlex.quote(sys.executable))]
    assert len(commands) == 5
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout and not done.stderr, done
    again = run(tmp_path, "demo").stdout
    assert _without_seconds(again) == _without_seconds(output)


def _without_seconds(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("Trained ")]
