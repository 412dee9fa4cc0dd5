"""Pairs of sentences with a label: premise, hypothesis, and whether the first entails the second.

As a table, a pair a line, with the names of the columns first, or as JSON lines with the same names:

    label           premise                         hypothesis
    contradiction   Two women are hugging .         The women are sleeping .

The names of SNLI's release are known as well: gold_label, sentence1, sentence2. Binary trees are in the columns
premise_tree and hypothesis_tree, or sentence1_binary_parse and sentence2_binary_parse, as ( ( Two women ) ... ); where
there are some, they are taken in place of the sentences. A label "-" means that there is none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from margent.annotation.binary_tree import BinaryTree
from margent.errors import CorpusError
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format, FormatOptions
from margent.formats.source import Source, SourceLike, TargetLike, open_target
from margent.parameters import is_text

Sentence: TypeAlias = "str | Sequence[str] | BinaryTree"

NO_LABEL = "-"
_COLUMNS = {
    "label": ("label", "gold_label"),
    "premise": ("premise", "sentence1"),
    "hypothesis": ("hypothesis", "sentence2"),
    "premise_tree": ("premise_tree", "sentence1_binary_parse"),
    "hypothesis_tree": ("hypothesis_tree", "sentence2_binary_parse"),
}
_WITHOUT_NAMES = {2: ("premise", "hypothesis"), 3: ("label", "premise", "hypothesis")}


class SentencePair(NamedTuple):
    """Two sentences, each as text, as a list of words, or as a binary tree."""

    premise: Sentence
    hypothesis: Sentence


class LabelledPair(NamedTuple):
    """`label`: None where there is none."""

    pair: SentencePair
    label: str | None = None


def iter_pairs(
    source: SourceLike,
    *,
    trees: bool = True,
    where: tuple[str, str] | None = None,
    encoding: str = "utf-8",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[LabelledPair]:
    """Read a table line by line.

    Without a first line of names there are two columns, premise and hypothesis, or three, label, premise, hypothesis.

    Parameters
    ----------
    trees : bool
        Whether trees are taken where there are some.
    where : (column, value), optional
        Only the lines that have this value in this column.
    """
    opened = Source(source, encoding, limits)
    places: dict[str, int] | None = None
    for number, line in opened.lines():
        if not line.strip():
            continue
        fields = line.split("\t")
        if places is None:
            named = {name: place for place, name in enumerate(fields)}
            if _named(named, "premise") and _named(named, "hypothesis"):
                places = named
                continue
            if len(fields) not in _WITHOUT_NAMES:
                raise opened.error(
                    number, f"expected the names of columns, premise and hypothesis among them, got {line[:60]!r}"
                )
            places = {name: place for place, name in enumerate(_WITHOUT_NAMES[len(fields)])}
        if len(fields) != len(places):
            raise opened.error(number, f"expected {len(places)} columns between tabs, got {len(fields)}")
        if where is not None:
            if where[0] not in places:
                raise opened.error(number, f"expected a column {where[0]!r}, got {', '.join(places)}")
            if fields[places[where[0]]] != where[1]:
                continue
        yield _pair(opened, number, {name: fields[place] for name, place in places.items()}, trees)


def iter_pair_records(
    source: SourceLike, *, trees: bool = True, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[LabelledPair]:
    """Read JSON lines: {"label": ..., "premise": ..., "hypothesis": ...} or the records of SNLI's release.

    A sentence is a text or a list of words. `trees`: as for `iter_pairs`.
    """
    opened = Source(source, encoding, limits)
    for number, line in opened.lines():
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise opened.error(number, f"expected a JSON object, got {line[:60]!r} ({error})") from None
        if not isinstance(record, dict):
            raise opened.error(number, f"expected a JSON object, got {line[:60]!r}")
        yield _pair(opened, number, record, trees)


def read_pairs(
    source: SourceLike, *, trees: bool = True, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[SentencePair], list[str]]:
    """Pairs and labels of a table; those without a label are left out.

    >>> X, y = read_pairs(b"entailment\\tIt rains .\\tIt is wet .\\n")
    >>> X[0].hypothesis, y
    ('It is wet .', ['entailment'])
    """
    return _labelled(iter_pairs(source, trees=trees, encoding=encoding, limits=limits))


def read_pair_records(
    source: SourceLike, *, trees: bool = True, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> tuple[list[SentencePair], list[str]]:
    """Pairs and labels of JSON lines; those without a label are left out."""
    return _labelled(iter_pair_records(source, trees=trees, encoding=encoding, limits=limits))


def write_pairs(
    target: TargetLike,
    pairs: Iterable[tuple[Sentence, Sentence]],
    labels: Iterable[str | None],
    *,
    encoding: str = "utf-8",
) -> None:
    """Write a table with the columns label, premise, hypothesis, and those of trees."""
    with open_target(target, encoding) as write:
        write("label\tpremise\thypothesis\tpremise_tree\thypothesis_tree\n")
        for number, record in enumerate(_records(pairs, labels)):
            texts = [sentence_text(record[name]) for name in ("premise", "hypothesis")]
            fields = [record.get("label", NO_LABEL), *texts]
            fields += [record.get(name, "") for name in ("premise_tree", "hypothesis_tree")]
            if any("\t" in field or "\n" in field or "\r" in field for field in fields):
                raise CorpusError(f"pair {number}: expected text without tabs and ends of lines, got {fields!r}")
            write("\t".join(fields) + "\n")


def write_pair_records(
    target: TargetLike,
    pairs: Iterable[tuple[Sentence, Sentence]],
    labels: Iterable[str | None],
    *,
    encoding: str = "utf-8",
) -> None:
    """Write JSON lines with label, premise, hypothesis, and premise_tree and hypothesis_tree where there are trees."""
    with open_target(target, encoding) as write:
        for record in _records(pairs, labels):
            write(json.dumps(record, ensure_ascii=False) + "\n")


def sentence_text(sentence: Any) -> str:
    """The words with blanks between them."""
    if isinstance(sentence, str):
        return sentence
    return " ".join(sentence.words if isinstance(sentence, BinaryTree) else sentence)


def _named(places: Mapping[str, Any], what: str) -> str | None:
    """Under which of its names something is there."""
    return next((name for name in _COLUMNS[what] if name in places), None)


def _pair(opened: Source, number: int, record: Mapping[str, Any], trees: bool) -> LabelledPair:
    sentences: list[Any] = []
    for which in ("premise", "hypothesis"):
        name, tree = _named(record, which), _named(record, f"{which}_tree") if trees else None
        if tree is not None and record[tree]:
            if not isinstance(record[tree], str):
                raise opened.error(number, f"{tree} should be a binary tree in brackets, got {record[tree]!r}")
            try:
                sentences.append(BinaryTree.from_brackets(record[tree]))
            except CorpusError as error:
                raise opened.error(number, str(error)) from None
            continue
        given = None if name is None else record[name]
        words = given.split() if isinstance(given, str) else given
        if not isinstance(words, list) or not words or not all(is_text(word) and word.strip() for word in words):
            raise opened.error(number, f"expected a {which} of at least one word, got {given!r}")
        sentences.append(given)
    label = _named(record, "label")
    said = None if label is None or record[label] in (None, "", NO_LABEL) else record[label]
    if said is not None and not is_text(said):
        raise opened.error(number, f"expected a label that is text, got {said!r}")
    return LabelledPair(SentencePair(*sentences), said)


def _labelled(found: Iterable[LabelledPair]) -> tuple[list[SentencePair], list[str]]:
    X, y = list[SentencePair](), list[str]()
    for pair, label in found:
        if label is not None:
            X.append(pair)
            y.append(label)
    return X, y


def _records(pairs: Iterable[tuple[Sentence, Sentence]], labels: Iterable[str | None]) -> Iterator[dict[str, Any]]:
    for pair, label in zip(pairs, labels, strict=True):
        record: dict[str, Any] = {} if label is None else {"label": label}
        for name, sentence in zip(("premise", "hypothesis"), pair, strict=True):
            record[name] = list(sentence) if not isinstance(sentence, (str, BinaryTree)) else sentence_text(sentence)
            if isinstance(sentence, BinaryTree):
                record[f"{name}_tree"] = sentence.brackets()
        yield record


def _table(path: Any, options: FormatOptions) -> tuple[list[SentencePair], list[str]]:
    return read_pairs(path, **options.reading)


FORMATS = (
    Format(
        "pairs",
        "pairs",
        "a label, a premise and a hypothesis on each line, between tabs",
        (".pairs",),
        _table,
        None,
        lambda target, X, y, options: write_pairs(target, X, y, **options.text),
    ),
    Format(
        "jsonl",
        "pairs",
        "records with label, premise and hypothesis",
        (".jsonl", ".ndjson"),
        lambda path, options: read_pair_records(path, **options.reading),
        None,
        lambda target, X, y, options: write_pair_records(target, X, y, **options.text),
    ),
)
