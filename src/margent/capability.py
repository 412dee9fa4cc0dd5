"""What an oracle can do for a learner, and what the structures of the library can.

An oracle declares its capabilities, a learner declares which it needs, and whether they fit is decided by these
declarations alone, before any training (`margent.learners.check_fits`).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType


class Capability(Enum):
    """What an oracle can do; each with what a learner does that needs it, and what is said of a structure without."""

    RIVALS = "learns from the best wrong answers of each example", "does not find them"
    WHOLE_ANSWERS = "keeps whole wrong answers of each example", "has only parts of answers, or no fixed right one"
    LIKELIHOOD = "sums over all answers", "has no such sums"
    BEAM_LIKELIHOOD = "sums over what survives a beam (search='beam')", "has no such sums"
    EXAMPLE_LIKELIHOOD = "moves after each example (method='sgd')", "has only the likelihood of all examples together"
    BEST_COMPLETION = "counts the best right answer alone (completion='best')", "sums over all right answers together"
    LABEL_PARAMETERS = "chooses among weights of labels (all_pairs, all_transitions, boundaries)", "has no labels"
    COUNTS = "counts labels and the features seen with them", "cannot count them"
    SOFT_COUNTS = "expects counts of labels that are missing (iterations)", "cannot expect any"
    COMPLETION = "fixes the best right answer of each example", "cannot fix it"
    K_GRAM_HINGE = "learns tables of k-gram scores", "has none"
    GRAPHONE_COUNTS = "counts graphones over latent alignments", "has none"
    RULE_COUNTS = "counts the rules of trees", "has no rules"
    GRADIENTS = "steps along the gradients of batches", "has no gradients of batches"
    FRAME_STATISTICS = "fits densities to the frames of segments", "has no frames"

    def __init__(self, need: str, lack: str) -> None:
        self.need, self.lack = need, lack


Capabilities = frozenset[Capability]

_RIVALS = frozenset({Capability.RIVALS})
_EXACT = frozenset(
    {
        Capability.LIKELIHOOD,
        Capability.EXAMPLE_LIKELIHOOD,
        Capability.BEST_COMPLETION,
        Capability.LABEL_PARAMETERS,
    }
)
_HIDDEN_CHAIN = _RIVALS | _EXACT | {Capability.BEAM_LIKELIHOOD, Capability.COMPLETION, Capability.SOFT_COUNTS}
_CHAIN = _HIDDEN_CHAIN | {Capability.WHOLE_ANSWERS, Capability.COUNTS}
_ALL_DERIVATIONS = _RIVALS | {
    Capability.WHOLE_ANSWERS,
    Capability.LIKELIHOOD,
    Capability.EXAMPLE_LIKELIHOOD,
    Capability.BEST_COMPLETION,
    Capability.COMPLETION,
}
_SEGMENTS = _RIVALS | _EXACT | {Capability.WHOLE_ANSWERS}

STRUCTURES: Mapping[str, Capabilities] = MappingProxyType(
    {
        "chain": _CHAIN,
        "chain under a beam": _CHAIN - {Capability.WHOLE_ANSWERS},
        "chain of hidden labels": _HIDDEN_CHAIN,
        "chain of hidden labels under a beam": _HIDDEN_CHAIN,
        "chain with a kernel": _RIVALS | {Capability.WHOLE_ANSWERS, Capability.COMPLETION},
        "chain with a kernel under a beam": _RIVALS | {Capability.COMPLETION},
        "segments of frames": _SEGMENTS | {Capability.FRAME_STATISTICS},
        "segments of tokens": _SEGMENTS,
        "listed answers": _RIVALS | {Capability.WHOLE_ANSWERS, Capability.LIKELIHOOD, Capability.BEST_COMPLETION},
        "co-segments": _RIVALS
        | {Capability.BEAM_LIKELIHOOD, Capability.EXAMPLE_LIKELIHOOD, Capability.BEST_COMPLETION},
        "alignments": frozenset({Capability.GRAPHONE_COUNTS}),
        "transitions": _RIVALS | {Capability.LIKELIHOOD, Capability.BEAM_LIKELIHOOD, Capability.EXAMPLE_LIKELIHOOD},
        "transitions of a parser": _RIVALS | {Capability.BEAM_LIKELIHOOD, Capability.EXAMPLE_LIKELIHOOD},
        "decisions of a parser": _RIVALS,
        "dependency arcs": _ALL_DERIVATIONS,
        "forest": _ALL_DERIVATIONS,
        "derivations of meanings": _RIVALS | {Capability.BEAM_LIKELIHOOD, Capability.EXAMPLE_LIKELIHOOD},
        "trees of phrases": _ALL_DERIVATIONS | {Capability.RULE_COUNTS},
        "derivations of translations": _RIVALS,
        "network of trees": frozenset({Capability.GRADIENTS}),
        "k-grams": frozenset({Capability.K_GRAM_HINGE}),
    }
)
"""By the name that an oracle of the library gives as its `structure`: what it can do."""

METHODS: Mapping[str, Capabilities] = MappingProxyType(
    {
        "answer": _RIVALS | {Capability.WHOLE_ANSWERS},
        "log_loss": frozenset({Capability.LIKELIHOOD, Capability.EXAMPLE_LIKELIHOOD}),
        "gradient": frozenset({Capability.GRADIENTS}),
    }
)
"""What an oracle written in Python can do by its methods, unless its class has `capabilities`."""


def chain_structure(*, beam: bool = False, hidden: bool = False, kernel: bool = False) -> str:
    """The name of a label chain among `STRUCTURES`."""
    name = "chain with a kernel" if kernel else "chain of hidden labels" if hidden else "chain"
    return f"{name} under a beam" if beam else name
