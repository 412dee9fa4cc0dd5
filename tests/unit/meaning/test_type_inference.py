"""Types of whole expressions: against plain enumeration, and by what may be done to them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import type_inference as twin
from tests.unit.meaning.terms import shuffled

from margent.errors import MeaningError
from margent.meaning import (
    Abstraction,
    Application,
    BaseType,
    Constant,
    Domain,
    Expression,
    FunctionType,
    TypeHierarchy,
    Variable,
    alpha_equivalent,
    applied,
    beta_reduced,
    infer_type,
    normal_form,
    parse_meaning,
    parse_type,
)

KINDS = TypeHierarchy({"lo": "e", "s": "lo", "r": "lo", "c": "s", "do": "i", "e": "", "i": "", "t": ""})
NAMES = {
    "state": ["s -> t"],
    "river": ["r -> t"],
    "in": ["lo -> lo -> t"],
    "near": ["s -> s -> t", "r -> r -> t"],
    "capital": ["s -> c", "s -> t"],
    "size": ["lo -> i"],
    "price": ["c -> do"],
    "texas": ["s"],
    "ohio": ["s", "r"],
    "the": ["('a -> t) -> 'a"],
    "most": ["('a -> t) -> ('a -> i) -> 'a"],
    "some": ["('a -> t) -> t"],
    "both": ["t -> t -> t"],
}
DOMAIN = Domain(KINDS, {name: tuple(map(parse_type, types)) for name, types in NAMES.items()})
FIRST_ORDER = [name for name in NAMES if "'" not in NAMES[name][0]]
BASIC = ["top", *KINDS.names]
SETS = [(name, result) for name in BASIC for result in ("t", "i")]
ABOVE = {name: set(KINDS.above(name)) for name in BASIC}


def infer(text, domain=DOMAIN):
    return str(infer_type(parse_meaning(text), domain))


def plain(type_):
    if isinstance(type_, FunctionType):
        return (plain(type_.argument), plain(type_.result))
    return str(type_)


PLAIN_NAMES = {name: [plain(parse_type(text)) for text in texts] for name, texts in NAMES.items()}


def sentence(dice, around=(), depth=3) -> Expression:
    """A truth value, if what is said of things goes together."""
    predicate = dice.choice(["state", "river", "in", "near", "both", "both", "some"] if depth else ["state", "in"])
    if predicate == "both":
        parts = sentence(dice, around, depth - 1), sentence(dice, around, depth - 1)
    elif predicate == "some":
        parts = (described(dice, around, depth - 1),)
    else:
        parts = tuple(thing(dice, around, depth - 1) for _ in range(2 if predicate in ("in", "near") else 1))
    return Application(Constant(predicate), parts)


def described(dice, around, depth) -> Expression:
    if depth <= 0 or len(around) > 1:
        return Constant(dice.choice(["state", "river"]))
    name = f"${len(around)}"
    return Abstraction(name, sentence(dice, (*around, name), depth - 1), parse_type(dice.choice(["e", "e", "lo"])))


def thing(dice, around, depth) -> Expression:
    kind = dice.random()
    if around and kind < 0.6:
        return Variable(dice.choice(around))
    if depth <= 0 or kind < 0.75:
        return Constant(dice.choice(["texas", "ohio"]))
    if kind < 0.9:
        return Application(Constant("the"), (described(dice, around, depth - 1),))
    return Application(Constant("capital"), (thing(dice, around, depth - 1),))


def random_term(dice, around=(), depth=3) -> Expression:
    """Any term: a question, as people ask it, or something that mostly has no type."""
    kind = dice.random()
    if not around and kind < 0.7:
        return described(dice, around, depth) if kind < 0.5 else sentence(dice, around, depth)
    if depth == 0 or kind < 0.25:
        names = [Variable(name) for name in around]
        return dice.choice([*names, *names, *map(Constant, FIRST_ORDER)])
    if kind < 0.5 and len(around) < 2:
        name = f"${len(around)}"
        type_ = parse_type(dice.choice(["e", "e", "lo", "s", "<e,t>"]))
        return Abstraction(name, random_term(dice, (*around, name), depth - 1), type_)
    function = dice.choice([*NAMES, *NAMES, *NAMES, None])
    n_arguments = 2 if function in ("in", "near", "most", "both") else 1
    name = f"${len(around)}"
    head = Constant(function) if function else Abstraction(name, random_term(dice, (*around, name), depth - 1))
    return Application(head, tuple(random_term(dice, around, depth - 1) for _ in range(n_arguments)))


def as_tuples(expression):
    if isinstance(expression, Variable):
        return ("var", expression.name)
    if isinstance(expression, Constant):
        return ("const", expression.name)
    if isinstance(expression, Abstraction):
        if isinstance(expression.type, FunctionType):
            allowed = [(name, "t") for name in BASIC]
        else:
            name = str(expression.type)
            below = BASIC if name == "e" else [other for other in BASIC if name in ABOVE[other]]
            allowed = [*below, *SETS] if name == "e" else below
        return ("lam", expression.variable, allowed, as_tuples(expression.body))
    return ("app", as_tuples(expression.function), [as_tuples(part) for part in expression.arguments])


def of_first_order(type_):
    """Whether enumeration tries all that may be needed: variables of basic types and sets of them."""
    return len(type_.arguments) < 2 and not any(of.depth > 1 for of in type_.arguments)


@settings(deadline=None, max_examples=400)
@given(st.randoms(use_true_random=False))
def test_a_type_is_found_where_there_is_one(dice):
    """And it is the largest: no other type that the expression can be given asks for less."""
    term = random_term(dice)
    derivable = twin.derivable(as_tuples(term), PLAIN_NAMES, [*BASIC, *SETS], ABOVE)
    try:
        found = infer_type(term, DOMAIN)
    except MeaningError:
        assert not derivable, f"{term} has the types {derivable}"
        return
    if any(True for _ in found.variables()) or not of_first_order(found):
        return
    assert plain(found) in derivable, f"{term}: {found} is not among {derivable}"
    if isinstance(found, FunctionType) and isinstance(found.argument, BaseType) and len(derivable) > 0:
        asked = [type_[0] for type_ in derivable if isinstance(type_, tuple) and type_[1] == plain(found.result)]
        assert not any(
            twin.is_subtype(plain(found.argument), of, ABOVE) and of != plain(found.argument) for of in asked
        )


def typed_term(dice):
    while True:
        term = random_term(dice, depth=4)
        try:
            return term, infer_type(term, DOMAIN)
        except MeaningError:
            continue


@settings(deadline=None, max_examples=300)
@given(st.randoms(use_true_random=False))
def test_names_of_variables_do_not_matter_and_reduction_keeps_a_type(dice):
    term, type_ = typed_term(dice)
    other = shuffled(dice, term)
    assert alpha_equivalent(term, other) and infer_type(other, DOMAIN) == type_
    for reduced in (beta_reduced(term), normal_form(term)):
        after = infer_type(reduced, DOMAIN)
        assert [*after.variables()] or [*type_.variables()] or comparable(after, type_), f"{term}: {type_}, {after}"


def comparable(first, second):
    return KINDS.is_subtype(first, second) or KINDS.is_subtype(second, first)


@settings(deadline=None, max_examples=300)
@given(st.randoms(use_true_random=False))
def test_what_can_be_applied_step_by_step_has_a_type(dice):
    function, of = typed_term(dice)
    argument, got = typed_term(dice)
    step = applied(of, got, KINDS)
    if step is None:
        return
    whole = infer_type(Application(function, (argument,)), DOMAIN)
    assert [*step.variables()] or [*whole.variables()] or KINDS.is_subtype(whole, step)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("(lambda $0 e (and (state $0) (in $0 texas)))", "s -> t"),
        ("(lambda $0 e (lambda $1 e (and (in $0 $1) (river $1))))", "lo -> r -> t"),
        ("(and state (in texas))", "s -> t"),
        ("(most state size)", "s"),
        ("(most (lambda $0 e (in $0 texas)) price)", "c"),
        ("(count $0 (in $0 texas))", "i"),
        ("(argmax $0 (state $0) (count $1 (in $1 $0)))", "s"),
        ("(argmin $0 (state $0) (price (capital $0)))", "s"),
        ("(max $0 (exists $1 (= (price $1) $0)))", "do"),
        ("(sum state size)", "i"),
        ("(lambda $0 e (equals $0 texas))", "s -> t"),
        ("(lambda $0 e (> (size $0) 1000))", "lo -> t"),
        ("(capital texas)", "c"),
        ("(not (capital texas))", "t"),
        ("(lambda $0 e (near $0 (the river)))", "r -> t"),
        ("((lambda $0 e $0) texas)", "s"),
        ("((lambda $0 <e,t> (the $0)) river)", "r"),
        ("((lambda $0:lo $0) texas)", "s"),
        ("(lambda $0:lo (state $0))", "s -> t"),
        ("(lambda $0 e $0)", "'a -> 'a"),
        ("(lambda $0 <e,t> (lambda $1 e ($0 $1)))", "('a -> t) -> 'a -> t"),
        ("(in $0 $1)", "t"),
        ("(exists $0 (or (state $0) (river (the river))))", "t"),
    ],
)
def test_types_as_people_expect_them(text, type_):
    assert infer(text) == type_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(river texas)", r"in \(river texas\): river expects r, got texas, which is of type s"),
        ("(in texas 5)", r"in \(in texas 5\): in expects lo for argument 2, got 5, which is of type i"),
        (
            "(lambda $0 e (and (state $0) (river $0)))",
            r"nothing is both s, as \(state \$0\) expects, and r, as \(river \$0\) does",
        ),
        (
            "(= texas (the river))",
            r"in \(= texas \(the river\)\): nothing is both r, as \(the river\) expects, and s, as \(= texas",
        ),
        ("(size texas texas)", r"in \(size texas texas\): size takes 1 argument, got 2"),
        ("((lambda $0 e (river $0)) texas)", r"expects r, got s, by \(\(lambda \$0 e \(river \$0\)\) texas\)"),
        ("(texas $0)", r"in \(texas \$0\): texas takes no arguments, got 1"),
        ("(lake texas)", r"in \(lake texas\): expected a name that the domain knows, got lake"),
        ("(and texas (state texas))", "expected t, got"),
        ("(not and)", "expected arguments after and, got none"),
        ("(lambda $0 e ($0 $0))", "is a function applied to itself"),
        ("(near texas (the river))", r"near can be neither s -> s -> t nor r -> r -> t: in \(near texas"),
        ("(most state state)", r"most expects i for argument 2, got state|in \(most state state\)"),
        ("(lambda $0:rv (state $0))", "the type rv has 'rv'; expected one of"),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(text, message):
    with pytest.raises(MeaningError, match=message):
        infer(text)


def test_the_most_general_type_of_an_overloaded_name_is_taken():
    types = {
        "loc": tuple(map(parse_type, ["s -> t", "lo -> t", "c -> t"])),
        "air": (parse_type("s -> lo -> t"), parse_type("r -> t")),
    }
    domain = Domain(KINDS, types)
    assert infer("loc", domain) == "lo -> t" and infer("(lambda $0 e (loc $0))", domain) == "lo -> t"
    assert infer("(lambda $0 e (air $0))", domain) == "r -> t"
    assert infer("(lambda $0:s (air $0))", domain) == "s -> lo -> t"
    assert infer("(lambda $0 e (lambda $1 e (air $0 $1)))", domain) == "s -> lo -> t"


def test_many_overloaded_names_end_in_time():
    types = {"f": tuple(parse_type(f"{a} -> {b} -> t") for a in ("s", "r", "c") for b in ("s", "r", "c")), "g": ()}
    types["g"] = tuple(parse_type(f"{a} -> i") for a in ("s", "r"))
    domain = Domain(KINDS, types)
    chain = " ".join(f"(f ${i} ${i + 1})" for i in range(60))
    assert infer(f"(and {chain})", domain) == "t"
    with pytest.raises(MeaningError, match=r"too hard|nothing is both|can be neither|at most 200"):
        infer(f"(and {' '.join([chain] * 10)} (= $0 5))", domain)
