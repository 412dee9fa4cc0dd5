"""Names of a package that are imported when they are first used, so that importing the package stays light.

What is public is written once, in the package's `__init__.pyi`, as type checkers want it: `from module import name as
name`, one a line. At run time the same lines say where each name is to be had.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__` (PEP 562), `__dir__` and `__all__` of a package, from the stub beside its `file`.

    A name may be a module of the package: `from margent import metrics as metrics`.
    """
    with open(file.removesuffix(".py") + ".pyi", encoding="utf-8") as stub:
        lines = [line.split() for line in stub if line.startswith("from ")]
    home = {line[3]: line[1] for line in lines}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(home), sorted(home)
