"""What the linear classifier has learned: weights of features of aligned words, and of how relations compose."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.features.feature_map import Stored
from margent.features.token_atoms import TokenAtoms
from margent.models.contribution import Contribution
from margent.models.entailment.data import PairData
from margent.models.entailment.feature_keys import FeatureKeys
from margent.models.entailment.forests import AlignmentForests
from margent.models.entailment.options import MOST_CANDIDATES, MOST_COMPOSED
from margent.models.entailment.weights import PairDetails
from margent.models.entailment.word_pairs import ATOMS, EncodedPairs, WordPairs, is_key, key_text, promise_of
from margent.models.stored_numbers import restored_numbers, stored_numbers
from margent.storage import ModelFile

Doubles = NDArray[np.float64]
_COPY = 1.0
"""Before training: a phrase scores that much for each part that has its relation. Without it, all relations of words
would begin as equals, and stay so under learners that sum over them."""


@dataclass(frozen=True, eq=False)
class AlignmentWeights:
    """Weights of F features, each a row of L columns, then of R features of phrases, each a row of L^3.

    atoms : the numbers of words
    parts, rules : the numbers of features; without composition there are no rules
    candidates : how many words of the premise a word of the hypothesis may be aligned to
    compose : whether each node has a relation of its own
    summed : whether the score of a label is a sum over all alignments, or that of the best
    values : (F L + R L^3,)
    """

    name: ClassVar[str] = "alignment"

    atoms: TokenAtoms
    parts: FeatureKeys
    rules: FeatureKeys
    n_labels: int
    candidates: int
    compose: bool
    summed: bool
    values: Doubles

    # Learning

    def grown(self, data: PairData, n_labels: int, min_count: int, grow: bool) -> tuple[AlignmentWeights, _Encoded]:
        """With the labels and, where asked, with features of these pairs; and the pairs as it sees them."""
        atoms = self.atoms.copy()
        encoded = EncodedPairs.of(data, atoms, grow=grow)
        words = WordPairs.of(encoded, self.candidates)
        parts, rules = self.parts, self.rules
        if grow:
            parts = parts.grown(np.concatenate([words.keys.ravel(), words.whole_keys]), min_count)
            if self.compose:
                rules = rules.grown(words.rule_keys.ravel(), min_count)
        L, old = n_labels, self.n_labels
        new = replace(self, atoms=atoms, parts=parts, rules=rules, n_labels=L)
        rows = np.repeat(promise_of(parts.keys)[:, None], L, axis=1)
        cubes = np.zeros((len(rules), L, L, L))
        cubes[len(self.rules) :] = self._start(rules.keys[len(self.rules) :], L)
        mine, own = self._split()
        rows[: len(mine), :old] = mine
        cubes[: len(own), :old, :old, :old] = own
        return new.with_values(np.concatenate([rows.ravel(), cubes.ravel()])), _Encoded(encoded, words)

    @staticmethod
    def _start(keys: NDArray[np.uint64], n_labels: int) -> Doubles:
        """(R, L, L, L): what new rules begin with: 0, but where they look at nothing else."""
        relation = np.eye(n_labels)
        always = (keys >> np.uint64(56) == 40)[:, None, None, None]
        found: Doubles = np.where(always, _COPY * (relation[:, None, :] + relation[None, :, :]), 0.0)
        return found

    def with_values(self, values: Any) -> AlignmentWeights:
        return replace(self, values=np.asarray(values, dtype=np.float64))

    def _split(self) -> tuple[Doubles, Doubles]:
        """Views: (F, L) and (R, L, L, L)."""
        L, n = self.n_labels, len(self.parts) * self.n_labels
        return self.values[:n].reshape(len(self.parts), L), self.values[n:].reshape(len(self.rules), L, L, L)

    def encoded(self, data: PairData) -> _Encoded:
        pairs = EncodedPairs.of(data, self.atoms)
        return _Encoded(pairs, WordPairs.of(pairs, self.candidates))

    def forests(self, encoded: _Encoded) -> AlignmentForests:
        return AlignmentForests.of(*encoded.both, self.parts, self.rules, self.n_labels, self.compose)

    # What it says

    def label_scores(self, data: PairData, threads: int) -> Doubles:
        """(n, L)"""
        if not len(data):
            return np.zeros((0, self.n_labels))
        return self.forests(self.encoded(data)).label_scores(self.values, self.summed, threads)

    def details(self, data: PairData, scale: float, threads: int) -> list[PairDetails]:
        """Expected alignments and relations, over all alignments whatever the learner was."""
        if not len(data):
            return []
        premise_lengths = np.array([len(tree) for tree in data.premises])
        n_nodes = np.array([tree.n_nodes for tree in data.hypotheses])
        found = self.forests(self.encoded(data)).expected(self.values, scale, premise_lengths, n_nodes, threads)
        return [PairDetails(alignment, relations) for alignment, relations in found]

    def contributions(self, data: PairData, winner: int, rival: int, labels: Sequence[str]) -> list[Contribution]:
        """Of one pair, what features add to the margin of the best alignment with one label over that with another."""
        encoded = self.encoded(data)
        forests = self.forests(encoded)
        amounts: dict[str, float] = {}
        for label, sign in ((winner, 1.0), (rival, -1.0)):
            _, edges = forests.best(self.values, label)
            for name, weight in self._seen(encoded, forests, edges, labels):
                amounts[name] = amounts.get(name, 0.0) + sign * weight
        return [Contribution(name, amount) for name, amount in amounts.items()]

    def _seen(
        self, encoded: _Encoded, forests: AlignmentForests, edges: list[int], labels: Sequence[str]
    ) -> Iterator[tuple[str, float]]:
        """Each feature of these edges with its weight."""
        rows, cubes = self._split()
        words, L = encoded.words, self.n_labels
        n_words = len(words.hypothesis) * L
        for edge in edges:
            kind, label = int(forests.kind[edge]), int(forests.label[edge])
            if kind == 0:
                keys, row, column = words.keys[edge // L], rows, label
            elif kind == 1:
                number = edge - n_words
                keys, row = words.rule_keys[number // L**3], cubes.reshape(len(cubes), L**3)
                column = number % L**3
            else:
                keys, row, column = words.whole_keys, rows, label
            of = labels[label]
            if kind == 1:
                of = f"{labels[column // L**2]} + {labels[column // L % L]} -> {of}"
            known = (self.rules if kind == 1 else self.parts).find(keys)
            for key, number in zip(keys.tolist(), known.tolist()):
                if number >= 0:
                    yield f"{of}: {key_text(key, self.atoms)}", float(row[number, column])

    def top_features(self, label: int, top: int) -> list[tuple[str, float]]:
        """The features of the largest weights for a label."""
        column = self._split()[0][:, label]
        order = np.argsort(-column, kind="stable")[:top].tolist()
        return [(key_text(int(self.parts.keys[i]), self.atoms), float(column[i])) for i in order if column[i] > 0]

    @property
    def size(self) -> str:
        return f"{len(self.parts) + len(self.rules):,} features"

    # Files

    def stored(self, compact: bool) -> Stored:
        header, arrays = self.atoms.stored()
        rows, cubes = self._split()
        keep = rows.any(axis=1) if compact else np.ones(len(rows), dtype=bool)
        values = np.concatenate([rows[keep].ravel(), cubes.ravel()])
        at = np.flatnonzero(values)
        arrays |= {"parts": self.parts.keys[keep], "rules": self.rules.keys, "positions": at}
        arrays["values"] = stored_numbers(values[at], compact)
        names = ("candidates", "compose", "summed")
        return {**header, **{name: getattr(self, name) for name in names}, "half": compact}, arrays

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int) -> AlignmentWeights:
        atoms = TokenAtoms.restored(file)
        if atoms.names != ATOMS:
            raise file.error(f"its atoms should be {', '.join(ATOMS)}")
        compose = file.value("compose", bool)
        if compose and n_labels > MOST_COMPOSED:
            raise file.error(f"its labels should be at most {MOST_COMPOSED}, as relations are composed")
        keys = []
        for name in ("parts", "rules"):
            given = file.array(name, np.uint64, (None,))
            if len(np.unique(given)) < len(given) or not is_key(given, atoms, rules=name == "rules"):
                raise file.error(f"array {name!r} should hold different features of its words")
            keys.append(FeatureKeys(given))
        if len(keys[1]) and not compose:
            raise file.error("it should have no rules, as relations are not composed")
        size = len(keys[0]) * n_labels + len(keys[1]) * n_labels**3
        at = file.array("positions", np.int64, (None,), minimum=0, maximum=size - 1)
        if (np.diff(at) <= 0).any():
            raise file.error("the positions of its weights should rise")
        values = np.zeros(size)
        values[at] = restored_numbers(file, "values", file.value("half", bool), at.shape)
        candidates = file.value("candidates", int, minimum=1, maximum=MOST_CANDIDATES)
        parts, rules = keys
        return cls(atoms, parts, rules, n_labels, candidates, compose, file.value("summed", bool), values)

    @classmethod
    def empty(cls, candidates: int, compose: bool, summed: bool) -> AlignmentWeights:
        none = FeatureKeys.none()
        return cls(TokenAtoms(ATOMS), none, none, 0, candidates, compose, summed, np.zeros(0))


@dataclass(frozen=True, eq=False)
class _Encoded:
    """Pairs of sentences as numbers, and what is seen of their words."""

    pairs: EncodedPairs
    words: WordPairs

    @cached_property
    def both(self) -> tuple[EncodedPairs, WordPairs]:
        return self.pairs, self.words
