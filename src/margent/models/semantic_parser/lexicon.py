"""What words may mean: learned from how often words and pieces of meaning occur together, and from lists of names."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import NamedTuple

from margent.meaning import Constant, Domain, Expression
from margent.models.semantic_parser.fragments import Part, base_name, names_of
from margent.models.semantic_parser.hints import Hints, hints_of_names, name_parts, stem, with_seeds
from margent.models.semantic_parser.pieces import SLOT, Piece, renamed
from margent.models.stored_parameters import storable
from margent.parameters import check_number, check_whole

END = "</s>"
"""The word after the last: what a question does not say is said there."""


LEAST_ALIKE = 4
"""Words that were not seen mean what others mean that share at least so many first letters."""
MOST_LETTERS = 40
"""More first letters are not compared, so that memory does not grow with the square of the length of a word."""
ENDING = 3
"""Where there are none, what others mean that share so many last letters."""
MOST_ALIKE = 20
"""So many choices such a word has."""
OF_A_NAME = 0.05
"""How strong an unseen word is with a piece whose name begins alike."""
HINTED = 0.5
"""How strong a word is with the pieces that it is expected to say, all together, as long as nothing is learned."""


UNKNOWN_SKIPPED = 0.5
"""How probable it is that a word says nothing that was not seen."""


class Phrase(NamedTuple):
    """Words of a question that name a constant."""

    start: int
    length: int
    constant: str


class Choice(NamedTuple):
    """What words of a question may mean.

    piece : the number of a piece of the lexicon; `constant`: what is in its slot; `type`: as which type
    evidence : why it is a choice, as a small number for features; see `Lexicon`
    strength : how sure that is, above 0 and at most 1
    """

    start: int
    length: int
    piece: int
    constant: str | None
    type: str
    evidence: int
    strength: float


@storable
@dataclass(frozen=True)
class LexiconOptions:
    """How the words of questions and pieces of their meanings are brought together.

    >>> LexiconOptions(most=20)
    LexiconOptions(per_piece=6, least=0.0005, most=20, min_count=2, complexity=2.0, iterations=12)
    """

    per_piece: int = field(
        default=6, metadata={"help": "of each piece of a right meaning, how many words of the question may say it"}
    )
    least: float = field(
        default=0.0005, metadata={"help": "how strong an association of a word with a piece must be, from 0 to 1"}
    )
    most: int = field(default=60, metadata={"help": "how many choices a word has at most"})
    min_count: int = field(
        default=2,
        metadata={"help": "pieces that are not the smallest of a part need so many meanings with them"},
    )
    complexity: float = field(
        default=2.0,
        metadata={"help": "the price of each name more in a piece, where it is learned which words say which pieces"},
    )
    iterations: int = field(
        default=12, metadata={"help": "passes over all derivations to learn that; 0: words say what they go with"}
    )

    def __post_init__(self) -> None:
        for name in ("per_piece", "most", "min_count"):
            check_whole(self, name, minimum=1)
        check_number(self, "least", minimum=0, maximum=1)
        check_number(self, "complexity", minimum=0, maximum=100)
        check_whole(self, "iterations", minimum=0, maximum=1000)


def phrases_in(words: Sequence[str], domain: Domain, longest: int) -> list[Phrase]:
    """All phrases of a question that name constants, the overlapping ones, too."""
    found = []
    for start in range(len(words)):
        for length in range(1, min(longest, len(words) - start) + 1):
            for constant in domain.constants_of(words[start : start + length]):
                found.append(Phrase(start, length, constant))
    return found


def longest_phrase(domain: Domain) -> int:
    return (
        max((len(words) for words in domain.phrases), default=0)
        if not domain.values
        else max(6, max((len(words) for words in domain.phrases), default=0))
    )


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Pieces, and the words that they are choices of.

    pieces : closed ones, which words say, and open ones, with a slot for the constant that a phrase names
    words : by word, (piece, strength) with the strongest first; the strength is how probable it is that the word says
        the piece (`margent.models.semantic_parser.alignment`); before that is learned, the squared number of questions
        with both over the product of the numbers of questions with either. Seeds of the domain may have several words,
        with blanks between them
    known : all words of the training questions; another word means what the known ones mean that begin most alike
    slots : by the type of a constant, (piece, strength): how probable it is that a phrase says the constant so
    skips : by known word and END, how probable it is that it says nothing; empty: as long as that is not learned
    """

    domain: Domain
    pieces: tuple[Piece, ...]
    words: Mapping[str, tuple[tuple[int, float], ...]]
    known: frozenset[str]
    slots: Mapping[str, tuple[tuple[int, float], ...]]
    skips: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def learned(
        cls,
        questions: Sequence[Sequence[str]],
        meanings: Sequence[Sequence[Part]],
        domain: Domain,
        options: LexiconOptions,
    ) -> Lexicon:
        return _Learning(questions, meanings, domain, options).lexicon()

    @cached_property
    def _longest(self) -> int:
        return longest_phrase(self.domain)

    @cached_property
    def _longest_seed(self) -> int:
        return max((len(words) for words, _ in self.domain.seeds), default=1)

    @cached_property
    def hints(self) -> Hints:
        """What words are expected to say: those of seeds, and the known ones that are names."""
        found = {word: dict.fromkeys(given) for word, given in hints_of_names(sorted(self.known), self.pieces).items()}
        for words, given in with_seeds(self.domain, self.pieces)[1].items():
            found[words] = dict.fromkeys(given)
        return {words: tuple(given) for words, given in found.items()}

    def choices(self, words: Sequence[str]) -> list[Choice]:
        """What each word, and the mark of the end after them, may mean."""
        lower = [word.lower() for word in words]
        found = []
        for start, word in enumerate((*lower, END)):
            known = word == END or word in self.known or word in self.words
            for piece, strength in self.words.get(word, ()) if known else self._like(word):
                found.append(Choice(start, 1, piece, None, "", (1 if known else 17) + _class(strength), strength))
            for length in range(2, min(self._longest_seed, len(lower) - start) + 1):
                for piece, strength in self.words.get(" ".join(lower[start : start + length]), ()):
                    found.append(Choice(start, length, piece, None, "", 1 + _class(strength), strength))
        for start, length, constant in phrases_in(lower, self.domain, self._longest):
            for type_ in self.types_of(constant):
                for piece, strength in self.slots.get(type_, ()):
                    found.append(Choice(start, length, piece, constant, type_, 9 + _class(strength), strength))
        return found

    def skipped(self, word: str) -> float:
        """How probable it is that a word says nothing."""
        return self.skips.get(word if word == END else word.lower(), UNKNOWN_SKIPPED) if self.skips else 1.0

    def types_of(self, constant: str) -> list[str]:
        return [str(type_) for type_ in self.domain.types_of(constant)]

    def _like(self, word: str) -> tuple[tuple[int, float], ...]:
        """What a word may mean that was not seen: what words mean that share the first letters, as many as possible;
        and pieces with a name that does. Where there is nothing of the kind, what words of the same ending mean. A word
        that is a name says pieces with that name."""
        named = self._by_name.get(stem(word))
        if named:
            return by_strength(named)[:MOST_ALIKE]
        found: dict[int, float] = {}
        for length in range(min(len(word), MOST_LETTERS), LEAST_ALIKE - 1, -1):
            alike = self._by_prefix.get(word[:length])
            if alike:
                found = alike
                break
        if not found and len(word) > ENDING + 1:
            found = self._by_ending.get(word[-ENDING:], found)
        return by_strength(found)[:MOST_ALIKE]

    @cached_property
    def _by_name(self) -> dict[str, dict[int, float]]:
        found: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for number, piece in enumerate(self.pieces):
            for part in sorted(name_parts(piece)):
                found[part][number] = HINTED / len(base_name(piece.names[0]).split("_"))
        return {part: {number: value / len(given) for number, value in given.items()} for part, given in found.items()}

    @cached_property
    def _by_prefix(self) -> dict[str, dict[int, float]]:
        found: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for word, choices in sorted(self.words.items()):
            for length in range(LEAST_ALIKE, min(len(word), MOST_LETTERS) + 1):
                _add(found[word[:length]], choices)
        for number, piece in enumerate(self.pieces):
            for name in () if piece.is_open else piece.names:
                for part in base_name(name).lower().split("_"):
                    for length in range(LEAST_ALIKE, min(len(part), MOST_LETTERS) + 1):
                        _add(found[part[:length]], [(number, OF_A_NAME)])
        return dict(found)

    @cached_property
    def _by_ending(self) -> dict[str, dict[int, float]]:
        found: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for word, choices in sorted(self.words.items()):
            if word != END and len(word) > ENDING + 1:
                _add(found[word[-ENDING:]], choices)
        return dict(found)


def by_strength(found: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    """Pieces with the strongest first."""
    return tuple(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


def _add(found: dict[int, float], choices: Iterable[tuple[int, float]]) -> None:
    for piece, strength in choices:
        found[piece] = max(strength, found.get(piece, 0.0))


def _class(strength: float) -> int:
    """0 to 6: which power of 3 a strength is below."""
    return min(6, int(-log(strength) / log(3)))


@dataclass
class _Learning:
    questions: Sequence[Sequence[str]]
    meanings: Sequence[Sequence[Part]]
    domain: Domain
    options: LexiconOptions
    numbers: dict[str, int] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)

    def lexicon(self) -> Lexicon:
        longest = longest_phrase(self.domain)
        found = [
            list(
                self.fragments(
                    parts, {p.constant for p in phrases_in([w.lower() for w in words], self.domain, longest)}
                )
            )
            for words, parts in zip(self.questions, self.meanings)
        ]
        counts = Counter(key for fragments in found for key in {str(fragment) for fragment, _, _ in fragments})
        said: list[set[int]] = []  # closed pieces of each meaning
        slots: defaultdict[str, Counter[int]] = defaultdict(Counter)
        with_type: Counter[str] = Counter()
        for fragments in found:
            closed, opened = set[int](), set[tuple[str, int]]()
            for fragment, constant, smallest in fragments:
                if not smallest and counts[str(fragment)] < self.options.min_count:
                    continue
                if constant is None:
                    closed.add(self.number(fragment))
                else:
                    piece = self.number(fragment)
                    opened.update((str(type_), piece) for type_ in self.domain.types_of(constant))
            said.append(closed)
            for type_, piece in sorted(opened):
                slots[type_][piece] += 1
            with_type.update({type_ for type_, _ in opened})
        constants = dict.fromkeys(name for names in self.domain.phrases.values() for name in names)
        for type_ in dict.fromkeys(str(each) for name in constants for each in self.domain.types_of(name)):
            # A constant may stand for itself, though no meaning has one of its type.
            if self.pieces:
                slots[type_].setdefault(self.number(Constant(SLOT)), 1)
                with_type[type_] = max(1, with_type[type_])
        known = frozenset(word.lower() for words in self.questions for word in words)
        pieces, seeds = with_seeds(self.domain, self.pieces)
        words = {word: dict(given) for word, given in self.words(said).items()}
        for hints in (hints_of_names(sorted(known), pieces), seeds):
            for word, given in hints.items():
                _add(words.setdefault(word, {}), ((piece, HINTED / len(given)) for piece in given))
        return Lexicon(
            self.domain,
            pieces,
            {word: by_strength(given) for word, given in words.items()},
            known,
            {
                type_: tuple((piece, n / with_type[type_]) for piece, n in pieces.most_common())
                for type_, pieces in slots.items()
            },
        )

    @staticmethod
    def fragments(parts: Sequence[Part], named: Collection[str]) -> Iterator[tuple[Expression, str | None, bool]]:
        """All fragments of a meaning, with a slot for a constant that the question names, that constant, and whether
        there is no smaller fragment for the part."""
        for part in parts:
            sizes = [len(names_of(way.fragment)) for way in part.ways]
            for way, size in zip(part.ways, sizes):
                known = sorted({name for name in names_of(way.fragment) if name in named})
                if not known:
                    yield way.fragment, None, size == min(sizes)
                elif len(known) == 1:
                    yield renamed(way.fragment, {known[0]: SLOT}), known[0], size == min(sizes)

    def number(self, expression: Expression) -> int:
        key = str(expression)
        if key not in self.numbers:
            self.numbers[key] = len(self.pieces)
            self.pieces.append(Piece.of(expression))
        return self.numbers[key]

    def words(self, said: Sequence[set[int]]) -> dict[str, tuple[tuple[int, float], ...]]:
        types = [sorted({*(word.lower() for word in words), END}) for words in self.questions]
        n_word = Counter(word for words in types for word in words)
        n_piece = Counter(piece for pieces in said for piece in pieces)
        both: Counter[tuple[str, int]] = Counter()
        for words, pieces in zip(types, said):
            both.update((word, piece) for word in words for piece in pieces)
        strength = {pair: n * n / (n_word[pair[0]] * n_piece[pair[1]]) for pair, n in both.items()}
        kept: dict[tuple[str, int], float] = {}
        for words, pieces in zip(types, said):
            for piece in sorted(pieces):
                best = sorted(((strength[word, piece], word) for word in words if word != END), reverse=True)
                chosen = best[: self.options.per_piece]
                if n_piece[piece] >= max(3, 0.01 * len(said)):
                    chosen.append((strength[END, piece], END))
                for value, word in chosen:
                    if value >= self.options.least:
                        kept[word, piece] = value
        by_word: defaultdict[str, dict[int, float]] = defaultdict(dict)
        for (word, piece), value in kept.items():
            by_word[word][piece] = value
        return {word: by_strength(found)[: self.options.most] for word, found in by_word.items()}
