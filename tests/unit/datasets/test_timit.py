from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from margent.annotation import check_segmentation
from margent.audio import write_sound
from margent.datasets import TIMIT_39, TIMIT_48, load_timit, read_timit, timit_fold, timit_part, timit_utterances
from margent.datasets.timit import TIMIT_DEV_SPEAKERS, TIMIT_TEST_SPEAKERS
from margent.errors import CorpusError, DataNotFoundError

PHN = "0 2400 h#\n2400 4000 sh\n4000 4500 ix\n4500 6100 q\n6100 8000 ax-h\n8000 9600 bcl\n9600 9660 b\n9660 15950 h#\n"
SPEAKERS = (
    "TRAIN/DR1/FCJF0",
    "TRAIN/DR2/MARC0",
    "TEST/DR1/MDAB0",
    "TEST/DR4/FADG0",
    "TEST/DR3/MTHC0",
    "TEST/DR1/FJSP0",
)


def sphere(n: int = 16000) -> bytes:
    samples = (3000 * np.sin(np.arange(n) / 7)).astype("<i2")
    head = f"NIST_1A\n   1024\nsample_count -i {n}\nsample_rate -i 16000\nsample_n_bytes -i 2\n"
    return (head + "sample_byte_format -s2 01\nsample_coding -s3 pcm\nend_head\n").encode().ljust(
        1024
    ) + samples.tobytes()


def timit(root: Path, lower: bool = False) -> Path:
    """A tiny TIMIT: six speakers with an sa sentence and two others each; one sound is a RIFF file."""
    for home in SPEAKERS:
        folder = root / (home.lower() if lower else home)
        folder.mkdir(parents=True)
        for sentence in ("SA1", "SX37", "SI648"):
            for ending, content in ((".WAV", sphere()), (".PHN", PHN.encode()), (".TXT", b"0 16000 She had.\n")):
                name = sentence + ending
                (folder / (name.lower() if lower else name)).write_bytes(content)
    if not lower:
        write_sound(root / "TRAIN/DR1/FCJF0/SX37.WAV", np.zeros(16000), 16000)
    (root / ("doc" if lower else "DOC")).mkdir()
    return root


def test_the_standard_sets() -> None:
    assert (len(TIMIT_DEV_SPEAKERS), len(TIMIT_TEST_SPEAKERS)) == (50, 24)
    assert not TIMIT_DEV_SPEAKERS & TIMIT_TEST_SPEAKERS
    assert sum(name.startswith("f") for name in TIMIT_TEST_SPEAKERS) == 8


def test_the_labels_of_lee_and_hon() -> None:
    assert len({name for name in TIMIT_48 if name not in ("#h", "qcl")}) == 61
    assert len({name for name in TIMIT_48.values() if name}) == 48
    assert len({TIMIT_39.get(name, name) for name in TIMIT_48.values() if name}) == 39
    assert {name for name in TIMIT_48.values() if name} <= TIMIT_39.keys() | {"sil"}
    assert [len({v for v in timit_fold(n).values() if v}) for n in (61, 48, 39)] == [61, 48, 39]
    folded = timit_fold(39)
    assert (folded["zh"], folded["bcl"], folded["ux"], folded["axr"], folded["epi"]) == ("sh", "sil", "uw", "er", "sil")
    assert folded["q"] is None
    with pytest.raises(CorpusError, match="labels is 40; expected 61, 48 or 39"):
        timit_fold(40)


@pytest.mark.parametrize("lower", [False, True])
def test_the_parts_are_found_in_upper_and_lower_case(tmp_path: Path, lower: bool) -> None:
    utterances = timit_utterances(timit(tmp_path / "corpus", lower))
    assert len(utterances) == 18
    assert utterances[0][:4] == ("train", "dr1", "fcjf0", "sa1")
    chosen = {name: timit_part(utterances, name) for name in ("train", "dev", "test")}
    assert {name: sorted({u.speaker for u in part}) for name, part in chosen.items()} == {
        "train": ["fcjf0", "marc0"],
        "dev": ["fadg0", "mthc0"],
        "test": ["mdab0"],
    }
    assert {u.sentence for part in chosen.values() for u in part} == {"sx37", "si648"}
    with pytest.raises(CorpusError, match="part is 'all'; expected"):
        timit_part(utterances, "all")


def test_frames_and_segments_of_an_utterance(tmp_path: Path) -> None:
    utterance = timit_utterances(timit(tmp_path))[1]
    frames, segments = read_timit(utterance)
    assert frames.shape == (100, 39) and frames.dtype == np.float32
    # q, from frame 28 to 38, is shared; the b of 4 ms keeps a frame; the last label is stretched to the end.
    assert segments == [
        (0, 15, "sil"), (15, 25, "sh"), (25, 33, "ix"), (33, 50, "ax"), (50, 60, "vcl"), (60, 61, "b"),
        (61, 100, "sil"),
    ]  # fmt: skip
    assert [s.label for s in read_timit(utterance, labels=61)[1]] == ["h#", "sh", "ix", "q", "ax-h", "bcl", "b", "h#"]
    assert [s.label for s in read_timit(utterance, labels=39)[1]] == ["sil", "sh", "ih", "ah", "sil", "b", "sil"]


def test_the_whole_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timit(tmp_path / "timit")
    data = load_timit(tmp_path / "timit")
    assert repr(data) == "Dataset(timit: 4 train, 4 dev, 2 test)"
    for part in (data.train, data.dev, data.test):
        for frames, segments in zip(part.X, part.y):
            check_segmentation(segments, len(frames))
    monkeypatch.setenv("MARGENT_DATA", str(tmp_path))
    assert load_timit(labels=39).train.y[0][1].label == "sh"
    assert len(timit_utterances(tmp_path)) == 18  # the folder above will do


def test_a_converted_sound_beside_the_labels_will_do(tmp_path: Path) -> None:
    root = timit(tmp_path)
    (root / "TEST/DR1/MDAB0/SX37.WAV").rename(root / "TEST/DR1/MDAB0/SX37.WAV.wav")
    assert timit_part(timit_utterances(root), "test")[1].sound.name == "SX37.WAV.wav"
    (root / "TEST/DR1/MDAB0/SX37.WAV.wav").unlink()
    with pytest.raises(CorpusError, match=r"SX37\.PHN: found no sound beside it; expected SX37\.WAV"):
        timit_utterances(root)


def test_what_is_wrong_with_the_folder_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CorpusError, match="found no folder TRAIN; expected TIMIT's folders TRAIN and TEST"):
        load_timit(tmp_path)
    (tmp_path / "TRAIN").mkdir()
    with pytest.raises(CorpusError, match="found no folder TEST"):
        load_timit(tmp_path)
    (tmp_path / "TEST").mkdir()
    with pytest.raises(CorpusError, match="found no utterance of the train part"):
        load_timit(tmp_path)
    monkeypatch.delenv("MARGENT_DATA", raising=False)
    with pytest.raises(DataNotFoundError, match="LDC93S1"):
        load_timit()
    with pytest.raises(DataNotFoundError, match="LDC93S1"):
        load_timit(data_home=tmp_path)


def test_what_is_wrong_with_the_labels_is_said(tmp_path: Path) -> None:
    utterance = timit_utterances(timit(tmp_path))[1]
    utterance.labels.write_text("0 2400 h#\n2400 16000 xx\n")
    with pytest.raises(CorpusError, match=r"SI648\.PHN: the label 'xx' is not one of TIMIT's"):
        read_timit(utterance)
    utterance.labels.write_text("0 2400 h#\n2400 17000 sh\n")
    with pytest.raises(CorpusError, match=r"SI648\.PHN: the labels end at 1\.0625 s, but the 100 frames at 1 s"):
        read_timit(utterance)
