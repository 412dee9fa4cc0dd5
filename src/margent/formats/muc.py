"""The named entities of the Message Understanding Conferences (MUC-6, MUC-7): news stories in SGML, entities as tags.

    <DOC>
    <DOCID> nyt960214.0704 </DOCID>
    <TEXT>
    <p>
    <ENAMEX TYPE="PERSON">Ann Smith</ENAMEX> paid <NUMEX TYPE="MONEY">$5 million</NUMEX>.
    </TEXT>
    </DOC>

MUC-6 has the story in <TXT>, with <HL>, <DD> and <DATELINE> before it. ENAMEX tags a PERSON, ORGANIZATION or LOCATION,
TIMEX a DATE or TIME, NUMEX MONEY or PERCENT. The corpora themselves are licensed by the Linguistic Data Consortium.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import pairwise

from margent.annotation.schemes import Span, labels_of
from margent.errors import CorpusError
from margent.formats.batch import blocks
from margent.formats.columns import Columns
from margent.formats.documents import Document, Offsets
from margent.formats.jsonl import JsonBatch
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.registry import Format
from margent.formats.source import Source, SourceLike

_PARTS = ("SLUG", "DATE", "NWORDS", "PREAMBLE", "TEXT", "TRAILER", "HL", "DD", "DATELINE", "TXT")
_STORY = ("TEXT", "TXT")  # in MUC-7, in MUC-6
_BEGIN = re.compile(r"\s*<DOC(\s[^<>]*)?>", re.IGNORECASE)
_ENTITIES = {
    "ENAMEX": ("PERSON", "ORGANIZATION", "LOCATION"),
    "TIMEX": ("DATE", "TIME"),
    "NUMEX": ("MONEY", "PERCENT"),
}
_MARKUP = re.compile(r"<(/?)([A-Za-z][\w-]*)((?![\w-])(?:\"[^\"]*\"|'[^']*'|[^<>\"'])*)>|&([A-Za-z]+|#[0-9]+);")
_TYPE = re.compile(r"""\bTYPE\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_ABBREVIATIONS = (
    "Mr|Mrs|Ms|Dr|Prof|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|Rev|St|Jr|Sr|Inc|Corp|Co|Ltd|Bros|No|vs|"
    "Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec"
)
_TOKEN = re.compile(
    rf"(?:[A-Za-z]\.){{2,}}|\b[A-Z]\.|\b(?:{_ABBREVIATIONS})\.|\d+(?:[.,:]\d+)+|['’]\w+|\w+|\.\.+|--+|[^\w\s]"
)
_STOPS = frozenset(".!?")
_CLOSING = frozenset(['"', "'", "''", "’", "”", ")", "]"])


def news_offsets(text: str) -> Offsets:
    """Start and end of each token of English news: as `word_offsets`, but `U.S.`, `Mr.`, `1,250.5` and `'s` are one.

    >>> text = "Mr. Lee's U.S. debts: 1,250.5"
    >>> [text[start:end] for start, end in news_offsets(text)]
    ['Mr.', 'Lee', "'s", 'U.S.', 'debts', ':', '1,250.5']
    """
    return [match.span() for match in _TOKEN.finditer(text)]


def iter_muc(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    parts: str | Iterable[str] = _STORY,
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = news_offsets,
    scheme: str = "iob2",
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[Document]:
    """Read MUC stories sentence by sentence, with labels in `scheme`.

    The corpus marks paragraphs (<p>), not sentences: a paragraph is cut after a token `.`, `!` or `?` and the closing
    quotes and brackets after it, never within an entity. Of an entity within another the outer one counts; of
    alternatives, as in TYPE="ORGANIZATION|LOCATION", the first. Typesetting codes such as `&LR;` are dropped, `&MD;` is
    a dash.

    Parameters
    ----------
    source : path, "-" for standard input, bytes or open file
        Plain or gzip; a story begins with <DOC>.
    parts : name or names of elements
        What to read of a story, which must have one of them: any of SLUG, DATE, NWORDS, PREAMBLE, TEXT and TRAILER
        (MUC-7), HL, DD, DATELINE and TXT (MUC-6). Entities are tagged in all of them.
    tokenize : function from a text to (start, end) of its tokens
        Each entity, and what is between two, is given to it alone: an entity's boundaries are boundaries of tokens.
    scheme : str
        The label scheme to write spans in.
    limits : Limits
        How long lines and stories may be.
    """
    wanted = {part.upper() for part in ((parts,) if isinstance(parts, str) else parts)}
    if unknown := sorted(wanted.difference(_PARTS)):
        raise CorpusError(f"parts names {unknown[0]!r}, expected some of {', '.join(_PARTS)}")
    opened = Source(source, encoding, limits)
    story: list[str] = []
    begin = size = 0
    for number, line in opened.lines():
        if _BEGIN.match(line):
            if story:
                raise opened.error(number, f"found <DOC> before the story of line {begin} ended with </DOC>")
            begin, size = number, 0
        if begin:
            size += len(line) + 1
            if size > limits.sentence:
                raise opened.beyond("sentence", number)
            story.append(line)
        elif line.strip():
            raise opened.error(number, f"found {line.strip()[:40]!r} outside of a story, expected <DOC>")
        if line.rstrip().upper().endswith("</DOC>"):
            for text, spans in _paragraphs("\n".join(story), begin, wanted, opened):
                yield from _sentences(text, spans, tokenize, scheme)
            story, begin = [], 0
    if story:
        raise opened.error(begin, "found <DOC> without </DOC>, the file is cut off")


def read_muc(
    source: SourceLike,
    *,
    encoding: str = "utf-8",
    parts: str | Iterable[str] = _STORY,
    tokenize: Callable[[str], Iterable[tuple[int, int]]] = news_offsets,
    scheme: str = "iob2",
    limits: Limits = DEFAULT_LIMITS,
) -> Columns:
    """Read MUC stories as columns: the token, and its label in `scheme`; see `iter_muc`.

    >>> story = '<DOC><TEXT><p>Mr. <ENAMEX TYPE="PERSON">Lee</ENAMEX> left. He is in <ENAMEX TYPE="LOCATION">Rome'
    >>> read_muc(f"{story}</ENAMEX>.</TEXT></DOC>".encode())[1]
    [('He', 'O'), ('is', 'O'), ('in', 'O'), ('Rome', 'B-LOCATION'), ('.', 'O')]
    """
    sentences = iter_muc(source, encoding=encoding, parts=parts, tokenize=tokenize, scheme=scheme, limits=limits)
    return Columns.from_sentences((list(zip(s.tokens, s.labels or ())) for s in sentences), 2)


def _paragraphs(story: str, first: int, wanted: set[str], source: Source) -> Iterator[tuple[str, list[Span]]]:
    """The text of each paragraph in the wanted parts, without markup, and its entities in characters."""
    part: str | None = None
    found: list[str] = []  # names of parts
    text = ""
    spans: list[Span] = []
    opened: list[tuple[str, str, int]] = []  # entities that have not ended: tag, type, start
    position = 0

    def wrong(at: int, message: str) -> CorpusError:
        return source.error(first + story.count("\n", 0, at), message)

    for match in _MARKUP.finditer(story):
        if part is not None:
            text += story[position : match.start()]
        position = match.end()
        closes, tag, attributes, entity = match.groups()
        if entity is not None:
            text += _character(entity) if part is not None else ""
            continue
        tag = tag.upper()
        if tag in _PARTS or (tag in ("P", "DOC") and part is not None):
            if opened:
                raise wrong(match.start(), f"found <{closes}{tag}>, expected </{opened[-1][0]}> before it")
            if text.strip():
                yield text, spans
            text, spans = "", []
            if tag in _PARTS:
                found.append(tag)
                part = tag if not closes and tag in wanted else None
        elif tag in _ENTITIES and part is not None:
            if not closes:
                kind = _kind(attributes)
                if kind not in _ENTITIES[tag]:
                    message = f"found the type {kind!r} of <{tag}>, expected {' or '.join(_ENTITIES[tag])}"
                    raise wrong(match.start(), message)
                opened.append((tag, kind, len(text)))
            elif not opened or opened[-1][0] != tag:
                expected = f"</{opened[-1][0]}>" if opened else "no end of an entity"
                raise wrong(match.start(), f"found </{tag}>, expected {expected} here")
            else:
                _, kind, start = opened.pop()
                if not opened and text[start:].strip():
                    spans.append(Span(start, len(text), kind))
    if part is not None:
        raise wrong(len(story), f"found </DOC>, expected </{part}> before it")
    if not wanted.intersection(found):
        others = ", ".join(f"<{name}>" for name in dict.fromkeys(found)) or "none of the known parts"
        names = " or ".join(f"<{name}>" for name in _PARTS if name in wanted)
        raise wrong(0, f"found a story with {others}, expected {names} in it")


def _kind(attributes: str) -> str:
    match = _TYPE.search(attributes)
    return next(filter(None, match.groups()), "").split("|")[0].upper() if match else ""


def _character(entity: str) -> str:
    """What an entity reference stands for: SGML wrote AMP where HTML writes amp."""
    if entity.upper() == "MD":
        return " -- "
    found = unescape(f"&{entity.lower()};")
    return " " if found.startswith("&") and len(found) > 1 else found


def _sentences(
    text: str, spans: list[Span], tokenize: Callable[[str], Iterable[tuple[int, int]]], scheme: str
) -> Iterator[Document]:
    offsets: Offsets = []
    entities: list[Span] = []
    position = 0
    for start, end, kind in [*spans, Span(len(text), len(text), "")]:
        for a, b in ((position, start), (start, end)):
            first = len(offsets)
            offsets += [(a + i, a + j) for i, j in tokenize(text[a:b])]
        if len(offsets) > first:
            entities.append(Span(first, len(offsets), kind))
        position = end
    labels = labels_of(entities, len(offsets), scheme)
    for first, last in pairwise([0, *_cuts(text, offsets, entities), len(offsets)]):
        if first < last:
            begin, end = offsets[first][0], offsets[last - 1][1]
            shifted = [(a - begin, b - begin) for a, b in offsets[first:last]]
            yield Document(text[begin:end], shifted, labels[first:last])


def _cuts(text: str, offsets: Offsets, entities: list[Span]) -> Iterator[int]:
    """The tokens that begin a new sentence: after a full stop and what closes quotes and brackets there."""
    within = {token for start, end, _ in entities for token in range(start + 1, end)}
    stopped = False
    for token, (start, end) in enumerate(offsets):
        word = text[start:end]
        attached = token > 0 and offsets[token - 1][1] == start
        if stopped and token not in within and not (attached and (word in _CLOSING or word in _STOPS)):
            yield token
            stopped = False
        stopped = word in _STOPS or (stopped and word in _CLOSING)


FORMATS = (
    Format(
        "muc",
        "tokens",
        "named entities in SGML, as in MUC-7",
        (".muc",),
        lambda path, options: read_muc(path, scheme=options.scheme or "iob2", **options.reading).split(),
        lambda path, options, expected: (
            JsonBatch(sentences, expected.spans) for sentences in blocks(path, iter_muc(path, **options.reading))
        ),
    ),
)
