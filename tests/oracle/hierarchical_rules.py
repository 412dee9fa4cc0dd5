"""Hierarchical rules of aligned sentences, found by trying all phrases and all ways to cut others out of them."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import combinations, pairwise


def phrases(n, m, links, max_span, tight):
    """All (begin, end, target begin, target end) with links inside, at least one, and none to the outside."""
    found = []
    linked_sources, linked_targets = {i for i, _ in links}, {j for _, j in links}
    for b in range(n):
        for e in range(b + 1, min(n, b + max_span) + 1):
            for tb in range(m):
                for te in range(tb + 1, min(m, tb + max_span) + 1):
                    inside = [(i, j) for i, j in links if b <= i < e and tb <= j < te]
                    either = [(i, j) for i, j in links if b <= i < e or tb <= j < te]
                    if not inside or len(inside) != len(either):
                        continue
                    ends = {b, e - 1} <= linked_sources and {tb, te - 1} <= linked_targets
                    if ends or not tight:
                        found.append((b, e, tb, te))
    return found


def rules(source, target, links, max_span=10, max_source_symbols=5, max_nonterminals=2, tight=True):
    """The rules of one pair, by initial phrase: a list of lists of (source side, target side), gaps as 1 and 2."""
    initial = phrases(len(source), len(target), links, max_span, tight)
    found = []
    for b, e, tb, te in initial:
        own = []
        inner = [p for p in initial if b <= p[0] and p[1] <= e and tb <= p[2] and p[3] <= te and p != (b, e, tb, te)]
        for k in range(max_nonterminals + 1):
            for gaps in combinations(sorted(inner), k):
                if any(p[1] >= q[0] for p, q in pairwise(gaps)):
                    continue
                if any(p[2] < q[3] and q[2] < p[3] for p, q in combinations(gaps, 2)):
                    continue
                free = [i for i in range(b, e) if not any(p[0] <= i < p[1] for p in gaps)]
                free_targets = [j for j in range(tb, te) if not any(p[2] <= j < p[3] for p in gaps)]
                if not any(i in free and j in free_targets for i, j in links):
                    continue
                if len(free) + k > max_source_symbols:
                    continue
                left = sorted([(i, source[i]) for i in free] + [(p[0], number) for number, p in enumerate(gaps, 1)])
                right = [(j, target[j]) for j in free_targets] + [(p[2], number) for number, p in enumerate(gaps, 1)]
                right.sort(key=lambda pair: pair[0])
                own.append((tuple(s for _, s in left), tuple(s for _, s in right)))
        found.append(own)
    return found


def counted(corpus, fractional=False, **limits):
    """Counts of rules by pair. A phrase's count is divided in parts of 2^-20, as the table has it."""
    of_pairs = []
    for source, target, links in corpus:
        counts = Counter()
        for own in rules(source, target, links, **limits):
            share = Fraction(round(Fraction(2**20, len(own)) + Fraction(1, 10**9)), 2**20) if own and fractional else 1
            for rule in own:
                counts[rule] += share
        of_pairs.append(counts)
    return of_pairs


def lexical_weights(corpus):
    """Functions from a rule to log lex(e | f) and log lex(f | e)."""
    joint = Counter()
    for source, target, links in corpus:
        joint.update((source[i], target[j]) for i, j in links)
        joint.update((word, None) for i, word in enumerate(source) if i not in {i for i, _ in links})
        joint.update((None, word) for j, word in enumerate(target) if j not in {j for _, j in links})
    of_source, of_target = defaultdict(int), defaultdict(int)
    for (f, e), count in joint.items():
        of_source[f] += count
        of_target[e] += count

    def words(side):
        return [symbol for symbol in side if isinstance(symbol, str)]

    def forward(rule):
        f_words = [*words(rule[0]), None]
        return sum(
            math.log(max([1e-7, *(joint[f, e] / of_source[f] for f in f_words if joint[f, e])])) for e in words(rule[1])
        )

    def backward(rule):
        e_words = [*words(rule[1]), None]
        return sum(
            math.log(max([1e-7, *(joint[f, e] / of_target[e] for e in e_words if joint[f, e])])) for f in words(rule[0])
        )

    return forward, backward


def table_features(corpus, left_out=None, **limits):
    """The nine features of each rule that is left when a pair is left out (of all but the lexical weights)."""
    of_pairs = counted(corpus, **limits)
    total = sum(of_pairs, Counter())
    if left_out is not None:
        total.subtract(of_pairs[left_out])
        total = +total
    by_source, by_target = Counter(), Counter()
    for (f, e), count in total.items():
        by_source[f] += count
        by_target[e] += count
    forward, backward = lexical_weights(corpus)
    return {
        (f, e): (
            math.log(count / by_source[f]),
            math.log(count / by_target[e]),
            forward((f, e)),
            backward((f, e)),
            math.log1p(count),
            math.log1p(by_source[f]),
            math.log1p(by_target[e]),
            float(count <= 1),
            float(by_source[f] <= 1),
        )
        for (f, e), count in total.items()
    }
