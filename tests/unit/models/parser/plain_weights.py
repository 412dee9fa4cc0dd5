"""Weights of single arcs, in plain Python on `margent.structures.arcs`: what the parser is tested with by itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from margent import MIRA, Answer, Rival
from margent.features.part_templates import PartTemplates, PartVocabulary
from margent.models.parser.weights import ArcMarginals, ParserTrainable, ParserWeights, Parses, ScoredParse
from margent.storage import ModelFile
from margent.structures import arcs
from margent.structures.arc_scores import ArcScores

VOCABULARY = PartVocabulary({"h": (), "m": ()})


class PlainWeights(ParserWeights):
    """An arc has, for each atom, the pair of those of head and dependent; a label the atom of the dependent."""

    kind: ClassVar[str] = "graph"
    exact: ClassVar[bool] = True

    def __init__(self, setting: Any, n_labels: int, ids: dict[tuple[int, ...], int], weights: Any) -> None:
        self.setting, self.n_labels, self.ids, self.weights = setting, n_labels, ids, weights

    @classmethod
    def check(cls, setting: Any) -> None:
        if setting.order != 2:
            raise ValueError("these weights are of order 2")

    @classmethod
    def default_learner(cls, setting: Any) -> Any:
        return MIRA(epochs=5)

    @classmethod
    def structure(cls, setting: Any) -> str:
        return "forest"

    @classmethod
    def templates(cls, setting: Any) -> PartTemplates:
        if isinstance(setting.templates, str):
            raise ValueError(f"there is no preset {setting.templates!r}")
        return PartTemplates.parse(setting.templates or ["h.word m.word", "h.upos m.upos"], VOCABULARY)

    @classmethod
    def makes_crossing_arcs(cls, setting: Any) -> bool:
        return bool(setting.search == "mst")

    @classmethod
    def trainable(cls, given: Any, start: Any) -> ParserTrainable:
        oracle = PlainOracle(given, start)
        return ParserTrainable(oracle, oracle.model)

    def searched(self, setting: Any) -> PlainWeights:
        return PlainWeights(setting, self.n_labels, self.ids, self.weights)

    def scores(self, atoms: Any) -> ArcScores:
        table = np.zeros((len(atoms) + 1, len(atoms) + 1)), np.zeros((len(atoms) + 1, len(atoms) + 1, self.n_labels))
        for h in range(len(atoms) + 1):
            for m in range(1, len(atoms) + 1):
                table[0][h, m] = self.sum(arc_features(atoms, h, m))
                for label in range(self.n_labels):
                    table[1][h, m, label] = self.sum(label_features(atoms, h, m, label))
        return ArcScores(*table, projective=self.setting.search != "mst", single_root=self.setting.single_root)

    def sum(self, features: list[tuple[int, ...]]) -> float:
        places = [self.ids[f] for f in features if f in self.ids and self.ids[f] < len(self.weights)]
        return float(self.weights[places].sum())

    def best(self, tokens: Any, threads: int) -> Parses:
        found = [arcs.best(self.scores(atoms)) for atoms in sentences(tokens)]
        return Parses(
            np.array([one.score for one in found]),
            np.concatenate([one.heads for one in found] or [np.zeros(0)]).astype(np.int32),
            np.concatenate([one.labels for one in found] or [np.zeros(0)]).astype(np.int32),
        )

    def k_best(self, tokens: Any, k: int, threads: int) -> list[list[ScoredParse]]:
        return [[ScoredParse(*one) for one in arcs.k_best(self.scores(a), k)] for a in sentences(tokens)]

    def marginals(self, tokens: Any, heads: Any, labels: Any, scale: float, threads: int) -> ArcMarginals:
        parts: list[Any] = [[], [], []]
        for atoms, (a, b) in zip(sentences(tokens), zip(tokens.sequence_ptr, tokens.sequence_ptr[1:])):
            scores = self.scores(atoms)
            found = arcs.marginals(scores.replace(arcs=scores.arcs * scale, labels=scores.labels * scale))
            parts[0].append(found.arcs[:, 1:].T)
            parts[1].append(found.labels[:, 1:].sum(axis=0))
            parts[2].append(found.labels[heads[a:b], np.arange(1, b - a + 1), labels[a:b]])
        return ArcMarginals(
            parts[0],
            np.concatenate(parts[1] or [np.zeros((0, self.n_labels))]),
            np.concatenate(parts[2] or [np.zeros(0)]),
        )

    def breakdown(self, atoms: Any, names: Any, tokens: Any, heads: Any, labels: Any) -> tuple[float, dict[str, float]]:
        parts: dict[str, float] = {}
        for feature in tree_features(tokens.atoms, heads, labels):
            parts[str(feature)] = parts.get(str(feature), 0.0) + self.sum([feature])
        return sum(parts.values()), parts

    def top_features(self, atoms: Any, names: Any, label: int, n: int) -> list[tuple[str, float]]:
        rows = [(str(f), float(self.weights[i])) for f, i in self.ids.items() if f[0] < 0 and f[-1] == label]
        return sorted(rows, key=lambda row: -row[1])[:n]

    @property
    def n_features(self) -> int:
        return len(self.ids)

    def stored(self, *, half: bool = False) -> Any:
        kind = np.float16 if half else np.float32
        return {}, {"features": np.array([*self.ids]), "numbers": self.weights.astype(kind)}

    @classmethod
    def restored(cls, file: ModelFile, setting: Any, n_labels: int, atoms: Any) -> PlainWeights:
        ids = {tuple(row): i for i, row in enumerate(file.arrays["features"].tolist())}
        return cls(setting, n_labels, ids, file.arrays["numbers"].astype(np.float64))


class PlainOracle:
    """Learns them."""

    def __init__(self, given: Any, start: Any) -> None:
        self.given = given
        self.ids: dict[tuple[int, ...], int] = {} if start is None else dict(start.ids)
        self.start = np.zeros(0) if start is None else start.weights
        self.sentences = sentences(given.data.tokens)
        self.ptr = given.data.tokens.sequence_ptr
        for atoms in self.sentences:
            for m in range(1, len(atoms) + 1):
                for h in range(len(atoms) + 1):
                    self.number(arc_features(atoms, h, m))
                    for label in range(len(given.labels)):
                        self.number(label_features(atoms, h, m, label))

    n_features = property(lambda self: len(self.ids))

    def __len__(self) -> int:
        return len(self.sentences)

    def number(self, features: list[tuple[int, ...]]) -> list[int]:
        return [self.ids.setdefault(feature, len(self.ids)) for feature in features]

    def model(self, weights: Any) -> PlainWeights:
        added = np.zeros(len(weights))
        added[: len(self.start)] = self.start
        return PlainWeights(self.given.setting, len(self.given.labels), dict(self.ids), weights + added)

    def features(self, i: int, heads: Any, labels: Any) -> dict[int, float]:
        found: dict[int, float] = {}
        for place in self.number(tree_features(self.sentences[i], heads, labels)):
            found[place] = found.get(place, 0.0) + 1
        return found

    def answer(self, i: int, weights: Any, k: int, cost: float) -> Answer:
        part = slice(self.ptr[i], self.ptr[i + 1])
        heads, labels = self.given.data.heads[part], self.given.data.labels[part]
        scores = self.model(weights).scores(self.sentences[i])
        known = {m: int(h) for m, h in enumerate(heads, start=1) if h >= 0}
        gold = arcs.best(arcs.constrain(scores, fixed=known))
        right = np.where(labels >= 0, labels, gold.labels)
        costs = arcs.attachment_costs(gold.heads, right, len(self.given.labels), self.given.setting.label_cost)
        rival = arcs.best(arcs.with_costs(scores, cost * costs))
        errors = int(((rival.heads != gold.heads) | (rival.labels != right)).sum())
        return Answer(
            self.features(i, gold.heads, right),
            [Rival(self.features(i, rival.heads, rival.labels), loss=float(errors), errors=errors)],
            n_positions=len(heads),
        )


def sentences(tokens: Any) -> list[Any]:
    return [tokens.atoms[a:b] for a, b in zip(tokens.sequence_ptr, tokens.sequence_ptr[1:])]


def arc_features(atoms: Any, h: int, m: int) -> list[tuple[int, ...]]:
    head = atoms[h - 1] if h else np.full(atoms.shape[1], 10**6)
    pairs = [(j, int(head[j]), int(atoms[m - 1][j])) for j in range(atoms.shape[1])]
    return [*((*p, 0) for p in pairs), (atoms.shape[1], min(abs(h - m), 3), int(h < m), 0)]


def label_features(atoms: Any, h: int, m: int, label: int) -> list[tuple[int, ...]]:
    """Each twice: with the side of the head, and without."""
    return [(-1 - j, int(atoms[m - 1][j]), s, label) for j in range(atoms.shape[1]) for s in (2, int(h < m))]


def tree_features(atoms: Any, heads: Any, labels: Any) -> list[tuple[int, ...]]:
    found = []
    for m, (h, label) in enumerate(zip(heads, labels), start=1):
        found += arc_features(atoms, int(h), m) + label_features(atoms, int(h), m, int(label))
    return found
