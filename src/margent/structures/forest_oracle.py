"""Learning which derivations of forests are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.structures.forest import Forest
from margent.structures.forest_batch import ForestBatch


class ForestOracle(_core.ForestOracle):
    """Forests with features on their edges, and which of their derivations are right: what a learner learns from.

    Several derivations of a forest may be right. Learners with a margin then move towards the one that is best under
    the weights as they are; for a CRF all of them together, or the best alone (`CRF(completion=)`), are to be probable.

    Parameters
    ----------
    forests : forests, or a `ForestBatch` of them
        One for each example. Their own scores must be 0, or -inf for forbidden edges.
    right : for each forest a mask (E,) of booleans, or a forest of right derivations
        A mask: a derivation is right if it uses only edges with True. A forest: its derivations are the right ones,
        with features of their own; those of `forests` should hold them, or else probabilities mean little.
    costs : for each forest (E,) numbers of at least 0, optional
        The loss of a derivation is the sum of the costs of its edges, and an edge that costs something is an error.
        With masks, an edge outside of the mask costs 1 unless this is given, and one within must cost 0; with forests
        of right derivations they must be given.
    n_features : int, optional
        One more than the largest feature named unless given.
    sample_weight : (n,) numbers of at least 0, optional
        Of the examples.

    An example costs two passes over its forest. Every forest must have a derivation, and a right one: leave out those
    that have none (``forest.restrict(mask).count() == 0``).

    Example
    -------
    >>> import margent
    >>> builder = margent.ForestBuilder()
    >>> root = builder.add_node()
    >>> for feature in (0, 1):
    ...     _ = builder.add_edge(root, features=[feature])
    >>> oracle = margent.structures.ForestOracle([builder.build()], right=[[False, True]])
    >>> margent.train(margent.Perceptron(epochs=2, average=False), oracle).weights
    array([-1.,  1.])
    """

    def __init__(
        self,
        forests: Sequence[Forest] | ForestBatch,
        right: Sequence[npt.ArrayLike] | Sequence[Forest] | ForestBatch,
        *,
        costs: Sequence[npt.ArrayLike] | None = None,
        n_features: int | None = None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> None:
        batch = forests if isinstance(forests, ForestBatch) else ForestBatch(forests, n_features)
        listed: Sequence[Any] = right.forests if isinstance(right, ForestBatch) else list(right)
        if len(listed) != len(batch):
            raise ValueError(f"right has {len(listed)} entries; expected {len(batch)}, one for each forest")
        batch.check_derivations()
        mask, other = None, None
        if isinstance(listed[0], Forest):
            other = right if isinstance(right, ForestBatch) else ForestBatch(listed)
            other.check_derivations(kind="right derivation")
            if other.n_features > batch.n_features:
                if n_features is not None or isinstance(forests, ForestBatch):
                    raise ValueError(f"n_features is {batch.n_features}; expected at least {other.n_features}")
                batch = ForestBatch(batch.forests, other.n_features)
            if costs is None:
                raise ValueError("costs is None; expected costs of edges where right derivations are forests")
        else:
            mask = _per_edge(listed, batch, "right", "b", "booleans")
            batch.check_derivations(mask, "right derivation")
        self.forests = batch
        super().__init__(
            batch.native,
            None if other is None else other.native,
            None if mask is None else mask.view(np.uint8),
            _costs(costs, batch, mask),
            None if sample_weight is None else _weights(sample_weight, len(batch)),
            batch.n_features,
        )


def _per_edge(
    given: Sequence[npt.ArrayLike], batch: ForestBatch, name: str, kinds: str, expected: str
) -> npt.NDArray[Any]:
    """Arrays over the edges of each forest, checked, as one."""
    arrays = [np.asarray(values) for values in given]
    if len(arrays) != len(batch):
        raise ValueError(f"{name} has {len(arrays)} entries; expected {len(batch)}, one for each forest")
    for i, (array, forest) in enumerate(zip(arrays, batch.forests)):
        if array.shape != (forest.n_edges,) or array.dtype.kind not in kinds:
            raise ValueError(
                f"{name} of forest {i} has shape {array.shape} and type {array.dtype}; "
                f"expected ({forest.n_edges},) {expected}"
            )
    return np.concatenate(arrays)


def _costs(
    given: Sequence[npt.ArrayLike] | None, batch: ForestBatch, mask: npt.NDArray[np.bool_] | None
) -> npt.NDArray[np.float64]:
    if given is None:
        assert mask is not None
        return np.where(mask, 0.0, 1.0)
    costs = _per_edge(given, batch, "costs", "iuf", "real numbers").astype(np.float64)
    wrong = ~((costs >= 0) & (costs < np.inf))
    if wrong.any():
        raise ValueError(f"costs holds {costs[wrong][0]}; expected finite numbers of at least 0")
    if mask is not None and costs[mask].any():
        raise ValueError(f"costs has {costs[mask].max()} for a right edge; expected 0 for the edges of the masks")
    return costs


def _weights(given: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
    weights = np.ascontiguousarray(given, dtype=np.float64)
    if weights.shape != (n,) or not ((weights >= 0) & (weights < np.inf)).all():
        raise ValueError(f"sample_weight has shape {weights.shape}; expected ({n},) finite numbers of at least 0")
    return weights
