from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from margent.datasets import (
    load_conll2000,
    load_conll2002,
    load_muc7,
    load_nettalk,
    load_ocr_letters,
    load_treebank_sample,
    load_ud,
    load_wnut17,
)
from margent.errors import CorpusError, DataNotFoundError
from margent.formats import Columns

LOADERS = [
    load_conll2000,
    load_conll2002,
    load_muc7,
    load_nettalk,
    load_ocr_letters,
    load_treebank_sample,
    load_ud,
    load_wnut17,
]
HOME = os.environ.get("MARGENT_DATA", "")


def needs(folder: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        not (HOME and Path(HOME, folder).is_dir()), reason=f"the folder {folder} is not under MARGENT_DATA"
    )


def put(home: Path, name: str, text: str) -> None:
    path = home / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
def test_missing_data_says_where_to_get_it_and_where_to_put_it(load, tmp_path, monkeypatch):
    with pytest.raises(DataNotFoundError, match=r"found no file .*; get it from .* and put it there") as caught:
        load(data_home=tmp_path)
    assert str(tmp_path) in str(caught.value)
    monkeypatch.setenv("MARGENT_DATA", str(tmp_path))
    with pytest.raises(DataNotFoundError, match="found no file"):
        load()
    monkeypatch.delenv("MARGENT_DATA")
    with pytest.raises(DataNotFoundError, match="data_home or in the environment variable MARGENT_DATA"):
        load()


def test_columns_with_a_published_split(tmp_path):
    put(tmp_path, "conll2000/train.txt", "He PRP B-NP\nreckons VBZ B-VP\n\n")
    put(tmp_path, "conll2000/test.txt.gz", "She PRP B-NP\n\n")
    data = load_conll2000(data_home=tmp_path)
    assert data.train.X[0] == [("He", "PRP"), ("reckons", "VBZ")]
    assert data.test.y[0] == ["B-NP"]
    assert data.dev is None
    assert repr(data) == "Dataset(conll2000: 1 train, 1 test)"
    with pytest.raises(CorpusError, match="conll2000 has no folds"):
        data.hold_out(0)


def test_the_first_release_of_the_spanish_data(tmp_path):
    for part in ("train", "testa", "testb"):
        put(tmp_path, f"conll2002/esp.{part}", "España B-LOC\n\n")
        path = tmp_path / f"conll2002/esp.{part}"
        path.write_bytes(path.read_text("utf-8").encode("latin-1"))
    assert load_conll2002("esp", encoding="latin-1", data_home=tmp_path).dev.X[0] == ["España"]
    with pytest.raises(CorpusError, match="line 1: the text is not valid UTF-8"):
        load_conll2002(data_home=tmp_path)
    with pytest.raises(CorpusError, match="'esp' and 'ned', got 'eng'"):
        load_conll2002("eng", data_home=tmp_path)


def test_wnut_under_its_first_names(tmp_path):
    for name in ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"):
        put(tmp_path, f"wnut17/{name}", "a b\tO\nAnn\tB-person\n\t\n")
    assert load_wnut17(data_home=tmp_path).test.X[0] == ["a b", "Ann"]


def test_muc_with_and_without_development_data(tmp_path):
    story = '<DOC>\n<TEXT>\n<p>\n<ENAMEX TYPE="PERSON">Ann</ENAMEX> sings.\n</TEXT>\n</DOC>\n'
    put(tmp_path, "muc7/train.sgml", 2 * story)
    put(tmp_path, "muc7/test.sgml.gz", story)
    data = load_muc7(data_home=tmp_path)
    assert (list(data.test.X), list(data.test.y)) == ([["Ann", "sings", "."]], [["B-PERSON", "O", "O"]])
    assert len(data.train.X) == 2 and data.dev is None
    put(tmp_path, "muc7/dev.sgml", 3 * story)
    assert len(load_muc7(data_home=tmp_path).dev.X) == 3


def test_a_treebank_as_released(tmp_path):
    row = "1\tSi\tsi\tSCONJ\tCS\t_\t0\troot\t_\t_\n\n"
    for part in ("train", "dev", "test"):
        put(tmp_path, f"UD_French-GSD/fr_gsd-ud-{part}.conllu", row)
    data = load_ud("french-gsd", columns=("form", "lemma"), label="xpos", data_home=tmp_path)
    assert (data.dev.X[0], data.dev.y[0]) == ([("Si", "si")], ["CS"])


def test_nettalk_words(tmp_path):
    put(tmp_path, "nettalk/nettalk.data", "Heading\n\nof the file\nable\tebL-\t1><<\t0\nby\tbA\t\t0\nno\tno\t>1\t0\n")
    put(tmp_path, "nettalk/top1000.txt", "no\nby\n")
    data = load_nettalk(data_home=tmp_path)
    assert data.train.X[0] == ["a", "b", "l", "e"]
    assert data.train.y[0] == ["e", "b", "L", "-"]
    assert len(data.train.X) == 3
    stressed = load_nettalk(stress=True, common_words=True, data_home=tmp_path)
    assert list(stressed.train.y) == [["n>", "o1"]]
    put(tmp_path, "nettalk/nettalk.data", "able\tebL-\t1><<\t0\nby\tb\t1>\t0\n")
    with pytest.raises(CorpusError, match="line 2: expected a word with one phoneme for each letter"):
        load_nettalk(data_home=tmp_path)


def test_ocr_letters_as_published_and_packed(tmp_path):
    generator = np.random.default_rng(0)
    words, folds = ["ab", "c", "def"], [0, 3, 1]
    pixels = [generator.integers(0, 2, (len(word), 128), dtype=np.uint8) for word in words]
    lines, number = [], 0
    for w, word in enumerate(words):
        for t, letter in enumerate(word):
            number += 1
            following = number + 1 if t + 1 < len(word) else -1
            fields = [number, letter, following, w + 1, t + 1, folds[w], *pixels[w][t]]
            lines.append("\t".join(map(str, fields)) + "\t\n")
    (tmp_path / "published").mkdir()
    put(tmp_path / "published", "ocr-letters/letter.data.gz", "".join(lines))
    (tmp_path / "packed" / "ocr-letters").mkdir(parents=True)
    np.savez(
        tmp_path / "packed" / "ocr-letters" / "letters.npz",
        pixels=np.packbits(np.concatenate(pixels), axis=1),
        labels=np.array([ord(letter) - ord("a") for letter in "".join(words)], dtype=np.uint8),
        offsets=np.array([0, 2, 3, 6]),
        folds=np.array(folds, dtype=np.uint8),
    )
    for home in ("published", "packed"):
        data = load_ocr_letters(data_home=tmp_path / home)
        assert data.train.y == [list(word) for word in words]
        assert all(np.array_equal(x, expected) for x, expected in zip(data.train.X, pixels))
        assert data.folds.tolist() == folds
        split = data.hold_out([0, 1])
        assert (split.train.y, split.test.y) == ([["c"]], [["a", "b"], ["d", "e", "f"]])
        assert split.folds.tolist() == [3]
        with pytest.raises(CorpusError, match=r"no fold 2; its folds are \[0, 1, 3\]"):
            data.hold_out(2)


def test_broken_ocr_files(tmp_path):
    put(tmp_path, "ocr-letters/letter.data", "1\ta\t-1\t1\t1\t0\t1\n")
    with pytest.raises(CorpusError, match="line 1: expected 6 fields and 128 pixels"):
        load_ocr_letters(data_home=tmp_path)
    put(tmp_path, "ocr-letters/letter.data", "")
    with pytest.raises(CorpusError, match="the file is empty"):
        load_ocr_letters(data_home=tmp_path)
    put(tmp_path, "ocr-letters/letters.npz", "PK\x03\x04 not really")
    with pytest.raises(CorpusError, match="expected the arrays pixels, labels"):
        load_ocr_letters(data_home=tmp_path)


@pytest.mark.parametrize(
    ("folder", "load", "sentences", "tokens"),
    [
        pytest.param("conll2000", load_conll2000, (8936, None, 2012), 211727, marks=needs("conll2000")),
        pytest.param("conll2002", load_conll2002, (8323, 1915, 1517), 264715, marks=needs("conll2002")),
        pytest.param("ner-wnut17", load_wnut17, (3394, 1009, 1287), 62730, marks=needs("ner-wnut17")),
        pytest.param(
            "ud-chinese-gsd",
            lambda: load_ud("chinese-gsd"),
            (3997, 500, 500),
            98608,
            marks=needs("ud-chinese-gsd"),
        ),
        pytest.param("ud-english-ewt", load_ud, (12544, 2001, 2077), 204577, marks=needs("ud-english-ewt")),
        pytest.param("nettalk", load_nettalk, (20008, None, None), 146943, marks=needs("nettalk")),
        pytest.param(
            "treebank-sample", load_treebank_sample, (3914, None, None), 94084, marks=needs("treebank-sample")
        ),
        pytest.param("ocr-letters", load_ocr_letters, (6877, None, None), 52152, marks=needs("ocr-letters")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_published_counts(folder, load, sentences, tokens):
    data = load()
    parts = (data.train, data.dev, data.test)
    assert tuple(None if part is None else len(part.X) for part in parts) == sentences
    assert sum(map(len, data.train.y)) == tokens
    for part in filter(None, parts):
        lengths = part.X.lengths.tolist() if isinstance(part.X, Columns) else [len(x) for x in part.X]
        assert lengths == [len(labels) for labels in part.y]
    assert data.terms
    assert data.description
