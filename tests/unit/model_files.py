"""A small model file, for the tests of good and of bad ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from margent import storage

HEADER = {"order": 1, "scheme": "iob2", "rate": 0.5, "averaged": True, "templates": ["U00:%x[0,0]", "B"], "more": {}}


def example_arrays() -> dict[str, np.ndarray]:
    return {
        "weights": np.arange(12, dtype=np.float32).reshape(4, 3),
        "empty": np.zeros((0, 5), np.int64),
        "scalar": np.array(7, np.uint16),
        "mask": np.array([True, False, True]),
        "starts": np.array([0, 2, 2, 5]),
        **storage.string_arrays("labels", ["O", "B-PER", "ÄÖ", "", "日本"]),
    }


def written(folder: Path) -> Path:
    path = folder / "model.margent"
    storage.write(path, HEADER, example_arrays(), kind="tagger")
    return path


def timeless(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A history as a file holds it: how long an epoch took is not part of a model."""
    return [{name: value for name, value in epoch.items() if name != "seconds"} for epoch in history]
