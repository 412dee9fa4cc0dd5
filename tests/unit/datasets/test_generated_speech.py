from __future__ import annotations

import numpy as np
import pytest

from margent.annotation import check_segmentation
from margent.audio import log_mel, speech_frames
from margent.datasets import GENERATED_PHONES, make_speech


def test_sound_and_segments_fit() -> None:
    sounds, segmentations = make_speech(6, seed=1)
    for sound, segments in zip(sounds, segmentations):
        check_segmentation(segments, len(speech_frames(*sound)))
        assert sound.rate == 16000 and sound.samples.dtype == np.float32
        assert 0.02 < np.abs(sound.samples).max() <= 1.0
        assert segments[0].label == segments[-1].label == "pau"
        assert min(s.end - s.start for s in segments) >= 3
    assert {s.label for segments in make_speech(60, words=4)[1] for s in segments} == set(GENERATED_PHONES)


def test_what_is_silent_is_silent_and_what_hisses_hisses() -> None:
    """Mean mel spectra by phone: vowels are loud and low, s is higher than sh, pauses are quiet."""
    spectra: dict[str, list[np.ndarray]] = {}
    for sound, segments in zip(*make_speech(40, seed=2)):
        mel = log_mel(*sound)
        for start, end, label in segments:
            spectra.setdefault(label, []).append(mel[start + 1 : end - 1].mean(axis=0))
    mean = {label: np.mean(rows, axis=0) for label, rows in spectra.items()}
    loudness = {label: row.mean() for label, row in mean.items()}
    assert min(loudness, key=loudness.__getitem__) == "pau"
    assert loudness["a"] > loudness["m"] > loudness["pau"]
    bands = np.arange(40)
    centre = {label: (bands * np.exp(row)).sum() / np.exp(row).sum() for label, row in mean.items()}
    assert centre["s"] > centre["sh"] > centre["a"]


def test_same_seed_same_speech() -> None:
    sounds, segments = make_speech(2, seed=5)
    again, labels = make_speech(2, seed=5)
    assert segments == labels
    np.testing.assert_array_equal(sounds[1].samples, again[1].samples)
    assert make_speech(2, seed=6)[1] != segments


def test_frames_tell_the_phones_apart() -> None:
    """The nearest class mean is right for most frames, and wrong for some: neither hopeless nor trivial."""
    sounds, segmentations = make_speech(60, seed=3)
    frames = np.concatenate([speech_frames(*sound) for sound in sounds])
    labels = np.array([s.label for segments in segmentations for s in segments for _ in range(s.end - s.start)])
    half = len(frames) // 2
    means = np.array([frames[:half][labels[:half] == phone].mean(axis=0) for phone in GENERATED_PHONES])
    nearest = ((frames[half:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    accuracy = (np.array(GENERATED_PHONES)[nearest] == labels[half:]).mean()
    assert 0.5 < accuracy < 0.95


def test_wrong_numbers_are_said() -> None:
    for arguments in ({"n": -1}, {"n": 1, "words": 0}, {"n": 1, "words": (3, 2)}):
        with pytest.raises(ValueError, match="expected n >= 0 and words >= 1"):
            make_speech(**arguments)
