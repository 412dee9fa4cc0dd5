"""Pseudo-projective encoding as the paper has it, by looking at all words again after each lift."""

from __future__ import annotations

from tests.oracle.dependency_trees import is_projective


def is_above(heads, above, word):
    """Whether `above` is the word itself or on its way to the root."""
    while word not in (above, 0):
        word = heads[word - 1]
    return word == above


def is_crossing(heads, word):
    """Whether a word between `word` and its head is not below that head."""
    head = heads[word - 1]
    return any(not is_above(heads, head, k) for k in range(min(head, word) + 1, max(head, word)))


def projectivize(heads, labels, scheme):
    """Nivre and Nilsson (2005), Figure 3 and Table 1."""
    before, heads = list(heads), list(heads)
    lifted, path = [False] * len(heads), [False] * len(heads)
    while not is_projective(heads):
        words = [word for word in range(1, len(heads) + 1) if is_crossing(heads, word)]
        lengths = [(abs(word - heads[word - 1]), min(word, heads[word - 1]), word) for word in words]
        word = min(lengths)[2]
        path[heads[word - 1] - 1] = True
        lifted[word - 1] = True
        heads[word - 1] = heads[heads[word - 1] - 1]
    new = []
    for i, label in enumerate(labels):
        if lifted[i]:
            label += "↑"
            if scheme in ("head", "head+path"):
                label += labels[before[i] - 1]
        if path[i] and scheme in ("path", "head+path"):
            label += "↓"
        new.append(label)
    return heads, new
