"""Feature maps: what is seen. Templates over columns, attributes, functions of a sentence, numbers, kernels.

As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
