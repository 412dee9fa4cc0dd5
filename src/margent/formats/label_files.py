"""Label files: which sound is when. TIMIT, HTK, xwaves (festival), Praat and Audacity have one each; all are read into
`Interval`s in seconds, and written from them.

| format | an interval | file names |
| --- | --- | --- |
| `"timit"` | first sample, end sample, label | `.phn`, `.wrd` |
| `"htk"` | start and end in units of 100 ns, label | `.lab`, `.rec` |
| `"mlf"` | HTK's master label file: many files of labels in one | `.mlf` |
| `"xwaves"` | end in seconds, a colour, label; after a heading that ends in `#` | `.lab` |
| `"textgrid"` | Praat, long or short text format | `.TextGrid` |
| `"audacity"` | start and end in seconds, label; tabs between them | `.txt` |
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from margent.annotation.intervals import Interval, check_intervals, interval_problem
from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import SourceLike, TargetLike, open_target, read_text
from margent.formats.textgrid import textgrid_tiers, write_textgrid

LABEL_FORMATS = ("timit", "htk", "mlf", "xwaves", "textgrid", "audacity")
"""The names of the formats."""

HTK_UNIT = 1e-7
"""Seconds: times in HTK's files are multiples of it."""

_ENDINGS = {
    ".phn": "timit",
    ".wrd": "timit",
    ".lab": "htk",
    ".rec": "htk",
    ".mlf": "mlf",
    ".textgrid": "textgrid",
    ".txt": "audacity",
}
_MLF_HEADING = "#!MLF!#"
_NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
_AUDACITY = re.compile(rf"{_NUMBER}\t{_NUMBER}(\t|$)")

Line = tuple[int, str]


class _Problem(Exception):
    """What is wrong in a line; the reader of the file adds where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def read_labels(
    source: SourceLike,
    format: str | None = None,
    *,
    rate: int = 16000,
    tier: str | None = None,
    encoding: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Interval]:
    """Read a label file: intervals (start, end, label) in seconds, in the order of time.

    Parameters
    ----------
    source : path, "-", bytes or open file
    format : one of LABEL_FORMATS, or None
        None: it is seen from what the file holds, or else from the ending of its name.
    rate : int
        Samples per second, for "timit".
    tier : str or None
        Which interval tier of a TextGrid, by its name. None: the only one.
    encoding : str or None
        None: UTF-8, or UTF-16 where the file says so.
    limits : Limits
        How large the file may be.

    Intervals that overlap are a `CorpusError`; gaps between them are not, as `segments_of_intervals` deals with those.

    >>> read_labels(b"0.5\\t1.0\\thello\\n")
    [Interval(start=0.5, end=1.0, label='hello')]
    """
    name, text = read_text(source, encoding, limits)
    chosen = label_format(text, name) if format is None else _known(format)
    if chosen == "textgrid":
        return _only(textgrid_tiers(name, text), tier, name, "tier")
    if chosen == "mlf":
        return _only(_mlf_utterances(name, text), None, name, "file of labels")
    if rate <= 0:
        raise ValueError(f"expected rate > 0 in samples per second, got {rate}")
    read: dict[str, Callable[[Iterator[Line]], Iterator[tuple[int, Interval]]]] = {
        "timit": lambda lines: _read_timit(lines, rate),
        "htk": _read_htk,
        "xwaves": _read_xwaves,
        "audacity": _read_audacity,
    }
    return _in_order(read[chosen](_lines(text)), name)


def read_mlf(
    source: SourceLike, *, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> dict[str, list[Interval]]:
    """Read a master label file of HTK: from the name of each utterance (without folder and ending) to its intervals."""
    return _mlf_utterances(*read_text(source, encoding, limits))


def _mlf_utterances(name: str, text: str) -> dict[str, list[Interval]]:
    lines = _lines(text)
    number, heading = next(lines, (1, ""))
    if heading.strip() != _MLF_HEADING:
        raise CorpusError(f"{name}, line {number}: expected {_MLF_HEADING}, got {heading!r}")
    utterances: dict[str, list[Interval]] = {}
    for number, line in lines:
        if not line.strip():
            continue
        pattern, rest = _htk_word(line.strip())
        utterance = os.path.splitext(pattern.replace("\\", "/").rpartition("/")[2])[0]
        if rest or not line.lstrip().startswith(('"', "'")):
            raise CorpusError(f'{name}, line {number}: expected the name of an utterance ("*/a.lab"), got {line!r}')
        if utterance in utterances:
            raise CorpusError(f"{name}, line {number}: the utterance {utterance!r} is there twice")
        body: list[Line] = []
        for inner in lines:
            if inner[1].strip() == ".":
                break
            body.append(inner)
        else:
            raise CorpusError(f"{name}, line {number}: the labels of {utterance!r} do not end; expected a '.'")
        utterances[utterance] = _in_order(_read_htk(iter(body)), name)
    return utterances


def write_labels(
    target: TargetLike,
    intervals: Iterable[tuple[float, float, str]],
    format: str | None = None,
    *,
    rate: int = 16000,
    tier: str = "labels",
    encoding: str = "utf-8",
) -> None:
    """Write intervals in seconds as a label file.

    Parameters
    ----------
    target : path, "-" or open file
    format : one of LABEL_FORMATS, or None
        None: it is chosen by the ending of the name, where `.lab` means HTK and `.txt` Audacity. For a master label
        file use `write_mlf`.
    rate : int
        Samples per second, for "timit".
    tier : str
        The name of the tier in a TextGrid.

    TIMIT and HTK have times of their own, integers of samples and of 100 ns, to which times are rounded. The
    xwaves format cannot say where an interval begins: one that does not begin where the one before it ends is an error.
    """
    path = os.fspath(target) if isinstance(target, (str, os.PathLike)) else ""
    chosen = _ENDINGS.get(_ending(path)) if format is None else _known(format)
    if chosen is None:
        raise CorpusError(f"{path or 'the target'}: expected an ending that names a format ({_endings()}), or a format")
    checked = check_intervals(intervals)
    if chosen == "textgrid":
        return write_textgrid(target, {tier: checked}, encoding=encoding)
    if chosen == "mlf":
        raise CorpusError("a master label file holds many utterances; expected it to be written by write_mlf")
    if rate <= 0:
        raise ValueError(f"expected rate > 0 in samples per second, got {rate}")
    # Nothing is written before all of it is known to be good.
    lines = list(_WRITERS[chosen](checked, rate))
    with open_target(target, encoding) as write:
        write("".join(lines))
    return None


def write_mlf(
    target: TargetLike, utterances: Mapping[str, Iterable[tuple[float, float, str]]], *, encoding: str = "utf-8"
) -> None:
    """Write a master label file of HTK, from the name of each utterance to its intervals in seconds."""
    parts = [_MLF_HEADING + "\n"]
    for name, intervals in utterances.items():
        if '"' in name or "\n" in name:
            raise CorpusError(f"{name!r}: expected the name of an utterance without quotes and line ends")
        parts += [f'"*/{name}.lab"\n', *_htk_lines(check_intervals(intervals, f"utterance {name!r}"), 0), ".\n"]
    with open_target(target, encoding) as write:
        write("".join(parts))


def label_format(text: str, name: str = "the file") -> str:
    """The format of a label file, from its text, or where that could be two things from the ending of its name."""
    head = text.lstrip()
    if head.startswith(_MLF_HEADING):
        return "mlf"
    if "ooTextFile" in head[:100] or head.startswith("ooBinaryFile"):
        return "textgrid"
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if "#" in lines:
        return "xwaves"
    if lines and all(_AUDACITY.match(line) or line.startswith("\\") for line in lines):
        return "audacity"
    ending = _ENDINGS.get(_ending(name))
    if ending in ("timit", "htk"):
        return ending
    raise CorpusError(
        f"{name}: cannot tell the format of the labels; expected it to be named, one of {', '.join(LABEL_FORMATS)}"
    )


def _known(format: str) -> str:
    if format not in LABEL_FORMATS:
        raise CorpusError(f"unknown label format {format!r}; the formats are {', '.join(LABEL_FORMATS)}")
    return format


def _ending(name: str) -> str:
    return os.path.splitext(name.lower().removesuffix(".gz"))[1]


def _endings() -> str:
    return ", ".join(_ENDINGS)


def _only(found: Mapping[str, list[Interval]], wanted: str | None, name: str, what: str) -> list[Interval]:
    names = ", ".join(map(repr, found)) or "none"
    if wanted is None and len(found) != 1:
        raise CorpusError(f"{name}: expected one {what} or the name of one of them, found {len(found)} ({names})")
    if wanted is not None and wanted not in found:
        raise CorpusError(f"{name}: there is no {what} {wanted!r}; found {names}")
    return found[next(iter(found)) if wanted is None else wanted]


def _lines(text: str) -> Iterator[Line]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1))


def _in_order(read: Iterator[tuple[int, Interval]], name: str) -> list[Interval]:
    intervals: list[Interval] = []
    try:
        for line, interval in read:
            problem = interval_problem(interval, intervals[-1].end if intervals else 0.0)
            if problem:
                raise _Problem(line, problem)
            intervals.append(interval)
    except _Problem as problem_found:
        raise CorpusError(f"{name}, line {problem_found.line}: {problem_found}") from None
    return intervals


def _expected(number: int, line: str, what: str) -> NoReturn:
    raise _Problem(number, f"expected {what}, got {line!r}")


def _read_timit(lines: Iterator[Line], rate: int) -> Iterator[tuple[int, Interval]]:
    for number, line in lines:
        fields = line.split(maxsplit=2)
        if not fields:
            continue
        if len(fields) != 3 or not all(map(_WHOLE.fullmatch, fields[:2])):
            _expected(number, line, "the first sample, the end sample and a label")
        yield number, Interval(int(fields[0]) / rate, int(fields[1]) / rate, fields[2].strip())


def _read_htk(lines: Iterator[Line]) -> Iterator[tuple[int, Interval]]:
    for number, line in lines:
        fields = line.split(maxsplit=2)
        if not fields:
            continue
        if fields[0] == "///":  # what follows are other readings of the same
            return
        if len(fields) != 3 or not all(map(_WHOLE.fullmatch, fields[:2])):
            _expected(number, line, "a start and an end in units of 100 ns and a label")
        # Scores and labels of higher levels may follow the label.
        start, end = (round(int(field) * HTK_UNIT, 7) for field in fields[:2])
        yield number, Interval(start, end, _htk_word(fields[2])[0])


def _htk_word(text: str) -> tuple[str, str]:
    """The first word, without the quotes that it may have, and the rest."""
    quote = text[:1]
    if quote in ('"', "'") and quote in text[1:]:
        word, _, rest = text[1:].partition(quote)
        return word, rest.strip()
    word, *rest_of_it = text.split(maxsplit=1)
    return word, "".join(rest_of_it)


def _read_xwaves(lines: Iterator[Line]) -> Iterator[tuple[int, Interval]]:
    separator, begun, end = ";", False, 0.0
    first: Line | None = None
    for number, line in lines:
        fields = line.split(maxsplit=2)
        if not begun:
            first = first or ((number, line) if fields else None)
            begun = line.strip() == "#"
            if len(fields) == 2 and fields[0] == "separator":
                separator = fields[1]
            continue
        if not fields:
            continue
        if len(fields) < 2 or not re.fullmatch(_NUMBER, fields[0]):
            _expected(number, line, "an end in seconds, a colour and a label")
        start, end = end, float(fields[0])
        yield number, Interval(start, end, fields[2].partition(separator)[0].strip() if len(fields) == 3 else "")
    if first and not begun:
        _expected(*first, "a heading of xwaves, which ends with a line '#'; there is none")


def _read_audacity(lines: Iterator[Line]) -> Iterator[tuple[int, Interval]]:
    for number, line in lines:
        if not line.strip() or line.startswith("\\"):  # a backslash: the frequencies of the label before
            continue
        fields = line.split("\t", 2)
        if len(fields) < 2 or not all(re.fullmatch(_NUMBER, field.strip()) for field in fields[:2]):
            _expected(number, line, "a start and an end in seconds and a label, with tabs between them")
        start, end = float(fields[0].strip()), float(fields[1].strip())
        if start == end:
            _expected(number, line, "labels of stretches of time; this one is of a point")
        yield number, Interval(start, end, fields[2].strip() if len(fields) == 3 else "")


def _timit_lines(intervals: list[Interval], rate: int) -> Iterator[str]:
    for start, end, label in intervals:
        _check_label(label, "TIMIT", one_word=True)
        yield f"{round(start * rate)} {round(end * rate)} {label}\n"


def _htk_lines(intervals: list[Interval], rate: int) -> Iterator[str]:
    for start, end, label in intervals:
        _check_label(label, "HTK")
        plain = label and not re.search(r"\s|^[\"'\d]", label)
        if not plain and '"' in label:
            raise CorpusError(f"the label {label!r} has blanks and double quotes, which HTK's format cannot hold")
        yield f"{round(start / HTK_UNIT)} {round(end / HTK_UNIT)} {label if plain else chr(34) + label + chr(34)}\n"


def _xwaves_lines(intervals: list[Interval], rate: int) -> Iterator[str]:
    yield "separator ;\nnfields 1\n#\n"
    before = 0.0
    for start, end, label in intervals:
        _check_label(label, "xwaves")
        if abs(start - before) > 1e-4:
            raise CorpusError(
                f"{label!r} begins at {start:g} s; expected {before:g} s, since the xwaves format has no gaps"
            )
        if ";" in label or label != label.strip():
            raise CorpusError(f"the label {label!r} has a semicolon or blanks at its ends, which xwaves cannot hold")
        yield f"{end!r:>12} 121 {label}\n"
        before = end


def _audacity_lines(intervals: list[Interval], rate: int) -> Iterator[str]:
    for start, end, label in intervals:
        _check_label(label, "Audacity")
        yield f"{start:.6f}\t{end:.6f}\t{label}\n"


def _check_label(label: str, format: str, one_word: bool = False) -> None:
    if "\n" in label or "\r" in label:
        raise CorpusError(f"the label {label!r} has a line end in it, which {format}'s format cannot hold")
    if one_word and len(label.split()) != 1:
        raise CorpusError(f"the label {label!r} is not one word, as {format}'s format wants it")


_WRITERS: dict[str, Callable[[list[Interval], int], Iterator[str]]] = {
    "timit": _timit_lines,
    "htk": _htk_lines,
    "xwaves": _xwaves_lines,
    "audacity": _audacity_lines,
}


def _read_plain(path: Any, options: FormatOptions) -> list[str]:
    """Labels without times, blanks or line ends between them."""
    name, text = read_text(path, options.encoding, options.limits)
    if not text.split():
        raise CorpusError(f"{name}: expected labels with blanks or line ends between them, found none")
    return text.split()


def _declared(name: str, about: str, *extensions: str) -> Format:
    return Format(
        name,
        "intervals",
        about,
        extensions,
        lambda path, given: read_labels(
            path, name, rate=given.rate, tier=given.tier, encoding=given.encoding, limits=given.limits
        ),
        None,
        lambda target, intervals, given: write_labels(target, intervals, name, rate=given.rate),
    )


FORMATS = (
    _declared("timit", "first sample, end sample, label", ".phn", ".wrd"),
    _declared("htk", "start and end in units of 100 ns, label", ".lab", ".rec"),
    _declared("xwaves", "end in seconds, a colour, label", ".lab"),
    _declared("textgrid", "Praat", ".textgrid"),
    _declared("audacity", "start and end in seconds, label", ".txt"),
    Format("mlf", "intervals", "HTK's master label file: many files of labels in one", (".mlf",)),
    Format("plain", "intervals", "labels without times", (), _read_plain),
)
