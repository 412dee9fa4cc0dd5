"""Makes tests/ importable, so that any test can say `from oracle import enumeration`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def pytest_configure() -> None:
    """Ctrl-C is heard also where the tests run in the background of a shell, which has it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
