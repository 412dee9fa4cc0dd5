"""Hidden labels that grow: split all in two, train, merge those that did not help, train, and again.

As in latent grammars (Petrov, Barrett, Thibaux and Klein 2006). Differs: there a merge is judged by an approximation to
the likelihood; here by the score on development data, or else on the training data, of the model in which just these
two labels are one. That takes one tagging of those data for each split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.features.feature_map import FeatureMap
from margent.learners.training import Training
from margent.models.labels import MISSING
from margent.models.tagger.chain.sparse_rows import SparseRows
from margent.models.tagger.chain.weights import ChainWeights
from margent.models.tagger.hidden.label_mixture import mixed
from margent.models.tagger.hidden.labels import HiddenLabels
from margent.models.tagger.hidden.starts import NOISE, Begun, best_training
from margent.models.tagger.weights import Trainable, TrainingSet, Weights

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger

Score = Callable[[Weights], float]


def grown(
    tagger: Tagger,
    data: TrainingSet,
    feature_map: FeatureMap,
    n_labels: int,
    begun: Begun,
    run: Callable[[Trainable], Training],
    evaluate: Score | None,
) -> tuple[Trainable, Training]:
    """As many rounds as it takes from one hidden label for each label to `hidden`.

    `evaluate`: the score on development data, by which also the best round is kept; without it, the last one is.
    """
    threads, random = tagger._threads(), np.random.default_rng([int(tagger.seed), 0])

    def on_training_data(weights: Weights) -> float:
        found, _ = weights.structure(None).search(feature_map, data.encoded, data.allowed, threads).best()
        return float(np.mean((found == data.ids)[data.ids != MISSING]))

    def uses(weights: Any) -> NDArray[np.int64]:
        """(H,) how often each hidden label is the best for a token that has its label."""
        search = weights.chain.structure(None).search(feature_map, data.encoded, weights.labels.only(data.ids), threads)
        return np.bincount(search.best()[0], minlength=weights.labels.n_hidden)

    def trained(labels: HiddenLabels, chain: ChainWeights | None) -> tuple[Trainable, Training]:
        trainable = begun(labels, chain)
        return trainable, run(trainable)

    def stages() -> Iterator[tuple[Trainable, Training]]:
        """What has been trained at the end of each round, the first without a split."""
        last = trained(HiddenLabels(np.ones(n_labels, dtype=np.int32)), None)
        yield last
        for _ in range(int(np.ceil(np.log2(int(tagger.hidden))))):
            weights: Any = last[0].weights(last[1].weights)
            before, sources = weights.labels.n_hidden, _sources(weights.labels, uses(weights), int(tagger.hidden))
            last = trained(_split_labels(weights.labels, sources), _split_chain(weights.chain, sources, random))
            if last[1].interrupted:
                yield last
                return
            weights = last[0].weights(last[1].weights)
            merges = _merges(weights, sources, uses(weights), evaluate or on_training_data)
            if len(merges) < len(sources):
                last = trained(_merged_labels(weights.labels, merges), mixed(weights.chain, merges))
            yield last
            if len(merges) == before:  # no split has helped
                return

    return best_training(stages(), evaluate is not None)


def _sources(labels: HiddenLabels, uses: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The hidden label that each new one comes from: once, or twice where it is split.

    Where there is no room for splitting all, those that are used most.
    """
    split = np.zeros(labels.n_hidden, dtype=bool)
    for first, size in zip(labels.first.tolist(), labels.sizes.tolist()):
        order = np.argsort(-uses[first : first + size], kind="stable")
        split[first + order[: most - size]] = True
    return np.repeat(np.arange(labels.n_hidden), 1 + split)


def _split_labels(labels: HiddenLabels, sources: NDArray[np.int64]) -> HiddenLabels:
    return HiddenLabels(np.bincount(labels.seen[sources], minlength=labels.n_labels).astype(np.int32))


def _split_chain(chain: ChainWeights, sources: NDArray[np.int64], random: np.random.Generator) -> ChainWeights:
    """Both parts of a label have its weights, and noise on those of features that are not zero."""
    split = mixed(chain, np.eye(chain.n_labels)[sources])
    parts = np.zeros(split.width, dtype=np.float32)
    parts[: len(sources)] = NOISE * (np.bincount(sources)[sources] > 1)
    if isinstance(split.unigrams, SparseRows):
        rows = split.unigrams
        noise = parts[rows.columns] * random.standard_normal(len(rows.weights), dtype=np.float32)
        return replace(split, unigrams=SparseRows(rows.ptr, rows.columns, rows.weights + noise))
    noise = random.standard_normal(split.unigrams.shape, dtype=np.float32) * parts
    return replace(split, unigrams=split.unigrams + noise * (split.unigrams != 0))


def _merges(weights: Any, sources: NDArray[np.int64], uses: NDArray[np.int64], score: Score) -> NDArray[np.float64]:
    """The labels to go on with as mixtures of those that are: of the two parts of a label, one if that is no worse."""
    n = weights.labels.n_hidden
    least = score(weights)
    merged: list[int] = []
    for y in np.flatnonzero(sources[:-1] == sources[1:]).tolist():
        mixture = _mixture(n, [y], uses)
        candidate = replace(
            weights, chain=mixed(weights.chain, mixture), labels=_merged_labels(weights.labels, mixture)
        )
        if score(candidate) >= least:
            merged.append(y)
    return _mixture(n, merged, uses)


def _mixture(n: int, merged: list[int], uses: NDArray[np.int64]) -> NDArray[np.float64]:
    """(labels, n): each of n labels is its own, but for those in `merged`, which are one with the next, by use."""
    shares = np.eye(n)
    for y in merged:
        both = uses[y] + uses[y + 1]
        share = uses[y] / both if both else 0.5
        shares[y, y : y + 2] = share, 1 - share
    return np.delete(shares, [y + 1 for y in merged], axis=0)


def _merged_labels(labels: HiddenLabels, mixture: NDArray[np.float64]) -> HiddenLabels:
    seen = labels.seen[mixture.argmax(axis=1)]
    return HiddenLabels(np.bincount(seen, minlength=labels.n_labels).astype(np.int32))
