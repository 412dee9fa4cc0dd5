"""`margent domain`."""

from __future__ import annotations

import json
import os

import pytest

from margent.formats import read_domain
from margent.meaning import Domain, parse_meaning

QUESTIONS = "in utah\t(lambda $0 e (loc:t $0 utah:s))\nsize of it\t(size:i ohio:r)\nhm\t(utah:s utah:s)\n"
DOMAIN = "type s\ntype r\npredicate loc:t : s -> s -> t\npredicate size:i : r -> i\nconstant utah:s : s = utah\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "x.questions").write_text(QUESTIONS)
    (tmp_path / "x.domain").write_text(DOMAIN)
    return tmp_path


def test_a_domain_is_made_of_questions(margent, files):
    assert margent("domain", files / "x.questions", "-o", files / "new.domain").status == 0
    meanings = [parse_meaning(line.split("\t")[1]) for line in QUESTIONS.splitlines()]
    assert read_domain(files / "new.domain") == Domain.from_meanings(meanings)


def test_a_domain_is_checked(margent, files):
    output = margent("domain", files / "x.domain", "--check", files / "x.questions").output
    assert "names        3" in output
    assert "2 of 3 meanings have a type, 1 of 3 questions name all their constants" in output
    assert "hm: in (utah:s utah:s): utah:s takes no arguments, got 1" in output
    assert "not named: ohio:r (1), utah:s (1)" in output
    outcome = margent("domain", files / "x.domain", "--check", files / "x.questions", "--json")
    assert json.loads(outcome.output)["checked"][str(files / "x.questions")]["typed"] == 2


def test_simple_types(margent, files):
    output = margent("domain", files / "x.domain", "--simple", "-o", "-").output
    assert "predicate loc:t : s -> s -> t" in output and "suffix" not in output
    (files / "y.domain").write_text("type e\n" + DOMAIN.replace("type s", "type s < e"))
    output = margent("domain", files / "y.domain", "--simple", "-o", "-").output
    assert "predicate loc:t : e -> e -> t" in output and "suffix s = e" in output


def test_failures(fails, files):
    fails(2, "expected a file of questions", "domain", files / "x.domain", "--check")
    fails(1, "No such file", "domain", files / "none.domain")
    fails(2, "would replace", "domain", files / "x.domain", "-o", files / "x.domain")
    (files / "bad.domain").write_text("kind x\n")
    fails(1, "line 1: expected one of type, predicate", "domain", files / "bad.domain")
    fails(1, "found no file geo880.tsv", "domain", "geoquery", "--data", files)


@pytest.mark.skipif(not os.environ.get("MARGENT_DATA"), reason="MARGENT_DATA names no folder")
def test_a_public_corpus(margent):
    output = margent("domain", "jobs", "--check").output
    assert "train: 500 of 500 meanings have a type" in output
