"""Interning of strings: words that were crafted to collide cost no more than others."""

from __future__ import annotations

import time

import numpy as np

from margent import _core


def colliding_words(n: int) -> list[str]:
    """Words of eight letters whose hashes are equal under multiplication by a constant that everybody knows."""
    factor, size = 0xD6E8FEB86659FD93, 8 * 0x9E3779B97F4A7C15 % 2**64
    inverse = np.uint64(pow(factor, -1, 2**64))
    found: list[str] = []
    step = 1 << 20
    for start in range(0, 1 << 31, step):
        h = (np.arange(start, start + step, dtype=np.uint64) << np.uint64(32)) | np.uint64(12345)
        for _ in range(2):  # backwards: the shift undoes itself
            h ^= h >> np.uint64(32)
            h *= inverse
        raw = (h ^ np.uint64(size)).view(np.uint8).reshape(-1, 8)
        letters = raw[((raw > 32) & (raw < 127)).all(axis=1)]
        found += [row.tobytes().decode() for row in letters]
        if len(found) >= n:
            return found[:n]
    raise AssertionError("too few")


def seconds(words: list[str]) -> float:
    best = float("inf")
    for _ in range(3):
        table, started = _core.StringTable(), time.perf_counter()
        table.add_all(words)
        best = min(best, time.perf_counter() - started)
    return best


def test_crafted_words_cost_no_more_than_others() -> None:
    crafted = colliding_words(20_000)
    assert len(set(crafted)) == len(crafted)
    plain = [f"{number:08d}" for number in range(len(crafted))]
    assert seconds(crafted) < 20 * seconds(plain)  # hundreds of times as long where they collide
    table = _core.StringTable()
    assert table.add_all(crafted).tolist() == list(range(len(crafted)))  # in the order first seen, as ever
