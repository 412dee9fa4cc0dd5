"""Twin of the linear entailment classifier: every alignment with every relation of every node, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product

Weight = Callable[[str, tuple[int, ...]], float]
"""From the text of a feature and its column: a label, or three of them for a rule."""
MATCHES = ("not aligned", "the same word", "the same beginning", "another word")


def match(h: str, p: str | None) -> int:
    if p is None:
        return 0
    return 1 if h == p else 2 if h[:4] == p[:4] and len(h) >= 4 and len(p) >= 4 else 3


def ending(word: str) -> str:
    return word[-3:] if len(word) >= 3 else "(unknown or none)"


def candidates(premise: Sequence[str], hypothesis: Sequence[str], k: int) -> list[list[int | None]]:
    """For each word of the hypothesis the k most promising words of the premise, and none."""
    found = []
    for i, h in enumerate(hypothesis):

        def promise(j: int, i: int = i, h: str = h) -> float:
            m = match(h, premise[j])
            apart = abs(i / len(hypothesis) - j / len(premise))
            return 4 * (m == 1) + 2 * (m == 2) + (premise[j] not in hypothesis) - apart

        order = sorted(range(len(premise)), key=lambda j: (-promise(j), j))
        found.append([*order[:k], None])
    return found


def pair_features(premise: Sequence[str], hypothesis: Sequence[str], i: int, j: int | None) -> Iterator[str]:
    h, p = hypothesis[i], None if j is None else premise[j]
    m = match(h, p)
    yield MATCHES[m]
    if m != 1:
        yield f"{h} ~ {p or '(unknown or none)'}"
    if j is not None:
        before = i > 0 and j > 0 and hypothesis[i - 1] == premise[j - 1]
        after = hypothesis[i + 1 : i + 2] == premise[j + 1 : j + 2] != []
        yield f"{MATCHES[m]}, neighbours {before + 2 * after}"
        apart = abs(i / len(hypothesis) - j / len(premise))
        yield f"{MATCHES[m]}, distance {int(min(5 * apart, 4))}"
    yield f"{h}: {MATCHES[m]}"
    if p is not None:
        yield f"-{ending(h)} ~ -{ending(p)}"
    yield f"{MATCHES[m]}, found elsewhere {(h in premise) + 2 * (p is not None and p in hypothesis)}"
    if p is not None:
        yield f"{MATCHES[m]} as {p}"


def whole_features(premise: Sequence[str], hypothesis: Sequence[str]) -> Iterator[str]:
    new = [h for h in hypothesis if h not in premise]
    unsaid = [p for p in premise if p not in hypothesis]
    yield "always"
    yield f"{min(len(new), 9)} words of the hypothesis are new, {min(len(unsaid), 9)} of the premise are not said"
    for h in hypothesis:
        yield f"hypothesis has {h}, {'as the premise' if h in premise else 'which the premise does not'}"
    for p in unsaid:
        yield f"premise has {p}, which the hypothesis does not"
    yield f"length {min(len(hypothesis), 15)} and {min(len(premise), 30)}"


def derivations(
    premise: Sequence[str],
    hypothesis: Sequence[str],
    parts: Sequence[tuple[int, int]] | None,
    label: int,
    n_labels: int,
    k: int,
    weight: Weight,
) -> Iterator[float]:
    """The score of every derivation with this label. `parts`: of phrases, where relations are composed."""
    whole = sum(weight(text, (label,)) for text in whole_features(premise, hypothesis))
    choices = candidates(premise, hypothesis, k)
    n = len(hypothesis)
    n_nodes = n + len(parts or ())
    for relations in [(label,) * n] if parts is None else product(range(n_labels), repeat=n_nodes):
        if relations[-1] != label:
            continue
        composed = 0.0
        for node, (left, right) in enumerate(parts or (), start=n):
            texts = ["always"]
            texts += [f"after {hypothesis[left]}"] if left < n else []
            texts += [f"before {hypothesis[right]}"] if right < n else []
            column = (relations[left], relations[right], relations[node])
            composed += sum(weight(text, column) for text in texts)
        for alignment in product(*choices):
            yield (
                whole
                + composed
                + sum(
                    weight(text, (relations[i],))
                    for i, j in enumerate(alignment)
                    for text in pair_features(premise, hypothesis, i, j)
                )
            )


def log_sum(scores: Sequence[float]) -> float:
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))
