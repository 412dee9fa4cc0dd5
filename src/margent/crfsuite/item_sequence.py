"""The attributes of a sequence, read once."""

from __future__ import annotations

from typing import Any

import numpy as np

from margent import _core


class ItemSequence:
    """A sequence of tokens with their attributes, as python-crfsuite has it.

    >>> ItemSequence([{"word": "the", "length": 3}, ["name"]]).items()
    [{'length': 3.0, 'word:the': 1.0}, {'name': 1.0}]
    """

    def __init__(self, xseq: Any) -> None:
        names = _core.StringTable()
        ids, values, ptr, _ = _core.encode_attributes([list(xseq)], names, True, zeros=True)
        weights = np.ones(len(ids), np.float32) if values is None else values
        texts = names.strings(0)
        self._items = [  # a number of 32 bits as it was written: 0.1, not 0.10000000149
            {texts[i]: float(str(weight)) for i, weight in zip(ids[a:b].tolist(), weights[a:b])}
            for a, b in zip(ptr[:-1].tolist(), ptr[1:].tolist())
        ]

    def items(self) -> list[dict[str, float]]:
        """For each token its attributes with their values."""
        return [dict(item) for item in self._items]

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"<ItemSequence ({len(self)})>"


def items_of(xseq: Any) -> Any:
    """What a model takes: the items of an `ItemSequence`, anything else as it is."""
    return xseq.items() if isinstance(xseq, ItemSequence) else xseq
