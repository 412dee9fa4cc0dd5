"""Words that stand for numbers, in English: counts, ordinals, times of day, amounts of money.

Each reader takes words in lower case and gives the values that they may stand for, none if they are no such words. What
is no English belongs in a list of phrases of the domain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_UNITS = [
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = {word: value for value, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ORDINALS = {f"{word}th": value for word, value in _WORDS.items() if not word.endswith("y")}
_ORDINALS |= {f"{word[:-1]}ieth": value for word, value in _WORDS.items() if word.endswith("y")}
_ORDINALS |= {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12}
_DIGITS = re.compile(r"[0-9]{1,15}\Z")
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3}){1,4}\Z")
_DECIMAL = re.compile(r"[0-9]{1,15}\.[0-9]{1,15}\Z")
_ORDINAL = re.compile(r"([0-9]{1,3})(st|nd|rd|th)\Z")
_CLOCK = re.compile(r"([0-9]{1,2}?):?([0-9]{2})?([ap]\.?m\.?)?\Z")
_PARTS_OF_DAY = {"morning": "am", "afternoon": "pm", "evening": "pm", "night": "pm"}
_HALVES = {"am": "am", "a.m.": "am", "a.m": "am", "pm": "pm", "p.m.": "pm", "p.m": "pm"}


def numbers(words: Sequence[str]) -> tuple[int | str, ...]:
    """
    >>> numbers(["5"]), numbers(["1,000"]), numbers(["two", "hundred", "twenty", "one"]), numbers(["texas"])
    ((5,), (1000,), (221,), ())
    """
    if len(words) == 1:
        word = words[0]
        if _DIGITS.match(word) or _GROUPED.match(word):
            return (int(word.replace(",", "")),)
        if _DECIMAL.match(word):
            return (word,)
    value = _spelled(words)
    return () if value is None else (value,)


def ordinals(words: Sequence[str]) -> tuple[int | str, ...]:
    """
    >>> ordinals(["twenty", "seventh"]), ordinals(["3rd"]), ordinals(["seven"])
    ((27,), (3,), ())
    """
    if len(words) == 1 and (found := _ORDINAL.match(words[0])):
        return (int(found[1]),)
    parts = _split(words)
    if parts and parts[-1] in _ORDINALS:
        last = _ORDINALS[parts[-1]]
        if len(parts) == 1:
            return (last,)
        if len(parts) == 2 and parts[0] in _TENS and 0 < last < 10:
            return (_WORDS[parts[0]] + last,)
    return ()


def clock_times(words: Sequence[str]) -> tuple[int | str, ...]:
    """Hours and minutes as one number, 0 to 2400; without am or pm, both halves of the day.

    >>> clock_times(["5", "pm"]), clock_times(["530am"]), clock_times(["12", "noon"]), clock_times(["8", "o'clock"])
    ((1700,), (530,), (1200,), (800, 2000))
    """
    parts = list(words)
    half = ""
    if parts[-1:] in (["noon"], ["midnight"]):
        if len(parts) == 1 or parts[:-1] in (["12"], ["twelve"]):
            return (1200,) if parts[-1] == "noon" else (2400, 0)
        return ()
    if len(parts) > 2 and parts[-3:-1] in (["in", "the"], ["at", "the"]) and parts[-1] in _PARTS_OF_DAY:
        half, parts = _PARTS_OF_DAY[parts[-1]], parts[:-3]
    elif len(parts) > 2 and parts[-2:] == ["at", "night"]:
        half, parts = "pm", parts[:-2]
    if parts and parts[-1] in ("o'clock", "oclock"):
        parts = parts[:-1]
    if parts and parts[-1] in _HALVES and not half:
        half, parts = _HALVES[parts[-1]], parts[:-1]
    if parts and parts[-1] in ("o'clock", "oclock"):
        parts = parts[:-1]
    spelled = _clock(parts)
    if spelled is None:
        return ()
    hour, minute, own = spelled
    half = half or own
    if minute > 59 or hour > 24 or (half and hour > 12 and half == "am"):
        return ()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0) if hour <= 12 else hour
        return (100 * hour + minute,)
    later = (100 * (hour + 12) + minute,) if hour < 12 else ()
    return (100 * hour + minute, *later)


def dollars(words: Sequence[str]) -> tuple[int | str, ...]:
    """
    >>> dollars(["200", "dollars"]), dollars(["$", "1,500"]), dollars(["$80"]), dollars(["80"])
    ((200,), (1500,), (80,), ())
    """
    if len(words) > 1 and words[-1] in ("dollar", "dollars"):
        return numbers(words[:-1])
    if len(words) > 1 and words[0] == "$":
        return numbers(words[1:])
    return numbers([words[0][1:]]) if len(words) == 1 and words[0].startswith("$") else ()


def amounts(words: Sequence[str]) -> tuple[int | str, ...]:
    """Numbers, also of thousands.

    >>> amounts(["40k"]), amounts(["$", "40", "k"]), amounts(["40000"]), amounts(["40,000", "dollars"])
    ((40000,), (40000,), (40000,), (40000,))
    """
    plain = (*numbers(words), *dollars(words))
    if plain:
        return plain
    text = "".join(words).removeprefix("$")
    if text.endswith("k") and _DIGITS.match(text[:-1]) and len(text) < 10:
        return (1000 * int(text[:-1]),)
    return ()


READERS: dict[str, Callable[[Sequence[str]], tuple[int | str, ...]]] = {
    "number": numbers,
    "ordinal": ordinals,
    "clock": clock_times,
    "dollars": dollars,
    "amount": amounts,
}
"""The kinds of values that a domain may name."""


def _split(words: Sequence[str]) -> list[str]:
    return [part for word in words for part in word.split("-")]


def _spelled(words: Sequence[str]) -> int | None:
    """What number words stand for: twenty two, two hundred and five, fifteen hundred."""
    parts = [word for word in _split(words) if word != "and"]
    if not parts or "and" in (words[0], words[-1]):
        return None
    if parts == ["zero"]:
        return 0
    total = current = 0
    room, largest = 100, 1 << 40  # what is added next must be smaller, and of a smaller scale
    for word in parts:
        scale = _SCALES.get(word)
        value = _WORDS.get(word, 0)
        if scale == 100 and current < 100:
            current, room = max(current, 1) * 100, 100
        elif scale and scale > 100 and scale < largest and current:
            total, current, room, largest = total + current * scale, 0, 100, scale
        elif 0 < value < room and (value < 10 or room == 100):
            current, room = current + value, 10 if value >= 20 else 1
        else:
            return None
    return total + current


def _clock(words: Sequence[str]) -> tuple[int, int, str] | None:
    """Hour, minute, and am or pm where a word of digits carries it."""
    if len(words) == 1 and (found := _CLOCK.match(words[0])) and found[1]:
        return int(found[1]), int(found[2] or 0), _HALVES.get(found[3] or "", "")
    if not words:
        return None
    hour = numbers(words[:1])
    if len(words) == 1:
        return (int(hour[0]), 0, "") if hour and int(hour[0]) <= 24 else None
    minute = numbers(words[1:])
    if hour and minute and isinstance(minute[0], int) and int(hour[0]) <= 24 and 10 <= minute[0] < 60:
        return int(hour[0]), minute[0], ""
    return None
