"""Terms of the lambda calculus as nested tuples: what they mean, as plainly as can be.

("var", name), ("const", name), ("app", function, [arguments]), ("lam", name, body). `and` and `or` take any number of
arguments.
"""

from itertools import count


def free(term):
    kind = term[0]
    if kind == "var":
        return {term[1]}
    if kind == "const":
        return set()
    if kind == "lam":
        return free(term[2]) - {term[1]}
    return free(term[1]).union(*map(free, term[2]))


def substituted(term, name, value):
    kind = term[0]
    if kind == "var":
        return value if term[1] == name else term
    if kind == "const":
        return term
    if kind == "app":
        return ("app", substituted(term[1], name, value), [substituted(x, name, value) for x in term[2]])
    if term[1] == name:
        return term
    new = next(f"v{i}" for i in count() if f"v{i}" not in free(value) | free(term[2]) | {name})
    return ("lam", new, substituted(substituted(term[2], term[1], ("var", new)), name, value))


def one_step(term):
    """The term after one beta or eta step anywhere, or one that makes connectives flatter; None at the end."""
    kind = term[0]
    if kind == "app":
        function, arguments = term[1], term[2]
        if function[0] == "app":
            return ("app", function[1], function[2] + arguments)
        if function[0] == "lam":
            result = substituted(function[2], function[1], arguments[0])
            return ("app", result, arguments[1:]) if arguments[1:] else result
        if function in (("const", "and"), ("const", "or")):
            if len(arguments) == 1:
                return arguments[0]
            for i, x in enumerate(arguments):
                if x[0] == "app" and x[1] == function:
                    return ("app", function, arguments[:i] + x[2] + arguments[i + 1 :])
                if any(same(x, y, ()) for y in arguments[:i]):
                    return ("app", function, arguments[:i] + arguments[i + 1 :])
        for i, x in enumerate(arguments):
            changed = one_step(x)
            if changed is not None:
                return ("app", function, [*arguments[:i], changed, *arguments[i + 1 :]])
    if kind == "lam":
        body = term[2]
        if body[0] == "app" and body[1] not in (("const", "and"), ("const", "or")) and body[2][-1] == ("var", term[1]):
            rest = ("app", body[1], body[2][:-1]) if body[2][1:] else body[1]
            if term[1] not in free(rest):
                return rest
        changed = one_step(body)
        if changed is not None:
            return ("lam", term[1], changed)
    return None


def reduced(term):
    while (after := one_step(term)) is not None:
        term = after
    return term


def same(a, b, pairs):
    """Whether two terms are equal but for names of bound variables and the order of `and` and `or`."""
    if a[0] != b[0]:
        return False
    if a[0] == "const":
        return a[1] == b[1]
    if a[0] == "var":
        for x, y in reversed(pairs):
            if x == a[1] or y == b[1]:
                return x == a[1] and y == b[1]
        return a[1] == b[1]
    if a[0] == "lam":
        return same(a[2], b[2], (*pairs, (a[1], b[1])))
    if not same(a[1], b[1], pairs) or len(a[2]) != len(b[2]):
        return False
    if a[1] in (("const", "and"), ("const", "or")):
        left = list(b[2])
        for x in a[2]:
            found = next((i for i, y in enumerate(left) if same(x, y, pairs)), None)
            if found is None:
                return False
            left.pop(found)
        return True
    return all(same(x, y, pairs) for x, y in zip(a[2], b[2]))


def same_meaning(a, b):
    return same(reduced(a), reduced(b), ())
