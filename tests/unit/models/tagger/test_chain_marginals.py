"""Marginals in single precision, as `predict_marginals` makes them, beside those in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from margent import Tagger, make_addresses


@pytest.mark.parametrize("factor", [0.01, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("options", [{}, {"constrain": True}, {"tag_dictionary": 2}, {"order": 2}], ids=str)
def test_quick_marginals_are_those_of_double_precision(options: dict[str, Any], factor: float) -> None:
    X, y = make_addresses(60, seed=3)
    tagger = Tagger(threads=1, **options).fit(X, y)
    encoded, restrictions = tagger.model_.encode([*X, []])
    examples, chain = encoded.examples(allowed=restrictions.seen), tagger.weights_.native()
    quick, none, log_z = chain.marginals(examples, factor, False, 1)
    exact, pairs, exact_log_z = chain.marginals(examples, factor, True, 1)  # with pairs: always in double precision
    assert none is None and pairs is not None
    np.testing.assert_allclose(quick, exact, atol=2e-6)
    np.testing.assert_allclose(quick.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(log_z, exact_log_z, rtol=1e-6, atol=1e-5)
    assert (quick[exact == 0] == 0).all()
    threaded, _, _ = chain.marginals(examples, factor, False, 3)
    assert threaded.tobytes() == quick.tobytes()
