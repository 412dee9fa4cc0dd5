"""Vectors of words: text files, folders, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from margent import WordVectors
from margent.errors import CorpusError


def test_files_and_folders(tmp_path):
    (tmp_path / "v.txt").write_text("2 3\ncat 1 2 3\ndog 0.5 -1 1e-2\ncat 9 9 9\n")
    vectors = WordVectors.read(tmp_path / "v.txt")
    assert vectors.words == ("cat", "dog") and vectors.dimensions == 3 and len(vectors) == 2
    assert vectors.vectors[1].tolist() == pytest.approx([0.5, -1, 0.01])
    assert vectors.find("DOG") == 1 and vectors.find("bird") == -1
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "words.txt").write_text("a\nb\n")
    np.save(folder / "m.npy", np.eye(2, dtype=np.float16))
    assert WordVectors.read(folder).vectors.dtype == np.float16
    np.save(folder / "n.npy", np.eye(2))
    with pytest.raises(CorpusError, match=r"expected words.txt and one matrix \*.npy, got 2 matrices"):
        WordVectors.read(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "expected vectors of words, got none"), ("a 1\n2\n", "line 2: expected a word and 1 numbers"),
     ("a 1 x\n", "line 1: expected a word"), ("a 1 2\nb 1\n", "line 2: expected a word and 2 numbers"),
     ("a inf 2\n", "finite numbers")],
)  # fmt: skip
def test_wrong_files_are_refused(text, message, tmp_path):
    (tmp_path / "v.txt").write_text(text)
    with pytest.raises(CorpusError, match=message):
        WordVectors.read(tmp_path / "v.txt")


def test_wrong_arrays_are_refused():
    with pytest.raises(CorpusError, match=r"shape \(1, d\), one for each word"):
        WordVectors(["a"], np.zeros((2, 2)))
    with pytest.raises(CorpusError, match="different words"):
        WordVectors(["a", "a"], np.zeros((2, 2)))
