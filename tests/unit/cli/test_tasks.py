"""Every command for every kind of model: it works, or one sentence says why not."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

import margent as library
from margent.annotation import intervals_of_segments
from margent.cli.command_line import with_article
from margent.cli.tasks import TASKS, task_named
from margent.datasets import (
    make_entailment,
    make_phrases,
    make_pronunciations,
    make_questions,
    make_series,
    make_translations,
    make_trees,
)
from margent.formats import (
    write_brackets,
    write_dependencies,
    write_labels,
    write_pairs,
    write_parallel_text,
    write_pronunciations,
    write_questions,
)


@pytest.fixture(scope="module")
def data(folder, tmp_path_factory):
    """For each task: files to learn from, files to watch, and a trained model."""
    from margent.cli import main

    place = tmp_path_factory.mktemp("tasks")
    words, spoken = make_pronunciations(80, seed=1)
    write_pronunciations(place / "train.dict", words[:60], spoken[:60])
    write_pronunciations(place / "dev.dict", words[60:], spoken[60:])
    X, y, _ = make_series(12, noise=0.5, seed=1)
    for name, part in (("train", slice(0, 9)), ("dev", slice(9, 12))):
        (place / name).mkdir()
        for i, (x, segments) in enumerate(zip(X[part], y[part])):
            np.save(place / name / f"{i}.npy", x)
            write_labels(place / name / f"{i}.txt", intervals_of_segments(segments, frame=0.01))
    for name, seed in (("train", 1), ("dev", 2)):
        write_dependencies(place / f"{name}.conllu", *make_trees(30, seed=seed))
    for name, seed in (("train", 1), ("dev", 2)):
        write_brackets(place / f"{name}.mrg", make_phrases(30, seed=seed)[1])
    for name, seed in (("train", 1), ("dev", 2)):
        write_questions(place / f"{name}.questions", *make_questions(20, seed=seed)[:2])
    for name, seed in (("train", 1), ("dev", 2)):
        write_pairs(place / f"{name}.tsv", *make_entailment(60, seed=seed)[:2])
        write_parallel_text(place / f"{name}.parallel", *make_translations(60, seed=seed, longest=9)[:2])
    found = {
        "entailment": (place / "train.tsv", place / "dev.tsv"),
        "translator": (place / "train.parallel", place / "dev.parallel"),
        "semantic-parser": (place / "train.questions", place / "dev.questions"),
        "phrase-parser": (place / "train.mrg", place / "dev.mrg"),
        "parser": (place / "train.conllu", place / "dev.conllu"),
        "tagger": (folder / "train.txt", folder / "dev.txt"),
        "segmenter": (place / "train", place / "dev"),
        "transcriber": (place / "train.dict", place / "dev.dict"),
    }
    more = {"transcriber": ["--order", "2"], **{name: ["--epochs", "2"] for name in TASKS if name != "transcriber"}}
    for task, (train, dev) in found.items():
        model = place / f"{task}.margent"
        words = ["train", "--task", task, str(train), "--dev", str(dev), "-m", str(model), *more[task]]
        assert main(words) == 0
        found[task] = (train, dev, model)
    assert set(found) == set(TASKS)
    return found


@pytest.mark.parametrize("task", TASKS)
def test_the_model_file_says_the_kind(task, data, margent):
    report = json.loads(margent("inspect", data[task][2], "--json").output)
    assert report["kind"] == task and report["parameters"]["threads"] is None and report["history"]
    shown = margent("inspect", data[task][2], "--top", 2).output
    assert shown.startswith("model ") and f"{task} of" in shown and "training " in shown


@pytest.mark.parametrize("task", TASKS)
def test_apply(task, data, margent, tmp_path):
    _, dev, model = data[task]
    if task == "transcriber":
        dev = tmp_path / "words"
        dev.write_text("a\nb\n")
    outcome = margent("apply", model, dev, "-o", tmp_path / "out")
    assert outcome.status == 0 and (tmp_path / "out").exists()


@pytest.mark.parametrize("task", TASKS)
def test_align(task, data, margent, fails, tmp_path):
    if task in ("tagger", "parser", "phrase-parser", "semantic-parser", "translator", "entailment"):
        fails(2, f"{with_article(task)} has nothing to align", "align", data[task][2], data[task][1])
    else:
        assert margent("align", data[task][2], data[task][1], "-o", tmp_path / "out").status == 0


@pytest.mark.parametrize("task", TASKS)
def test_evaluate(task, data, margent, fails):
    _, dev, model = data[task]
    assert margent("evaluate", model, dev).status == 0
    assert json.loads(margent("evaluate", dev, model, "--json").output)["kind"] in (
        "spans",
        "segments",
        "pronunciations",
        "dependencies",
        "phrases",
        "meanings",
        "tokens",
        "translations",
    )
    if task != "tagger":
        short = {"segmenter": "segment", "transcriber": "g2p", "parser": "parse", "phrase-parser": "phrases"}
        short = (short | {"semantic-parser": "questions", "translator": "translate", "entailment": "entail"})[task]
        fails(2, f"to evaluate {with_article(task)}, give the model first", short, "evaluate", dev)


@pytest.mark.parametrize("task", TASKS)
def test_calibrate(task, data, margent, fails, tmp_path):
    command = ("calibrate", data[task][2], data[task][1], "-o", tmp_path / "m")
    if hasattr(task_named(task).model_class(), "calibrate"):
        assert margent(*command).status == 0
        assert library.load(tmp_path / "m").calibrated_
    else:
        fails(2, f"a {task} has no temperature to fit", *command)


@pytest.mark.parametrize("task", TASKS)
def test_explain(task, data, margent, fails):
    _, dev, model = data[task]
    if hasattr(task_named(task).model_class(), "explain"):
        assert margent("explain", model, dev, "--top", 1).status == 0
    else:
        fails(2, f"a {task} cannot explain its answers", "explain", model, dev)


def test_explanations_are_those_of_the_model(folder, margent, fails):
    output = margent("explain", folder / "model.margent", folder / "one.txt", "--top", 3).output
    wanted = library.load(folder / "model.margent").explain(["Rue", "de", "Paris"], top=3)
    assert output == "".join(f"{w}\t{e}\n" for w, e in zip(["Rue", "de", "Paris"], wanted)) + "\n"
    one = margent("explain", folder / "model.margent", folder / "one.txt", "--top", 3, "--token", 2).output
    assert one == f"Paris\t{wanted[2]}\n\n"
    fails(
        2, "--token 3: a sentence has 3 tokens", "explain", folder / "model.margent", folder / "one.txt", "--token", 3
    )


@pytest.mark.parametrize("task", TASKS)
def test_continue(task, data, margent, fails, tmp_path):
    train, _, model = data[task]
    command = ("train", "--task", task, train, "--continue", model, "-m", tmp_path / "m")
    if hasattr(task_named(task).model_class(), "partial_fit"):
        assert margent(*command).status == 0
        assert len(library.load(tmp_path / "m").history_) > len(library.load(model).history_)
        fails(2, f"--seed was chosen when {model} was trained", *command, "--seed", 3)
    else:
        fails(2, f"a {task} cannot continue its training", *command)
    other = data[TASKS[TASKS.index(task) - 1]][2]
    fails(2, f"; the task is {task}", "train", "--task", task, train, "--continue", other, "-m", tmp_path / "m")


def test_continuing_with_other_parameters(data, margent, fails, tmp_path):
    train, _, model = data["tagger"]
    command = ("train", train, "--continue", model, "-m", tmp_path / "m")
    assert margent(*command, "--C", 0.5).status == 0
    assert library.load(tmp_path / "m").learner == library.PassiveAggressive(epochs=2, C=0.5)
    assert margent(*command, "--learner", "perceptron", "--epochs", 1).status == 0
    assert library.load(tmp_path / "m").learner == library.Perceptron(epochs=1)


@pytest.mark.parametrize("task", TASKS)
def test_tune(task, data, margent, tmp_path):
    """The best is saved, and the command that is told trains it again."""
    pytest.importorskip("optuna")
    train, dev, _ = data[task]
    search = {"transcriber": "order=1,2"}.get(task, "epochs=1,2")
    words = ("--search", search, "--jobs", 1, "--storage", tmp_path / "study", "-m", tmp_path / "m")
    outcome = margent("tune", "--task", task, train, "--dev", dev, *words)
    assert outcome.status == 0
    command = next(line for line in outcome.output.splitlines() if line.startswith("  margent train"))
    best = library.load(tmp_path / "m")
    assert margent(*shlex.split(command)[1:]).status == 0
    assert library.load(tmp_path / "m").get_params(deep=False) == best.get_params(deep=False)


@pytest.mark.parametrize("task", TASKS)
def test_compact(task, data, margent, fails, tmp_path):
    import inspect

    command = ("train", "--task", task, data[task][0], "-m", tmp_path / "m", "--compact")
    if "compact" in inspect.signature(task_named(task).model_class().save).parameters:
        assert margent(*command).status == 0
    else:
        fails(2, f"--compact: a {task} has no smaller form", *command)


def test_short_names_are_the_same_commands(data, margent, fails):
    tagger = data["tagger"]
    assert margent("tag", tagger[2], tagger[1]) == margent("apply", tagger[2], tagger[1])
    words = data["transcriber"]
    assert margent("g2p", "evaluate", words[2], words[1]) == margent("evaluate", words[2], words[1])
    assert "--features-bins" in margent("segment", "train", "--help").output
    assert "--em-order" in margent("train", "--task", "transcriber", "--help").output
    assert "margent segment train" in margent("segment", "--help").output
    fails(2, "'margent g2p train' is for a transcriber, and --task says tagger", "g2p", "train", "--task", "tagger")
    fails(2, "holds a tagger, and 'margent g2p apply' is for a transcriber", "g2p", "apply", tagger[2])
    fails(
        2,
        "--task should be one of tagger, segmenter, transcriber, parser, phrase-parser, semantic-parser, translator, "
        "entailment, "
        "got 'cook'",
        "train",
        "--task",
        "cook",
    )


def test_options_of_others_are_named(data, fails, tmp_path):
    train = ("train", data["tagger"][0], "-m", tmp_path / "m")
    fails(2, "--C is a parameter of pa, rpa, mira, sdm, larank, ssvm, latent-svm, hmsvm; the learner is crf",
          *train, "--learner", "crf", "--C", 1)  # fmt: skip
    fails(2, "--no-em-smoothing is a parameter of a transcriber; the task is tagger", *train, "--no-em-smoothing")
    fails(2, "--overwrite is an option for a segmenter; the model is a tagger", "tag", data["tagger"][2], "--overwrite")
    fails(2, "--order is a parameter of training: 'margent train' has it", "tag", data["tagger"][2], "--order", 2)
    fails(2, "--support is an option for a tagger; the model is a transcriber",
          "inspect", data["transcriber"][2], "--support", 2)  # fmt: skip


def test_help_is_that_of_the_learner(margent):
    crf, pa = margent("train", "--learner", "crf", "--help").output, margent("train", "--help").output
    assert "  --l2 X" in crf and "  --C X" not in crf
    assert "  --C X" in pa and "  --l2 X" not in pa
    assert "margent train --learner NAME --help" in " ".join(pa.split())
