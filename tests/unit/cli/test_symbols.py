"""The commands with the spectral learner: one column of symbols, no features."""

from __future__ import annotations

import json

import pytest

import margent as library
from margent.formats.columns import write_columns

WORDS = ["cat", "ice", "face", "acid", "tic", "cede", "ace", "cite", "dice", "accede"] * 3


def spoken(word):
    sounds = ["s" if a == "c" and b in "ei" else "k" if a == "c" else a for a, b in zip(word, word[1:] + "#")]
    return [*sounds[:-1], "-" if word[-1] == "e" else sounds[-1]]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, words in {"train.txt": WORDS, "dev.txt": WORDS[:5]}.items():
        write_columns(name, [list(word) for word in words], [spoken(word) for word in words])
    return tmp_path


def test_train_tag_evaluate_inspect(margent, files):
    options = (
        "--learner",
        "spectral",
        "--tau",
        "0.3",
        "--iterations",
        "30",
        "--learner-order",
        "2",
        "--loss",
        "up-to-k",
    )
    trained = margent("train", "train.txt", "--dev", "dev.txt", "-m", "m.margent", *options)
    assert trained.status == 0 and " rank " in trained.output and "9 labels, 7 symbols" in trained.output
    model = library.load("m.margent")
    assert model.learner == library.Spectral(tau=0.3, iterations=30, order=2, loss="up-to-k") and model.order == 1
    tagged = margent("tag", "m.margent", "dev.txt")
    assert tagged.output.splitlines()[:3] == ["c\tk\tk", "a\ta\ta", "t\tt\tt"]
    assert "accuracy 100.00 %" in margent("evaluate", "m.margent", "dev.txt").output
    shown = margent("inspect", "m.margent", "--top", "2").output
    rank = model.k_gram_table().rank()
    assert "tagger of k-grams of 1 and 2 symbols with their labels" in shown
    assert "7 symbols, 9 pairs of a symbol and a label" in shown
    assert f"111 scores of k-grams; of rank {rank}, they can be written in " in shown  # 10 * 10 + 10 + 1
    assert "features of -:" in shown and "transitions:" not in shown
    told = json.loads(margent("inspect", "m.margent", "--json").output)
    size = {"lengths": [1, 2], "pairs": 9, "scores": 111, "rank": rank, "states": None, "size": min(rank * 22, 121)}
    assert told["k_grams"] == size
    assert told["top_transitions"] == []


def test_inspect_tells_what_was_kept(margent, files):
    def shown(**parameters):
        learner = library.Spectral(**{"iterations": 10, "step": 30, "loss": "up-to-k", "tau": 0.3, **parameters})
        tagger = library.Tagger(learner=learner).fit(WORDS, [spoken(word) for word in WORDS])
        tagger.save("m.margent")
        return tagger, margent("inspect", "m.margent").output

    tagger, told = shown(recover=True)
    model = tagger.weights_.operators
    assert f"given by operators with {model.n_states} hidden states: {model.n_parameters:,} numbers" in told
    assert "scores of k-grams, all of them 0" in shown(tau=1e6)[1]


def test_inspect_after_going_on(margent, files):
    """The epochs of all trainings are in the history, and the best is one of the last training."""
    X, y = [list(word) for word in WORDS], [spoken(word) for word in WORDS]
    tagger = library.Tagger("letters", library.Perceptron(epochs=3)).fit(X, y, X_dev=X[:5], y_dev=y[:5])
    tagger.partial_fit(X, y, X_dev=X[:5], y_dev=y[:5])
    tagger.history_[tagger.best_epoch_ - 1]["dev_score"] = 0.1234  # of the first training
    tagger.save("m.margent")
    told = margent("inspect", "m.margent").output
    assert "6 epochs" in told and "12.34" not in told


def test_nothing_gained_is_said(margent, files):
    options = ("--learner", "spectral", "--step", "1e20", "--iterations", "3", "--json")
    trained = margent("train", "train.txt", "-m", "m.margent", *options)
    assert trained.status == 0
    assert "margent: warning: no iteration of Spectral came below" in trained.errors
    assert json.loads(trained.output)["model"] == "m.margent"


def test_tune(margent, files):
    data = ("train.txt", "--dev", "dev.txt", "--jobs", "1", "--iterations", "3")
    found = margent("tune", *data, "--learner", "spectral", "--trials", "2")
    assert found.status == 0 and "--learner spectral --tau " in found.output
    found = margent("tune", *data, "--learner", "spectral,perceptron", "--search", "order=1,2", "--storage", "other")
    assert found.status == 0 and "failed" not in found.output
    trials = json.loads((files / "other" / "results.json").read_text(encoding="utf-8"))["trials"]
    assert len(trials) == 4


def test_wrong_usage(fails, files):
    train = ("-m", "m.margent", "--learner", "spectral")
    fails(2, "--epochs is a parameter of perceptron, pa, ", "train", "train.txt", *train, "--epochs", "2")
    write_columns("wide.txt", [["a", "b"]], [["x", "y"]], [["A", "B"]])
    fails(1, "symbols are in one column, and the data have 2: choose one", "train", "wide.txt", *train)
    fails(1, "--columns", "train", "wide.txt", *train)
    fails(1, "features should be None or 'symbols'", "train", "train.txt", *train, "--features", "pos")
