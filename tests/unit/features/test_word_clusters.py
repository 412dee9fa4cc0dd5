"""Clusters of words: files in two formats, and bisecting k-means."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from margent import CorpusError
from margent.features.word_clusters import WordClusters


def test_files_of_words_and_of_paths(tmp_path: Path) -> None:
    (tmp_path / "two.tsv").write_text("cat\t0110\ndog\t0111\n")
    (tmp_path / "paths").write_text("0110\tcat\t12\n0111\tdog\t3\n")
    for name in ("two.tsv", "paths"):
        clusters = WordClusters.of(tmp_path / name)
        assert [clusters.find(word) for word in ("cat", "DOG", "bird")] == ["0110", "0111", None]


@pytest.mark.parametrize(
    ("text", "message"),
    [("cat\n", "line 1: expected a word, a tab"), ("cat\t0\n\t1\n", "line 2: .* empty cell"), ("\n", "got none")],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "wrong").write_text(text)
    with pytest.raises(CorpusError, match=message):
        WordClusters.from_file(tmp_path / "wrong")


def test_vectors_that_lie_together_share_the_beginning_of_a_path() -> None:
    generator = np.random.default_rng(0)
    centres = np.kron(np.eye(2), np.array([[1.0, 0.2], [1.0, -0.2]]))  # two pairs of near clusters
    vectors = np.repeat(centres, 10, axis=0) + 0.02 * generator.normal(size=(40, 4))
    words = [f"{group}{i}" for group in "abcd" for i in range(10)]
    clusters = WordClusters.of_vectors(words, vectors, depth=2)
    paths = {group: {clusters.find(f"{group}{i}") for i in range(10)} for group in "abcd"}
    assert all(len(found) == 1 for found in paths.values())
    a, b, c, d = (next(iter(paths[group])) for group in "abcd")
    assert len({a, b, c, d}) == 4 and a[0] == b[0] != c[0] == d[0]


def test_equal_vectors_stay_together() -> None:
    clusters = WordClusters.of_vectors(["a", "b", "c"], np.ones((3, 2)))
    assert {clusters.find(word) for word in "abc"} == {"0"}
    with pytest.raises(CorpusError, match=r"a row of finite numbers for each of 1 words, got shape \(2, 3\)"):
        WordClusters.of_vectors(["a"], np.ones((2, 3)))
