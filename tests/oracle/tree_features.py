"""What templates see of the parts of a dependency tree, as tuples that name each feature in full.

A template is (kind, [(node, offset, atom)], direction, distance, label, other label, between): kind 0 an arc, 1 a pair
of modifiers, 2 a grandparent; node 0 the head, 1 the modifier, 2 the sibling, 3 the grandparent; between -1: none.
"""

from __future__ import annotations

from collections import Counter

from oracle.dependency_trees import inner_sibling


def distance_class(a, b):
    steps = abs(a - b)
    for number, largest in enumerate((1, 2, 3, 4, 5, 7, 10, 15, 30)):
        if steps <= largest:
            return number
    return 9


def parts(heads, labels):
    """(kind, head, modifier, third, label, other label) of all parts of a tree; third is a sibling (0: none) or a
    grandparent, the other label that of its arc (-1: none) or of the arc from it."""
    for modifier, head in enumerate(heads, 1):
        label = labels[modifier - 1]
        yield 0, head, modifier, 0, label, -1
        sibling = inner_sibling(heads, modifier) or 0
        yield 1, head, modifier, sibling, label, labels[sibling - 1] if sibling else -1
        if head:
            yield 2, head, modifier, heads[head - 1], label, labels[head - 1]


def part_features(number, template, part, words):
    """[(what names the feature, the value between or 0)] of one template on one part; words (n, A)."""
    kind, terms, direction, distance, label, other_label, between = template
    if part[0] != kind:
        return []
    _, head, modifier, third, *labels = part
    nodes = (head, modifier, third, third)
    seen = [number]
    for node, offset, atom in terms:
        place = nodes[node] + offset
        if node == 2 and third == 0:
            seen.append("no sibling")
        elif place < 0:
            seen.append("before")
        elif place == 0:
            seen.append("root")
        elif place > len(words):
            seen.append("after")
        else:
            seen.append(int(words[place - 1][atom]))
    if direction:
        seen.append((head < modifier, third < head) if kind == 2 else head < modifier)
    if distance:
        seen.append(distance_class(third if kind == 1 and third else head, modifier))
    if label:
        seen.append(("label", labels[0]))
    if other_label:
        seen.append(("other label", labels[1]))
    if between < 0:
        return [(tuple(seen), 0)]
    inside = range(min(head, modifier) + 1, max(head, modifier))
    values = sorted({int(words[place - 1][between]) for place in inside})
    return [((*seen, ("between", value)), value) for value in values]


def tree_features(templates, heads, labels, words):
    """How often each feature is seen in a tree."""
    return Counter(
        name
        for part in parts(heads, labels)
        for number, template in enumerate(templates)
        for name, _ in part_features(number, template, part, words)
    )
