"""From a recording to what a segmenter sees: reading sound, mel spectra, cepstra. See docs/audio.md.

As in the package itself, a name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.audio.frames import cepstra as cepstra
    from margent.audio.frames import deltas as deltas
    from margent.audio.frames import frames_of_log_mel as frames_of_log_mel
    from margent.audio.frames import normalised as normalised
    from margent.audio.frames import speech_frames as speech_frames
    from margent.audio.mel import log_mel as log_mel
    from margent.audio.mel import mel_filters as mel_filters
    from margent.audio.sound import Sound as Sound
    from margent.audio.sound import read_sound as read_sound
    from margent.audio.sound import write_sound as write_sound

_HOME = {
    "Sound": "sound",
    "cepstra": "frames",
    "deltas": "frames",
    "frames_of_log_mel": "frames",
    "log_mel": "mel",
    "mel_filters": "mel",
    "normalised": "frames",
    "read_sound": "sound",
    "speech_frames": "frames",
    "write_sound": "sound",
}
"""Public name to the module that defines it."""

__all__ = [*_HOME]

__getattr__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
