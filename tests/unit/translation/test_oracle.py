"""What is learned from a wrong translation, against a plain search among all derivations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import translation as twin
from tests.oracle.translation import GAP, Rule
from tests.unit.toy_translation import language_model, table_of, translations
from tests.unit.translation.test_search import LM_WORDS, Problem

from margent import _core


def oracle_of(problem: Problem, references: Any, update: str, scale: float = 1.0, **options: Any) -> Any:
    right = _core.RightTranslations(
        problem.native,
        np.array([0, len(references)], np.int64),
        np.cumsum([0, *map(len, references)], dtype=np.int64),
        np.array([w for reference in references for w in reference], np.int32),
    )
    oracle = _core.TranslationOracle(problem.native, right, getattr(_core.TranslationUpdate, update), 0, **options)
    oracle.set_dense(scale * problem.dense)
    return oracle


def alone(problem: Problem, words: tuple[int, ...]) -> float:
    """log p of a part of a sentence, whose first words have no history."""
    total, history = 0.0, []
    for word in words:
        known = LM_WORDS[word] if word < 3 else -1
        if known < 0:
            total, history = total + problem._unknown(history), []
        else:
            total += problem.model.log_probability(history, known)
            history = [*history, known][-(problem.order - 1) :] if problem.order > 1 else []
    return total


def parts(derivation: Any) -> Any:
    """A derivation and all in it that stand for a symbol over a span: (symbol, begin, end, derivation)."""
    symbol = "X" if derivation.kind in ("rule", "pass") else "S"
    yield symbol, derivation.begin, derivation.end, derivation
    for part in derivation.parts:
        yield from parts(part)


def partial_score(problem: Problem, derivation: Any) -> float:
    features = problem.features(derivation)
    features[0] = alone(problem, problem.said(derivation))
    return float(features @ problem.dense)


@pytest.mark.parametrize("follows", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_max_violation_is_at_the_node_where_the_wrong_is_furthest_ahead(follows: bool, seed: int) -> None:
    problem = Problem(seed, n_words=3)
    by_words: dict[tuple[int, ...], list[Any]] = {}
    for derivation in problem.derivations:
        by_words.setdefault(problem.said(derivation), []).append(derivation)
    reference = sorted(by_words)[seed % len(by_words)]
    whole = {id(d): float(problem.features(d) @ problem.dense) for d in problem.derivations}
    best = max(problem.derivations, key=lambda d: whole[id(d)])
    gold, rivals = oracle_of(problem, [reference], "max_violation", follows_answer=follows).ask(0, 1, 0.0)
    if problem.said(best) == reference:
        assert rivals[0][2] == 0
        return
    # By symbol and span: the scores of right partial derivations, what these say, and all partial derivations.
    right: dict[Any, list[float]] = {}
    said: dict[Any, set[tuple[int, ...]]] = {}
    every: dict[Any, dict[Any, float]] = {}
    for derivation in problem.derivations:
        for symbol, begin, end, part in parts(derivation):
            place = symbol, begin, end
            score = partial_score(problem, part)
            every.setdefault(place, {})[part] = score
            if problem.said(derivation) == reference:
                right.setdefault(place, []).append(score)
                said.setdefault(place, set()).add(problem.said(part))
    root = max(whole[id(d)] for d in by_words[reference])
    violations = [max(s for d, s in whole.items()) - root]
    if follows:  # only what the best right derivation is made of is compared
        answer = max(by_words[reference], key=lambda d: whole[id(d)])
        right = {(s, b, e): [partial_score(problem, part)] for s, b, e, part in parts(answer)}
    for place, scores in right.items():
        wrong = [score for part, score in every[place].items() if problem.said(part) not in said[place]]
        if wrong:
            violations.append(max(wrong) - max(scores))
    assert rivals[0][0] - gold == pytest.approx(max(violations), abs=1e-3)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_standard_and_skip_compare_whole_sentences(seed: int) -> None:
    problem = Problem(seed, n_words=3)
    whole = [(float(problem.features(d) @ problem.dense), problem.said(d)) for d in problem.derivations]
    reference = sorted({said for _, said in whole})[seed % len({said for _, said in whole})]
    gold = max(score for score, said in whole if said == reference)
    best = max(whole)
    for update in ("standard", "skip"):
        found, rivals = oracle_of(problem, [reference], update).ask(0, 1, 0.0)
        assert found == pytest.approx(gold, abs=1e-3)
        assert rivals[0][0] == pytest.approx(best[0], abs=1e-3)
        assert (rivals[0][2] == 0) == (best[1] == reference)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_local_update_moves_towards_the_best_bleu(seed: int) -> None:
    problem = Problem(seed, n_words=3)
    reference = (0, 1, 1, 0)
    found, rivals = oracle_of(problem, [reference], "local", k_best=10**4).ask(0, 1, 0.0)
    whole = sorted((float(problem.features(d) @ problem.dense), problem.said(d)) for d in problem.derivations)[::-1]
    bleu = [twin.sentence_bleu(said, [reference]) for _, said in whole]
    first = bleu[0] if len(whole) == 1 or whole[0][0] > whole[1][0] + 1e-6 else None
    if first is not None:
        assert (rivals[0][2] > 0) == (max(bleu) > first + 1e-12)
    chosen = max(score for (score, _), value in zip(whole, bleu) if value > max(bleu) - 1e-12)
    assert found == pytest.approx(chosen, abs=1e-3)


def sentences_to_learn() -> tuple[Any, Any]:
    """Ten words with two translations each; what is right, the next word tells."""
    rules = [Rule((w,), (10 + 2 * w + o,)) for w in range(5) for o in (0, 1)] + [Rule((0, GAP), (1, 10))]
    r = np.random.default_rng(0)
    table, _ = table_of(rules, [1.0] * len(rules), np.zeros((len(rules), 2)), 10)
    words = [r.integers(0, 5, r.integers(2, 6)).tolist() for _ in range(40)]
    references = [[2 * w + (i + 1 < len(s) and s[i + 1] > 2) for i, w in enumerate(s)] for s in words]
    model = language_model(references, 10, 2)
    terms = np.array([[4, 0], [6, 0], [3, 0], [6, 0]], np.int32)
    templates = _core.RuleTemplates(terms, np.array([0, 2, 4], np.int64))
    native = translations(table, model, range(10), words, templates=templates)
    right = _core.RightTranslations(
        native,
        np.arange(len(words) + 1, dtype=np.int64),
        np.cumsum([0, *map(len, references)], dtype=np.int64),
        np.array([w for one in references for w in one], np.int32),
    )
    return native, right


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("update", ["max_violation", "standard", "skip", "local"])
def test_learning_does_not_depend_on_threads_and_learns(update: str, batch: int) -> None:
    import margent

    native, right = sentences_to_learn()
    found = []
    for threads in (1, 3):
        oracle = _core.TranslationOracle(
            native, right, getattr(_core.TranslationUpdate, update), 20, batch=batch, threads=threads
        )
        result = margent.train(margent.Perceptron(epochs=8, average=False), oracle, progress=False)
        found.append(result)
    first, second = (each.weights for each in found)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert found[0].history[-1].accuracy > found[0].history[0].accuracy
    assert found[0].history[-1].accuracy > 0.9


def test_slices_of_time_do_not_cut_batches() -> None:
    from margent.learners.slices import timed_slices

    slices = list(timed_slices(np.arange(1000), 48))
    assert all(len(part) % 48 == 0 for part in slices[:-1]) and sum(map(len, slices)) == 1000
    assert math.ceil(1000 / 48) >= len(slices)
