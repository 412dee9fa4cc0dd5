"""Answers to meanings: evaluation over the rows of a database.

A formula is true or not; a term stands for things, mostly one. What `the`, `argmax` and a function give is all that it
may be: the two longest rivers if they are equally long. A predicate holds of a term if it holds of one of these things.

Sets are found without a look at all things: for `(lambda $0 e (and (state $0) (in $0 texas)))` the candidates are
those that each part alone allows, by an index over the rows (`_Executor.candidates`), and only these are tested. The
cost of a question is about the number of candidates times that of what is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import product
from typing import TypeAlias

from margent.errors import MeaningError
from margent.meaning.built_in import CONNECTIVES, built_in_name
from margent.meaning.expression import Abstraction, Application, Constant, Expression, Variable
from margent.meaning.facts import Database, Row, Value, in_order, rows_in_order, value_of
from margent.meaning.indexed_rows import IndexedRows
from margent.meaning.reduction import beta_reduced, fresh_variable

MOST_STEPS = 20_000_000
"""So many rows and candidates are looked at for one question, unless more is allowed."""

MOST_MISSING = 4
"""So many arguments of a predicate that is a meaning by itself may be missing."""

Answer: TypeAlias = "bool | tuple[Value, ...] | tuple[tuple[Value, ...], ...]"

_COMPARED: dict[str, Callable[[Value, Value], bool]] = {
    "=": lambda a, b: a == b,
    "equals": lambda a, b: a == b,
    "<": lambda a, b: _ordered(a, b) and a < b,  # type: ignore[operator]
    ">": lambda a, b: _ordered(a, b) and a > b,  # type: ignore[operator]
    "<=": lambda a, b: _ordered(a, b) and a <= b,  # type: ignore[operator]
    ">=": lambda a, b: _ordered(a, b) and a >= b,  # type: ignore[operator]
}
_QUANTIFIERS = ("exists", "forall")
_CHOICES = ("the", "argmax", "argmin", "max", "min")
_TERMS = ("the", "argmax", "argmin", "max", "min", "sum", "count")


def answer(meaning: Expression, database: Database, *, most_steps: int = MOST_STEPS) -> Answer:
    """What a meaning comes to in a database.

    Returns
    -------
    bool or tuple
        Of a truth value, whether it holds. Of anything else, the things and numbers that it stands for, in order: those
        of a set ``(lambda $0 e ...)``, or the one, mostly, of a term. Of relations (several lambdas) tuples of these.

    MeaningError if a predicate is not in the database, or more than `most_steps` steps would be needed.

    Examples
    --------
    >>> from margent.meaning import Facts, parse_meaning
    >>> facts = Facts({"city": [("austin",), ("dallas",)]}, {"size": [("austin", 345), ("dallas", 904)]})
    >>> answer(parse_meaning("(lambda $0 e (and (city $0) (> (size $0) 300)))"), facts)
    ('austin', 'dallas')
    >>> answer(parse_meaning("(argmax $0 (city $0) (size $0))"), facts), answer(parse_meaning("(city paris)"), facts)
    (('dallas',), False)
    """
    executor = _Executor(IndexedRows(database, most_steps))
    meaning = beta_reduced(meaning)
    if meaning.free_variables:
        raise MeaningError(
            f"expected a meaning without free variables, got {', '.join(sorted(meaning.free_variables))}"
        )
    meaning = executor.with_all_arguments(meaning)
    variables: list[str] = []
    body = meaning
    while isinstance(body, Abstraction):
        variables.append(body.variable)
        body = body.body
    if variables:
        return executor.relation(variables, meaning)
    if executor.is_formula(body):
        return executor.holds(body, {})
    return tuple(in_order(executor.term(body, {})))


def _ordered(first: Value, second: Value) -> bool:
    return isinstance(first, str) == isinstance(second, str)


Environment: TypeAlias = Mapping[str, Value]


class _Executor:
    def __init__(self, rows: IndexedRows) -> None:
        self.rows = rows
        self.known: dict[tuple[Expression, Row], list[Value]] = {}

    def with_all_arguments(self, meaning: Expression) -> Expression:
        """A predicate that lacks arguments as the set or relation that it is: ``(in austin)`` of all that it is in."""
        head, arguments = (meaning.function, meaning.arguments) if isinstance(meaning, Application) else (meaning, ())
        if not isinstance(head, Constant):
            return meaning
        name, n = head.name, len(arguments)
        if built_in_name(name) is not None:
            n_missing = 2 - n if built_in_name(name) in _COMPARED else 0
        elif self.rows.has_relation(name, n) or self.rows.has_function(name, n):
            n_missing = 0
        else:
            missing = range(1, MOST_MISSING + 1)
            n_missing = next((more for more in missing if self.rows.has_relation(name, n + more)), 0)
        variables = [f"$missing{place}" for place in range(n_missing)]
        if n_missing > 0:
            meaning = Application(meaning, tuple(map(Variable, variables)))
        for variable in reversed(variables):
            meaning = Abstraction(variable, meaning)
        return meaning

    # formulas

    def is_formula(self, part: Expression) -> bool:
        """Whether it is true or false, rather than a thing or number."""
        if not isinstance(part, Application) or not isinstance(part.function, Constant):
            return False
        word = built_in_name(part.function.name)
        if word is not None:
            return word in CONNECTIVES or word in _COMPARED or word in (*_QUANTIFIERS, "not")
        name, n = part.function.name, len(part.arguments)
        return not self.rows.has_function(name, n)

    def holds(self, part: Expression, around: Environment) -> bool:
        self.rows.step()
        part = _of_formulas(part)
        if not isinstance(part, Application) or not isinstance(part.function, Constant):
            raise MeaningError(f"expected what can be true or false, got {_short(part)}")
        name, arguments = part.function.name, part.arguments
        word = built_in_name(name)
        if word == "and":  # what is short first, for it is mostly found out fast
            return all(self.holds(argument, around) for argument in sorted(arguments, key=lambda part: part.size))
        if word == "or":
            return any(self.holds(argument, around) for argument in arguments)
        if word == "not":
            return not self.holds(self.only(part), around)
        if word == "exists":
            return any(True for _ in self.members(self.only(part), around))
        if word == "forall":
            variable, body = self.function_of(self.only(part))
            return all(self.holds(body, {**around, variable: value}) for value in self.rows.things())
        if word in _COMPARED:
            if len(arguments) != 2:
                raise MeaningError(f"expected two things to compare, got {_short(part)}")
            first, second = (self.term(argument, around) for argument in arguments)
            return any(_COMPARED[word](a, b) for a in first for b in second)
        if word is not None:
            raise MeaningError(f"expected what can be true or false, got {_short(part)}")
        return self.related(name, [self.term(argument, around) for argument in arguments])

    def related(self, name: str, arguments: list[list[Value]]) -> bool:
        """Whether a predicate holds of things, one for each argument."""
        known: dict[int, Value] = {}
        several = [column for column, values in enumerate(arguments) if len(values) != 1]
        for column, values in enumerate(arguments):
            if len(values) == 1:
                known[column] = values[0]
        rows = self.rows.matching(name, len(arguments), False, known)
        self.rows.step(len(several) * len(rows))
        allowed = {column: set(arguments[column]) for column in several}
        return any(all(row[column] in values for column, values in allowed.items()) for row in rows)

    # terms

    def term(self, part: Expression, around: Environment) -> list[Value]:
        """What a term may stand for; nothing if it is not defined."""
        if isinstance(part, Variable):
            if part.name not in around:
                raise MeaningError(f"expected a thing for {part.name}, which is of another kind")
            return [around[part.name]]
        if isinstance(part, Constant):
            return [value_of(part.name)]
        self.rows.step()
        if not isinstance(part, Application) or not isinstance(part.function, Constant):
            raise MeaningError(f"expected a thing or a number, got {_short(part)}")
        word = built_in_name(part.function.name)
        if word in _TERMS:  # asked for again with every candidate of what is around
            key = part, tuple(around[name] for name in sorted(part.free_variables & around.keys()))
            if key not in self.known:
                self.known[key] = self.of_set(word, part, around)
            return self.known[key]
        if word is not None:
            raise MeaningError(f"expected a thing or a number, got {_short(part)}")
        arguments = [self.term(argument, around) for argument in part.arguments]
        found: dict[Value, None] = {}
        for known in product(*arguments):
            for row in self.rows.matching(part.function.name, len(arguments), True, dict(enumerate(known))):
                found[row[-1]] = None
        return in_order(found)

    def of_set(self, word: str, part: Application, around: Environment) -> list[Value]:
        wanted = 2 if word in ("argmax", "argmin", "sum") else 1
        if len(part.arguments) != wanted:
            raise MeaningError(f"expected {wanted} argument{'s' * (wanted > 1)} of {word}, got {_short(part)}")
        members = in_order(self.members(part.arguments[0], around))
        if word == "the":
            return members
        if word == "count":
            return [len(members)]
        if word in ("max", "min"):
            numbers = [value for value in members if not isinstance(value, str)]
            return [max(numbers) if word == "max" else min(numbers)] if numbers else []
        keys = [(value, self.key(part.arguments[1], value, around, word)) for value in members]
        defined = [(value, key) for value, key in keys if key is not None]
        if word == "sum":
            return [sum(key for _, key in defined)]
        if not defined:
            return []
        best = max(key for _, key in defined) if word == "argmax" else min(key for _, key in defined)
        return [value for value, key in defined if key == best]

    def key(self, function: Expression, value: Value, around: Environment, word: str) -> int | float | None:
        """The number that a function gives for a thing, the largest if there are several (for argmin the smallest)."""
        variable, body = self.function_of(function)
        numbers = [number for number in self.term(body, {**around, variable: value}) if not isinstance(number, str)]
        if not numbers:
            return None
        return min(numbers) if word == "argmin" else max(numbers)

    # sets

    def function_of(self, part: Expression) -> tuple[str, Expression]:
        """The variable and the body of a function of one argument, as it is or made of a predicate."""
        if isinstance(part, Abstraction):
            return part.variable, part.body
        if isinstance(part, (Constant, Application)):
            variable = fresh_variable(part.free_variables)
            return variable, beta_reduced(Application(part, (Variable(variable),)))
        raise MeaningError(f"expected a function of one argument, got {_short(part)}")

    def only(self, part: Application) -> Expression:
        if len(part.arguments) != 1:
            raise MeaningError(f"expected one argument, got {_short(part)}")
        return part.arguments[0]

    def members(self, function: Expression, around: Environment) -> Iterator[Value]:
        """The things for which a function holds, each once."""
        variable, body = self.function_of(function)
        inner = {name: value for name, value in around.items() if name != variable}
        for value in self.candidates(variable, body, inner):
            if self.holds(body, {**inner, variable: value}):
                yield value

    def relation(self, variables: list[str], meaning: Expression) -> Answer:
        """All tuples for which a function of several variables holds."""
        found: set[Row] = set()
        stack: list[tuple[Expression, Environment, Row]] = [(meaning, {}, ())]
        names = [f"$answer{place}" for place in range(len(variables))]
        while stack:
            part, around, row = stack.pop()
            place = len(row)
            if place == len(variables):
                if self.holds(part, around):
                    found.add(row)
                continue
            inner = beta_reduced(Application(part, tuple(Variable(name) for name in names[place:])))
            values = self.candidates(names[place], inner, around)
            one = beta_reduced(Application(part, (Variable(names[place]),)))
            stack += [(one, {**around, names[place]: value}, (*row, value)) for value in values]
        if len(variables) == 1:
            return tuple(in_order(value for (value,) in found))
        return tuple(rows_in_order(found))

    def candidates(self, variable: str, body: Expression, around: Environment) -> Collection[Value]:
        """The things that may make a formula true as values of a variable; all if nothing narrows them down."""
        found = self.narrowed(variable, body, around)
        found = self.rows.things() if found is None else in_order(found)
        self.rows.step(len(found))
        return found

    def narrowed(self, variable: str, body: Expression, around: Environment) -> Collection[Value] | None:
        """Candidates by what a formula says of a variable; None if it says nothing that can be looked up."""
        body = _of_formulas(body)
        if not isinstance(body, Application) or not isinstance(body.function, Constant):
            return None
        name, arguments = body.function.name, body.arguments
        if variable not in body.free_variables:
            return None
        word = built_in_name(name)
        if word == "and":
            parts = (self.narrowed(variable, argument, around) for argument in arguments)
            known = sorted((set(part) for part in parts if part is not None), key=len)
            return set.intersection(*known) if known else None
        if word == "or":
            found: set[Value] = set()
            for argument in arguments:
                part = self.narrowed(variable, argument, around)
                if part is None:
                    return None
                found.update(part)
            return found
        if word == "exists":
            inner, formula = self.function_of(self.only(body))
            if inner == variable:
                return None
            outside = {other: value for other, value in around.items() if other != inner}
            return self.narrowed(variable, formula, outside)
        if word in _COMPARED and len(arguments) == 2:
            return self.compared(variable, word, arguments, around)
        if word is not None:
            return None
        return self.looked_up(variable, name, arguments, False, around)

    def looked_up(
        self, variable: str, name: str, arguments: tuple[Expression, ...], is_function: bool, around: Environment
    ) -> Collection[Value] | None:
        """What stands in the column of a variable in the rows that have what is known of the other columns."""
        places = [place for place, argument in enumerate(arguments) if argument == Variable(variable)]
        if not places:
            for argument in arguments:  # within a term: (in (capital $0) texas)
                found = self.within(variable, argument, around)
                if found is not None:
                    return found
            return None
        known: dict[int, Value] = {}
        for place, argument in enumerate(arguments):
            if argument.free_variables <= around.keys():
                values = self.term(argument, around)
                if not values:
                    return ()
                if len(values) == 1:
                    known[place] = values[0]
        rows = self.rows.matching(name, len(arguments), is_function, known)
        self.rows.step(len(rows))
        return {row[places[0]] for row in rows}

    def within(self, variable: str, term: Expression, around: Environment) -> Collection[Value] | None:
        """Candidates by a term that has a value for these alone."""
        if not isinstance(term, Application) or not isinstance(term.function, Constant):
            return None
        if variable not in term.free_variables or built_in_name(term.function.name) is not None:
            return None
        return self.looked_up(variable, term.function.name, term.arguments, True, around)

    def compared(
        self, variable: str, word: str, arguments: tuple[Expression, ...], around: Environment
    ) -> Collection[Value] | None:
        for this, other in (arguments, arguments[::-1]):
            if this != Variable(variable):
                found = self.within(variable, this, around)
                if found is not None:
                    return found
            elif word in ("=", "equals"):
                if other.free_variables <= around.keys():
                    return self.term(other, around)
                if isinstance(other, Application) and isinstance(other.function, Constant):
                    return self.possible_values(other, around)
        return None

    def possible_values(self, term: Application, around: Environment) -> Collection[Value] | None:
        """All values that a term may have for any values of what is not known yet."""
        assert isinstance(term.function, Constant)
        word = built_in_name(term.function.name)
        if word in _CHOICES:
            inner, formula = self.function_of(term.arguments[0])
            outside = {other: value for other, value in around.items() if other != inner}
            return self.narrowed(inner, formula, outside)
        if word is not None:
            return None
        known: dict[int, Value] = {}
        for place, argument in enumerate(term.arguments):
            if argument.free_variables <= around.keys():
                values = self.term(argument, around)
                if len(values) == 1:
                    known[place] = values[0]
        rows = self.rows.matching(term.function.name, len(term.arguments), True, known)
        self.rows.step(len(rows))
        return {row[-1] for row in rows}


def _of_formulas(part: Expression) -> Expression:
    """`and` and `or` of sets or relations, applied to variables, as `and` and `or` of formulas."""
    if not isinstance(part, Application) or not isinstance(part.arguments[-1], Variable):
        return part
    if not isinstance(part.function, Constant) or built_in_name(part.function.name) not in CONNECTIVES:
        return part
    n_variables = 0
    while n_variables < len(part.arguments) and isinstance(part.arguments[-1 - n_variables], Variable):
        n_variables += 1
    sets, variables = part.arguments[:-n_variables], part.arguments[-n_variables:]
    if not sets:
        return part
    return Application(part.function, tuple(beta_reduced(Application(one, variables)) for one in sets))


def _short(part: Expression) -> str:
    text = str(part)
    return text if len(text) <= 100 else f"{text[:97]}..."
