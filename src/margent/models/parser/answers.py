"""Sentences with their right arcs, to judge predicted ones by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.pseudo_projective import LIFTED, PATH, deprojectivize
from margent.errors import CorpusError
from margent.features.encoded import rows_of
from margent.features.token_atoms import EncodedTokens
from margent.formats.columns import Columns
from margent.models.parser.data import UNKNOWN
from margent.models.parser.sentences import Arcs, forms_of

if TYPE_CHECKING:
    from margent.metrics.dependency import DependencyReport

Names = NDArray[np.object_]


class ScoredTree(NamedTuple):
    """One tree of a sentence with its score."""

    score: float
    tree: DependencyTree


class ArcProbabilities(NamedTuple):
    """Of a sentence of n words. heads (n, n + 1): row w - 1 is how probable each head of word w is, column 0 the root;
    labels (n, L): how probable each label is, columns as `classes_` of the parser."""

    heads: NDArray[np.float64]
    labels: NDArray[np.float64]


class FoundArcs(NamedTuple):
    """Predicted arcs of T words: heads (T,), and the names of their labels (T,)."""

    heads: NDArray[np.int32]
    names: Names


def found_arcs(
    heads: NDArray[np.int32], labels: NDArray[np.int32], names: Sequence[str], ptr: NDArray[np.int64], *, lifted: bool
) -> FoundArcs:
    """Predicted heads and labels (T,) with the names of labels; `lifted`: labels may say where arcs were lifted from,
    and lead back there."""
    found = FoundArcs(heads.copy(), np.array([*names, ""], dtype=object)[labels])
    if not lifted:
        return found
    marked = np.array([LIFTED in name or PATH in name for name in names], dtype=bool)[labels]
    marks = np.append(0, np.cumsum(marked))
    for s in np.flatnonzero(marks[ptr[1:]] > marks[ptr[:-1]]).tolist():
        part = slice(int(ptr[s]), int(ptr[s + 1]))
        tree = deprojectivize(DependencyTree(found.heads[part], found.names[part].tolist()))
        found.heads[part], found.names[part] = tree.heads, tree.labels
    return found


def trees(found: FoundArcs, ptr: NDArray[np.int64]) -> list[DependencyTree]:
    """The trees of all sentences."""
    heads, names = found.heads.tolist(), found.names.tolist()
    return [DependencyTree.unchecked(heads[a:b], names[a:b]) for a, b in pairwise(ptr.tolist())]


@dataclass(frozen=True)
class ParserAnswers:
    """n sentences of T words.

    columns : the sentences; tokens : what the parser sees of them
    heads, names : (T,) the right arcs as they were given; -1 and "" where they are not known
    sample_weight : (n,) what each sentence counts; None: all the same
    """

    columns: Columns
    tokens: EncodedTokens
    heads: NDArray[np.int32]
    names: Names
    sample_weight: NDArray[np.float32] | None = None

    @classmethod
    def of(
        cls,
        columns: Columns,
        tokens: EncodedTokens,
        arcs: Sequence[Arcs],
        sample_weight: NDArray[np.float32] | None = None,
    ) -> ParserAnswers:
        heads = np.array([head for each, _ in arcs for head in each], dtype=np.int32)
        names = np.array([label for _, each in arcs for label in each] or [""], dtype=object)[: len(heads)]
        return cls(columns, tokens, heads, names, sample_weight)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def counts(self) -> NDArray[np.float64]:
        """(T,) what each word counts."""
        weights = np.ones(len(self)) if self.sample_weight is None else self.sample_weight.astype(np.float64)
        return np.repeat(weights, self.tokens.lengths)

    def part(self, numbers: NDArray[np.int64]) -> ParserAnswers:
        """Some of the sentences, as they are encoded."""
        rows = rows_of(self.tokens.sequence_ptr, numbers)
        weights = None if self.sample_weight is None else self.sample_weight[numbers]
        return ParserAnswers(
            self.columns[numbers], self.tokens.part(numbers), self.heads[rows], self.names[rows], weights
        )

    def right(self, found: FoundArcs) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """(T,) each: whether head and label are known, whether the head is right, and whether both are."""
        known = (self.heads != UNKNOWN) & (self.names != "")
        attached = self.heads == found.heads
        return known, attached, attached & (self.names == found.names)

    def score(self, found: FoundArcs, metric: str | None = None) -> float:
        """Of predicted arcs, one of `ATTACHMENT_METRICS`; None: "las". Only known arcs count."""
        _, attached, both = self.right(found)
        known_heads, known_names = self.heads != UNKNOWN, self.names != ""
        counts = self.counts
        if metric == "clas":
            gold, other = (_content(names) & known_heads & known_names for names in (self.names, found.names))
            total = float(counts[gold].sum() + counts[other].sum())
            return 2 * float(counts[gold & both].sum()) / total if total else 0.0
        if metric == "uas":
            known, good = known_heads, attached
        elif metric == "label_accuracy":
            known, good = known_names, self.names == found.names
        else:
            known, good = known_heads & known_names, both
        total = float(counts[known].sum())
        return float(counts[known & good].sum()) / total if total else 0.0

    def report(self, found: FoundArcs) -> DependencyReport:
        """Of the sentences in which all arcs are known."""
        from margent.metrics.dependency import dependency_scores

        ptr = self.tokens.sequence_ptr
        unknown = np.append(0, np.cumsum((self.heads == UNKNOWN) | (self.names == "")))
        whole = np.flatnonzero(unknown[ptr[1:]] == unknown[ptr[:-1]]).tolist()
        gold, predicted = trees(FoundArcs(self.heads, self.names), ptr), trees(found, ptr)
        forms = forms_of(self.columns)
        return dependency_scores([gold[s] for s in whole], [predicted[s] for s in whole], [forms[s] for s in whole])

    def check_known(self, what: str) -> None:
        """CorpusError where there is nothing to judge by."""
        if not self.right(FoundArcs(self.heads, self.names))[0].any():
            raise CorpusError(f"{what} have no word with a head and a label, so they cannot tell which epoch is best")


def _content(names: Names) -> NDArray[np.bool_]:
    """(T,) whether each label is one of content words."""
    from margent.metrics.dependency import CONTENT_RELATIONS, universal_label

    distinct = {name: universal_label(name) in CONTENT_RELATIONS for name in set(names.tolist())}
    return np.array([distinct[name] for name in names.tolist()], dtype=bool)


def check_attachment_metric(metric: Any) -> None:
    from margent.metrics.dependency import ATTACHMENT_METRICS

    if metric is not None and metric not in ATTACHMENT_METRICS:
        raise ValueError(f"dev_metric should be one of {', '.join(ATTACHMENT_METRICS)} or None, got {metric!r}")
