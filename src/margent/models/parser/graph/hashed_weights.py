"""Weights that are found by hashes of their features: how many there are, and how they are stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

FEWEST_BITS = 12


def fitting_bits(n_features: int, most: int, n_labels: int = 1) -> int:
    """b for 2^b weights: half as many as features are seen in right parts, most of them more than once."""
    return min(max(n_features.bit_length() - 1, n_labels.bit_length(), FEWEST_BITS), most)


def bits_of(n: int) -> int:
    """b of n = 2^b."""
    return n.bit_length() - 1


def stored_hashed(name: str, weights: NDArray[np.float32], half: bool) -> dict[str, NDArray[Any]]:
    """Most weights are zero: one bit each says which are not, and these follow."""
    used = weights != 0
    return {f"{name}.used": np.packbits(used), name: stored_numbers(weights[used], half)}


def restored_hashed(file: ModelFile, name: str, n: int, half: bool) -> NDArray[np.float32]:
    bits = file.array(f"{name}.used", np.uint8, (-(-n // 8),))
    used = np.unpackbits(bits, count=n).astype(bool)
    weights = np.zeros(n, np.float32)
    weights[used] = restored_numbers(file, name, half, (int(used.sum()),))
    return weights
