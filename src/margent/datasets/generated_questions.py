"""Questions about an invented company, with their meanings, its domain and its facts: all that a parser needs.

People live in cities, belong to departments, work on projects and lead them; departments and projects are in cities,
too. A question is drawn from phrasings of lists, counts, superlatives, comparisons, sums and yes or no, whose parts
nest: "how many people who work on a project in Ghent earn more than the manager of Ann Bell".
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from margent.meaning.domain import Domain
from margent.meaning.expression import Expression
from margent.meaning.facts import Facts, Value
from margent.meaning.notation import parse_meaning
from margent.meaning.type_hierarchy import TypeHierarchy
from margent.meaning.types import parse_type

_FIRST = ("ann", "ben", "carla", "dan", "eva", "finn", "gina", "hugo", "ida", "jon", "kate", "leo")
_LAST = ("bell", "cole", "diaz", "eng", "fox", "gray", "hale", "imai")
_CITIES = ("ghent", "new haven", "oslo", "porto", "santa cruz", "turin")
_PROJECTS = ("apollo", "blue heron", "cascade", "delta", "evergreen", "falcon", "golden gate", "horizon")
_DEPARTMENTS = ("finance", "research", "sales", "support")
_LANGUAGES = ("dutch", "english", "french", "polish")

TYPES = {
    "person": "person -> t",
    "senior": "person -> t",
    "city": "city -> t",
    "project": "project -> t",
    "urgent": "project -> t",
    "department": "department -> t",
    "lives_in": "person -> city -> t",
    "located_in": "unit -> city -> t",
    "member_of": "person -> department -> t",
    "works_on": "person -> project -> t",
    "leads": "person -> project -> t",
    "speaks": "person -> language -> t",
    "manager": "person -> person",
    "age": "person -> i",
    "salary": "person -> i",
    "budget": "project -> i",
}
"""The predicates of the domain and their types."""


class GeneratedQuestions(NamedTuple):
    """Questions as lists of words, what they mean, and what they are about."""

    X: list[list[str]]
    y: list[Expression]
    domain: Domain
    facts: Facts


def make_questions(n: int, *, seed: int = 0, company: int = 0) -> GeneratedQuestions:
    """Questions about an invented company, drawn at random; some may come twice.

    Parameters
    ----------
    n : int
        How many.
    seed : int
        Of the questions.
    company : int
        Another number is another company, with other facts. The domain is the same but for the people.

    Examples
    --------
    >>> from margent.meaning import answer
    >>> X, y, domain, facts = make_questions(3, seed=7)
    >>> for words in X:
    ...     print(" ".join(words))
    what is the number of employees under 59 and who work on horizon
    how many employees are there
    is carla gray older than hugo cole
    >>> print(y[0], answer(y[0], facts))
    (count $0 (and (person $0) (< (age $0) 59) (works_on $0 horizon))) (4,)
    """
    facts, people = _company(random.Random(f"company {company}"))
    writer = _Writer(random.Random(f"questions {seed}"), people)
    drawn = [writer.question() for _ in range(n)]
    X = [words.split() for words, _ in drawn]
    return GeneratedQuestions(X, [parse_meaning(meaning) for _, meaning in drawn], _domain(people), facts)


def _name(words: str) -> str:
    return words.replace(" ", "_")


def _domain(people: Sequence[str]) -> Domain:
    things = {"person": people, "city": _CITIES, "project": _PROJECTS, "department": _DEPARTMENTS}
    things |= {"language": _LANGUAGES}
    types = {name: (parse_type(text),) for name, text in TYPES.items()}
    phrases = {}
    for kind, names in things.items():
        for words in names:
            types[_name(words)] = (parse_type(kind),)
            phrases[tuple(words.split())] = (_name(words),)
    above = {"person": "e", "city": "e", "language": "e", "unit": "e", "project": "unit", "department": "unit"}
    return Domain(TypeHierarchy({"e": "", **above}), types, phrases, values={"number": ("{}",)})


def _company(choose: random.Random) -> tuple[Facts, list[str]]:
    people = sorted(choose.sample([f"{first} {last}" for first in _FIRST for last in _LAST], 24))
    relations: dict[str, list[list[Value]]] = {name: [] for name, text in TYPES.items() if text.endswith("t")}
    functions: dict[str, list[list[Value]]] = {name: [] for name in TYPES if name not in relations}
    for kind, names in (("city", _CITIES), ("project", _PROJECTS), ("department", _DEPARTMENTS)):
        relations[kind] += [[_name(words)] for words in names]
    for words in (*_PROJECTS, *_DEPARTMENTS):
        relations["located_in"].append([_name(words), _name(choose.choice(_CITIES))])
    for words in _PROJECTS:
        functions["budget"].append([_name(words), 10_000 * choose.randint(2, 60)])
        relations["leads"].append([_name(choose.choice(people)), _name(words)])
    relations["urgent"] += [[_name(words)] for words in choose.sample(_PROJECTS, 3)]
    for place, words in enumerate(people):
        person = _name(words)
        relations["person"].append([person])
        relations["lives_in"].append([person, _name(choose.choice(_CITIES))])
        relations["member_of"].append([person, _name(choose.choice(_DEPARTMENTS))])
        relations["works_on"] += [[person, _name(each)] for each in choose.sample(_PROJECTS, choose.randint(1, 3))]
        relations["speaks"] += [[person, _name(each)] for each in choose.sample(_LANGUAGES, choose.randint(1, 2))]
        functions["age"].append([person, choose.randint(22, 64)])
        functions["salary"].append([person, 1000 * choose.randint(30, 120)])
        if place:
            functions["manager"].append([person, _name(choose.choice(people[:place]))])
        if choose.random() < 0.4:
            relations["senior"].append([person])
    return Facts(relations, functions), people


class _Writer:
    """Draws phrases and what they mean. A set is a phrase and a formula with {} for its variable."""

    def __init__(self, choose: random.Random, people: Sequence[str]) -> None:
        self.choose = choose
        self.people = people
        self.n_variables = 0

    def one_of(self, *phrases: str) -> str:
        return self.choose.choice(phrases)

    def fresh(self) -> str:
        self.n_variables += 1
        return f"${self.n_variables - 1}"

    def thing(self, names: Sequence[str]) -> tuple[str, str]:
        words = self.choose.choice(names)
        return words, _name(words)

    def question(self) -> tuple[str, str]:
        self.n_variables = 0
        kinds: list[Callable[[], tuple[str, str]]] = [
            *(self.list_people, self.list_people, self.list_projects, self.count, self.count),
            *(self.extreme, self.extreme),
            *(self.attribute, self.attribute_of_extreme, self.yes_or_no, self.most, self.total, self.where, self.who),
        ]
        return self.choose.choice(kinds)()

    def group(self, kind: str, depth: int = 0) -> tuple[str, str, str]:
        """A plural noun phrase, its singular, and its formula."""
        noun, plural = {
            "person": self.choose.choice([("person", "people"), ("employee", "employees")]),
            "project": ("project", "projects"),
        }[kind]
        formula = f"({kind} {{}})"
        adjective = ""
        if self.choose.random() < 0.2:
            adjective = "senior " if kind == "person" else self.one_of("urgent ", "pressing ")
            formula += f" ({'senior' if kind == 'person' else 'urgent'} {{}})"
        modifiers = ""
        for _ in range(self.choose.choice([0, 1, 1, 1, 2]) if depth == 0 else self.choose.choice([0, 1])):
            words, said = self.person_modifier(depth) if kind == "person" else self.project_modifier(depth)
            if said.split(" {}")[0] in formula:  # nobody lives in two cities
                continue
            modifiers += f" {'and ' if modifiers else ''}{words}"
            formula += f" {said}"
        return f"{adjective}{plural}{modifiers}", f"{adjective}{noun}{modifiers}", formula

    def person_modifier(self, depth: int) -> tuple[str, str]:
        kind = self.choose.randrange(9 if depth else 11)
        if kind < 2:
            words, name = self.thing(_CITIES)
            return f"{self.one_of('who live in', 'living in', 'in', 'from')} {words}", f"(lives_in {{}} {name})"
        if kind < 4:
            words, name = self.thing(_PROJECTS)
            said = f"(works_on {{}} {name})"
            if self.choose.random() < 0.2:
                return f"who do not work on {words}", f"(not {said})"
            return f"{self.one_of('who work on', 'working on', 'on')} {words}", said
        if kind == 4:
            words, name = self.thing(_DEPARTMENTS)
            return f"{self.one_of('in the', 'of the')} {words} department", f"(member_of {{}} {name})"
        if kind == 5:
            words, name = self.thing(_LANGUAGES)
            return f"{self.one_of('who speak', 'speaking', 'who know')} {words}", f"(speaks {{}} {name})"
        if kind == 6:
            years = self.choose.randint(25, 60)
            if self.choose.random() < 0.5:
                return f"{self.one_of('older than', 'over', 'above')} {years}", f"(> (age {{}}) {years})"
            return f"{self.one_of('younger than', 'under', 'below')} {years}", f"(< (age {{}}) {years})"
        if kind == 7:
            amount = 5000 * self.choose.randint(7, 22)
            if self.choose.random() < 0.5:
                phrase = self.one_of("who earn more than", "earning over", "with a salary above")
                return f"{phrase} {amount}", f"(> (salary {{}}) {amount})"
            phrase = self.one_of("who earn less than", "earning under", "with a salary below")
            return f"{phrase} {amount}", f"(< (salary {{}}) {amount})"
        if kind == 8:
            words, name = self.thing(self.people)
            if self.choose.random() < 0.5:
                return f"older than {words}", f"(> (age {{}}) (age {name}))"
            return f"{self.one_of('who report to', 'managed by', 'who work for')} {words}", f"(= (manager {{}}) {name})"
        variable = self.fresh()
        _, project, formula = self.group("project", depth + 1)
        article = "an" if project[0] in "aeiou" else "a"
        relation, phrase = (
            ("leads", "who lead") if kind == 10 else ("works_on", self.one_of("who work on", "working on"))
        )
        said = f"(exists {variable} (and {formula.replace('{}', variable)} ({relation} {{}} {variable})))"
        return f"{phrase} {article} {project}", said

    def project_modifier(self, depth: int) -> tuple[str, str]:
        kind = self.choose.randrange(3 if depth else 4)
        if kind == 0:
            words, name = self.thing(_CITIES)
            return f"{self.one_of('in', 'located in')} {words}", f"(located_in {{}} {name})"
        if kind == 1:
            amount = 50_000 * self.choose.randint(1, 10)
            phrase, sign = self.one_of("with a budget over", "that cost more than"), ">"
            if self.choose.random() < 0.5:
                phrase, sign = self.one_of("with a budget under", "that cost less than"), "<"
            return f"{phrase} {amount}", f"({sign} (budget {{}}) {amount})"
        if kind == 2:
            words, name = self.thing(self.people)
            return f"{self.one_of('led by', 'that are led by')} {words}", f"(leads {name} {{}})"
        number = self.choose.randint(2, 6)
        variable = self.fresh()
        said = f"(> (count {variable} (and (person {variable}) (works_on {variable} {{}}))) {number})"
        return f"{self.one_of('with more than', 'that have more than')} {number} people", said

    def set_of(self, formula: str) -> tuple[str, str]:
        """A fresh variable and the formula about it."""
        variable = self.fresh()
        said = formula.replace("{}", variable)
        return variable, said if formula.count("(") == 1 else f"(and {said})"

    def list_people(self) -> tuple[str, str]:
        plural, _, formula = self.group("person")
        return self.listed(plural, formula)

    def list_projects(self) -> tuple[str, str]:
        plural, _, formula = self.group("project")
        return self.listed(plural, formula)

    def listed(self, plural: str, formula: str) -> tuple[str, str]:
        variable, said = self.set_of(formula)
        start = self.one_of(
            "which are the", "show me the", "show me all", "list all", "list the", "give me the", "find"
        )
        return f"{start} {plural}", f"(lambda {variable} e {said})"

    def count(self) -> tuple[str, str]:
        plural, _, formula = self.group(self.one_of("person", "person", "project"))
        variable, said = self.set_of(formula)
        start, end = self.choose.choice(
            [("how many", "are there"), ("how many", "do we have"), ("what is the number of", ""), ("count the", "")]
        )
        return f"{start} {plural} {end}".strip(), f"(count {variable} {said})"

    def superlative(self) -> tuple[str, str, str]:
        """What it is of, a noun phrase for the first by some measure, and its term."""
        kind, word, measure, sign = self.choose.choice(
            [
                *(("person", "oldest", "age", "max"), ("person", "youngest", "age", "min")),
                *(("person", "best paid", "salary", "max"), ("person", "worst paid", "salary", "min")),
                *(("project", "largest", "budget", "max"), ("project", "most expensive", "budget", "max")),
                *(("project", "smallest", "budget", "min"), ("project", "cheapest", "budget", "min")),
            ]
        )
        _, singular, formula = self.group(kind, depth=1)
        variable, said = self.set_of(formula)
        return kind, f"the {word} {singular}", f"(arg{sign} {variable} {said} ({measure} {variable}))"

    def extreme(self) -> tuple[str, str]:
        kind, words, term = self.superlative()
        starts = ("who is", "show me", "tell me") if kind == "person" else ("what is", "show me", "tell me")
        return f"{self.one_of(*starts)} {words}", term

    def attribute(self) -> tuple[str, str]:
        if self.choose.random() < 0.3:
            words, name = self.thing(_PROJECTS)
            start, end = self.choose.choice([("what is the budget of", ""), ("how much does", "cost")])
            return f"{start} {words} {end}".strip(), f"(budget {name})"
        words, name = self.thing(self.people)
        start, end, measure = self.choose.choice(
            [
                *(
                    ("how old is", "", "age"),
                    ("what is the age of", "", "age"),
                    ("what is the salary of", "", "salary"),
                ),
                *(("how much does", "earn", "salary"), ("who is the manager of", "", "manager")),
                ("who manages", "", "manager"),
            ]
        )
        return f"{start} {words} {end}".strip(), f"({measure} {name})"

    def attribute_of_extreme(self) -> tuple[str, str]:
        kind, words, term = self.superlative()
        if kind == "project":
            return f"what is the budget of {words}", f"(budget {term})"
        start, end, measure = self.choose.choice(
            [("how old is", "", "age"), ("what is the salary of", "", "salary"), ("how much does", "earn", "salary")]
        )
        return f"{start} {words} {end}".strip(), f"({measure} {term})"

    def yes_or_no(self) -> tuple[str, str]:
        words, name = self.thing(self.people)
        kind = self.choose.randrange(4)
        if kind == 0:
            other, project = self.thing(_PROJECTS)
            verb, relation = self.choose.choice([("work on", "works_on"), ("lead", "leads")])
            return f"does {words} {verb} {other}", f"({relation} {name} {project})"
        if kind == 1:
            other, second = self.thing(self.people)
            return f"is {words} older than {other}", f"(> (age {name}) (age {second}))"
        if kind == 2:
            other, city = self.thing(_CITIES)
            return f"does {words} live in {other}", f"(lives_in {name} {city})"
        other, second = self.thing(self.people)
        return f"does {words} earn more than {other}", f"(> (salary {name}) (salary {second}))"

    def most(self) -> tuple[str, str]:
        first, second = self.fresh(), self.fresh()
        people = f"(count {second} (and (person {second}) ({{}} {second} {first})))"
        words, kind, relation = self.choose.choice(
            [
                ("in which city do the {} people live", "city", "lives_in"),
                ("which project has the {} people", "project", "works_on"),
                ("which department has the {} people", "department", "member_of"),
            ]
        )
        word, sign = self.choose.choice([("most", "max"), ("fewest", "min")])
        return words.format(word), f"(arg{sign} {first} ({kind} {first}) {people.format(relation)})"

    def total(self) -> tuple[str, str]:
        kind, measure = self.choose.choice([("person", "salary"), ("project", "budget")])
        plural, _, formula = self.group(kind, depth=1)
        variable, said = self.set_of(formula)
        start = self.one_of("what is the total", "what is the combined")
        return f"{start} {measure} of all {plural}", f"(sum {variable} {said} ({measure} {variable}))"

    def where(self) -> tuple[str, str]:
        variable = self.fresh()
        if self.choose.random() < 0.5:
            words, name = self.thing((*_PROJECTS, *_DEPARTMENTS))
            kind = "" if words in _PROJECTS else " department"
            article = "the " if kind else ""
            return f"where is {article}{words}{kind}", f"(lambda {variable} e (located_in {name} {variable}))"
        words, name = self.thing(self.people)
        if self.choose.random() < 0.5:
            return f"where does {words} live", f"(lambda {variable} e (lives_in {name} {variable}))"
        return f"what does {words} work on", f"(lambda {variable} e (works_on {name} {variable}))"

    def who(self) -> tuple[str, str]:
        words, said = self.choose.choice([self.who_works, self.who_leads, self.who_lives])()
        variable = self.fresh()
        return f"who {words}", f"(lambda {variable} e {said.replace('{}', variable)})"

    def who_works(self) -> tuple[str, str]:
        words, name = self.thing(_PROJECTS)
        return f"{self.one_of('works on', 'is working on')} {words}", f"(works_on {{}} {name})"

    def who_leads(self) -> tuple[str, str]:
        words, name = self.thing(_PROJECTS)
        return f"{self.one_of('leads', 'is in charge of', 'is the head of')} {words}", f"(leads {{}} {name})"

    def who_lives(self) -> tuple[str, str]:
        words, name = self.thing(_CITIES)
        return f"lives in {words}", f"(lives_in {{}} {name})"
