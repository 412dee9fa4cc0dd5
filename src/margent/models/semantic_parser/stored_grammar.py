"""The lexicon and the grammar of a semantic parser: how they grow, and how model files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import MeaningError
from margent.features.feature_map import Stored
from margent.meaning import Domain, TypeHierarchy, parse_meaning, parse_type
from margent.models.semantic_parser.grammar import MeaningGrammar
from margent.models.semantic_parser.lexicon import END, Lexicon
from margent.models.semantic_parser.pieces import Piece
from margent.storage import ModelFile, string_arrays

MOST_TYPES = 2000
"""So many types a grammar may have; see `TypeTable.closed`."""

Ways = Mapping[str, tuple[tuple[int, float], ...]]


def grown_domain(known: Domain, new: Domain) -> Domain:
    """With the names and phrases of another domain that it does not have; what it knows stays as it is."""
    phrases = dict(known.phrases)
    for words, names in new.phrases.items():
        phrases[words] = tuple(dict.fromkeys((*phrases.get(words, ()), *names)))
    types = {**known.types, **{name: given for name, given in new.types.items() if name not in known.types}}
    suffixes = {**new.suffixes, **known.suffixes}
    hierarchy = known.hierarchy
    if any(name not in hierarchy for name in new.hierarchy.names):
        hierarchy = TypeHierarchy({**new.hierarchy.parents, **hierarchy.parents})
    return Domain(hierarchy, types, phrases, known.seeds, suffixes, known.values)


def grown_lexicon(known: Lexicon, new: Lexicon, domain: Domain) -> Lexicon:
    """The known lexicon with what a new one has more. Known pieces keep their numbers, and known choices their
    strengths, so that learned weights go on to mean the same."""
    numbers = {str(piece.expression): number for number, piece in enumerate(known.pieces)}
    pieces = list(known.pieces)
    for piece in new.pieces:
        key = str(piece.expression)
        if key not in numbers:
            numbers[key] = len(pieces)
            pieces.append(piece)
    places = [numbers[str(piece.expression)] for piece in new.pieces]
    words, slots = (_merged(old, more, places) for old, more in ((known.words, new.words), (known.slots, new.slots)))
    both = known.known | new.known
    skips = {**new.skips, **known.skips}
    return replace(known, domain=domain, pieces=tuple(pieces), words=words, known=both, slots=slots, skips=skips)


def _merged(known: Ways, new: Ways, places: Sequence[int]) -> dict[str, tuple[tuple[int, float], ...]]:
    found = dict(known)
    for key, ways in new.items():
        old = dict(found.get(key, ()))
        more = {places[piece]: strength for piece, strength in ways if places[piece] not in old}
        found[key] = tuple(sorted((old | more).items(), key=lambda pair: (-pair[1], pair[0])))
    return found


def stored_grammar(grammar: MeaningGrammar) -> Stored:
    """Header entries and arrays for a model file."""
    lexicon = grammar.lexicon
    types = sorted({type_ for _, type_ in grammar.piece_types})
    numbers = {type_: number for number, type_ in enumerate(types)}
    rows = [(piece, numbers[type_], id_) for (piece, type_), id_ in grammar.piece_types.items()]
    arrays: dict[str, NDArray[Any]] = {
        **string_arrays("pieces", [str(piece.expression) for piece in lexicon.pieces]),
        **string_arrays("types", map(str, grammar.types)),
        **string_arrays("slot_types", types),
        "piece_types": np.array(rows, np.int32).reshape(-1, 3),
        **string_arrays("known", sorted(lexicon.known)),
        **_stored_ways("words", lexicon.words),
        **_stored_ways("slots", lexicon.slots),
        "skips": np.array([lexicon.skipped(word) for word in (*sorted(lexicon.known), END)], np.float64),
    }
    for name in ("apply", "combine"):
        table: NDArray[np.int32] = getattr(grammar, name)
        first, second = np.nonzero(table >= 0)
        arrays[name] = np.stack([first, second, table[first, second]], axis=1).astype(np.uint16)
    return {}, arrays


def restored_grammar(file: ModelFile, domain: Domain) -> MeaningGrammar:
    """The grammar that a model file holds, all of it checked."""
    try:
        pieces = tuple(Piece.of(parse_meaning(text)) for text in file.strings("pieces"))
        types = tuple(parse_type(text) for text in file.strings("types"))
    except MeaningError as error:
        raise file.error(f"a piece or type of its grammar is wrong: {error}") from None
    n = len(types)
    if not pieces or not 0 < n <= MOST_TYPES or len(set(types)) < n:
        raise file.error(f"its grammar should have pieces, and 1 to {MOST_TYPES} different types")
    slot_types = file.strings("slot_types")
    rows = file.array("piece_types", np.int32, (None, 3), minimum=0)
    if len(rows) and (rows.max(axis=0) >= (len(pieces), max(len(slot_types), 1), n)).any():
        raise file.error("array 'piece_types' should hold numbers of pieces and types")
    piece_types: dict[tuple[int, str], int] = {}
    for piece, slot, type_ in rows.tolist():
        if bool(slot_types[slot]) != pieces[piece].is_open:
            raise file.error(f"piece {pieces[piece].expression} of its grammar should have a slot if and only if its "
                             "type depends on one")  # fmt: skip
        piece_types[piece, slot_types[slot]] = type_
    words, slots = (_restored_ways(file, name, len(pieces)) for name in ("words", "slots"))
    known = file.strings("known")
    skips = file.array("skips", np.float64, (len(known) + 1,), minimum=1e-12, maximum=1).tolist()
    lexicon = Lexicon(domain, pieces, words, frozenset(known), slots, dict(zip((*known, END), skips)))
    apply, combine = (_restored_table(file, name, n) for name in ("apply", "combine"))
    return MeaningGrammar(lexicon, types, piece_types, apply, combine)


def _stored_ways(name: str, ways: Ways) -> dict[str, NDArray[Any]]:
    return {
        **string_arrays(name, ways),
        f"{name}.ptr": np.cumsum([0, *map(len, ways.values())], dtype=np.int64),
        f"{name}.pieces": np.array([piece for each in ways.values() for piece, _ in each], np.int32),
        f"{name}.strengths": np.array([strength for each in ways.values() for _, strength in each], np.float64),
    }


def _restored_ways(file: ModelFile, name: str, n_pieces: int) -> dict[str, tuple[tuple[int, float], ...]]:
    keys = file.strings(name)
    if len(set(keys)) < len(keys):
        raise file.error(f"the strings {name!r} should be different from each other")
    pieces = file.array(f"{name}.pieces", np.int32, (None,), minimum=0, maximum=n_pieces - 1)
    strengths = file.array(f"{name}.strengths", np.float64, pieces.shape, minimum=1e-12, maximum=1)
    starts = file.row_starts(f"{name}.ptr", len(pieces), len(keys)).tolist()
    both = list(zip(pieces.tolist(), strengths.tolist()))
    return {key: tuple(both[a:b]) for key, (a, b) in zip(keys, pairwise(starts))}


def _restored_table(file: ModelFile, name: str, n: int) -> NDArray[np.int32]:
    rows = file.array(name, np.uint16, (None, 3), maximum=n - 1)
    table = np.full((n, n), -1, dtype=np.int32)
    table[rows[:, 0], rows[:, 1]] = rows[:, 2]
    return table
