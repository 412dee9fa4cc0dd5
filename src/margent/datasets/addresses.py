"""Generated postal addresses: a real labelling task with as much data as one likes and no file to fetch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice

import numpy as np

from margent.datasets.address_grammar import COMMON, COUNTRIES

__all__ = ["ADDRESS_COUNTRIES", "iter_addresses", "make_addresses"]

ADDRESS_COUNTRIES = tuple(COUNTRIES)
"""The countries whose formats are known, as ISO 3166 codes."""

Rules = dict[str, tuple[tuple[str, ...], ...]]
Part = tuple[str, list[str]]  # Label and tokens; the label of punctuation and lead-in words is "O".


def make_addresses(
    n: int = 1000, *, seed: int = 0, noise: float = 0.1, countries: Sequence[str] = ADDRESS_COUNTRIES
) -> tuple[list[list[str]], list[list[str]]]:
    """Return `n` tokenised postal addresses and their labels (IOB2), the first `n` of `iter_addresses`.

    The labels are NAME, ORG, POBOX, HOUSE, STREET, UNIT, POSTCODE, CITY, REGION and COUNTRY. Each address follows one
    of several formats of its country, with the abbreviations used there; many words are made up from syllables, and
    many may be a person, a street, a city or a region depending on where they stand ("Paris , Texas").

    `noise`, from 0 to 1, is how careless the writers are: commas forgotten, all in lower or upper case, letters
    mistyped, words cut short, parts left out or put in the wrong order. `countries`: which formats to draw from, all
    equally likely. Same arguments, same addresses, on every platform.

    >>> sentences, labels = make_addresses(2, seed=1)
    >>> len(sentences), len(sentences[0]) == len(labels[0])
    (2, True)
    """
    if n < 0:
        raise ValueError(f"n must be at least 0, but is {n}")
    pairs = list(islice(iter_addresses(seed, noise=noise, countries=countries), n))
    return [tokens for tokens, _ in pairs], [labels for _, labels in pairs]


def iter_addresses(
    seed: int = 0, *, noise: float = 0.1, countries: Sequence[str] = ADDRESS_COUNTRIES
) -> Iterator[tuple[list[str], list[str]]]:
    """Return an endless iterator of (tokens, labels), each about as long as an address on an envelope.

    The options are those of `make_addresses`. An address takes about 0.1 ms.
    """
    if not 0 <= noise <= 1:
        raise ValueError(f"noise must be between 0 and 1, but is {noise}")
    unknown = [country for country in countries if country not in COUNTRIES]
    if unknown or not countries:
        raise ValueError(f"countries must be some of {', '.join(COUNTRIES)}, but are {list(countries)}")
    return _addresses(_Dice(seed), [_rules(country) for country in countries], noise)


class _Dice:
    """Random choices made from uniform numbers alone, whose stream numpy keeps the same everywhere."""

    def __init__(self, seed: int) -> None:
        self._numbers = self._stream(np.random.Generator(np.random.PCG64(seed)))

    @staticmethod
    def _stream(generator: np.random.Generator) -> Iterator[float]:
        while True:
            yield from generator.random(1024).tolist()

    def chance(self, probability: float) -> bool:
        return next(self._numbers) < probability

    def below(self, bound: int) -> int:
        return int(next(self._numbers) * bound)


@cache
def _rules(country: str) -> Rules:
    """Compile a grammar: rule name to its alternatives, each a tuple (text, rule, text, ..., text)."""
    rules: Rules = {}
    for line in re.sub(r"\n +", " ", COMMON + COUNTRIES[country]).strip().splitlines():
        name, _, right = line.partition(" = ")
        alternatives: list[tuple[str, ...]] = []
        for alternative in right.split(" | "):
            text, _, weight = alternative.partition(" ^")
            alternatives += [tuple(re.split(r"\{(\w+)\}", text))] * int(weight or 1)
        rules[name] = tuple(alternatives)
    return rules


def _addresses(dice: _Dice, grammars: list[Rules], noise: float) -> Iterator[tuple[list[str], list[str]]]:
    while True:
        rules = grammars[dice.below(len(grammars))]
        parts = _without_loose_ends(_careless(_compose(rules, dice), dice, noise))
        tokens: list[str] = []
        labels: list[str] = []
        for label, words in parts:
            tokens += words
            labels += ["O"] if label == "O" else [f"B-{label}"] + [f"I-{label}"] * (len(words) - 1)
        yield _mistyped(tokens, dice, noise), labels


def _compose(rules: Rules, dice: _Dice) -> list[Part]:
    """Choose a format and fill in its parts."""
    parts: list[Part] = []
    for item in _expand("address", rules, dice).split():
        label, colon, rule = item.partition(":")
        if not colon or not rule:
            parts.append(("O", [item]))
            continue
        rule, _, percent = rule.partition("/")
        if not percent or dice.chance(int(percent) / 100):
            parts.append((label, _expand(rule, rules, dice).split()))
    return parts


def _expand(rule: str, rules: Rules, dice: _Dice) -> str:
    alternatives = rules[rule]
    pieces = alternatives[dice.below(len(alternatives))]
    if len(pieces) == 1:
        return pieces[0]
    return "".join(_expand(piece, rules, dice) if index % 2 else piece for index, piece in enumerate(pieces))


def _careless(parts: list[Part], dice: _Dice, noise: float) -> list[Part]:
    """Leave out parts and commas, and put a line before the one it belongs after."""
    comma: Part = ("O", [","])
    if dice.chance(0.8 * noise):
        places = [index for index, part in enumerate(parts) if part == comma]
        if len(places) >= 2:
            which = dice.below(len(places) - 1)
            start = places[which - 1] + 1 if which else 0
            middle, end = places[which], places[which + 1]
            parts = [*parts[:start], *parts[middle + 1 : end], comma, *parts[start:middle], *parts[end:]]
    no_commas = dice.chance(2 * noise)
    kept: list[Part] = []
    for part in parts:
        forgotten = 0.4 * noise if part != comma else 1.0 if no_commas else 0.5 * noise
        if not dice.chance(forgotten):
            kept.append(part)
    return kept if sum(label != "O" for label, _ in kept) >= 2 else parts


def _without_loose_ends(parts: list[Part]) -> list[Part]:
    """Drop punctuation and lead-in words that no longer have anything to stand before."""
    kept: list[Part] = []
    for part in reversed(parts):
        label, words = part
        needed = kept and (kept[-1][0] != "O" or (words == [","] and kept[-1][1][0][0].isalpha()))
        if label != "O" or needed:
            kept.append(part)
    while kept[-1][0] == "O" and not kept[-1][1][0][0].isalpha():
        kept.pop()
    return kept[::-1]


def _mistyped(tokens: list[str], dice: _Dice, noise: float) -> list[str]:
    """Change the case of the whole address, and letters of single words."""
    case = dice.below(3) if dice.chance(2 * noise) else None
    result = []
    for token in tokens:
        if len(token) > 3 and token.isalpha() and dice.chance(0.8 * noise):
            token = _typo(token, dice)
        result.append(token if case is None else token.upper() if case == 0 else token.lower())
    return result


def _typo(word: str, dice: _Dice) -> str:
    """Swap two letters, drop one, double one, hit another one, or cut the word short."""
    kind, at = dice.below(5), dice.below(len(word) - 1)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[: at + 1] + word[at + 2 :]
    if kind == 2:
        return word[: at + 1] + word[at:]
    if kind == 3:
        return word[:3] + "."
    return word[: at + 1] + "etaoinshrdlu"[dice.below(12)] + word[at + 2 :]
