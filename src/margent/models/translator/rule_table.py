"""The rules of a hierarchical grammar: extracted from aligned sentences, looked at, stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent import _core, storage
from margent.annotation.word_alignment import WordAlignment, check_alignments
from margent.models.stored_parameters import storable
from margent.models.translator.vocabulary import Vocabulary
from margent.parameters import check_choice, check_flag, check_number, check_whole
from margent.storage import ModelFile

COUNTS = ("unit", "fractional")
_GAP = "[X,{}]"


@storable
@dataclass(frozen=True)
class RuleExtraction:
    """Which rules are taken from aligned sentences (Chiang 2007, section 3.2), and which are kept.

    An initial phrase pair has links inside, at least one, and none to words outside. A rule is such a pair with up to
    two others in it replaced by nonterminals, which do not meet on the source side, and leave two words with a link.

    counts : "unit" counts each way to find a rule in a sentence as one; "fractional" each initial phrase pair, divided
        equally among its rules, as in the paper
    """

    max_span: int = field(default=10, metadata={"help": "words of an initial phrase, on either side"})
    max_source_symbols: int = field(default=5, metadata={"help": "words and nonterminals of a rule's source side"})
    max_nonterminals: int = field(default=2, metadata={"help": "nonterminals of a rule; 0: phrases alone"})
    tight: bool = field(default=True, metadata={"help": "no phrase begins or ends with a word without links"})
    counts: str = field(default="unit", metadata={"help": "what an occurrence of a rule counts", "choices": COUNTS})
    min_count: float = field(default=0.0, metadata={"help": "leave out rules that are rarer"})
    max_targets: int | None = field(
        default=None, metadata={"help": "keep so many translations of a source side, the most frequent"}
    )

    def __post_init__(self) -> None:
        check_whole(self, "max_span", minimum=1, maximum=1000)
        check_whole(self, "max_source_symbols", minimum=1, maximum=1000)
        check_whole(self, "max_nonterminals", minimum=0, maximum=2)
        check_flag(self, "tight")
        check_choice(self, "counts", COUNTS)
        check_number(self, "min_count", minimum=0)
        check_whole(self, "max_targets", minimum=1, optional=True)


class RuleArrays(NamedTuple):
    """A table as `core/translation/rule_table.hpp` has it, N source-trie nodes, R rules, T target sides."""

    child_ptr: NDArray[np.int32]
    child_symbol: NDArray[np.int32]
    source_counts: NDArray[np.float64]
    rule_ptr: NDArray[np.int32]
    rule_target: NDArray[np.int32]
    rule_counts: NDArray[np.float64]
    lexical: NDArray[np.float32]
    target_ptr: NDArray[np.int64]
    target_symbols: NDArray[np.int32]
    target_counts: NDArray[np.float64]


class SentenceRules(NamedTuple):
    """What each training sentence adds to the counts of a table: (ptr, rules, counts)."""

    ptr: NDArray[np.int64]
    rules: NDArray[np.int32]
    counts: NDArray[np.float64]


class Rule(NamedTuple):
    """A rule X -> <source, target>. Nonterminals are 1 and 2, in the order of the source side; words are strings."""

    source: tuple[str | int, ...]
    target: tuple[str | int, ...]

    def __str__(self) -> str:
        return " ||| ".join(" ".join(_shown(symbol) for symbol in side) for side in self)


@dataclass(frozen=True, eq=False)
class RuleTable:
    """Rules, sorted by source side, then count; see `RuleExtraction`. A frozen value.

    >>> table, _ = RuleTable.extracted([["das", "Haus"]], [["the", "house"]], [WordAlignment.parse("0-0 1-1")])
    >>> for number in range(len(table)):
    ...     print(table.rule(number), table.arrays.rule_counts[number])
    das ||| the 1.0
    Haus ||| house 1.0
    [X,1] Haus ||| [X,1] house 1.0
    das [X,1] ||| the [X,1] 1.0
    das Haus ||| the house 1.0
    """

    sources: Vocabulary
    targets: Vocabulary
    arrays: RuleArrays

    @classmethod
    def extracted(
        cls,
        sources: Sequence[Sequence[str]],
        targets: Sequence[Sequence[str]],
        alignments: Sequence[WordAlignment],
        extraction: RuleExtraction | None = None,
        *,
        left_out: bool = False,
        threads: int = 1,
    ) -> tuple[RuleTable, SentenceRules | None]:
        """The rules of aligned sentence pairs; with `left_out`, also what each pair adds, to leave it out later.

        The result does not depend on `threads`.
        """
        check_alignments(alignments, sources, targets)
        options = extraction or RuleExtraction()
        first, second = Vocabulary.of(sources), Vocabulary.of(targets)
        links = [sorted(alignment.links) for alignment in alignments]
        link_ptr = np.zeros(len(links) + 1, np.int64)
        np.cumsum([len(each) for each in links], out=link_ptr[1:])
        flat = np.array([link for each in links for link in each], np.int32).reshape(-1, 2)
        table, own = _core.extract_rules(
            *first.rows(sources),
            *second.rows(targets),
            link_ptr,
            flat,
            len(first),
            len(second),
            options.max_span,
            options.max_source_symbols,
            options.max_nonterminals,
            bool(options.tight),
            options.counts == "fractional",
            float(options.min_count),
            options.max_targets or 0,
            left_out,
            threads,
        )
        return cls(first, second, RuleArrays(*table)), SentenceRules(*own) if left_out else None

    @classmethod
    def empty(cls) -> RuleTable:
        return cls.extracted([], [], [])[0]

    def __len__(self) -> int:
        return len(self.arrays.rule_target)

    @cached_property
    def native(self) -> _core.RuleTable:
        """As the decoder takes it; a ValueError where the arrays cannot be a table."""
        return _core.RuleTable(*self.arrays, len(self.sources), len(self.targets))

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """(N,) the parent of each node, (R,) the node of each rule."""
        a = self.arrays
        numbers = np.arange(len(a.source_counts), dtype=np.int32)
        parents = np.concatenate([np.zeros(1, np.int32), np.repeat(numbers, np.diff(a.child_ptr))])
        return parents, np.repeat(numbers, np.diff(a.rule_ptr))

    def rule(self, number: int) -> Rule:
        parents, nodes = self._nodes
        a = self.arrays
        source: list[str | int] = []
        node = int(nodes[number])
        while node:
            symbol = int(a.child_symbol[node - 1])
            source.append(self.sources.words[symbol] if symbol >= 0 else 0)
            node = int(parents[node])
        source.reverse()
        gaps = iter((1, 2))
        side = int(a.rule_target[number])
        symbols = a.target_symbols[a.target_ptr[side] : a.target_ptr[side + 1]].tolist()
        return Rule(
            tuple(symbol if isinstance(symbol, str) else next(gaps) for symbol in source),
            tuple(self.targets.words[symbol] if symbol >= 0 else -symbol for symbol in symbols),
        )

    def find(self, source: Sequence[str | int]) -> range:
        """The numbers of the rules with this source side, the most frequent first. A nonterminal is any number."""
        a = self.arrays
        node = 0
        for each in source:
            symbol = self.sources.ids.get(each, len(self.sources)) if isinstance(each, str) else -1
            first, last = a.child_ptr[node : node + 2].tolist()
            place = first + int(np.searchsorted(a.child_symbol[first:last], symbol))
            if place == last or a.child_symbol[place] != symbol:
                return range(0)
            node = place + 1
        return range(*a.rule_ptr[node : node + 2].tolist())

    def features(self, own: SentenceRules | None = None, sentence: int = -1) -> NDArray[np.float32]:
        """(R, 9): the dense features of each rule, `TABLE_FEATURES`.

        With `own` as if a training sentence had not been seen; NaN where it is the only one with the rule.
        """
        if own is None:
            return np.asarray(self.native.features())
        return np.asarray(self.native.features(_core.RuleSources(self.native, *own), sentence))

    def known_words(self) -> frozenset[str]:
        """The source words that a rule translates alone."""
        a = self.arrays
        nodes = np.arange(1, int(a.child_ptr[1]) + 1) if len(a.source_counts) > 1 else np.zeros(0, np.int64)
        found = nodes[(np.diff(a.rule_ptr)[nodes] > 0) & (a.child_symbol[nodes - 1] >= 0)]
        return frozenset(self.sources.words[symbol] for symbol in a.child_symbol[found - 1].tolist())

    def lines(self) -> Iterator[str]:
        """The rules as text, `source ||| target ||| features`, as cdec and others print them."""
        for number, row in enumerate(self.features()):
            values = " ".join(f"{name.replace(' ', '_')}={value:.5g}" for name, value in zip(TABLE_FEATURES, row))
            yield f"{self.rule(number)} ||| {values}"

    # Files

    def stored(self) -> dict[str, Any]:
        """The arrays for a model file."""
        arrays = {f"rules.{name}": array for name, array in self.arrays._asdict().items()}
        return {
            **storage.string_arrays("source words", self.sources.words),
            **storage.string_arrays("target words", self.targets.words),
            **arrays,
        }

    @classmethod
    def restored(cls, file: ModelFile) -> RuleTable:
        """The table in a file, everything in it checked."""
        try:
            sources, targets = Vocabulary(file.strings("source words")), Vocabulary(file.strings("target words"))
        except ValueError as error:
            raise file.error(f"its words are wrong: {error}") from None
        arrays = RuleArrays(*(file.array(f"rules.{name}", kind, (None,)) for name, kind in _TYPES.items()))
        table = cls(sources, targets, arrays)
        try:
            table.native  # noqa: B018
        except ValueError as error:
            raise file.error(f"its rules are wrong: {error}") from None
        return table


_TYPES: dict[str, Any] = {
    "child_ptr": np.int32,
    "child_symbol": np.int32,
    "source_counts": np.float64,
    "rule_ptr": np.int32,
    "rule_target": np.int32,
    "rule_counts": np.float64,
    "lexical": np.float32,
    "target_ptr": np.int64,
    "target_symbols": np.int32,
    "target_counts": np.float64,
}

DENSE_FEATURES: tuple[str, ...] = tuple(_core.dense_translation_features())
"""The names of the dense features of a translation, in the order of their weights."""
TABLE_FEATURES = DENSE_FEATURES[_core.FIRST_TABLE_FEATURE :]
"""Those of them that a rule table knows; the others are the decoder's."""


def _shown(symbol: str | int) -> str:
    return symbol if isinstance(symbol, str) else _GAP.format(symbol)
