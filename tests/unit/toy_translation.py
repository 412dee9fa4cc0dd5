"""Small grammars, language models and sentences as native code takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.oracle.translation import GAP, Rule

from margent import _core

N_DENSE = 18


def table_of(rules: Sequence[Rule], counts: Sequence[float], lexical: Any, n_words: int = 3) -> tuple[Any, list[int]]:
    """The native table, and which of the rules each of its rules is. Symbols are numbers or GAP, 1 and 2 in targets are
    nonterminals as -1 and -2 there: see `Rule`; target words here are numbers from 10 on, less 10 in the table."""
    paths: set[tuple[int, ...]] = {()}
    sides = [tuple(-1 if s == GAP else int(s) for s in rule.source) for rule in rules]
    for side in sides:
        paths.update(side[:n] for n in range(1, len(side) + 1))
    order = [()]
    for path in order:  # level by level: children in the order of their parents
        order.extend(sorted(p for p in paths if p and p[:-1] == path))
    number = {path: i for i, path in enumerate(order)}
    child_ptr, symbols = [0], []
    for path in order:
        children = sorted(p for p in paths if p and p[:-1] == path)
        symbols.extend(p[-1] for p in children)
        child_ptr.append(len(symbols))
    targets = sorted({rule.target for rule in rules})
    places = sorted(range(len(rules)), key=lambda r: (number[sides[r]], -counts[r], rules[r].target))
    rule_ptr = np.zeros(len(order) + 1, np.int32)
    source_counts, target_counts = np.ones(len(order)), np.zeros(len(targets))
    for r in places:
        rule_ptr[number[sides[r]] + 1] += 1
        source_counts[number[sides[r]]] += counts[r]
        target_counts[targets.index(rules[r].target)] += counts[r]
    symbols_of = [[-s if s in (1, 2) else s - 10 for s in target] for target in targets]
    table = _core.RuleTable(
        np.array(child_ptr, np.int32),
        np.array(symbols, np.int32),
        source_counts,
        np.cumsum(rule_ptr, dtype=np.int32),
        np.array([targets.index(rules[r].target) for r in places], np.int32),
        np.array([counts[r] for r in places], np.float64),
        np.array([lexical[r] for r in places], np.float32).ravel(),
        np.cumsum([0, *map(len, symbols_of)], dtype=np.int64),
        np.array([s for side in symbols_of for s in side], np.int32),
        target_counts,
        n_words,
        n_words,
    )
    return table, places


def language_model(sentences: Sequence[Sequence[int]], n_words: int, order: int) -> Any:
    counts = _core.GramCounts()
    for sentence in sentences:
        whole = [n_words + 1, *sentence, n_words]
        for end in range(2, len(whole) + 1):
            counts.add(whole[max(0, end - order) : end], 1.0)
    model = _core.GramModel.of(counts, n_words)
    model.estimate(np.full((order, 3), 0.6))
    return model


def weight_rows(dense: Any, sparse: dict[int, float] | None = None) -> Any:
    keys = {_core.dense_feature_key(k): float(w) for k, w in enumerate(dense)} | (sparse or {})
    return _core.FeatureRows(
        1,
        np.array(list(keys), np.uint64),
        np.arange(len(keys) + 1, dtype=np.int64),
        np.zeros(len(keys), np.int32),
        np.array(list(keys.values()), np.float32),
    )


NO_TEMPLATES = (np.zeros((0, 2), np.int32), np.zeros(1, np.int64))


def translations(
    table: Any,
    model: Any,
    model_words: Sequence[int],
    sentences: Sequence[Sequence[int]],
    *,
    span_limit: int = 10,
    templates: Any = None,
    sources: Any = None,
) -> Any:
    words = np.array([w for sentence in sentences for w in sentence], np.int32)
    return _core.Translations(
        table,
        [_core.TargetModel(model, np.array(model_words, np.int32))],
        _core.RuleTemplates(*NO_TEMPLATES) if templates is None else templates,
        np.cumsum([0, *map(len, sentences)], dtype=np.int64),
        words,
        (words + 1).reshape(-1, 1),
        np.zeros(len(words), np.uint8),
        span_limit,
        0,
        sources,
    )
