"""Tags and lemmas that a parser gives words itself: learned from the same treebank, and in training those of sentences
that were left out, so that the parser learns from tags as good as those that it will get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent import __version__
from margent.errors import CorpusError
from margent.features.part_templates import PartTemplates
from margent.formats.columns import Columns
from margent.formats.dependencies import DEPENDENCY_COLUMNS
from margent.models.parser.lemmas import Lemmatizer, Seen, lemmas_seen
from margent.models.parser.sentences import forms_of
from margent.models.tagger.tagger import Tagger
from margent.processors import in_threads
from margent.storage import ModelFile

FOLDS = 10
STRETCHES = 10
"""Of each fold, so many stretches of sentences that follow each other. Neighbours are often of one document: a tagger
that has learned from some of its sentences tags the others better than it tags new text."""
TAG_COLUMNS = ("upos", "xpos", "feats")
"""What taggers find."""
_UPOS, _LEMMA = (DEPENDENCY_COLUMNS.index(name) for name in ("upos", "lemma"))
_UNKNOWN = "_"

Taggers = Mapping[str, Tagger]
Tags = Mapping[str, Sequence[Sequence[str]]]
"""By column: those of all sentences."""


@dataclass(frozen=True)
class OwnTags:
    """taggers : by column of tags
    lemmatizer : None: a word's form in lower case stands in for its lemma
    """

    taggers: Taggers
    lemmatizer: Lemmatizer | None

    @property
    def columns(self) -> tuple[str, ...]:
        """What is found of words."""
        return (*self.taggers, *(() if self.lemmatizer is None else ("lemma",)))

    def tagged(self, columns: Columns, threads: int) -> Columns:
        """The sentences with these tags and lemmas, and with nothing else that was given of words."""
        forms, tags = forms_of(columns), _tags(self.taggers, columns, threads)
        return _joined(forms, tags, _lemmas(self.lemmatizer, forms, tags))

    def continued(self, columns: Columns, threads: int) -> tuple[OwnTags, Columns]:
        """After further training, and the sentences with the tags that they got before it."""
        before = self.tagged(columns, threads)
        forms = columns.select(0)
        grown = {}
        for name, tagger in self.taggers.items():
            column = DEPENDENCY_COLUMNS.index(name)
            if column >= columns.n_columns:
                raise CorpusError(f"the parser has a tagger of its own for {name}, which the training data do not have")
            tags = columns.select(column)
            grown[name] = _with_threads(tagger, tagger.threads).partial_fit(forms, tags, progress=False)
        lemmatizer = self.lemmatizer
        if lemmatizer is not None and columns.n_columns > _LEMMA:
            lemmatizer = lemmatizer.grown(_seen(columns, "upos" in self.taggers))
        return OwnTags(grown, lemmatizer), before

    def stored(self, *, compact: bool) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Header entries and arrays for a model file."""
        headers: dict[str, Any] = {}
        arrays = {} if self.lemmatizer is None else self.lemmatizer.stored()
        for name, tagger in self.taggers.items():
            headers[name], own = tagger.file_content(compact=compact)
            arrays |= {f"{name}/{key}": array for key, array in own.items()}
        return headers, arrays

    @classmethod
    def restored(cls, file: ModelFile) -> OwnTags | None:
        taggers: dict[str, Tagger] = {}
        for name, header in file.value("taggers", dict).items():
            if name not in TAG_COLUMNS or not isinstance(header, dict):
                raise file.error(f"its taggers should be of {', '.join(TAG_COLUMNS)}, not {name!r}")
            arrays: Mapping[str, NDArray[Any]] = {
                key.removeprefix(f"{name}/"): array for key, array in file.arrays.items() if key.startswith(f"{name}/")
            }
            part = ModelFile(f"{file.path} ({name})", Tagger.fitted.kind, __version__, header, dict(arrays))
            taggers[name] = Tagger.from_file(part)
            if taggers[name].feature_map_.takes != "tokens":
                raise file.error(f"its tagger of {name} should read words")
        return cls(taggers, Lemmatizer.restored(file)) if taggers else None


def jackknifed(
    tagger: Tagger, columns: Columns, templates: PartTemplates, seed: int, threads: int
) -> tuple[OwnTags, Columns]:
    """Taggers of all sentences, one for each column of tags that the templates ask for, lemmas if they ask for them,
    and the sentences with tags and lemmas.

    Those of each tenth of the sentences are of a tagger that learned from the others: 10 + 1 trainings for each column.
    A tenth is made of stretches of sentences, drawn with the seed. `threads` trainings go on at the same time.
    """
    n = len(columns)
    wanted = _wanted(templates, columns)
    forms = columns.select(0)
    fold_of = folds(n, seed)
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
    tags = found if n > 1 else _tags(taggers, columns, threads)
    if not _has_lemmas(templates, columns):
        words = forms_of(columns)
        return OwnTags(taggers, None), _joined(words, tags, _lemmas(None, words, tags))
    return _lemmatized(taggers, tags, columns, fold_of)


def folds(n: int, seed: int) -> NDArray[np.int64]:
    """The fold of each of n sentences."""
    n_stretches = min(n, FOLDS * STRETCHES)
    of_stretch = np.random.default_rng(seed).permutation(n_stretches) % FOLDS
    found: NDArray[np.int64] = of_stretch[np.arange(n) * n_stretches // max(n, 1)]
    return found


def _lemmatized(taggers: Taggers, tags: Tags, columns: Columns, fold_of: NDArray[np.int64]) -> tuple[OwnTags, Columns]:
    """With the lemmas of all sentences; each tenth of the sentences itself with what the others say."""
    parts = [np.flatnonzero(fold_of == fold) for fold in range(FOLDS)]
    seen = [_seen(columns[part], "upos" in taggers) for part in parts]
    whole: Seen = Counter()
    for each in seen:
        whole.update(each)
    forms = forms_of(columns)
    lemmas: list[list[str]] = [[] for _ in forms]
    for part, own in zip(parts, seen):
        numbers = part.tolist()
        words = [forms[s] for s in numbers]
        of_part = {name: [each[s] for s in numbers] for name, each in tags.items()}
        for s, found in zip(numbers, _lemmas(Lemmatizer.learned(whole - own), words, of_part)):
            lemmas[s] = found
    return OwnTags(taggers, Lemmatizer.learned(whole)), _joined(forms, tags, lemmas)


def _seen(columns: Columns, with_tags: bool) -> Seen:
    tokens = ([(word[0], word[_UPOS] if with_tags else _UNKNOWN) for word in sentence] for sentence in columns)
    return lemmas_seen(tokens, columns.column(_LEMMA) if columns.n_tokens else ())


def _lemmas(lemmatizer: Lemmatizer | None, forms: list[list[str]], tags: Tags) -> list[list[str]]:
    """Looked up once for each distinct form and tag."""
    if lemmatizer is None:
        return [[form.lower() for form in words] for words in forms]
    upos = tags.get("upos") or [[_UNKNOWN] * len(words) for words in forms]
    pairs = [list(zip(words, each)) for words, each in zip(forms, upos)]
    known = {pair: lemmatizer.find(*pair) for pair in {pair for each in pairs for pair in each}}
    return [[known[pair] for pair in each] for each in pairs]


def _with_threads(tagger: Tagger, threads: int | None) -> Tagger:
    """The same parameters, and what was learned, with so many threads: several trainings go on at a time."""
    other = Tagger(**(tagger.get_params(deep=False) | {"threads": threads}))
    if hasattr(tagger, "model_"):
        other.model_ = tagger.model_
    return other


def _tags(taggers: Taggers, columns: Columns, threads: int) -> dict[str, Sequence[Sequence[str]]]:
    forms = columns.select(0) if columns.n_tokens else columns
    return {name: _with_threads(tagger, threads).predict(forms) for name, tagger in taggers.items()}


def _has_lemmas(templates: PartTemplates, columns: Columns) -> bool:
    """Whether templates look at lemmas, and these data have some."""
    if "lemma" not in templates.token_atoms or columns.n_columns <= _LEMMA:
        return False
    return any(lemma != _UNKNOWN for lemmas in columns.column(_LEMMA) for lemma in lemmas)


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


def _joined(forms: list[list[str]], tags: Tags, lemmas: list[list[str]]) -> Columns:
    """Sentences of form, upos, xpos, feats and lemma."""
    rows = []
    for s, words in enumerate(forms):
        nothing = [_UNKNOWN] * len(words)
        rows.append(list(zip(words, *(tags[name][s] if name in tags else nothing for name in TAG_COLUMNS), lemmas[s])))
    return Columns.from_sentences(rows, 2 + len(TAG_COLUMNS))
