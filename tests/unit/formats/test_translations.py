"""Parallel text, word alignments and language models as files."""

from __future__ import annotations

import pytest

from margent.annotation import WordAlignment
from margent.errors import CorpusError
from margent.formats import (
    read_arpa,
    read_parallel_text,
    read_word_alignments,
    write_parallel_text,
    write_word_alignments,
)


@pytest.mark.parametrize("separator", ["tab", "bars"])
def test_parallel_text_comes_back(tmp_path, separator):
    X, y = [["a", "b"], ["c"]], [["x"], ["y", "|", "z"]]
    write_parallel_text(tmp_path / "pairs", X, y, separator=separator)
    assert read_parallel_text(tmp_path / "pairs") == (X, y)


def test_wrong_parallel_text_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="line 2: expected words on both sides"):
        read_parallel_text(b"a\tb\nc\t \n")
    with pytest.raises(CorpusError, match=r"line 1: expected a sentence, a tab or \|\|\| and its translation, got 1"):
        read_parallel_text(b"a b\n")
    with pytest.raises(CorpusError, match="pair 0: expected words without blanks"):
        write_parallel_text(tmp_path / "pairs", [["a b"]], [["x"]])
    with pytest.raises(CorpusError, match="pair 0: expected words without blanks"):
        write_parallel_text(tmp_path / "pairs", [["|||"]], [["x"]])
    assert not (tmp_path / "pairs").exists()


def test_word_alignments_come_back(tmp_path):
    alignments = [WordAlignment.parse(text) for text in ("1-0 0-1", "", "0?0 2-3")]
    write_word_alignments(tmp_path / "links.gz", alignments)
    assert read_word_alignments(tmp_path / "links.gz") == alignments
    with pytest.raises(CorpusError, match="line 2: expected a link as '3-4' or '3\\?4', got 'x'"):
        read_word_alignments(b"0-0\nx\n")


ARPA = """\\data\\
ngram 1=3
ngram 2=1

\\1-grams:
-1\t<unk>\t0
-0.5\ta\t-0.2
-0.4\t</s>

\\2-grams:
-0.1\ta </s>

\\end\\
"""


def test_a_language_model_is_read():
    words, (one, two) = read_arpa(ARPA.encode())
    assert words == ["<unk>", "a", "</s>"]
    assert one.log10_p.tolist() == [-1, -0.5, -0.4] and one.log10_backoff.tolist() == [0, -0.2, 0]
    assert two.words.tolist() == [[1, 2]] and two.log10_p.tolist() == [-0.1]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ngram 2=1", "ngram 2=2", "expected 2 grams of 2 words, got 1"),
        ("ngram 2=1", "ngram 3=1", "expected 'ngram 2=' and a count"),
        ("\\end\\", "", "begins with .* and ends with"),
        ("\\2-grams:", "\\3-grams:", "expected the grams of 2 words"),
        ("-0.1\ta </s>", "-0.1\ta b", "the word 'b' is not among those of one word"),
        ("-0.1\ta </s>", "0.1\ta </s>", "expected a log-probability, 2 words"),
        ("-0.1\ta </s>", "nan\ta </s>", "expected a log-probability, 2 words"),
        ("-0.1\ta </s>", "x\ta </s>", "expected a log-probability, words"),
        ("-0.1\ta </s>", "-0.1\ta", "expected a log-probability, 2 words"),
        ("-0.5\ta\t-0.2", "-0.5\ta\tinf", "expected a log-probability, 1 words"),
        ("-0.5\ta\t", "-0.5\t<unk>\t", "the word '<unk>' stands there twice"),
    ],
)
def test_a_wrong_language_model_is_refused(old, new, message):
    assert old in ARPA
    with pytest.raises(CorpusError, match=message):
        read_arpa(ARPA.replace(old, new).encode())
