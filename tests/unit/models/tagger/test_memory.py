"""What tables of label pairs take: L labels have L^2 of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

N_LABELS = 2000
PROGRAM = """
import gc, resource, sys, warnings
import margent

def peak():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

warnings.simplefilter("ignore")
work, path, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
X, y = [[f"w{i}" for i in range(n)]], [[f"L{i}" for i in range(n)]]
if work == "fit":
    learner = getattr(margent, sys.argv[4])(epochs=1)
    tagger = margent.Tagger(features=margent.Templates(["U:%x[0,0]"]), learner=learner, threads=1)
    margent.Tagger(features=margent.Templates(["U:%x[0,0]"]), learner=learner).fit([["a", "b"]], [["A", "B"]])
    before = peak()
    tagger.fit(X, y, progress=False)
    print(peak() - before)
    tagger.save(path)
else:
    tagger = margent.load(path)
    tagger.predict([["w0"]])
    gc.collect()
    before = peak()
    getattr(tagger, work)([X[0][:3]])
    print(peak() - before)
"""


def taken(*arguments: object) -> float:
    """By how much the memory of a process grows, in bytes per pair of labels."""
    words = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout) / N_LABELS**2


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is in other units elsewhere, or not known")
@pytest.mark.parametrize(("learner", "limit"), [("Perceptron", 42), pytest.param("CRF", 76, marks=pytest.mark.slow)])
def test_no_more_than_is_used_without_transitions(tmp_path: Path, learner: str, limit: int) -> None:
    """There is a feature for each label: weights and their sums take 8 bytes by themselves, and copies as much."""
    path = tmp_path / "model.margent"
    assert taken("fit", path, N_LABELS, learner) < limit
    assert taken("predict_marginals", path, N_LABELS) < 16
    assert taken("predict_k_best", path, N_LABELS) < 24
