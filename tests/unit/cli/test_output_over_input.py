"""No command replaces what it reads, and none begins work whose result it could not write."""

from __future__ import annotations

import os

import pytest


@pytest.fixture
def files(folder, tmp_path):
    for name in ("train.txt", "model.margent"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    os.link(tmp_path / "train.txt", tmp_path / "linked.txt")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "train {0}/train.txt -m {0}/train.txt",
        "train {0}/train.txt -m {0}/linked.txt",
        "train {0}/model.margent --dev {0}/train.txt -m {0}/train.txt",
        "tag {0}/model.margent {0}/train.txt -o {0}/model.margent",
        "tag {0}/model.margent {0}/train.txt -o {0}/train.txt",
        "convert {0}/train.txt {0}/linked.txt",
        "calibrate {0}/model.margent {0}/train.txt -o {0}/train.txt",
        "tune {0}/train.txt -m {0}/train.txt --storage {0}/storage --search C=1,2",
    ],
)
def test_output_over_input_is_refused(margent, files, command):
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    done = margent(*command.format(files).split())
    assert done.status == 2 and "which is read: write to another file" in done.errors
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_a_model_is_written_to_a_regular_file(margent, files):
    done = margent("train", files / "train.txt", "-m", "/dev/null")
    assert done.status == 2 and "/dev/null is not a regular one" in done.errors


def test_nothing_that_is_read_is_replaced(fails, margent, folder, tmp_path):
    for name in ("train.txt", "dev.txt"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "templates.txt").write_text("U:%x[0,0]\nB\n")
    (tmp_path / "link.txt").symlink_to(tmp_path / "templates.txt")
    train, templates = tmp_path / "train.txt", tmp_path / "templates.txt"
    given = ("--dev", tmp_path / "dev.txt", "--template", templates, "--epochs", "1")
    for target in (train, tmp_path / "dev.txt", templates, tmp_path / "link.txt"):
        fails(2, f"{target} would replace", "train", train, "-m", target, *given)
    fails(2, "would replace", "convert", train, templates, "--to", "crfsuite", "--template", templates)
    assert margent("train", train, "-m", tmp_path / "m", *given).status == 0
    assert margent("train", train, "-m", tmp_path / "m", "--continue", tmp_path / "m", "--epochs", "1").status == 0
    fails(2, "would replace", "apply", tmp_path / "m", train, "-o", tmp_path / "m")
    assert templates.read_text() == "U:%x[0,0]\nB\n"
