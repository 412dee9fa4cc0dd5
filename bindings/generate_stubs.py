"""Writes the types of the native module, src/margent/_core.pyi, from the module itself: `make stubs`.

nanobind knows the types of all arguments and results. Dtypes of arrays are kept, their shapes and flags left out.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from nanobind.stubgen import StubGen

TARGET = Path(__file__).parents[1] / "src" / "margent" / "_core.pyi"
_ARRAY = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\((?:[^()]|\([^()]*\))*\)\]")


def stub() -> str:
    generator = StubGen(module=importlib.import_module("margent._core"), include_docstrings=False)
    generator.put(generator.module)
    types = _ARRAY.sub(r"\1", generator.get())
    return '"""Types of the native module. Written by `make stubs`."""\n\n' + types


if __name__ == "__main__":
    TARGET.write_text(stub(), encoding="utf-8")
