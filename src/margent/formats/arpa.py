"""N-gram language models as text, the ARPA format of SRILM, KenLM (`lmplz`) and others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike

_MOST_ORDERS = 12


class ArpaGrams(NamedTuple):
    """The grams of one length, in the order of the file.

    words : (n, length), numbers into the words of the file
    log10_p, log10_backoff : (n,); a gram without a backoff has 0
    """

    words: NDArray[np.int32]
    log10_p: NDArray[np.float64]
    log10_backoff: NDArray[np.float64]


def read_arpa(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[str], list[ArpaGrams]]:
    """Read a model: its words in the order of the unigrams, and its grams of one word, two words, ...

    >>> text = b"\\\\data\\\\\\nngram 1=2\\n\\n\\\\1-grams:\\n-0.3\\ta\\t-0.1\\n-0.3\\tb\\n\\n\\\\end\\\\\\n"
    >>> words, (unigrams,) = read_arpa(text)
    >>> words, unigrams.log10_backoff.tolist()
    (['a', 'b'], [-0.1, 0.0])
    """
    opened = Source(source, encoding, limits)
    promised: list[int] = []
    ids: dict[str, int] = {}
    levels: list[ArpaGrams] = []
    grams: list[list[int]] = []
    scores: list[float] = []
    backoffs: list[float] = []
    length = 0
    state = "start"
    last = 0

    def close(number: int) -> None:
        if length and len(grams) != promised[length - 1]:
            raise opened.error(number, f"expected {promised[length - 1]} grams of {length} words, got {len(grams)}")
        if length:
            rows = np.array(grams, np.int32).reshape(-1, length)
            levels.append(ArpaGrams(rows, np.array(scores, np.float64), np.array(backoffs, np.float64)))
            grams.clear()
            scores.clear()
            backoffs.clear()

    for number, line in opened.lines():
        last = number
        text = line.strip()
        if not text:
            continue
        if state == "start":  # what stands before it is a comment
            state = "data" if text == "\\data\\" else state
        elif text == "\\end\\":
            close(number)
            state = "end"
            break
        elif text.startswith("\\") and text.endswith("-grams:"):
            close(number)
            length += 1
            state = "grams"
            if text != f"\\{length}-grams:" or length > len(promised):
                raise opened.error(number, f"expected the grams of {length} words, got {text[:40]!r}")
        elif state == "data":
            name, _, count = text.removeprefix("ngram ").partition("=")
            known = text.startswith("ngram ") and name.strip() == str(len(promised) + 1) and count.strip().isdecimal()
            if not known or len(promised) == _MOST_ORDERS:
                raise opened.error(number, f"expected 'ngram {len(promised) + 1}=' and a count, got {text[:40]!r}")
            promised.append(int(count))
        else:
            score, *rest = text.split()
            backoff = 0.0
            try:
                if len(rest) == length + 1:
                    backoff = float(rest.pop())
                scores.append(float(score))
            except ValueError:
                raise opened.error(number, f"expected a log-probability, words and a backoff, got {line!r}") from None
            if len(rest) != length or not (scores[-1] <= 0 and backoff > -np.inf and backoff < np.inf):
                raise opened.error(number, f"expected a log-probability, {length} words and a backoff, got {line!r}")
            if length == 1:
                if rest[0] in ids:
                    raise opened.error(number, f"the word {rest[0]!r} stands there twice")
                ids[rest[0]] = len(ids)
            try:
                grams.append([ids[word] for word in rest])
            except KeyError as error:
                raise opened.error(number, f"the word {error.args[0]!r} is not among those of one word") from None
            backoffs.append(backoff)
    if state != "end" or len(levels) != len(promised) or not promised:
        raise opened.error(last, "expected a model that begins with \\data\\ and ends with \\end\\, got another end")
    return list(ids), levels
