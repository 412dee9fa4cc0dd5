"""Where corpora come from and go to: paths, standard streams, open files and bytes, gzip or not, in any encoding.

Every reader takes a `source`, every writer a `target`; this module opens both, so that all of them behave alike.
"""

from __future__ import annotations

import codecs
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

from margent.atomic_file import atomic_file
from margent.errors import CorpusError, LimitError
from margent.formats.limits import DEFAULT_LIMITS, EXPANSION_FROM, Limits
from margent.printable import printable

SourceLike: TypeAlias = "str | os.PathLike[str] | bytes | IO[Any]"
"""A path, "-" for standard input, the bytes themselves, or a file open for reading bytes or text."""

TargetLike: TypeAlias = "str | os.PathLike[str] | IO[Any]"
"""A path, "-" for standard output, or a file open for writing bytes or text."""

CHUNK_SIZE = 1 << 18

_GZIP_MAGIC = b"\x1f\x8b"
_BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Source:
    """One input, read once, in pieces; what is compressed with gzip is recognised by its first bytes.

    Parameters
    ----------
    source : path, "-", bytes or open file
        A file that was open before stays open; it is read from where it stands.
    encoding : str
        Of the (decompressed) bytes. A source that gives text is taken as it is.
    limits : Limits
        How long lines and the like may be.
    """

    source: SourceLike
    encoding: str = "utf-8"
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self) -> None:
        try:
            " ".encode(self.encoding)  # decoding nothing would not look the name up
        except LookupError:
            raise CorpusError(f"encoding {self.encoding!r} is not one that Python knows") from None

    @property
    def name(self) -> str:
        """What error messages call it."""
        if isinstance(self.source, bytes):
            return "<bytes>"
        if isinstance(self.source, (str, os.PathLike)):
            path = os.fspath(self.source)
            return "<stdin>" if path == "-" else path
        return str(getattr(self.source, "name", f"<{type(self.source).__name__}>"))

    def error(self, line: int, message: str) -> CorpusError:
        """The error to raise for something wrong in a line (counted from 1)."""
        return CorpusError(f"{self.name}, line {line}: {message}")

    def beyond(self, limit: str, line: int | None = None) -> LimitError:
        """The error to raise for what is larger than a limit, by its name."""
        where = self.name if line is None else f"{self.name}, line {line}"
        return LimitError(f"{where}: {self.limits.exceeded(limit)}")

    def utf8(self, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """The text in pieces of UTF-8, without a check that UTF-8 input is valid: the native readers do that."""
        if codecs.lookup(self.encoding).name == "utf-8":
            for chunk in self._chunks(chunk_size):
                yield _utf8_of(chunk) if isinstance(chunk, str) else chunk
        else:
            for text in self.text(chunk_size):
                yield _utf8_of(text)

    def text(self, chunk_size: int = CHUNK_SIZE) -> Iterator[str]:
        """The text in pieces."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        n_lines = 0
        chunk: bytes | str
        for chunk in self._chunks(chunk_size, at_end=b""):
            if isinstance(chunk, str):
                text = chunk
            else:
                try:
                    text = decoder.decode(chunk, final=not chunk)
                except UnicodeError as error:
                    before = ""  # where the codec does not say how far it came: a mark of UTF-16 that is missing
                    if isinstance(error, UnicodeDecodeError):
                        before = error.object[: error.start].decode(self.encoding, "replace")
                    line = n_lines + before.count("\n") + 1
                    message = f"the text is not valid {self.encoding} ({_reason(error)}); name the encoding it is in"
                    raise self.error(line, message) from None
                n_lines += text.count("\n")
            yield text

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line with its number, counted from 1, without its end (LF or CRLF) and without a byte order mark."""
        return ((number, line) for number, line, _ in self.lines_with_ends())

    def lines_with_ends(self) -> Iterator[tuple[int, str, str]]:
        """As `lines`, each with its end: LF or CRLF; of a last line without LF, what there is of it."""
        number = empty = size = 0
        parts: list[str] = []  # of a line that goes on in the next piece
        longest, most_empty = self.limits.line, self.limits.empty_lines
        for text in self.text():
            first, *rest = text.split("\n")
            parts.append(first)
            size += len(first)
            for following in rest:
                number += 1
                if size > longest:
                    raise self.beyond("line", number)
                line = _without_mark("".join(parts), number)
                empty = empty + 1 if not line or line.isspace() else 0
                if empty > most_empty:
                    raise self.beyond("empty_lines", number)
                yield (number, line[:-1], "\r\n") if line.endswith("\r") else (number, line, "\n")
                parts, size = [following], len(following)
            if size > longest:
                raise self.beyond("line", number + 1)
        last = "".join(parts)
        if last:
            line = _without_mark(last, number + 1)
            yield (number + 1, line[:-1], "\r") if line.endswith("\r") else (number + 1, line, "")

    def _chunks(self, size: int, at_end: bytes | None = None) -> Iterator[bytes | str]:
        """The pieces, decompressed; then `at_end`, which tells a decoder to finish."""
        if isinstance(self.source, bytes):
            yield from self._decompressed(iter([self.source]))
        elif isinstance(self.source, (str, os.PathLike)):
            if os.fspath(self.source) == "-":
                yield from self._decompressed(_pieces(sys.stdin.buffer, size))
            else:
                with open(self.source, "rb") as file:
                    yield from self._decompressed(_pieces(file, size))
        elif callable(getattr(self.source, "read", None)):
            yield from self._decompressed(_pieces(self.source, size))
        else:
            kind = type(self.source).__name__
            raise CorpusError(f"expected a path, '-', bytes or an open file to read from, got {kind}")
        if at_end is not None:
            yield at_end

    def _decompressed(self, pieces: Iterator[bytes | str]) -> Iterator[bytes | str]:
        head: bytes | str = b""
        for piece in pieces:  # a pipe may give a single byte first
            head = piece if not head else head + piece  # type: ignore[operator]
            if isinstance(head, str) or len(head) >= len(_GZIP_MAGIC):
                break
        if isinstance(head, bytes) and head.startswith(_GZIP_MAGIC):
            yield from self._gunzip(head, pieces)
        else:
            yield head
            yield from pieces

    def _gunzip(self, data: bytes, pieces: Iterator[bytes | str]) -> Iterator[bytes]:
        """One gzip member after the other; zero bytes may pad the end."""
        decompressor = zlib.decompressobj(wbits=31)
        started = False  # whether the current member has begun
        taken, given = len(data), 0
        while True:
            try:
                if not started:
                    data = data.lstrip(b"\0")
                while data:
                    started = True
                    text = decompressor.decompress(data, CHUNK_SIZE)  # a few bytes may stand for gigabytes
                    data = decompressor.unconsumed_tail
                    given += len(text)
                    if given > max(EXPANSION_FROM, self.limits.expansion * (taken - len(data))):
                        raise self.beyond("expansion")
                    if text:
                        yield text
            except zlib.error as error:
                raise CorpusError(f"{self.name}: the gzip data is corrupted ({error})") from None
            if decompressor.eof:
                data = decompressor.unused_data
                decompressor = zlib.decompressobj(wbits=31)
                started = False
                if data:
                    continue
            following = next(pieces, None)
            if following is None:
                break
            data = following  # type: ignore[assignment]
            taken += len(data)
        if started:
            raise CorpusError(f"{self.name}: the gzip data is truncated")


def read_text(source: SourceLike, encoding: str | None = None, limits: Limits = DEFAULT_LIMITS) -> tuple[str, str]:
    """The name of a small file and its whole text, with LF at the end of each line.

    Without an encoding it is UTF-16 where the file begins with a byte order mark of it, and else UTF-8.
    """
    opened = Source(source, encoding or "utf-8", limits)
    pieces, size = [], 0
    for piece in Source(source, limits=limits).utf8():
        size += len(piece)
        if size > limits.file:
            raise opened.beyond("file")
        pieces.append(piece)
    raw = b"".join(pieces)
    if encoding is None or hasattr(source, "encoding"):  # an open file of text is UTF-8 by now
        encoding = "utf-16" if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"
    try:
        text = raw.decode(encoding)
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = raw[:start].decode(encoding, "replace").count("\n") + 1 if start else 1
        message = f"the text is not valid {encoding} ({_reason(error)}); name the encoding it is in"
        raise opened.error(line, message) from None
    return opened.name, text.removeprefix(_BYTE_ORDER_MARK).replace("\r\n", "\n").replace("\r", "\n")


def _reason(error: UnicodeError) -> str:
    return error.reason if isinstance(error, UnicodeDecodeError) else str(error)


def _pieces(file: Any, size: int) -> Iterator[bytes | str]:
    # read1 gives what a pipe holds already instead of waiting for more: a sentence in, a sentence out.
    read = getattr(file, "read1", file.read)
    while True:
        piece = read(size)
        if not piece:
            return
        yield piece


def _utf8_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a lone surrogate is then found as invalid UTF-8, with its line


def _without_mark(line: str, number: int) -> str:
    return line[1:] if number == 1 and line.startswith(_BYTE_ORDER_MARK) else line


@contextmanager
def open_target(target: TargetLike, encoding: str = "utf-8") -> Iterator[Callable[[str], object]]:
    """A function that writes text to the target.

    A path is written as a new file beside it that takes its place at the end: what was there before is kept when
    anything fails. It is compressed where the name ends in ".gz". An open file stays open.
    """
    with _opened(target, encoding) as write:
        begun = False

        def write_text(text: str) -> None:
            nonlocal begun
            if not begun and text.startswith(_BYTE_ORDER_MARK):
                write(_BYTE_ORDER_MARK)  # for readers take the first one away
            begun = begun or text != ""
            write(text)

        yield write_text


@contextmanager
def _opened(target: TargetLike, encoding: str) -> Iterator[Callable[[str], object]]:
    Source(b"", encoding)  # the encoding exists
    if isinstance(target, (str, os.PathLike)):
        path = os.fspath(target)
        if path == "-":
            sys.stdout.flush()
            write = _encoded(sys.stdout.buffer, encoding, "<stdout>")
            # A terminal shows text, in which nothing may move the cursor; a pipe or file gets what there is.
            yield (lambda text: write(printable(text))) if sys.stdout.isatty() else write
            sys.stdout.buffer.flush()
        else:
            with _replacing(path) as file:
                if path.endswith(".gz"):
                    import gzip

                    with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                        yield _encoded(packed, encoding, path)
                else:
                    yield _encoded(file, encoding, path)
    elif not callable(getattr(target, "write", None)):
        kind = type(target).__name__
        raise CorpusError(f"expected a path, '-' or an open file to write to, got {kind}")
    elif hasattr(target, "encoding"):  # only files of text have one
        yield target.write
    else:
        yield _encoded(target, encoding, str(getattr(target, "name", f"<{type(target).__name__}>")))


def _encoded(file: Any, encoding: str, name: str) -> Callable[[str], object]:
    encoder = codecs.getincrementalencoder(encoding)()

    def write(text: str) -> None:
        try:
            file.write(encoder.encode(text))
        except UnicodeEncodeError as error:
            bad = error.object[error.start : error.end]
            raise CorpusError(f"{name}: {bad!r} cannot be written in encoding {encoding!r}") from None

    return write


@contextmanager
def _replacing(path: str) -> Iterator[IO[bytes]]:
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or device is written to, never replaced
        with open(path, "wb") as file:
            yield file
        return
    with atomic_file(path) as file:
        yield file
