"""Word alignments made from sentence pairs alone, by eflomal (Östling and Tiedemann 2016)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from margent.annotation.word_alignment import WordAlignment, symmetrized
from margent.errors import CorpusError
from margent.extras import optional
from margent.formats.word_alignments import read_word_alignments


def align_words(
    sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]], *, method: str = "grow-diag-final-and"
) -> list[WordAlignment]:
    """Aligns sentence pairs in both directions with eflomal (its model 3) and symmetrises the two.

    eflomal, the extra `translate`, is a program in a package of its own. It samples with random numbers that cannot be
    given a seed: two runs differ a little, so alignments are worth keeping in a file (`write_word_alignments`).

    method : as in `margent.annotation.symmetrized`
    """
    eflomal = optional("eflomal", "word alignment by margent.align_words needs", "translate")
    if len(sources) != len(targets):
        raise CorpusError(f"{len(sources)} source and {len(targets)} target sentences were given, expected pairs")
    for number, pair in enumerate(zip(sources, targets)):
        for words in pair:
            if isinstance(words, str) or not words or any(word.split() != [word] for word in words):
                raise CorpusError(f"pair {number}: expected words without blanks on both sides, got {words!r}")
    if not sources:
        return []
    with tempfile.TemporaryDirectory() as folder:
        files = [os.fspath(Path(folder, name)) for name in ("forward", "backward")]
        lines = ([" ".join(words) + "\n" for words in side] for side in (sources, targets))
        eflomal.Aligner().align(*lines, links_filename_fwd=files[0], links_filename_rev=files[1])
        forward, backward = map(read_word_alignments, files)
    return [symmetrized(one, other, method) for one, other in zip(forward, backward, strict=True)]
