"""Labelled bracketing as the program evalb computes it with COLLINS.prm, on trees as nested tuples, line by line."""

DELETED = {"TOP", "-NONE-", ",", ":", "``", "''", "."}


def parsed(text):
    """(label, part, part, ...) or (tag, word)."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def tree(i):
        assert tokens[i] == "("
        label, i, parts = tokens[i + 1], i + 2, []
        while tokens[i] != ")":
            if tokens[i] == "(":
                part, i = tree(i)
            else:
                part, i = tokens[i], i + 1
            parts.append(part)
        return (label, *parts), i + 1

    return tree(0)[0]


def brackets(tree):
    """[(label, start, end)] of phrases, and [(tag, word)] of the words that are not deleted."""
    words, found = [], []

    def visit(node):
        label, *parts = node
        if isinstance(parts[0], str):
            if label not in DELETED:
                words.append((label, parts[0]))
            return
        start = len(words)
        for part in parts:
            visit(part)
        if start != len(words) and label not in DELETED:
            found.append(("ADVP" if label == "PRT" else label, start, len(words)))

    visit(tree)
    return found, words


def counts(gold, test):
    """(matched, gold brackets, test brackets, crossing, right tags, words) of one pair of bracketed texts."""
    ours, said = brackets(parsed(test))
    theirs, real = brackets(parsed(gold))
    left, matched = list(theirs), 0
    for bracket in ours:
        if bracket in left:
            left.remove(bracket)
            matched += 1
    crossing = 0
    for _, a, b in ours:
        crossing += any((a < c < b < d) or (c < a < d < b) for _, c, d in theirs)
    return matched, len(theirs), len(ours), crossing, sum(x == y for x, y in zip(real, said)), len(real)
