"""How good are the predictions: token, span and segment metrics, significance, calibration, tables and plots.

As in the package itself, a name is imported when it is first used.
"""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
