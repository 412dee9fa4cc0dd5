"""Structures: what may be predicted, and the search that finds the best, the k best, or the expectation over all.

As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
