"""Loaders of public data sets, and generated corpora. See docs/corpora.md and docs/generated.md."""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
