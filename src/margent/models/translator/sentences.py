"""Source sentences as native code takes them: words by number, words that no rule has in pieces, atoms of templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from margent import _core
from margent.features.token_atoms import TokenAtoms
from margent.models.translator.language_model import LanguageModel
from margent.models.translator.options import CubePruning
from margent.models.translator.rule_table import RuleTable, SentenceRules
from margent.models.translator.unknown_words import known_pieces

Rows = tuple[NDArray[np.int64], NDArray[np.int32]]


def target_model(language: LanguageModel, table: RuleTable) -> _core.TargetModel:
    """A language model as the search takes it: of the words of target sides; 0 stands for those it does not have."""
    numbers = language.words.numbers(table.targets.words)
    return _core.TargetModel(language.grams, np.where(numbers > 0, numbers, -1).astype(np.int32), 0)


@dataclass(frozen=True, eq=False)
class EncodedSentences:
    """tokens : the words of each sentence, some of them pieces of words; native : what is searched"""

    tokens: list[list[str]]
    native: _core.Translations
    table: RuleTable

    @classmethod
    def of(
        cls,
        sentences: Sequence[Sequence[str]],
        table: RuleTable,
        languages: Sequence[_core.TargetModel],
        atoms: TokenAtoms,
        templates: _core.RuleTemplates,
        search: CubePruning,
        *,
        grow: bool = False,
        splits: bool = True,
        own: SentenceRules | None = None,
        folds: NDArray[np.int32] | None = None,
    ) -> EncodedSentences:
        """grow : new strings get atoms; splits : words that no rule has are read as pieces that rules have, if they can
        own : what each sentence added to the table, which is left out
        folds : which of the language models each sentence has; None: the first
        """
        tokens, pieces = list[list[str]](), list[int]()
        known = table.known_words() if splits else frozenset[str]()
        ids = table.sources.ids
        for sentence in sentences:
            tokens.append([])
            for word in sentence:
                parts = [word] if not splits or word in ids else known_pieces(word, known)
                tokens[-1].extend(parts)
                pieces.extend([int(len(parts) > 1)] * len(parts))
        ptr, words = table.sources.rows(tokens)
        encoded = atoms.encode([[(word,) for word in row] for row in tokens], grow=grow)
        native = _core.Translations(
            table.native,
            list(languages),
            templates,
            ptr,
            words,
            encoded.atoms,
            np.array(pieces, np.uint8),
            int(search.span_limit),
            int(search.most_options),
            None if own is None else _core.RuleSources(table.native, *own),
            folds,
        )
        return cls(tokens, native, table)

    def __len__(self) -> int:
        return len(self.tokens)

    def words(self, sentence: int, numbers: Sequence[int]) -> list[str]:
        """A translation: target words, and words of the source that pass through."""
        known, n = self.table.targets.words, len(self.table.targets)
        return [known[number] if number < n else self.tokens[sentence][number - n] for number in numbers]

    def references(
        self, references: Sequence[Sequence[Sequence[str]]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """(where those of each sentence begin, where the words of each begin, words) of right translations.

        A word that no rule says has the number of the same word in the source, through which it may come, or one that
        no translation has.
        """
        ids, n = self.table.targets.ids, len(self.table.targets)
        rows = []
        for tokens, several in zip(self.tokens, references):
            places = {word: n + place for place, word in reversed(list(enumerate(tokens)))}
            rows.extend([[ids.get(word, places.get(word, n + len(tokens))) for word in one] for one in several])
        return (
            np.cumsum([0, *map(len, references)], dtype=np.int64),
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([number for row in rows for number in row], np.int32),
        )
