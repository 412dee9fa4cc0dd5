"""Sentence pairs of English and an invented language whose words stand in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count

from margent.annotation.word_alignment import WordAlignment

_NOUNS = {"man": "bor", "dog": "kapi", "park": "selu", "bird": "tiri", "house": "mado", "girl": "nela", "tree": "oku"}
_NOUNS |= {"river": "wasi", "money": "geta", "letter": "piro"}
_BANKS = {"river": "shore", "money": "bank"}  # both are `lund`: what is meant, the word before it tells
_NAMES = {"ann": "anna", "bo": "boa", "kim": "kimi"}
_VERBS = {"saw": "vidu", "found": "hal", "liked": "suka", "painted": "raga"}
_STEMS = {"see": "vidu", "find": "hal", "like": "suka", "paint": "raga"}
_ADJECTIVES = {"old": "velo", "small": "mini", "green": "midori", "quiet": "susa"}
_PREPOSITIONS = {"with": "kun", "in": "ni"}

_Words = list[tuple[str, int]]
_Phrase = tuple[_Words, _Words]  # both sides; words with the same number are translations of each other


def make_translations(
    n: int, *, seed: int = 0, longest: int = 20
) -> tuple[list[list[str]], list[list[str]], list[WordAlignment]]:
    """Sentences of an invented language, their English translations, and which words belong together.

    The invented language puts the verb last and an adjective behind its noun, has postpositions, and turns "the X of
    the Y" around, "Y no X", which may be nested. "did not like" is `ne suka pa`, with the verb in between; `lund` is a
    shore of a river and a bank of money; it has no articles but `sa` for "the". No sentence has more than `longest`
    words.

    >>> (source,), (target,), (alignment,) = make_translations(1, seed=1)
    >>> print(*source, "=", *target)
    anna wasi lund velo sa kun geta sa ne raga pa . = ann did not paint the money with the old river shore .
    >>> str(alignment)
    '0-0 1-9 2-10 3-8 4-7 5-6 6-5 7-4 8-1 8-2 9-3 10-1 10-2 11-11'
    """
    choose = random.Random(seed)
    sources: list[list[str]] = []
    targets: list[list[str]] = []
    alignments: list[WordAlignment] = []
    while len(sources) < n:
        source, target = _sentence(choose, count())
        if max(len(source), len(target)) > longest:
            continue
        sources.append([word for word, _ in source])
        targets.append([word for word, _ in target])
        alignments.append(
            WordAlignment(
                frozenset((i, j) for i, (_, a) in enumerate(source) for j, (_, b) in enumerate(target) if a == b)
            )
        )
    return sources, targets, alignments


def _sentence(choose: random.Random, number: Iterator[int]) -> _Phrase:
    subject, thing = _noun_phrase(choose, number, 0), _noun_phrase(choose, number, 0)
    place = _preposition(choose, number) if choose.random() < 0.5 else ([], [])
    verb = _verb(choose, number)
    stop = _both(".", ".", number)
    return (
        subject[0] + place[0] + thing[0] + verb[0] + stop[0],
        subject[1] + verb[1] + thing[1] + place[1] + stop[1],
    )


def _verb(choose: random.Random, number: Iterator[int]) -> _Phrase:
    if choose.random() < 0.25:
        english, invented = choose.choice(sorted(_STEMS.items()))
        no, verb = next(number), next(number)
        return [("ne", no), (invented, verb), ("pa", no)], [("did", no), ("not", no), (english, verb)]
    english, invented = choose.choice(sorted(_VERBS.items()))
    return _both(invented, english, number)


def _noun_phrase(choose: random.Random, number: Iterator[int], depth: int) -> _Phrase:
    if choose.random() < 0.25:
        english, invented = choose.choice(sorted(_NAMES.items()))
        return _both(invented, english, number)
    if depth < 2 and choose.random() < 0.3:  # the X of the Y: Y no X
        head, rest = _simple(choose, number), _noun_phrase(choose, number, depth + 1)
        of = _both("no", "of", number)
        return rest[0] + of[0] + head[0], head[1] + of[1] + rest[1]
    return _simple(choose, number)


def _simple(choose: random.Random, number: Iterator[int]) -> _Phrase:
    """A noun, an adjective perhaps, and an article: `noun adjective sa` for "the adjective noun"."""
    if choose.random() < 0.15:
        english = choose.choice(sorted(_BANKS))
        noun = _both(_NOUNS[english], english, number)
        bank = _both("lund", _BANKS[english], number)
        noun = noun[0] + bank[0], noun[1] + bank[1]
    else:
        english, invented = choose.choice(sorted(_NOUNS.items()))
        noun = _both(invented, english, number)
    adjective: _Phrase = ([], [])
    if choose.random() < 0.35:
        english, invented = choose.choice(sorted(_ADJECTIVES.items()))
        adjective = _both(invented, english, number)
    definite = choose.random() < 0.6
    article = _both("sa", "the", number) if definite else ([], [("a", next(number))])
    return noun[0] + adjective[0] + article[0], article[1] + adjective[1] + noun[1]


def _preposition(choose: random.Random, number: Iterator[int]) -> _Phrase:
    english, invented = choose.choice(sorted(_PREPOSITIONS.items()))
    inner, word = _noun_phrase(choose, number, 1), _both(invented, english, number)
    return inner[0] + word[0], word[1] + inner[1]


def _both(invented: str, english: str, number: Iterator[int]) -> _Phrase:
    own = next(number)
    return [(invented, own)], [(english, own)]
