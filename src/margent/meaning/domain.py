"""What questions of a database are about, as data: types, names with their types, and how things are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from margent.errors import MeaningError
from margent.meaning.built_in import BUILT_IN, CONNECTIVES, INTEGER, built_in_name, is_number
from margent.meaning.expression import Abstraction, Application, Constant, Expression, split_name
from margent.meaning.notation import meaning_text, parse_meaning
from margent.meaning.type_application import canonical
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.types import BaseType, FunctionType, Type, parse_type

MOST_BASIC_TYPES = 2000
MOST_ENTRIES = 1_000_000
"""So many names, phrases and seeds a domain may have of each."""
MOST_OVERLOADS = 100
"""So many types a name may have, and so many names a phrase."""
LONGEST_PHRASE = 50
"""So many words a phrase may have."""


class Seed(NamedTuple):
    """An entry of a lexicon written by hand: words, in lower case, and what they mean."""

    words: tuple[str, ...]
    meaning: Expression


@dataclass(frozen=True)
class Domain:
    """What questions of a database are about. A value: it does not change, and equal domains compare as equal.

    Parameters
    ----------
    hierarchy : TypeHierarchy
        The basic types. ``t`` (truth) and ``i`` (numbers) are added where they are missing.
    types : mapping of str to tuple of Type
        Of predicates and constants by the names that meanings use (``loc:t``, ``texas:s``, ``java``). A name with
        several types is overloaded.
    phrases : mapping of tuple of str to tuple of str
        How constants are called: words, in lower case, to names.
    seeds : tuple of Seed
        A lexicon written by hand, as far as there is one: words to meanings.
    suffixes : mapping of str to str
        The basic type of constants that are not listed and end so, after a colon; besides the names of the types.
    values : mapping of str to tuple of str
        What becomes of numbers in a question: a kind of value to names of constants with ``{}`` for the number; see
        `values_of`.

    Examples
    --------
    >>> from margent.meaning import TypeHierarchy, parse_type
    >>> domain = Domain(
    ...     TypeHierarchy({"lo": "", "s": "lo", "r": "lo"}),
    ...     {"loc:t": [parse_type("lo -> lo -> t")], "texas:s": [parse_type("s")]},
    ...     {("texas",): ["texas:s"], ("state", "of", "texas"): ["texas:s"]},
    ... )
    >>> [str(type) for name in ("loc:t", "utah:s", "1200", "count") for type in domain.types_of(name)]
    ['lo -> lo -> t', 's', 'i', "('a -> t) -> i"]
    >>> [str(type) for name in ("loc:t", "utah:s") for type in domain.simplified().types_of(name)]
    ['lo -> lo -> t', 'lo']
    """

    hierarchy: TypeHierarchy
    types: Mapping[str, tuple[Type, ...]]
    phrases: Mapping[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    seeds: tuple[Seed, ...] = ()
    suffixes: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hierarchy = self.hierarchy
        if not {"t", "i"} <= set(hierarchy.names):
            hierarchy = TypeHierarchy({**hierarchy.parents, "t": hierarchy.parents.get("t", ()), "i": ()})
        _check_number("basic types", len(hierarchy.names), MOST_BASIC_TYPES)
        set_ = object.__setattr__
        set_(self, "hierarchy", hierarchy)
        set_(self, "types", MappingProxyType(dict(self._checked_types(self.types))))
        set_(self, "phrases", MappingProxyType(dict(_checked_phrases(self.phrases))))
        seeds = [Seed(_checked_words(words, "the words of a seed"), meaning) for words, meaning in self.seeds]
        _check_number("seeds", len(seeds), MOST_ENTRIES)
        set_(self, "seeds", tuple(seeds))
        for suffix, name in self.suffixes.items():
            if name not in hierarchy or not suffix:
                raise MeaningError(f"suffix {suffix!r}: expected a type of the hierarchy, got {name!r}")
        set_(self, "suffixes", MappingProxyType(dict(self.suffixes)))
        set_(self, "values", MappingProxyType(dict(_checked_values(self.values))))

    def _checked_types(self, types: Mapping[str, Iterable[Type]]) -> Iterable[tuple[str, tuple[Type, ...]]]:
        _check_number("names", len(types), MOST_ENTRIES)
        for name, given in types.items():
            Constant(name)
            if built_in_name(name) in CONNECTIVES:
                raise MeaningError(f"expected the names of predicates and constants, got the connective {name!r}")
            found = tuple(dict.fromkeys(canonical(type_) for type_ in given))
            if not found:
                raise MeaningError(f"{name!r}: expected at least one type, got none")
            _check_number(f"types of {name!r}", len(found), MOST_OVERLOADS)
            for type_ in found:
                try:
                    self.hierarchy.check(type_)
                except MeaningError as error:
                    raise MeaningError(f"{name!r}: {error}") from None
            yield name, found

    def __hash__(self) -> int:
        return hash((self.hierarchy, frozenset(self.types.items()), len(self.phrases), self.seeds))

    def __reduce__(self) -> tuple[Any, ...]:
        plain = (dict(self.types), dict(self.phrases), self.seeds, dict(self.suffixes), dict(self.values))
        return type(self), (self.hierarchy, *plain)

    def __repr__(self) -> str:
        basic, names, phrases = len(self.hierarchy.names), len(self.types), len(self.phrases)
        return f"Domain({basic} basic types, {names} names, {phrases} phrases, {len(self.seeds)} seeds)"

    def types_of(self, name: str) -> tuple[Type, ...]:
        """The types of a constant of a meaning; () if nothing is known of it.

        Those given; else by how it is written: numbers are of type i, what ends in a colon and a basic type is of that
        type (``1200:ti``), and a name may carry its type between angle brackets (``state:<s,t>``); else those of the
        built-in words.
        """
        given = self.types.get(name)
        if given is not None:
            return given
        if is_number(name):
            return (INTEGER,)
        word = built_in_name(name)
        if word is not None:
            return (BUILT_IN[word],) if word in BUILT_IN else ()
        suffix = split_name(name)[1]
        if suffix[:1] == "<":
            try:
                carried = parse_type(suffix)
                self.hierarchy.check(carried)
            except MeaningError:
                return ()
            return (carried,)
        if suffix in self.suffixes:
            return (BaseType(self.suffixes[suffix]),)
        # A truth value is no constant: `loc:t` is a predicate of which nothing more is known.
        return (BaseType(suffix),) if suffix in self.hierarchy and suffix not in ("t", "top", "") else ()

    def values_of(self, words: Iterable[str]) -> tuple[str, ...]:
        """The constants that words for a number, a time or an amount may stand for, by `values`.

        >>> from margent.meaning import TypeHierarchy
        >>> domain = Domain(TypeHierarchy({"ti": "i"}), {}, values={"number": ["{}"], "clock": ["{}:ti"]})
        >>> domain.values_of(["40"]), domain.values_of(["5", "pm"]), domain.values_of(["twenty", "five"])
        (('40',), ('1700:ti',), ('25',))
        """
        from margent.meaning.values import READERS

        words = tuple(word.lower() for word in words)
        found: dict[str, None] = {}
        for kind, patterns in self.values.items():
            for value in READERS[kind](words):
                found.update(dict.fromkeys(pattern.replace("{}", str(value)) for pattern in patterns))
        return tuple(found)

    def constants_of(self, words: Iterable[str]) -> tuple[str, ...]:
        """All constants that words may stand for: by `phrases` and by `values_of`.

        Where there are none, the same is tried without quotation marks around words, and then with the last one in the
        singular, or not in the genitive (``new york's``, ``databases``).
        """
        words = tuple(word.lower() for word in words)
        found = self._constants_of(words)
        if found or not words:
            return found
        bare = tuple(
            word[1:-1] if len(word) > 2 and word[0] == word[-1] and word[0] in "'\"`" else word for word in words
        )
        last = bare[-1]
        for ending in ("", "'s", "'", "s"):
            if len(last) > len(ending) + 2 * (ending == "s") and last.endswith(ending):
                found = self._constants_of((*bare[:-1], last[: len(last) - len(ending)]))
                if found:
                    return found
        return ()

    def _constants_of(self, words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.phrases.get(words, ()), *self.values_of(words))))

    def simplified(self) -> Domain:
        """The same with simple types: each basic type becomes the topmost one above it (e, i, t for most domains).

        Types of a name that become equal are one. Constants keep their names; what their suffixes say is kept.
        """
        simple = {name: self.hierarchy.simple(name) for name in self.hierarchy.names}

        def changed(type_: Type) -> Type:
            if isinstance(type_, FunctionType):
                return FunctionType(changed(type_.argument), changed(type_.result))
            return BaseType(simple.get(type_.name, type_.name)) if isinstance(type_, BaseType) else type_

        def rewritten(expression: Expression) -> Expression:
            if isinstance(expression, Abstraction):
                return Abstraction(expression.variable, rewritten(expression.body), changed(expression.type))
            if isinstance(expression, Application):
                return Application(rewritten(expression.function), tuple(map(rewritten, expression.arguments)))
            return expression

        own = {name: above for name, above in simple.items() if name != above and name != "t"}
        return Domain(
            TypeHierarchy(dict.fromkeys(simple.values(), "")),
            {name: tuple(dict.fromkeys(map(changed, given))) for name, given in self.types.items()},
            self.phrases,
            tuple(Seed(words, rewritten(meaning)) for words, meaning in self.seeds),
            own | {suffix: simple[name] for suffix, name in self.suffixes.items()},
            self.values,
        )

    @classmethod
    def from_meanings(cls, meanings: Iterable[Expression]) -> Domain:
        """A domain for meanings alone: simple types by how names are used, phrases by the names themselves.

        What is applied to arguments is a predicate, of truth where truth is needed, else of a number (i) or a thing
        (e). A constant such as ``san_antonio:ci`` is called by what stands before its colon.

        >>> from margent.meaning import parse_meaning
        >>> domain = Domain.from_meanings([parse_meaning("(argmax $0 (in:t $0 new_york:s) (size $0))")])
        >>> [f"{name} : {type}" for name, types in domain.types.items() for type in types]
        ['in:t : e -> e -> t', 'new_york:s : e', 'size : e -> i']
        >>> dict(domain.phrases)
        {('new', 'york'): ('new_york:s',)}
        """
        from margent.meaning.simple_types import simple_domain

        return simple_domain(meanings)

    def to_json(self) -> dict[str, Any]:
        """The domain as plain JSON values, for model files; `from_json` makes it of them again."""
        return {
            "hierarchy": {name: list(above) for name, above in self.hierarchy.parents.items()},
            "types": {name: [str(type_) for type_ in given] for name, given in self.types.items()},
            "phrases": {" ".join(words): list(names) for words, names in self.phrases.items()},
            "seeds": [[" ".join(words), meaning_text(meaning)] for words, meaning in self.seeds],
            "suffixes": dict(self.suffixes),
            "values": {kind: list(patterns) for kind, patterns in self.values.items()},
        }

    @classmethod
    def from_json(cls, value: Any) -> Domain:
        """The domain of what `to_json` gave. MeaningError for anything else."""
        if not isinstance(value, dict) or set(value) != set(_JSON):
            raise MeaningError(f"expected a domain with {', '.join(_JSON)}, got {str(value)[:80]}")
        for key, kind in _JSON.items():
            if type(value[key]) is not kind:
                raise MeaningError(f"expected {key!r} of a domain to be a {kind.__name__}, got {str(value[key])[:80]}")
        lists = ((key, given) for key in ("hierarchy", "types", "phrases", "values") for given in value[key].values())
        for key, given in (*lists, *(("seeds", pair) for pair in value["seeds"])):
            if type(given) is not list or not all(type(text) is str for text in given):
                raise MeaningError(f"expected lists of texts in {key!r} of a domain, got {str(given)[:80]}")
        if not all(type(text) is str for text in value["suffixes"].values()):
            raise MeaningError("expected texts in 'suffixes' of a domain")
        if not all(len(pair) == 2 for pair in value["seeds"]):
            raise MeaningError("expected words and a meaning in each of the 'seeds' of a domain")
        _check_number("basic types", len(value["hierarchy"]), MOST_BASIC_TYPES)
        known: dict[str, Type] = {}

        def type_(text: str) -> Type:
            return known[text] if text in known else known.setdefault(text, parse_type(text))

        return cls(
            TypeHierarchy(value["hierarchy"]),
            {name: tuple(map(type_, given)) for name, given in value["types"].items()},
            {tuple(words.split()): tuple(names) for words, names in value["phrases"].items()},
            tuple(Seed(tuple(words.split()), parse_meaning(text)) for words, text in value["seeds"]),
            value["suffixes"],
            {kind: tuple(patterns) for kind, patterns in value["values"].items()},
        )


_JSON = {"hierarchy": dict, "types": dict, "phrases": dict, "seeds": list, "suffixes": dict, "values": dict}


def _check_number(what: str, number: int, most: int) -> None:
    if number > most:
        raise MeaningError(f"expected at most {most} {what} of a domain, got {number}")


def _checked_words(words: Iterable[str], what: str) -> tuple[str, ...]:
    found = tuple(word.lower() for word in words) if not isinstance(words, str) else ()
    if not 0 < len(found) <= LONGEST_PHRASE or any(len(word.split()) != 1 or word.split() != [word] for word in found):
        raise MeaningError(f"expected 1 to {LONGEST_PHRASE} words without blanks for {what}, got {words!r}")
    return found


def _checked_phrases(
    phrases: Mapping[tuple[str, ...], Iterable[str]],
) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    _check_number("phrases", len(phrases), MOST_ENTRIES)
    merged: dict[tuple[str, ...], set[str]] = {}
    for words, names in phrases.items():
        found = merged.setdefault(_checked_words(words, "how something is called"), set())
        found.update(Constant(name).name for name in names)
        if isinstance(names, str) or not found:
            raise MeaningError(f"{' '.join(words)!r}: expected the names of what is called so, got {names!r}")
        _check_number(f"names for {' '.join(words)!r}", len(found), MOST_OVERLOADS)
    return ((words, tuple(sorted(found))) for words, found in merged.items())


def _checked_values(values: Mapping[str, Iterable[str]]) -> Iterable[tuple[str, tuple[str, ...]]]:
    from margent.meaning.values import READERS

    for kind, patterns in values.items():
        if kind not in READERS:
            raise MeaningError(f"expected a kind of value, one of {', '.join(READERS)}, got {kind!r}")
        found = tuple(dict.fromkeys(patterns)) if not isinstance(patterns, str) else ()
        if not found or not all(pattern.count("{}") == 1 for pattern in found) or len(found) > MOST_OVERLOADS:
            raise MeaningError(f"value {kind}: expected names with one {{}} for the number, got {patterns!r}")
        for pattern in found:
            Constant(pattern)
        yield kind, found
