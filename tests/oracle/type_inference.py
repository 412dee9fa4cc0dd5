"""Types of terms by trying all: every type of every bound variable, type variable and overloaded name.

Terms are nested tuples: ("var", name), ("const", name), ("lam", name, allowed, body), ("app", function, [arguments]),
`allowed` the types that the variable may have. Types are names or pairs (argument, result); variables begin with an
apostrophe. `above`: each basic type to the set of itself and all above it.
"""

from itertools import product


def is_subtype(first, second, above):
    if second == "top":
        return True
    if isinstance(first, tuple) and isinstance(second, tuple):
        return is_subtype(second[0], first[0], above) and is_subtype(first[1], second[1], above)
    if isinstance(first, tuple) or isinstance(second, tuple):
        return False
    return second in above[first]


def variables(type_):
    if isinstance(type_, tuple):
        return variables(type_[0]) | variables(type_[1])
    return {type_} if type_.startswith("'") else set()


def substituted(type_, values):
    if isinstance(type_, tuple):
        return (substituted(type_[0], values), substituted(type_[1], values))
    return values.get(type_, type_)


def derivable(term, names, basic, above, around=()):
    """All types that a term can be given, its variables and type variables of basic types."""
    kind = term[0]
    if kind == "var":
        return {dict(around)[term[1]]}
    if kind == "const":
        found = set()
        for type_ in names[term[1]]:
            free = sorted(variables(type_))
            for values in product(basic, repeat=len(free)):
                found.add(substituted(type_, dict(zip(free, values))))
        return found
    if kind == "lam":
        return {
            (of, result)
            for of in term[2]
            for result in derivable(term[3], names, basic, above, (*around, (term[1], of)))
        }
    results = derivable(term[1], names, basic, above, around)
    for argument in term[2]:
        given = derivable(argument, names, basic, above, around)
        results = {
            function[1]
            for function in results
            if isinstance(function, tuple) and any(is_subtype(got, function[0], above) for got in given)
        }
    return results
