from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.errors import CorpusError
from margent.formats.source import Source, open_target

texts = st.text(st.characters(blacklist_categories=("Cs",)), max_size=30)


@settings(deadline=None)
@given(texts, st.sampled_from(["utf-8", "utf-16", "utf-32-le", "utf-8-sig"]), st.booleans(), st.integers(1, 5))
def test_text_comes_back_whatever_the_pieces(text, encoding, packed, size):
    data = text.encode(encoding)
    data = gzip.compress(data) if packed else data
    if not packed and data.startswith(b"\x1f\x8b"):
        return
    assert "".join(Source(io.BytesIO(data), encoding).text(size)) == text
    assert b"".join(Source(io.BytesIO(data), encoding).utf8(size)).decode("utf-8-sig") == text.removeprefix("\ufeff")


@settings(deadline=None)
@given(
    st.lists(st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\n\r"), max_size=5), min_size=1)
)
def test_lines_end_at_line_feeds_only(lines):
    lines = [line.removeprefix("\ufeff") for line in lines]
    for end in ("\n", "\r\n"):
        text = "\ufeff" + "".join(line + end for line in lines)
        assert list(Source(text.encode()).lines()) == list(enumerate(lines, start=1))


def test_undecodable_text_is_found_in_its_line():
    data = "a\nb\nñ\n".encode("latin-1")
    with pytest.raises(CorpusError, match="<bytes>, line 3: the text is not valid utf-8"):
        list(Source(data).lines())
    with pytest.raises(CorpusError, match="<BytesIO>, line 3: the text is not valid utf-8"):
        "".join(Source(io.BytesIO(data)).text(1))
    with pytest.raises(CorpusError, match="line 2: the text is not valid utf-16"):
        list(Source("a\nb".encode("utf-16") + b"x", "utf-16").lines())


def test_codecs_that_are_not_of_text_are_refused():
    with pytest.raises(CorpusError, match="'hex' is not one"):
        Source(b"", "hex")
    with pytest.raises(CorpusError, match="'hex' is not one"), open_target(io.BytesIO(), "hex"):
        pass


@settings(deadline=None)
@given(st.lists(texts, max_size=4), st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]))
def test_a_byte_order_mark_that_is_text_survives(parts, encoding):
    file = io.BytesIO()
    with open_target(file, encoding) as write:
        for part in parts:
            write(part)
    lines = [line for _, line in Source(file.getvalue(), encoding).lines()]
    if not file.getvalue().startswith(b"\x1f\x8b"):
        expected = "".join(parts).split("\n")
        assert lines == [line.removesuffix("\r") for line in (expected if expected[-1] else expected[:-1])]


def test_targets(tmp_path, capfdbinary):
    for name in ("plain", "packed.gz"):
        with open_target(tmp_path / name, "latin-1") as write:
            write("ñ\n")
            assert not (tmp_path / name).exists()
        assert list(Source(tmp_path / name, "latin-1").lines()) == [(1, "ñ")]
    assert (tmp_path / "packed.gz").read_bytes().startswith(b"\x1f\x8b")
    text, binary = io.StringIO(), io.BytesIO()
    for target in (text, binary, "-"):
        with open_target(target) as write:
            write("ñ")
    assert (text.getvalue(), binary.getvalue()) == ("ñ", "ñ".encode())
    assert capfdbinary.readouterr().out == "ñ".encode()
    with pytest.raises(CorpusError, match="got int"), open_target(3):
        pass


def test_a_file_keeps_its_rights_and_a_link_stays_a_link(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    with open_target(link) as write:
        write("after")
    assert path.read_text() == "after"
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced():
    with open_target(os.devnull) as write:
        write("gone")
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)


def test_an_interrupted_write_leaves_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), open_target(tmp_path / "file") as write:
        write("half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_reading_columns_imports_neither_json_nor_gzip_nor_heavy_packages():
    code = (
        "import sys, numpy; before = set(sys.modules);"
        "from margent.formats import read_columns; read_columns(b'a\\n')[0];"
        "print([m for m in ('gzip', 'sklearn', 'scipy', 'margent.formats.jsonl') if m in set(sys.modules) - before])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "x.txt"
    with pytest.raises(FileNotFoundError, match=r"nowhere/x\.txt'$"), open_target(path, "utf-8"):
        pass
