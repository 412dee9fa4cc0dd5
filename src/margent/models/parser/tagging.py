"""Tags that a parser gives words itself: taggers of the same treebank, and what they say of sentences they have not
seen in training, so that the parser learns from tags as good as those that it will get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates
from margent.formats.columns import Columns
from margent.formats.dependencies import DEPENDENCY_COLUMNS
from margent.models.parser.sentences import forms_of
from margent.models.tagger.tagger import Tagger
from margent.processors import in_threads

FOLDS = 10
TAG_COLUMNS = ("upos", "xpos", "feats")
"""What taggers find; for the lemma, a parser with taggers takes the form in lower case."""
_UNKNOWN = "_"

Taggers = Mapping[str, Tagger]


def tagged(taggers: Taggers, columns: Columns, threads: int) -> Columns:
    """The sentences with the tags of these taggers, and with nothing else that was given of words."""
    forms = columns.select(0) if columns.n_tokens else columns
    found = {name: _with_threads(tagger, threads).predict(forms) for name, tagger in taggers.items()}
    return _joined(forms_of(columns), found)


def with_lemmas(columns: Columns) -> Columns:
    """Sentences of form, upos, xpos and feats, and the form in lower case as the lemma, so that templates of lemmas
    see something."""
    rows = [[(*word[: 1 + len(TAG_COLUMNS)], word[0].lower()) for word in sentence] for sentence in columns]
    return Columns.from_sentences(rows, 2 + len(TAG_COLUMNS))


def jackknifed(
    tagger: Tagger, columns: Columns, templates: PartTemplates, seed: int, threads: int
) -> tuple[dict[str, Tagger], Columns]:
    """Taggers of all sentences, one for each column of tags that the templates ask for, and the sentences with tags.

    The tags of each tenth of the sentences are those of a tagger that learned from the others: 10 + 1 trainings for
    each column. Which sentences make a tenth is drawn with the seed. `threads` trainings go on at the same time.
    """
    n = len(columns)
    wanted = _wanted(templates, columns)
    forms = columns.select(0)
    fold_of = np.random.default_rng(seed).permutation(n) % min(FOLDS, n)
    everything = np.arange(n)
    jobs: list[tuple[str, NDArray[np.int64] | None]] = [(name, None) for name in wanted]
    if n > 1:
        jobs += [(name, np.flatnonzero(fold_of == fold)) for name in wanted for fold in range(min(FOLDS, n))]

    def run(job: tuple[str, NDArray[np.int64] | None]) -> Any:
        name, held = job
        tags = columns.select(DEPENDENCY_COLUMNS.index(name))
        rest = everything if held is None else np.setdiff1d(everything, held)
        fitted = _with_threads(tagger, 1).fit(forms[rest], tags[rest], progress=False)
        if fitted.interrupted_:
            raise KeyboardInterrupt
        return fitted if held is None else fitted.predict(forms[held])

    results = in_threads(run, jobs, threads)
    taggers: dict[str, Tagger] = {}
    found: dict[str, list[Sequence[str]]] = {name: [()] * n for name in wanted}
    for (name, held), result in zip(jobs, results):
        if held is None:
            taggers[name] = _with_threads(result, tagger.threads)
        else:
            for s, tags in zip(held.tolist(), result):
                found[name][s] = tags
    return taggers, _joined(forms_of(columns), found) if n > 1 else tagged(taggers, columns, threads)


def continued(taggers: Taggers, columns: Columns, threads: int) -> tuple[dict[str, Tagger], Columns]:
    """The taggers after further training, and the sentences with the tags that they gave them before it."""
    before = tagged(taggers, columns, threads)
    forms = columns.select(0)
    grown = {}
    for name, tagger in taggers.items():
        column = DEPENDENCY_COLUMNS.index(name)
        if column >= columns.n_columns:
            raise CorpusError(f"the parser has a tagger of its own for {name}, which the training data do not have")
        grown[name] = _with_threads(tagger, tagger.threads).partial_fit(forms, columns.select(column), progress=False)
    return grown, before


def _with_threads(tagger: Tagger, threads: int | None) -> Tagger:
    """The same parameters, and what was learned, with so many threads: several trainings go on at a time."""
    other = Tagger(**(tagger.get_params(deep=False) | {"threads": threads}))
    if hasattr(tagger, "model_"):
        other.model_ = tagger.model_
    return other


def _wanted(templates: PartTemplates, columns: Columns) -> list[str]:
    """The columns of tags that templates look at, so far as these data have them."""
    asked = {"feats" if name.startswith("feat.") else name for name in templates.token_atoms}
    found = []
    for name in TAG_COLUMNS:
        place = DEPENDENCY_COLUMNS.index(name)
        if name not in asked or place >= columns.n_columns:
            continue
        if any(tag != _UNKNOWN for tags in columns.column(place) for tag in tags):
            found.append(name)
    if not found:
        raise CorpusError(
            "a tagger was given, but the training data have no tags that the templates look at; expected columns of "
            f"{', '.join(TAG_COLUMNS)}"
        )
    return found


def _joined(forms: list[list[str]], tags: Mapping[str, Sequence[Sequence[str]]]) -> Columns:
    """Sentences of form, upos, xpos and feats."""
    rows = []
    for s, words in enumerate(forms):
        nothing = [_UNKNOWN] * len(words)
        rows.append(list(zip(words, *(tags[name][s] if name in tags else nothing for name in TAG_COLUMNS))))
    return Columns.from_sentences(rows, 1 + len(TAG_COLUMNS))
