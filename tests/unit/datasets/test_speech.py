from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from margent.annotation import check_segmentation
from margent.audio import frames_of_log_mel
from margent.datasets import load_russian_speech
from margent.errors import CorpusError, DataNotFoundError

HOME = os.environ.get("MARGENT_DATA", "")


def small(home: Path, **changed: np.ndarray) -> None:
    """Three utterances of 30, 20 and 25 frames."""
    arrays = {
        "feats": np.random.default_rng(0).integers(0, 200, (75, 40)).astype(np.uint8),
        "feat_scale": np.full(40, 0.1, np.float32),
        "feat_offset": np.full(40, 0.5, np.float32),
        "frame_offsets": np.array([0, 30, 50, 75]),
        "phones": np.array(["a", "pau", "s"]),
        "seg_label": np.array([1, 0, 1, 2, 1], np.uint8),
        "seg_end_frame": np.array([10, 30, 20, 5, 25]),
        "seg_offsets": np.array([0, 2, 3, 5]),
        "split": np.array([0, 1, 2], np.uint8),
    } | changed
    (home / "speech-ru-festvox").mkdir(exist_ok=True)
    np.savez(home / "speech-ru-festvox" / "ru_logmel.npz", **arrays)


def test_utterances_are_cut_out(tmp_path: Path) -> None:
    small(tmp_path)
    data = load_russian_speech(data_home=tmp_path)
    assert repr(data) == "Dataset(speech-ru-festvox: 1 train, 1 dev, 1 test)"
    assert [part.X[0].shape for part in (data.train, data.dev, data.test)] == [(30, 39), (20, 39), (25, 39)]
    assert data.train.y == [[(0, 10, "pau"), (10, 30, "a")]]
    assert data.test.y == [[(0, 5, "s"), (5, 25, "pau")]]
    spectra = load_russian_speech(features="log_mel", data_home=tmp_path)
    assert spectra.train.X[0].shape == (30, 40) and spectra.train.X[0].dtype == np.float32
    np.testing.assert_array_equal(data.train.X[0], frames_of_log_mel(spectra.train.X[0]))
    plain = load_russian_speech(normalise=False, data_home=tmp_path)
    np.testing.assert_array_equal(plain.train.X[0], frames_of_log_mel(spectra.train.X[0], normalise=False))


def test_what_is_wrong_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CorpusError, match="features is 'wav'; expected 'cepstra' or 'log_mel'"):
        load_russian_speech(features="wav", data_home=tmp_path)
    with pytest.raises(DataNotFoundError, match=r"found no file ru_logmel\.npz .*; get it from the Debian package"):
        load_russian_speech(data_home=tmp_path)
    small(tmp_path)
    (tmp_path / "speech-ru-festvox" / "ru_logmel.npz").write_bytes(b"PK no")
    with pytest.raises(CorpusError, match="expected the arrays feats"):
        load_russian_speech(data_home=tmp_path)
    monkeypatch.delenv("MARGENT_DATA", raising=False)
    with pytest.raises(DataNotFoundError, match="MARGENT_DATA"):
        load_russian_speech()


@pytest.mark.skipif(
    not (HOME and Path(HOME, "speech-ru-festvox").is_dir()), reason="speech-ru-festvox is not under MARGENT_DATA"
)
def test_the_recordings_themselves() -> None:
    data = load_russian_speech(features="log_mel")
    assert repr(data) == "Dataset(speech-ru-festvox: 496 train, 62 dev, 62 test)"
    parts = (data.train, data.dev, data.test)
    assert sum(len(x) for part in parts for x in part.X) == 596_831
    assert sum(len(y) for part in parts for y in part.y) == 54_372
    assert len({s.label for y in data.train.y for s in y}) == 51
    for part in parts:
        for frames, segments in zip(part.X, part.y):
            check_segmentation(segments, len(frames))
