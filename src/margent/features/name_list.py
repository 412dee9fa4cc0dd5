"""Lists of names, such as places or companies, in which segments are looked up, exactly or nearly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping


def folded(tokens: Iterable[str]) -> str:
    """How a name is compared: in lower case, tokens joined by one space."""
    return " ".join(" ".join(tokens).lower().split())


def _trigrams(name: str) -> frozenset[str]:
    padded = f"  {name} "
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


class NameLists:
    """Names by list. `lists`: list name to the names in it, each one string.

    >>> lists = NameLists({"city": ["New York", "Novi Sad"]})
    >>> lists.exact("new york"), lists.similar("new yorck", 0.6)
    (['city'], {'city': 0.736842})
    """

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self.lists = {name: sorted({folded([entry]) for entry in entries}) for name, entries in lists.items()}
        self._exact: dict[str, list[str]] = defaultdict(list)
        self._entries: list[tuple[int, str]] = []  # trigrams of an entry, and its list
        self._with: dict[str, list[int]] = defaultdict(list)  # entries that have a trigram
        for name, entries in self.lists.items():
            for entry in entries:
                self._exact[entry].append(name)
                trigrams = _trigrams(entry)
                for trigram in trigrams:
                    self._with[trigram].append(len(self._entries))
                self._entries.append((len(trigrams), name))

    def exact(self, name: str) -> list[str]:
        """The lists that have this name, given as `folded` gives it."""
        return list(self._exact.get(name, ()))

    def similar(self, name: str, least: float) -> dict[str, float]:
        """For each list the similarity of its entry that is most like a name, where it is at least `least`.

        Similarity: twice the number of common character trigrams over the number of both (Dice).
        """
        trigrams = _trigrams(name)
        common: dict[int, int] = defaultdict(int)
        for trigram in trigrams:
            for entry in self._with.get(trigram, ()):
                common[entry] += 1
        found: dict[str, float] = {}
        for entry, n in common.items():
            size, list_name = self._entries[entry]
            similarity = 2 * n / (size + len(trigrams))
            if similarity >= least and similarity > found.get(list_name, 0.0):
                found[list_name] = similarity
        return {list_name: round(similarity, 6) for list_name, similarity in sorted(found.items())}
