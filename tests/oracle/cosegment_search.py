"""Plain twin of the search for alignments by learned weights: all of a word by recursion, features by the book.

A graphone is a pair of tuples (letters, phonemes); graphones are numbered as they are listed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

Graphone = tuple[tuple[int, ...], tuple[int, ...]]
Alignment = tuple[int, ...]
LogP = Callable[[list[int], int], float]

WINDOWS = [divmod(pair, 10) for pair in (0, 10, 1, 11, 20, 2, 21, 12, 22, 30, 3, 31, 13, 33, 40, 4)]
WORD = 2**64


def mix(h: int) -> int:
    h ^= h >> 32
    h = h * 0x9E3779B97F4A7C15 % WORD
    h ^= h >> 29
    h = h * 0xBF58476D1CE4E5B9 % WORD
    return h ^ (h >> 32)


def all_alignments(word: Sequence[int], graphones: Sequence[Graphone], insertions: int) -> Iterator[Alignment]:
    """All graphone sequences that spell a word, with at most so many graphones without letters in a row."""

    def rest(at: int, left: int) -> Iterator[Alignment]:
        if at == len(word):
            yield ()
        for number, (letters, _) in enumerate(graphones):
            if tuple(word[at : at + len(letters)]) == letters and (letters or left):
                for more in rest(at + len(letters), insertions if letters else left - 1):
                    yield (number, *more)

    return rest(0, insertions)


def spoken(alignment: Sequence[int], graphones: Sequence[Graphone]) -> tuple[int, ...]:
    return tuple(phoneme for number in alignment for phoneme in graphones[number][1])


def features(
    word: Sequence[int],
    alignment: Sequence[int],
    graphones: Sequence[Graphone],
    log_p: LogP,
    bits: int,
    ended: bool = True,
) -> dict[int, float]:
    """Hashes from 1 to 2^bits and how often they occur; 0: the log-probability of the graphones, and of the end.

    `log_p(history, graphone)` of graphone numbers: after the graphones come the end and the start of a word.
    """
    end, start = len(graphones), len(graphones) + 1
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
    for place, number in enumerate(alignment):
        next_letter = at + len(graphones[number][0])
        for w, (left, right) in enumerate(WINDOWS):
            key = mix(number + 2 + ((w + 1) << 40))
            for i in range(at - left, at):
                key = mix((key * 31 + letter(i)) % WORD)
            for i in range(next_letter, next_letter + right):
                key = mix((key * 37 + letter(i)) % WORD)
            add(key)
        one, two = [*[n + 2 for n in reversed(alignment[:place])], 1, 1][:2]
        pair = mix((mix(number + 2 + 0x200000000) * 31 + one) % WORD)
        add(pair)
        add(mix((pair * 31 + two) % WORD))
        add(mix((pair * 37 + letter(next_letter)) % WORD))
        at = next_letter
        for phoneme in graphones[number][1]:
            speak(phoneme + 2, at)
    if ended:
        speak(0, len(word))
    total = sum(log_p([start, *alignment[:i]], number) for i, number in enumerate(alignment))
    return {0: total + (log_p([start, *alignment], end) if ended else 0.0), **found}


def score(weights: Sequence[float], vector: dict[int, float]) -> float:
    return sum(weights[f] * x for f, x in vector.items())


def greedy(
    word: Sequence[int], graphones: Sequence[Graphone], weights: Sequence[float], log_p: LogP, bits: int
) -> Alignment:
    """The best next graphone at each letter, never taken back, for graphones of one letter.

    The log-probability half way has that of the next letter in it, or of the end.
    """
    start = len(graphones) + 1
    by_letter = {
        letter: [u for u, (letters, _) in enumerate(graphones) if letters == (letter,)] for letter in set(word)
    }

    def value(way: Alignment) -> float:
        following = by_letter[word[len(way)]] if len(way) < len(word) else [len(graphones)]
        outlook = math.log(sum(math.exp(log_p([start, *way], graphone)) for graphone in following))
        return score(weights, features(word, way, graphones, log_p, bits, ended=False)) + weights[0] * outlook

    alignment: Alignment = ()
    for letter in word:
        alignment = max(((*alignment, number) for number in by_letter[letter]), key=value)
    return alignment
