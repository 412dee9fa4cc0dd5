"""Word alignments: which words of two sentences that are translations of each other belong together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from margent.errors import CorpusError

Link = tuple[int, int]

_NEAR = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True)
class WordAlignment:
    """Links between positions of a source and a target sentence, counted from 0.

    links : those that are sure
    possible : those that are neither right nor wrong, as alignments made by hand have them; never sure as well

    >>> alignment = WordAlignment.parse("0-0 1-2 2?1")
    >>> sorted(alignment.links), sorted(alignment.possible)
    ([(0, 0), (1, 2)], [(2, 1)])
    >>> str(alignment)
    '0-0 1-2 2?1'
    """

    links: frozenset[Link] = frozenset()
    possible: frozenset[Link] = frozenset()

    def __post_init__(self) -> None:
        links = frozenset((int(i), int(j)) for i, j in self.links)
        possible = frozenset((int(i), int(j)) for i, j in self.possible) - links
        if any(min(link) < 0 for link in links | possible):
            raise CorpusError(f"a link has positions from 0 on, got {min(links | possible)}")
        object.__setattr__(self, "links", links)
        object.__setattr__(self, "possible", possible)

    @classmethod
    def parse(cls, text: str) -> WordAlignment:
        """From links `i-j`, or `i?j` where possible only, with blanks between them; source first."""
        links: list[Link] = []
        possible: list[Link] = []
        for field in text.split():
            source, mark, target = field.partition("?" if "?" in field else "-")
            if not mark or not (source.isascii() and source.isdecimal() and target.isascii() and target.isdecimal()):
                raise CorpusError(f"expected a link as '3-4' or '3?4', got {field[:40]!r}")
            if max(len(source), len(target)) > 9:
                raise CorpusError(f"expected a position of at most nine digits, got {field[:40]!r}")
            (possible if mark == "?" else links).append((int(source), int(target)))
        return cls(frozenset(links), frozenset(possible))

    def __str__(self) -> str:
        marked = [(link, "-") for link in self.links] + [(link, "?") for link in self.possible]
        return " ".join(f"{i}{mark}{j}" for (i, j), mark in sorted(marked))

    def __len__(self) -> int:
        return len(self.links)

    def inverted(self) -> WordAlignment:
        """With source and target exchanged."""
        return WordAlignment(frozenset((j, i) for i, j in self.links), frozenset((j, i) for i, j in self.possible))

    def check_fits(self, n_source: int, n_target: int, where: str = "an alignment") -> None:
        """Raises CorpusError where a link points outside sentences of these lengths."""
        for i, j in sorted(self.links | self.possible):
            if i >= n_source or j >= n_target:
                raise CorpusError(f"{where}: link {i}-{j} points outside sentences of {n_source} and {n_target} words")


def symmetrized(forward: WordAlignment, backward: WordAlignment, method: str = "grow-diag-final-and") -> WordAlignment:
    """One alignment of two, each made in one direction; both link source-target.

    Parameters
    ----------
    method : "intersection", "union", "grow-diag", "grow-diag-final" or "grow-diag-final-and"
        The last three begin with the links that both have, and take links of either beside those they have (also
        diagonally) while one of its words is free; then, "final", all that have a free word, or, "final-and", two
        (Och and Ney 2003; Koehn, Och and Marcu 2003). Links are gone through from left to right, those of `forward`
        before those of `backward` in the last step, as Moses does.

    >>> one, other = WordAlignment.parse("0-0 1-1 2-3"), WordAlignment.parse("0-0 1-2 2-3")
    >>> str(symmetrized(one, other, "intersection")), str(symmetrized(one, other))
    ('0-0 2-3', '0-0 1-1 1-2 2-3')
    """
    if method not in SYMMETRIZATIONS:
        raise ValueError(f"method should be one of {', '.join(SYMMETRIZATIONS)}, got {method!r}")
    return WordAlignment(SYMMETRIZATIONS[method](forward.links, backward.links))


def _grown(
    forward: frozenset[Link], backward: frozenset[Link], final: Callable[[bool, bool], bool] | None = None
) -> frozenset[Link]:
    """`final(source is free, target is free)`: whether the last step takes a link."""
    union = forward | backward
    found = set(forward & backward)
    sources, targets = {i for i, _ in found}, {j for _, j in found}

    def take(link: Link) -> None:
        found.add(link)
        sources.add(link[0])
        targets.add(link[1])

    in_order = sorted(union)
    grew = True
    while grew:
        grew = False
        for i, j in in_order:
            if (i, j) not in found:
                continue
            for down, right in _NEAR:
                link = (i + down, j + right)
                if link in union and link not in found and (link[0] not in sources or link[1] not in targets):
                    take(link)
                    grew = True
    if final is not None:
        for direction in (forward, backward):
            for link in sorted(direction - found):
                if final(link[0] not in sources, link[1] not in targets):
                    take(link)
    return frozenset(found)


SYMMETRIZATIONS: Mapping[str, Callable[[frozenset[Link], frozenset[Link]], frozenset[Link]]] = MappingProxyType(
    {
        "intersection": lambda forward, backward: forward & backward,
        "union": lambda forward, backward: forward | backward,
        "grow-diag": _grown,
        "grow-diag-final": lambda forward, backward: _grown(forward, backward, lambda one, other: one or other),
        "grow-diag-final-and": lambda forward, backward: _grown(forward, backward, lambda one, other: one and other),
    }
)
"""How two directions become one, by name."""


def check_alignments(
    alignments: Iterable[WordAlignment], sources: Iterable[Sequence[str]], targets: Iterable[Sequence[str]]
) -> None:
    """Raises CorpusError where there is not one alignment for each sentence pair, or one points outside its pair."""
    try:
        for number, (alignment, source, target) in enumerate(zip(alignments, sources, targets, strict=True)):
            alignment.check_fits(len(source), len(target), f"pair {number}")
    except CorpusError:
        raise
    except ValueError:
        raise CorpusError("source sentences, target sentences and alignments differ in number") from None
