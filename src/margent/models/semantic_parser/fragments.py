"""Meanings taken apart: from which small expressions a meaning can be put together by applications and unions.

Two members of a union that share a name may also be one piece, so that one word says the name once for both.

A *part* of a meaning is a subexpression without free variables. It is a union, `and` or `or` of sets, whose members are
parts; or it is made by applying a *fragment*, an expression of one or few names, to parts:

    (lambda $0 e (and (state:t $0) (loc:t (argmin $1 (river:t $1) (len:i $1)) $0)))
      and of  state:t
              (lambda h (loc:t h))  applied to  argmin applied to river:t and len:i
                                    or          (lambda h (argmin h len:i)) applied to river:t

These are the derivations that a parser of questions may choose among; which of them is right is never annotated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations, product

from margent.meaning import Abstraction, Application, Constant, Expression, Variable, meaning_key, normal_form
from margent.meaning.expression import split_name
from margent.meaning.reduction import is_connective, substitute

MOST_NAMES = 3
"""A fragment has at most so many names, connectives and `exists` not counted."""
MOST_HOLES = 3
"""A fragment takes at most so many arguments."""


@dataclass(frozen=True)
class Way:
    """A fragment, and the numbers of the parts it is applied to, the first argument first."""

    fragment: Expression
    arguments: tuple[int, ...]


@dataclass
class Part:
    """A closed subexpression and how it can be made: as a union of other parts, or by fragments."""

    meaning: Expression
    connective: str = ""
    members: tuple[int, ...] = ()
    ways: list[Way] = field(default_factory=list)


def parts_of(meaning: Expression, most_names: int = MOST_NAMES) -> list[Part]:
    """All parts of a meaning, smaller ones first, so that the last one is the whole.

    >>> from margent.meaning import parse_meaning
    >>> parts = parts_of(parse_meaning("(lambda $0 e (and (river:t $0) (loc:t $0 texas:s)))"))
    >>> [str(part.meaning) for part in parts][:2], parts[-1].connective, parts[-1].members
    (['texas:s', '(lambda $0 e (loc:t $0 texas:s))'], 'and', (1, 2))
    >>> [(str(way.fragment), way.arguments) for way in parts[1].ways]
    [('(lambda $0 e (lambda $1 e (loc:t $1 $0)))', (0,)), ('(lambda $0 e (loc:t $0 texas:s))', ())]
    """
    return _Taker(most_names).taken(normal_form(meaning))


def names_of(fragment: Expression) -> list[str]:
    """The names in a fragment that a word could say, in the order in which they occur."""
    return [name for name in fragment.constants() if base_name(name) not in _SILENT]


def base_name(name: str) -> str:
    return split_name(name)[0]


_SILENT = ("and", "or", "exists")


@dataclass(frozen=True)
class _Open:
    """An expression with holes, variables of their own, each for a part."""

    body: Expression
    holes: tuple[tuple[str, Expression], ...]


class _Taker:
    def __init__(self, most_names: int) -> None:
        self.most_names = most_names
        self.parts: list[Part] = []
        self.numbers: dict[str, int] = {}
        self.n_variables = 0

    def taken(self, meaning: Expression) -> list[Part]:
        self.number(meaning)
        return self.parts

    def number(self, meaning: Expression) -> int:
        """The number of the part with a meaning, which is taken apart if it is new."""
        key = meaning_key(meaning)
        if key not in self.numbers:
            part = self.part(meaning)
            self.numbers[key] = len(self.parts)
            self.parts.append(part)
        return self.numbers[key]

    def part(self, meaning: Expression) -> Part:
        part = Part(normal_form(meaning))
        members = union_members(meaning)
        if members is not None:
            part.connective, found = members
            part.members = tuple(self.number(member) for member in found)
            if len(found) > 2:
                for pair in combinations(found, 2):
                    if _share_a_name(*pair):
                        self.number(normal_form(_united(part.connective, *pair)))
        for opened in self.openings(meaning):
            holes = [(name, self.number(value)) for name, value in opened.holes]
            for order in permutations(holes) if len(holes) < 3 else (tuple(holes), tuple(reversed(holes))):
                fragment = opened.body
                for name, _ in reversed(order):
                    fragment = Abstraction(name, fragment)
                way = Way(normal_form(fragment), tuple(number for _, number in order))
                if way not in part.ways:
                    part.ways.append(way)
        return part

    def openings(self, meaning: Expression) -> Iterator[_Open]:
        """The fragments that may stand at the top of a meaning: the smallest first, then with more of it inside."""
        members = union_members(meaning)
        if members is not None:
            if len(members[1]) == 2 and _share_a_name(*members[1]) and len(names_of(meaning)) <= self.most_names + 1:
                yield _Open(meaning, ())
            return
        if isinstance(meaning, Constant):
            yield _Open(meaning, ())
            return
        smallest = self.opened(meaning)
        choices = [[None, *self.absorbed(value)] for _, value in smallest.holes]
        found = []
        for chosen in product(*choices):
            body, holes = smallest.body, []
            for (name, value), inside in zip(smallest.holes, chosen):
                if inside is None:
                    holes.append((name, value))
                else:
                    body = substitute(body, name, inside.body)
                    holes.extend(inside.holes)
            n_names = len(names_of(body))
            if (
                n_names
                and len(holes) <= MOST_HOLES
                and (n_names <= self.most_names or all(one is None for one in chosen))
            ):
                found.append((n_names, _Open(body, tuple(holes))))
        yield from (opened for _, opened in sorted(found, key=lambda pair: pair[0]))

    def absorbed(self, value: Expression) -> list[_Open]:
        return [opened for opened in self.openings(value) if len(names_of(opened.body)) < self.most_names]

    def opened(self, meaning: Expression) -> _Open:
        """The smallest fragment at the top: with a hole for each closed expression in it."""
        variables: list[Abstraction] = []
        body = meaning
        while isinstance(body, Abstraction):
            variables.append(body)
            body = body.body
        holes: list[tuple[str, Expression]] = []
        body = self.inner(body, holes)
        for each in reversed(variables):
            body = Abstraction(each.variable, body, each.type)
        return _Open(body, tuple(holes))

    def hole(self, value: Expression, holes: list[tuple[str, Expression]]) -> Variable:
        name = f"h{self.n_variables}"
        self.n_variables += 1
        holes.append((name, value))
        return Variable(name)

    def inner(self, part: Expression, holes: list[tuple[str, Expression]]) -> Expression:
        """A part of a fragment with holes for what is closed in it."""
        if isinstance(part, Abstraction):
            return Abstraction(part.variable, self.inner(part.body, holes), part.type)
        if not isinstance(part, Application):
            return part
        arguments = list(part.arguments)
        if is_connective(part.function):
            return Application(part.function, tuple(self.grouped(part.function, arguments, holes)))
        if _is_not(part) and len(arguments[0].free_variables) == 1:
            variable = next(iter(arguments[0].free_variables))
            negated = self.hole(normal_form(Abstraction(variable, arguments[0])), holes)
            return Application(part.function, (Application(negated, (Variable(variable),)),))
        made = tuple(
            argument
            if isinstance(argument, Variable)
            else self.inner(argument, holes)
            if argument.free_variables
            else self.hole(argument, holes)
            for argument in arguments
        )
        function = part.function if isinstance(part.function, Constant) else self.inner(part.function, holes)
        return Application(function, made)

    def grouped(
        self,
        connective: Expression,
        members: Sequence[Expression],
        holes: list[tuple[str, Expression]],
    ) -> list[Expression]:
        """Members about one variable alone become one hole, a set that it is in; the others stay."""
        groups: dict[str, list[Expression]] = {}
        rest: list[Expression] = []
        for member in members:
            if len(member.free_variables) == 1:
                groups.setdefault(next(iter(member.free_variables)), []).append(member)
            else:
                rest.append(member)
        found: list[Expression] = []
        for variable, own in sorted(groups.items()):
            body = own[0] if len(own) == 1 else Application(connective, tuple(own))
            found.append(Application(self.hole(normal_form(Abstraction(variable, body)), holes), (Variable(variable),)))
        return [*found, *(self.inner(member, holes) for member in rest)]


def _is_not(part: Application) -> bool:
    return isinstance(part.function, Constant) and base_name(part.function.name) == "not" and len(part.arguments) == 1


def _share_a_name(first: Expression, second: Expression) -> bool:
    """Whether something is said twice of one thing: from an airport and to the same one."""
    return not set(names_of(first)).isdisjoint(names_of(second))


def _united(connective: str, first: Expression, second: Expression) -> Expression:
    body = Application(
        Constant(connective), (Application(first, (Variable("$u"),)), Application(second, (Variable("$u"),)))
    )
    return Abstraction("$u", body)


def union_members(meaning: Expression) -> tuple[str, list[Expression]] | None:
    """Of a set that is the `and` or `or` of other sets, which of both, and these; None of anything else."""
    variable, body = (meaning.variable, meaning.body) if isinstance(meaning, Abstraction) else ("", meaning)
    if not isinstance(body, Application) or not is_connective(body.function) or not isinstance(body.function, Constant):
        return None
    if not variable:
        return body.function.name, list(body.arguments)
    if any(not member.free_variables for member in body.arguments):
        return None
    return body.function.name, [normal_form(Abstraction(variable, member)) for member in body.arguments]
