"""Atoms of tokens, one token after the other, with dicts."""

from __future__ import annotations

from collections import Counter

COLUMNS = ("form", "upos", "xpos", "feats", "lemma")


def value(token, name, derivations, clusters):
    """The text of one atom of a token (a tuple of up to five cells), or None."""
    cells = dict(zip(COLUMNS, token))
    if name in COLUMNS:
        return None if cells.get(name, "_") == "_" else cells[name]
    if name.startswith("feat."):
        pairs = dict(pair.split("=", 1) for pair in cells.get("feats", "_").split("|") if "=" in pair)
        return pairs.get(name[len("feat.") :])
    if name.startswith("cluster"):
        found = clusters.get(cells["form"], clusters.get(cells["form"].lower()))
        bits = name[len("cluster") :]
        return found if found is None or not bits else found[: int(bits)]
    return cells["form"] if name == "word" else derivations[name](cells["form"])


def encoded(train, test, names, derivations, clusters, min_count):
    """Numbers (tokens, atoms) of two lists of sentences: those of the first are given numbers, 0 is what has none."""
    rows = {"train": [], "test": []}
    known = {}
    for name in names:
        seen = Counter(value(token, name, derivations, clusters) for sentence in train for token in sentence)
        kept = [text for text in seen if text is not None and seen[text] >= min_count]
        known[name] = {text: i for i, text in enumerate(kept, start=1)}
    for part, sentences in (("train", train), ("test", test)):
        for sentence in sentences:
            for token in sentence:
                rows[part].append([known[name].get(value(token, name, derivations, clusters), 0) for name in names])
    return rows["train"], rows["test"]
