"""Binarised trees by a grammar, all of them listed: as plain and slow as can be."""

from itertools import product


def bottoms(words, begin, end, binary, unary):
    """[(symbol, score, steps)] of everything over words begin to end - 1 before its unary rule.

    words[i]: {symbol of a tag: score}; binary: [(parent, left, right, score)]; unary: [(parent, child, score)].
    A step is (kind, begin, end, split, number of a rule, or symbol of a tag), kinds as in the library: 0 word, 1
    binary, 2 unary, 3 root, 4 piece.
    """
    if end - begin == 1:
        return [(tag, score, [(0, begin, end, -1, tag)]) for tag, score in words[begin].items()]
    found = []
    for split in range(begin + 1, end):
        lefts, rights = tops(words, begin, split, binary, unary), tops(words, split, end, binary, unary)
        for (b, x, steps), (c, y, more) in product(lefts, rights):
            for number, (parent, left, right, score) in enumerate(binary):
                if (left, right) == (b, c):
                    found.append((parent, x + y + score, [*steps, *more, (1, begin, end, split, number)]))
    return found


def tops(words, begin, end, binary, unary):
    """The same after the unary rule."""
    return [
        (parent, score + own, [*steps, (2, begin, end, -1, number)])
        for symbol, score, steps in bottoms(words, begin, end, binary, unary)
        for number, (parent, child, own) in enumerate(unary)
        if child == symbol
    ]


def trees(words, binary, unary, roots):
    """[(score, steps)] of all trees; roots: {symbol: score}."""
    n = len(words)
    return [
        (score + roots[symbol], [*steps, (3, 0, n, -1, symbol)])
        for symbol, score, steps in tops(words, 0, n, binary, unary)
        if symbol in roots
    ]


def rows_of_pieces(words, binary, unary, pieces, cost):
    """[(score, steps)] of all ways to lay pieces side by side; pieces: the symbols that may be one."""

    def upto(end):
        if end == 0:
            return [(0.0, [])]
        return [
            (score + own - cost, [*steps, *more, (4, 0, end, split, symbol)])
            for split in range(end)
            for score, steps in upto(split)
            for symbol, own, more in tops(words, split, end, binary, unary)
            if symbol in pieces
        ]

    return upto(len(words))
