"""Corpora drawn from a known model, so that a learner can be held against the truth.

`make_chain` samples from a hidden Markov model: the best that any tagger can do on it is known exactly.
`make_separable` labels sequences by a linear chain model with a margin: a perceptron must learn it without an error,
after a number of mistakes that can be computed beforehand.

Both use uniform random numbers alone, and arithmetic that is the same everywhere: same seed, same corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from margent.datasets.addresses import ADDRESS_COUNTRIES, iter_addresses, make_addresses

__all__ = [
    "ADDRESS_COUNTRIES",
    "ChainModel",
    "SeparableModel",
    "iter_addresses",
    "make_addresses",
    "make_chain",
    "make_separable",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Sequences = list[list[str]]


@dataclass(frozen=True)
class ChainModel:
    """A hidden Markov model of order k over L labels and S symbols.

        P(y, x) = start[y_1 .. y_k]  prod_{t > k} transition[y_{t-k} .. y_{t-1}, y_t]  prod_t emission[y_t, x_t]

    start: (L,) * k, sums to 1; transition: (L,) * k + (L,), each row sums to 1; emission: (L, S), each row sums to 1.
    A sequence shorter than k has the probability of its labels under `start`, summed over the rest. Lengths are no
    part of the model. The label i is written `labels[i]` in the corpus, the symbol j `symbols[j]`.
    """

    labels: tuple[str, ...]
    symbols: tuple[str, ...]
    start: Floats
    transition: Floats
    emission: Floats

    @property
    def order(self) -> int:
        return self.start.ndim

    def log_probability(self, sentence: Sequence[str], labels: Sequence[str]) -> float:
        """Return log P(labels, sentence), -inf if it cannot happen."""
        x, y = _ids(sentence, self.symbols, "symbol"), _ids(labels, self.labels, "label")
        if len(x) != len(y):
            raise ValueError(f"a sentence of {len(x)} symbols cannot have {len(y)} labels")
        k = self.order
        first = self.start.sum(axis=tuple(range(len(y), k))) if len(y) < k else self.start
        factors = [first[tuple(y[:k])], *self.emission[y, x]]
        factors += [self.transition[tuple(y[t - k : t + 1])] for t in range(k, len(y))]
        with np.errstate(divide="ignore"):
            return float(np.log(np.array(factors)).sum())

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """Return P(y_t | sentence), shape (T, L), by the forward-backward recursion over L^k states.

        Their argmax at each position is the Bayes-optimal labelling: no tagger has a higher expected accuracy.
        Cost O(T L^(k+1)). Raises `ValueError` if the model cannot produce the sentence.
        """
        x, k, size = _ids(sentence, self.symbols, "symbol"), self.order, len(self.labels)
        likelihood: Floats = self.emission[:, x].T
        if not len(x):
            return likelihood
        # The first min(k, T) labels are one joint state; after that a step forgets the oldest label and adds one.
        head = min(k, len(x))
        joint = self.start.sum(axis=tuple(range(head, k)))
        for axis in range(head):
            joint = joint * likelihood[axis].reshape((size,) + (1,) * (head - 1 - axis))
        forward = [_scaled(joint)]
        for row in likelihood[head:]:
            forward.append(_scaled((forward[-1][..., None] * self.transition).sum(axis=0) * row))
        backward = np.ones_like(forward[-1])
        posteriors: Floats = np.empty_like(likelihood)
        for step in range(len(forward) - 1, -1, -1):
            state = _scaled(forward[step] * backward)
            posteriors[head - 1 + step] = state.reshape(-1, size).sum(axis=0)
            if step:
                ahead = self.transition * (likelihood[head - 1 + step] * backward)[None]
                backward = ahead.sum(axis=-1) / ahead.sum()
        for axis in range(head - 1):
            posteriors[axis] = state.sum(axis=tuple(other for other in range(head) if other != axis))
        return posteriors


def make_chain(
    n: int,
    n_labels: int,
    n_symbols: int,
    *,
    length: int | tuple[int, int] = (5, 15),
    order: int = 1,
    seed: int = 0,
    start: npt.ArrayLike | None = None,
    transition: npt.ArrayLike | None = None,
    emission: npt.ArrayLike | None = None,
) -> tuple[Sequences, Sequences, ChainModel]:
    """Return `n` sequences of symbols, their labels, and the `ChainModel` of order `order` that they were drawn from.

    `length` is that of every sequence, or (shortest, longest), all equally likely. The probabilities may be given,
    with the shapes that `ChainModel` says; those that are not are drawn at random, some large and many small.

    >>> sentences, labels, model = make_chain(100, 3, 20, seed=1)
    >>> model.posteriors(sentences[0]).shape == (len(sentences[0]), 3)
    True
    """
    _check_counts(n=(n, 0), n_labels=(n_labels, 1), n_symbols=(n_symbols, 1), order=(order, 1))
    generator = np.random.Generator(np.random.PCG64(seed))
    model = ChainModel(
        _names("L", n_labels),
        _names("w", n_symbols),
        _distribution("start", start, (n_labels,) * order, generator, axes=order),
        _distribution("transition", transition, (n_labels,) * (order + 1), generator),
        _distribution("emission", emission, (n_labels, n_symbols), generator),
    )
    start_steps = np.cumsum(model.start)
    transition_steps = np.cumsum(model.transition, axis=-1).reshape(-1, n_labels)
    emission_steps = np.cumsum(model.emission, axis=-1)
    weights = n_labels ** np.arange(order - 1, -1, -1)
    sentences, labels = [], []
    for size in _lengths(n, length, generator):
        draws = generator.random((2, size + 1))
        y = [int(i) for i in np.unravel_index(_draw(start_steps, draws[0, -1]), model.start.shape)][:size]
        for t in range(order, size):
            y.append(_draw(transition_steps[int(weights @ y[-order:])], draws[0, t]))
        x = [_draw(emission_steps[label], draw) for label, draw in zip(y, draws[1])]
        labels.append([model.labels[i] for i in y])
        sentences.append([model.symbols[j] for j in x])
    return sentences, labels, model


@dataclass(frozen=True)
class SeparableModel:
    """A linear chain model over L labels and S symbols with whole-number weights.

        score(x, y) = sum_t emission[x_t, y_t] + sum_{t > 1} transition[y_{t-1}, y_t]

    emission: (S, L); transition: (L, L). On the corpus it came with, each labelling beats every other one by at least
    `margin`. Hence (Collins 2002, theorem 1) a structured perceptron that sees just these features makes at most
    (radius * norm / margin)^2 mistakes, where radius bounds the distance between two feature vectors of a sentence.
    """

    labels: tuple[str, ...]
    symbols: tuple[str, ...]
    emission: Floats
    transition: Floats
    margin: float

    @property
    def norm(self) -> float:
        """The Euclidean norm of all weights."""
        return float(np.sqrt((self.emission**2).sum() + (self.transition**2).sum()))

    def score(self, sentence: Sequence[str], labels: Sequence[str]) -> float:
        """Return the score of a labelling."""
        x, y = _ids(sentence, self.symbols, "symbol"), _ids(labels, self.labels, "label")
        if len(x) != len(y):
            raise ValueError(f"a sentence of {len(x)} symbols cannot have {len(y)} labels")
        return float(self.emission[x, y].sum() + self.transition[y[:-1], y[1:]].sum())


def make_separable(
    n: int,
    n_labels: int,
    n_symbols: int,
    *,
    length: int | tuple[int, int] = (3, 10),
    margin: float = 1.0,
    seed: int = 0,
) -> tuple[Sequences, Sequences, SeparableModel]:
    """Return `n` sequences of symbols, their labels, and the `SeparableModel` that gives each its label sequence.

    The weights are integers from -8 to 8. Sequences are drawn uniformly, and those whose best labelling does not
    beat the second best by `margin` are thrown away, so that the corpus is separable with that margin.

    >>> sentences, labels, model = make_separable(50, 3, 20, margin=2)
    >>> model.score(sentences[0], labels[0]) >= model.score(sentences[0], labels[0][:-1] + ["L0"])
    True
    """
    _check_counts(n=(n, 0), n_labels=(n_labels, 1), n_symbols=(n_symbols, 1))
    if not 0 < margin < np.inf:
        raise ValueError(f"margin must be a positive number, but is {margin}")
    generator = np.random.Generator(np.random.PCG64(seed))
    emission = np.floor(17 * generator.random((n_symbols, n_labels))) - 8
    transition = np.floor(17 * generator.random((n_labels, n_labels))) - 8
    model = SeparableModel(_names("L", n_labels), _names("w", n_symbols), emission, transition, float(margin))
    sentences, labels = [], []
    for size in _lengths(n, length, generator):
        for _ in range(1000):
            x = np.floor(generator.random(size) * n_symbols).astype(np.int64)
            y, lead = _best_and_lead(emission[x], transition)
            if lead >= margin:
                break
        else:
            raise ValueError(f"no sequence of length {size} with a margin of {margin} was found in 1000 attempts")
        sentences.append([model.symbols[j] for j in x])
        labels.append([model.labels[i] for i in y])
    return sentences, labels, model


def _best_and_lead(scores: Floats, transition: Floats) -> tuple[Integers, float]:
    """Return the best labelling under (T, L) scores, and by how much it beats the second best.

    The score of the best labelling through each label at each position is the sum of a forward and a backward pass.
    The second best labelling differs from the best one somewhere, so it is the best one through some other label.
    """
    size = len(scores)
    if not size:
        return np.zeros(0, np.int64), np.inf
    forward, backward = scores.copy(), np.zeros_like(scores)
    for t in range(1, size):
        forward[t] += (forward[t - 1][:, None] + transition).max(axis=0)
    for t in range(size - 2, -1, -1):
        backward[t] = (transition + scores[t + 1] + backward[t + 1]).max(axis=1)
    through = forward + backward
    best = through.argmax(axis=1)  # A labelling if there is no tie, and else the lead is 0.
    rest = through.copy()
    rest[np.arange(size), best] = -np.inf
    return best, float(through.max() - rest.max())


def _scaled(masses: Floats) -> Floats:
    total = float(masses.sum())
    if not total > 0:
        raise ValueError("the model gives this sentence a probability of 0")
    return masses / total


def _check_counts(**counts: tuple[int, int]) -> None:
    for name, (value, least) in counts.items():
        if value < least:
            raise ValueError(f"{name} must be at least {least}, but is {value}")


def _names(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{index}" for index in range(count))


def _ids(names: Sequence[str], known: tuple[str, ...], what: str) -> Integers:
    index = {name: position for position, name in enumerate(known)}
    unknown = next((name for name in names if name not in index), None)
    if unknown is not None:
        raise ValueError(f"the model has no {what} {unknown!r}, only {known[0]} to {known[-1]}")
    return np.array([index[name] for name in names], dtype=np.int64)


def _lengths(n: int, length: int | tuple[int, int], generator: np.random.Generator) -> list[int]:
    low, high = (length, length) if isinstance(length, int) else length
    if not 0 <= low <= high:
        raise ValueError(f"length must be a number or a pair (shortest, longest), but is {length}")
    return [low + int(draw * (high - low + 1)) for draw in generator.random(n)]


def _distribution(
    name: str, given: Any, shape: tuple[int, ...], generator: np.random.Generator, axes: int = 1
) -> Floats:
    """Check the given probabilities, which must sum to 1 over the last `axes` axes, or draw some."""
    # Cubes of uniform numbers: uneven enough to be worth learning, and the same to the last bit everywhere, as log
    # and exp are not. They are drawn even if not needed, so that giving one table leaves the other ones as they were.
    drawn = generator.random(shape)
    table = drawn * drawn * drawn if given is None else np.asarray(given, dtype=np.float64)
    if table.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, but has {table.shape}")
    rows = table.reshape(*shape[: len(shape) - axes], -1)
    totals = np.cumsum(rows, axis=-1)[..., -1:]
    if given is not None and not ((rows >= 0).all() and np.allclose(totals, 1)):
        raise ValueError(f"{name} must hold probabilities that sum to 1 in each row")
    return (rows / totals).reshape(shape)


def _draw(steps: Floats, uniform: float) -> int:
    """Return the index that a uniform number selects among cumulated probabilities."""
    return min(int(np.searchsorted(steps, uniform * steps[-1], side="right")), len(steps) - 1)
