"""The actions of a transition-based parser: which transitions there are, and with which labels they were seen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.models.parser.data import ParserData

TRANSITIONS = ("shift", "reduce", "swap", "left", "right", "finish")
"""As native code numbers them. `finish` hangs the last word on the root."""

_PLAIN = {
    "arc-standard": ("shift",),
    "arc-hybrid": ("shift",),
    "arc-eager": ("shift", "reduce"),
    "swap": ("shift", "swap"),
}


def native_system(system: str) -> _core.ParsingTransitions:
    found: _core.ParsingTransitions = getattr(_core.ParsingTransitions, system.replace("-", "_"))
    return found


@dataclass(frozen=True)
class Actions:
    """A transition for each action, and the number of a label, -1 where it makes no arc."""

    transitions: NDArray[np.int32]
    labels: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.transitions)

    @classmethod
    def seen_in(cls, data: ParserData, system: str, known: Actions | None = None) -> Actions:
        """Those that the trees of a treebank need; `known` come first, so that they keep their numbers.

        An arc whose dependent stands before its head is a `left` one. With "swap", which puts words into another
        order, each label goes with both. Of each kind there is one action at least, so that every search comes to an
        end.
        """
        pairs = [] if known is None else list(zip(known.transitions.tolist(), known.labels.tolist()))
        pairs += [(TRANSITIONS.index(name), -1) for name in _PLAIN[system]]
        ptr = data.tokens.sequence_ptr
        words = np.arange(len(data.heads)) - np.repeat(ptr[:-1], np.diff(ptr)) + 1
        is_known = (data.heads >= 0) & (data.labels >= 0)
        kinds = {
            "left": data.heads > words,
            "right": (data.heads > 0) & (data.heads < words),
            "finish": data.heads == 0,
        }
        if system == "swap":
            kinds["left"] = kinds["right"] = data.heads > 0
        for name, chosen in kinds.items():
            labels = np.unique(data.labels[chosen & is_known]).tolist()
            pairs += [(TRANSITIONS.index(name), label) for label in labels or [0]]
        unique = np.array(list(dict.fromkeys(pairs)), dtype=np.int32)
        return cls(np.ascontiguousarray(unique[:, 0]), np.ascontiguousarray(unique[:, 1]))

    @cached_property
    def native(self) -> _core.ParserActions:
        return _core.ParserActions(self.transitions, self.labels)

    def name(self, action: int, labels: tuple[str, ...]) -> str:
        """Readable: "shift", "left nsubj"."""
        label = int(self.labels[action])
        transition = TRANSITIONS[int(self.transitions[action])]
        return transition if label < 0 else f"{transition} {labels[label]}"
