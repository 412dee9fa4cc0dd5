"""Which words of a premise each word of a hypothesis may be aligned to, and what is seen of each such pair.

All of it is arrays over all pairs of sentences at once; a feature is a key of 64 bits that says what it is:
its kind (8 bits), and two numbers (28 bits each), of words mostly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import sequence_ptr
from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.models.entailment.data import PairData

ATOMS = ("lower", "prefix4", "suffix3")
LOWER, PREFIX, SUFFIX = range(3)
Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]

_NOTHING = np.uint64(0)
_MATCHES = ("not aligned", "the same word", "the same beginning", "another word")
_PROMISE = (0.0, 2.0, 1.0, 0.5)
"""Of matches, as above, before training."""
KINDS = {
    1: "{match}",
    2: "{h} ~ {p}",
    3: "{match}, neighbours {b}",
    4: "{match}, distance {b}",
    5: "{h}: {kind}",
    6: "-{hs} ~ -{ps}",
    7: "{match}, found elsewhere {b}",
    8: "{kind} as {p}",
    20: "always",
    21: "{a} words of the hypothesis are new, {b} of the premise are not said",
    22: "hypothesis has {h}, {there}",
    23: "premise has {p}, which the hypothesis does not",
    24: "length {a} and {b}",
}
"""Texts of features by kind. To 19 of a pair of words, from 20 on of a pair of sentences."""
RULE_KINDS = {40: "always", 41: "after {p}", 42: "before {p}"}
"""Of a phrase of two parts: nothing, its left part if it is a word, its right part."""


@dataclass(frozen=True)
class EncodedPairs:
    """n pairs of sentences as numbers.

    premises, hypotheses : their words
    phrases : (M, 3) int64, the phrases of all hypotheses: number of the pair, node of the left part, of the right one
    phrase_ptr : (n + 1,)
    """

    premises: EncodedTokens
    hypotheses: EncodedTokens
    phrases: Ints
    phrase_ptr: Ints

    @classmethod
    def of(cls, data: PairData, atoms: TokenAtoms, *, grow: bool = False) -> EncodedPairs:
        """`grow`: words that are new get numbers."""
        premises = atoms.encode([list(tree.words) for tree in data.premises], grow=grow)
        hypotheses = atoms.encode([list(tree.words) for tree in data.hypotheses], grow=grow)
        counts = [len(tree.parts) for tree in data.hypotheses]
        parts = [part for tree in data.hypotheses for part in tree.parts]
        phrases = np.column_stack([np.repeat(np.arange(len(data)), counts), np.array(parts, np.int64).reshape(-1, 2)])
        return cls(premises, hypotheses, phrases, sequence_ptr(counts))

    def __len__(self) -> int:
        return len(self.hypotheses)


@dataclass(frozen=True)
class WordPairs:
    """hypothesis : (E,) int64, a word of the hypotheses, in order; premise : (E,) a word of the premises, -1: none
    pair : (E,) the number of the pair of sentences
    keys : (E, K) what is seen of each; 0: nothing
    whole_pair, whole_keys : (G,) in order of pairs, what is seen of pairs of sentences as wholes
    rule_keys : (M, 3) what is seen of each phrase of the hypotheses
    """

    hypothesis: Ints
    premise: Ints
    pair: Ints
    keys: Keys
    whole_pair: Ints
    whole_keys: Keys
    rule_keys: Keys

    @classmethod
    def of(cls, encoded: EncodedPairs, candidates: int) -> WordPairs:
        """With the `candidates` most promising words of the premise for each word of the hypothesis: the same word,
        one that begins the same, one that no other word of the hypothesis is equal to, one at the same place; and none.

        O(sum of products of the lengths).
        """
        H, P, n = encoded.hypotheses, encoded.premises, len(encoded)
        h_of, p_of = np.repeat(np.arange(n), H.lengths), np.repeat(np.arange(n), P.lengths)
        h_first, p_first = H.sequence_ptr[h_of], P.sequence_ptr[p_of]
        h_place = (np.arange(H.n_tokens) - h_first) / H.lengths[h_of]
        p_place = (np.arange(P.n_tokens) - p_first) / P.lengths[p_of]

        # All words of the one with all of the other.
        counts = P.lengths[h_of]
        h = np.repeat(np.arange(H.n_tokens), counts)
        p = np.repeat(P.sequence_ptr[h_of], counts) + _counted(counts)
        match = np.where(_equal(H.atoms[h, LOWER], P.atoms[p, LOWER]), 1,
                         np.where(_equal(H.atoms[h, PREFIX], P.atoms[p, PREFIX]), 2, 3))  # fmt: skip
        h_found, p_found = np.zeros(H.n_tokens, dtype=bool), np.zeros(P.n_tokens, dtype=bool)
        h_found[h[match == 1]] = True
        p_found[p[match == 1]] = True
        promise = 4.0 * (match == 1) + 2.0 * (match == 2) + ~p_found[p] - np.abs(h_place[h] - p_place[p])
        order = np.lexsort((-promise, h))
        kept = order[_counted(counts) < candidates]
        h = np.concatenate([h[kept], np.arange(H.n_tokens)])
        p = np.concatenate([p[kept], np.full(H.n_tokens, -1)])
        match = np.concatenate([match[kept], np.zeros(H.n_tokens, np.int64)])
        order = np.argsort(h, kind="stable")
        h, p, match = h[order], p[order], match[order]

        there, at = p >= 0, np.maximum(p, 0)
        before = (h > h_first[h]) & (at > p_first[at])
        before &= H.atoms[np.maximum(h - 1, 0), LOWER] == P.atoms[np.maximum(at - 1, 0), LOWER]
        h_after, p_after = np.minimum(h + 1, H.n_tokens - 1), np.minimum(at + 1, P.n_tokens - 1)
        after = (h_of[h_after] == h_of[h]) & (h_after > h) & (p_of[p_after] == p_of[at]) & (p_after > at)
        after &= H.atoms[h_after, LOWER] == P.atoms[p_after, LOWER]
        word, other = H.atoms[h, LOWER], np.where(there, P.atoms[at, LOWER], 0)
        distance = np.minimum(5 * np.abs(h_place[h] - p_place[at]), 4).astype(np.int64)
        keys = np.column_stack([
            _key(1, match),
            np.where(match != 1, _key(2, word, other), _NOTHING),
            np.where(there, _key(3, match, before + 2 * after), _NOTHING),
            np.where(there, _key(4, match, distance), _NOTHING),
            _key(5, word, match),
            np.where(there, _key(6, H.atoms[h, SUFFIX], P.atoms[at, SUFFIX]), _NOTHING),
            _key(7, match, h_found[h] + 2 * (there & p_found[at])),
            np.where(there, _key(8, match, other), _NOTHING),
        ])  # fmt: skip

        new = np.minimum(np.bincount(h_of, ~h_found, minlength=n), 9).astype(np.int64)
        unsaid = np.minimum(np.bincount(p_of, ~p_found, minlength=n), 9).astype(np.int64)
        everywhere = np.arange(n)
        whole = [
            (everywhere, np.full(n, _key(20, 0))),
            (everywhere, _key(21, new, unsaid)),
            (h_of, _key(22, H.atoms[:, LOWER], h_found)),
            (p_of[~p_found], _key(23, 0, P.atoms[~p_found, LOWER])),
            (everywhere, _key(24, np.minimum(H.lengths, 15), np.minimum(P.lengths, 30))),
        ]
        whole_pair = np.concatenate([pairs for pairs, _ in whole])
        order = np.argsort(whole_pair, kind="stable")
        return cls(
            h,
            p,
            h_of[h],
            keys,
            whole_pair[order],
            np.concatenate([np.atleast_1d(each) for _, each in whole])[order],
            _rule_keys(encoded),
        )


def _rule_keys(encoded: EncodedPairs) -> Keys:
    H = encoded.hypotheses
    pair, left, right = encoded.phrases.T
    columns = [np.full(len(pair), _key(40, 0))]
    for kind, node in ((41, left), (42, right)):
        is_word = node < H.lengths[pair]
        word = H.atoms[np.where(is_word, H.sequence_ptr[pair] + node, 0), LOWER] if H.n_tokens else node
        columns.append(np.where(is_word, _key(kind, 0, word), _NOTHING))
    return np.column_stack(columns)


def key_text(key: int, atoms: TokenAtoms) -> str:
    """What a feature is, for people."""
    kind, a, b = key >> 56, key >> 28 & (1 << 28) - 1, key & (1 << 28) - 1
    text = {**KINDS, **RULE_KINDS}[kind]
    of_word = kind in (2, 5, 22)
    return text.format(
        a=a,
        b=b,
        match=_MATCHES[a] if kind in (1, 3, 4, 7) else "",
        kind=_MATCHES[(b if kind == 5 else a) & 3],
        there=("which the premise does not", "as the premise")[b & 1],
        h=_word(atoms, LOWER, a) if of_word else "",
        p=_word(atoms, LOWER, b) if kind in (2, 8, 23, 41, 42) else "",
        hs=_word(atoms, SUFFIX, a) if kind == 6 else "",
        ps=_word(atoms, SUFFIX, b) if kind == 6 else "",
    )


def is_key(keys: Keys, atoms: TokenAtoms, rules: bool) -> bool:
    """Whether all keys are features of these atoms: of rules, or of all else."""
    kinds, a, b = (keys >> np.uint64(56)).astype(np.int64), _bits(keys, 28), _bits(keys, 0)
    known = np.isin(kinds, list(RULE_KINDS if rules else KINDS))
    n = atoms.n_values.astype(np.int64)
    most_a = np.full(len(keys), (1 << 28) - 1)
    most_b = most_a.copy()
    for kind in (1, 3, 4, 7, 8):
        most_a[kinds == kind] = len(_MATCHES) - 1
    for kind in (2, 5, 22):
        most_a[kinds == kind] = n[LOWER] - 1
    for kind in (2, 8, 23, 41, 42):
        most_b[kinds == kind] = n[LOWER] - 1
    for most in (most_a, most_b):
        most[kinds == 6] = n[SUFFIX] - 1
    return bool((known & (a <= most_a) & (b <= most_b)).all())


def _word(atoms: TokenAtoms, atom: int, number: int) -> str:
    return atoms.name(atom, number) if number else "(unknown or none)"


def _bits(keys: Keys, shift: int) -> Ints:
    bits: Ints = (keys >> np.uint64(shift) & np.uint64((1 << 28) - 1)).astype(np.int64)
    return bits


def _key(kind: int, a: Any, b: Any = 0) -> Any:
    return (np.uint64(kind) << np.uint64(56)) | (_unsigned(a) << np.uint64(28)) | _unsigned(b)


def _unsigned(values: Any) -> Any:
    return np.asarray(values).astype(np.uint64)


def _equal(first: Any, second: Any) -> NDArray[np.bool_]:
    """Where both are the same and known."""
    found: NDArray[np.bool_] = (first == second) & (first > 0)
    return found


def _counted(counts: Ints) -> Ints:
    """0, 1, ... for each count: of [2, 3] 0, 1, 0, 1, 2."""
    found: Ints = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return found


def promise_of(keys: Keys) -> NDArray[np.float64]:
    """What features score before training, the same for all labels: the same words belong together, as do words at
    the same place of their sentences, and one that another word is equal to does not. The labels alone say little about
    the alignment; learning goes on from here."""
    kinds, a, b = (keys >> np.uint64(56)).astype(np.int64), _bits(keys, 28), _bits(keys, 0)
    found = np.where(kinds == 1, np.array(_PROMISE)[np.where(kinds == 1, a, 0)], 0.0)
    found = np.where(kinds == 4, -0.25 * b, found)
    taken: NDArray[np.float64] = np.where((kinds == 7) & (a == 3) & (b >= 2), -1.0, found)
    return taken
