"""Translations, forests and right derivations against the enumeration of all derivations."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import translation as twin
from tests.oracle.translation import GAP, Rule
from tests.unit.toy_translation import language_model, table_of, translations, weight_rows

from margent import _core

N_SOURCE, N_TARGET = 3, 3
LM_WORDS = [0, 1, -1]  # the language model does not have the third


class Problem:
    """A random grammar, model and sentence, with features and scores of all derivations."""

    def __init__(self, seed: int, order: int = 2, n_words: int = 4, longest: int = 10) -> None:
        r = np.random.default_rng(seed)
        sides = [(0,), (1,), (0, 1), (1, GAP), (GAP, 0), (GAP, 1, GAP), (0, GAP, 1), (2, GAP, 0, GAP)]
        rules: dict[Rule, None] = {}
        for _ in range(10):
            side = sides[r.integers(len(sides))]
            gaps = list(range(1, side.count(GAP) + 1))
            symbols = [*gaps, *(10 + r.integers(N_TARGET, size=r.integers(0 if gaps else 1, 3))).tolist()]
            rules[Rule(side, tuple(int(s) for s in r.permutation(np.array(symbols))))] = None
        self.rules = list(rules)
        self.counts = r.integers(1, 5, len(self.rules)).astype(float).tolist()
        self.lexical = -r.exponential(size=(len(self.rules), 2)).round(2)
        self.table, self.places = table_of(self.rules, self.counts, self.lexical)
        texts = [r.integers(0, 2, r.integers(1, 5)).tolist() for _ in range(6)]
        self.model, self.order = language_model(texts, 2, order), order
        self.words = r.integers(0, N_SOURCE, n_words).tolist()
        self.longest = longest
        self.dense = r.normal(size=18)
        self.dense[0] = abs(self.dense[0]) + 0.3
        self.native = translations(self.table, self.model, LM_WORDS, [self.words], span_limit=longest)
        self.derivations = list(twin.sentences(self.rules, self.words, n_words, longest))

    def said(self, derivation: Any) -> tuple[int, ...]:
        return tuple(N_TARGET + w[1] if isinstance(w, tuple) else w - 10 for w in twin.said(derivation, self.words))

    def log_p(self, words: tuple[int, ...]) -> float:
        """Of a whole sentence; a word that the model does not have backs off all the way."""
        known = [LM_WORDS[w] if w < N_TARGET else -1 for w in words]
        total, history = 0.0, [3]
        for word in [*known, 2]:
            if word < 0:
                total += self._unknown(history)
                history = []
            else:
                total += self.model.log_probability(history, word)
                history = [*history, word][-(self.order - 1) :] if self.order > 1 else []
        return total

    def _unknown(self, history: list[int]) -> float:
        begin, graphone, suffix, _, backoff = self.model.arrays()
        context = 0
        for word in history:
            while True:
                found = [c for c in range(begin[context], begin[context + 1]) if graphone[c] == word]
                if found or context == 0:
                    break
                context = suffix[context]
            context = found[0] if found else 0
            while context and begin[context + 1] == begin[context]:
                context = suffix[context]
        total = -math.log(2 + 1)
        while True:
            total += float(backoff[context])
            if context == 0:
                return total
            context = suffix[context]

    def features(self, derivation: Any) -> Any:
        out = np.zeros(18)
        for use in twin.uses(derivation):
            if use.kind == "glue":
                out[3] += 1
            elif use.kind == "pass":
                out[[1, 2, 4]] += 1
            elif use.kind == "rule":
                rule = self.rules.index(use.rule)
                words = [s for s in use.rule.target if s >= 10]
                gaps = [s for s in use.rule.target if s < 10]
                source = sum(c for r, c in zip(self.rules, self.counts) if r.source == use.rule.source) + 1
                target = sum(c for r, c in zip(self.rules, self.counts) if r.target == use.rule.target)
                count = self.counts[rule]
                out[1] += sum(LM_WORDS[w - 10] < 0 for w in words)
                out[2] += len(words)
                out[7 if gaps else 6] += 1
                out[8] += gaps == [2, 1]
                out[9:18] += [
                    *(math.log(count / source), math.log(count / target), *self.lexical[rule]),
                    *(math.log1p(count), math.log1p(source), math.log1p(target), count <= 1, source <= 1),
                ]
        out[0] = self.log_p(self.said(derivation))
        return out


def forests_of(arrays: dict[str, Any]) -> Any:
    n = len(arrays["heads"])
    names = ("node_ptr", "edge_ptr", "roots", "heads", "tail_ptr", "tails")
    return _core.Forests(
        **{name: arrays[name] for name in names},
        allowed=np.ones(n, np.uint8),
        feature_ptr=np.zeros(n + 1, np.int64),
        features=np.zeros(0, np.int32),
    )


@pytest.mark.parametrize("order", [1, 2, 3])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_without_a_pop_limit_all_derivations_are_found_with_their_scores(order: int, seed: int) -> None:
    problem = Problem(seed, order, longest=3 + seed % 4)
    right = sorted((float(problem.features(d) @ problem.dense), problem.said(d)) for d in problem.derivations)[::-1]
    n = min(len(right), 400)
    counts, scores, word_ptr, words, _, _, dense = problem.native.translate(
        weight_rows(problem.dense), n + 5 if n < 400 else n, False, 0, True
    )
    assert counts.tolist() == [n]
    np.testing.assert_allclose(scores, [score for score, _ in right[:n]], atol=1e-4)
    np.testing.assert_allclose(dense @ problem.dense, scores, atol=1e-4)
    if n == len(right):
        found = Counter(tuple(words[a:b].tolist()) for a, b in itertools.pairwise(word_ptr))
        assert found == Counter(said for _, said in right)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_distinct_translations_are_the_best_of_their_derivations(seed: int) -> None:
    problem = Problem(seed)
    best: dict[tuple[int, ...], float] = {}
    for derivation in problem.derivations:
        said, score = problem.said(derivation), float(problem.features(derivation) @ problem.dense)
        best[said] = max(best.get(said, -math.inf), score)
    right = sorted(best.values(), reverse=True)[:20]
    _, scores, word_ptr, words, _, _, _ = problem.native.translate(weight_rows(problem.dense), 20, True, 0)
    np.testing.assert_allclose(scores, right, atol=1e-4)
    for score, (a, b) in zip(scores, itertools.pairwise(word_ptr)):
        assert best[tuple(words[a:b].tolist())] == pytest.approx(score, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), limit=st.integers(1, 30))
def test_pruned_search_finds_derivations_that_exist_and_no_better_ones(seed: int, limit: int) -> None:
    problem = Problem(seed)
    right = {}
    for derivation in problem.derivations:
        said, score = problem.said(derivation), float(problem.features(derivation) @ problem.dense)
        right[said] = max(right.get(said, -math.inf), score)
    _, scores, _, words, _, _, _ = problem.native.translate(weight_rows(problem.dense), 1, True, limit)
    assert scores[0] <= max(right.values()) + 1e-4
    assert scores[0] <= right[tuple(words.tolist())] + 1e-4


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_forests_are_ordinary_forests(seed: int) -> None:
    problem = Problem(seed)
    arrays = problem.native.forests(weight_rows(problem.dense), 0)
    batch = forests_of(arrays)
    scores = np.array([float(problem.features(d) @ problem.dense) for d in problem.derivations])
    assert batch.count(arrays["scores"], 1).tolist() == [len(scores)]
    assert batch.log_partition(arrays["scores"], 1)[0] == pytest.approx(np.logaddexp.reduce(scores), abs=1e-4)
    np.testing.assert_allclose(arrays["dense"] @ problem.dense, arrays["scores"], atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_forced_decoding_finds_all_derivations_of_the_references(seed: int) -> None:
    problem = Problem(seed)
    by_words: dict[tuple[int, ...], list[Any]] = {}
    for derivation in problem.derivations:
        by_words.setdefault(problem.said(derivation), []).append(derivation)
    chosen = [sorted(by_words)[seed % len(by_words)], sorted(by_words)[0], (0, 1, 0, 1, 0, 1, 0, 1)]
    for references in ([chosen[0]], list(dict.fromkeys(chosen)), [(1,) * 12]):
        right = _core.RightTranslations(
            problem.native,
            np.array([0, len(references)], np.int64),
            np.cumsum([0, *map(len, references)], dtype=np.int64),
            np.array([w for reference in references for w in reference], np.int32),
        )
        derivations = [d for reference in references for d in by_words.get(tuple(reference), ())]
        assert right.reachable().tolist() == [bool(derivations)]
        assert right.n_derivations().tolist() == [len(derivations)]
        if not derivations:
            continue
        arrays = right.forests(problem.native)
        scores = np.array([float(problem.features(d) @ problem.dense) for d in derivations])
        found = forests_of(arrays).log_partition(arrays["dense"] @ problem.dense, 1)[0]
        assert found == pytest.approx(np.logaddexp.reduce(scores), abs=1e-4)
