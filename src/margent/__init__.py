"""Margent: structured prediction for sequences, on an ordinary CPU, in seconds.

Everything that most people need is here, flat; the rest is in the subpackages, `margent.formats` and so on. All of it
is imported when first used, so that `import margent` stays light.
"""

from margent.lazy_names import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
