"""The probabilistic context-free grammar: the learner of trees that only counts."""

from __future__ import annotations

from dataclasses import dataclass

from margent.capability import Capabilities, Capability
from margent.learners.base import Learner


@dataclass(frozen=True)
class PCFG(Learner):
    """A grammar with relative frequencies as probabilities (Booth and Thompson 1973), for a `PhraseParser`.

    The trees are binarised, with as much context as the parser's `Markovisation` says, and counted; unknown words have
    tags by their spelling. Nothing is searched for in training. When to use it: as a baseline, and where there is no
    time; discriminative learners use the same grammar to prune phrases that are not worth a look. Its probabilities
    are too close to 0 and 1, and need a temperature as those of the max-margin learners do. `partial_fit` adds counts.
    """

    @property
    def needs(self) -> Capabilities:
        return frozenset({Capability.RULE_COUNTS})
