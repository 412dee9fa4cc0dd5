"""Columns for named entities that look beyond the token: runs of capitalised words, and the sentences nearby.

News repeat itself: a name that is clear in one sentence helps with the same name in the next. All of this is made from
the text at hand; no list of names, no other text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.kbest.topics import documents

Row = tuple[str, ...]
NEARBY = 60
"""Sentences on each side in which the case of a word is looked up."""
AGREEING = 40
"""Sentences on each side in which beliefs of the first stage are looked up."""
KINDS = ("O", "LOC", "MISC", "ORG", "PER")
_JOINING = frozenset(
    {
        "de",
        "del",
        "la",
        "las",
        "los",
        "y",
        "el",
        "e",
        "of",
        "the",
        "da",
        "do",
        "di",
        "van",
        "von",
        "-",
        "&",
        "en",
        "para",
    }
)
_OPENING = frozenset({'"', ".", ":", "-", "(", "«", "“"})
NONE = "-"


def columns(sentences: Sequence[Sequence[str]]) -> list[list[Row]]:
    """Word, run, place in it, its length, first and last word, case nearby, capitals throughout, beginning."""
    middles = [Counter(w for t, w in enumerate(words) if _capital_inside(words, t)) for words in sentences]
    lowers = [Counter(w for w in words if w.isalpha() and not w[:1].isupper()) for words in sentences]
    result = []
    for number, (middle, lower) in enumerate(zip(_window(middles, NEARBY), _window(lowers, NEARBY))):
        words = sentences[number]
        shouted = "capitals" if sum(word.isupper() for word in words) > 0.6 * len(words) else "mixed"
        rows: list[Row] = []
        for t, (word, run) in enumerate(zip(words, runs(words, joined=True))):
            case = NONE
            if word[:1].isupper():
                inside = middle[word] > _capital_inside(words, t)  # somewhere else, that is
                case = f"{'capital' * inside},{'lower' * (lower[word.lower()] > 0)}"
            rows.append((word, *_described(words, t, run), case, shouted, "first" if t == 0 else "later"))
        result.append(rows)
    return result


def repaired(word: str) -> str:
    """The word as it was written: the common copy of CoNLL-2002 was put into UTF-8 twice (`Ã©l` for `él`)."""
    try:
        return word.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return word


def second_stage(rows: Sequence[Sequence[Row]], beliefs: Sequence[NDArray[Any]]) -> list[list[Row]]:
    """The columns, and what the first stage believes of the same word and the same run in other sentences.

    `beliefs`: for each sentence an array (tokens, `KINDS`) of probabilities. Nine columns more: the verdict on the word
    in its article and within `AGREEING` sentences, that on the run of capitalised words there and there, the place in
    the run, and how large a part of the names in the article is LOC, MISC, ORG, PER, in sixths.
    """
    sentences = [[row[0] for row in sentence] for sentence in rows]
    article = documents(sentences)
    narrow = [runs(words, joined=False) for words in sentences]
    memory = _Memory()
    names = np.zeros((article[-1] + 1 if article else 0, len(KINDS)))
    for number, (words, given) in enumerate(zip(sentences, beliefs)):
        names[article[number]] += given.sum(axis=0)
        for t, word in enumerate(words):
            if word[:1].isupper():
                memory.add(word, number, given[t])
        for start, end in {run for run in narrow[number] if run is not None}:
            memory.add(tuple(words[start:end]), number, given[start:end].mean(axis=0))
    sixths = np.minimum(6 * names[:, 1:] / (names[:, 1:].sum(axis=1, keepdims=True) + 1), 4).astype(int).astype(str)
    result = []
    for number, words in enumerate(sentences):
        own = bisect_left(article, article[number]), bisect_left(article, article[number] + 1)
        nearby = number - AGREEING, number + AGREEING + 1
        more: list[Row] = []
        for t, run in enumerate(narrow[number]):
            keys = words[t], tuple(words[slice(*run)]) if run else None
            verdicts = (memory.verdict(key, *reach, without=number) for key in keys for reach in (own, nearby))
            place = _described(words, t, run)[1]
            more.append((*rows[number][t], *verdicts, place, *sixths[article[number]].tolist()))
        result.append(more)
    return result


def runs(words: Sequence[str], *, joined: bool) -> list[tuple[int, int] | None]:
    """For each token the run of capitalised words that it is in; joined: over up to three words such as `de la`."""
    result: list[tuple[int, int] | None] = [None] * len(words)
    start = 0
    while start < len(words):
        end = start
        while end < len(words) and _capitalised(words[end]):
            end += 1
            if joined and end > start:
                after = end
                while after < len(words) and after - end < 3 and words[after] in _JOINING:
                    after += 1
                if after < len(words) and _capitalised(words[after]):
                    end = after
        result[start:end] = [(start, end)] * (end - start)
        start = max(end, start + 1)
    return result


def _described(words: Sequence[str], t: int, run: tuple[int, int] | None) -> Row:
    """The run as one string, the place of token t in it, its length, its first and last word."""
    if run is None:
        return NONE, "O", "0", NONE, NONE
    start, end = run
    place = "S" if end - start == 1 else "B" if t == start else "E" if t == end - 1 else "I"
    return "_".join(words[start:end]), place, str(min(end - start, 5)), words[start], words[end - 1]


def _capitalised(word: str) -> bool:
    return word[:1].isupper() or (word[:1].isdigit() and any(c.isupper() for c in word))


def _capital_inside(words: Sequence[str], t: int) -> bool:
    """A capital that is not due to the beginning of a sentence or a quotation."""
    return t > 0 and words[t][:1].isupper() and words[t - 1] not in _OPENING


def _window(counters: Sequence[Counter[str]], reach: int) -> Iterator[Counter[str]]:
    """For each counter the sum over those within `reach` of it, itself too."""
    total: Counter[str] = Counter()
    for number in range(-reach, len(counters)):
        if number + reach < len(counters):
            total.update(counters[number + reach])
        if number - reach - 1 >= 0:
            total.subtract(counters[number - reach - 1])
        if number >= 0:
            yield total


class _Memory:
    """Beliefs about words and runs, in order of sentences, summed over any stretch of them."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[list[int], list[NDArray[Any]]]] = {}

    def add(self, key: Any, sentence: int, belief: NDArray[Any]) -> None:
        places, sums = self._known.setdefault(key, ([], [np.zeros(len(KINDS))]))
        places.append(sentence)
        sums.append(sums[-1] + belief)

    def verdict(self, key: Any, start: int, end: int, *, without: int) -> str:
        """The kind most believed in from sentence `start` to `end`, and how much: `!` over 0.9, `+` over 0.7, `?`."""
        if key not in self._known:
            return NONE
        places, sums = self._known[key]
        a, b, c, d = (sums[bisect_left(places, at)] for at in (start, without, without + 1, end))
        belief = d - c + b - a
        total = float(belief.sum())
        if total < 0.5:  # no other sentence
            return NONE
        winner = int(belief.argmax())
        share = belief[winner] / total
        return f"{KINDS[winner]}{'!' if share > 0.9 else '+' if share > 0.7 else '?'}"
