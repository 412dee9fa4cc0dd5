from __future__ import annotations

import csv
import json
import subprocess
import sys
import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import margent
from margent import (
    CorpusError,
    MargentError,
    MissingExtraError,
    Range,
    SearchWarning,
    SegmentCosts,
    Segmenter,
    Tagger,
    Transcriber,
    make_addresses,
    tune,
)
from margent.tuning.fingerprint import fingerprint
from margent.tuning.problem import Stopped, TuningProblem, make_problem

X, Y = make_addresses(90, seed=0)
SPACE = {"C": Range(1e-4, 1, log=True), "epochs": [1, 2]}
SMALL = {"folds": 2, "trials": 9, "min_sentences": 10, "seed": 1, "jobs": 1}
PA = Tagger(learner=margent.PassiveAggressive())


def timeless(result):
    """All that a search found, but for the time it took."""
    return [replace(trial, seconds=0.0) for trial in result.trials]


@pytest.fixture(scope="module")
def plain():
    return tune(PA, X, Y, SPACE, **SMALL)


@pytest.fixture
def scored(monkeypatch):
    """The evaluations (model, size, fold), with scores of our own where `score` is set."""
    score = TuningProblem.score

    class Scored(list):
        score = None

    calls = Scored()

    def fake(self, model, size, fold, stop=lambda: False):
        calls.append((model, size, fold))
        return score(self, model, size, fold, stop) if calls.score is None else calls.score(model, size)

    monkeypatch.setattr(TuningProblem, "score", fake)
    return calls


def test_the_result(plain):
    assert len(plain.trials) == 9 and not plain.interrupted and plain.resource == "sentences"
    reached = [trial.amount for trial in plain.trials]
    assert reached == sorted(reached, reverse=True) and set(reached) == {45, 15}
    last = [trial.score for trial in plain.trials if trial.amount == 45]
    assert last == sorted(last, reverse=True) and len(last) < 9
    assert plain.best_score == plain.best.score == last[0]
    assert [rung.amount for rung in plain.best.rungs] == [15, 45] and plain.best.standard_error > 0
    assert list(plain.best_parameters) == ["C", "epochs"]
    tagger = plain.best_model()
    assert tagger.get_params()["learner__C"] == plain.best_parameters["C"]
    assert tagger.threads is None and tagger.scheme is None
    assert tagger.fit(X, Y).score(X, Y) > 0.5
    assert plain.study.best_value == plain.best_score


def test_same_seed_same_result(plain):
    assert timeless(tune(PA, X, Y, SPACE, **SMALL)) == timeless(plain)
    other = tune(PA, X, Y, SPACE, **{**SMALL, "seed": 2})
    assert [trial.parameters for trial in other.trials] != [trial.parameters for trial in plain.trials]


@pytest.mark.parametrize("sampler", ["random", "grid"])
def test_the_same_candidates_for_any_number_of_jobs(sampler):
    space = {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1], "epochs": [1, 2]} if sampler == "grid" else SPACE
    found = [tune(PA, X, Y, space, **{**SMALL, "jobs": jobs, "halving": 1}, sampler=sampler) for jobs in (1, 2)]
    assert timeless(found[0]) == timeless(found[1]) and len(found[0].trials) == 9


def test_tpe_learns_where_good_values_are(scored):
    """The score falls with the distance of C from 0.1: later candidates of TPE are nearer than those of chance."""
    scored.score = lambda model, size: 1 / (1 + np.log10(model.learner.C / 0.1) ** 2)
    distance = {}
    for sampler in ("tpe", "random"):
        result = tune(
            PA, X, Y, {"C": Range(1e-5, 1e3, log=True)}, folds=2, trials=40, sampler=sampler, halving=1, jobs=1
        )
        late = [abs(np.log10(trial.parameters["C"] / 0.1)) for trial in result.trials if trial.number >= 20]
        distance[sampler] = np.mean(late)
    assert distance["tpe"] < 0.7 * distance["random"]


def test_what_tpe_suggests_again_is_not_trained_again(scored):
    scored.score = lambda model, size: model.learner.k / 10
    result = tune(PA, X, Y, {"k": [1, 2, 3, 4, 5, 6, 7, 8]}, folds=2, trials=7, halving=1, jobs=1)
    assert len(result.trials) == 7 == len({trial.parameters["k"] for trial in result.trials})
    assert len(scored) == 14


def cut(scored, monkeypatch, n, error=KeyboardInterrupt):
    """Ends the search instead of evaluation n."""
    counted = TuningProblem.score

    def interrupted(self, *arguments):
        if len(scored) == n:
            raise error
        return counted(self, *arguments)

    monkeypatch.setattr(TuningProblem, "score", interrupted)


@pytest.mark.parametrize("n", [1, 5, 9, 14])
def test_a_search_goes_on_where_it_was_stopped(plain, scored, tmp_path, monkeypatch, n):
    """After Ctrl-C the same call goes on, from the rung that the trial had reached, to the same result."""
    tune(PA, X, Y, SPACE, **SMALL)
    total = len(scored)
    scored.clear()
    with monkeypatch.context() as patch:
        cut(scored, patch, n)
        try:
            result = tune(PA, X, Y, SPACE, **SMALL, storage=tmp_path)
            assert result.interrupted and 0 < len(result.trials) < 9
            assert json.loads((tmp_path / "results.json").read_text())["interrupted"] is True
        except KeyboardInterrupt:
            assert n == 1
    assert timeless(tune(PA, X, Y, SPACE, **SMALL, storage=tmp_path)) == timeless(plain)
    assert len(scored) <= total + 1  # of the fold that was cut short, the other fold is learned again
    scored.clear()
    assert timeless(tune(PA, X, Y, SPACE, **SMALL, storage=tmp_path)) == timeless(plain)
    assert not scored


def test_ctrl_c_before_anything_is_done(scored, monkeypatch):
    cut(scored, monkeypatch, 0)
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


def test_a_search_that_was_killed_goes_on(plain, tmp_path):
    """The process ends in the middle of a training, without a chance to say so."""
    script = (
        "import os, sys\nimport margent\nfrom margent.tuning.problem import TuningProblem\n"
        "from tests.unit.tuning import test_search as t\n"
        "score, calls = TuningProblem.score, []\n"
        "def killed(*arguments):\n"
        "    calls.append(1)\n"
        "    return score(*arguments) if len(calls) < 8 else os._exit(9)\n"
        "TuningProblem.score = killed\n"
        "margent.tune(t.PA, t.X, t.Y, t.SPACE, **t.SMALL, storage=sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 9, done.stderr
    assert timeless(tune(PA, X, Y, SPACE, **SMALL, storage=tmp_path)) == timeless(plain)


def test_two_searches_at_once_share_the_work(tmp_path):
    """Two processes on one storage: each candidate is tried once, and both know all of them in the end."""
    script = (
        "import json, sys\nimport margent\nfrom tests.unit.tuning import test_search as t\n"
        "result = margent.tune(t.PA, t.X, t.Y, {'C': [float(i) for i in range(1, 25)]}, folds=2, halving=1, jobs=1,"
        " storage=sys.argv[1])\n"
        "print(json.dumps(sorted(trial.parameters['C'] for trial in result.trials)))\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    found = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    known = [json.loads(each) for each in found]
    assert max(known, key=len) == [float(i) for i in range(1, 25)]
    assert all(len(set(each)) == len(each) >= 23 for each in known)  # one may end while the other has its last trial


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"seed": 2}, "seed"),
        ({"trials": 5}, "trials"),
        ({"folds": 3}, "folds"),
        ({"X": X[:-1], "y": Y[:-1]}, "data"),
        ({"model": Tagger(learner="pa", order=2)}, "model"),
        ({"space": {**SPACE, "k": [1, 2]}}, "space"),
        ({"sampler": "random"}, "sampler"),
        ({"halving": 2}, "halving"),
    ],
)
def test_another_search_in_the_same_storage_is_refused(scored, tmp_path, change, what):
    scored.score = lambda model, size: 0.5
    arguments = {"model": PA, "X": X, "y": Y, "space": SPACE, **SMALL, "storage": tmp_path}
    tune(**arguments)
    with pytest.raises(MargentError, match=f"holds another search, with other {what}: choose another storage"):
        tune(**{**arguments, **change})


def test_only_the_good_learn_from_everything(scored):
    """Halving by two over three rungs: a trial that is not in the better half of those so far goes no further."""
    early = dict(zip(range(1, 10), [0.3, 0.5, 0.4, 0.6, 0.2, 0.9, 0.1, 0.7, 0.95]))
    scored.score = lambda model, size: early[model.learner.C] if size < 30 else 1 - early[model.learner.C]
    result = tune(PA, X[:72], Y[:72], {"C": list(early)}, folds=2, halving=2, min_sentences=1, jobs=1)
    by_size = {}
    for model, size, _ in scored:
        by_size.setdefault(size, []).append(model.learner.C)
    assert list(dict.fromkeys(by_size[9])) == list(early)

    def promoted(sequence):
        """Of values as they come, those among the best half of all so far (the best, while there is one only)."""
        kept = []
        for i, C in enumerate(sequence):
            so_far = sorted((early[each] for each in sequence[: i + 1]), reverse=True)
            kept += [C] if early[C] >= so_far[max(len(so_far) // 2, 1) - 1] else []
        return kept

    second = promoted(list(early))
    assert list(dict.fromkeys(by_size[18])) == second
    assert list(dict.fromkeys(by_size[36])) == promoted(second)
    assert result.best.amount == 36 and result.best_score == max(1 - early[C] for C in by_size[36])


def test_epochs_as_the_resource(scored):
    tagger = Tagger(learner=margent.PassiveAggressive(epochs=9))
    space = {"C": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]}
    scored.score = lambda model, size: model.learner.C / 20
    result = tune(tagger, X, Y, space, folds=2, resource="epochs", jobs=1)
    assert {size for _, size, _ in scored} == {45}
    assert sorted({model.learner.epochs for model, _, _ in scored}) == [1, 3, 9]
    assert result.best_parameters == {"C": 18} and result.best.amount == 9
    assert result.best_model().learner.epochs == 9
    assert result.table().splitlines()[0].split() == ["trial", "C", "epochs", "score", "seconds"]
    with pytest.raises(ValueError, match="epochs are both searched and the resource of successive halving"):
        tune(tagger, X, Y, SPACE, resource="epochs")
    with pytest.raises(ValueError, match="resource='epochs' needs a learner with epochs"):
        tune(Transcriber(), ["ab", "cd"], ["A B", "C D"], {"order": [1, 2]}, resource="epochs", folds=2)


def test_few_candidates_all_learn_from_everything(scored):
    scored.score = lambda model, size: 0.5
    tune(PA, X, Y, {"C": [1, 2, 3, 4, 5]}, folds=2, min_sentences=1, jobs=1)
    assert {size for _, size, _ in scored} == {45}


def test_a_trial_that_fails_does_not_end_the_search(tmp_path):
    """Values that are right by themselves, and wrong together."""
    space = {"constrain": [True, False]}
    labels = [[label[-3:] for label in labels] for labels in Y]  # in no scheme, so that there is nothing to constrain
    arguments = {"folds": 2, "jobs": 1, "storage": tmp_path}
    result = tune(PA, X, labels, space, **arguments)
    assert result.best_parameters == {"constrain": False}
    assert "constrain=True needs labels in a scheme" in result.trials[-1].error
    assert result.trials[-1].score is None
    assert "2 trials, 1 of them failed" in result.table()
    assert timeless(tune(PA, X, labels, space, **arguments)) == timeless(result)
    with pytest.raises(MargentError, match="the only trial failed: constrain=True needs"):
        _ = tune(PA, X, labels, {"constrain": [True]}, folds=2, jobs=1).best_parameters


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
    assert next(iter(result.importances())) == "order"


def test_a_value_at_the_edge_of_its_range_is_told(scored):
    scored.score = lambda model, size: min(model.learner.C, 10) / 10
    with pytest.warns(SearchWarning, match=r"the best C, \d.*, lies at the upper edge of its range 0.1 to 1: widen it"):
        tune(PA, X, Y, {"C": Range(0.1, 1)}, folds=2, trials=60, jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tune(PA, X, Y, {"C": Range(0.1, 100)}, folds=2, trials=20, jobs=1).edges() == []


def test_development_data(scored):
    result = tune(PA, X[:60], Y[:60], {"C": [1e-6, 1]}, X_dev=X[60:], y_dev=Y[60:], jobs=1)
    assert {fold for _, _, fold in scored} == {0} and {size for _, size, _ in scored} == {60}
    assert result.best.standard_error is None
    assert result.best_score == result.best_model().fit(X[:60], Y[:60]).score(X[60:], Y[60:])


def problem_of(tagger=PA, folds=3, **options):
    return make_problem(tagger, X, Y, options.get("X_dev"), options.get("y_dev"), folds, 0)


def test_folds_cut_the_data():
    problem = problem_of(folds=4)
    tested = []
    for fold in range(4):
        learnt, test = problem.parts(problem.n_entries, fold)
        assert not set(learnt) & set(test)
        assert len(learnt) == problem.n_entries == 67
        fewer, same = problem.parts(10, fold)
        assert len(fewer) == 10 and set(fewer) < set(learnt) and (same == test).all()
        tested += test.tolist()
    assert sorted(tested) == list(range(90))


def test_all_pronunciations_of_a_word_are_in_one_fold():
    words = [f"word{i % 7}" for i in range(20)]
    problem = make_problem(Transcriber(), words, ["A"] * 20, None, None, 3, 0)
    folds = [{words[i] for i in problem.shuffled[a:z]} for a, z in pairwise(problem.ends.tolist())]
    assert sum(map(len, folds)) == 7 and all(folds)
    with pytest.raises(CorpusError, match="8 folds need at least 8 sentences, and there are 7"):
        make_problem(Transcriber(), words, ["A"] * 20, None, None, 8, 0)


def test_the_score_is_that_of_the_model():
    problem = problem_of()
    learnt, tested = problem.parts(60, 1)
    tagger = Tagger(learner="pa", scheme="iob2").fit([X[i] for i in learnt], [Y[i] for i in learnt])
    assert problem.score(Tagger(learner="pa"), 60, 1) == tagger.score([X[i] for i in tested], [Y[i] for i in tested])
    with pytest.raises(Stopped):
        problem.score(Tagger(learner="pa"), 60, 1, lambda: True)


def test_labels_that_a_small_part_lacks_are_no_obstacle():
    tagger = Tagger(learner="pa", label_costs={"B-NAME": 2.0, "O": 0.5}, constrain=[("B-NAME", "O"), (None, "O")])
    only = next(i for i, labels in enumerate(Y) if "B-NAME" not in labels)
    problem = replace(problem_of(tagger), X_test=X[:5], y_test=Y[:5], shuffled=np.array([only]), ends=np.array([0, 1]))
    assert 0 <= problem.score(tagger, 1, 0) <= 1
    with pytest.raises(ValueError, match="label_costs names the label 'B-NAM'"):
        problem_of(Tagger(label_costs={"B-NAM": 2.0}))
    with pytest.raises(ValueError, match="constrain names the label 'B-NAM'"):
        problem_of(Tagger(constrain=[("B-NAM", "O")]))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"model": "pa"}, TypeError, r"tune needs a model such as Tagger\(\) to begin with, got 'pa'"),
        ({"folds": 1}, ValueError, "folds should be .* of at least 2, got 1"),
        ({"halving": 0}, ValueError, "halving should be .* of at least 1, got 0"),
        ({"trials": 0}, ValueError, "trials should be .* of at least 1 or None, got 0"),
        ({"jobs": 0}, ValueError, "jobs should be .* of at least 1 or None, got 0"),
        ({"seed": -1}, ValueError, "seed should be .* of at least 0, got -1"),
        ({"sampler": "best"}, ValueError, "sampler should be one of tpe, random, grid, got 'best'"),
        ({"resource": "hours"}, ValueError, "resource should be one of sentences, epochs, got 'hours'"),
        ({"X": X[:3], "y": Y[:3]}, CorpusError, "5 folds need at least 5 sentences, and there are 3"),
        ({"y": Y[:-1]}, CorpusError, "found 89 entries of y, expected 90, as X has"),
        ({"y": None}, CorpusError, "labels are missing"),
        ({"y_dev": Y}, CorpusError, "y_dev was given without X_dev"),
        ({"X_dev": [], "y_dev": []}, CorpusError, "nothing to score on"),
        ({"y": [[None] * len(s) for s in X]}, CorpusError, "nothing to learn from"),
        ({"model": Tagger(learner="pa", order=0)}, ValueError, "order of Tagger should be"),
    ],
)
def test_wrong_arguments(scored, change, error, message):
    with pytest.raises(error, match=message):
        tune(**{"model": PA, "X": X, "y": Y, "space": SPACE, "jobs": 1, **change})
    assert not scored


def test_without_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"tuning needs optuna; install it with: pip install 'margent\[tune\]'"):
        tune(PA, X, Y, SPACE, **SMALL)


def test_optuna_is_quiet_and_left_as_it_was(capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    tune(PA, X[:20], Y[:20], {"C": [1, 2]}, folds=2, jobs=1)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_functions_that_cannot_be_sent():
    tagger = Tagger(features=lambda sentence: [{"w": word} for word in sentence], learner="pa")
    with pytest.raises(ValueError, match=r"cannot be sent to other processes .* use jobs=1"):
        tune(tagger, X, Y, {"C": [1, 2]}, folds=2, jobs=2)
    assert tune(tagger, X, Y, {"C": [1]}, folds=2, jobs=1).best_score > 0


def test_a_script_without_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import margent\n"
        "X, y = margent.make_addresses(30, seed=0)\n"
        "margent.tune(margent.Tagger(), X, y, {'epochs': [1, 2]}, folds=2, jobs=2)\n"
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
    assert list(rows[0])[:5] == ["rank", "trial", "C", "epochs", "sentences"]
    summary = json.loads((tmp_path / "results.json").read_text())
    assert summary["best_parameters"] == plain.best_parameters
    assert summary["trials"][0]["rungs"][-1]["score"] == plain.best_score


def test_table(plain):
    lines = plain.table(top=3).splitlines()
    assert lines[0].split() == ["trial", "C", "epochs", "sentences", "score", "seconds"]
    assert len(lines) == 2 + 3 + 1
    best = plain.best
    assert f"{100 * best.score:.2f} ± {100 * best.standard_error:.2f}" in lines[2]


def test_plot(plain, tmp_path):
    from matplotlib import pyplot, rcParams

    before = dict(rcParams)
    for kind in ("history", "importances", "slices", "rungs"):
        figure = plain.plot(tmp_path / f"{kind}.png", kind)
        assert (tmp_path / f"{kind}.png").stat().st_size > 5000
        assert figure.axes
    assert [axes.get_xlabel() for axes in plain.plot(kind="slices").axes][:2] == ["C", "epochs"]
    assert pyplot.get_fignums() == [] and dict(rcParams) == before
    with pytest.raises(ValueError, match="kind should be one of history, importances, slices, rungs, got 'pie'"):
        plain.plot(kind="pie")
    labels = [[label[-3:] for label in labels] for labels in Y]
    failed = tune(PA, X, labels, {"constrain": [True]}, folds=2, jobs=1)
    with pytest.raises(CorpusError, match="no trial of the search has a score"):
        failed.plot()
    one = tune(PA, X[:20], Y[:20], {"C": [1]}, folds=2, jobs=1)
    with pytest.raises(CorpusError, match="too few different scores"):
        one.plot(kind="importances")


def test_data_of_every_kind():
    columns = margent.Columns.from_sentences(X)
    attributes = [[{"word": word} for word in sentence] for sentence in X]
    vectors = [np.array([[len(word), word.isdigit()] for word in sentence], dtype=float) for sentence in X]
    matrix = margent.TokenMatrix(np.concatenate(vectors), [len(sentence) for sentence in X])
    for data in (columns, attributes, vectors, matrix, iter(X), np.array(X, dtype=object)):
        result = tune(PA, data, Y, {"epochs": [1]}, folds=2, jobs=1)
        assert result.best.error is None and 0 < result.best_score <= 1
    labelled = margent.Columns.from_sentences([list(zip(*pair)) for pair in zip(X, Y)])
    assert tune(PA, labelled, space={"epochs": [1]}, folds=2, jobs=1).best_score > 0


def test_every_model():
    random = np.random.default_rng(0)
    frames = [np.concatenate([random.normal(0, 1, (4, 2)), random.normal(3, 1, (4, 2))]) for _ in range(12)]
    segments = [[(0, 4, "low"), (4, 8, "high")]] * 12
    segmenter = Segmenter(learner="pa", costs=SegmentCosts(labels={"low": 2.0}))
    result = tune(segmenter, frames, segments, {"epochs": [1, 2], "boundary": [0.0, 1.0]}, folds=2, jobs=2)
    assert result.best.error is None and result.best_score > 0.5
    assert isinstance(result.best_model(), Segmenter)

    words = ["cab", "back", "tack", "cat", "bat", "tact", "tab", "act"]
    spoken = ["K AE B", "B AE K", "T AE K", "K AE T", "B AE T", "T AE K T", "T AE B", "AE K T"]
    result = tune(Transcriber(), words, spoken, {"order": [1, 3], "smoothing": [True]}, folds=2, jobs=1)
    assert result.best.error is None and result.best_score > 0.5
    assert result.best_model().fit(words, spoken).predict(["cab"]) == [["K", "AE", "B"]]


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
    result = tune(PA, X, Y, {"C": [1, 2]}, folds=2, jobs=1, progress=True)
    assert f"2 of 2 trials, best score {100 * result.best_score:.2f}" in capsys.readouterr().err
    tune(PA, X, Y, {"C": [1, 2]}, folds=2, jobs=1)
    assert capsys.readouterr().err == ""
