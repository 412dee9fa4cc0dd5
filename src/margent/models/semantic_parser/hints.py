"""What words are expected to say before any question is seen: the seeds of a domain, and names that are words.

"population" says `population:i`, and "rivers" says `river:t`: who names things for a database takes words of its users.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from margent.meaning import Domain, meaning_key, normal_form
from margent.meaning.built_in import built_in_name
from margent.models.semantic_parser.fragments import base_name
from margent.models.semantic_parser.pieces import Piece

Hints = Mapping[str, tuple[int, ...]]
"""By word, or by words with blanks between them, the numbers of pieces."""

SHORTEST = 3
"""Words and names that are shorter are not compared: "to" is not `next_to`."""


def stem(word: str) -> str:
    """A word without the ending of a plural.

    >>> stem("cities"), stem("rivers"), stem("class"), stem("population")
    ('city', 'river', 'class', 'population')
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if len(word) > SHORTEST and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def name_parts(piece: Piece) -> frozenset[str]:
    """The stems of the words in the name of a piece that has one name and no slot; empty for other pieces."""
    if piece.is_open or len(piece.names) != 1 or built_in_name(piece.names[0]) is not None:
        return frozenset()
    parts = base_name(piece.names[0]).lower().split("_")
    return frozenset(stem(part) for part in parts if len(part) >= SHORTEST)


def hints_of_names(words: Iterable[str], pieces: Sequence[Piece]) -> dict[str, tuple[int, ...]]:
    """The pieces with a name that a word has, by word."""
    named: defaultdict[str, list[int]] = defaultdict(list)
    for number, piece in enumerate(pieces):
        for part in sorted(name_parts(piece)):
            named[part].append(number)
    found = ((word, named.get(stem(word.lower()), ())) for word in words)
    return {word.lower(): tuple(numbers) for word, numbers in found if numbers}


def with_seeds(domain: Domain, pieces: Sequence[Piece]) -> tuple[tuple[Piece, ...], dict[str, tuple[int, ...]]]:
    """The pieces with those of the seeds of a domain, and these by the words of the seeds."""
    numbers = {meaning_key(piece.expression): number for number, piece in enumerate(pieces)}
    all_pieces = list(pieces)
    found: defaultdict[str, dict[int, None]] = defaultdict(dict)
    for words, meaning in domain.seeds:
        key = meaning_key(meaning)
        if key not in numbers:
            numbers[key] = len(all_pieces)
            all_pieces.append(Piece.of(normal_form(meaning)))
        found[" ".join(words)][numbers[key]] = None
    return tuple(all_pieces), {words: tuple(given) for words, given in found.items()}
