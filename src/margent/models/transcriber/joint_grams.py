"""The joint model of letters and phonemes: graphones, grams of them, and the names of their symbols."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import _core, storage
from margent.models.transcriber.options import AlignmentBeam
from margent.parameters import LARGEST
from margent.storage import ModelFile
from margent.structures.cosegments import native_pairs

_GRAPHONE_ARRAYS = ("unit.letter_ptr", "unit.letters", "unit.phoneme_ptr", "unit.phonemes")
_GRAM_ARRAYS = ("gram.begin", "gram.unit", "gram.suffix", "gram.log_p", "gram.backoff")
_GRAM_TYPES = (np.int32, np.int32, np.int32, np.float32, np.float32)
INSERTIONS = 8
"""How many graphones without letters may follow each other in a search: "w" in an acronym is read with six phonemes."""


class Alphabet:
    """Symbols and their numbers, in the order first seen."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self.names = list(names)
        self.ids = {name: number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.names)

    def grown(self, symbols: Iterable[str]) -> list[int]:
        """The numbers of symbols; new ones get the next."""
        ids = self.ids
        numbers = []
        for symbol in symbols:
            if symbol not in ids:
                ids[symbol] = len(ids)
                self.names.append(symbol)
            numbers.append(ids[symbol])
        return numbers


class JointGrams:
    """A frozen model. `weights`: graphones and grams as arrays, as `EM` leaves them."""

    def __init__(self, letters: Alphabet, phonemes: Alphabet, weights: dict[str, Any]) -> None:
        self.letters, self.phonemes = letters, phonemes
        self._graphones = _core.Graphones.of(*weights["graphones"])
        self._grams = _core.GramModel.stored(len(self._graphones), *weights["grams"])
        self._sides = weights["graphones"]
        self.discounts: NDArray[np.float64] | None = weights.get("discounts")
        """(order, 3): what was taken off counts up to 1, of 2, and of 3 and more; None: not known."""
        self._beam, self._prune_count = weights.get("counting", (0, 0.0))  # how the grams were counted

    @property
    def order(self) -> int:
        return self._grams.order

    @property
    def graphones(self) -> _core.Graphones:
        return self._graphones

    @property
    def grams(self) -> _core.GramModel:
        return self._grams

    @property
    def n_graphones(self) -> int:
        return len(self._graphones)

    @property
    def n_grams(self) -> int:
        return len(self._grams) - 1

    def grams_by_order(self) -> list[int]:
        """How many grams there are of 1, 2, ... graphones."""
        begin = self._grams.arrays()[0].tolist()  # level by level: where the continuations of each gram begin
        counts, first, last = [], 0, 1
        for _ in range(self.order):
            first, last = begin[first], begin[last]
            counts.append(last - first)
        return counts

    def graphone_probabilities(self) -> NDArray[np.float64]:
        """(graphones,): p(graphone) without any history."""
        begin, graphone, _, log_p, _ = self._grams.arrays()
        found = np.zeros(self.n_graphones + 2)  # with the end and the start
        single = slice(int(begin[0]), int(begin[1]))
        found[graphone[single]] = np.exp(log_p[single])
        return found[: self.n_graphones]

    def graphone(self, number: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The letters and the phonemes of a graphone."""
        letter_ptr, letters, phoneme_ptr, phonemes = self._sides
        return (
            tuple(self.letters.names[s] for s in letters[letter_ptr[number] : letter_ptr[number + 1]]),
            tuple(self.phonemes.names[s] for s in phonemes[phoneme_ptr[number] : phoneme_ptr[number + 1]]),
        )

    def listed(self, words: Sequence[Sequence[int]], k: int, search: AlignmentBeam, threads: int) -> tuple[Any, ...]:
        """The k best pronunciations of each word, best first; none where the word cannot be read with the graphones.

        How many for each word, their scores log p(word, pronunciation), and (ptr, symbols) of phonemes and of the
        graphones of the best alignment.
        """
        pairs, width, threshold = native_pairs(words, [()] * len(words)), search.width or 0, float(search.threshold)
        options = k, width, threshold, bool(search.sum_alignments), INSERTIONS, threads
        return _core.transcribe(self._graphones, self._grams, pairs, *options)

    def without(self, pairs: _core.SpellingPairs, first: int, last: int, discounts: Any, threads: int) -> JointGrams:
        """The model as if it had not seen pairs [first, last): counts of all others, expected under this model."""
        counts = _core.GramCounts()
        for begin, end in ((0, first), (last, len(pairs))):
            for at in range(begin, end, _SLICE):
                stop = min(end, at + _SLICE)
                _core.expect_grams(
                    self._graphones,
                    self._grams,
                    pairs,
                    at,
                    stop,
                    self.order,
                    self._beam,
                    self._prune_count,
                    threads,
                    counts,
                )
        grams = _core.GramModel.of(counts, len(self._graphones))
        grams.estimate(discounts)
        weights = {"graphones": self._graphones.arrays(), "grams": grams.trimmed().arrays()}
        return JointGrams(self.letters, self.phonemes, weights)

    def align(
        self, words: Sequence[Sequence[int]], pronunciations: Sequence[Sequence[int]], threads: int
    ) -> tuple[NDArray[np.float64], list[NDArray[np.int32]]]:
        """The best alignment of each pair, exactly: its log-probability (-inf: there is none) and its graphones."""
        scores, (ptr, graphones) = _core.align_pairs(
            self._graphones, self._grams, native_pairs(words, pronunciations), 0, True, threads
        )
        return scores, np.split(graphones, ptr[1:-1])

    def log_probabilities(
        self, words: Sequence[Sequence[int]], pronunciations: Sequence[Sequence[int]], threads: int
    ) -> NDArray[np.float64]:
        """log p(word, pronunciation), summed over all alignments, exactly."""
        pairs = native_pairs(words, pronunciations)
        scores, _ = _core.align_pairs(self._graphones, self._grams, pairs, 0, False, threads)
        return scores

    def stored(self) -> dict[str, Any]:
        """The arrays for a model file."""
        found = {} if self.discounts is None else {"gram.discounts": self.discounts}
        return {
            **found,
            **storage.string_arrays("letters", self.letters.names),
            **storage.string_arrays("phonemes", self.phonemes.names),
            **dict(zip(_GRAPHONE_ARRAYS, self._graphones.arrays())),
            **dict(zip(_GRAM_ARRAYS, self._grams.arrays())),
        }

    @classmethod
    def restored(cls, file: ModelFile) -> JointGrams:
        """The model in a file, everything in it checked."""
        letters, phonemes = Alphabet(file.strings("letters")), Alphabet(file.strings("phonemes"))
        if len(letters.ids) != len(letters) or len(phonemes.ids) != len(phonemes):
            raise file.error("its letters and phonemes should be different from each other")
        sides: list[Any] = []
        for ptr, ids, alphabet in zip(_GRAPHONE_ARRAYS[::2], _GRAPHONE_ARRAYS[1::2], (letters, phonemes)):
            symbols = file.array(ids, np.int32, (None,), minimum=0, maximum=len(alphabet) - 1)
            sides += [file.row_starts(ptr, len(symbols)), symbols]
        discounts = None
        if "gram.discounts" in file.arrays:  # older files have none
            discounts = file.array("gram.discounts", np.float64, (None, 3), minimum=0, maximum=LARGEST)
        grams = [file.array(name, kind, (None,)) for name, kind in zip(_GRAM_ARRAYS, _GRAM_TYPES)]
        try:
            return cls(letters, phonemes, {"graphones": tuple(sides), "grams": tuple(grams), "discounts": discounts})
        except ValueError as error:
            raise file.error(f"its graphones or grams are wrong: {error}") from None


# As in `EM`, whose counts are made again without some of the pairs.
_SLICE = 4096
