"""The grammar of a treebank: the rules of its binarised trees, counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.annotation.binarisation import BinaryNode, Symbol, binarised, unbinarised
from margent.annotation.phrase_tree import PhraseTree
from margent.features.feature_map import Stored
from margent.models.phrase_parser.options import Markovisation
from margent.models.stored_numbers import restored_counts
from margent.storage import ModelFile

Doubles = NDArray[np.float64]
Rows = NDArray[np.int32]
_KINDS = ("tag", "phrase", "rest")
_PIECES = "S"
"""The label above the pieces of a sentence without a tree, where no training tree has a label at the root."""


@dataclass(frozen=True, eq=False)
class TreebankGrammar:
    """Symbols, rules and how often they occur.

    symbols : S of them, in the order in which they first come
    binary : (R, 3) parent, left and right part of each rule; `binary_counts` (R,)
    unary : (U, 2) what is above and below a chain of phrases over the same words, `chains` the symbols between the two
        from above; first, for each symbol in order, the chain that is none. `unary_counts` (U,)
    root_counts : (S,) how often each symbol is above a whole sentence

    The probability of a tree is that of its root, and for each span of words (Booth and Thompson 1973)

        P(chain | symbol at the top) * P(two parts, or a word, | symbol at the bottom),

    where both are relative frequencies; those of words are the lexicon's. Differs: a chain of phrases over the same
    words is chosen at once instead of phrase by phrase, so that no cycle of unary rules has to be summed over.
    """

    markovisation: Markovisation
    symbols: tuple[Symbol, ...]
    binary: Rows
    binary_counts: Doubles
    unary: Rows
    chains: tuple[tuple[int, ...], ...]
    unary_counts: Doubles
    root_counts: Doubles

    @classmethod
    def empty(cls, markovisation: Markovisation) -> TreebankGrammar:
        none = np.zeros(0)
        return cls(markovisation, (), np.zeros((0, 3), np.int32), none, np.zeros((0, 2), np.int32), (), none, none)

    def nodes(self, tree: PhraseTree) -> list[BinaryNode]:
        """The binarised tree in preorder."""
        how = self.markovisation
        return binarised(tree, horizontal=how.horizontal, vertical=how.vertical, direction=how.direction)

    def grown(self, trees: Iterable[Sequence[BinaryNode]], weights: Doubles) -> TreebankGrammar:
        """With the counts of more binarised trees, each times its weight. Rules that are known keep their order, and
        symbols their numbers."""
        ids = dict(self.ids)
        binary = dict(zip(map(tuple, self.binary.tolist()), self.binary_counts.tolist()))
        chains = {
            (parent, child, between): count
            for (parent, child), between, count in zip(self.unary.tolist(), self.chains, self.unary_counts.tolist())
        }
        roots = dict(enumerate(self.root_counts.tolist()))

        def number(symbol: Symbol) -> int:
            return ids.setdefault(symbol, len(ids))

        for nodes, weight in zip(trees, weights.tolist()):
            parts = parts_of(nodes)
            for node, below in zip(nodes, parts):
                symbol = number(node.symbol)
                chain = tuple(map(number, node.chain))
                key = (chain[0], symbol, chain[1:]) if chain else (symbol, symbol, ())
                chains[key] = chains.get(key, 0.0) + weight
                if below is not None:
                    rule = (symbol, number(nodes[below[0]].top), number(nodes[below[1]].top))
                    binary[rule] = binary.get(rule, 0.0) + weight
            top = number(nodes[0].top)
            roots[top] = roots.get(top, 0.0) + weight
        n = len(ids)
        none: dict[tuple[int, int, tuple[int, ...]], float] = {
            (s, s, ()): chains.pop((s, s, ()), 0.0) for s in range(n)
        }
        chains = {**none, **chains}
        return TreebankGrammar(
            self.markovisation,
            tuple(ids),
            np.array(list(binary), dtype=np.int32).reshape(-1, 3),
            np.array(list(binary.values()), dtype=np.float64),
            np.array([key[:2] for key in chains], dtype=np.int32).reshape(-1, 2),
            tuple(key[2] for key in chains),
            np.array(list(chains.values()), dtype=np.float64),
            np.array([roots.get(s, 0.0) for s in range(n)], dtype=np.float64),
        )

    # What is made of it

    @cached_property
    def ids(self) -> Mapping[Symbol, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    @cached_property
    def rules(self) -> Mapping[tuple[int, ...], int]:
        """The number of each binary rule."""
        return {tuple(rule): i for i, rule in enumerate(self.binary.tolist())}

    @cached_property
    def chain_ids(self) -> Mapping[tuple[int, int, tuple[int, ...]], int]:
        """The number of each unary rule by its parent, its child, and what is between."""
        return {
            (parent, child, between): i
            for i, ((parent, child), between) in enumerate(zip(self.unary.tolist(), self.chains))
        }

    @cached_property
    def tags(self) -> Mapping[str, int]:
        """The symbols of tags."""
        return {symbol.label: i for i, symbol in enumerate(self.symbols) if symbol.kind == "tag"}

    @cached_property
    def root_label(self) -> str:
        """The most frequent label above a sentence: it is put above pieces."""
        for s in np.argsort(-self.root_counts, kind="stable").tolist():
            if self.symbols[s].kind == "phrase":
                return str(self.symbols[s].label)
        return _PIECES

    @cached_property
    def binary_scores(self) -> Doubles:
        return _log_shares(self.binary_counts, self.binary[:, 0], len(self.symbols))

    @cached_property
    def unary_scores(self) -> Doubles:
        return _log_shares(self.unary_counts, self.unary[:, 0], len(self.symbols))

    @cached_property
    def native(self) -> _core.PhraseGrammar:
        pieces = np.array([symbol.kind != "rest" for symbol in self.symbols], dtype=np.uint8)
        roots = _log_shares(self.root_counts, np.zeros(len(self.symbols), np.int32), 1)
        return _core.PhraseGrammar(self.binary, self.binary_scores, self.unary, self.unary_scores, roots, pieces)

    def columns(self) -> tuple[int, Rows, Rows]:
        """Weights of phrases are shared by all symbols with the same label, of rests by all rests of the label.

        The width, and the column of each symbol (S,) and unary rule (U,), which is that of the labels above its child.
        Tags, which are above words, share columns with phrases, which are above longer spans.
        """
        words: dict[tuple[str, str], int] = {}
        longer: dict[tuple[str, str], int] = {}
        for symbol in self.symbols:
            table = words if symbol.kind == "tag" else longer
            table.setdefault((symbol.kind, symbol.label), len(table))
        symbols = [{**words, **longer}[symbol.kind, symbol.label] for symbol in self.symbols]
        above: dict[tuple[str, ...], int] = {}
        first = max(len(words), len(longer))
        unary = []
        for (parent, child), between in zip(self.unary.tolist(), self.chains):
            labels = tuple(self.symbols[s].label for s in ((parent, *between) if parent != child or between else ()))
            unary.append(first + above.setdefault(labels, len(above)) if labels else -1)
        return first + len(above), np.array(symbols, dtype=np.int32), np.array(unary, dtype=np.int32)

    def right_rows(self, nodes: Sequence[BinaryNode]) -> Rows:
        """(spans, 5): begin, end, split or -1, binary rule or tag, unary rule: the right tree of a sentence."""
        rows = []
        for node, below in zip(nodes, parts_of(nodes)):
            symbol = self.ids[node.symbol]
            chain = [self.ids[each] for each in node.chain]
            unary = self.chain_ids[(chain[0], symbol, tuple(chain[1:])) if chain else (symbol, symbol, ())]
            rule = symbol
            if below is not None:
                rule = self.rules[symbol, self.ids[nodes[below[0]].top], self.ids[nodes[below[1]].top]]
            rows.append((node.start, node.end, -1 if node.split is None else node.split, rule, unary))
        return np.array(rows, dtype=np.int32)

    def tree(self, words: Sequence[str], tags: Sequence[str | None], edges: Iterable[Sequence[int]]) -> PhraseTree:
        """The tree of a derivation, rows (kind, begin, end, split, rule), those of parts first. `tags`: those known."""
        chains: dict[tuple[int, int], tuple[Symbol, ...]] = {}
        nodes: list[BinaryNode] = []
        pieces = False
        for kind, begin, end, split, rule in reversed(list(edges)):
            pieces = pieces or kind == 4
            if kind == 2:
                chains[begin, end] = self.labels_of_chain(rule)
            elif kind < 2:
                symbol = self.symbols[rule if kind == 0 else int(self.binary[rule, 0])]
                chain = chains.pop((begin, end), ())
                nodes.append(BinaryNode(begin, end, symbol, chain, split if kind == 1 else None))
        if pieces:
            nodes.insert(0, BinaryNode(0, len(words), Symbol("phrase", self.root_label)))
        found = unbinarised(words, nodes)
        known = [own if own is not None else tag for own, tag in zip(tags, found.tags)]
        return PhraseTree(found.words, known, found.phrases)

    def labels_of_chain(self, rule: int) -> tuple[Symbol, ...]:
        """The symbols of a unary rule above its child, from above."""
        parent, child = self.unary[rule].tolist()
        between = self.chains[rule]
        return tuple(self.symbols[s] for s in (parent, *between)) if parent != child or between else ()

    def rule_text(self, rule: int) -> str:
        parent, left, right = (str(self.symbols[s]) for s in self.binary[rule].tolist())
        return f"{parent} -> {left} {right}"

    # Files

    def stored(self) -> Stored:
        header = {
            "markovisation": [self.markovisation.horizontal, self.markovisation.vertical, self.markovisation.direction],
            "symbols": [[s.kind, s.label, list(s.parents), list(s.siblings)] for s in self.symbols],
            "chains": [list(chain) for chain in self.chains[len(self.symbols) :]],
        }
        arrays: dict[str, NDArray[Any]] = {
            "binary": self.binary,
            "binary_counts": self.binary_counts,
            "unary": self.unary[len(self.symbols) :],
            "unary_counts": self.unary_counts,
            "root_counts": self.root_counts,
        }
        return header, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> TreebankGrammar:
        try:
            markovisation = Markovisation(*file.value("markovisation", list))
        except (TypeError, ValueError) as error:
            raise file.error(f"its markovisation is wrong: {error}") from None
        symbols = tuple(_symbol(file, given) for given in file.value("symbols", list))
        n = len(symbols)
        if not n or len(set(symbols)) < n:
            raise file.error("its symbols should be different from each other, and at least one")
        chains = file.value("chains", list)
        if not all(isinstance(c, list) and all(type(s) is int and 0 <= s < n for s in c) for c in chains):
            raise file.error("its chains should be lists of symbols")
        binary = file.array("binary", np.int32, (None, 3), minimum=0, maximum=n - 1)
        unary = file.array("unary", np.int32, (len(chains), 2), minimum=0, maximum=n - 1)
        none = np.repeat(np.arange(n, dtype=np.int32), 2).reshape(n, 2)
        self = cls(
            markovisation,
            symbols,
            binary,
            restored_counts(file, "binary_counts", len(binary)),
            np.concatenate([none, unary]),
            ((),) * n + tuple(map(tuple, chains)),
            restored_counts(file, "unary_counts", n + len(chains)),
            restored_counts(file, "root_counts", n),
        )
        kinds = np.array([_KINDS.index(symbol.kind) for symbol in symbols])
        above = {s for chain in chains for s in chain} | set(unary[:, 0].tolist())
        if (
            len(self.rules) < len(binary)
            or len(self.chain_ids) < len(self.unary)
            or (kinds[binary[:, 0]] == 0).any()
            or any(kinds[s] != 1 for s in above)
            or (kinds[unary[:, 1]] == 2).any()
            or (kinds[self.root_counts > 0] == 2).any()
        ):
            raise file.error("its rules are not those of trees")
        if not set(self.tags.values()) <= set(self.unary[self.unary_counts > 0, 1].tolist()):
            raise file.error("its rules should leave each tag something that may be above it")
        return self


def parts_of(nodes: Sequence[BinaryNode]) -> list[tuple[int, int] | None]:
    """For each node of a tree in preorder the numbers of its two parts; None: it is a word."""
    parts: list[tuple[int, int] | None] = [None] * len(nodes)
    finished: dict[tuple[int, int], int] = {}
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if node.split is not None:
            parts[i] = finished[node.start, node.split], finished[node.split, node.end]
        finished[node.start, node.end] = i
    return parts


def _log_shares(counts: Doubles, groups: Rows, n_groups: int) -> Doubles:
    """log of each count's share of its group's; -inf for 0."""
    totals = np.bincount(groups, counts, minlength=n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(counts > 0, counts / totals[groups], 0.0)
        return np.asarray(np.log(shares), dtype=np.float64)


def _symbol(file: ModelFile, given: Any) -> Symbol:
    match given:
        case [str(kind), str(label), list(parents), list(siblings)] if kind in _KINDS and label:
            if all(isinstance(text, str) and text.split() == [text] for text in (label, *parents, *siblings)):
                return Symbol(kind, label, tuple(parents), tuple(siblings))
    raise file.error(f"{given!r} should be a symbol: its kind, label, parents and siblings")
