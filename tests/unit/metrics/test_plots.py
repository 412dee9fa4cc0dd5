from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from margent.errors import CorpusError, MissingExtraError
from margent.metrics import (
    ConfusionMatrix,
    calibration_scores,
    confusion_matrix,
    plot_confusion,
    plot_learning_curve,
    plot_reliability,
)

PNG = b"\x89PNG"


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_confusion_shows_labels_and_counts(tmp_path: Path) -> None:
    matrix = confusion_matrix([["a", "a", "b"]], [["a", "b", "b"]])
    figure = plot_confusion(matrix, tmp_path / "confusion.png")
    assert (tmp_path / "confusion.png").read_bytes()[:4] == PNG
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert sorted(texts(axes)) == ["1", "1", "1"]


def test_confusion_of_many_labels_keeps_the_most_mistaken() -> None:
    counts = np.diag(np.full(40, 5000))
    counts[7, 9] = 12_345
    figure = plot_confusion(ConfusionMatrix(tuple(f"label {i}" for i in range(40)), counts), labels=2)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["label 7", "label 9"]
    assert "2 of 40 labels" in axes.get_title(loc="left")
    assert "12k" in texts(axes)


def test_reliability_tells_the_errors(tmp_path: Path) -> None:
    report = calibration_scores([0.9, 0.9, 0.3], [True, False, False])
    figure = plot_reliability(report, tmp_path / "reliability.svg")
    assert b"<svg" in (tmp_path / "reliability.svg").read_bytes()[:1000]
    assert f"expected error {100 * report.expected_error:.1f} %" in texts(figure.axes[0])[0]
    plot_reliability(calibration_scores([], []))
    both = plot_reliability({"tokens": report, "spans": calibration_scores([], [])}, title="two")
    assert [axes.get_title(loc="left") for axes in both.axes[:2]] == ["tokens", "spans"]
    with pytest.raises(CorpusError, match="no reliability curve"):
        plot_reliability({})


def test_learning_curve_has_a_panel_for_losses_and_one_for_scores(tmp_path: Path) -> None:
    history = [
        {"epoch": 1, "loss": 3.0, "accuracy": 0.8, "dev_f1": None, "seconds": 0.5},
        {"epoch": 2, "loss": 1.0, "accuracy": 0.9, "dev_f1": 0.85, "seconds": 0.5},
    ]
    figure = plot_learning_curve(history, str(tmp_path / "curve.png"))
    assert (tmp_path / "curve.png").read_bytes()[:4] == PNG
    losses, scores = figure.axes
    assert losses.get_ylabel() == "loss"
    assert sorted(texts(scores)) == ["85.00", "90.00"]
    assert [text.get_text() for text in scores.get_legend().get_texts()] == ["accuracy", "dev f1"]
    assert len(plot_learning_curve([{"loss": 1.0}]).axes) == 1


def test_nothing_to_draw_is_said() -> None:
    with pytest.raises(CorpusError, match="no labels"):
        plot_confusion(confusion_matrix([], []))
    for history in ([], [{"epoch": 1, "seconds": 2.0}]):
        with pytest.raises(CorpusError, match="neither a loss nor a score"):
            plot_learning_curve(history)


def test_missing_matplotlib_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'margent\[plot\]'"):
        plot_learning_curve([{"loss": 1.0}])


def test_metrics_are_light_and_plots_leave_pyplot_alone() -> None:
    code = """
import sys, margent.metrics
print([name for name in ("scipy", "sklearn", "matplotlib", "rich") if name in sys.modules])
margent.metrics.plot_learning_curve([{"loss": 1.0}])
print("matplotlib.pyplot" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["[]", "False"]
