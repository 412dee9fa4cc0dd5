"""How good translations are: BLEU, by length of sentences, with what it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from margent.errors import CorpusError
from margent.metrics.bleu_statistics import ORDER, References, corpus_bleu

LENGTHS = ((5, "1-5 words"), (10, "6-10 words"), (20, "11-20 words"), (None, "more words"))
"""Classes of sentences by their words: up to how many, and how called."""


class BleuRow(NamedTuple):
    """BLEU of some sentences, from 0 to 1, and how many of them there are and are translated exactly."""

    bleu: float
    exact: int
    sentences: int


class BleuReport(NamedTuple):
    """BLEU of translations, from 0 to 1. `str()` gives a table.

    total : of all sentences
    rows : by the number of words of the sentence
    precisions : shares of the grams of 1 to 4 words that are in a right translation
    brevity_penalty : what BLEU was multiplied by because translations are short
    length_ratio : words of the translations by words of the nearest right ones
    """

    total: BleuRow
    rows: dict[str, BleuRow]
    precisions: tuple[float, ...]
    brevity_penalty: float
    length_ratio: float

    @property
    def bleu(self) -> float:
        return self.total.bleu

    def __str__(self) -> str:
        width = max(map(len, (*self.rows, "all")))
        lines = [f"{'':{width}}  {'BLEU':>6}  {'exact':>6}  {'sentences':>9}"]
        for name, row in (*self.rows.items(), ("all", self.total)):
            share = 100 * row.exact / row.sentences if row.sentences else 0.0
            lines.append(f"{name:{width}}  {100 * row.bleu:6.2f}  {share:5.1f}%  {row.sentences:9,}")
        grams = ", ".join(f"{100 * share:.1f}" for share in self.precisions)
        lines.append(f"grams of 1-{ORDER} words: {grams} %; brevity penalty {self.brevity_penalty:.3f}, "
                     f"{self.length_ratio:.3f} words for each of the references")  # fmt: skip
        return "\n".join(lines) + "\n"


def bleu_scores(
    references: Iterable[Sequence[Sequence[str]]],
    predicted: Iterable[Sequence[str]],
    sentences: Iterable[Sequence[str]] | None = None,
) -> BleuReport:
    """BLEU of translations against all right ones, without smoothing, as sacrebleu has it of words as they are.

    Parameters
    ----------
    references : of each sentence its right translations, at least one
    predicted : of each sentence a translation
    sentences : their words, for rows by their number; None: without these rows

    >>> report = bleu_scores([[["the", "old", "house", "here"]]], [["the", "old", "house", "here"]])
    >>> report.bleu, report.brevity_penalty
    (1.0, 1.0)
    """
    right, found = [list(several) for several in references], [list(words) for words in predicted]
    if len(right) != len(found):
        raise CorpusError(f"{len(found)} translations were given for {len(right)} sentences; expected as many")
    if not found:
        raise CorpusError("no translation was given; expected at least one")
    for number, several in enumerate(right):
        if not several:
            raise CorpusError(f"sentence {number} has no right translation, and one is needed")
    statistics = np.array([References(several).statistics(words) for several, words in zip(right, found)])
    exact = np.array([words in [list(one) for one in several] for several, words in zip(right, found)], dtype=bool)

    def row(chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> BleuRow:
        return BleuRow(float(corpus_bleu(statistics[chosen].sum(axis=0))), int(exact[chosen].sum()), int(chosen.sum()))

    rows = {}
    if sentences is not None:
        lengths, least = np.array([len(words) for words in sentences]), 0
        for most, name in LENGTHS:
            chosen = (lengths > least) & (lengths <= (most or lengths.max(initial=0)))
            least = most or least
            if chosen.any():
                rows[name] = row(chosen)
    total = statistics.sum(axis=0)
    length = max(total[0], 1.0)
    precisions = total[2 : 2 + ORDER] / np.maximum(total[2 + ORDER :], 1.0)
    return BleuReport(
        row(np.ones(len(found), dtype=bool)),
        rows,
        tuple(precisions.tolist()),
        float(np.exp(min(0.0, 1 - total[1] / length))),
        float(total[0] / max(total[1], 1.0)),
    )
