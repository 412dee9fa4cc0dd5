"""The words: letters and sounds of NETtalk, words with typos, and a small language of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from margent.datasets import load_nettalk
from margent.tuning.fingerprint import fingerprint

Symbols = list[str]
MARK = "#"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")


class Words(NamedTuple):
    X: list[Symbols]
    y: list[Symbols]


class Split(NamedTuple):
    train: Words
    dev: Words
    test: Words


def nettalk() -> Words:
    """English letters and their sounds."""
    data = load_nettalk().train
    return Words([list(x) for x in data.X], [list(y) for y in data.y])


def typos() -> Words:
    """Words of NETtalk as a hasty hand types them, and as they should be.

    One key in eight is missed for one of its neighbours in its row. A typo after a typo is three times as likely: a
    hand that has slipped stays where it is, which no single letter can tell.
    """
    return with_typos(nettalk().X, seed=0)


def with_typos(right: Sequence[Symbols], seed: int) -> Words:
    random = np.random.default_rng(seed)
    wrong = []
    for word in right:
        typed: Symbols = []
        slipped = 0
        for letter in word:
            likely = 0.375 if slipped else 0.125
            slipped = (slipped or int(random.choice([-1, 1]))) if random.random() < likely else 0
            typed.append(_neighbour(letter, slipped))
        wrong.append(typed)
    return Words(wrong, [list(word) for word in right])


def _neighbour(letter: str, way: int) -> str:
    row = next((row for row in _ROWS if letter in row), letter)
    return row[min(max(row.index(letter) + way, 0), len(row) - 1)]


def spelling() -> Words:
    """Generated, to try the experiment without data: c is s before e and i, and e is silent at the end."""
    random = np.random.default_rng(0)
    X = [list(random.choice(list("cceiaotn"), size=random.integers(3, 8)).tolist()) for _ in range(600)]
    return Words(X, [_spoken(x) for x in X])


def _spoken(word: Symbols) -> Symbols:
    sounds = list(word)
    for t, letter in enumerate(word):
        if letter == "c":
            sounds[t] = "s" if word[t + 1 : t + 2] in (["e"], ["i"]) else "k"
    return [*sounds[:-1], "-" if word[-1] == "e" else sounds[-1]]


CORPORA: dict[str, Callable[[], Words]] = {
    "nettalk": nettalk,
    "typos": typos,
    "spelling": spelling,
    "spelling-typos": lambda: with_typos(spelling().X, seed=0),
}
TYPOS = {"nettalk": "typos", "spelling": "spelling-typos"}
"""The second task that goes with a corpus."""


@lru_cache(maxsize=2)
def corpus(name: str) -> Words:
    return CORPORA[name]()


def corpus_fingerprint(name: str) -> str:
    return fingerprint(*corpus(name))[:12]


def split(name: str, parts: Sequence[int], n: int, seed: int, marks: bool) -> Split:
    """Parts of a corpus, always the same; of the first, `n` words drawn with `seed`. With `marks`, all have them."""
    words = corpus(name)
    order = np.random.default_rng(0).permutation(len(words.X))
    if sum(parts) > len(order):
        raise ValueError(f"the corpus {name} has {len(order)} words; expected {sum(parts)} at least")
    train, dev, test = np.split(order[: sum(parts)], np.cumsum(parts)[:-1])
    train = train[np.random.default_rng(seed).permutation(len(train))[:n]]
    return Split(*(_taken(words, numbers, marks) for numbers in (train, dev, test)))


def _taken(words: Words, numbers: Sequence[int], marks: bool) -> Words:
    ends = [MARK] if marks else []
    return Words(*([[*ends, *side[i], *ends] for i in numbers] for side in words))
