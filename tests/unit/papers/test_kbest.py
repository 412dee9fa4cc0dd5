"""The experiment of the k-best paper from end to end, on a small generated corpus."""

from __future__ import annotations

import json
import re

import pytest
from papers.experiment import Options, with_generated
from papers.kbest import figures, report, training
from papers.kbest.plan import FULL, METHODS, QUICK, Plan
from papers.kbest.run import HERE, run
from papers.kbest.table1 import PAPER

from margent.metrics import mcnemar_test

TINY = Plan(
    corpora=("addresses",),
    n_train=60,
    n_test=30,
    ks=(1, 3),
    Cs=(0.01, 1.0),
    C_epochs=1,
    entity_epochs=(1, 2),
    folds=2,
    timed_epochs=2,
    reprocess=(0, 2),
    reprocess_train=30,
    repetitions=2,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kbest")
    return read(run(Options(out=folder), TINY)), folder


def read(written):
    assert written.name == "report.md"
    return json.loads(written.with_name("results.json").read_text())


def test_a_whole_run(results):
    found, folder = results
    methods = TINY.known_methods
    assert [(row["method"], row["k"]) for row in found["table"]] == [(m, k) for m in methods for k in (1, 3)]
    for row in found["table"]:
        assert 0 < row["token_f"] <= 1 and 0 < row["chunk_f"] <= 1
        assert row["epochs"] in TINY.epochs("addresses", row["method"])
        assert (row["C"] is None) == (row["method"] == "perceptron")
        assert (row["p"] is None) == (row["k"] == 1)
    assert len(found["times"]) == 2 * len(methods)
    assert len(found["larank"]) == (4 if "larank" in methods else 0)
    assert found["machine"]["commit"] and found["commits"]
    assert (folder / "figure2.png").stat().st_size > 1000
    text = (folder / "report.md").read_text()
    assert all(f"| {METHODS[method]} | 3 |" in text for method in methods)


def test_the_second_run_trains_nothing(results, monkeypatch):
    found, folder = results
    monkeypatch.setattr("papers.kbest.run.run_training", lambda task: pytest.fail(f"{task} was run again"))
    assert read(run(Options(out=folder), TINY)) == found


def test_a_killed_run_goes_on(results, tmp_path, monkeypatch):
    found, folder = results
    lines = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_text("".join(lines[: len(lines) // 2]) + lines[-1][:20])
    trained = []

    def counted(task):
        trained.append(task)
        return training.run_training(task)

    monkeypatch.setattr("papers.kbest.run.run_training", counted)
    again = read(run(Options(out=tmp_path), TINY))
    assert len(trained) == len(lines) - len(lines) // 2
    assert again["table"] == found["table"]


def test_other_features_are_other_tasks(results, monkeypatch):
    _, folder = results
    trained = []
    monkeypatch.setattr("papers.kbest.run.fingerprint", lambda name: "other")
    monkeypatch.setattr("papers.kbest.run.run_training", lambda task: trained.append(task) or pytest.skip("it was run"))
    with pytest.raises(pytest.skip.Exception):
        run(Options(out=folder), TINY)
    assert trained


def test_folds_share_out_the_training_data(monkeypatch):
    monkeypatch.setattr(training, "CROSS_VALIDATED", ("addresses",))
    everything = [tuple(x) for x in training.corpus("addresses").train.X[:60]]
    seen = []
    for fold in range(3):
        train, held = training.split("addresses", fold, 3, 60, None)
        assert sorted([*map(tuple, train.X), *map(tuple, held.X)]) == sorted(everything)
        assert len(train.y) == len(train.X) and len(held.X) == 20
        seen += map(tuple, held.X)
    assert sorted(seen) == sorted(everything)
    train, test = training.split("addresses", None, 3, 60, 5)
    assert (len(train.X), len(test.X)) == (60, 5)


def made_up(larank: bool) -> dict:
    """Results in which the claims of the paper hold for the perceptron on chunking, and not for SDM."""
    table = [
        {"corpus": "conll2000", "method": method, "k": k, "C": C, "epochs": 5, "token_f": f, "chunk_f": 0.9, "p": p}
        for method, k, C, f, p in (
            ("perceptron", 1, None, 0.95, None),
            ("perceptron", 5, None, 0.9612, 0.0004),
            ("sdm", 1, 0.1, 0.95, None),
            ("sdm", 5, 0.1, 0.94, 0.04),
        )
    ]
    times = [
        {"method": method, "k": k, "seconds": [s, s], "scores": [0.9, 0.91]}
        for method, k, s in (("perceptron", 5, 1.0), ("pa", 5, 1.2), ("rpa", 5, 1.3), ("mira", 5, 1.4), ("sdm", 5, 3.0))
    ]
    rows = [
        {"corpus": "conll2000", "k": k, "n_reprocess": n, "C": 1.0, "token_f": [f - 0.01, f + 0.01]}
        for k, n, f in ((1, 0, 0.8), (5, 0, 0.9), (1, 2, 0.91), (5, 2, 0.92))
    ]
    return {"table": table, "times": times, "larank": rows if larank else [], "commits": ["c"], "plan": vars(QUICK)}


def test_the_table_has_the_paper_beside_ours():
    text = report.parts(made_up(True))["table 1"]
    assert "### Shallow parsing (CoNLL-2000)" in text
    assert "| Perceptron | 5 |  | 5 | **96.12** | 95.92 | 90.00 | < 0.001 |" in text
    assert "| SDM | 1 | 0.1 | 5 | **95.00** | 96.06 | 90.00 |  |" in text
    assert "| SDM | 5 | 0.1 | 5 | 94.00 | 96.08 | 90.00 | 0.040 |" in text


def test_claims_are_decided_by_figures():
    rows = re.findall(r"\| (.*?) \| (held|did not hold) \| (.*?) \|", report.parts(made_up(True))["claims"])
    claims = {claim: (verdict, because) for claim, verdict, because in rows}
    assert claims["Shallow parsing (CoNLL-2000): best token F 96.10"] == ("held", "96.12 by Perceptron with k = 5")
    assert claims["every algorithm gains from k best over 1 best"][0] == "did not hold"
    assert claims["Perceptron: k best over 1 best is significant (McNemar, 0.05)"][0] == "held"
    assert claims["SDM: k best over 1 best is not significant (McNemar, 0.05)"][0] == "held"
    assert claims["k best is nowhere significantly worse than 1 best"] == (
        "did not hold",
        "of 2 rows these are: Shallow parsing (CoNLL-2000): SDM with k = 5 (-1.00)",
    )
    assert claims["the perceptron is slightly faster than PA: by up to 25%"][0] == "held"
    assert claims["perceptron, PA and MIRA take about as long: within 50%"][0] == "held"
    assert claims["RPA, which searches once more, is slower than PA"][0] == "held"
    assert claims["LaRank in one pass gains from k best, most with a low n_R"] == (
        "held",
        "mean gain 10.00 with n_R = 0, 1.00 with n_R = 2",
    )
    assert claims["a higher n_R is better"][0] == "held"


def test_a_method_that_is_much_faster_is_not_slightly_so():
    results = made_up(True)
    results["times"][1]["seconds"] = [1.6, 1.6]  # PA
    rows = re.findall(r"\| (.*?) \| (held|did not hold) \| (.*?) \|", report.parts(results)["claims"])
    claims = {claim: verdict for claim, verdict, _ in rows}
    assert claims["the perceptron is slightly faster than PA: by up to 25%"] == "did not hold"
    assert claims["perceptron, PA and MIRA take about as long: within 50%"] == "did not hold"


def test_plots_with_and_without_larank(tmp_path):
    figures.draw(made_up(False), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["figure2.png"]
    figures.draw(made_up(True), tmp_path)
    assert (tmp_path / "figure3.png").stat().st_size > 1000
    assert "Fig. 3 is missing" in report.parts(made_up(False))["figures"]
    assert "(results/figure3.png)" in report.parts(made_up(True), plots="results/")["figures"]


def test_mcnemar_on_right_and_wrong_tokens():
    first, second = "1101" * 20, "1011" * 19 + "1101"
    gold = [["x"] * 80]
    labels = ([["x" if c == "1" else "y" for c in side]] for side in (first, second))
    assert report.p_value(first, second) == mcnemar_test(gold, *labels).p_value == 1.0
    assert report.p_value("0" * 30, "1" * 30) < 1e-6


def test_the_readme_has_a_place_for_each_part():
    readme = (HERE / "README.md").read_text("utf-8")
    assert with_generated(readme, report.parts(made_up(True))) != readme


def test_the_plans_are_those_of_the_paper():
    assert FULL.ks == (1, 2, 5, 10) and FULL.Cs == (0.01, 0.1, 1, 10) and FULL.repetitions == 20
    assert FULL.epochs("conll2000", "pa") == (5, 10, 15, 20)
    assert FULL.epochs("conll2002-esp", "pa") == (5, 10, 15, 20, 30)
    assert max(f for ks in PAPER["conll2000"].values() for f in ks.values()) == 96.099
    assert max(f for ks in PAPER["conll2002-esp"].values() for f in ks.values()) == 76.741
