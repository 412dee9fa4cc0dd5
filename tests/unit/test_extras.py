"""Without scipy and scikit-learn everything that does not ask for them works, and what does says how to get them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from margent.errors import MissingExtraError
from margent.extras import optional

WITHOUT = (
    "import sys\nfor name in ('scipy', 'sklearn', 'matplotlib', 'optuna', 'soundfile'): sys.modules[name] = None\n"
)
TAGGER = """
import margent, numpy as np
X, y = margent.make_addresses(20, seed=0)
"""
WORKS = {
    "tagger": TAGGER + "margent.Tagger(calibration=0.2).fit(X, y).score(X, y)",
    "field": TAGGER + "margent.Tagger(learner=margent.CRF(epochs=3)).fit(X, y).predict_marginals(X)",
    "hidden": TAGGER + "margent.Tagger(hidden=margent.HiddenLabels(2), learner=margent.Perceptron(epochs=1)).fit(X, y)",
    "numbers": TAGGER + "margent.Tagger().fit([np.eye(3)], [['a', 'b', 'c']]).predict([np.eye(3)])",
    "kernel": TAGGER + "margent.Tagger(margent.Kernel('rbf')).fit([np.eye(3)], [['a', 'b', 'c']]).predict([np.eye(3)])",
    "segmenter": """
import margent
X, y, _ = margent.datasets.make_series(8, seed=0)
margent.Segmenter().fit(X, y).predict(X)
""",
    "transcriber": "import margent\nmargent.Transcriber().fit(['ab', 'ba'], [['A', 'B'], ['B', 'A']]).predict(['ab'])",
    "parser": """
import margent
X, y = margent.datasets.make_trees(20, seed=0)
margent.Parser(search='eisner').fit(X, y).score(X, y)
""",
    "estimator": TAGGER + "margent.Tagger(learner=margent.Perceptron()).set_params(learner__epochs=2).get_params()",
}
ASKS = {
    "routing": (TAGGER + "margent.Tagger().set_fit_request(sample_weight=True)", "sklearn"),
    "nuclear norm": (
        "import margent\nX = [['a', 'b', 'a']] * 9\n"
        "margent.Tagger(learner=margent.Spectral(iterations=2, svd='partial')).fit(X, [['x', 'y', 'x']] * 9)",
        "scipy",
    ),
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT + code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", WORKS.values(), ids=WORKS)
def test_models_need_numpy_alone(code: str) -> None:
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("code", "extra"), ASKS.values(), ids=ASKS)
def test_what_needs_more_names_the_extra(code: str, extra: str) -> None:
    done = run(code)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(f"install it with: pip install 'margent[{extra}]'"), done.stderr


def test_the_name_of_the_package_is_that_of_its_distribution() -> None:
    with pytest.raises(MissingExtraError, match=r"nothing needs no_such_package; install it with: pip install"):
        optional("no_such_package.part", "nothing needs", "none")
