"""Learners: how mistakes move the weights. One file each; `protocol` says what they may see, `registry` their names.

As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
