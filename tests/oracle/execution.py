"""What a meaning comes to, by trying all things for every variable.

Meanings are nested tuples: ("var", name), ("const", value), ("lam", name, body), ("app", word, [arguments]). A term is
the set of all that it may stand for; a predicate holds of a term if it holds of one of these.
"""

from itertools import product


def holds(part, around, facts, things):
    word, arguments = part[1], part[2]
    if word == "and":
        return all(holds(each, around, facts, things) for each in arguments)
    if word == "or":
        return any(holds(each, around, facts, things) for each in arguments)
    if word == "not":
        return not holds(arguments[0], around, facts, things)
    if word == "exists":
        return len(members(arguments[0], around, facts, things)) > 0
    if word == "forall":
        return len(members(arguments[0], around, facts, things)) == len(things)
    given = [term(each, around, facts, things) for each in arguments]
    if word in ("=", "<", ">"):
        return any(compared(word, a, b) for a, b in product(*given))
    return any((word, *row) in facts[0] for row in product(*given))


def compared(word, a, b):
    if word == "=":
        return a == b
    if isinstance(a, str) != isinstance(b, str):
        return False
    return a < b if word == "<" else a > b


def members(function, around, facts, things):
    return {thing for thing in things if holds(function[2], {**around, function[1]: thing}, facts, things)}


def term(part, around, facts, things):
    if part[0] == "var":
        return {around[part[1]]}
    if part[0] == "const":
        return {part[1]}
    word, arguments = part[1], part[2]
    if word in ("the", "count", "max", "min", "argmax", "argmin", "sum"):
        found = members(arguments[0], around, facts, things)
        if word == "the":
            return found
        if word == "count":
            return {len(found)}
        numbers = [value for value in found if not isinstance(value, str)]
        if word in ("max", "min"):
            return {max(numbers) if word == "max" else min(numbers)} if numbers else set()
        keys = {}
        for value in found:
            inner = {**around, arguments[1][1]: value}
            numbers = [key for key in term(arguments[1][2], inner, facts, things) if not isinstance(key, str)]
            if numbers:
                keys[value] = min(numbers) if word == "argmin" else max(numbers)
        if word == "sum":
            return {sum(keys.values())}
        if not keys:
            return set()
        best = max(keys.values()) if word == "argmax" else min(keys.values())
        return {value for value, key in keys.items() if key == best}
    given = [term(each, around, facts, things) for each in arguments]
    return {value for row in product(*given) for name, *rest, value in facts[1] if (name, *rest) == (word, *row)}
