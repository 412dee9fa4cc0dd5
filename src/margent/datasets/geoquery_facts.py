"""The database that GeoQuery asks, by the names that its meanings use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from margent.datasets.text import DataHome
from margent.errors import CorpusError
from margent.formats.prolog_facts import PrologFact, Term, iter_prolog_facts
from margent.formats.source import Source
from margent.meaning.expression import split_name
from margent.meaning.facts import Facts, Row

MAJOR_CITY, MAJOR_RIVER, MAJOR_LAKE = 150_000, 750, 5_000
"""A city with more people than this is major; a river of more kilometres; a lake of more square kilometres."""

COUNTRY = "usa:co"


def load_geoquery_facts(*, data_home: str | os.PathLike[str] | None = None) -> Facts:
    """The facts of ``geoquery/geobase.pl``, for meanings in the notation `lambda` of `load_geoquery`.

    Things are called ``texas:s``, ``austin_tx:c``, ``ohio_river:r``, ``erie:l``, ``mount_whitney:m``; places that
    ``typed/geo.consts.ont`` has under no other name ``gulf_of_mexico:p``. The size of a state or country is its area,
    that of a city its population, of a river its length, of a lake its area, of a place its elevation. A thing is in
    the country, too; a state is next to rivers that run through it. The highest and lowest points of the country are
    those of its states.
    """
    home = DataHome(data_home, ["geoquery"], "https://www.cs.utexas.edu/~ml/nldata/geoquery.html")
    path = home.find("geobase.pl")
    names = [line.strip() for _, line in Source(home.find("typed/geo.consts.ont")).lines()]
    return _GeoBase(path, names).facts()


def slug(text: str) -> str:
    """
    >>> slug("st. francis")
    'st_francis'
    """
    return "_".join(text.replace(".", "").split())


class _GeoBase:
    def __init__(self, path: Path, names: list[str]) -> None:
        self.path = path
        self.places = {split_name(name)[0]: name for name in names if split_name(name)[1] in ("m", "lo")}
        self.relations: dict[str, set[Row]] = {}
        self.functions: dict[str, set[Row]] = {}

    def facts(self) -> Facts:
        """All that follows from the file."""
        readers: dict[str, tuple[int, Callable[[PrologFact], None]]] = {
            "state": (10, self.state),
            "city": (4, self.city),
            "river": (3, self.river),
            "lake": (3, self.lake),
            "mountain": (4, self.mountain),
            "highlow": (6, self.high_and_low),
            "border": (3, self.border),
            "country": (3, self.country),
        }
        facts = list(iter_prolog_facts(self.path))
        facts.sort(key=lambda fact: fact.name != "state")  # cities are called by the codes of their states
        self.codes: dict[str, str] = {}
        self.heights: list[tuple[float, str, bool]] = []
        for fact in facts:
            n_arguments, read = readers.get(fact.name, (0, None))
            if read is None:
                continue
            if len(fact.arguments) != n_arguments:
                raise self.error(fact, f"expected {n_arguments} arguments of {fact.name}, got {len(fact.arguments)}")
            read(fact)
        if self.heights:
            highest = max((height, name) for height, name, high in self.heights if high)
            lowest = min((height, name) for height, name, high in self.heights if not high)
            self.add("high_point:t", COUNTRY, highest[1])
            self.add("low_point:t", COUNTRY, lowest[1])
        return Facts(self.relations, self.functions)

    def error(self, fact: PrologFact, message: str) -> CorpusError:
        return Source(str(self.path)).error(fact.line, message)

    def text(self, fact: PrologFact, value: Term) -> str:
        if not isinstance(value, str) or not slug(value):
            raise self.error(fact, f"expected a name in {fact.name}, got {str(value)[:40]!r}")
        return value

    def number(self, fact: PrologFact, value: Term) -> float:
        if not isinstance(value, (int, float)):
            raise self.error(fact, f"expected a number in {fact.name}, got {str(value)[:40]!r}")
        return value

    def texts(self, fact: PrologFact, value: Term) -> list[str]:
        if not isinstance(value, list):
            raise self.error(fact, f"expected a list in {fact.name}, got {str(value)[:40]!r}")
        return [self.text(fact, each) for each in value]

    def add(self, name: str, *row: str | float) -> None:
        self.relations.setdefault(name, set()).add(row)

    def give(self, name: str, *row: str | float) -> None:
        """A value, as a function and as a relation."""
        self.functions.setdefault(f"{name}:i", set()).add(row)
        self.relations.setdefault(f"{name}:t", set()).add(row)

    def within(self, thing: str, state: str | None) -> None:
        for place in (COUNTRY, *([] if state is None else [state_name(state)])):
            self.add("loc:t", thing, place)
            self.add("in:t", thing, place)

    def country(self, fact: PrologFact) -> None:
        self.add("country:t", COUNTRY)
        people, area = (self.number(fact, value) for value in fact.arguments[1:])
        self.give("population", COUNTRY, people)
        self.give("area", COUNTRY, area)
        self.give("size", COUNTRY, area)
        self.give("density", COUNTRY, people / area if area else 0.0)

    def state(self, fact: PrologFact) -> None:
        name, code, capital, people, area, _, *cities = fact.arguments
        state = state_name(self.text(fact, name))
        self.codes[self.text(fact, name)] = self.text(fact, code)
        self.add("state:t", state)
        self.within(state, None)
        self.give("population", state, self.number(fact, people))
        self.give("area", state, self.number(fact, area))
        self.give("size", state, self.number(fact, area))
        self.give("density", state, self.number(fact, people) / max(self.number(fact, area), 1e-9))
        for each in (capital, *cities):
            self.known_city(fact, self.text(fact, each), self.text(fact, name))
        city = self.city_name(fact, self.text(fact, capital), self.text(fact, name))
        self.add("capital:t", city)
        self.add("capital:t", state, city)
        self.functions.setdefault("capital:c", set()).add((state, city))
        self.add("named:t", state, f"{slug(self.text(fact, name))}:n")

    def city_name(self, fact: PrologFact, city: str, state: str) -> str:
        if state not in self.codes:
            raise self.error(fact, f"expected a state that the file has, got {state[:40]!r}")
        return f"{slug(city)}_{self.codes[state]}:c"

    def known_city(self, fact: PrologFact, city: str, state: str) -> str:
        name = self.city_name(fact, city, state)
        self.add("city:t", name)
        self.add("town:t", name)
        self.within(name, state)
        self.add("named:t", name, f"{slug(city)}:n")
        return name

    def city(self, fact: PrologFact) -> None:
        state, _, city, people = fact.arguments
        name = self.known_city(fact, self.text(fact, city), self.text(fact, state))
        self.give("population", name, self.number(fact, people))
        self.give("size", name, self.number(fact, people))
        if self.number(fact, people) > MAJOR_CITY:
            self.add("major:t", name)

    def river(self, fact: PrologFact) -> None:
        river = f"{slug(self.text(fact, fact.arguments[0]))}_river:r"
        length = self.number(fact, fact.arguments[1])
        self.add("river:t", river)
        self.add("named:t", river, f"{slug(self.text(fact, fact.arguments[0]))}:n")
        self.give("len", river, length)
        self.give("size", river, length)
        self.within(river, None)
        for state in self.texts(fact, fact.arguments[2]):
            self.within(river, state)
            self.add("next_to:t", state_name(state), river)
        if length > MAJOR_RIVER:
            self.add("major:t", river)

    def lake(self, fact: PrologFact) -> None:
        lake = f"{slug(self.text(fact, fact.arguments[0]))}:l"
        area = self.number(fact, fact.arguments[1])
        self.add("lake:t", lake)
        self.add("named:t", lake, f"{slug(self.text(fact, fact.arguments[0]))}:n")
        self.give("area", lake, area)
        self.give("size", lake, area)
        self.within(lake, None)
        for state in self.texts(fact, fact.arguments[2]):
            self.within(lake, state)
        if area > MAJOR_LAKE:
            self.add("major:t", lake)

    def mountain(self, fact: PrologFact) -> None:
        state, _, name, height = fact.arguments
        mountain = f"mount_{slug(self.text(fact, name))}:m"
        self.add("mountain:t", mountain)
        self.give("elevation", mountain, self.number(fact, height))
        self.within(mountain, self.text(fact, state))

    def high_and_low(self, fact: PrologFact) -> None:
        state = self.text(fact, fact.arguments[0])
        for kind, place, height in (("high", *fact.arguments[2:4]), ("low", *fact.arguments[4:6])):
            base = slug(self.text(fact, place))
            name = self.places.get(base, f"{base}:p")
            elevation = self.number(fact, height)
            self.add("place:t", name)
            self.give("elevation", name, elevation)
            self.give("size", name, elevation)
            self.within(name, state)
            self.add(f"{kind}_point:t", state_name(state), name)
            self.heights.append((elevation, name, kind == "high"))

    def border(self, fact: PrologFact) -> None:
        state = state_name(self.text(fact, fact.arguments[0]))
        for other in self.texts(fact, fact.arguments[2]):
            self.add("next_to:t", state, state_name(other))


def state_name(state: str) -> str:
    return f"{slug(state)}:s"
