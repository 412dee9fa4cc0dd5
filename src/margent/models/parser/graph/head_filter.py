"""The filter of heads: a small model of which head a word has, learned before the parser and searched before it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.part_templates import PartTemplates
from margent.models.parser.graph.templates import ARC, native_templates, part_kind, preset

MOST_BITS = 20
"""There are at most 2^20 weights; features with equal hashes share one."""
MOST_HEADS = 10
"""A word keeps no more heads."""
THRESHOLD = 1e-3
"""A head is left out that is less probable than this times the most probable one."""
_PASSES, _SLICE, _STEP = 3, 64, 0.1
# Of stochastic gradient descent over so many sentences with the same step; steps shrink to a third of the first.


def fitting_bits(n_features: int, most: int) -> int:
    """b for 2^b weights, half as many as features are seen in right arcs, most of them more than once."""
    return min(max(n_features.bit_length() - 1, 12), most)


def filter_templates(templates: PartTemplates, atoms: Sequence[str]) -> PartTemplates:
    """Those of filter.txt as far as their atoms are there; else those of arcs among `templates`."""
    known = set(atoms)
    chosen = [
        terms
        for terms in preset("filter").templates
        if all(term.address is None or term.atom in known for term in terms)
    ]
    if not any(term.address == "h" for terms in chosen for term in terms):
        chosen = [
            terms
            for terms in templates.templates
            if part_kind(terms) == ARC and all(term.address != "between" for term in terms)
        ]
    return PartTemplates(tuple(chosen))


def learned_filter(
    templates: PartTemplates, atoms: Sequence[str], examples: _core.TreeExamples, n_tokens: int, seed: int
) -> NDArray[np.float32]:
    """(2^bits,) the weights w that maximise the sum over words of log p(head), p(h) = exp(w . f(h, m)) / Z(m), by
    stochastic gradient descent."""
    bits = fitting_bits(n_tokens * len(templates), MOST_BITS)
    oracle = _core.HeadOracle(native_templates(templates, atoms), examples, bits)
    likelihood = oracle.likelihood()
    random = np.random.default_rng(seed)
    n_slices = -(-len(oracle) // _SLICE)
    for step in range(_PASSES * n_slices):
        if step % n_slices == 0:
            order = random.permutation(len(oracle)).astype(np.int64)
        part = order[_SLICE * (step % n_slices) :][:_SLICE]
        likelihood.descend(part, _STEP / (1 + 2 * step / (_PASSES * n_slices)), 0.0, 0.0)
    return np.asarray(oracle.weights(False), np.float32)


def native_filter(templates: PartTemplates, atoms: Sequence[str], weights: NDArray[np.float32]) -> _core.HeadFilter:
    return _core.HeadFilter(
        native_templates(templates, atoms), weights, len(weights).bit_length() - 1, MOST_HEADS, THRESHOLD
    )
