"""Meanings as typed lambda expressions, and the domains they are about. See docs/meanings.md."""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
