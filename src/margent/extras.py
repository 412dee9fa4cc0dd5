"""Optional dependencies: imported where they are used, or an error that says what needs them and how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from margent.errors import MissingExtraError


def optional(module: str, purpose: str, extra: str) -> Any:
    """The module that an extra of the package brings.

    >>> optional("json", "an example", "none").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = {"sklearn": "scikit-learn"}.get(root := module.partition(".")[0], root)
        message = f"{purpose} {package}; install it with: pip install 'margent[{extra}]'"
        raise MissingExtraError(message) from error
