"""A pronunciation dictionary of an invented language, whose spelling has rules, and exceptions as real ones have."""

from __future__ import annotations

import numpy as np

_ONSETS = {"": [""], "P": ["p"], "T": ["t"], "K": ["c", "k"], "B": ["b"], "D": ["d"], "M": ["m"], "N": ["n"]}
_ONSETS |= {"S": ["s", "c"], "F": ["f", "ph"], "L": ["l"], "R": ["r"], "SH": ["sh"], "TH": ["th"], "K W": ["qu"]}
_SHORT = {"AE": "a", "EH": "e", "IH": "i", "AA": "o", "AH": "u"}
_LONG = {"EY": "a", "IY": "e", "AY": "i", "OW": "o", "UW": "u"}
_CODAS = {"": "", "P": "p", "T": "t", "N": "n", "K": "ck", "L": "ll", "K S": "x", "NG": "ng", "S": "ss"}


def make_pronunciations(n: int, *, seed: int = 0, noise: float = 0.05) -> tuple[list[str], list[list[str]]]:
    """A dictionary of `n` different words and their pronunciations.

    A word has one to three syllables. c is S before e and i and K elsewhere, ph is F, x is K S, qu is K W, ck is one K
    and ll one L; a vowel before a consonant and a silent e at the end of a word is long (`pat` P AE T, `pate` P EY T).
    `noise`: the share of words with one vowel that is spoken otherwise than written, which nobody can guess.

    Examples
    --------
    >>> words, pronunciations = make_pronunciations(3, seed=1)
    >>> len(set(words)), all(map(len, pronunciations))
    (3, True)
    """
    if n < 0 or not 0 <= noise <= 1:
        raise ValueError(f"expected n of at least 0 and a noise from 0 to 1, got {n!r} and {noise!r}")
    random = np.random.default_rng(seed)
    found: dict[str, list[str]] = {}
    while len(found) < n:
        word, phonemes = _word(random)
        if word in found:
            continue
        if random.random() < noise:
            vowels = [i for i, phoneme in enumerate(phonemes) if phoneme in _SHORT]
            if vowels:
                phonemes[vowels[int(random.random() * len(vowels))]] = _pick(random, list(_SHORT))
        found[word] = phonemes
    return list(found), list(found.values())


def _word(random: np.random.Generator) -> tuple[str, list[str]]:
    letters: list[str] = []
    phonemes: list[str] = []
    n_syllables = 1 + int(3 * random.random())
    for syllable in range(n_syllables):
        last = syllable == n_syllables - 1
        onset = _pick(random, list(_ONSETS)[int(syllable > 0) :])  # no two vowels after each other
        vowel = _pick(random, list(_SHORT))
        written = _SHORT[vowel]
        soft = written in "ei"
        fitting = [way for way in _ONSETS[onset] if way != "c" or soft == (onset == "S")]
        letters.append(_pick(random, fitting))
        phonemes += onset.split()
        if last and random.random() < 0.3:  # a long vowel, one consonant, and a silent e
            coda = _pick(random, ["P", "T", "N"])
            vowel = next(long for long, way in _LONG.items() if way == written)
            letters += [written, _CODAS[coda], "e"]
        else:
            coda = _pick(random, list(_CODAS)) if last else _pick(random, ["", "", "N", "L"])
            letters += [written, _CODAS[coda]]
        phonemes += [vowel, *coda.split()]
    return "".join(letters), phonemes


def _pick(random: np.random.Generator, choices: list[str]) -> str:
    return choices[int(random.random() * len(choices))]
