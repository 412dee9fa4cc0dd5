from __future__ import annotations

import csv
import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import margent
from margent import CorpusError, MargentError, Range, Tagger, make_addresses, tune
from margent.tuning.fingerprint import fingerprint
from margent.tuning.plot import _place
from margent.tuning.problem import Outcome, Problem, Task, make_problem
from margent.tuning.space import SearchSpace
from margent.tuning.workers import Workers

X, Y = make_addresses(90, seed=0)
SPACE = {"C": Range(1e-4, 1, log=True), "epochs": [1, 2]}
SMALL = {"folds": 2, "trials": 6, "min_sentences": 10, "seed": 1, "jobs": 1}
PA = Tagger(learner="pa")


def timeless(result):
    """All that a search found, but for the time it took."""
    return [replace(trial, seconds=0.0) for trial in result.trials]


@pytest.fixture(scope="module")
def plain():
    return tune(PA, X, Y, SPACE, **SMALL)


@pytest.fixture
def evaluated(monkeypatch):
    """The tasks that are evaluated, with scores of our own where `score` is set."""
    evaluate = Problem.evaluate

    class Evaluated(list[Task]):
        score = None

    tasks = Evaluated()

    def fake(self, task, stop=lambda: False):
        tasks.append(task)
        if tasks.score is None:
            return evaluate(self, task, stop)
        return Outcome(tasks.score(task), 1.0)

    monkeypatch.setattr(Problem, "evaluate", fake)
    return tasks


def test_the_result(plain):
    assert len(plain.trials) == 6 and not plain.interrupted
    assert [len(trial.rungs) for trial in plain.trials] == [2, 2, 1, 1, 1, 1]
    last = [trial.score for trial in plain.trials[:2]]
    assert last == sorted(last, reverse=True)
    assert plain.best_score == plain.best.score == last[0]
    assert plain.best.sentences == 45 and plain.best.standard_error > 0
    assert list(plain.best_parameters) == ["C", "epochs"]
    tagger = plain.best_tagger()
    assert tagger.get_params()["learner__C"] == plain.best_parameters["C"]
    assert tagger.threads is None and tagger.scheme is None
    assert tagger.fit(X, Y).score(X, Y) > 0.5


def test_same_seed_same_result_for_any_number_of_jobs(plain):
    assert timeless(tune(PA, X, Y, SPACE, **{**SMALL, "jobs": 2})) == timeless(plain)
    other = tune(PA, X, Y, SPACE, **{**SMALL, "seed": 2})
    assert [trial.parameters for trial in other.trials] != [trial.parameters for trial in plain.trials]


def test_the_order_in_which_trials_finish_does_not_matter(plain, monkeypatch):
    outcomes = Workers.outcomes
    monkeypatch.setattr(Workers, "outcomes", lambda self, tasks: reversed(list(outcomes(self, tasks))))
    assert timeless(tune(PA, X, Y, SPACE, **SMALL)) == timeless(plain)


def test_a_search_goes_on_where_it_was_stopped(plain, evaluated, tmp_path):
    assert timeless(tune(PA, X, Y, SPACE, **SMALL, folder=tmp_path)) == timeless(plain)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(evaluated) == len(lines) - 1 == 6 * 2 + 2 * 2
    for kept, rest in ((0, b""), (0, lines[0][:50]), (1, b""), (6, lines[6][:-1]), (13, lines[13][:3]), (17, b"")):
        journal.write_bytes(b"".join(lines[:kept]) + rest)
        evaluated.clear()
        assert timeless(tune(PA, X, Y, SPACE, **SMALL, folder=tmp_path)) == timeless(plain)
        assert len(evaluated) == 16 - max(kept - 1, 0)


def test_ctrl_c_keeps_what_was_done(plain, evaluated, tmp_path, monkeypatch):
    counted = Problem.evaluate

    def interrupted(self, task, stop=lambda: False):
        if len(evaluated) == 5:
            raise KeyboardInterrupt
        return counted(self, task, stop)

    with monkeypatch.context() as patch:
        patch.setattr(Problem, "evaluate", interrupted)
        result = tune(PA, X, Y, SPACE, **SMALL, folder=tmp_path)
    assert result.interrupted and len(result.trials) == 2  # of the third, only one of two folds is done
    assert result.best.score == max(trial.score for trial in result.trials)
    assert json.loads((tmp_path / "results.json").read_text())["interrupted"] is True
    result = tune(PA, X, Y, SPACE, **SMALL, folder=tmp_path)
    assert timeless(result) == timeless(plain) and len(evaluated) == 16


def test_ctrl_c_before_anything_is_done(monkeypatch):
    def interrupted(self, task, stop=lambda: False):
        raise KeyboardInterrupt

    monkeypatch.setattr(Problem, "evaluate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(PA, X, Y, SPACE, **SMALL)


def test_ctrl_c_that_a_training_caught_ends_the_search(monkeypatch):
    fit = Tagger.fit

    def interrupted(self, *arguments, **options):
        fit(self, *arguments, **options)
        self.model_ = replace(self.model_, interrupted=True)
        return self

    monkeypatch.setattr(Tagger, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        tune(PA, X, Y, SPACE, **SMALL)


@pytest.mark.parametrize(
    ("change", "what"),
    [({"seed": 2}, "seed"), ({"trials": 5}, "trials"), ({"folds": 3}, "folds"), ({"X": X[:-1], "y": Y[:-1]}, "data")],
)
def test_another_search_in_the_same_folder_is_refused(evaluated, tmp_path, change, what):
    evaluated.score = lambda task: 0.5
    arguments = {"X": X, "y": Y, "space": SPACE, **SMALL, "folder": tmp_path}
    tune(PA, **arguments)
    with pytest.raises(MargentError, match=f"holds another search, with other {what}: choose another folder"):
        tune(PA, **{**arguments, **change})


def test_the_right_trials_climb(evaluated):
    """Nine candidates on three rungs: a late bloomer wins if it is good enough to survive, ties go to the first."""
    early = [0.3, 0.5, 0.5, 0.5, 0.2, 0.9, 0.4, 0.1, 0.6]
    evaluated.score = lambda task: early[task.trial] if task.sentences < 30 else 1 - early[task.trial]
    space = {"C": [1, 2, 3, 4, 5, 6, 7, 8, 9]}
    result = tune(PA, X[:72], Y[:72], space, folds=2, halving=2, min_sentences=1, jobs=1)
    by_rung = {}
    for task in evaluated:
        by_rung.setdefault(task.sentences, set()).add(task.trial)
    assert by_rung == {9: set(range(9)), 18: {5, 8, 1, 2}, 36: {5, 8}}
    assert [trial.number for trial in result.trials] == [8, 5, 1, 2, 3, 6, 0, 4, 7]
    assert result.best_parameters == {"C": 9} and result.best_score == pytest.approx(0.4)
    assert [rung.sentences for rung in result.best.rungs] == [9, 18, 36]


def test_a_trial_that_fails_does_not_end_the_search(tmp_path):
    result = tune(PA, X, Y, {"C": [-1, 1], "epochs": 1}, folds=2, jobs=1, folder=tmp_path)
    assert result.best_parameters == {"C": 1, "epochs": 1}
    assert result.trials[-1].error == "C of PassiveAggressive should be a number above 0, got -1"
    assert result.trials[-1].score is None
    assert "2 trials, 1 of them failed" in result.table()
    again = tune(PA, X, Y, {"C": [-1, 1], "epochs": 1}, folds=2, jobs=1, folder=tmp_path)
    assert timeless(again) == timeless(result)
    with pytest.raises(MargentError, match="the only trial failed: C of PassiveAggressive"):
        _ = tune(PA, X, Y, {"C": [-1]}, folds=2, jobs=1).best_parameters


def test_what_matters_is_found():
    """The label follows from the two before it, and from nothing else: order 2 is right, order 1 cannot be."""
    random = np.random.default_rng(0)
    pattern = ["A", "A", "B", "B"] * 8
    starts = random.integers(0, 4, 60)
    labels = [pattern[start : start + 20] for start in starts]
    sentences = [[f"begin{start}", *["x"] * 19] for start in starts]
    result = tune(Tagger(), sentences, labels, {"order": [1, 2], "epochs": [1, 5]}, folds=3, jobs=1)
    assert result.best_parameters["order"] == 2
    assert result.best_score > 0.95 > 0.8 > result.trials[-1].score
    assert result.trials[-1].parameters["order"] == 1


def test_development_data(evaluated):
    result = tune(PA, X[:60], Y[:60], {"C": [1e-6, 1]}, X_dev=X[60:], y_dev=Y[60:], jobs=1)
    assert {task.fold for task in evaluated} == {0} and {task.sentences for task in evaluated} == {60}
    assert result.best.standard_error is None
    assert result.best_score == result.best_tagger().fit(X[:60], Y[:60]).score(X[60:], Y[60:])


def problem_of(tagger=PA, folds=3, **options):
    candidates = SearchSpace(tagger, {"k": [1]}).candidates(None, 0)
    return make_problem(tagger, candidates, X, Y, options.get("X_dev"), options.get("y_dev"), folds, 0)


def test_folds_cut_the_data():
    problem = problem_of(folds=4)
    tested = []
    for fold in range(4):
        learnt, test = problem.parts(Task(0, problem.n_sentences, fold))
        assert not set(learnt) & set(test)
        assert len(learnt) == problem.n_sentences == 67
        fewer, same = problem.parts(Task(0, 10, fold))
        assert len(fewer) == 10 and set(fewer) < set(learnt) and (same == test).all()
        tested += test.tolist()
    assert sorted(tested) == list(range(90))


def test_the_score_is_that_of_the_tagger():
    problem = problem_of()
    learnt, tested = problem.parts(Task(0, 60, 1))
    tagger = Tagger(learner="pa", scheme="iob2").set_params(learner__k=1)
    tagger.fit([X[i] for i in learnt], [Y[i] for i in learnt])
    assert problem.evaluate(Task(0, 60, 1)).score == tagger.score([X[i] for i in tested], [Y[i] for i in tested])


def test_labels_that_a_small_part_lacks_are_no_obstacle():
    tagger = Tagger(learner="pa", label_costs={"B-NAME": 2.0, "O": 0.5}, constrain=[("B-NAME", "O"), (None, "O")])
    only = next(i for i, labels in enumerate(Y) if "B-NAME" not in labels)
    problem = replace(problem_of(tagger), X_test=X[:5], y_test=Y[:5], order=np.array([only]), ends=np.array([0, 1]))
    assert problem.evaluate(Task(0, 1, 0)).error is None
    with pytest.raises(ValueError, match="label_costs names 'B-NAM'"):
        problem_of(Tagger(label_costs={"B-NAM": 2.0}))
    with pytest.raises(ValueError, match="constrain names the label 'B-NAM'"):
        problem_of(Tagger(constrain=[("B-NAM", "O")]))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"tagger": "pa"}, TypeError, "tune needs a Tagger to begin with, got 'pa'"),
        ({"folds": 1}, ValueError, "folds should be a whole number of at least 2, got 1"),
        ({"halving": 0}, ValueError, "halving should be a whole number of at least 1, got 0"),
        ({"trials": 0}, ValueError, "trials should be a whole number of at least 1 or None, got 0"),
        ({"jobs": 0}, ValueError, "jobs should be a whole number of at least 1 or None, got 0"),
        ({"seed": -1}, ValueError, "seed should be a whole number of at least 0, got -1"),
        ({"X": X[:3], "y": Y[:3]}, CorpusError, "5 folds need at least 5 sentences, and there are 3"),
        ({"y": Y[:-1]}, CorpusError, "found labels for 89 sentences, expected them for 90"),
        ({"y": None}, CorpusError, "labels are missing"),
        ({"y_dev": Y}, CorpusError, "y_dev was given without X_dev"),
        ({"X_dev": [], "y_dev": []}, CorpusError, "nothing to score on"),
        ({"y": [[None] * len(s) for s in X]}, CorpusError, "nothing to learn from"),
        ({"tagger": Tagger(learner="pa", order=0)}, ValueError, "order of Tagger should be"),
    ],
)
def test_wrong_arguments(change, error, message):
    with pytest.raises(error, match=message):
        tune(**{"tagger": PA, "X": X, "y": Y, "space": SPACE, "jobs": 1, **change})


def test_functions_that_cannot_be_sent():
    tagger = Tagger(features=lambda sentence: [{"w": word} for word in sentence], learner="pa")
    with pytest.raises(ValueError, match=r"cannot be sent to other processes .* use jobs=1"):
        tune(tagger, X, Y, {"C": [1]}, folds=2, jobs=2)
    assert tune(tagger, X, Y, {"C": [1]}, folds=2, jobs=1).best_score > 0


def test_a_script_without_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import margent\n"
        "X, y = margent.make_addresses(30, seed=0)\n"
        "margent.tune(margent.Tagger(), X, y, {'epochs': [1]}, folds=2, jobs=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert 'a script does its work outside of `if __name__ == "__main__":`' in done.stderr


def test_files(plain, tmp_path):
    plain.save(tmp_path)
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["trial"]) for row in rows] == [trial.number for trial in plain.trials]
    assert [float(row["score"]) for row in rows] == [trial.score for trial in plain.trials]
    assert list(rows[0])[:4] == ["rank", "trial", "C", "epochs"]
    summary = json.loads((tmp_path / "results.json").read_text())
    assert summary["best_parameters"] == plain.best_parameters
    assert summary["trials"][0]["rungs"][-1]["score"] == plain.best_score


def test_table(plain):
    lines = plain.table(top=3).splitlines()
    assert lines[0].split() == ["trial", "C", "epochs", "sentences", "score", "seconds"]
    assert len(lines) == 2 + 3 + 1
    best = plain.best
    assert f"{100 * best.score:.2f} ± {100 * best.standard_error:.2f}" in lines[2]


def test_numbers_of_all_kinds_are_sorted_by_value():
    values = [10, 0.5, None, "a", True, 2]
    assert sorted(values, key=_place) == [None, 0.5, 2, 10, True, "a"]


def test_plot(plain, tmp_path):
    figure = plain.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 5000
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_xlabel() for axes in shown] == ["training sentences", "C", "epochs"]
    mixed = tune(Tagger(), X[:20], Y[:20], {"features": ["ner", None], "constrain": [True, False]}, folds=2, jobs=1)
    assert [axes.get_xlabel() for axes in mixed.plot().axes][1:3] == ["features", "constrain"]
    failed = tune(PA, X, Y, {"C": [-1]}, folds=2, jobs=1)
    with pytest.raises(CorpusError, match="no trial of the search has a score"):
        failed.plot()


def test_data_of_every_kind():
    columns = margent.Columns.from_sentences(X)
    attributes = [[{"word": word} for word in sentence] for sentence in X]
    vectors = [np.array([[len(word), word.isdigit()] for word in sentence], dtype=float) for sentence in X]
    matrix = margent.TokenMatrix(np.concatenate(vectors), [len(sentence) for sentence in X])
    for data in (columns, attributes, vectors, matrix):
        result = tune(PA, data, Y, {"epochs": [1]}, folds=2, jobs=1)
        assert result.best.error is None and 0 < result.best_score <= 1
    labelled = margent.Columns.from_sentences([list(zip(*pair)) for pair in zip(X, Y)])
    assert tune(PA, labelled, space={"epochs": [1]}, folds=2, jobs=1).best_score > 0


def test_fingerprints():
    arrays = [np.zeros((2, 2)), np.zeros((1, 4))]
    assert fingerprint(X, Y) == fingerprint(margent.Columns.from_sentences(X), list(Y))
    different = [fingerprint(X, Y), fingerprint(Y, X), fingerprint(X, None), fingerprint(X, [])]
    different += [fingerprint(arrays), fingerprint(arrays[::-1]), fingerprint([arrays[0]]), fingerprint([["a b"]])]
    different += [fingerprint([["a", "b"]]), fingerprint([["a"], ["b"]]), fingerprint([["a"]], [["b"]])]
    assert len(set(different)) == len(different) - 1  # nothing is nothing


def test_progress_is_shown_when_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich then takes any file for a terminal
    monkeypatch.setenv("COLUMNS", "120")
    tune(PA, X, Y, {"C": [1, 2]}, folds=2, jobs=1, progress=True)
    assert "rung 1 of 1: 2 trials on 45 sentences" in capsys.readouterr().err
    tune(PA, X, Y, {"C": [1, 2]}, folds=2, jobs=1)
    assert capsys.readouterr().err == ""
