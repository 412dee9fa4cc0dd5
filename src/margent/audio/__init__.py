"""From a recording to what a segmenter sees: reading sound, mel spectra, cepstra. See docs/audio.md.

As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
