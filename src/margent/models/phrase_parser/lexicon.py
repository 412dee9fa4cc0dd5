"""How probable the tags of a word are: of words that were seen, and by their spelling of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.derived import capitalisation, digits, hyphen
from margent.features.feature_map import Stored, restored_strings
from margent.models.stored_numbers import restored_counts
from margent.storage import ModelFile

RARE = 10
"""The spelling of words seen no more often than this says what unseen ones may be (Brants 2000, section 2.3)."""
FREQUENT = 5
"""A word seen more often than this has the tags that it was seen with, and no others."""
LONGEST_SUFFIX = 4
WEIGHT = 1.0
"""For how many occurrences of a word its spelling counts, and of a spelling the more general one."""
LEAST = 1e-4
"""Tags less probable than this are left out."""

TagCounts = dict[str, "Counter[str]"]


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Counts c(word, tag) of the training data.

    P(tag | word) = (c(word, tag) + WEIGHT P(tag | spelling)) / (c(word) + WEIGHT). A spelling is how the word is
    capitalised, whether it has digits or a hyphen, and its last 0 to LONGEST_SUFFIX letters; its probabilities, from
    rare words, are mixed with those of the spelling with a letter less in the same way (as in TnT, Brants 2000). A word
    scores log P(tag | word) - log P(tag), which is log P(word | tag) but for a constant.
    """

    counts: TagCounts

    @classmethod
    def empty(cls) -> Lexicon:
        return cls({})

    def grown(self, sentences: Iterable[tuple[Sequence[str], Sequence[str]]], weights: Iterable[float]) -> Lexicon:
        """With the words and tags of more sentences."""
        counts = {word: Counter(tags) for word, tags in self.counts.items()}
        for (words, tags), weight in zip(sentences, weights):
            for word, tag in zip(words, tags):
                counts.setdefault(word, Counter())[tag] += weight  # type: ignore[assignment]
        return Lexicon(counts)

    @cached_property
    def _shares(self) -> dict[str, float]:
        """P(tag)."""
        total: Counter[str] = Counter()
        for tags in self.counts.values():
            total.update(tags)
        everything = total.total()
        return {tag: count / everything for tag, count in total.items() if count > 0}

    @cached_property
    def _spellings(self) -> TagCounts:
        found: TagCounts = {}
        for word, tags in self.counts.items():
            if tags.total() <= RARE:
                for spelling in spellings(word):
                    found.setdefault(spelling, Counter()).update(tags)
        return found

    def _by_spelling(self, word: str) -> dict[str, float]:
        shares = self._shares
        for spelling in spellings(word):
            tags = self._spellings.get(spelling)
            if tags is None:
                break
            shares = _mixed(tags, shares)
        return shares

    def scores(self, word: str) -> dict[str, float]:
        """log P(tag | word) - log P(tag) of the tags that the word may have: at least one."""
        tags = self.counts.get(word, Counter())
        if tags.total() > FREQUENT:
            shares = {tag: count / tags.total() for tag, count in tags.items() if count > 0}
        else:
            mixed = _mixed(tags, self._by_spelling(word))
            least = min(LEAST, max(mixed.values()))
            shares = {tag: share for tag, share in mixed.items() if share >= least or tags[tag] > 0}
        return {tag: float(np.log(share) - np.log(self._shares[tag])) for tag, share in shares.items()}

    # Files

    def stored(self) -> Stored:
        words, tags = _core.StringTable(), _core.StringTable()
        words.add_all(list(self.counts))
        rows = [(w, tag, count) for w, of_word in enumerate(self.counts.values()) for tag, count in of_word.items()]
        arrays: dict[str, NDArray[Any]] = {
            "lexicon.word": np.array([w for w, _, _ in rows], dtype=np.int32),
            "lexicon.tag": np.asarray(tags.add_all([tag for _, tag, _ in rows]), dtype=np.int32),
            "lexicon.count": np.array([count for _, _, count in rows], dtype=np.float64),
        }
        arrays["words"], arrays["words.ends"] = words.dump()
        arrays["tags"], arrays["tags.ends"] = tags.dump()
        return {}, arrays

    @classmethod
    def restored(cls, file: ModelFile, tags: Iterable[str]) -> Lexicon:
        """`tags`: those of the grammar."""
        words = restored_strings(file, "words").strings(0)
        names = restored_strings(file, "tags").strings(0)
        if not words or not set(names) <= set(tags):
            raise file.error("its words should have tags of its grammar")
        at = file.array("lexicon.word", np.int32, (None,), minimum=0, maximum=len(words) - 1)
        tag = file.array("lexicon.tag", np.int32, at.shape, minimum=0, maximum=max(len(names) - 1, 0))
        count = restored_counts(file, "lexicon.count", len(at))
        if not count.any():
            raise file.error("its words should have counts above 0")
        counts: TagCounts = {word: Counter() for word in words}
        for w, t, c in zip(at.tolist(), tag.tolist(), count.tolist()):
            counts[words[w]][names[t]] = c
        return cls(counts)


def spellings(word: str) -> list[str]:
    """From the most general one to that with the most letters."""
    looks = f"{capitalisation(word)} {digits(word)} {hyphen(word)}"
    end = word.lower()
    return [looks, *(f"{looks} -{end[-n:]}" for n in range(1, min(LONGEST_SUFFIX, len(end)) + 1))]


def _mixed(tags: Counter[str], shares: dict[str, float]) -> dict[str, float]:
    total = tags.total() + WEIGHT
    return {tag: (tags[tag] + WEIGHT * share) / total for tag, share in shares.items()}
