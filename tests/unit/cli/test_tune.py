from __future__ import annotations

import json
import shlex

import pytest

import margent as library


@pytest.fixture
def tune(margent, folder, tmp_path):
    """Runs a small search in a folder of its own."""

    def run(*arguments):
        small = ("--jobs", 1, "--storage", tmp_path / "out", "--min-sentences", 50)
        return margent("tune", folder / "train.txt", *small, *map(str, arguments))

    return run


def test_from_file_to_model(tune, margent, folder, tmp_path):
    """The table, the files, the model; and the command that is printed trains the same model again."""
    search = ("--learner", "pa", "--search", "C=0.001..1:log", "epochs=1..3", "features=ner,generic", "order=1,2")
    model = tmp_path / "best.margent"
    outcome = tune("--folds", 2, "--trials", 6, "-m", model, *search)
    assert outcome.status == 0 and outcome.errors == ""
    assert "300 sentences (" in outcome.output and "2 folds of cross-validation" in outcome.output
    assert "6 trials" in outcome.output and "±" in outcome.output
    summary = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *("study.log", "results.json", "results.csv", "history.png", "importances.png", "slices.png")
    }
    tagger = library.load(model)
    best = summary["best_parameters"]
    assert tagger.learner == library.PassiveAggressive(C=best["C"], epochs=best["epochs"])
    assert (tagger.order, tagger.features) == (best["order"], best["features"])
    command = next(line.strip() for line in outcome.output.splitlines() if line.startswith("  margent train"))
    assert margent(*shlex.split(command)[1:]).status == 0
    again = library.load(model)
    assert (again.weights_.unigrams == tagger.weights_.unigrams).all() and again.order == tagger.order


def test_the_command_of_a_kernel(tune, margent, fails, folder, tmp_path):
    """Parameters of the kernel can be searched, and belong to the command that trains the best again."""
    model = tmp_path / "best.margent"
    kernel = ("--kernel", "polynomial", "--degree", 3, "--features", "pos")
    search = ("C=0.1", "epochs=1", "gamma=0.1", "window=1")
    outcome = tune("--folds", 2, "--search", *search, "-m", model, *kernel)
    command = next(line.strip() for line in outcome.output.splitlines() if line.startswith("  margent train"))
    tagger = library.load(model)
    model.unlink()
    assert margent(*shlex.split(command)[1:]).status == 0
    again = library.load(model)
    assert (
        again.features == tagger.features == library.Kernel("polynomial", degree=3, gamma=0.1, window=1, features="pos")
    )
    assert (again.weights_.unigrams == tagger.weights_.unigrams).all()
    message = "features is both given as an option and searched"
    fails(2, message, "tune", folder / "train.txt", "--kernel", "rbf", "--search", "features=ner,generic")
    message = "gamma is both given as an option and searched"
    fails(2, message, "tune", folder / "train.txt", "--kernel", "rbf", "--gamma", 1, "--search", "gamma=0.1..1")
    message = "gamma is not a parameter of the learner pa or of the model; expected one of epochs"
    fails(2, message, "tune", folder / "train.txt", "--search", "gamma=0.1..1")


def test_the_same_command_goes_on(tune, tmp_path):
    arguments = ("--folds", 2, "--search", "k=1,2", "epochs=1", "--json")
    first = json.loads(tune(*arguments).output)
    before = (tmp_path / "out" / "study.log").read_bytes()
    second = json.loads(tune(*arguments).output)
    for result in (first, second):
        for trial in result["trials"]:
            del trial["seconds"]
    assert first == second
    assert (tmp_path / "out" / "study.log").read_bytes().count(b"rungs") == before.count(
        b"rungs"
    )  # nothing was trained
    assert first["command"].startswith("margent train ")
    outcome = tune("--folds", 3, "--search", "k=1,2", "epochs=1")
    assert outcome.status == 1
    assert "holds another search, with other folds: choose another storage" in outcome.errors


def test_development_data_and_several_learners(tune, folder):
    outcome = tune("--dev", folder / "dev.txt", "--learner", "pa,perceptron", "--search", "C=0.1,1", "--epochs", 1)
    assert outcome.status == 0
    assert "60 sentences" in outcome.output and "to score on" in outcome.output
    assert "3 trials" in outcome.output and "±" not in outcome.output


def test_no_search_at_all(tune):
    summary = json.loads(tune("--folds", 2, "--learner", "pa", "--trials", 3, "--epochs", 1, "--json").output)
    assert len(summary["trials"]) == 3
    assert list(summary["best_parameters"]) == ["C", "k"]  # epochs is fixed


def test_a_template_file(tune, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("U:%x[0,0]\nB\n")
    outcome = tune("--folds", 2, "--search", f"features={file}", "constrain=yes", "epochs=1")
    assert f"--template {file}" in outcome.output and "--constrain" in outcome.output
    outcome = tune("--search", "features=ner", "--template", file)
    assert outcome.status == 2 and "features is both given as an option and searched" in outcome.errors


def test_failing_trials_are_told(tune, tmp_path, folder, margent):
    """Labels in no scheme, which cannot be constrained."""
    file = tmp_path / "plain.txt"
    file.write_text("the D\ncat N\n\na D\ndog N\n\n" * 5)
    small = ("--jobs", 1, "--folds", 2, "--epochs", 1)
    outcome = margent("tune", file, *small, "--search", "constrain=yes,no", "--storage", tmp_path / "out")
    assert outcome.status == 0
    assert "2 trials, 1 of them failed" in outcome.output
    assert "failed: constrain=True needs labels in a scheme" in outcome.output
    outcome = margent("tune", file, *small, "--search", "constrain=yes", "--storage", tmp_path / "other")
    assert outcome.status == 1 and "the only trial failed: constrain=True needs" in outcome.errors


def test_a_best_value_at_the_edge_is_told(tune):
    """Of the integers 1 and 2, each is at an edge."""
    search = ("--folds", 2, "--search", "k=1..2", "epochs=1", "--trials", 2)
    found = json.loads(tune(*search, "--json").output)
    k = found["best_parameters"]["k"]
    (note,) = found["notes"]
    assert note == f"the best k, {k}, lies at the {'lower' if k == 1 else 'upper'} edge of its range 1 to 2: widen it"
    outcome = tune(*search)
    assert f"note: {note}" in outcome.output and outcome.errors == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "--learner perceptron --search C=1",
            "C is not a parameter of the learner perceptron or of the model; expected one of",
        ),
        ("--learner pa,mira --search margin=1", "margin is not a parameter of the learners pa, mira or of the model"),
        ("--search k", "--search: expected NAME=VALUES such as k=1,2,5 or C=0.01..10:log, got 'k'"),
        ("--search k=1 train.txt", "got 'train.txt'; files go before --search"),
        ("--search k=", "expected NAME=VALUES"),
        ("--search k=1 k=2", "a parameter is given twice"),
        ("--search k=1,x", "k cannot be x in this search: k of PassiveAggressive should be"),
        ("--search k=1..2.5", "the range of k: a range of integers should have integers as its ends, got 1 to 2.5"),
        ("--search k=..2", "--search k: expected a range LOW..HIGH, LOW..HIGH:log"),
        ("--search k=5..1", "--search k: a range should go up, got 5 to 1"),
        ("--search C=0..1:log", "--search C: a range on the log scale should begin above 0"),
        ("--search C=0..1:lg", "--search C: expected a range LOW..HIGH, LOW..HIGH:log"),
        ("--search C=0..1:log:log", "--search C: expected a range"),
        (
            "--search average=maybe",
            "average cannot be maybe in this search: average of PassiveAggressive should be True or False",
        ),
        (
            "--search features=nothing",
            "features cannot be nothing in this search: features='nothing' is not known",
        ),
        ("--search k=1,2 --k 3", "k is both given as an option and searched: choose one"),
        ("--search order=1,2 --order 2", "order is both given as an option and searched"),
        ("--search features=ner --features pos", "features is both given as an option and searched"),
        ("--search order=1,2 --order 2", "order is both given as an option and searched"),
        ("--learner pa,pb", "argument --learner: invalid choice: 'pb' (choose from perceptron, pa"),
        ("--learner pa,mira --margin 1", "--margin is a parameter of perceptron; the learners are pa, mira"),
        ("--C 1 --k 1 --epochs 2", "the options leave nothing to search for the learner pa"),
        ("--learner perceptron,pa --k 2 --C 1 --epochs 1", "nothing to search for the learners perceptron, pa"),
        ("--patience 2", "patience watches development data"),
        ("--search patience=1,2", "patience watches development data"),
        ("--learner pa,crf --pair-cost A B 2", "the learner crf knows --label-costs, but not --pair-cost"),
        ("--storage /dev/null", "--storage must be a folder, and /dev/null is a file"),
        ("--dev a --folds 3", "not allowed with argument"),
        ("--halving 0", "expected an integer of at least 1, got '0'"),
    ],
)
def test_wrong_usage(fails, folder, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("margent.cli.tasks.tagger.TaggerTask.read", lambda *given: pytest.fail("data were read"))
    fails(2, message, "tune", folder / "train.txt", *arguments.split())


def test_a_learner_with_nothing_to_search_is_tried_as_it_is(tune):
    options = ("--folds", 2, "--learner", "perceptron,pa", "--k", 2, "--epochs", 1, "--trials", 3, "--json")
    summary = json.loads(tune(*options).output)
    tried = [trial["learner"] for trial in summary["trials"]]
    assert sorted(tried) == ["pa", "pa", "perceptron"]


def test_the_model_is_calibrated_on_development_data(tune, folder, tmp_path):
    options = ("--dev", folder / "dev.txt", "--search", "k=1", "--epochs", 1, "-m", tmp_path / "m")
    assert tune(*options).status == 0
    assert library.load(tmp_path / "m").calibrated_


def test_an_interruption_before_the_first_trial(tune, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("margent.tuning.study.Search.run_one", interrupted)
    outcome = tune("--folds", 2, "--search", "k=1,2")
    assert (outcome.status, outcome.errors) == (130, "interrupted: the same command continues from here\n")
