"""Support sequences: the wrong labellings of training sentences that the weights of a dual learner are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from margent.features.encoded import sequence_ptr
from margent.printable import printable
from margent.storage import ModelFile, string_arrays

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ids = NDArray[np.int32]

_UNKNOWN = "?"  # a label that was not given


class SupportSequence(NamedTuple):
    """A wrong labelling, and its dual variable: how hard the model has to work against it."""

    weight: float
    labels: list[str]


@dataclass(frozen=True)
class SupportSequences:
    """One training sentence with its right labels and its support sequences, the heaviest first (paper 001, Fig. 2).

    `tokens` are the words, or numbers where the input was not text; `gold` has None where no label was given. Both are
    empty where the sentence has no support sequences: its margin holds without them. Printed, it shows of each support
    sequence only the labels that differ from the right ones.
    """

    number: int
    tokens: tuple[str, ...]
    gold: tuple[str | None, ...]
    sequences: tuple[SupportSequence, ...]

    def __str__(self) -> str:
        if not self.sequences:
            return f"sentence {self.number} has no support sequences"
        gold = [_UNKNOWN if label is None else label for label in self.gold]
        rows = [list(self.tokens), gold, *(self._differences(sequence) for sequence in self.sequences)]
        rows = [list(map(printable, row)) for row in rows]
        widths = [max(map(len, column)) for column in zip(*rows)]
        heads = ["", "gold", *(f"{sequence.weight:.4g}" for sequence in self.sequences)]
        margin = max(map(len, heads))
        lines = [
            " ".join([f"{head:>{margin}}", *(f"{cell:{width}}" for cell, width in zip(row, widths))]).rstrip()
            for head, row in zip(heads, rows)
        ]
        return "\n".join([f"sentence {self.number}: {len(self.sequences)} support sequences", *lines])

    def _differences(self, sequence: SupportSequence) -> list[str]:
        return ["." if label == gold else label for label, gold in zip(sequence.labels, self.gold)]

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """The same as a picture: a row for each support sequence, the stronger the colour, the heavier it is."""
        from margent.metrics.drawing import BLUE, INK, RED, finished, new_figure

        if not self.sequences:
            raise ValueError(f"sentence {self.number} has no support sequences, so there is nothing to draw")
        n, rows = len(self.tokens), len(self.sequences)
        longest = max(len(text) for text in [*self.tokens, *(label or _UNKNOWN for label in self.gold)])
        figure = new_figure(1.2 + n * max(0.35, 0.09 * longest), 0.9 + 0.3 * (rows + 2))
        axes = figure.add_subplot()
        heaviest = max(sequence.weight for sequence in self.sequences) or 1.0
        look: Any = {"ha": "center", "va": "center", "fontsize": 9, "parse_math": False}  # a $ is a $
        for t, (token, gold) in enumerate(zip(self.tokens, self.gold)):
            axes.text(t, -1, token, color=INK, **look)
            axes.text(t, 0, gold or _UNKNOWN, color=BLUE, fontweight="bold", **look)
            for row, sequence in enumerate(self.sequences, 1):
                if sequence.labels[t] != gold:
                    share = 0.15 + 0.6 * sequence.weight / heaviest
                    axes.fill_between([t - 0.5, t + 0.5], row - 0.45, row + 0.45, color=RED, alpha=share, linewidth=0)
                    axes.text(t, row, sequence.labels[t], color=INK, **look)
        weights = [f"{sequence.weight:.3g}" for sequence in self.sequences]
        axes.set_yticks([0, *range(1, rows + 1)], ["right labels", *weights], fontsize=9, color=INK)
        axes.set_xticks([])
        axes.set_xlim(-0.7, n - 0.3)
        axes.set_ylim(rows + 0.7, -1.7)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(f"Support sequences of sentence {self.number}", color=INK, fontsize=10, loc="left")
        return finished(figure, path)


class SupportSet:
    """The support sequences of all training sentences that have some.

    n_sentences : how many sentences there were; `numbers` (s,): which of them have support sequences
    ptr, gold, tokens : sentence j is tokens `ptr[j]` to `ptr[j + 1] - 1`
    owners, weights, labels : sequence q is of sentence `owners[q]`, one after the other, labels as long as those
    """

    def __init__(
        self,
        n_sentences: int,
        numbers: NDArray[np.int64],
        ptr: NDArray[np.int64],
        gold: Ids,
        tokens: list[str],
        owners: NDArray[np.int64],
        weights: NDArray[np.float64],
        labels: Ids,
    ) -> None:
        self.n_sentences, self.numbers, self.ptr, self.gold, self.tokens = n_sentences, numbers, ptr, gold, tokens
        self.owners, self.weights, self.labels = owners, weights, labels
        self._starts = sequence_ptr(np.diff(ptr)[owners])

    @classmethod
    def of(cls, support: list[tuple[int, float, Ids]], X: Any, gold: Ids, ptr: NDArray[np.int64]) -> SupportSet:
        """From what a training gives; `gold` are the label ids of all sentences, `ptr` where each begins."""
        support = sorted(support, key=lambda s: (s[0], -s[1]))
        numbers = np.unique(np.array([example for example, _, _ in support], dtype=np.int64))
        places = [np.arange(ptr[i], ptr[i + 1]) for i in numbers]
        return cls(
            len(ptr) - 1,
            numbers,
            sequence_ptr(np.diff(ptr)[numbers]),
            gold[np.concatenate(places)] if places else gold[:0],
            [token for i in numbers for token in _words(X[int(i)], int(ptr[i + 1] - ptr[i]))],
            np.searchsorted(numbers, [example for example, _, _ in support]).astype(np.int64),
            np.array([weight for _, weight, _ in support], dtype=np.float64),
            np.concatenate([labels for _, _, labels in support]) if support else gold[:0],
        )

    def __len__(self) -> int:
        """How many support sequences there are."""
        return len(self.weights)

    def heaviest(self, n: int) -> list[int]:
        """The n sentences whose support sequences weigh most together: what was hard to learn. The heaviest first."""
        totals = np.bincount(self.owners, self.weights, minlength=len(self.numbers))
        return [int(number) for number in self.numbers[np.argsort(-totals, kind="stable")[:n]]]

    def of_sentence(self, number: int, names: Sequence[str]) -> SupportSequences:
        """Those of one sentence, with its labels by name."""
        j = int(np.searchsorted(self.numbers, number))
        if j == len(self.numbers) or self.numbers[j] != number:
            return SupportSequences(number, (), (), ())
        here = slice(int(self.ptr[j]), int(self.ptr[j + 1]))
        sequences = [
            SupportSequence(
                float(self.weights[q]), [names[y] for y in self.labels[self._starts[q] : self._starts[q + 1]]]
            )
            for q in np.flatnonzero(self.owners == j)
        ]
        gold = tuple(None if y < 0 else names[y] for y in self.gold[here])
        return SupportSequences(number, tuple(self.tokens[here]), gold, tuple(sequences))

    def stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header entries and arrays for a model file."""
        arrays: dict[str, NDArray[Any]] = {
            "support.numbers": self.numbers,
            "support.ptr": self.ptr,
            "support.gold": self.gold,
            "support.owners": self.owners,
            "support.weights": self.weights,
            "support.labels": self.labels,
        }
        return {"support_sentences": self.n_sentences}, arrays | string_arrays("support.tokens", self.tokens)

    @classmethod
    def restored(cls, file: ModelFile, n_labels: int) -> SupportSet | None:
        """The set in a file; None if there is none."""
        if file.header.get("support_sentences") is None:
            return None
        n = file.value("support_sentences", int, minimum=0)
        numbers = file.array("support.numbers", np.int64, (None,), minimum=0, maximum=n - 1)
        if (np.diff(numbers) <= 0).any():
            raise file.error("array 'support.numbers' should rise")
        gold = file.array("support.gold", np.int32, (None,), minimum=-1, maximum=n_labels - 1)
        ptr = file.row_starts("support.ptr", len(gold), len(numbers))
        tokens = file.strings("support.tokens")
        owners = file.array("support.owners", np.int64, (None,), minimum=0, maximum=len(numbers) - 1)
        weights = file.array("support.weights", np.float64, (len(owners),), minimum=0, finite=True)
        labels = file.array("support.labels", np.int32, (None,), minimum=0, maximum=n_labels - 1)
        if len(tokens) != len(gold) or len(labels) != np.diff(ptr)[owners].sum():
            raise file.error("its support sequences should be as long as their sentences")
        return cls(n, numbers, ptr, gold, tokens, owners, weights, labels)


def _words(sentence: Any, length: int) -> list[str]:
    """The words of a sentence, or the numbers of its tokens where it is not text."""
    if isinstance(sentence, (list, tuple)) and len(sentence) == length:
        words = [token[0] if isinstance(token, (tuple, list)) and token else token for token in sentence]
        if all(isinstance(word, str) for word in words):
            return [str(word) for word in words]
    return [str(t) for t in range(length)]
