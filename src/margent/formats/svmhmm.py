"""The files of SVM^hmm (https://www.cs.cornell.edu/people/tj/svm_light/svm_hmm.html): a token a line,
``TAG qid:EXAMPLE FEATURE:VALUE ... # comment``, the tokens of one example one after the other under the same qid."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from margent.formats.batch import attribute_batches
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.parallel import apart, token_lines
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike, TargetLike, open_target

_FEATURE_ID = re.compile("[1-9][0-9]*")


def iter_svmhmm(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[list[dict[str, float]], list[str]]]:
    """Read an SVM^hmm file example by example: yields (features of each token, tag of each token)."""
    opened = Source(source, encoding, limits)
    items: list[dict[str, float]] = []
    tags: list[str] = []
    seen: set[str] = set()
    current: str | None = None
    size = 0
    for number, line in opened.lines():
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        try:
            tag, example, features = _parse(fields)
        except ValueError as error:
            raise opened.error(number, str(error)) from None
        if example != current:
            if example in seen:
                raise opened.error(number, f"found qid:{example} again, expected its lines one after the other")
            if tags:
                yield items, tags
                items, tags, size = [], [], 0
            seen.add(example)
            current = example
        size += len(line)
        if len(items) == limits.tokens or size > limits.sentence:
            raise opened.beyond("tokens" if size <= limits.sentence else "sentence", number)
        items.append(features)
        tags.append(tag)
    if tags:
        yield items, tags


def read_svmhmm(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[list[dict[str, float]]], list[list[str]]]:
    """Read an SVM^hmm file.

    Returns
    -------
    X : list of sequences, each a list of dicts from feature number (as str) to value
    y : list of sequences of tags (as str)

    Examples
    --------
    >>> read_svmhmm(b"1 qid:1 5:1 9:0.5 # the\\n2 qid:1 7:1 # cat\\n")
    ([[{'5': 1.0, '9': 0.5}, {'7': 1.0}]], [['1', '2']])
    """
    return apart(iter_svmhmm(source, encoding=encoding, limits=limits))


def write_svmhmm(
    target: TargetLike,
    X: Iterable[Sequence[Mapping[str, float]]],
    y: Iterable[Sequence[str]],
    *,
    encoding: str = "utf-8",
) -> None:
    """Write sequences as an SVM^hmm file; the examples are numbered from 1, features are sorted as the format asks.

    Parameters
    ----------
    X : sequences of mappings from feature number (1 or more, int or str) to value
    y : sequences of tags; SVM^hmm itself only reads integers from 1
    """
    with open_target(target, encoding) as write:
        for lines in token_lines(X, y, _line):
            write("".join(lines))


def _parse(fields: list[str]) -> tuple[str, str, dict[str, float]]:
    key, _, example = fields[1].partition(":") if len(fields) > 1 else ("", "", "")
    if key != "qid" or not example:
        raise ValueError(f"expected 'TAG qid:EXAMPLE FEATURE:VALUE ...', got {' '.join(fields[:2])!r}")
    features: dict[str, float] = {}
    for field in fields[2:]:
        name, _, text = field.partition(":")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not _FEATURE_ID.fullmatch(name) or not math.isfinite(value):
            raise ValueError(f"expected a feature number and its value, as in 12:0.5, got {field!r}")
        if name in features:
            raise ValueError(f"feature {name} is given twice")
        features[name] = value
    return fields[0], example, features


def _line(number: int, item: Mapping[str, float], tag: str) -> str:
    text = str(tag)
    if len(text.split()) != 1 or text != text.strip() or "#" in text:
        raise ValueError(f"expected a tag without blanks and '#', got {tag!r}")
    for name, value in item.items():
        if not _FEATURE_ID.fullmatch(str(name)) or not math.isfinite(value):
            raise ValueError(f"expected a feature number of 1 or more and a finite value, got {name!r}: {value!r}")
    features = sorted((int(name), float(value)) for name, value in item.items())
    return " ".join([text, f"qid:{number + 1}", *(f"{name}:{value!r}" for name, value in features)]) + "\n"


FORMATS = (
    Format(
        "svmhmm",
        "attributes",
        "numbered features as SVM^hmm takes them",
        (".svmhmm",),
        lambda path, options: read_svmhmm(path, **options.reading),
        lambda path, options, expected: attribute_batches(path, iter_svmhmm(path, **options.reading)),
        lambda target, X, y, options: write_svmhmm(target, X, y, **options.text),
    ),
)
