from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent.annotation import Interval
from margent.errors import CorpusError
from margent.formats import LABEL_FORMATS, read_labels, read_mlf, read_textgrid, write_labels, write_mlf, write_textgrid

TIMIT = b"0 2400 h#\n2400 4000 sh\n4000 8000 iy\n"
HTK = b"0 1500000 sil -12.5 word\n1500000 2500000 \"sh\"\n2500000 5000000 'iy'\n///\n0 5000000 other\n"
XWAVES = b"separator ;\nnfields 1\n#\n    0.15 121 pau ; x\n    0.25000 26 \tsh\n   0.5 121 iy\n"
AUDACITY = b"0.000000\t0.150000\tpau\n0.15\t0.25\tsh\n\\\t100.0\t200.0\n0.25\t0.5\ttwo words\n"
LONG = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 0.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "phones"
        xmin = 0
        xmax = 0.5
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 0.15
            text = "pau"
        intervals [2]:
            xmin = 0.15
            xmax = 0.25
            text = "he said ""ʃ"" !"
        intervals [3]: ! a comment 7 "not read"
            xmin = 0.25
            xmax = 0.5
            text = ""
    item [2]:
        class = "TextTier"
        name = "points"
        xmin = 0
        xmax = 0.5
        points: size = 1
        points [1]:
            number = 0.2
            mark = "here"
"""
SHORT = """File type = "ooTextFile"
"TextGrid"

0
0.5
<exists>
2
"IntervalTier"
"phones"
0
0.5
3
0
0.15
"pau"
0.15
0.25
"he said ""ʃ"" !"
0.25
0.5
""
"TextTier"
"points"
0
0.5
1
0.2
"here"
"""
PHONES = [(0.0, 0.15, "pau"), (0.15, 0.25, 'he said "ʃ" !'), (0.25, 0.5, "")]


@pytest.mark.parametrize(
    ("name", "content", "labels"),
    [
        ("a.PHN", TIMIT, ["h#", "sh", "iy"]),
        ("a.lab", HTK, ["sil", "sh", "iy"]),
        ("a.lab", XWAVES, ["pau", "sh", "iy"]),
        ("a.txt", AUDACITY, ["pau", "sh", "two words"]),
        ("a", AUDACITY, ["pau", "sh", "two words"]),
        ("a.phn.gz", gzip.compress(TIMIT, mtime=0), ["h#", "sh", "iy"]),
        ("a.phn", TIMIT.replace(b"\n", b"\r\n"), ["h#", "sh", "iy"]),
        ("a.mlf", b'#!MLF!#\n"*/a.lab"\n' + HTK.partition(b"///")[0] + b".\n", ["sil", "sh", "iy"]),
    ],
)
def test_the_format_is_recognised(tmp_path: Path, name: str, content: bytes, labels: list[str]) -> None:
    (tmp_path / name).write_bytes(content)
    intervals = read_labels(tmp_path / name)
    assert [(i.start, i.end) for i in intervals] == [(0.0, 0.15), (0.15, 0.25), (0.25, 0.5)]
    assert [i.label for i in intervals] == labels
    assert isinstance(intervals[0], Interval)


@pytest.mark.parametrize("text", [LONG, SHORT], ids=["long", "short"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be with a mark"])
def test_textgrids_of_both_formats_in_all_encodings(tmp_path: Path, text: str, encoding: str) -> None:
    raw = b"\xfe\xff" + text.encode("utf-16-be") if "mark" in encoding else text.encode(encoding)
    path = tmp_path / "a.TextGrid"
    path.write_bytes(raw)
    assert read_labels(path) == PHONES  # the tier of points does not count
    assert read_textgrid(path) == {"phones": PHONES}
    assert read_labels(path, tier="phones") == read_labels(io.BytesIO(raw)) == PHONES
    with pytest.raises(CorpusError, match=r"a\.TextGrid: there is no tier 'points'; found 'phones'"):
        read_labels(path, tier="points")


def test_an_encoding_that_the_file_does_not_tell_can_be_named() -> None:
    raw = LONG.replace("ʃ", "é").encode("latin-1")
    with pytest.raises(CorpusError, match=r"<bytes>, line 22: the text is not valid utf-8 .*; name the encoding"):
        read_labels(raw)
    assert read_labels(raw, encoding="latin-1")[1].label == 'he said "é" !'
    assert read_labels(io.StringIO(LONG)) == PHONES


def test_a_textgrid_of_several_tiers_needs_the_name_of_one(tmp_path: Path) -> None:
    path = tmp_path / "both.TextGrid"
    write_textgrid(path, {"words": [(0.0, 0.5, "she")], "phones": PHONES[:2]})
    with pytest.raises(CorpusError, match=r"expected one tier or the name of one .*, found 2 \('words', 'phones'\)"):
        read_labels(path)
    assert read_labels(path, tier="words") == [(0.0, 0.5, "she")]
    assert read_labels(path, tier="phones") == PHONES  # what lacks at the end has an empty text


def test_no_tiers() -> None:
    empty = b'"ooTextFile"\n"TextGrid"\n0 1\n<absent>\n'
    assert read_textgrid(empty) == {}
    with pytest.raises(CorpusError, match=r"found 0 \(none\)"):
        read_labels(empty, "textgrid")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LONG.replace("size = 3", "size = 4"), r'line 28: expected xmin, got "TextTier"'),
        (LONG.replace('"IntervalTier"', '"Tier"'), r"line 10: expected \"IntervalTier\" or \"TextTier\", got 'Tier'"),
        (LONG[:700], r"line \d+: the file ends where .* was expected"),
        (LONG.replace('"here"', '"here'), "line 35: a string begins here that does not end"),
        (LONG.replace("xmax = 0.25", "xmax = 0.35"), "line 24: .* begins at 0.25 s, before .* ends at 0.35 s"),
        (LONG.replace('name = "phones"', "name = 5"), "line 11: expected the name of a tier in double quotes, got 5"),
        (LONG.replace("<exists>", '"yes"').replace('"TextGrid"', '"Pitch"'), 'begins with "ooTextFile" and "TextGrid"'),
        (LONG.replace("size = 2", "size = 1.5"), "line 7: expected the number of tiers, got 1.5"),
        ("ooBinaryFile\x08TextGrid", "binary format"),
        (LONG.replace('"TextTier"', '"IntervalTier"').replace('"points"', '"phones"')
             .replace("number = 0.2", "xmin = 0\nxmax = 1"), "the tier 'phones' is there twice"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_textgrid_is_said(text: str, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_labels(text.encode(), "textgrid")


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("timit", b"0 10 a\n10 b\n", "<bytes>, line 2: expected the first sample, .* got .10 b"),
        ("timit", b"0 10 a\n\n5 20 b\n", "line 3: 'b' begins at .* before the interval in front of it ends"),
        ("timit", b"10 10 a\n", "line 1: 'a' is from .* expected it to end after it begins"),
        ("htk", b"sil\nsh\n", "line 1: expected a start and an end in units of 100 ns and a label, got 'sil'"),
        ("xwaves", b"#\n0.1 121 a\nx 121 b\n", "line 3: expected an end in seconds, a colour and a label"),
        ("xwaves", b"#\n0.2 121 a\n0.1 121 b\n", "line 3: 'b' is from 0.2 to 0.1 s"),
        ("audacity", b"0.1 0.2 a\n", "line 1: expected a start and an end in seconds and a label, with tabs"),
        ("audacity", b"0.1\t0.1\ta\n", "line 1: expected labels of stretches of time"),
        ("mlf", b"0 10 a\n", "line 1: expected #!MLF!#, got '0 10 a'"),
        ("mlf", b'#!MLF!#\n"a"\n0 10 a\n', "line 2: the labels of 'a' do not end"),
        ("mlf", b'#!MLF!#\n"a"\n.\n"*/a.rec"\n.\n', "line 4: the utterance 'a' is there twice"),
        ("mlf", b"#!MLF!#\n0 10 a\n.\n", "line 2: expected the name of an utterance"),
        ("mlf", b'#!MLF!#\n"*/b.lab" -> "dir"\n', "line 2: expected the name of an utterance"),
        ("mlf", b'#!MLF!#\n"a"\n.\n"b"\n.\n', r"found 2 \('a', 'b'\)"),
        ("mp3", b"", "unknown label format 'mp3'; the formats are timit, htk"),
        (None, b"0 10 a\n", "<bytes>: cannot tell the format of the labels; expected it to be named"),
        (None, b"", "cannot tell the format"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_said_with_its_line(format: str | None, content: bytes, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        read_labels(content, format)


def test_samples_are_counted_at_the_rate_that_is_named() -> None:
    assert read_labels(b"0 800 a\n", "timit", rate=8000) == [(0.0, 0.1, "a")]
    with pytest.raises(ValueError, match="expected rate > 0"):
        read_labels(b"0 800 a\n", "timit", rate=0)


labels = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Z"), exclude_characters="\"';\\#"), min_size=1
)
milliseconds = st.lists(st.integers(1, 400), min_size=1, max_size=6)


@pytest.mark.parametrize("format", [name for name in LABEL_FORMATS if name != "mlf"])
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_what_is_written_is_read_again(format: str, data: st.DataObject) -> None:
    intervals, end = [], 0
    for duration in data.draw(milliseconds):
        intervals.append(Interval(end / 1000, (end + duration) / 1000, data.draw(labels)))
        end += duration
    target = io.BytesIO()
    write_labels(target, intervals, format)
    assert read_labels(target.getvalue(), format) == intervals


def test_many_utterances_in_one_file(tmp_path: Path) -> None:
    utterances = {"a": [(0.0, 0.1, "sil"), (0.1, 0.2, "two words")], "b": [(0.0, 0.5, "1")], "c": []}
    write_mlf(tmp_path / "all.mlf", utterances)
    assert read_mlf(tmp_path / "all.mlf") == utterances
    assert (tmp_path / "all.mlf").read_text().startswith('#!MLF!#\n"*/a.lab"\n0 1000000 sil\n1000000 2000000 "two w')


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=9), min_size=1, max_size=3), st.booleans())
def test_any_text_survives_in_a_textgrid(texts: dict[str, str], short: bool) -> None:
    # Praat has one kind of line end, and what cannot be encoded cannot be written.
    clean = {k.encode("utf-8", "ignore").decode(): v.encode("utf-8", "ignore").decode() for k, v in texts.items()}
    clean = {k.replace("\r", ""): v.replace("\r", "") for k, v in clean.items()}
    target = io.BytesIO()
    write_textgrid(target, {name: [(0.0, 1.25, text)] for name, text in clean.items()}, short=short, end=2.0)
    assert read_textgrid(target.getvalue()) == {
        name: [(0.0, 1.25, text), (1.25, 2.0, "")] for name, text in clean.items()
    }


def test_the_ending_of_a_name_chooses_the_format(tmp_path: Path) -> None:
    for name, start in (("a.phn", "0 1600 a\n"), ("a.lab", "0 1000000 a\n"), ("a.txt", "0.000000\t0.100000\ta\n")):
        write_labels(tmp_path / name, [(0.0, 0.1, "a")])
        assert (tmp_path / name).read_text() == start
    write_labels(tmp_path / "a.TextGrid", [(0.0, 0.1, "a")], tier="phones")
    assert list(read_textgrid(tmp_path / "a.TextGrid")) == ["phones"]


@pytest.mark.parametrize(
    ("name", "intervals", "format", "message"),
    [
        ("a.wav", [], None, r"a\.wav: expected an ending that names a format \(\.phn"),
        ("a.mlf", [], None, "written by write_mlf"),
        ("a.phn", [(0.0, 0.1, "two words")], None, "'two words' is not one word"),
        ("a.phn", [(0.0, 0.1, "")], None, "'' is not one word"),
        ("a.lab", [(0.0, 0.1, 'a "b"')], None, "has blanks and double quotes"),
        ("a.lab", [(0.1, 0.2, "a")], "xwaves", "begins at 0.1 s; expected 0 s, since the xwaves format"),
        ("a.lab", [(0.0, 0.1, "a;b")], "xwaves", "semicolon"),
        ("a.txt", [(0.0, 0.1, "a\nb")], None, "line end"),
        ("a.txt", [(0.0, 0.2, "a"), (0.1, 0.3, "b")], None, "interval 1: 'b' begins"),
    ],
)  # fmt: skip
def test_what_a_format_cannot_hold_is_not_written(
    tmp_path: Path, name: str, intervals: list, format: str | None, message: str
) -> None:
    with pytest.raises(CorpusError, match=message):
        write_labels(tmp_path / name, intervals, format)
    assert not list(tmp_path.iterdir())


def test_a_textgrid_ends_after_its_labels() -> None:
    with pytest.raises(CorpusError, match=r"the labels end at 1 s, .* should end at 0\.5 s"):
        write_textgrid(io.BytesIO(), {"a": [(0.0, 1.0, "x")]}, end=0.5)


@pytest.mark.parametrize("format", ["timit", "htk"])
@pytest.mark.parametrize("digits", ["9" * 400, "9" * 5000, "٣"], ids=["400", "5000", "other"])
def test_times_of_hundreds_of_digits_are_told(format: str, digits: str) -> None:
    with pytest.raises(CorpusError, match="line 2: expected"):
        read_labels(f"0 1 a\n1 {digits} b\n".encode(), format)


@pytest.mark.parametrize("count", ["nan", "inf", "1e400", "-1", "1.5"])
def test_counts_of_a_textgrid_that_are_none(count: str) -> None:
    text = f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n0\n1\n<exists>\n{count}\n'
    with pytest.raises(CorpusError, match="the number of tiers"):
        read_labels(text.encode())


def test_xwaves_files_have_a_heading() -> None:
    with pytest.raises(CorpusError, match="line 2: expected a heading of xwaves, which ends with a line '#'"):
        read_labels(b"\n0.5 121 a\n1.0 121 b\n", "xwaves")
    assert read_labels(b"#\n0.5 121 a\n", "xwaves")[0].label == "a"
    assert read_labels(b"", "xwaves") == []


def test_labels_of_points_are_told() -> None:
    with pytest.raises(CorpusError, match="line 2: expected labels of stretches of time; this one is of a point"):
        read_labels(b"0.0\t0.5\ta\n0.5\t0.5\tb\n", "audacity")
