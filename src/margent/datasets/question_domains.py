"""Domains of the public corpora of questions, made of the files that come with them: GeoQuery, Jobs, ATIS.

Three rules hold for all: what training meanings have and no file lists is added, with the type that they ask of it; a
constant without a phrase is called by its name; test and development data are never looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from margent.datasets.question_seeds import seeds_of
from margent.datasets.questions import load_atis, load_geoquery, load_jobs
from margent.datasets.text import DataHome
from margent.errors import CorpusError, MeaningError
from margent.formats.source import Source
from margent.meaning.built_in import built_in_name, is_number
from margent.meaning.domain import Domain
from margent.meaning.expression import Abstraction, Application, Constant, Expression, Variable, split_name
from margent.meaning.simple_types import arities
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.type_inference import infer_type
from margent.meaning.types import BaseType, FunctionType, Type, function_type, parse_type

Types = dict[str, list[Type]]
Phrases = dict[tuple[str, ...], tuple[str, ...]]


def load_geoquery_domain(*, notation: str = "lambda", data_home: str | os.PathLike[str] | None = None) -> Domain:
    """The domain of GeoQuery: places under ``lo``, numbers under ``i``, names under ``n``.

    Types are those of ``typed/geo.types``, with ``i`` beside ``e`` instead of below it, so that simple types are e, i
    and t, and with two kinds of places between: ``au``, where people live (states, cities, towns, the country), and
    ``nu`` of nature. Predicates have the types of ``typed/geo.preds.ont``; where all training meanings allow it,
    narrower ones (`_GEOQUERY_NARROWER`). Superlatives, quantifiers and comparisons are the built-in ones. Rivers that
    no list calls so are called by their names without "river", cities by theirs without the state.

    Parameters
    ----------
    notation : "lambda" or "typed"
        The notation whose names are typed, as in `load_geoquery`.
    """
    home = DataHome(data_home, ["geoquery"], "https://github.com/clic-lab/spf (geoquery) and jimwhite/UBL")
    meanings = load_geoquery(notation=notation, data_home=data_home).train.y
    parents = {"e": "", "i": "", "au": "lo", "nu": "lo"}
    for name, above in _pairs(home.find("typed/geo.types")):
        parents.setdefault(name, {"s": "au", "c": "au", "to": "au", "co": "au"}.get(name, above))
        parents[name] = "nu" if name in ("r", "l", "m") else parents[name]
    hierarchy = TypeHierarchy({**parents, "m": ("nu", "p")})
    types: Types = {}
    for name in _entries(home.find("typed/geo.preds.ont")):
        base, suffix = split_name(name)
        if built_in_name(name) is None:
            type_ = parse_type(suffix)
            known = name if notation == "typed" else f"{base.removesuffix('2')}:{type_.final}"
            types.setdefault(known, []).append(type_)
    for name in _entries(home.find("typed/geo.consts.ont")):
        types.setdefault(name, []).append(BaseType(split_name(name)[1]))
    phrases = _noun_phrases(home.find("typed/np-list.lex"))
    for name in list(types):
        words = tuple(split_name(name)[0].split("_"))
        of_state = split_name(name)[1] == "c" and len(words) > 1 and len(words[-1]) == 2
        if (name.endswith("_river:r") or of_state) and words[:-1] not in phrases:
            phrases[words[:-1]] = (name,)
    domain = _with_constants(Domain(hierarchy, _tuples(types), phrases, values={"number": ("{}:i",)}), meanings)
    domain = _narrowed(domain, _GEOQUERY_NARROWER, meanings)
    return replace(domain, seeds=seeds_of("geoquery", domain))


_GEOQUERY_NARROWER = """
population : au -> i
population : au -> i -> t
density : au -> i
density : au -> i -> t
area : au -> i
high_point : au -> p -> t
loc : lo -> au -> t
"""


def load_jobs_domain(*, data_home: str | os.PathLike[str] | None = None) -> Domain:
    """The domain of Jobs: types and constants of ``jobs.types.txt``, phrases of ``jobs.lexicon.txt``.

    ``country``, which the file lacks, is a relation like ``loc``. Amounts (``40000``, ``40k``, ``$40,000``) are values.
    """
    home = DataHome(data_home, ["jobs"], "https://github.com/JasperGuo/Unimer and asaparov/parser")
    meanings = load_jobs(data_home=data_home).train.y
    parents: dict[str, str] = {"e": "", "i": ""}
    types: Types = {"country": [parse_type("job -> polity -> t")]}
    for number, line in Source(home.find("jobs.types.txt")).lines():
        below = re.match(r"\s*(\S+)\s*<:\s*(\S+)\s*\Z", line)
        typed = re.match(r"\s*('[^']*'|\S+)\s*:\s*(.+?)\s*\Z", line)
        if below:
            parents[below[1]] = below[2]
        elif typed:
            types.setdefault(typed[1].strip("'"), []).append(parse_type(typed[2]))
        elif line.strip():
            raise CorpusError(f"jobs.types.txt, line {number}: expected 'A <: B' or 'NAME : TYPE', got {line[:60]!r}")
    phrases: Phrases = {}
    entry = re.compile(r"parse\(N_CONSTANT, \[(.*)\], (?:'([^']*)'|([^'\s)]+))\)\.\Z")
    for number, line in Source(home.find("jobs.lexicon.txt")).lines():
        if not line.startswith("parse(N_CONSTANT"):
            continue
        found = entry.match(line.strip())
        words = tuple(word.strip("'").lower() for word in found[1].split(",")) if found else ()
        if not found or not all(words):
            raise CorpusError(f"jobs.lexicon.txt, line {number}: expected words and a constant, got {line[:60]!r}")
        _call(phrases, words, found[2] or found[3])
    domain = Domain(TypeHierarchy(parents), _tuples(types), phrases, values={"amount": ("{}",)})
    domain = _with_constants(domain, meanings)
    return replace(domain, seeds=seeds_of("jobs", domain))


def load_atis_domain(*, data_home: str | os.PathLike[str] | None = None) -> Domain:
    """The domain of ATIS: the types of ``atis.ontology.txt``, the phrases of ``np-list.lex``.

    Entities have the types that they end in. Numbers, times, amounts and dates are kinds of ``i``. Where the ontology
    has several types for an argument, or training meanings need more than it has (`_ATIS_DIFFERENT`), the argument is
    of a type above them: places (``pl``: cities, airports, states), what one travels with (``tv``: flights, ground
    transport), what has seats (``cr``: flights, aircraft, manufacturers), what has a class (``fr``: flights, fare
    codes). A binary predicate is a relation, and a function if training meanings use it so. Airports are also called by
    their codes, restrictions by theirs with a blank, a slash or nothing within (``ap_80``: ap 80, ap/80, ap80).
    """
    home = DataHome(data_home, ["atis"], "https://github.com/JasperGuo/Unimer and rhythmcao/semantic-parsing-dual")
    meanings = load_atis(data_home=data_home).train.y
    uses = arities(meanings)
    parents: dict[str, tuple[str, ...]] = dict.fromkeys(("pl", "tv", "cr", "fr", "tz", "bat"), ("e",))
    parents |= {"gt": ("tv",), "fl": ("tv", "cr", "fr")}
    above = {"ci": "pl", "ap": "pl", "st": "pl", "ac": "cr", "mf": "cr", "fb": "fr"}
    above |= dict.fromkeys(("ti", "do", "dn", "yr", "hr", "fn"), "i")
    unary: list[str] = []
    relations: dict[str, list[tuple[str, str]]] = {}
    path = home.find("atis.ontology.txt")
    for number, line in Source(path).lines():
        kind, *fields = line.replace("type:flight", "type:fl").split("\t")
        if kind == "entity:" and len(fields) == 2:
            if fields[0] != "i":
                parents[fields[0]] = (above.get(fields[0], "e"),)
        elif kind == "unary:" and len(fields) == 1:
            unary.append(fields[0])
        elif kind == "binary:" and len(fields) == 3:
            relations.setdefault(fields[1], []).append((fields[0][5:], fields[2][5:]))
        elif line.strip() and kind != "cat:":
            raise CorpusError(f"{path}, line {number}: expected entity:, unary:, cat: or binary:, got {line[:60]!r}")
    different = dict(_typed_lines(_ATIS_DIFFERENT))
    for name in (name for given in different.values() for type_ in given for name in type_.names()):
        parents.setdefault(name, (above.get(name, "e"),))
    parents |= {"e": (), "i": (), "t": ()}
    hierarchy = TypeHierarchy(parents)
    types: Types = {}
    for name in unary:
        types.setdefault(name, []).append(parse_type("fl -> t"))
    for name, pairs in relations.items():
        first, second = (_joined(hierarchy, (pair[place] for pair in pairs)) for place in (0, 1))
        used = uses.get(name, {2})
        if 2 in used or name in unary:
            types.setdefault(name, []).append(function_type(first, second, parse_type("t")))
        if 1 in used and name not in unary:
            types.setdefault(name, []).append(FunctionType(first, second))
    types |= different
    domain = Domain(
        hierarchy,
        _tuples(types),
        _noun_phrases(home.find("np-list.lex")),
        values={
            "clock": ("{}:ti",),
            "dollars": ("{}:do",),
            "ordinal": ("{}:dn",),
            "number": ("{}:fn", "{}:dn", "{}:i"),
        },
    )
    domain = _with_constants(domain, meanings)
    codes = {name: split_name(name) for name in dict.fromkeys(name for one in meanings for name in one.constants())}
    more: Phrases = dict(domain.phrases)
    for name, (base, suffix) in codes.items():
        if suffix == "ap":
            _call(more, (base.lower(),), name)
        if suffix == "rc":
            for between in (" ", "/", ""):
                _call(more, tuple(base.lower().replace("_", between).split()), name)
    return replace(domain, phrases=more)


_ATIS_DIFFERENT = """
air_taxi_operation : gt -> t
aircraft : ac -> t | fl -> ac | fl -> ac -> t
aircraft_basis_type : cr -> bat -> t
aircraft_code:t : ac -> t
airline : al -> t | cr -> al -> t
airline_name : fl -> al
airport : ap -> t | ci -> ap -> t
booking_class : fl -> cl | fr -> e -> t
booking_class:t : cl -> t
city : ci -> t
class_of_service : cl -> t
class_type : fr -> cl -> t
economy : fr -> t
fare : fr -> do | fl -> do -> t
fare_basis_code : fb -> t | fl -> fb -> t
from_airport : gt -> pl -> t
ground_fare : gt -> do
ground_transport : gt -> t
limousine : gt -> t
loc:t : pl -> pl -> t
manufacturer : cr -> mf -> t
meal:t : me -> t
meal_code : rc -> t | fl -> rc -> t
miles_distant : pl -> pl -> i
minimum_connection_time : ap -> ti
minutes_distant : gt -> i
rapid_transit : gt -> t
rental_car : gt -> t
restriction_code : fl -> rc
taxi : gt -> t
time_zone_code : tz -> t
to_city : gt -> ci -> t
turboprop : cr -> t
weekday : tv -> t
"""


def _pairs(path: Path) -> Iterator[tuple[str, str]]:
    """(a b) on each line, with comments after //."""
    for number, line in Source(path).lines():
        text = line.partition("//")[0].strip()
        if text in ("", "(", ")"):
            continue
        found = re.match(r"\((\S+) (\S+)\)\Z", text)
        if not found:
            raise CorpusError(f"{path}, line {number}: expected (TYPE TYPE), got {line[:60]!r}")
        yield found[1], found[2]


def _entries(path: Path) -> Iterator[str]:
    for _, line in Source(path).lines():
        text = line.partition("//")[0].strip()
        if text not in ("", "(", ")"):
            yield text


def _noun_phrases(path: Path) -> Phrases:
    """Lines ``words :- NP : constant``."""
    phrases: Phrases = {}
    for number, line in Source(path).lines():
        if not line.strip() or line.startswith("//"):
            continue
        words, between, name = line.partition(":- NP :")
        if not between or not words.split() or len(name.split()) != 1:
            raise CorpusError(f"{path}, line {number}: expected 'words :- NP : constant', got {line[:60]!r}")
        _call(phrases, tuple(words.lower().split()), name.strip())
    return phrases


def _call(phrases: Phrases, words: tuple[str, ...], name: str) -> None:
    phrases[words] = (*phrases.get(words, ()), name)


def _typed_lines(text: str) -> Iterator[tuple[str, list[Type]]]:
    for line in text.split("\n"):
        name, between, types = line.partition(" : ")
        if between:
            yield name, [parse_type(one) for one in types.split(" | ")]


def _tuples(types: Mapping[str, Sequence[Type]]) -> dict[str, tuple[Type, ...]]:
    return {name: tuple(given) for name, given in types.items()}


def _joined(hierarchy: TypeHierarchy, names: Iterable[str]) -> Type:
    first, *rest = dict.fromkeys(names)
    joined: Type = BaseType(first)
    for other in rest:
        joined = hierarchy.join(joined, BaseType(other)) or BaseType("e")
    return joined


def _with_constants(domain: Domain, meanings: Iterable[Expression]) -> Domain:
    """With the constants of meanings that have no type yet, and a phrase for each constant that has none."""
    types = {name: list(given) for name, given in domain.types.items()}
    phrases: Phrases = dict(domain.phrases)
    called = {name for names in phrases.values() for name in names}
    used = dict.fromkeys(name for meaning in meanings for name in meaning.constants())
    for meaning in meanings:
        for name in dict.fromkeys(meaning.constants()):
            if name not in types and not domain.types_of(name) and built_in_name(name) is None:
                asked = _asked_of(meaning, name, domain)
                if isinstance(asked, BaseType):
                    types[name] = [asked]
    numbers = domain.hierarchy.below("i")
    for name in dict.fromkeys((*types, *used)):
        given = types.get(name) or domain.types_of(name)
        if name in called or not given or not all(isinstance(type_, BaseType) for type_ in given):
            continue
        base = split_name(name)[0]
        if built_in_name(name) is None and not is_number(base) and not {str(type_) for type_ in given} & numbers:
            words = tuple(base.replace("_", " ").lower().split())
            _call(phrases, words, name)
    return Domain(domain.hierarchy, _tuples(types), phrases, domain.seeds, domain.suffixes, domain.values)


def _asked_of(meaning: Expression, name: str, domain: Domain) -> Type | None:
    """The type that a meaning asks of a constant: that of a variable instead of it."""
    variable = "$unknown"

    def changed(part: Expression) -> Expression:
        if part == Constant(name):
            return Variable(variable)
        if isinstance(part, Abstraction):
            return Abstraction(part.variable, changed(part.body), part.type)
        if isinstance(part, Application):
            return Application(changed(part.function), tuple(map(changed, part.arguments)))
        return part

    try:
        type_ = infer_type(Abstraction(variable, changed(meaning)), domain)
    except MeaningError:
        return None
    return type_.argument if isinstance(type_, FunctionType) else None


def _narrowed(domain: Domain, narrower: str, meanings: Sequence[Expression]) -> Domain:
    """With narrower types of predicates, by base, each if all meanings that have a type then have one still."""
    meanings = [meaning for meaning in meanings if has_type(meaning, domain)]
    for base, (type_,) in _typed_lines(narrower):
        for name, given in domain.types.items():
            if split_name(name)[0] != base:
                continue
            changed = tuple(
                type_ if len(old.arguments) == len(type_.arguments) and old.final == type_.final else old
                for old in given
            )
            candidate = Domain(domain.hierarchy, {**domain.types, name: changed}, domain.phrases, values=domain.values)
            if changed != given and all(
                has_type(meaning, candidate) for meaning in meanings if name in meaning.constants()
            ):
                domain = candidate
    return domain


def has_type(meaning: Expression, domain: Domain) -> bool:
    """Whether a type can be found for a meaning."""
    try:
        infer_type(meaning, domain)
    except MeaningError:
        return False
    return True
