"""Where the training of hidden labels begins: with weights that differ by chance, as without that none would differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.training import Training
from margent.models.tagger.hidden.sublabels import Sublabels
from margent.models.tagger.weights import Trainable

NOISE = 0.01
"""The standard deviation of the weights at the start."""


def with_noise(oracle: _core.ChainOracle, labels: Sublabels, known: int, random: np.random.Generator) -> None:
    """Gives an oracle random weights for its labels from `known` on, where they are split.

    Those of features and label pairs that were seen in the training data; all others stay as they are.
    """
    counts, weights, split = oracle.counts(), oracle.weights(False), labels.sizes > 1
    split[:known] = False
    ptr, first, _ = counts["unigrams"]
    rows, chosen = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), split[labels.seen[first]]
    columns, columns_ptr = labels.spread(labels.seen[first[chosen]])
    rows = np.repeat(rows[chosen], np.diff(columns_ptr))
    noise = (NOISE * random.standard_normal(len(rows))).astype(np.float32)
    if isinstance(weights["unigrams"], tuple):
        weights["unigrams"] = _added(weights["unigrams"], rows, columns, noise)
    else:
        weights["unigrams"][rows, columns] += noise
    if oracle.learn_transitions:
        seen = counts["transitions"][0][np.ix_(labels.first, labels.first)] > 0  # which label was seen after which
        pairs = (seen & (split[:, None] | split))[np.ix_(labels.seen, labels.seen)]
        noise = (NOISE * random.standard_normal(pairs.shape)).astype(np.float32)
        weights["transitions"][0][: labels.n_hidden, : labels.n_hidden] += noise * pairs
    oracle.start_from(weights)


def _added(
    arrays: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]],
    rows: NDArray[np.int64],
    columns: NDArray[np.int32],
    noise: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Sparse rows with these entries too, of which none is there yet; without zeros."""
    ptr, old, weights = arrays
    size, n_rows = int(ptr[-1]), len(ptr) - 1
    rows = np.concatenate([np.repeat(np.arange(n_rows), np.diff(ptr)), rows])
    columns = np.concatenate([old[:size], columns]).astype(np.int32)
    values = np.concatenate([weights[:size], noise])
    order = np.lexsort((columns, rows))
    order = order[values[order] != 0]
    ends = np.cumsum(np.bincount(rows[order], minlength=n_rows))
    return np.concatenate([[0], ends]), columns[order], values[order]


def best_of_starts(
    begun: Callable[[np.random.Generator], Trainable], run: Callable[[Trainable], Training], restarts: int, seed: int
) -> tuple[Trainable, Training]:
    """The best of some trainings from different random weights.

    Ctrl-C, in one of them or in between, ends them with what there is.
    """
    best: tuple[Trainable, Training] | None = None
    for start in range(restarts):
        try:
            trainable = begun(np.random.default_rng([seed, start]))
            found = trainable, run(trainable)
        except KeyboardInterrupt:
            if best is None:
                raise
            best[1].interrupted = True
            return best
        interrupted = found[1].interrupted
        if best is None or _goodness(found[1]) > _goodness(best[1]):
            best = found
        if interrupted:
            best[1].interrupted = True
            break
    assert best is not None
    return best


def _goodness(result: Training) -> float:
    """Of a training: its best score on development data, or else how little is left of what its learner lowers."""
    if not result.history:
        return -np.inf
    if result.best_epoch is not None:
        return float(max(epoch.dev_score for epoch in result.history if epoch.dev_score is not None))
    last = result.history[-1]
    lowered = last.objective if last.accuracy is None and last.objective is not None else last.loss
    return -float(lowered)
