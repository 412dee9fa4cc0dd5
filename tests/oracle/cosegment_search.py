"""Plain twin of the search for cuts by learned weights: all cuts of a word by recursion, features by the book.

A unit is a pair of tuples (letters, phonemes); units are numbered as they are listed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

Unit = tuple[tuple[int, ...], tuple[int, ...]]
Cut = tuple[int, ...]
LogP = Callable[[list[int], int], float]

WINDOWS = [divmod(pair, 10) for pair in (0, 10, 1, 11, 20, 2, 21, 12, 22, 30, 3, 31, 13, 33, 40, 4)]
WORD = 2**64


def mix(h: int) -> int:
    h ^= h >> 32
    h = h * 0x9E3779B97F4A7C15 % WORD
    h ^= h >> 29
    h = h * 0xBF58476D1CE4E5B9 % WORD
    return h ^ (h >> 32)


def all_cuts(word: Sequence[int], units: Sequence[Unit], insertions: int) -> Iterator[Cut]:
    """All unit sequences that spell a word, with at most so many units without letters in a row."""

    def rest(at: int, left: int) -> Iterator[Cut]:
        if at == len(word):
            yield ()
        for number, (letters, _) in enumerate(units):
            if tuple(word[at : at + len(letters)]) == letters and (letters or left):
                for more in rest(at + len(letters), insertions if letters else left - 1):
                    yield (number, *more)

    return rest(0, insertions)


def spoken(cut: Sequence[int], units: Sequence[Unit]) -> tuple[int, ...]:
    return tuple(phoneme for number in cut for phoneme in units[number][1])


def features(
    word: Sequence[int], cut: Sequence[int], units: Sequence[Unit], log_p: LogP, bits: int, ended: bool = True
) -> dict[int, float]:
    """Hashes from 1 to 2^bits and how often they occur; 0: the log-probability of the units, and of the end.

    `log_p(history, unit)` of unit numbers: after the units come the end and the start of a word.
    """
    end, start = len(units), len(units) + 1
    found: Counter[int] = Counter()

    def letter(i: int) -> int:
        return word[i] + 2 if 0 <= i < len(word) else 1

    def add(key: int) -> None:
        found[mix(key % WORD) % 2**bits + 1] += 1

    phonemes = [1, 1, 1, 1]

    def speak(phoneme: int, after: int) -> None:
        key = mix(phoneme + 0x100000000)
        for j, before in enumerate(phonemes):
            key = mix((key * 31 + before) % WORD)
            add(key + j)
            if j < 2:
                add(mix(key ^ 0x5555) * 31 + letter(after))
        phonemes[:] = [phoneme, *phonemes[:3]]

    at = 0
    for place, number in enumerate(cut):
        next_letter = at + len(units[number][0])
        for w, (left, right) in enumerate(WINDOWS):
            key = mix(number + 2 + ((w + 1) << 40))
            for i in range(at - left, at):
                key = mix((key * 31 + letter(i)) % WORD)
            for i in range(next_letter, next_letter + right):
                key = mix((key * 37 + letter(i)) % WORD)
            add(key)
        one, two = [*[n + 2 for n in reversed(cut[:place])], 1, 1][:2]
        pair = mix((mix(number + 2 + 0x200000000) * 31 + one) % WORD)
        add(pair)
        add(mix((pair * 31 + two) % WORD))
        add(mix((pair * 37 + letter(next_letter)) % WORD))
        at = next_letter
        for phoneme in units[number][1]:
            speak(phoneme + 2, at)
    if ended:
        speak(0, len(word))
    total = sum(log_p([start, *cut[:i]], number) for i, number in enumerate(cut))
    return {0: total + (log_p([start, *cut], end) if ended else 0.0), **found}


def score(weights: Sequence[float], vector: dict[int, float]) -> float:
    return sum(weights[f] * x for f, x in vector.items())


def greedy(word: Sequence[int], units: Sequence[Unit], weights: Sequence[float], log_p: LogP, bits: int) -> Cut:
    """The best next unit at each letter, never taken back, for units of one letter.

    The log-probability half way has that of the next letter in it, or of the end.
    """
    start = len(units) + 1
    by_letter = {letter: [u for u, (letters, _) in enumerate(units) if letters == (letter,)] for letter in set(word)}

    def value(way: Cut) -> float:
        following = by_letter[word[len(way)]] if len(way) < len(word) else [len(units)]
        outlook = math.log(sum(math.exp(log_p([start, *way], unit)) for unit in following))
        return score(weights, features(word, way, units, log_p, bits, ended=False)) + weights[0] * outlook

    cut: Cut = ()
    for letter in word:
        cut = max(((*cut, number) for number in by_letter[letter]), key=value)
    return cut
