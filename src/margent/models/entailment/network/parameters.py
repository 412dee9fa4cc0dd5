"""The numbers that a network learns: by name, with their shapes, one after the other in one array."""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from margent.models.entailment.network.options import Network
from margent.models.entailment.network.vocabulary import SPELLINGS
from margent.models.entailment.network.word_attention import Shapes as Shapes
from margent.models.entailment.network.word_attention import word_shapes


def shapes_of(network: Network, dimensions: int, n_learned: int, n_labels: int) -> Shapes:
    """By name. `dimensions` d of vectors of words, `n_learned` of them learned.

    k, r : size, relation. W.. are of inputs, U.. of parts, b.. constants. One reads both sentences.
    """
    d, k, r = dimensions, network.size, network.relation
    if network.encoder in ("decomposable", "esim"):
        own = word_shapes(network.encoder, d, k, r)
        return {"words": (n_learned, d), **_spellings(network, d), **own, **_output(n_labels, r)}
    arity = 1 if network.encoder == "sequence" else 2
    gates = (3 + arity) * k
    shapes: Shapes = {"words": (n_learned, d), **_spellings(network, d)}
    shapes |= {"meaning.W": (d, gates), "meaning.U": (arity * k, gates), "meaning.b": (gates,)}
    if network.composition == "none":
        shapes |= {"joint.W": (4 * k, r), "joint.b": (r,)}
    else:
        shapes["null"] = (k,)
        for name in ("attention", "reverse") if network.dual else ("attention",):
            if network.attention == "affine":
                shapes[f"{name}.W"] = (2 * k,)
            else:
                shapes |= {f"{name}.W{i}": (k, k) for i in (1, 2, 3)}
                shapes |= {f"{name}.b": (k,), f"{name}.v": (k,)}
        gates = 5 * r if network.composition == "lstm" else r
        shapes |= {"relation.W": (2 * k, gates), "relation.U": (2 * r, gates), "relation.b": (gates,)}
    return shapes | _output(n_labels, r)


def _spellings(network: Network, d: int) -> Shapes:
    return {"spellings": (SPELLINGS, d)} if network.unknown == "spelling" else {}


def _output(n_labels: int, r: int) -> Shapes:
    return {"output.W": (n_labels, r), "output.b": (n_labels,)}


def size_of(shapes: Shapes) -> int:
    return sum(map(prod, shapes.values()))


def parts_of(values: NDArray[np.float32], shapes: Shapes) -> dict[str, NDArray[np.float32]]:
    """Views of one array by name."""
    found, at = {}, 0
    for name, shape in shapes.items():
        found[name] = values[at : at + prod(shape)].reshape(shape)
        at += prod(shape)
    return found


def start_values(shapes: Shapes, start: float, seed: int) -> NDArray[np.float32]:
    """Each between -start and start, drawn with the seed."""
    random = np.random.default_rng([seed, 1])
    return random.uniform(-start, start, size_of(shapes)).astype(np.float32)


def grown_values(values: NDArray[np.float32], old: Shapes, new: Shapes, start: float, seed: int) -> NDArray[np.float32]:
    """With more words or labels, in rows after those that are known."""
    grown = start_values(new, start, seed)
    parts = parts_of(grown, new)
    for name, part in parts_of(values, old).items():
        parts[name][: len(part)] = part
    return grown
