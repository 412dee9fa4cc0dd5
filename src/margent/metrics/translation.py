"""Scores of translations: BLEU and chrF by sacrebleu, with the signatures that make them comparable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from margent.errors import CorpusError
from margent.extras import optional


class TranslationReport(NamedTuple):
    """Scores of a corpus, from 0 to 100.

    bleu, chrf : the scores
    brevity_penalty : what BLEU was multiplied by because translations are short
    length_ratio : words of the translations by words of the references
    precisions : of grams of 1 to 4 words, in percent
    sentences, words : how many were scored
    bleu_signature, chrf_signature : how sacrebleu made them
    """

    bleu: float
    chrf: float
    brevity_penalty: float
    length_ratio: float
    precisions: tuple[float, ...]
    sentences: int
    words: int
    bleu_signature: str
    chrf_signature: str

    def __str__(self) -> str:
        grams = "/".join(f"{precision:.1f}" for precision in self.precisions)
        return (
            f"BLEU {self.bleu:.2f} ({grams}, brevity penalty {self.brevity_penalty:.3f}), chrF {self.chrf:.2f} "
            f"({self.sentences} sentences; {self.bleu_signature}; {self.chrf_signature})"
        )


def translation_scores(
    references: Iterable[Sequence[Sequence[str]]], predicted: Iterable[Sequence[str]]
) -> TranslationReport:
    """Compares translations with all right ones of each sentence; words as given (sacrebleu's tokenize="none").

    Needs sacrebleu, the extra `translate`.

    Parameters
    ----------
    references : for each sentence the list of its right translations, each a list of words
    predicted : for each sentence one translation
    """
    sacrebleu = optional("sacrebleu.metrics", "BLEU and chrF need", "translate")
    right = [[" ".join(words) for words in several] for several in references]
    found = [" ".join(words) for words in predicted]
    if len(right) != len(found):
        raise CorpusError(f"{len(found)} translations were given for {len(right)} sentences, expected as many")
    for number, several in enumerate(right):
        if not several:
            raise CorpusError(f"sentence {number} has no right translation, but one is needed")
    if not found:
        raise CorpusError("no translation was given, expected at least one")
    most = max(map(len, right))
    streams: list[list[str | None]] = [[(each + [None] * most)[k] for each in right] for k in range(most)]
    metric, characters = sacrebleu.BLEU(tokenize="none"), sacrebleu.CHRF()
    score, similar = metric.corpus_score(found, streams), characters.corpus_score(found, streams)
    return TranslationReport(
        float(score.score),
        float(similar.score),
        float(score.bp),
        float(score.ratio),
        tuple(map(float, score.precisions)),
        len(found),
        int(score.sys_len),
        str(metric.get_signature()),
        str(characters.get_signature()),
    )
