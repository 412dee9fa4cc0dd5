"""The inner products that learners ask an oracle for are those of the deltas it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.features.encoded import Encoded, sequence_ptr

N_LABELS, N_FEATURES, N_EDGES = 5, 12, 3
LENGTHS = (1, 2, 4, 9, 90)  # few places to differ in, and more than are compared two by two


def oracle(seed: int, order: int, weighted: bool, edges: bool, transitions: bool, missing: bool) -> _core.ChainOracle:
    random = np.random.default_rng(seed)
    n_tokens = sum(LENGTHS)

    def some(n_ids: int, most: int) -> tuple[Any, Any, Any]:
        counts = random.integers(0, most, n_tokens)
        ids = random.integers(0, n_ids, counts.sum()).astype(np.int32)  # a token may have a feature twice
        return ids, sequence_ptr(counts), random.normal(size=len(ids)).astype(np.float32) if weighted else None

    ids, ptr, values = some(N_FEATURES, 21)
    labels = random.integers(-1 if missing else 0, N_LABELS, n_tokens).astype(np.int32)
    examples = Encoded(sequence_ptr(LENGTHS), ids, ptr, values, *(some(N_EDGES, 3) if edges else (None, None, None)))
    return _core.ChainOracle(
        examples.examples(labels), N_LABELS, order, transitions, N_FEATURES, N_EDGES if edges else 0, False, []
    )


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("edges", "transitions"), [(False, True), (True, True), (True, False), (False, False)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_they_are_those_of_the_deltas(
    order: int, weighted: bool, edges: bool, transitions: bool, missing: bool
) -> None:
    native = oracle(order, order, weighted, edges, transitions, missing)
    rule = _core.PassiveAggressiveRule(0.1, 2, False)
    compared = 0
    for _ in range(4):  # from no weights at all to good ones: rivals differ from gold in many places, then in few
        for example in range(len(LENGTHS)):
            for k in (1, 2, 6):
                _, rivals = native.ask(example, k, 1.0)
                for i, (*_, a) in enumerate(rivals):
                    for j, (*_, b) in enumerate(rivals):
                        wanted = sum(value * b.get(key, 0.0) for key, value in a.items())
                        assert native.dot(i, j) == pytest.approx(wanted, rel=1e-9, abs=1e-6)
                        compared += wanted != 0
        _core.run(native, rule, np.arange(len(LENGTHS)))
    assert compared > 100


def test_there_are_none_of_rivals_that_were_not_found() -> None:
    native = oracle(0, 1, False, False, True, False)
    native.ask(1, 2, 1.0)
    with pytest.raises(IndexError, match="no such rival"):
        native.dot(0, 2)
