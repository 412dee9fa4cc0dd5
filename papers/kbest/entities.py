"""Columns for named entities that look beyond the token: runs of capitalised words, and the sentences nearby.

News repeat itself: a name that is clear in one sentence helps with the same name in the next. All of this is made from
the text at hand; no list of names, no other text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from margent.corpus import spans

Row = tuple[str, ...]
NEARBY = 60
"""Sentences on each side in which the case of a word is looked up."""
AGREEING = 40
"""Sentences on each side in which labels of the first stage are looked up."""
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


def second_stage(rows: Sequence[Sequence[Row]], labels: Sequence[Sequence[str]]) -> list[list[Row]]:
    """The columns, and what the first stage found for the same word and the same runs in sentences nearby.

    Four more: the label type of the word, the type of the narrow run (capitalised words only) and of the wide one, the
    place in the narrow run. `!` after a type: all agree, `?`: most of them.
    """
    sentences = [[row[0] for row in sentence] for sentence in rows]
    words, names = [], []
    for sentence, found in zip(sentences, labels):
        words.append(Counter((w, label[2:] or label) for w, label in zip(sentence, found) if w[:1].isupper()))
        names.append(Counter(("_".join(sentence[span.start : span.end]), span.label) for span in spans(found)))
    result = []
    around = zip(_votes(words), _votes(names))
    for sentence, given, (word_votes, name_votes) in zip(sentences, rows, around):
        more: list[Row] = []
        for t, (word, run) in enumerate(zip(sentence, runs(sentence, joined=False))):
            narrow, place, *_ = _described(sentence, t, run)
            wide = given[t][1]
            more.append((*given[t], word_votes(word), name_votes(narrow), name_votes(wide), place))
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


class _Votes:
    """Counts of (string, type), asked for the type that most have."""

    def __init__(self) -> None:
        self.counts: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, votes: Counter[tuple[str, str]], sign: int) -> None:
        for (text, kind), count in votes.items():
            self.counts[text][kind] += sign * count

    def __call__(self, text: str) -> str:
        votes = {kind: n for kind, n in self.counts[text].items() if n > 0} if text in self.counts else {}
        if not votes:
            return NONE
        winner = max(votes, key=lambda kind: (votes[kind], kind))
        return f"{winner}{'!' if len(votes) == 1 else '?'}"


def _votes(counted: Sequence[Counter[tuple[str, str]]]) -> Iterator[_Votes]:
    """For each sentence the votes of those within `AGREEING` of it, without its own."""
    votes = _Votes()
    for number in range(-AGREEING, len(counted)):
        if number + AGREEING < len(counted):
            votes.add(counted[number + AGREEING], 1)
        if number - AGREEING - 1 >= 0:
            votes.add(counted[number - AGREEING - 1], -1)
        if number >= 0:
            votes.add(counted[number], -1)
            yield votes
            votes.add(counted[number], 1)
