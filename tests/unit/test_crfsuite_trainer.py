"""Trainer, Tagger and ItemSequence beside those of python-crfsuite."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import margent
from margent.crfsuite import CRF, ItemSequence, Tagger, Trainer

pycrfsuite = pytest.importorskip("pycrfsuite")

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
SEQUENCE: list[Any] = [
    {"walk": 1, "shop": 0.5},
    {"walk": 1},
    {"shop": 0.5, "clean": 0.5},
    {"clean": 1, "shop": 0.1},
    {},
    {"word": "naïve".encode(), "clean": 1},
]
LABELS = ["sunny", "sunny", "rainy", "rainy", "sunny", "rainy"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    trainer = Trainer(params={"c2": 0.01}, verbose=False)
    trainer.append(SEQUENCE, LABELS)
    trainer.train(tmp_path / "model.margent")
    return tmp_path / "model.margent"


# Parameters


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_parameters_and_defaults_are_those_of_the_original(algorithm: str) -> None:
    ours, theirs = Trainer(algorithm), pycrfsuite.Trainer(algorithm)
    assert set(ours.params()) == set(theirs.params())
    assert ours.get_params() == theirs.get_params()
    assert all(ours.help(name) for name in ours.params())


def test_parameters_are_set_and_checked() -> None:
    trainer = Trainer("l2sgd")
    trainer.set("c2", "0.25")
    trainer.set_params({"feature.possible_states": True, "max_iterations": 7})
    assert (trainer.get("c2"), trainer.get("feature.possible_states"), trainer.get("max_iterations")) == (0.25, True, 7)
    with pytest.raises(ValueError, match=r"l2sgd has no parameter 'c1'; expected one of feature\.minfreq"):
        trainer.set("c1", 1)
    with pytest.raises(ValueError, match="c2 should be of type float, got 'much'"):
        trainer.set("c2", "much")
    with pytest.raises(ValueError, match="algorithm='sgd' is not known"):
        trainer.select("sgd")
    with pytest.raises(ValueError, match="type='crf2d' is not known"):
        trainer.select("ap", "crf2d")


def test_parameters_reach_the_learner(path: Path) -> None:
    trainer = Trainer("arow", {"gamma": 2.0, "max_iterations": 3}, verbose=False)
    trainer.append(SEQUENCE, LABELS)
    trainer.train(path)
    assert margent.load(path).learner == margent.AROW(r=2.0, average=False, epochs=3)
    assert trainer.logparser is not None and len(trainer.logparser) == 3


# Training


def test_the_same_model_as_the_estimator(path: Path) -> None:
    crf = CRF(c2=0.01).fit([SEQUENCE], [LABELS])
    with Tagger().open(path) as tagger:
        assert tagger.info().state_features == crf.state_features_


def test_messages_are_for_derived_classes(tmp_path: Path) -> None:
    class Listening(Trainer):
        def __init__(self) -> None:  # does not call that of Trainer
            self.messages: list[str] = []

        def message(self, message: str) -> None:
            self.messages.append(message)

    trainer = Listening()
    trainer.select("ap")
    trainer.set("max_iterations", 2)
    trainer.append(SEQUENCE, LABELS)
    assert not trainer.messages
    trainer.train(tmp_path / "model.margent")
    assert "type: CRF1d\n" in trainer.messages and "***** Iteration #2 *****\n" in trainer.messages


def test_a_group_of_sequences_is_held_out(tmp_path: Path) -> None:
    trainer = Trainer("ap", {"max_iterations": 3}, verbose=False)
    trainer.append(SEQUENCE, LABELS)
    trainer.append(SEQUENCE[:3], LABELS[:3], 1)
    trainer.train(tmp_path / "model.margent", holdout=1)
    assert trainer.logparser is not None
    assert all(epoch["dev_score"] is not None for epoch in trainer.logparser.iterations)


def test_nothing_to_learn_from(tmp_path: Path) -> None:
    with pytest.warns(margent.TrainingWarning, match="there is nothing to learn from"):
        Trainer(verbose=False).train(tmp_path / "model.margent")
    assert not (tmp_path / "model.margent").exists()
    with pytest.raises(ValueError, match="a sequence of 6 tokens has 5 labels"):
        Trainer().append(SEQUENCE, LABELS[:5])


# Tagging


def test_tags_and_probabilities(path: Path) -> None:
    tagger = Tagger().open(path)
    assert tagger.labels() == ["rainy", "sunny"]
    assert tagger.tag(SEQUENCE) == tagger.tag(ItemSequence(SEQUENCE)) == LABELS
    assert tagger.marginal("sunny", 0) + tagger.marginal("rainy", 0) == pytest.approx(1)
    tagger.set(SEQUENCE[:3])
    answers = [[a, b, c] for a in tagger.labels() for b in tagger.labels() for c in tagger.labels()]
    probabilities = [tagger.probability(labels) for labels in answers]
    assert sum(probabilities) == pytest.approx(1)
    marginal = sum(p for labels, p in zip(answers, probabilities) if labels[1] == "rainy")
    assert marginal == pytest.approx(tagger.marginal("rainy", 1))
    for call, message in (
        (lambda: tagger.marginal("snowy", 0), "there is no label 'snowy'"),
        (lambda: tagger.marginal("sunny", 3), "there is no position 3; expected 0 to 2"),
        (lambda: tagger.probability(["sunny"]), "expected 3 labels, got 1"),
        (lambda: tagger.probability(["sunny", "sunny", "snowy"]), "there is no label 'snowy'"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_open_and_closed(path: Path) -> None:
    with Tagger().open_inmemory(path.read_bytes()) as tagger:
        assert tagger.tag(SEQUENCE) == LABELS
    with pytest.raises(ValueError, match="the tagger is closed"):
        tagger.labels()
    for ask in (tagger.info, tagger.dump):
        with pytest.raises(RuntimeError, match="the tagger is closed"):
            ask()
    with pytest.raises(FileNotFoundError):
        Tagger().open("there is no such file")
    for wrong in (b"", b"lCRFabc"):
        with pytest.raises(ValueError, match=r"the bytes given|the file given"):
            Tagger().open_inmemory(wrong)


def test_dump(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tagger = Tagger().open(path)
    tagger.dump(tmp_path / "dump.txt")
    tagger.dump()
    text = (tmp_path / "dump.txt").read_text("utf-8")
    assert capsys.readouterr().out == text
    parser = pycrfsuite._dumpparser.CRFsuiteDumpParser()
    for line in text.splitlines(keepends=True):
        parser.feed(line)
    found, info = parser.result, tagger.info()
    assert found.labels == info.labels and found.attributes == info.attributes and found.header == info.header
    assert found.state_features == pytest.approx(info.state_features, abs=1e-6)
    assert ("word:naïve", "rainy") in found.state_features


ITEMS: list[Any] = [
    [],
    [["foo", "bar"], ["bar", "baz"]],
    [{"foo": True, "bar": {"foo": -1, "baz": False}}],
    [{"foo": "привет", "ключ": 1.0, "bytes": "мир".encode()}],
    [{"foo": {"bar": "baz", "spam": 0.5, "egg": ["x", "y"], "ham": {"x": -0.5, "y": -0.1}}}],
    [{"a": 1, "b": 2}.keys(), {}],
]


@pytest.mark.parametrize("items", ITEMS, ids=range(len(ITEMS)))
def test_items_are_those_of_the_original(items: Any) -> None:
    ours, theirs = ItemSequence(items), pycrfsuite.ItemSequence(items)
    assert ours.items() == theirs.items() and len(ours) == len(theirs)
    assert ItemSequence(ours.items()).items() == ours.items()


# Files


def test_models_in_memory(path: Path) -> None:
    tagger = margent.load(path)
    memory = io.BytesIO()
    tagger.save(memory)
    assert memory.getvalue() == path.read_bytes()
    memory.seek(0)
    for source in (memory, path.read_bytes(), memoryview(path.read_bytes())):
        assert margent.load(source).predict([SEQUENCE]) == [LABELS]
    assert margent.Tagger.load(path.read_bytes()).predict([SEQUENCE]) == [LABELS]
    with pytest.raises(ValueError, match="mmap=True needs the path of a file"):
        margent.load(path.read_bytes(), mmap=True)
    with pytest.raises(TypeError, match="expected a path, bytes or a binary file, got StringIO"):
        margent.load(io.StringIO("text"))
    with pytest.raises(margent.ModelFileError, match="the bytes given"):
        margent.load(path.read_bytes()[:-1])
