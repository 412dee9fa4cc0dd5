"""Word and phoneme error of transcriptions, where a word may have several right pronunciations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from margent.errors import CorpusError
from margent.metrics.edits import edit_counts

Phonemes = Sequence[str]


class TranscriptionReport(NamedTuple):
    """How often words and phonemes are wrong.

    `wrong_words` of `words` are none of their right pronunciations. `edits`: phonemes to insert, delete or replace to
    come to the nearest right pronunciation, which all together have `phonemes` phonemes.
    """

    words: int
    wrong_words: int
    phonemes: int
    edits: int

    @property
    def word_error(self) -> float:
        return self.wrong_words / self.words if self.words else 0.0

    @property
    def phoneme_error(self) -> float:
        return self.edits / self.phonemes if self.phonemes else 0.0

    def __str__(self) -> str:
        return (
            f"word error {100 * self.word_error:.2f} % ({self.wrong_words} of {self.words}), "
            f"phoneme error {100 * self.phoneme_error:.2f} % ({self.edits} of {self.phonemes})"
        )


def transcription_scores(
    references: Iterable[Sequence[Phonemes]], predicted: Iterable[Phonemes]
) -> TranscriptionReport:
    """Compares predicted pronunciations with all right ones of each word.

    A word is right if it is any of its references; its phonemes are compared with the nearest reference (of those
    equally near the longest), as in the literature on grapheme-to-phoneme conversion.

    Parameters
    ----------
    references : for each word the list of its right pronunciations
    predicted : for each word one pronunciation

    >>> report = transcription_scores([[["AH"], ["EY"]], [["K", "AE", "T"]]], [["EY"], ["K", "AA", "T"]])
    >>> report.word_error, report.phoneme_error
    (0.5, 0.25)
    """
    words = wrong = phonemes = edits = 0
    for number, (right, found) in enumerate(zip(references, predicted, strict=True)):
        if not right:
            raise CorpusError(f"word {number} has no right pronunciation, but one is needed")
        distance, length = min((edit_counts(reference, found).errors, -len(reference)) for reference in right)
        words += 1
        wrong += distance > 0
        edits += distance
        phonemes -= length
    return TranscriptionReport(words, wrong, phonemes, edits)
