"""`margent reproduce`: names, folders and messages; the experiments have tests of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from papers.kbest import best
from papers.kbest import run as kbest

ROOT = Path(__file__).parents[3]


def test_list(margent):
    lines = margent("reproduce", "--papers", ROOT / "papers").output.splitlines()
    about = {line.split()[0]: line for line in lines}
    known = {"hmsvm", "kbest", "kbest/best", "latent/beam", "latent/hidden", "semi-markov", "spectral"}
    assert known <= set(about)
    assert "Hidden Markov Support" in about["hmsvm"] and "k-Best Max-margin Approaches" in about["kbest"]


def test_another_run_in_the_folder_of_a_paper(tmp_path):
    from margent.cli.reproduce import _names

    (tmp_path / "papers" / "kbest").mkdir(parents=True)
    for name, text in (
        ("run", "def run(options: Options) -> Path:\n"),
        ("best", "x = 1\n\n\ndef run(options: Options) -> Path:\n"),
        ("plan", "def run_more():\n"),
    ):
        (tmp_path / "papers" / "kbest" / f"{name}.py").write_text(f"\n{text}")
    assert _names(tmp_path / "papers") == {"kbest": "papers.kbest.run", "kbest/best": "papers.kbest.best"}


def test_options_reach_the_experiment(margent, tmp_path, monkeypatch):
    given = []

    def run(options):
        given.append(options)
        path = options.folder(tmp_path) / "report.md"
        path.write_text("# the report\n")
        return path

    monkeypatch.setattr(kbest, "run", run)
    monkeypatch.setattr(best, "run", run)
    out = tmp_path / "out"
    outcome = margent("reproduce", "kbest", "--quick", "--out", out, "--jobs", 3, "--data", tmp_path)
    assert outcome.status == 0 and "# the report" in outcome.output and "out" in outcome.output.splitlines()[-1]
    assert len(given) == 2  # a paper with all its experiments
    for options in given:
        assert (options.quick, options.out, options.jobs, options.data) == (True, out, 3, tmp_path)
    assert margent("reproduce", "kbest/best", "--quick", "--out", out, "--data", tmp_path).status == 0
    assert len(given) == 3


def test_unknown_name(fails):
    fails(2, "there is no paper 'moon' in", "reproduce", "moon")
    fails(2, "expected one of hmsvm, kbest", "reproduce", "moon")


def test_timit_is_for_one_paper(fails, tmp_path):
    fails(2, "--timit is for the paper semi-markov, not for kbest", "reproduce", "kbest", "--timit", tmp_path)
    fails(2, "is not a folder", "reproduce", "semi-markov", "--timit", tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["nowhere", "papers"])
def test_wrong_folder(fails, tmp_path, name):
    (tmp_path / "papers").mkdir()
    message = "--papers: expected the folder papers of Margent's repository, got"
    fails(2, message, "reproduce", "kbest", "--papers", tmp_path / name)


def test_without_the_repository(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("margent.cli.reproduce.__file__", str(tmp_path / "a" / "b" / "c" / "reproduce.py"))
    fails(2, "run this in a copy of the repository, or say where it is with --papers DIR", "reproduce", "kbest")


def test_missing_data(fails, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    for data in ("data", "data2"):
        (tmp_path / data).mkdir()
    out = tmp_path / "out"
    message = "found no file train.txt (plain or .gz) in"
    fails(1, message, "reproduce", "kbest", "--data", tmp_path / "data", "--out", out)
    assert not out.exists()
    fails(2, "is not a folder", "reproduce", "kbest", "--data", tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    fails(2, "--out must be a folder, and", "reproduce", "kbest", "--out", tmp_path / "file")
    monkeypatch.delenv("MARGENT_DATA", raising=False)
    fails(1, "expected the folder of the data sets in data_home or in the environment", "reproduce", "kbest")
