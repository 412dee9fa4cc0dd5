from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from margent.errors import CorpusError, MissingExtraError
from margent.metrics import plot_segments
from margent.metrics.drawing import BLUE, RED

GOLD = [(0, 30, "pau"), (30, 60, "aa"), (60, 100, "s")]
PREDICTED = [(0, 31, "pau"), (31, 50, "aa"), (50, 75, "o"), (75, 100, "s")]


def texts(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_gold_is_drawn_above_predicted(tmp_path: Path) -> None:
    figure = plot_segments(np.sin(np.arange(100)), GOLD, PREDICTED, tmp_path / "a.png", frame=0.01, title="two")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    signal, gold, predicted = figure.axes
    assert signal.get_title(loc="left") == "two"
    assert texts(gold) == ["pau", "aa", "s"] and texts(predicted) == ["pau", "aa", "o", "s"]
    assert [axes.get_yticklabels()[0].get_text() for axes in (gold, predicted)] == ["gold", "predicted"]
    assert [text.get_color() for text in predicted.texts] == ["#333333", "#333333", RED, "#333333"]
    assert predicted.get_xlabel() == "seconds" and signal.get_xlim() == (0.0, 1.0)
    # 31 is near 30, while 50 and 75 are near nothing.
    boundaries = {round(float(line.get_xdata()[0]), 2): to_hex(line.get_color()) for line in signal.lines[1:]}
    assert boundaries == {0.3: "#333333", 0.6: "#333333", 0.31: BLUE, 0.5: RED, 0.75: RED}


def test_one_side_or_none_will_do(tmp_path: Path) -> None:
    assert len(plot_segments(np.zeros(100), GOLD).axes) == 2
    (only,) = plot_segments(np.zeros(100), predicted=PREDICTED).axes[1:]
    assert all(text.get_color() == "#333333" for text in only.texts)
    assert len(plot_segments(np.zeros(7)).axes) == 1
    assert len(plot_segments(np.zeros(7), [], []).axes) == 3


def test_signals_of_any_shape_cover_all_frames() -> None:
    sound = plot_segments(np.zeros(16000), GOLD).axes[0]
    assert sound.get_xlim() == (0.0, 100.0)
    assert 99 < sound.lines[0].get_xdata()[-1] < 100
    assert len(plot_segments(np.zeros((100, 3)), GOLD).axes[0].lines) == 3 + 2
    image = plot_segments(np.random.default_rng(0).normal(size=(100, 39)), GOLD).axes[0]
    assert len(image.images) == 1 and image.images[0].get_extent() == [0, 100, 0, 39]


def test_a_label_that_does_not_fit_is_left_out() -> None:
    many = [(i, i + 1, "a long label" if i == 5 else "x") for i in range(100)]
    assert texts(plot_segments(np.zeros(100), many).axes[1]) == ["x"] * 99


@pytest.mark.parametrize(
    ("signal", "gold", "predicted", "message"),
    [
        (np.zeros((2, 2, 2)), GOLD, None, r"shape \(2, 2, 2\); expected"),
        ([], GOLD, None, r"shape \(0,\); expected"),
        (np.zeros(100), GOLD, GOLD[:2], "the gold segments end at frame 100, the predicted ones at 60"),
        (np.zeros(100), GOLD[1:], None, "the gold segments: segment 0"),
    ],
)
def test_what_cannot_be_drawn_is_said(signal: Any, gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        plot_segments(signal, gold, predicted)


def test_the_frame_must_have_a_length() -> None:
    with pytest.raises(ValueError, match="expected frame > 0"):
        plot_segments([1.0], frame=-1)


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'margent\[plot\]'"):
        plot_segments(np.zeros(100), GOLD)
