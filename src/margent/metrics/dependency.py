"""Scores of dependency trees: attachment with and without labels, and where the errors are."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np

from margent.annotation.dependency_tree import DependencyTree
from margent.errors import CorpusError
from margent.metrics.score import Score
from margent.metrics.significance import SentenceMetric, Statistics

CONTENT_RELATIONS = frozenset(
    {
        *("nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl"),
        *("advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound"),
        *("list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep"),
    }
)
"""The universal relations of content words: neither function words (aux, case, cc, clf, cop, det, mark) nor punct."""

DISTANCES = ("root", "1", "2", "3-6", "7-14", "15+")
LENGTHS = ("1-10", "11-20", "21-30", "31-40", "41+")


class Attachment(NamedTuple):
    """Numbers of words: all, those with the right head, the right label, both; and by content words alone the right
    ones (head and label) and how many there are in gold and in the predicted trees."""

    words: int
    heads: int
    labels: int
    both: int
    content_right: int
    content_gold: int
    content_found: int

    @property
    def uas(self) -> float:
        """Unlabelled attachment score: the share of words with the right head."""
        return self.heads / self.words if self.words else 0.0

    @property
    def las(self) -> float:
        """Labelled attachment score: the share of words with the right head and label."""
        return self.both / self.words if self.words else 0.0

    @property
    def label_accuracy(self) -> float:
        """The share of words with the right label, whatever their head."""
        return self.labels / self.words if self.words else 0.0

    @property
    def clas(self) -> float:
        """Content-word labelled attachment score (Nivre and Fang 2017): the F1 of labelled arcs of content words."""
        total = self.content_gold + self.content_found
        return 2 * self.content_right / total if total else 0.0


@dataclass(frozen=True)
class DependencyReport:
    """What is right in predicted trees. `str()` gives tables.

    counts : of all words, with labels as they are
    without_punctuation : without words that are punctuation
    universal, universal_without_punctuation : the same with labels up to the first colon, as the CoNLL 2018 shared task
        compares them: its UAS, LAS and CLAS on gold tokens are those of `universal`
    sentences, exact : how many there are, and how many are right in all heads and labels
    labels : for each label, precision and recall of labelled arcs
    distances : arcs by the distance of a word from its head, of which the head is right
    lengths : by the number of words of a sentence
    """

    counts: Attachment
    without_punctuation: Attachment
    universal: Attachment
    universal_without_punctuation: Attachment
    sentences: int
    exact: int
    labels: tuple[Score, ...]
    distances: tuple[Score, ...]
    lengths: tuple[tuple[str, Attachment], ...]

    @property
    def uas(self) -> float:
        return self.counts.uas

    @property
    def las(self) -> float:
        return self.counts.las

    @property
    def label_accuracy(self) -> float:
        return self.counts.label_accuracy

    @property
    def clas(self) -> float:
        return self.counts.clas

    def __str__(self) -> str:
        from margent.metrics.report import dependency_table

        return dependency_table(self)


def dependency_scores(
    gold: Iterable[DependencyTree],
    predicted: Iterable[DependencyTree],
    words: Iterable[Sequence[Any]] | None = None,
) -> DependencyReport:
    """Compare predicted trees with gold ones.

    Parameters
    ----------
    gold, predicted : for each sentence a `DependencyTree` of the same number of words
    words : for each sentence its words, str or tuples that begin with the word; or None
        Punctuation is what consists of Unicode punctuation alone, as in the shared tasks of 2006 and 2007; without
        words, what has the gold label "punct".

    Cost: O(words).

    >>> gold = [DependencyTree([2, 0, 2], ["nsubj", "root", "obl:tmod"])]
    >>> report = dependency_scores(gold, [DependencyTree([2, 0, 2], ["obj", "root", "obl"])])
    >>> report.uas, round(report.las, 3), round(report.universal.las, 3)
    (1.0, 0.333, 0.667)
    """
    totals = [np.zeros(7, dtype=np.int64) for _ in range(4)]
    by_length = {name: np.zeros(7, dtype=np.int64) for name in LENGTHS}
    arcs: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    far: tuple[Counter[str], ...] = (Counter(), Counter(), Counter())
    sentences = exact = 0
    for right, guess, forms in _triples(gold, predicted, words):
        sentences += 1
        exact += right == guess
        inside = [not mark for mark in _punctuation(right, forms)]
        counts = _counted(right, guess, None, False)
        for total, more in zip(
            totals,
            (
                counts,
                _counted(right, guess, inside, False),
                _counted(right, guess, None, True),
                _counted(right, guess, inside, True),
            ),
        ):
            total += more
        by_length[LENGTHS[min(max(len(right) - 1, 0) // 10, len(LENGTHS) - 1)]] += counts
        attached = [head == found for head, found in zip(right.heads, guess.heads)]
        _tally(arcs, right.labels, guess.labels, attached)
        _tally(far, _distances(right), _distances(guess), attached)
    plain, inside_only, universal, universal_inside = (Attachment(*total.tolist()) for total in totals)
    return DependencyReport(
        plain,
        inside_only,
        universal,
        universal_inside,
        sentences,
        exact,
        _scores(arcs, sorted({*arcs[1], *arcs[2]}, key=lambda label: (-arcs[1][label], label))),
        _scores(far, DISTANCES),
        tuple((name, Attachment(*total.tolist())) for name, total in by_length.items() if total[0]),
    )


ATTACHMENT_METRICS = ("las", "uas", "label_accuracy", "clas")
"""What trees may be judged by; higher is better."""


def dependency_metric(name: str = "las", *, universal: bool = False, punctuation: bool = True) -> SentenceMetric:
    """A score of trees for `paired_bootstrap`: is one parser really better than another?

    `name` is one of "las", "uas", "label_accuracy" and "clas"; `universal`: labels up to the first colon;
    `punctuation`: whether words with the gold label "punct" count.

    >>> from margent.metrics import paired_bootstrap
    >>> gold, worse = [DependencyTree([2, 0])] * 20, [DependencyTree([0, 1])] * 20
    >>> result = paired_bootstrap(gold, worse, gold, dependency_metric("uas"))
    >>> result.first, result.second, result.p_value < 0.001
    (0.0, 1.0, True)
    """
    known: dict[str, Callable[[Attachment], tuple[int, int]]] = {
        "las": lambda counts: (counts.both, counts.words),
        "uas": lambda counts: (counts.heads, counts.words),
        "label_accuracy": lambda counts: (counts.labels, counts.words),
        "clas": lambda counts: (2 * counts.content_right, counts.content_gold + counts.content_found),
    }
    if name not in known:
        raise CorpusError(f"unknown metric {name!r}; the metrics of dependency trees are {', '.join(known)}")

    def statistics(gold: Any, predicted: Any) -> Statistics:
        rows = []
        for right, guess, _ in _triples(gold, predicted, None):
            inside = None if punctuation else [not mark for mark in _punctuation(right, None)]
            rows.append(known[name](Attachment(*_counted(right, guess, inside, universal).tolist())))
        return np.array(rows, dtype=np.float64).reshape(-1, 2)

    return SentenceMetric(statistics, lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1))


def is_punctuation(word: str) -> bool:
    """Whether a word consists of Unicode punctuation alone."""
    return bool(word) and all(unicodedata.category(character)[0] == "P" for character in word)


def universal_label(label: str) -> str:
    """A label without its subtype: `obl:tmod` is `obl`."""
    return label.partition(":")[0]


def _counted(
    right: DependencyTree, guess: DependencyTree, inside: Sequence[bool] | None, universal: bool
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The numbers of an `Attachment`, of the words `inside`."""
    counts = [0] * 7
    rows = zip(right.heads, guess.heads, right.labels, guess.labels)
    for word, (head, found, label, other) in enumerate(rows):
        if inside is not None and not inside[word]:
            continue
        is_content, found_content = (universal_label(each) in CONTENT_RELATIONS for each in (label, other))
        if universal:
            label, other = universal_label(label), universal_label(other)
        both = head == found and label == other
        for i, is_one in enumerate(
            (True, head == found, label == other, both, both and is_content, is_content, found_content)
        ):
            counts[i] += is_one
    return np.array(counts, dtype=np.int64)


def _tally(
    counters: tuple[Counter[str], ...], gold: Iterable[str], found: Iterable[str], attached: Iterable[bool]
) -> None:
    """Adds to the numbers of right, gold and found arcs of each kind."""
    for kind, other, is_attached in zip(gold, found, attached):
        counters[0][kind] += is_attached and kind == other
        counters[1][kind] += 1
        counters[2][other] += 1


def _scores(counters: tuple[Counter[str], ...], kinds: Iterable[str]) -> tuple[Score, ...]:
    right, gold, found = counters
    return tuple(Score(kind, right[kind], gold[kind], found[kind]) for kind in kinds if gold[kind] or found[kind])


def _distances(tree: DependencyTree) -> list[str]:
    """How far each word is from its head, in classes."""
    far = (abs(word - head) if head else 0 for word, head in enumerate(tree.heads, start=1))
    return [DISTANCES[d] if d <= 2 else "3-6" if d <= 6 else "7-14" if d <= 14 else "15+" for d in far]


def _punctuation(tree: DependencyTree, forms: Sequence[Any] | None) -> list[bool]:
    if forms is None:
        return [universal_label(label) == "punct" for label in tree.labels]
    return [is_punctuation(form if isinstance(form, str) else form[0]) for form in forms]


def _triples(
    gold: Iterable[DependencyTree], predicted: Iterable[DependencyTree], words: Iterable[Sequence[Any]] | None
) -> Iterator[tuple[DependencyTree, DependencyTree, Sequence[Any] | None]]:
    for number, (right, guess) in enumerate(zip_longest(gold, predicted)):
        if right is None or guess is None:
            shorter, longer = ("gold", "predicted") if right is None else ("predicted", "gold")
            raise CorpusError(f"the {shorter} trees end after {number} sentences, but there are more {longer} ones")
        for tree, side in ((right, "gold"), (guess, "predicted")):
            if not isinstance(tree, DependencyTree):
                raise CorpusError(f"sentence {number}, {side}: expected a DependencyTree, got {type(tree).__name__}")
        if len(right) != len(guess):
            raise CorpusError(f"sentence {number} has {len(right)} gold words, but {len(guess)} predicted ones")
        if words is None:
            yield right, guess, None
            continue
        words = iter(words)
        forms = next(words, None)
        if forms is None or len(forms) != len(right):
            given = "no words" if forms is None else f"{len(forms)} words"
            raise CorpusError(f"sentence {number} has {given}, expected those of its tree, {len(right)}")
        yield right, guess, forms
