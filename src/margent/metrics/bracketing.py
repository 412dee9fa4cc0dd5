"""Labelled bracketing: how many phrases of trees are right, as the program evalb counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

import numpy as np

from margent.annotation.phrase_tree import PhraseTree
from margent.annotation.schemes import Span
from margent.errors import CorpusError
from margent.metrics.score import Score, SpanTable
from margent.metrics.significance import SentenceMetric, Statistics

PUNCTUATION = frozenset({",", ":", "``", "''", "."})
"""Tags of words that COLLINS.prm leaves out."""


@dataclass(frozen=True)
class BracketingRules:
    """What counts. The defaults are those of COLLINS.prm, with which parsers of the Penn Treebank are compared.

    unlabelled : labels of phrases that do not count
    left_out : tags of words that are taken out first, as if they were not there
    alike : from labels to those they count as
    labelled : whether labels must agree, or the words alone
    """

    unlabelled: frozenset[str] = frozenset({"TOP", "ROOT", "S1", "-NONE-"})
    left_out: frozenset[str] = PUNCTUATION | {"-NONE-"}
    alike: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"PRT": "ADVP"}))
    labelled: bool = True

    def phrases(self, tree: PhraseTree, counted: Sequence[int]) -> list[Span]:
        """The phrases that count; `counted[i]`: how many of the first i words do."""
        spans = (
            Span(counted[a], counted[b], self.alike.get(label, label) if self.labelled else "")
            for a, b, label in tree.phrases
            if label not in self.unlabelled
        )
        return [span for span in spans if span.start < span.end]


@dataclass(frozen=True)
class BracketingReport(SpanTable):
    """How good predicted trees are. `str()` gives a table.

    total, rows : phrases with the right words and label, over all labels and for each
    trees, exact : trees, and those of which all phrases are right
    crossing, no_crossing, few_crossing : predicted phrases that cross a right one; trees without, and with at most two
    words, right_tags : words that count, and those of them with the right tag
    """

    trees: int
    exact: int
    crossing: int
    no_crossing: int
    few_crossing: int
    words: int
    right_tags: int

    @property
    def exact_share(self) -> float:
        """The share of trees that are right as a whole."""
        return self.exact / self.trees if self.trees else 0.0

    @property
    def tag_accuracy(self) -> float:
        """The share of words with the right tag."""
        return self.right_tags / self.words if self.words else 0.0

    def __str__(self) -> str:
        from margent.metrics.report import classification_table

        return classification_table(self)


def bracketing_scores(
    gold: Iterable[PhraseTree],
    predicted: Iterable[PhraseTree],
    *,
    rules: BracketingRules | None = None,
    longest: int | None = None,
) -> BracketingReport:
    """Compare predicted trees with gold ones: labelled precision, recall and F1, crossing brackets, tags (Black et al.
    1991), as evalb does.

    Parameters
    ----------
    gold, predicted : trees of the same words
    rules : what counts; None: as COLLINS.prm says
    longest : trees of more words are left out, those that do not count not counted; None: none. 40 is usual.

    The same phrase twice over the same words counts twice. Differs: evalb takes words out by the tags of each tree;
    here the gold tags decide for both, so that wrong tags do not change the lengths.

    >>> right = PhraseTree.from_brackets("(S (NP (DT a) (NN dog)) (VP (VBZ barks)) (. .))")
    >>> guess = PhraseTree.from_brackets("(S (NP (DT a) (NN dog) (VBZ barks)) (. .))")
    >>> report = bracketing_scores([right], [guess])
    >>> report.total.correct, report.total.gold, report.total.found
    (1, 3, 2)
    """
    rules = rules or BracketingRules()
    known, found, correct = Counter[str](), Counter[str](), Counter[str]()
    trees = exact = crossing = none = few = words = tags = 0
    for number, (right, guess) in enumerate(zip_longest(gold, predicted)):
        _check_pair(number, right, guess)
        counted = [0]
        for tag in right.tags:
            counted.append(counted[-1] + (tag not in rules.left_out))
        if longest is not None and counted[-1] > longest:
            continue
        ours, theirs = rules.phrases(guess, counted), rules.phrases(right, counted)
        common = Counter(ours) & Counter(theirs)
        known.update(span.label for span in theirs)
        found.update(span.label for span in ours)
        correct.update(span.label for span in common.elements())
        crossed = sum(any(a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end for b in theirs)
                      for a in ours)  # fmt: skip
        trees += 1
        exact += common.total() == len(ours) == len(theirs)
        crossing, none, few = crossing + crossed, none + (crossed == 0), few + (crossed <= 2)
        words += counted[-1]
        tags += sum(a == b for a, b in zip(right.tags, guess.tags) if a not in rules.left_out)
    names = sorted({*known, *found})
    rows = tuple(Score(name, correct[name], known[name], found[name]) for name in names)
    total = Score("all phrases", correct.total(), known.total(), found.total())
    return BracketingReport(total, rows, trees, exact, crossing, none, few, words, tags)


def bracketing_metric(*, rules: BracketingRules | None = None, longest: int | None = None) -> SentenceMetric:
    """The F1 of `bracketing_scores` for `paired_bootstrap`: is one parser really better than another?"""

    def statistics(gold: Any, predicted: Any) -> Statistics:
        reports = (
            bracketing_scores([right], [guess], rules=rules, longest=longest).total
            for right, guess in zip(gold, predicted, strict=True)
        )
        counts = [(2 * total.correct, total.gold + total.found) for total in reports]
        return np.array(counts, dtype=np.float64).reshape(-1, 2)

    return SentenceMetric(statistics, lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1))


def _check_pair(number: int, right: PhraseTree | None, guess: PhraseTree | None) -> None:
    if right is None or guess is None:
        shorter, longer = ("gold", "predicted") if right is None else ("predicted", "gold")
        raise CorpusError(f"the {shorter} trees end after {number}, but there are more {longer} ones")
    for side, tree in (("gold", right), ("predicted", guess)):
        if not isinstance(tree, PhraseTree):
            raise CorpusError(f"tree {number}, {side}: expected a PhraseTree, got {type(tree).__name__}")
    if len(right) != len(guess):
        raise CorpusError(f"tree {number} has {len(right)} words, but the predicted one {len(guess)}")
