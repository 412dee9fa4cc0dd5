"""The filter of arcs: a small model of the head and label of each word by itself, which comes before the parser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.part_templates import PartTemplates
from margent.models.parser.graph.hashed_weights import bits_of, fitting_bits, restored_hashed, stored_hashed
from margent.models.parser.graph.templates import (
    ARC,
    native_templates,
    part_kind,
    preset,
    restored_templates,
)
from margent.storage import ModelFile

MOST_BITS = 21
"""There are at most 2^21 weights; features with equal hashes share one."""
MOST_HEADS, MOST_LABELS = 10, 6
"""A word keeps no more heads, and an arc no more labels."""
THRESHOLD = 1e-3
"""What is less probable than this times the most probable of a word is left out."""
_PASSES, _SLICE, _STEP = 4, 64, 0.1
# Of stochastic gradient descent over so many sentences with the same step; steps shrink to a third of the first.


@dataclass(frozen=True)
class ArcFilter:
    """weights (2^bits + padding,) float32 of the features of arcs and of rows of labels (core/arcs/arc_filter.hpp)."""

    parts: PartTemplates
    weights: NDArray[np.float32]
    n_labels: int

    @classmethod
    def learned(
        cls,
        templates: PartTemplates,
        atoms: Sequence[str],
        examples: _core.TreeExamples,
        n_tokens: int,
        n_labels: int,
        seed: int,
        start: ArcFilter | None = None,
    ) -> ArcFilter:
        """The weights w that maximise the sum over words of log p(head) p(label | head), by stochastic gradient
        descent: each word has a head and a label of its own. `start`: the filter to continue from."""
        parts = filter_templates(templates, atoms) if start is None else start.parts
        bits = fitting_bits(n_tokens * len(parts), MOST_BITS, n_labels) if start is None else start.bits
        oracle = _core.ArcFilterOracle(native_templates(parts, atoms), examples, bits)
        if start is not None:
            known = np.zeros(_n_weights(bits, n_labels))
            known[: len(start.weights)] = start.weights
            oracle.start_from(known)
        likelihood = oracle.likelihood()
        random = np.random.default_rng(seed)
        n_slices = -(-len(oracle) // _SLICE)
        for step in range(_PASSES * n_slices):
            if step % n_slices == 0:
                order = random.permutation(len(oracle)).astype(np.int64)
            part = order[_SLICE * (step % n_slices) :][:_SLICE]
            likelihood.descend(part, _STEP / (1 + 2 * step / (_PASSES * n_slices)), 0.0, 0.0)
        return cls(parts, np.asarray(oracle.weights(False), np.float32), n_labels)

    @property
    def bits(self) -> int:
        return bits_of(len(self.weights) - int(_core.padded_width(self.n_labels)))

    def native(self, atoms: Sequence[str]) -> _core.ArcFilter:
        return _core.ArcFilter(
            native_templates(self.parts, atoms),
            self.weights,
            self.bits,
            self.n_labels,
            MOST_HEADS,
            MOST_LABELS,
            THRESHOLD,
        )

    def stored(self, half: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {"filter_templates": self.parts.lines, "filter_bits": self.bits}
        return header, stored_hashed("filter_weights", self.weights, half)

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int, atoms: Sequence[str], half: bool) -> ArcFilter:
        parts = restored_templates(file, "filter_templates", atoms)
        if any(part_kind(terms) != ARC for terms in parts.templates):
            raise file.error("the templates of its filter should be of single arcs")
        bits = file.value("filter_bits", int, minimum=4, maximum=MOST_BITS)
        return cls(parts, restored_hashed(file, "filter_weights", _n_weights(bits, n_labels), half), n_labels)


def filter_templates(templates: PartTemplates, atoms: Sequence[str]) -> PartTemplates:
    """Those of filter.txt as far as their atoms are there; where these see no two words, those of arcs among
    `templates`."""
    known = set(atoms)
    chosen = [
        terms
        for terms in preset("filter").templates
        if all(term.address is None or term.atom in known for term in terms)
    ]
    if not any({"h", "m"} <= {term.address for term in terms} for terms in chosen):
        chosen = [
            terms
            for terms in templates.templates
            if part_kind(terms) == ARC and all(term.address != "between" for term in terms)
        ]
    return PartTemplates(tuple(chosen))


def _n_weights(bits: int, n_labels: int) -> int:
    return (1 << bits) + int(_core.padded_width(n_labels))
