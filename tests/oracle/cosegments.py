"""Plain twins of co-segmentation: all alignments of a pair by recursion, EM by enumeration, Kneser-Ney on dicts.

A graphone is a pair of tuples (letters, phonemes). START and END stand around the graphones of a word.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

START, END = ("<start>", "<start>"), ("<end>", "<end>")
Graphone = tuple[Any, Any]
Gram = tuple[Graphone, ...]


def alignments(
    word: Sequence[int], spoken: Sequence[int], sizes: Sequence[tuple[int, int]]
) -> Iterator[list[Graphone]]:
    """All alignments of a pair by graphones of these sizes."""
    if not word and not spoken:
        yield []
    for a, b in sorted(set(sizes)):
        if a <= len(word) and b <= len(spoken):
            for rest in alignments(word[a:], spoken[b:], sizes):
                yield [(tuple(word[:a]), tuple(spoken[:b])), *rest]


def graphones_of_arrays(letter_ptr: Any, letters: Any, phoneme_ptr: Any, phonemes: Any) -> list[Graphone]:
    """Graphones from two lists of symbols and where those of each graphone begin."""
    return [
        (
            tuple(int(x) for x in letters[letter_ptr[u] : letter_ptr[u + 1]]),
            tuple(int(x) for x in phonemes[phoneme_ptr[u] : phoneme_ptr[u + 1]]),
        )
        for u in range(len(letter_ptr) - 1)
    ]


def grams(alignment: list[Graphone], order: int) -> list[Gram]:
    """The grams of an alignment: each graphone and the end, with the order - 1 before it, fewer at the start."""
    whole = [START, *alignment, END]
    return [tuple(whole[max(0, i - order + 1) : i + 1]) for i in range(1, len(whole))]


def log_probability(alignment: list[Graphone], model: dict[Gram, float], order: int) -> float:
    """Under a table from grams to probabilities; a gram that is not in it is impossible."""
    total = 0.0
    for gram in grams(alignment, order):
        p = model.get(gram, 0.0)
        if p == 0:
            return -math.inf
        total += math.log(p)
    return total


def em_step(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]],
    sizes: Sequence[tuple[int, int]],
    model: dict[Gram, float] | None,
    model_order: int,
    order: int,
) -> tuple[float, dict[Gram, float], dict[Gram, float]]:
    """(log-likelihood before, expected counts (4.12) of grams of `order` graphones, relative frequencies).

    `model` None: all graphones of all alignments, and the end, are alike.
    """
    everything = [list(alignments(word, spoken, sizes)) for word, spoken in pairs]
    if model is None:
        graphones = {graphone for listed in everything for alignment in listed for graphone in alignment}
        model = {(graphone,): 1 / (len(graphones) + 1) for graphone in (*graphones, END)}
        model_order = 1
    likelihood = 0.0
    counts: dict[Gram, float] = defaultdict(float)
    for listed in everything:
        scores = [log_probability(alignment, model, model_order) for alignment in listed]
        total = math.log(sum(map(math.exp, scores)))
        likelihood += total
        for alignment, score in zip(listed, scores):
            for gram in grams(alignment, order):
                counts[gram] += math.exp(score - total)
    after: dict[Gram, float] = defaultdict(float)
    for gram, count in counts.items():
        after[gram[:-1]] += count
    return likelihood, dict(counts), {gram: c / after[gram[:-1]] for gram, c in counts.items() if c > 0}


def discount(count: float, numbers: Sequence[float]) -> float:
    """What is taken off a count: the first number up to 1, the third from 3 on, in proportion between."""
    one, two, three = numbers
    if count <= 1:
        off = one
    elif count <= 2:
        off = one + (count - 1) * (two - one)
    elif count <= 3:
        off = two + (count - 2) * (three - two)
    else:
        off = three
    return min(off, count)


def kneser_ney(counts: dict[Gram, float], discounts: Sequence[Sequence[float]], n_graphones: int) -> Any:
    """A function p(graphone, history), smoothed by shorter histories; `counts` of the longest grams of a text."""
    order = max(map(len, counts))
    levels: list[dict[Gram, float]] = [defaultdict(float) for _ in range(order + 1)]
    for gram, count in counts.items():
        levels[len(gram)][gram] += count
    for k in range(order, 1, -1):
        for gram, count in levels[k].items():
            levels[k - 1][gram[1:]] += min(count, 1.0)

    def probability(graphone: Graphone, history: Gram) -> float:
        if history == (None,):  # below the empty history: all alike
            return 1 / (n_graphones + 1)
        shorter = probability(graphone, history[1:] if history else (None,))  # type: ignore[arg-type]
        here = {g: c for g, c in levels[len(history) + 1].items() if g[:-1] == history} if len(history) < order else {}
        total = sum(here.values())
        if total == 0:
            return shorter
        off = sum(discount(c, discounts[len(history)]) for c in here.values())
        own = here.get((*history, graphone), 0.0)
        return (own - discount(own, discounts[len(history)])) / total + off / total * shorter

    return probability
