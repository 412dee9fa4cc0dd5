"""Margent: structured prediction for sequences, on an ordinary CPU, in seconds.

Everything public is here, flat. Names are imported when first used, so that `import margent` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME: dict[str, str] = {}
"""Public name to the module that defines it."""

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'margent' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    pass
