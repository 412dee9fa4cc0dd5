"""File formats: one file for each, with its readers and writers. See docs/corpora.md."""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
