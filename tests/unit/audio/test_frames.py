from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from margent.audio import (
    cepstra,
    deltas,
    frames_of_log_mel,
    log_mel,
    mel_filters,
    normalised,
    read_sound,
    speech_frames,
)
from margent.errors import CorpusError

RATE = 16000
DATA = Path(os.environ.get("MARGENT_DATA", ""), "speech-ru-festvox")


def tone(frequency: float, seconds: float = 0.5, amplitude: float = 0.3) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * frequency * np.arange(round(seconds * RATE)) / RATE)


def test_a_tone_is_loudest_in_its_own_band() -> None:
    weights = mel_filters(RATE, 512)
    centres = weights.argmax(axis=1) * RATE / 512
    for frequency in (300, 1000, 3000, 6000):
        spectra = log_mel(tone(frequency), RATE)
        band = int(np.abs(centres - frequency).argmin())
        assert abs(int(spectra[25].argmax()) - band) <= 1


def test_a_frame_is_centred_in_its_own_ten_milliseconds() -> None:
    """A click in the middle of frame 30 is loudest there; 1 ms before, frame 29 hears more of it than frame 31."""
    for rate in (16000, 8000):
        for offset, nearer in ((-0.001, 29), (0.001, 31)):
            click = np.zeros(rate)
            click[round((0.305 + offset) * rate)] = 1.0
            energy = np.exp(log_mel(click, rate)).sum(axis=1)
            assert len(energy) == 100
            assert energy.argmax() == 30
            assert energy[nearer] > energy[60 - nearer]


def test_number_of_frames() -> None:
    for n in (0, 1, 159, 160, 399, 400, 16000, 16159):
        assert log_mel(np.ones(n) / 2, RATE).shape == (n // 160, 40)
        assert speech_frames(np.ones(n) / 2, RATE).shape == (n // 160, 39)
    # In pieces or at once: windows do not know.
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, 5000 * 160)
    whole = log_mel(noise, RATE)
    np.testing.assert_allclose(log_mel(noise[4000 * 160 :], RATE)[5:], whole[4005:], rtol=1e-5)


def test_silence_is_zero_and_power_counts_four_times() -> None:
    assert (log_mel(np.zeros(1600), RATE) == 0).all()
    quiet, loud = (log_mel(tone(1000, amplitude=a), RATE)[20] for a in (0.2, 0.4))
    strong = loud > 10
    np.testing.assert_allclose((loud - quiet)[strong], np.log(4), atol=1e-3)


def test_cepstra_are_the_cosine_transform() -> None:
    from scipy.fft import dct

    spectra = np.random.default_rng(1).normal(size=(7, 40))
    found = cepstra(spectra)
    np.testing.assert_allclose(found[:, :12], dct(spectra, norm="ortho", axis=1)[:, 1:13], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[:, 12], np.log(np.exp(spectra).sum(axis=1)), rtol=1e-5)


def test_deltas_are_slopes() -> None:
    t = np.arange(20, dtype=float)
    line = np.stack([3 * t, -t, np.full(20, 7.0)], axis=1)
    np.testing.assert_allclose(deltas(line)[2:-2], np.tile([3, -1, 0], (16, 1)), atol=1e-6)
    x = np.random.default_rng(2).normal(size=(9, 2))
    for width in (1, 2, 3):
        for t0 in range(9):
            around = [x[min(max(t0 + k, 0), 8)] for k in range(-width, width + 1)]
            slope = sum(k * v for k, v in zip(range(-width, width + 1), around)) / sum(
                k * k for k in range(-width, width + 1)
            )
            np.testing.assert_allclose(deltas(x, width)[t0], slope, rtol=1e-4, atol=1e-6)


def test_frames_are_static_values_then_slopes_then_slopes_of_slopes() -> None:
    spectra = log_mel(tone(700) + tone(1900), RATE)
    plain = frames_of_log_mel(spectra, normalise=False)
    static = cepstra(spectra)
    np.testing.assert_array_equal(plain, np.hstack([static, deltas(static), deltas(deltas(static))]))
    frames = frames_of_log_mel(spectra)
    np.testing.assert_allclose(frames.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(frames.std(axis=0), 1, atol=1e-4)
    assert frames.dtype == np.float32


def test_a_constant_column_becomes_zero() -> None:
    assert (normalised(np.full((5, 3), 0.1)) == 0).all()
    assert np.isfinite(speech_frames(np.zeros(1600), RATE)).all()


def test_loudness_does_not_matter() -> None:
    noise = np.random.default_rng(3).normal(size=RATE) * np.repeat([0.02, 0.1, 0.05, 0.2], RATE // 4)
    np.testing.assert_allclose(speech_frames(noise, RATE), speech_frames(2 * noise, RATE), atol=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: log_mel(np.zeros((10, 2)), RATE), r"shape \(10, 2\); expected one channel"),
        (lambda: log_mel([0.0, np.nan], RATE), "not all finite"),
        (lambda: cepstra(np.zeros((5, 12))), r"shape \(5, 12\); expected \(T, bands\) with more than 12"),
        (lambda: deltas(np.zeros(5)), r"expected \(T, D\)"),
        (lambda: normalised(np.zeros(5)), r"expected \(T, D\)"),
    ],
)
def test_wrong_shapes_are_said(call, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        call()


def test_wrong_numbers_are_said() -> None:
    for arguments in ({"rate": 0}, {"rate": RATE, "step": 0}, {"rate": RATE, "bands": 0}, {"rate": 100}):
        with pytest.raises(ValueError, match=r"expected a (positive )?rate"):
            log_mel(np.zeros(1000), **arguments)
    with pytest.raises(ValueError, match="width >= 1"):
        deltas(np.zeros((3, 3)), 0)


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder speech-ru-festvox is not under MARGENT_DATA")
def test_the_mel_spectra_of_the_russian_recordings_are_ours() -> None:
    """They were made elsewhere by the same recipe, and are stored in 8 bits: an error of 0.03 is that of rounding."""
    with np.load(DATA / "ru_logmel.npz") as arrays:
        for path in sorted((DATA / "wav_sample").glob("*.wav"))[:3]:
            i = arrays["utt_ids"].tolist().index(path.stem)
            start, end = arrays["frame_offsets"][i : i + 2]
            stored = arrays["feats"][start:end] * arrays["feat_scale"] + arrays["feat_offset"]
            found = log_mel(*read_sound(path))
            assert found.shape == stored.shape
            assert np.sqrt(((found - stored) ** 2).mean()) < 0.035


@pytest.mark.parametrize("rate", [22050, 11025])
def test_frames_do_not_drift_where_a_step_is_no_whole_number_of_samples(rate: int) -> None:
    samples = np.zeros(20 * rate)
    seconds = (3.005, 11.005, 19.005)
    for at in seconds:
        samples[round(at * rate)] = 1.0
    spectra = log_mel(samples, rate)
    assert len(spectra) == 2000
    loud = spectra.sum(axis=1)
    for at in seconds:
        around = loud[int(100 * at) - 3 : int(100 * at) + 4]
        assert np.argmax(around) == 3
