"""The experiments on spectral regularisation from end to end, on a small generated corpus."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from papers.experiment import Options, with_generated
from papers.spectral import figures, report, training, words
from papers.spectral.plan import FULL, METHODS, Plan
from papers.spectral.run import HERE, SOLVERS, run

# The values that are tried for the step include some that are too long for so few words.
pytestmark = pytest.mark.filterwarnings("ignore::margent.TrainingWarning")

TINY = Plan(
    methods=("spectral", "spectral-up-to-k", "l2", "none", "counts", "latent", "perceptron", "crf"),
    corpus="spelling",
    parts=(300, 100, 100),
    sizes=(100, 300),
    seeds=2,
    marked_sizes=(100,),
    marked_methods=("spectral", "crf"),
    path_size=100,
    path_taus={"nuclear": (20.0, 2.0), "frobenius": (30.0, 3.0)},
    path_iterations=5,
    solver_size=100,
    solver_iterations=8,
    noise=(1e-6, 1e-2),
    noise_trials=2,
    typo_sizes=(100,),
    typo_methods=("spectral", "none"),
    full_size=100,
    iterations=8,
    n_values=1,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spectral")
    return read(run(Options(out=folder), TINY)), folder


def read(written):
    assert written.name == "report.md"
    return json.loads(written.with_name("results.json").read_text())


def test_a_whole_run(results):
    found, folder = results
    assert [(row["n"], row["method"]) for row in found["curve"]] == [(n, m) for n in (100, 300) for m in TINY.methods]
    for row in found["curve"]:
        assert len(row["draws"]) == (2 if row["n"] == 100 else 1)  # with all words there is nothing to draw
        assert all(0.5 < value <= 1 for value in report.accuracies(row))
        for name, values in METHODS[row["method"]].grid.items():
            assert row["parameters"][name] == values[0]
        recovered = report.accuracies(row, "test-recovered")
        assert len(recovered) == (len(row["draws"]) if row["method"] == "spectral-up-to-k" else 0)
    assert [row["n"] for row in found["marked"]] == [100, 100]
    assert [row["method"] for row in found["typos"]] == ["spectral", "none"]
    assert [point["tau"] for point in found["path"]["nuclear"]] == [20.0, 2.0]
    assert list(found["solvers"]) == list(SOLVERS)
    assert all(len(solver["objectives"]) == 8 for solver in found["solvers"].values())
    assert found["full"]["seconds"] > 0 and found["full"]["megabytes"] > 10
    small, large = ([r["errors"] for r in found["noise"] if r["noise"] == noise] for noise in (1e-6, 1e-2))
    assert max(map(max, small)) < min(map(min, large))
    assert found["machine"]["commit"] and found["commits"]
    for name in ("curve", "typos", "path", "solvers", "noise"):
        assert (folder / f"{name}.png").stat().st_size > 1000
    text = (folder / "report.md").read_text()
    assert "| 300 | spectral, k-grams | tau=7, step=1000 |" in text and "| 300 | latent SVM | hidden=4 |" in text


def test_the_second_run_trains_nothing(results, monkeypatch):
    found, folder = results
    monkeypatch.setattr("papers.spectral.run.run_training", lambda task: pytest.fail(f"{task} was run again"))
    assert read(run(Options(out=folder), TINY)) == found


def test_only_the_last_trainings_look_at_test_data(results):
    _, folder = results
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    for line in lines:
        if line["task"]["part"] == "words":
            assert ("test" in line["result"]) == line["task"]["test"]
    kinds = [line["task"].get("test", False) for line in lines if line["task"].get("marks") is False]
    assert kinds == sorted(kinds)  # within the curve, everything is chosen before


def test_parts_of_the_words_do_not_overlap():
    parts = words.split("spelling", (300, 100, 100), 300, 0, False)
    assert [len(part.X) for part in parts] == [300, 100, 100]
    corpus = words.corpus("spelling")
    drawn = [words.split("spelling", (300, 100, 100), 50, seed, False) for seed in (0, 1)]
    assert drawn[0].train != drawn[1].train and drawn[0].test == drawn[1].test == parts.test
    assert Counter(map(tuple, parts.train.X + parts.dev.X + parts.test.X)) <= Counter(map(tuple, corpus.X))
    marked = words.split("spelling", (300, 100, 100), 50, 0, True)
    assert [["#", *x, "#"] for x in drawn[0].train.X] == marked.train.X
    assert marked.train.y == [["#", *y, "#"] for y in drawn[0].train.y]
    with pytest.raises(ValueError, match="the corpus spelling has 600 words; expected 700 at least"):
        words.split("spelling", (500, 100, 100), 50, 0, False)


def test_typos_are_neighbours_on_the_keyboard():
    right = [list("hello"), list("world")] * 200
    wrong = words.with_typos(right, seed=0)
    assert wrong.y == right
    pairs = {(a, b) for x, y in zip(*wrong) for a, b in zip(x, y)}
    assert {a for a, b in pairs if b == "h"} == {"g", "h", "j"}
    assert {a for a, b in pairs if b == "l"} == {"k", "l"}  # it is the last of its row
    share = sum(a != b for x, y in zip(*wrong) for a, b in zip(x, y)) / 2000
    assert 0.08 < share < 0.25


def test_features_are_pieces_of_trigrams_within_the_word():
    first, second = training.trigram_features(["c", "a"])
    assert first == {"0=c": 1.0, "1=a": 1.0, "0/1=ca": 1.0}
    assert second == {"0=a": 1.0, "-1=c": 1.0, "-1/0=ca": 1.0}


def test_marks_do_not_count():
    given = words.Words([["#", "a", "b", "#"], ["#", "a", "#"]], [["#", "A", "B", "#"], ["#", "A", "#"]])
    found = training._right([["#", "A", "A", "#"], ["x", "A", "x"]], given)
    assert found == {"letters": 3, "right": 2, "words": 2, "whole": 1}


def made_up():
    """Results in which spectral beats all others but the perceptron at 15,000 words."""

    def row(method, n, right):
        draw = {"letters": 1000, "right": right, "words": 100, "whole": 50}
        draws = [{"dev": draw, "test": draw, "rank": 7, "seconds": 1.0}] * 2
        parameters = {name: values[0] for name, values in METHODS[method].grid.items()}
        return {"method": method, "n": n, "parameters": parameters, "draws": draws}

    small = [row("spectral", 2000, 846), row("l2", 2000, 831), row("none", 2000, 828)]
    large = [row("spectral", 15000, 904), row("crf", 15000, 900), row("perceptron", 15000, 909)]
    point = {"accuracy": 0.8, "sequence_accuracy": 0.3, "rank": 7, "size": 100, "tau": 1.0}
    return {
        "plan": vars(FULL),
        "curve": [*small, *large],
        "marked": large,
        "typos": small[:1],
        "path": {"nuclear": [point], "frobenius": [{**point, "accuracy": 0.81, "rank": None}]},
        "solvers": {name: {"seconds": [1.0, 2.0], "objectives": [9.0, 8.0]} for name in SOLVERS},
        "noise": [{"length": 3, "noise": 0.1, "errors": [0.1, 0.2]}],
        "full": {"seconds": 400.0, "iterations": 80, "megabytes": 500.0},
        "commits": ["c"],
    }


def test_claims_are_decided_by_figures():
    rows = re.findall(r"\| (.*?) \| (held|did not hold) \| (.*?) \|", report.parts(made_up())["claims"])
    claims = {claim: (verdict, because) for claim, verdict, because in rows}
    held, because = claims["2,000 words: spectral beats the unregularised scores by 1.5 points"]
    assert held == "held" and because == "84.60 (spectral, k-grams) against 82.80 % of the letters"
    assert claims["2,000 words: spectral beats L2"][0] == "held"
    assert claims["15,000 words: spectral is at least as good as the CRF"][0] == "held"
    assert claims["15,000 words: spectral is at least as good as the perceptron"][0] == "did not hold"
    assert claims["the best tau of the spectral path beats that of L2"][0] == "did not hold"
    assert claims["one training with all words takes less than five minutes"][0] == "did not hold"


def test_plots_and_pages(tmp_path):
    figures.draw(made_up(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 5
    readme = (HERE / "README.md").read_text("utf-8")
    assert with_generated(readme, report.parts(made_up(), plots="results/")) != readme


def test_the_plan_is_that_of_the_paper():
    assert FULL.parts == (15000, 1034, 3974) and len(FULL.sizes) == 6 and FULL.sizes[-1] == 15000
    assert set(FULL.methods) == set(METHODS) and FULL.seeds == 3
