"""Every reader says so when an input is larger than it takes, and takes it when it is told to."""

from __future__ import annotations

import gzip
import io
import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from margent.errors import CorpusError, LimitError
from margent.formats import (
    Limits,
    iter_columns,
    iter_conllu,
    iter_conllx,
    iter_crfsuite,
    iter_jsonl,
    iter_muc,
    iter_pronunciations,
    iter_svmhmm,
    read_columns,
    read_conllu,
    read_crfsuite,
    read_dependencies,
    read_jsonl,
    read_labels,
    read_mlf,
    read_muc,
    read_pronunciations,
    read_svmhmm,
    read_textgrid,
)
from margent.formats.array_files import read_array
from margent.formats.dependencies import dependency_batches
from margent.formats.registry import FormatOptions

Reader = Callable[..., Any]


def all_of(read: Reader) -> Reader:
    return lambda source, **options: list(read(source, **options))


def row(number: int, head: int = 0) -> bytes:
    return f"{number}\tword\t_\tX\t_\t_\t{head}\troot\t_\t_\n".encode()


def sentence_of_rows(n: int) -> bytes:
    return b"".join(row(i, max(i - 1, 0)) for i in range(1, n + 1)) + b"\n"


def plain_sentences(source: Any, *, limits: Limits) -> list[Any]:
    return list(dependency_batches(source, FormatOptions(limits=limits), "sentences"))


# By name: the reader, and a sentence of n tokens for it.
READERS: dict[str, tuple[Reader, Callable[[int], bytes]]] = {
    "read_columns": (read_columns, lambda n: b"the DT\n" * n + b"\n"),
    "iter_columns": (all_of(iter_columns), lambda n: b"the DT\n" * n + b"\n"),
    "read_conllu": (read_conllu, sentence_of_rows),
    "iter_conllu": (all_of(iter_conllu), sentence_of_rows),
    "iter_conllx": (all_of(iter_conllx), sentence_of_rows),
    "read_dependencies": (read_dependencies, sentence_of_rows),
    "dependency columns": (
        lambda source, **options: read_dependencies(source, "columns", columns="form,head", **options),
        lambda n: b"".join(b"word\t%d\n" % i for i in range(n)) + b"\n",
    ),
    "read_jsonl": (read_jsonl, lambda n: b'{"tokens": [' + b", ".join([b'"a"'] * n) + b'], "labels": ['
                   + b", ".join([b'"O"'] * n) + b"]}\n"),
    "iter_jsonl": (all_of(iter_jsonl), lambda n: b'{"text": "' + b"a " * n + b'", "spans": []}\n'),
    "read_crfsuite": (read_crfsuite, lambda n: b"O\tw=a\n" * n + b"\n"),
    "iter_crfsuite": (all_of(iter_crfsuite), lambda n: b"O\tw=a\n" * n + b"\n"),
    "read_svmhmm": (read_svmhmm, lambda n: b"1 qid:1 5:1\n" * n),
    "iter_svmhmm": (all_of(iter_svmhmm), lambda n: b"1 qid:1 5:1\n" * n),
}  # fmt: skip

LINES: dict[str, tuple[Reader, bytes]] = {
    **{name: (read, sentence(2)) for name, (read, sentence) in READERS.items()},
    "read_muc": (read_muc, b"<DOC>\n<TXT>\nAnn sings.\n</TXT>\n</DOC>\n"),
    "iter_muc": (all_of(iter_muc), b"<DOC>\n<TXT>\nAnn sings.\n</TXT>\n</DOC>\n"),
    "read_pronunciations": (read_pronunciations, b"the  DH AH0\n"),
    "iter_pronunciations": (all_of(iter_pronunciations), b"the  DH AH0\n"),
}
FILES: dict[str, tuple[Reader, bytes]] = {
    "read_labels": (read_labels, b"0.5\t1.0\thello\n"),
    "read_mlf": (read_mlf, b'#!MLF!#\n"*/a.lab"\n0 100 a\n.\n'),
    "read_textgrid": (
        read_textgrid,
        b'"ooTextFile"\n"TextGrid"\n0 1\n<exists>\n1\n"IntervalTier" "a" 0 1 1 0 1 "x"\n',
    ),
}


@pytest.mark.parametrize("name", READERS)
def test_tokens_of_a_sentence(name: str) -> None:
    read, sentence = READERS[name]
    read(sentence(5) + sentence(5).replace(b"qid:1", b"qid:2"), limits=Limits(tokens=5))
    with pytest.raises(
        LimitError, match=r"<bytes>, line \d+: .* more than 4 tokens; .*limits=Limits\(tokens=...\), or"
    ):
        read(sentence(5), limits=Limits(tokens=4))


@pytest.mark.parametrize("name", [name for name in READERS if "jsonl" not in name])
def test_size_of_a_sentence(name: str) -> None:
    read, sentence = READERS[name]
    read(sentence(5), limits=Limits(sentence=len(sentence(5))))
    with pytest.raises(LimitError, match=r"the sentence is longer than 20 characters; .*--limit sentence=N"):
        read(sentence(50), limits=Limits(sentence=20))


@pytest.mark.parametrize("name", LINES)
def test_lines_and_empty_lines(name: str) -> None:
    read, text = LINES[name]
    longest = max(map(len, text.split(b"\n")))
    read(text + b"\n" * 3, limits=Limits(line=longest, empty_lines=8))
    with pytest.raises(LimitError, match=rf"line \d+: the line is longer than {longest - 1} characters; if that is"):
        read(text, limits=Limits(line=longest - 1))
    with pytest.raises(LimitError, match=r"more than 8 empty lines one after the other; .*--limit empty_lines=N"):
        read(b"\n \n" * 5 + text, limits=Limits(empty_lines=8))
    for last in (b"a" * 200, b"a" * 200 + b"\n"):  # also where it does not end
        with pytest.raises(LimitError, match=rf"line {text.count(b'%c' % 10) + 1}: the line is longer"):
            read(text + last, limits=Limits(line=150))


def test_plain_sentences_to_parse(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(b"a b c d\n")
    assert len(plain_sentences(str(tmp_path / "plain.txt"), limits=Limits(tokens=4))) == 1
    with pytest.raises(LimitError, match="line 1: the sentence has more than 3 tokens"):
        plain_sentences(str(tmp_path / "plain.txt"), limits=Limits(tokens=3))


def test_a_story() -> None:
    read, text = LINES["read_muc"]
    read(text * 2, limits=Limits(sentence=len(text)))
    with pytest.raises(LimitError, match="line 5: the sentence is longer than 30 characters"):
        read(text, limits=Limits(sentence=30))


@pytest.mark.parametrize("name", FILES)
def test_files_that_are_read_whole(name: str) -> None:
    read, text = FILES[name]
    read(text, limits=Limits(file=len(text)))
    with pytest.raises(LimitError, match=rf"the file is larger than {len(text) - 1} bytes; .*--limit file=N"):
        read(gzip.compress(text), limits=Limits(file=len(text) - 1))


def test_comments_and_pieces_of_columns() -> None:
    text = b"# one\n# two\na X\nb Y\n\n"
    for chunk_size in (1, 3, 1000):
        found = list(
            iter_columns(text, comment="#", chunk_size=chunk_size, limits=Limits(tokens=2, line=5, sentence=8))
        )
        assert [columns[0] for columns in found] == [[("a", "X"), ("b", "Y")]]
        with pytest.raises(LimitError, match="line 4: the sentence has more than 1 tokens"):
            list(iter_columns(text, comment="#", chunk_size=chunk_size, limits=Limits(tokens=1)))


def test_limits_are_numbers() -> None:
    for wrong in (0, -1, 1.5, True, "9", 2**70):
        with pytest.raises(ValueError, match="line of Limits should be an integer"):
            Limits(line=wrong)  # type: ignore[arg-type]


def endless(piece: bytes, megabytes: int) -> bytes:
    """A gzip file of so many megabytes of the same."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6) as file:
        block = piece * ((1 << 20) // len(piece))
        for _ in range(megabytes):
            file.write(block)
    return packed.getvalue()


def test_what_is_compressed_grows_only_so_far() -> None:
    sentence = b"a" * 2044 + b" X\n\n"
    bomb = endless(sentence, 80)  # no other limit is met
    with pytest.raises(LimitError, match=r"more than 256 times as large as the gzip file; .*--limit expansion=N"):
        read_columns(bomb)
    assert len(read_columns(bomb, limits=Limits(expansion=10_000))) == 80 * ((1 << 20) // 2048)


BOMB = textwrap.dedent("""
    import resource, sys
    import margent.cli.tasks.tagger, margent.formats.dependencies
    from margent.formats import *
    from margent.errors import LimitError
    path, names = sys.argv[1], sys.argv[2:]
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name in names:
        try:
            for _ in globals()[name](path):
                pass
        except LimitError:
            continue
        raise SystemExit(f"{name} took it all")
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - used) // 1024)
""")


SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


@pytest.mark.skipif(SANITIZED, reason="the address sanitizer reserves more addresses than the limit of the process")
@pytest.mark.parametrize("piece", [b"a", b"\n", b" ", b"#\n", b"a X\n"], ids=repr)
def test_bombs_take_little_memory(piece: bytes, tmp_path: Path) -> None:
    (tmp_path / "bomb.gz").write_bytes(endless(piece, 150))
    names = ["iter_columns", "read_columns"]
    if piece in (b"a", b"\n", b" "):
        names += ["iter_conllu", "iter_crfsuite"]
    command = [sys.executable, "-c", BOMB, str(tmp_path / "bomb.gz"), *names]
    result = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=_limited)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 150, f"{result.stdout} MB"


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))


def test_arrays_that_are_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, small=np.zeros((100, 2)), large=np.zeros((1 << 20, 9)))
    assert read_array(path, "small").shape == (100, 2)
    with pytest.raises(LimitError, match=r"a.npz\[large\]: the text is more than 256 times"):
        read_array(path, "large")
    assert read_array(path, "large", limits=Limits(expansion=2000)).shape == (1 << 20, 9)
    assert issubclass(LimitError, CorpusError)
