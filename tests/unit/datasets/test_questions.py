"""Corpora of questions with meanings: small files in their form, and the public ones where they are there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from margent.datasets import load_atis, load_geo250, load_geoquery, load_jobs
from margent.errors import CorpusError, DataNotFoundError
from margent.meaning import meaning_text, normal_form, same_meaning

HOME = os.environ.get("MARGENT_DATA", "")
GEO = """id\tsplit\tfold\tsentence\tlambda\tlambda_typed
train0\ttrain\t1\thow long is the ohio\t(len:i ohio_river:r)\t(len:<r,i> ohio_river:r)
train1\ttrain\t0\tutah\tutah:s\tutah:s
test0\ttest\t-\tohio\tohio:s\tohio:s
"""


def test_small_files_in_the_form_of_the_corpora(tmp_path):
    for name in ("geoquery", "jobs", "atis"):
        (tmp_path / name).mkdir()
    (tmp_path / "geoquery" / "geo880.tsv").write_text(GEO)
    data = load_geoquery(data_home=tmp_path)
    assert (len(data.train.X), len(data.test.X), data.folds.tolist()) == (2, 1, [1, 0])
    assert str(data.train.y[0]) == "(len:i ohio_river:r)"
    assert str(load_geoquery(notation="typed", data_home=tmp_path).train.y[0]) == "(len:<r,i> ohio_river:r)"
    assert data.hold_out(1).test.X == [["how", "long", "is", "the", "ohio"]]
    (tmp_path / "jobs" / "jobs640.tsv").write_text(
        "id\tsplit\tsentence\tlambda\nx\ttest\tjobs ?\t(lambda $0:e (job $0))\n"
    )
    assert load_jobs(data_home=tmp_path).test.X == [["jobs", "?"]]
    (tmp_path / "atis" / "atis.tsv").write_text("id\tsplit\tsentence\tlambda\nx\tdev\tboston\tboston:ci\n")
    assert load_atis(data_home=tmp_path).dev.X == [["boston"]]
    (tmp_path / "geoquery" / "geo250-multilingual.tsv").write_text(
        "lang\tfold\tsentence\tlambda\nes\t3\tutah\tutah:s\nen\t4\tutah\tutah:s\n"
    )
    assert load_geo250("es", data_home=tmp_path).folds.tolist() == [3]


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataNotFoundError, match=r"found no file geo880\.tsv"):
        load_geoquery(data_home=tmp_path)
    with pytest.raises(CorpusError, match="the notations 'lambda' and 'typed', got 'prolog'"):
        load_geoquery(notation="prolog", data_home=tmp_path)
    with pytest.raises(CorpusError, match="the languages en, es, ja, tr, got 'de'"):
        load_geo250("de", data_home=tmp_path)
    (tmp_path / "geoquery").mkdir()
    (tmp_path / "geoquery" / "geo880.tsv").write_text(GEO.replace("train\t1\t", "train\t\t"))
    with pytest.raises(CorpusError, match="expected a number in column fold, got ''"):
        load_geoquery(data_home=tmp_path)


@pytest.mark.skipif(
    not HOME or not Path(HOME, "geoquery").is_dir(), reason="the folder geoquery is not under MARGENT_DATA"
)
def test_the_public_corpora_have_their_sizes_and_are_written_as_they_were_read():
    loaded = {
        (600, 0, 280): [(load_geoquery(), "lambda"), (load_geoquery(notation="typed"), "typed")],
        (500, 0, 140): [(load_jobs(), "annotated")],
        (4473, 497, 448): [(load_atis(), "lambda")],
        (250, 0, 0): [(load_geo250(language), "lambda") for language in ("en", "es", "ja", "tr")],
    }
    columns = {"geoquery": ("geoquery/geo880.tsv", {"lambda": 4, "typed": 5})}
    columns |= {"jobs": ("jobs/jobs640.tsv", {"annotated": 3}), "atis": ("atis/atis.tsv", {"lambda": 3})}
    for sizes, datasets in loaded.items():
        for data, notation in datasets:
            parts = (data.train, data.dev, data.test)
            assert tuple(0 if part is None else len(part.y) for part in parts) == sizes
            meanings = [meaning for part in parts if part is not None for meaning in part.y]
            if data.name in columns:
                path, places = columns[data.name]
                lines = Path(HOME, path).read_text(encoding="utf-8").splitlines()[1:]
                written = {line.split("\t")[places[notation]] for line in lines}
                assert {meaning_text(meaning, notation) for meaning in meanings} == written
            for meaning in meanings[::20]:
                assert same_meaning(normal_form(meaning), meaning)
