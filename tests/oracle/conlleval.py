"""A plain twin of the CoNLL-2000 evaluation script `conlleval` (version 2004-01-26): its automaton, token by token.

It imports nothing of Margent and knows no spans: it walks over both label columns at once, asks at every token whether
a chunk ends before it and whether one starts at it, and keeps a flag "gold and guess have agreed since they both
started". `extended=True` adds what the script lacks for IOBES and BILOU: single-token chunks, and an end after `E`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

BOUNDARY = ("O", "")


def split(label: str, extended: bool) -> tuple[str, str]:
    tag, _, kind = label.partition("-")
    if kind == "0":  # false in Perl, hence taken for no type
        kind = ""
    return ({"L": "E", "U": "S"}.get(tag, tag) if extended else tag), kind


def end_of_chunk(last: tuple[str, str], now: tuple[str, str], extended: bool) -> bool:
    (last_tag, last_kind), (tag, kind) = last, now
    if last_tag + tag in ("BB", "BO", "IB", "IO", "EE", "EI", "EO"):
        return True
    if last_tag not in ("O", ".") and last_kind != kind:
        return True
    if last_tag in ("[", "]"):
        return True
    return extended and last_tag + tag in ("BS", "IS", "EB", "ES", "SB", "SI", "SE", "SS", "SO")


def start_of_chunk(last: tuple[str, str], now: tuple[str, str], extended: bool) -> bool:
    (last_tag, last_kind), (tag, kind) = last, now
    if last_tag + tag in ("BB", "IB", "OB", "OI", "EE", "EI", "OE"):
        return True
    if tag not in ("O", ".") and last_kind != kind:
        return True
    if tag in ("[", "]"):
        return True
    return extended and last_tag + tag in ("BS", "IS", "ES", "OS", "EB", "SB", "SI", "SE", "SS")


@dataclass
class Counts:
    tokens: int = 0
    correct_tags: int = 0
    correct_chunks: int = 0
    found_correct: int = 0
    found_guessed: int = 0
    correct_by_kind: Counter[str] = field(default_factory=Counter)
    gold_by_kind: Counter[str] = field(default_factory=Counter)
    guessed_by_kind: Counter[str] = field(default_factory=Counter)


def count(gold: list[list[str]], guessed: list[list[str]], extended: bool = False) -> Counts:
    counts = Counts()
    agree = False
    last_gold = last_guess = BOUNDARY
    for gold_labels, guessed_labels in zip(gold, guessed, strict=True):
        lines = [(split(a, extended), split(b, extended)) for a, b in zip(gold_labels, guessed_labels, strict=True)]
        # The script sees the empty line after a sentence as one more token with the label O on both sides.
        for position, (now_gold, now_guess) in enumerate([*lines, (BOUNDARY, BOUNDARY)]):
            gold_ends = end_of_chunk(last_gold, now_gold, extended)
            guess_ends = end_of_chunk(last_guess, now_guess, extended)
            if agree:
                if gold_ends and guess_ends and last_gold[1] == last_guess[1]:
                    agree = False
                    counts.correct_chunks += 1
                    counts.correct_by_kind[last_gold[1]] += 1
                elif gold_ends != guess_ends or now_gold[1] != now_guess[1]:
                    agree = False
            gold_starts = start_of_chunk(last_gold, now_gold, extended)
            guess_starts = start_of_chunk(last_guess, now_guess, extended)
            if gold_starts and guess_starts and now_gold[1] == now_guess[1]:
                agree = True
            if gold_starts:
                counts.found_correct += 1
                counts.gold_by_kind[now_gold[1]] += 1
            if guess_starts:
                counts.found_guessed += 1
                counts.guessed_by_kind[now_guess[1]] += 1
            if position < len(lines):
                counts.tokens += 1
                counts.correct_tags += now_gold == now_guess
            last_gold, last_guess = now_gold, now_guess
    if agree:
        counts.correct_chunks += 1
        counts.correct_by_kind[last_gold[1]] += 1
    return counts


def ratios(correct: int, gold: int, guessed: int) -> tuple[float, float, float]:
    """Precision, recall and F in per cent."""
    precision = 100 * correct / guessed if guessed else 0.0
    recall = 100 * correct / gold if gold else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def percentages(precision: float, recall: float, f1: float) -> str:
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


def text(counts: Counts) -> str:
    """What the script prints."""
    lines = [
        f"processed {counts.tokens} tokens with {counts.found_correct} phrases; "
        f"found: {counts.found_guessed} phrases; correct: {counts.correct_chunks}."
    ]
    if counts.tokens:
        overall = ratios(counts.correct_chunks, counts.found_correct, counts.found_guessed)
        lines.append(f"accuracy: {100 * counts.correct_tags / counts.tokens:6.2f}%; " + percentages(*overall))
    kinds: list[str] = []
    last = ""
    for kind in sorted([*counts.gold_by_kind, *counts.guessed_by_kind]):
        # As in Perl, where an empty string is false: the empty type is printed twice when it is on both sides.
        if not last or last != kind:
            kinds.append(kind)
        last = kind
    for kind in kinds:
        guessed = counts.guessed_by_kind[kind]
        row = ratios(counts.correct_by_kind[kind], counts.gold_by_kind[kind], guessed)
        lines.append(f"{kind:>17}: {percentages(*row)}  {guessed}")
    return "".join(line + "\n" for line in lines)
