"""What mistakes cost: for each right label, or for each pair of a right and a predicted label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from margent.models.labels import LabelSet
from margent.parameters import LARGEST, as_float

LabelCosts = Mapping["str | tuple[str, str]", float]
"""Label to the cost of a mistake where it is right; (right, predicted) to the cost of just this mistake."""


def costs_of(label_costs: LabelCosts | None, labels: LabelSet) -> list[float]:
    """The costs as the oracle takes them: [] where none are given, [L] for labels, [L * L] row by row for pairs.

    A pair goes before its right label, and what is not named costs 1.
    """
    if label_costs is None:
        return []
    for key in label_costs:
        for name in key if isinstance(key, tuple) else (key,):
            if name not in labels.ids or name is None:
                raise ValueError(f"label_costs names {name!r}, which is not among the labels {', '.join(labels.names)}")
    costs = np.array([label_costs.get(name, 1.0) for name in labels.names], dtype=np.float64)
    pairs = {key: cost for key, cost in label_costs.items() if isinstance(key, tuple)}
    if pairs:
        costs = np.repeat(costs[:, None], len(labels), axis=1)
        for (right, predicted), cost in pairs.items():
            costs[labels.ids[right], labels.ids[predicted]] = cost
    return [float(cost) for cost in costs.ravel()]


def check_label_costs(label_costs: Any) -> None:
    """All that can be checked before the labels are known."""
    if label_costs is None:
        return
    wanted = "label_costs of Tagger should be a dict from label, or (right label, predicted label), to cost"
    if not isinstance(label_costs, Mapping):
        raise ValueError(f"{wanted}, got {label_costs!r}")
    for key, cost in label_costs.items():
        if isinstance(key, tuple) and (len(key) != 2 or key[0] == key[1]):
            raise ValueError(f"{wanted}, got {key!r} in it: a pair is of two different labels")
        what = f"{key[1]!r} for {key[0]!r}" if isinstance(key, tuple) else f"label {key!r}"
        if not 0 <= as_float(cost) <= LARGEST:
            bound = f"of at most {LARGEST:g}" if as_float(cost) > LARGEST else "of at least 0"
            raise ValueError(f"the cost of {what} should be a number {bound}, got {cost!r}")
