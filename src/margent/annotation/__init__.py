"""What people say of a sequence: spans in labels, segments, intervals of time, dependency trees."""

from margent.lazy_names import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
