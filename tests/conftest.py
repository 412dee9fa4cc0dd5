"""Makes tests/ importable, so that any test can say `from oracle import enumeration`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
