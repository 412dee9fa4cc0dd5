"""The stub of the native module is what the module is: `make stubs` writes it anew."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stub_is_that_of_the_module() -> None:
    code = "from bindings.generate_stubs import stub; print(stub(), end='')"
    generated = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "_core.pyi", "-"]
    formatted = subprocess.run(command, input=generated.stdout, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (ROOT / "src/margent/_core.pyi").read_text(encoding="utf-8") == formatted.stdout, "run: make stubs"
