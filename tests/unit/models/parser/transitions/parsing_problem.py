"""Small treebanks, and what native code needs to parse them."""

from __future__ import annotations

from typing import Any

import numpy as np

from margent import _core
from margent.features.part_templates import PartTemplates
from margent.features.token_atoms import EncodedTokens
from margent.models.parser.data import ParserData
from margent.models.parser.transitions.actions import TRANSITIONS, Actions, native_system
from margent.models.parser.transitions.templates import VOCABULARY, compiled, term_order
from oracle import transition_parsing as twin
from oracle.dependency_trees import is_projective, is_tree

SYSTEMS = ("arc-standard", "arc-hybrid", "arc-eager", "swap")
PROJECTIVE = SYSTEMS[:3]
ATOMS = ("word", "upos")
TEMPLATES = """
s0.word s0.upos
n0.word
n1.upos n2.upos
s0.upos n0.word
s1.upos s0.word
s0.upos s1.upos n0.upos
s2.upos s3.word
s0.head.upos s0.label
s0.head2.word s1.label
s0.left.upos s0.left.label n0.upos
s0.left2.word s0.left.left.upos
s1.right.upos s1.right2.upos s1.right.label
s1.right.right.word s0.upos
n0.left.word n0.left2.upos
n0.left_valency n0.left_labels
s0.upos s0.right_valency s0.right_labels
s1.left_valency s1.right_labels
s1.word distance
stack_distance
"""


def random_tree(random: np.random.Generator, n: int, *, projective: bool) -> tuple[int, ...]:
    """One word hangs on the root."""
    while True:
        heads = tuple(int(head) for head in random.integers(0, n + 1, n))
        if heads.count(0) == 1 and is_tree(heads) and (not projective or is_projective(heads)):
            return heads


def random_data(seed: int, lengths: list[int], *, projective: bool = True, n_labels: int = 2) -> ParserData:
    random = np.random.default_rng(seed)
    n = sum(lengths)
    atoms = random.integers(0, 3, (n, len(ATOMS))).astype(np.int32)
    ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    heads = [head for length in lengths for head in random_tree(random, length, projective=projective)]
    labels = random.integers(0, n_labels, n).astype(np.int32)
    return ParserData(EncodedTokens(atoms, ptr), np.array(heads, np.int32), labels)


def bank(data: ParserData, *, trees: bool = True) -> _core.Treebank:
    known = (data.heads, data.labels) if trees else ()
    return _core.Treebank(data.tokens.atoms, data.tokens.sequence_ptr, *known)


def templates(text: str = TEMPLATES) -> tuple[PartTemplates, _core.ParserTemplates]:
    parsed = PartTemplates.parse(text, VOCABULARY)
    return parsed, compiled(parsed, ATOMS)


def named(actions: Actions) -> list[twin.Action]:
    return [(TRANSITIONS[t], label) for t, label in zip(actions.transitions.tolist(), actions.labels.tolist())]


class Scores:
    """A random weight for each feature with each action, the same for the twin and for a native table."""

    def __init__(self, data: ParserData, n_actions: int, seed: int, text: str = TEMPLATES) -> None:
        self.templates, self.compiled = templates(text)
        self.terms = term_order(self.templates)
        self.pairs = [[(term.address, term.atom) for term in each] for each in self.templates.templates]
        self.atoms = data.tokens.atoms
        self.n_actions, self.seed = n_actions, seed
        self.rows: dict[int, np.ndarray] = {}

    def see(self, word: int, atom: str) -> int:
        return int(self.atoms[word - 1, ATOMS.index(atom)])

    def keys(self, state: twin.State) -> list[int]:
        """The keys of the features of a state, by the twin's features and the native hash of their values."""
        keys = []
        for template, values in twin.features(state, self.pairs, self.see):
            at = [0] * len(self.terms)
            for term, value in zip(self.templates.templates[template], values):
                at[self.terms.index(term)] = value
            keys.append(self.compiled.key(template, at))
        return keys

    def of(self, state: twin.State) -> np.ndarray:
        """What each action scores in a state."""
        total = np.zeros(self.n_actions)
        for key in self.keys(state):
            if key not in self.rows:
                drawn = np.random.default_rng([self.seed, key % 2**32]).integers(-64, 64, self.n_actions) / 16
                self.rows[key] = drawn.astype(np.float32)
            total += self.rows[key]
        return total

    def table(self) -> _core.FeatureRows:
        """Of all features that `of` has met."""
        keys = np.array(list(self.rows), dtype=np.uint64)
        ptr = np.arange(len(keys) + 1, dtype=np.int64) * self.n_actions
        columns = np.tile(np.arange(self.n_actions, dtype=np.int32), len(keys))
        weights = np.concatenate([np.zeros(0, np.float32), *self.rows.values()])
        return _core.FeatureRows(self.n_actions, keys, ptr, columns, weights)


def parse(
    system: str, data: ParserData, scores: Any, actions: Actions, table: Any, *, beam: int, k: int = 1, threads: int = 1
) -> list[list[tuple[float, tuple[int, ...], tuple[int, ...]]]]:
    """By sentence (score, heads, labels) of the k best trees."""
    counts, found, heads, labels = _core.parse(
        native_system(system), bank(data, trees=False), scores.compiled, actions.native, table, beam, k, threads
    )
    out, tree, word = [], 0, 0
    for count, length in zip(counts.tolist(), data.tokens.lengths.tolist()):
        out.append([])
        for _ in range(count):
            end = word + length
            out[-1].append((float(found[tree]), tuple(heads[word:end].tolist()), tuple(labels[word:end].tolist())))
            tree, word = tree + 1, end
    return out
