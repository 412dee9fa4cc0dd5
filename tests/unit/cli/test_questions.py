"""Semantic parsers on the command line: training, answers, comparisons, `margent ask` and the demo."""

from __future__ import annotations

import json
import sys

import pytest

import margent as library
from margent.datasets import make_questions
from margent.formats import read_questions, write_domain, write_facts, write_questions

COMPANY = make_questions(40, seed=0)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    from margent.cli import main

    path = tmp_path_factory.mktemp("questions")
    write_questions(path / "train.questions", COMPANY.X, COMPANY.y)
    write_questions(path / "dev.questions", *make_questions(15, seed=1)[:2])
    write_domain(path / "company.domain", COMPANY.domain)
    write_facts(path / "company.facts", COMPANY.facts)
    (path / "few.txt").write_text(
        "action.kind\nq0.lower action.piece  # what a word says\ns0.type s1.type action.kind\n"
    )
    command = ["questions", "train", path / "train.questions", "--dev", path / "dev.questions", "-m", path / "m"]
    options = ["--domain", path / "company.domain", "--template", path / "few.txt", "--epochs", 2, "--search-width", 6]
    assert main([str(word) for word in [*command, *options, "--lexicon-most", 12]]) == 0
    return path


def test_options_become_parameters(place, margent):
    model = library.load(place / "m")
    assert model.search.width == 6 and model.lexicon == library.LexiconOptions(most=12)
    assert model.features == ["action.kind", "q0.lower action.piece  # what a word says", "s0.type s1.type action.kind"]
    assert model.domain_ == COMPANY.domain and model.calibrated_
    shown = margent("inspect", place / "m", "--top", 3).output
    assert "semantic-parser of derivations" in shown and "as it was given" in shown
    assert shown.rstrip().splitlines()[-4] == "words and what they say:"
    found = json.loads(margent("inspect", place / "m", "--json").output)
    assert found["pieces"] == len(model.lexicon_.pieces) and found["coverage"] == model.coverage_
    assert found["templates"] == ["action.kind", "q0.lower action.piece", "s0.type s1.type action.kind"]


def test_training_says_how_many_questions_have_a_derivation(place, margent, tmp_path):
    command = ("train", "--task", "semantic-parser", place / "train.questions", "-m", tmp_path / "m", "--epochs", 1)
    assert "of the training questions have a derivation" in margent(*command).output
    assert json.loads(margent(*command, "--json").output)["coverage"] == library.load(tmp_path / "m").coverage_


def test_questions_get_their_meanings(place, margent, monkeypatch):
    model = library.load(place / "m")
    (place / "new.txt").write_text("who leads apollo\n\nqwerty uiop\n")
    for source in ((place / "new.txt",), ()):
        with open(place / "new.txt") as file:
            monkeypatch.setattr(sys, "stdin", file)
            outcome = margent("apply", place / "m", *source)
        (known, unknown) = (line.split("\t") for line in outcome.output.splitlines())
        assert outcome.status == 0 and known == ["who leads apollo", str(model.predict(["who leads apollo"])[0])]
        assert unknown == ["qwerty uiop", ""]


def test_the_k_best_come_with_scores_and_confidences(place, margent):
    (place / "one.txt").write_text("who leads apollo\nqwerty\n")
    rows = [line.split("\t") for line in margent("apply", place / "m", place / "one.txt", "--k", 2).output.splitlines()]
    readings = library.load(place / "m").predict_k_best(["who leads apollo"], 2)[0]
    assert [row[1] for row in rows] == [*(str(reading.meaning) for reading in readings), ""]
    assert [float(row[3]) for row in rows[:-1]] == pytest.approx([r.confidence for r in readings], abs=1e-6)
    typed = margent("apply", place / "m", place / "one.txt", "--notation", "typed").output
    assert typed == "".join(
        f"{question}\t{'' if meaning is None else library.meaning_text(meaning, 'typed')}\n"
        for question, meaning in zip(
            ("who leads apollo", "qwerty"), library.load(place / "m").predict(["who leads apollo", "qwerty"])
        )
    )


def test_answers_of_a_type(place, margent, fails):
    (place / "one.txt").write_text("who leads apollo\n")
    found = margent("apply", place / "m", place / "one.txt", "--type", "i").output.rstrip("\n").split("\t")[1]
    meaning = library.load(place / "m").predict(["who leads apollo"], answer_type="i")[0]
    assert found == ("" if meaning is None else str(meaning))
    fails(1, "answer_type: the type planet", "apply", place / "m", place / "one.txt", "--type", "planet")


def test_predictions_can_be_compared(place, margent, fails):
    assert margent("apply", place / "m", place / "dev.questions", "-o", place / "found.questions").status == 0
    of_model = json.loads(margent("evaluate", place / "m", place / "dev.questions", "--json").output)
    of_file = json.loads(
        margent("questions", "evaluate", place / "dev.questions", place / "found.questions", "--json").output
    )
    X, y = read_questions(place / "dev.questions")
    assert of_model == of_file and of_model["f1"] == library.load(place / "m").score(X, y)
    compared = margent("evaluate", place / "m", place / "dev.questions", "--compare", place / "found.questions",
                       "--calibration").output  # fmt: skip
    assert "+0.00" in compared and "may well be luck" in compared and "the confidences of" in compared
    (place / "other.questions").write_text("something else\tx\n")
    fails(1, "line 1: expected '", "questions", "evaluate", place / "dev.questions", place / "other.questions")
    lines = (place / "found.questions").read_text().splitlines(keepends=True)
    (place / "short.questions").write_text("".join(lines[:3]))
    fails(1, "expected 15 questions", "questions", "evaluate", place / "dev.questions", place / "short.questions")
    fails(2, "--calibration needs confidences", "questions", "evaluate", place / "dev.questions",
          place / "found.questions", "--calibration")  # fmt: skip


def test_a_question_that_is_too_long_is_named_and_left_out(place, margent):
    (place / "long.txt").write_text(f"who leads apollo\n{'who ' * 1001}\nwho leads delta\n")
    outcome = margent("apply", place / "m", place / "long.txt")
    assert outcome.status == 1 and outcome.output.count("\n") == 2
    assert outcome.errors == "margent: error: line 2: a question of 1001 words; expected at most 1000\n"


def test_explanations_show_the_steps(place, margent, fails):
    (place / "one.txt").write_text("who leads apollo\n")
    shown = margent("explain", place / "m", place / "one.txt", "--top", 2).output
    assert shown == library.load(place / "m").explain("who leads apollo").text(2) + "\n"
    fails(2, "--token is for models that label tokens", "explain", place / "m", place / "one.txt", "--token", 1)


def test_ask(place, margent, fails):
    question, meaning = " ".join(COMPANY.X[0]), None
    model = library.load(place / "m")
    for words in COMPANY.X:  # one that is understood rightly
        (meaning,) = model.predict([words])
        if meaning is not None and library.same_meaning(meaning, COMPANY.y[COMPANY.X.index(words)]):
            question = " ".join(words)
            break
    from margent.cli.ask import answer_text
    from margent.meaning import answer

    outcome = margent("ask", place / "m", f"{question}?", "--facts", place / "company.facts")
    assert outcome.status == 0 and outcome.output.splitlines() == [
        f"meaning  {meaning}",
        f"type     {model.explain(question).type}",
        f"answer   {answer_text(answer(meaning, COMPANY.facts))}",
    ]
    found = json.loads(margent("ask", place / "m", *question.split(), "--json").output)
    assert found[0]["meaning"] == str(meaning) and "answer" not in found[0]
    fails(
        1,
        "'qwerty uiop' cannot be understood: it has no meaning for 'qwerty', 'uiop'",
        "ask",
        place / "m",
        "qwerty uiop",
    )
    (place / "none.facts").write_text("city oslo\n")
    assert "the database has no" in margent("ask", place / "m", question, "--facts", place / "none.facts").errors


def test_ask_takes_no_other_model(folder, fails):
    fails(2, "holds a tagger; expected a semantic-parser", "ask", folder / "model.margent", "who")


def test_demo(margent, tmp_path, monkeypatch):
    for name, value in (("_N_TRAIN", 30), ("_N_OTHER", 12), ("_EPOCHS", 2)):
        monkeypatch.setattr(f"margent.cli.demo_questions.{name}", value)
    outcome = margent("demo", "questions", "--out", tmp_path / "demo")
    assert outcome.status == 0
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        *("company.margent", "company.domain", "company.facts"),
        *("train.questions", "dev.questions", "test.questions"),
    }
    for part in ("Nothing says which words", "all questions", "their answers", "What to type next"):
        assert part in outcome.output
    model = library.load(tmp_path / "demo" / "company.margent")
    assert model.domain_ == library.read_domain(tmp_path / "demo" / "company.domain")
