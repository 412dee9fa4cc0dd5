"""Where the training of hidden labels begins: with weights that differ by chance, as without that none would differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.learners.training import Training
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.hidden.labels import HiddenLabels
from margent.models.tagger.weights import Trainable

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger

Begun = Callable[[HiddenLabels, "ChainWeights | None"], Trainable]
"""From hidden labels, and the weights to begin with, to a training."""

NOISE = 0.01
"""The standard deviation of the weights at the start."""


def with_noise(oracle: _core.ChainOracle, labels: HiddenLabels, known: int, random: np.random.Generator) -> None:
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
        width = _core.padded_width(labels.n_hidden)
        weights["unigrams"] = _added(weights["unigrams"], rows, columns, noise, width)
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
    width: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Sparse rows with these entries too; none of them is there yet."""
    from scipy import sparse

    ptr, old, weights = arrays
    shape = (len(ptr) - 1, width)
    size = int(ptr[-1])
    table = sparse.csr_matrix((weights[:size], old[:size], ptr), shape)
    found = sparse.csr_matrix(table + sparse.csr_matrix((noise, (rows, columns)), shape))
    found.sort_indices()
    return found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data.astype(np.float32)


def best_of_starts(
    tagger: Tagger, labels: HiddenLabels, begun: Begun, run: Callable[[Trainable], Training]
) -> tuple[Trainable, Training]:
    """The best of `restarts` trainings from different random weights."""

    def trainings() -> Iterator[tuple[Trainable, Training]]:
        for start in range(int(tagger.restarts)):
            trainable = begun(labels, None)
            with_noise(trainable.oracle, labels, 0, np.random.default_rng([int(tagger.seed), start]))
            yield trainable, run(trainable)

    return best_training(trainings(), True)


def best_training(trainings: Iterator[tuple[Trainable, Training]], compare: bool) -> tuple[Trainable, Training]:
    """The best of trainings that are made one after the other, or without `compare` the last.

    Ctrl-C, in one of them or in between, ends them with what there is.
    """
    best: tuple[Trainable, Training] | None = None
    interrupted = False
    while not interrupted:
        try:
            found = next(trainings)
        except StopIteration:
            break
        except KeyboardInterrupt:
            if best is None:
                raise
            interrupted = True
            break
        if best is None or not compare or _goodness(found[1]) > _goodness(best[1]):
            best = found
        interrupted = found[1].interrupted
    assert best is not None
    best[1].interrupted = interrupted
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
