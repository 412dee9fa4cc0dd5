"""Loaders of treebanks with dependency trees, from files that the user has fetched; see `margent.datasets.text`."""

from __future__ import annotations

import os

from margent.datasets.text import DataHome, Dataset, Part, ud_dataset
from margent.errors import CorpusError
from margent.formats.dependencies import read_dependencies

# Sentences of the files wsj_0001 to wsj_0159, and up to wsj_0179; the file of trees of phrases names them.
_SENTENCES, _TRAIN, _DEV = 3914, 3396, 3396 + 273


def load_ud_dependencies(
    treebank: str = "english-ewt", *, single_root: bool = True, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """A treebank of Universal Dependencies with its trees: X form, upos, xpos, feats and lemma, y `DependencyTree`.

    The files are those of `load_ud`; `single_root`: whether a tree with several roots is refused.
    """
    return ud_dataset(treebank, data_home, lambda path: Part(*read_dependencies(path, single_root=single_root)))


def load_treebank_dependencies(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Dependency trees of the sample of the Penn Treebank that NLTK distributes, without labels: X has the words with
    their tags as xpos, y `DependencyTree`.

    3,914 sentences of the Wall Street Journal, split as `load_treebank_trees` splits them: files wsj_0001 to wsj_0159
    are `train`, up to wsj_0179 `dev`, up to wsj_0199 `test`. File: ``treebank-sample/wsj-dep.tsv``, a word, its tag and
    its head on each line, with tabs between them, a blank line after each sentence.
    """
    home = DataHome(
        data_home,
        ["treebank-sample"],
        "NLTK's data set 'dependency_treebank' (nltk.corpus.dependency_treebank.parsed_sents())",
    )
    path = home.find("wsj-dep.tsv")
    X, y = read_dependencies(path, "columns", columns="form,xpos,head")
    if len(y) != _SENTENCES:
        raise CorpusError(f"{path}: found {len(y)} sentences, expected the {_SENTENCES} of the sample")
    train, dev, test = (
        Part(X[part], y[part]) for part in (slice(_TRAIN), slice(_TRAIN, _DEV), slice(_DEV, _SENTENCES))
    )
    return Dataset(
        "treebank-dependencies",
        train=train,
        dev=dev,
        test=test,
        description="Dependency trees, 5 % of the Wall Street Journal; Marcus, Santorini and Marcinkiewicz 1993.",
        terms="Non-commercial use only.",
    )
