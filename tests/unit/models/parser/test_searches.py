"""The parser with each of its searches, from treebank to file and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from margent import CRF, MIRA, Beam, CapabilityError, DependencyTree, Parser, Perceptron, Tagger, load
from margent.datasets import make_trees
from margent.errors import CorpusError
from margent.formats import Columns

X, Y = make_trees(160, seed=5)
CROSSING = make_trees(160, crossing=0.5, seed=6)
ARCS = ["h.upos m.upos direction distance", "h.word m.word", "h.upos m.upos label", "m.suffix3 h.upos label"]
SEARCHES: dict[str, dict[str, Any]] = {
    "eisner": {"features": ARCS, "search": "eisner"},
    "mst": {"features": ARCS, "search": "mst"},
    "greedy": {"features": "small", "search": Beam(1)},
    "exploring": {"features": "small", "search": Beam(1), "system": "arc-hybrid", "exploration": 0.9},
    "arc-standard": {"features": "small", "search": Beam(4)},
    "arc-eager": {"features": "small", "search": Beam(4), "system": "arc-eager"},
    "swap": {"features": "small", "search": Beam(4), "system": "swap"},
}


def fitted(name: str, data: Any = (X, Y), **more: Any) -> Parser:
    parameters = {"learner": Perceptron(epochs=6), "threads": 1} | SEARCHES[name] | more
    return Parser(**parameters).fit(data[0][:120], data[1][:120])


@pytest.fixture(scope="module", params=SEARCHES)
def parser(request: pytest.FixtureRequest) -> Parser:
    return fitted(request.param)


def test_new_sentences_are_parsed_and_threads_change_nothing(parser: Parser) -> None:
    assert parser.score(X[120:], Y[120:]) > 0.85
    found = parser.predict(X[120:])
    assert parser.set_params(threads=2).predict(X[120:]) == found
    parser.set_params(threads=1)


def test_files_and_further_training(parser: Parser, tmp_path: Path) -> None:
    for compact in (False, True):
        parser.save(tmp_path / "m.margent", compact=compact)
        restored = load(tmp_path / "m.margent")
        same = [a == b for a, b in zip(restored.predict(X[120:]), parser.predict(X[120:]))]
        assert sum(same) >= (0.9 if compact else 1) * len(same)
    before = len(restored.classes_)
    restored.partial_fit([[("new", "X"), ("words", "Y")]], [Y[0].__class__([2, 0], ["strange", "root"])])
    assert restored.classes_.tolist()[before:] == ["strange"]


def test_the_k_best_and_explanations(parser: Parser) -> None:
    readings = parser.predict_k_best(X[120:125], 3)
    for found, best in zip(readings, parser.predict(X[120:125])):
        assert found[0].tree == best and len({one.tree for one in found}) == len(found)
    explanations = parser.explain(X[120], top=4)
    best = readings[0][0].tree
    assert [each.arc for each in explanations] == [*zip(best.heads, best.labels)]
    compared = [each for each in explanations if each.rival is not None]
    assert len(compared) >= len(explanations) / 2  # elsewhere no tree with another arc may have survived a beam
    for each in compared:
        assert sum(part.weight for part in each.contributions) + each.rest == pytest.approx(each.margin)


def test_probabilities_where_the_search_is_exact(parser: Parser) -> None:
    if parser.weights_.exact:
        parser.calibrate(X[120:], Y[120:])
        assert parser.predict_marginals(X[120:121])[0].heads.sum(axis=1) == pytest.approx(1)
        return
    for ask in (lambda: parser.predict_marginals(X[120:121]), lambda: parser.calibrate(X[120:], Y[120:])):
        with pytest.raises(CapabilityError, match="search='eisner' or search='mst'"):
            ask()


@pytest.mark.parametrize("name", ["eisner", "mst", "arc-standard", "swap"])
def test_crossing_arcs_are_learned(name: str) -> None:
    parser = fitted(name, CROSSING)
    found = parser.predict(CROSSING[0][:120])
    right = [tree == other for tree, other in zip(found, CROSSING[1][:120]) if not other.is_projective()]
    assert sum(right) > 0.5 * len(right) > 10


@pytest.mark.parametrize("name", ["eisner", "mst", "arc-standard"])
def test_partial_trees_help(name: str) -> None:
    partial = [([None if i % 3 else h for i, h in enumerate(t.heads)], list(t.labels)) for t in Y]
    assert fitted(name, (X, partial)).score(X[120:], Y[120:]) > 0.6


@pytest.mark.parametrize(("name", "learner"), [("eisner", MIRA(epochs=3)), ("mst", CRF(epochs=5)), ("arc-eager", "pa")])
def test_other_learners(name: str, learner: Any) -> None:
    assert fitted(name, learner=learner).score(X[120:], Y[120:]) > 0.8


def test_own_tags_with_a_beam(tmp_path: Path) -> None:
    parser = fitted("arc-standard", tagger=Tagger("pos", Perceptron(epochs=2)))
    words = [[word[0] for word in sentence] for sentence in X]
    parser.save(tmp_path / "words.margent")
    assert load(tmp_path / "words.margent").predict(words) == parser.predict(words)
    assert parser.score(words[120:], Y[120:]) > 0.75


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="calibration of Parser is for probabilities of arcs"):
        Parser(search=Beam(4), calibration=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="exploration"):
        Parser(search=Beam(4), exploration=0.5).fit(X, Y)
    trained = fitted("arc-standard")
    assert len(trained.set_params(search=Beam(16)).predict(X[:1])) == 1  # another width will do
    with pytest.raises(ValueError, match="search is 'eisner' now, but this Parser was fitted with search Beam"):
        trained.set_params(search="eisner").predict(X[:1])


@pytest.mark.parametrize(("parameters", "n"), [({}, 1001), ({"order": 1}, 2501), ({"search": "mst"}, 5001)])
def test_sentences_too_long_for_memory_are_refused_before_the_training(parameters: Any, n: int) -> None:
    words, tree = ["w"] * n, DependencyTree([0, *[1] * (n - 1)], ["root", *["x"] * (n - 1)])
    with pytest.raises(CorpusError, match=f"sentence 1 of X has {n} words; expected at most {n - 1}, as search="):
        Parser(**parameters).fit([["a"], words], [DependencyTree([0], ["root"]), tree])
    with pytest.raises(CorpusError, match=f"sentence 0 of X_dev has {n} words"):
        Parser(**parameters).fit([["a"]], [DependencyTree([0], ["root"])], X_dev=[words], y_dev=[tree])


def test_templates_of_lemmas_see_the_form_in_lower_case_where_tags_are_own() -> None:
    X, y = make_trees(60, seed=0)
    words = [[word[0] for word in sentence] for sentence in X]
    templates = ["h.upos m.upos", "h.lemma m.lemma label"]
    parser = Parser(templates, Perceptron(epochs=2), tagger=Tagger("pos"), threads=1).fit(X, y)
    seen = parser.model_.encode(Columns.from_sentences([[(word.upper(),) for word in words[0]]], 1), 1)
    column = parser.atoms_.names.index("lemma")
    assert [parser.atoms_.name(column, value) for value in seen.atoms[:, column]] == [w.lower() for w in words[0]]
    assert parser.tag(words[:1]).n_columns == 5
