"""Plain twins of translation by hierarchical phrases: all derivations by recursion, each with its words and features.

A rule is (source, target, counts...): source symbols are words or "X", target symbols words or the numbers 1 and 2 of
nonterminals, in the order of the source side. A derivation is a tuple (name, rule, begin, end, parts).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

GAP = "X"


class Rule(NamedTuple):
    source: tuple[Any, ...]
    target: tuple[Any, ...]


class Derivation(NamedTuple):
    kind: str  # rule, pass, first glue, glue
    rule: Rule | None
    begin: int
    end: int
    parts: tuple[Any, ...]


def matches(
    source: Sequence[Any], words: Sequence[Any], begin: int, end: int, longest: int
) -> Iterator[list[tuple[int, int]]]:
    """All ways to lay a source side over words begin to end - 1: the spans of its nonterminals."""
    if not source:
        if begin == end:
            yield []
        return
    if source[0] != GAP:
        if begin < end and words[begin] == source[0]:
            yield from matches(source[1:], words, begin + 1, end, longest)
        return
    for middle in range(begin + 1, end + 1):
        if middle - begin <= longest:
            for rest in matches(source[1:], words, middle, end, longest):
                yield [(begin, middle), *rest]


def phrases(rules: Sequence[Rule], words: Sequence[Any], begin: int, end: int, longest: int) -> Iterator[Derivation]:
    """All derivations of X over a span."""
    if end - begin > longest:
        return
    found = False
    for rule in rules:
        for spans in matches(rule.source, words, begin, end, longest):
            for parts in _products(rules, words, spans, longest):
                found = True
                yield Derivation("rule", rule, begin, end, parts)
    if not found and end - begin == 1:
        yield Derivation("pass", None, begin, end, ())


def _products(rules: Any, words: Any, spans: Any, longest: int) -> Iterator[tuple[Derivation, ...]]:
    if not spans:
        yield ()
        return
    for first in phrases(rules, words, *spans[0], longest):
        for rest in _products(rules, words, spans[1:], longest):
            yield (first, *rest)


def sentences(rules: Sequence[Rule], words: Sequence[Any], end: int, longest: int) -> Iterator[Derivation]:
    """All derivations of S over the first words."""
    for phrase in phrases(rules, words, 0, end, longest):
        yield Derivation("first glue", None, 0, end, (phrase,))
    for middle in range(1, end):
        for left in sentences(rules, words, middle, longest):
            for right in phrases(rules, words, middle, end, longest):
                yield Derivation("glue", None, 0, end, (left, right))


def said(derivation: Derivation, words: Sequence[Any]) -> tuple[Any, ...]:
    """The translation; a word that passes through is ("passes", place)."""
    if derivation.kind == "pass":
        return (("passes", derivation.begin),)
    target = derivation.rule.target if derivation.rule else tuple(range(1, len(derivation.parts) + 1))
    out: list[Any] = []
    for symbol in target:
        out.extend(said(derivation.parts[symbol - 1], words) if symbol in (1, 2) else [symbol])
    return tuple(out)


def uses(derivation: Derivation) -> Iterator[Derivation]:
    """Itself and all that it is made of."""
    yield derivation
    for part in derivation.parts:
        yield from uses(part)


def sentence_bleu(candidate: Sequence[Any], references: Sequence[Sequence[Any]]) -> float:
    """BLEU with one added to the counts of grams of two and more words."""
    if not candidate:
        return 0.0

    def grams(words: Sequence[Any], n: int) -> Counter[Any]:
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    total = 0.0
    for n in range(1, 5):
        found = grams(candidate, n)
        most: Counter[Any] = Counter()
        for reference in references:
            most |= grams(reference, n)
        matched, all_ = sum((found & most).values()), sum(found.values())
        if n > 1:
            matched, all_ = matched + 1, all_ + 1
        if matched == 0:
            return 0.0
        total += math.log(matched / all_) / 4
    closest = min((abs(len(r) - len(candidate)), len(r)) for r in references)[1]
    return math.exp(total + min(0.0, 1 - closest / len(candidate)))
