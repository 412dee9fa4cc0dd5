"""Atoms of tokens against a plain twin; what stays when a map grows; files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle import token_atoms as twin

from margent import CorpusError, ModelFileError, storage
from margent.features.derived import DERIVATIONS
from margent.features.token_atoms import TokenAtoms, is_token_atom
from margent.features.word_clusters import WordClusters
from margent.formats import Columns

CLUSTERS = {"Cat": "0110", "dog": "0111", "DOGS": "01"}
NAMES = (
    *("word", "lower", "lemma", "upos", "xpos", "feats", "feat.Case", "prefix1", "suffix2", "shape", "capitalisation"),
    *("cluster", "cluster2"),
)
words = st.sampled_from(["Cat", "cat", "dog", "DOGS", "_", "7-2", "é", "dogs"])
tags = st.sampled_from(["NOUN", "VERB", "_"])
morphology = st.sampled_from(["_", "Case=Nom", "Case=Acc|Number=Sing", "Number=Sing|Case=Nom", "a|b"])
tokens = st.tuples(words, tags, tags, morphology, words)
sentences = st.lists(st.lists(tokens, min_size=1, max_size=4), min_size=1, max_size=5)


@given(sentences, sentences, st.integers(1, 3))
def test_numbers_are_those_of_the_twin(train: list, test: list, min_count: int) -> None:
    atoms = TokenAtoms(NAMES, WordClusters(CLUSTERS))
    first, second = atoms.encode(train, grow=True, min_count=min_count), atoms.encode(Columns.from_sentences(test))
    expected = twin.encoded(train, test, NAMES, DERIVATIONS, CLUSTERS, min_count)
    assert (first.atoms.tolist(), second.atoms.tolist()) == expected
    assert first.sequence_ptr.tolist() == [0, *np.cumsum([len(sentence) for sentence in train])]
    assert first.atoms.dtype == np.int32 and first.atoms.flags["C_CONTIGUOUS"]
    assert (first.atoms < atoms.n_values).all()


def test_what_is_known_keeps_its_number_when_a_copy_grows() -> None:
    atoms = TokenAtoms(["word", "suffix2"])
    before = atoms.encode([["cats", "dogs"]], grow=True)
    grown = atoms.copy()
    after = grown.encode([["birds", "cats"]], grow=True)
    assert after.atoms.tolist() == [[3, 3], [1, 1]]
    assert grown.name(0, 3) == "birds" and grown.name(1, 0) == "?"
    assert atoms.encode([["birds", "cats"]]).atoms.tolist() == [[0, 0], before.atoms[0].tolist()]


def test_columns_that_are_not_given_are_not_known() -> None:
    atoms = TokenAtoms(["word", "upos", "feat.Case"])
    atoms.encode([[("I", "PRON", "PRP", "Case=Nom")]], grow=True)
    assert atoms.encode([["I", "I"]]).atoms.tolist() == [[1, 0, 0], [1, 0, 0]]
    assert atoms.encode([]).atoms.shape == (0, 3)


def test_a_part_has_the_sentences_asked_for() -> None:
    encoded = TokenAtoms(["word"]).encode([["a"], ["b", "c"], ["d", "e", "f"]], grow=True)
    part = encoded.part(np.array([2, 0]))
    assert part.atoms[:, 0].tolist() == [4, 5, 6, 1] and part.sequence_ptr.tolist() == [0, 3, 4]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["word", "wrod"], "there is no atom 'wrod' of a token; expected one of word, lower"),
        (["cluster4"], "the atom 'cluster4' needs clusters of words"),
        (["word", "word"], "expected different atoms"),
        (["feat."], "there is no atom 'feat.'"),
    ],
)
def test_wrong_names_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        TokenAtoms(names)


def test_names_of_atoms() -> None:
    assert all(map(is_token_atom, NAMES))
    assert not any(map(is_token_atom, ["form", "cluster0", "cluster04", "suffix99", "feat", "s0.word"]))


def test_too_many_columns_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"up to 5 columns \(form, upos, xpos, feats, lemma\), got 6"):
        TokenAtoms(["word"]).encode([[("a",) * 6]])


def test_a_file_gives_the_same_numbers(tmp_path: Path) -> None:
    atoms = TokenAtoms(NAMES, WordClusters(CLUSTERS))
    atoms.encode([[("Cat", "NOUN", "NN", "Case=Nom", "cat"), ("dog", "_", "_", "_", "_")]], grow=True)
    header, arrays = atoms.stored()
    storage.write(tmp_path / "atoms", header, arrays)
    restored = TokenAtoms.restored(storage.read(tmp_path / "atoms"))
    X = [[("dog", "NOUN", "NN", "Case=Nom", "cat"), ("bird", "VERB", "_", "_", "_")]]
    assert (restored.encode(X).atoms == atoms.encode(X).atoms).all()
    assert restored.names == atoms.names and (restored.n_values == atoms.n_values).all()
    storage.write(tmp_path / "atoms", header | {"atoms": ["wrod"]}, arrays)
    with pytest.raises(ModelFileError, match="there is no atom 'wrod'"):
        TokenAtoms.restored(storage.read(tmp_path / "atoms"))
