"""Loaders of public corpora of questions with their meanings: GeoQuery, Jobs, ATIS."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from margent.datasets.text import DataHome, Dataset, Part
from margent.errors import CorpusError
from margent.formats.questions import Question, iter_questions

_GEOQUERY = "https://github.com/jimwhite/UBL (Kwiatkowski et al. 2010) as a table geo880.tsv"
GEO250_LANGUAGES = ("en", "es", "ja", "tr")


def load_geoquery(*, notation: str = "lambda", data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Questions about the geography of the United States: X words, y meanings; 600 to train on, 280 to test.

    `folds` are the ten of the training data. File: ``geoquery/geo880.tsv`` with the columns id, split, fold, sentence,
    lambda and lambda_typed.

    Parameters
    ----------
    notation : "lambda" or "typed"
        Which of the two columns of meanings is read.
    """
    columns = {"lambda": "lambda", "typed": "lambda_typed"}
    if notation not in columns:
        raise CorpusError(f"GeoQuery has the notations 'lambda' and 'typed', got {notation!r}")
    home = DataHome(data_home, ["geoquery"], _GEOQUERY)
    found = list(iter_questions(home.find("geo880.tsv"), question="sentence", meaning=columns[notation]))
    train = [one for one in found if one.split == "train"]
    return Dataset(
        "geoquery",
        train=_part(train),
        dev=None,
        test=_part([one for one in found if one.split == "test"]),
        description="Geo880; Zelle and Mooney 1996, meanings of Zettlemoyer and Collins 2005.",
        terms="No licence is stated; free to use for research.",
        folds=_folds(train),
    )


def load_jobs(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Questions to a database of job offers: X words, y meanings; 500 to train on, 140 to test.

    The meanings were made from the Prolog of the corpus; those of Zettlemoyer and Collins (2005), to which published
    figures refer, were never released. File: ``jobs/jobs640.tsv`` with the columns id, split, sentence and lambda.
    """
    home = DataHome(data_home, ["jobs"], "https://github.com/JasperGuo/Unimer as a table jobs640.tsv")
    found = list(iter_questions(home.find("jobs640.tsv"), question="sentence", meaning="lambda"))
    return Dataset(
        "jobs",
        train=_part([one for one in found if one.split == "train"]),
        dev=None,
        test=_part([one for one in found if one.split == "test"]),
        description="Jobs640; Califf and Mooney 1999, Tang and Mooney 2001; split of Zettlemoyer and Collins 2005.",
        terms="Free to use for research.",
    )


def load_atis(*, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Questions to a flight information system: X words, y meanings; 4,473 to train on, 497 to develop, 448 to test.

    File: ``atis/atis.tsv`` with the columns id, split, sentence and lambda.
    """
    home = DataHome(data_home, ["atis"], "https://github.com/JasperGuo/Unimer as a table atis.tsv")
    found = list(iter_questions(home.find("atis.tsv"), question="sentence", meaning="lambda"))
    train, dev, test = (_part([one for one in found if one.split == name]) for name in ("train", "dev", "test"))
    return Dataset(
        "atis",
        train=train,
        dev=dev,
        test=test,
        description="ATIS; Dahl et al. 1994, meanings of Zettlemoyer and Collins 2007.",
        terms="Transcripts of the Linguistic Data Consortium; for research, not to be passed on.",
    )


def load_geo250(language: str = "en", *, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """250 of the questions of GeoQuery in English, Spanish, Japanese or Turkish ("en", "es", "ja", "tr").

    All are in `train`, with the ten `folds` of Kwiatkowski et al. (2010). File: ``geoquery/geo250-multilingual.tsv``
    with the columns lang, fold, sentence and lambda.
    """
    if language not in GEO250_LANGUAGES:
        raise CorpusError(f"Geo250 has the languages {', '.join(GEO250_LANGUAGES)}, got {language!r}")
    path = DataHome(data_home, ["geoquery"], _GEOQUERY).find("geo250-multilingual.tsv")
    found = list(iter_questions(path, question="sentence", meaning="lambda", where=("lang", language)))
    return Dataset(
        f"geo250-{language}",
        train=_part(found),
        dev=None,
        test=None,
        description="Geo250; Wong and Mooney 2006, meanings and folds of Kwiatkowski et al. 2010.",
        terms="No licence is stated; free to use for research.",
        folds=_folds(found),
    )


def _part(questions: Sequence[Question]) -> Part:
    return Part([one.words for one in questions], [one.meaning for one in questions])


def _folds(questions: Sequence[Question]) -> np.typing.NDArray[np.int64]:
    for one in questions:
        if not one.fold.isdecimal():
            shown = " ".join(one.words)[:60]
            raise CorpusError(f"question {shown!r}: expected a number in column fold, got {one.fold!r}")
    return np.array([int(one.fold) for one in questions], dtype=np.int64)
