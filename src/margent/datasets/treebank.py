"""The public sample of the Penn Treebank, as phrase-structure trees."""

from __future__ import annotations

import os
import re

from margent.annotation.phrase_tree import PhraseTree
from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError
from margent.formats.brackets import chosen_parts, tokens_of
from margent.formats.source import Source

# Files 0001 to 0159 to train on, 0160 to 0179 to develop on, the rest to test.
_DEV, _TEST = 160, 180


def load_treebank_trees(
    *, functions: bool = False, traces: bool = False, data_home: str | os.PathLike[str] | None = None
) -> Dataset:
    """The trees of the sample of the Penn Treebank that NLTK distributes: X words with their tags, y trees.

    X are `Columns` of word and tag, y is a list of `PhraseTree`. Files wsj_0001 to wsj_0159 are `train`, up to wsj_0179
    `dev`, up to wsj_0199 `test`. File: ``treebank-sample/wsj-trees.tsv``, the name of a file, a tab and a tree in
    brackets on each line.

    Parameters
    ----------
    functions, traces : bool
        Whether function tags and empty elements are kept, as for `read_brackets`.
    """
    home = DataHome(
        data_home, ["treebank-sample"], "NLTK's data set 'treebank' (nltk.corpus.treebank.parsed_sents(), one a line)"
    )
    source = Source(home.find("wsj-trees.tsv"))
    parts: tuple[list[PhraseTree], list[PhraseTree], list[PhraseTree]] = ([], [], [])
    for number, line in source.lines():
        file, _, text = line.partition("\t")
        if not re.fullmatch(r"wsj_\d{4}", file):
            raise source.error(number, f"expected the name of a file such as wsj_0001 and a tab, got {line[:40]!r}")
        try:
            tree = PhraseTree.from_brackets(text)
        except CorpusError as error:
            raise source.error(number, str(error)) from None
        tree = chosen_parts(tree, functions=functions, traces=traces, unaries=True)
        if len(tree):
            which = int(file[4:])
            parts[(which >= _DEV) + (which >= _TEST)].append(tree)
    train, dev, test = (Part(tokens_of(trees), trees) for trees in parts)
    return Dataset(
        "treebank-trees",
        train=train,
        dev=dev,
        test=test,
        description="Phrase-structure trees, 5 % of the Wall Street Journal; Marcus, Santorini and Marcinkiewicz 1993.",
        terms="Non-commercial use only.",
    )
