"""Loaders of public corpora of entailment: SNLI, SICK, and small sets related to SNLI."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from margent.annotation.binary_tree import BinaryTree
from margent.annotation.dependency_tree import DependencyTree
from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError
from margent.formats.pairs import LabelledPair, SentencePair, iter_pair_records, iter_pairs
from margent.formats.source import Source

_SNLI = "https://nlp.stanford.edu/projects/snli as tables of label, premise and hypothesis"
_RELATED = {
    "counterfactual": ("cad_nli.tsv", "Counterfactually augmented NLI; Kaushik, Hovy and Lipton 2020.", "Apache-2.0."),
    "breaking": ("breaking_nli.tsv", "Breaking NLI; Glockner, Shwartz and Goldberg 2018.", "CC BY-SA 4.0."),
    "monotonicity": ("monli.tsv", "Monotonicity NLI; Geiger, Richardson and Potts 2020.", "CC BY-SA 4.0."),
}


def load_snli(*, trees: bool = True, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Stanford Natural Language Inference: X pairs of sentences, y entailment, neutral or contradiction.

    `dev` and `test` are complete; `train` is what is in the file, of 550,000 pairs in the release. Files:
    ``snli/snli_train_subset.tsv``, ``snli_dev.tsv`` and ``snli_test.tsv`` with the columns label, premise and
    hypothesis, and for trees ``binary_trees.tsv``, a sentence and its tree on each line.

    Parameters
    ----------
    trees : bool
        Whether sentences come as `BinaryTree`, else as text.
    """
    home = DataHome(data_home, ["snli"], _SNLI)
    known = _trees(home) if trees else None
    train, dev, test = (
        _part(iter_pairs(home.find(f"snli_{name}.tsv")), known) for name in ("train_subset", "dev", "test")
    )
    return Dataset("snli", train, dev, test, "SNLI, part of the training pairs; Bowman et al. 2015.", "CC BY-SA 4.0.")


def load_snli_parses(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Pairs of SNLI's development set with the binary trees of the release, all in `train`.

    File: ``snli/snli_parsed_sample.jsonl``, records of the release. Never to be learned from where SNLI's development
    set is to judge.
    """
    home = DataHome(data_home, ["snli"], _SNLI)
    part = _part(iter_pair_records(home.find("snli_parsed_sample.jsonl")), None)
    return Dataset("snli-parses", part, None, None, "A sample of SNLI dev; Bowman et al. 2015.", "CC BY-SA 4.0.")


def load_sick(*, trees: bool = True, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Sentences Involving Compositional Knowledge: X pairs, y entailment, neutral or contradiction.

    4,500 pairs to train on, 500 to develop, 4,927 to test. Binary trees are made of the dependencies in the file.
    File: ``sick/sick.tsv`` with the columns split, label, a_tokens, a_heads, b_tokens and b_heads.

    Parameters
    ----------
    trees : bool
        Whether sentences come as `BinaryTree`, else as lists of words.
    """
    home = DataHome(data_home, ["sick"], "https://github.com/castorini/MP-CNN-Torch (data/sick) as a table sick.tsv")
    source = Source(home.find("sick.tsv"))
    parts: dict[str, Part] = {name: Part([], []) for name in ("train", "trial", "test")}
    places: dict[str, int] | None = None
    for number, line in source.lines():
        fields = line.split("\t")
        if places is None:
            places = {name: place for place, name in enumerate(fields)}
            missing = [n for n in ("split", "label", "a_tokens", "a_heads", "b_tokens", "b_heads") if n not in places]
            if missing:
                raise source.error(number, f"expected a column {missing[0]!r}, got {', '.join(places)}")
            continue
        if len(fields) != len(places) or fields[places["split"]] not in parts:
            raise source.error(number, f"expected {len(places)} columns and a split of SICK, got {line[:60]!r}")
        pair = []
        for side in ("a", "b"):
            words = fields[places[f"{side}_tokens"]].split(" ")
            try:
                heads = [int(head) for head in fields[places[f"{side}_heads"]].split(" ")]
                pair.append(BinaryTree.from_dependencies(words, DependencyTree(heads)) if trees else words)
            except ValueError as error:
                raise source.error(number, str(error)) from None
        part = parts[fields[places["split"]]]
        part.X.append(SentencePair(*pair))
        part.y.append(fields[places["label"]])
    return Dataset(
        "sick",
        parts["train"],
        parts["trial"],
        parts["test"],
        "SICK, task 1 of SemEval 2014; Marelli et al. 2014.",
        "CC BY-NC-SA 3.0: non-commercial use only.",
    )


def load_related_nli(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Small sets made of SNLI's sentences, to see what a model has understood: X pairs of texts, y labels.

    Parameters
    ----------
    name : "counterfactual", "breaking" or "monotonicity"
        Pairs with a few words changed so that the label changes (train, dev, test; a fifth are SNLI's own); pairs that
        differ in one word (all in `train`); pairs with a word replaced by a more general or special one (`test`: under
        negation). Files: ``nli-extra/cad_nli.tsv``, ``breaking_nli.tsv``, ``monli.tsv``.
    """
    if name not in _RELATED:
        raise CorpusError(f"there is no related set {name!r}; expected one of {', '.join(_RELATED)}")
    file, description, terms = _RELATED[name]
    path = DataHome(data_home, ["nli-extra"], "the publications' repositories as tables").find(file)
    if name == "breaking":
        return Dataset(name, _part(iter_pairs(path), None), None, None, description, terms)
    column, values = ("split", ("train", "dev", "test")) if name == "counterfactual" else ("part", _MONLI)
    found = {value: _part(iter_pairs(path, where=(column, value)), None) for value in values}
    if name == "counterfactual":
        return Dataset(name, found["train"], found["dev"], found["test"], description, terms)
    train = Part(*(a + b for a, b in zip(found["pmonli"], found["nmonli_train"])))
    return Dataset(name, train, None, found["nmonli_test"], description, terms)


_MONLI = ("pmonli", "nmonli_train", "nmonli_test")


def _trees(home: DataHome) -> dict[str, BinaryTree]:
    """By sentence."""
    path: Path = home.find("binary_trees.tsv")
    source, found = Source(path), dict[str, BinaryTree]()
    for number, line in source.lines():
        sentence, _, text = line.partition("\t")
        if number == 1 and text == "binary_parse":
            continue
        try:
            found[sentence] = BinaryTree.from_brackets(text)
        except CorpusError as error:
            raise source.error(number, str(error)) from None
    return found


def _part(pairs: Any, trees: dict[str, BinaryTree] | None) -> Part:
    """Pairs that have a label; sentences as trees where these are given."""
    X, y = list[SentencePair](), list[str]()
    pair: LabelledPair
    for pair in pairs:
        if pair.label is None:
            continue
        sentences: Sequence[Any] = pair.pair
        if trees is not None:
            for sentence in sentences:
                if sentence not in trees:
                    raise CorpusError(f"binary_trees.tsv has no tree of {str(sentence)[:60]!r}")
            sentences = [trees[sentence] for sentence in sentences]
        X.append(SentencePair(*sentences))
        y.append(pair.label)
    return Part(X, y)
