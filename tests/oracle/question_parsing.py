"""Parsing questions by plain search: all states of a stack of expressions, and those from which a meaning is in reach.

`choices`: by position, a list of (length, piece); pieces are whatever `apply(function, argument)` and `unite(word,
first, second)` make others of, or None.
"""


def next_states(state, n_words, choices, apply, unite, most):
    position, stack = state
    if position < n_words:
        yield position + 1, stack
        for length, piece in choices[position]:
            if len(stack) < most:
                yield position + length, (*stack, piece)
    if len(stack) > 1:
        *below, left, right = stack
        made = [apply(left, right), apply(right, left), unite("and", left, right), unite("or", left, right)]
        for top in made:
            if top is not None:
                yield position, (*below, top)


def all_states(n_words, choices, apply, unite, most):
    """By state, those that follow it."""
    found, waiting = {}, [(0, ())]
    while waiting:
        state = waiting.pop()
        if state in found:
            continue
        found[state] = set(next_states(state, n_words, choices, apply, unite, most))
        waiting.extend(found[state])
    return found


def states_in_reach(n_words, choices, apply, unite, most, is_right):
    """The states that a whole derivation of something right goes through."""
    follow = all_states(n_words, choices, apply, unite, most)
    good = {state for state in follow if state[0] == n_words and len(state[1]) == 1 and is_right(state[1][0])}
    while True:
        more = {state for state, after in follow.items() if state not in good and after & good}
        if not more:
            return good
        good |= more
