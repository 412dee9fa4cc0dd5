"""Which words say which pieces of meanings: expectation and maximization over all derivations of right meanings.

Words that occur together with a piece need not say it: where the longest rivers are asked for, "the" goes with `argmax`
as "longest" does. What tells them apart is that a derivation needs somebody to say each piece once. Each word is taken
to say one of its pieces, to begin the phrase of a constant, or to be skipped, with chances of its own; a phrase fills
one of the pieces with a slot for a constant of its type. The chance of a derivation is the product of those of its
choices, and of a price for what pieces say in one: a meaning made of simple pieces teaches more about other meanings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from margent.features.token_atoms import TokenAtoms
from margent.models.semantic_parser.fragments import Part
from margent.models.semantic_parser.grammar import MeaningGrammar
from margent.models.semantic_parser.lexicon import END, HINTED, Lexicon, by_strength
from margent.models.semantic_parser.weights import EncodedQuestions

FIRST_ITERATIONS = 4
"""In so many, all that association allows takes part; then what is left of it."""
FIRST_LEAST, LEAST = 0.001, 0.004
"""A word keeps a piece that it says in such a share of its occurrences, ..."""
LEAST_COUNT = 0.1
"""... or so often. The rare words of a training set of questions are needed, too."""
FEWER_STATES = 1000
"""So many states for each number of words are looked at in the first iterations."""
SMOOTHING = 3.0
"""So often was each word seen before it is, mostly skipped or saying what other words say."""
SKIPPED, NAMED = 0.4, 0.1
"""Shares of that in which it is skipped, or begins the phrase of a constant; the rest says pieces."""
DECAY = 0.3
"""How much rarer a piece is taken to be for each name more."""
SLOT_SMOOTHING = 0.1
MOST_WAITING = 5
"""So many expressions wait to be put together at most: derivations where more do are rare, and teach little."""

Floats = NDArray[np.float64]
_TINY = 1e-12


def aligned(
    lexicon: Lexicon,
    questions: Sequence[Sequence[str]],
    parts: Sequence[Sequence[Part]],
    *,
    complexity: float,
    iterations: int,
    most_expressions: int,
    most_states: int,
    threads: int,
) -> Lexicon:
    """The lexicon with only what words say in derivations of the meanings, and with its probability as strength.

    parts : of the meaning of each question (`parts_of`); `complexity`: the price of each name more in a piece
    """
    for n, least, states in (
        (min(FIRST_ITERATIONS, iterations), FIRST_LEAST, min(most_states, FEWER_STATES)),
        (iterations - FIRST_ITERATIONS, LEAST, most_states),
    ):
        if n > 0:
            alignment = _Alignment(lexicon, questions, parts, complexity)
            for _ in range(n):
                alignment.step(min(most_expressions, MOST_WAITING), states, threads)
            lexicon = alignment.lexicon_of(least)
    return lexicon


@dataclass
class _Alignment:
    """Chances and counts of entries: a word with a piece, or the type of a constant with a piece with a slot for it."""

    lexicon: Lexicon
    questions: Sequence[Sequence[str]]
    parts: Sequence[Sequence[Part]]
    complexity: float
    entries: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.grammar = MeaningGrammar.of(self.lexicon)
        self.encoded = EncodedQuestions.of(self.questions, self.grammar, TokenAtoms(["lower"]), grow=True)
        self.right = self.encoded.right(self.parts)
        choices = self.encoded.choices
        words = [word.lower() for question in self.questions for word in (*question, END)]
        numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
        self.words, self.n_words = list(numbers), len(numbers)
        self.word = np.array([numbers[word] for word in words], dtype=np.int64)
        self.word_of_choice = np.repeat(self.word, np.diff(choices.ptr))
        types = {number: type_ for (_, _, type_), number in choices.numbers.items()}
        places = np.repeat(np.arange(len(words)), np.diff(choices.ptr)).tolist()
        entry = []
        first: dict[str, int] = {}
        for place, said, length in zip(places, choices.said, choices.lengths):
            piece, constant = choices.filled[said]
            text = " ".join(words[place : place + length]) if constant is None else ""
            first.setdefault(text, numbers[words[place]])
            key = (text, "", piece) if constant is None else ("", types[said], piece)
            entry.append(self.entries.setdefault(key, len(self.entries)))
        self.entry = np.array(entry, dtype=np.int64)
        # Words own entries, and so do types; what several words say together is the first one's.
        type_numbers = {type_: n for n, type_ in enumerate(dict.fromkeys(key[1] for key in self.entries))}
        self.is_slot = np.array([not word for word, _, _ in self.entries], dtype=bool)
        self.owner = np.array(
            [first[word] if word else self.n_words + type_numbers[type_] for word, type_, _ in self.entries],
            dtype=np.int64,
        )
        self.n_owners = self.n_words + len(type_numbers)
        self.piece = np.array([piece for _, _, piece in self.entries], dtype=np.int64)
        self.more_names = np.array(
            [max(len(piece.names) + piece.is_open - 1, 0) for piece in self.lexicon.pieces], dtype=np.float64
        )
        hints = self.lexicon.hints
        self.is_hint = np.array([piece in hints.get(word, ()) for word, _, piece in self.entries], dtype=bool)
        self.count = np.zeros(len(self.entries))
        self.total = np.zeros(self.n_owners)
        self.skip = np.full(self.n_words, 0.5)
        self.named = np.full(self.n_words, 0.5)
        self.chance = np.zeros(len(self.entries))
        self.chance[self.entry] = choices.strengths
        self.chance *= np.where(self.is_slot, 1.0, SKIPPED) / self._by_owner(self.chance)[self.owner]

    def step(self, most_expressions: int, most_states: int, threads: int) -> None:
        """One expectation, and one maximization."""
        is_slot = self.is_slot[self.entry]
        logs = np.log(self.chance[self.entry]) - self.complexity * self.more_names[self.piece[self.entry]]
        logs += np.where(is_slot, np.log(self.named[self.word_of_choice]), 0.0)
        chosen, skipped, _ = self.right.expect_choices(
            self.encoded.native(1.0, logs=(logs, np.log(self.skip)[self.word])),
            self.grammar.native_types,
            most_expressions,
            most_states,
            threads,
        )
        self.count = np.bincount(self.entry, chosen, len(self.entries)).astype(np.float64)
        n_skipped = np.bincount(self.word, skipped, self.n_words)
        n_named = np.bincount(self.word_of_choice[is_slot], chosen[is_slot], self.n_words)
        self.total = self._by_owner(self.count)
        self.total[: self.n_words] += n_skipped + n_named
        of_words = self.total[: self.n_words] + SMOOTHING
        self.skip = np.maximum((n_skipped + SKIPPED * SMOOTHING) / of_words, _TINY)
        self.named = np.maximum((n_named + NAMED * SMOOTHING) / of_words, _TINY)
        simple = DECAY**self.more_names
        usual = (1 + np.bincount(self.piece[~self.is_slot], self.count[~self.is_slot], len(simple))) * simple
        usual *= (1 - SKIPPED - NAMED) / usual.sum()
        before = np.where(self.is_slot, SLOT_SMOOTHING * simple[self.piece], usual[self.piece])
        # What a word is expected to say is so in a share of the times that it was seen before.
        hinted = np.where(self.is_hint, usual[self.piece], 0.0)
        before += HINTED * hinted / np.maximum(self._by_owner(hinted), _TINY)[self.owner]
        chance = (self.count + SMOOTHING * before) / (self.total + SMOOTHING)[self.owner]
        self.chance = np.clip(chance, _TINY, 1.0)

    def lexicon_of(self, least: float) -> Lexicon:
        """With what is said in a share of at least `least`."""
        kept = (self.count >= LEAST_COUNT) | (self.count >= least * self.total[self.owner]) | self.is_hint
        ways: tuple[defaultdict[str, dict[int, float]], ...] = (defaultdict(dict), defaultdict(dict))
        for (word, type_, piece), keeps, chance in zip(self.entries, kept.tolist(), self.chance.tolist()):
            if keeps or (type_ and self.lexicon.pieces[piece].is_bare):
                ways[0 if word else 1][word or type_][piece] = chance
        words, slots = ({key: by_strength(found) for key, found in each.items()} for each in ways)
        # Seeds whose words no question has keep what they have.
        words |= {key: self.lexicon.words[key] for key in self.lexicon.hints if key not in words}
        skips = dict(zip(self.words, np.minimum(self.skip, 1.0).tolist()))
        # Types of which no constant was named keep what they have.
        return replace(self.lexicon, words=words, slots={**self.lexicon.slots, **slots}, skips=skips)

    def _by_owner(self, values: Floats) -> Floats:
        found: Floats = np.bincount(self.owner, values, self.n_owners).astype(np.float64)
        return found
