"""`import margent` is light: no scikit-learn, no scipy, no matplotlib, and no module that is not asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = (
    "sklearn",
    "scipy",
    "matplotlib",
    "joblib",
    "pandas",
    "rich",
    "pycrfsuite",
    "sklearn_crfsuite",
    "soundfile",
    "optuna",
)


def run(code: str) -> str:
    # Threads of numerical libraries add noise to the start of a process.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


LAZY = (
    *("annotation", "audio", "datasets", "features", "formats", "learners", "metrics", "models", "spectral"),
    "structures",
)
TRAIN = """
sentences, labels = margent.make_addresses(20, seed=0)
tagger = margent.Tagger(learner=margent.Perceptron(epochs=1)).fit(sentences, labels, X_dev=sentences, y_dev=labels)
"""


@pytest.mark.parametrize(
    "code",
    [
        "",
        "margent.Tagger",
        "margent.Tagger()",
        "import margent.crfsuite; margent.crfsuite.CRF(algorithm='ap')",
        TRAIN + "tagger.predict(sentences); tagger.predict_spans(sentences); tagger.score(sentences, labels)",
        TRAIN + "repr(tagger), tagger.get_params(), tagger.set_params(learner__epochs=2)",
        TRAIN + "import copy; copy.deepcopy(tagger).explain(sentences[0], 0)",
        "try: margent.Tagger().predict([['a']])\nexcept margent.NotFittedError: pass",
    ],
    ids=["import", "class", "object", "crfsuite", "predict", "parameters", "copy", "not fitted"],
)
def test_what_is_imported(code: str) -> None:
    found = run(f"import sys, margent\n{code}\nprint(*[name for name in {HEAVY} if name in sys.modules])")
    assert found == ""


def test_every_public_name_can_be_had() -> None:
    assert run("import margent; print(all(hasattr(margent, name) for name in dir(margent)))") == "True"


@pytest.mark.parametrize(
    "name",
    [
        "audio",
        "formats",
        "datasets",
        "annotation",
        "crfsuite",
        "errors",
        "features",
        "learners",
        "meaning",
        "metrics",
        "models",
        "spectral",
        "storage",
        "structures",
        "tuning",
    ],
)
def test_a_subpackage_needs_no_import_of_its_own(name: str) -> None:
    assert run(f"import margent; print(margent.{name}.__name__, '{name}' in dir(margent))") == f"margent.{name} True"


def test_a_name_that_does_not_exist() -> None:
    for package in ("margent", *(f"margent.{name}" for name in LAZY)):
        code = f"import {package}\ntry: {package}.nothing\nexcept AttributeError as error: print(error)"
        assert run(code) == f"module '{package}' has no attribute 'nothing'"


def test_tagging_waits_for_no_metric_that_it_does_not_use() -> None:
    code = TRAIN + "print(*[name for name in sys.modules if name.startswith('margent.metrics.')])"
    assert run(f"import sys, margent\n{code}") == "margent.metrics.span_counts"


def test_importing_loads_nothing_that_is_not_asked_for() -> None:
    """What takes time is what is loaded: only the package itself, and what finds its names when they are used."""
    loaded = "print(*sorted(name for name in sys.modules if name.split('.')[0] == 'margent'))"
    assert run(f"import sys, margent; {loaded}") == "margent margent.lazy_names"
    beyond = "print(*sorted({name.split('.')[0] for name in sys.modules} - before - sys.stdlib_module_names))"
    assert run(f"import sys; before = {{*sys.modules}}; import margent; {beyond}") == "margent"
    errors = run(f"import sys, margent; margent.CorpusError; {loaded}")
    assert errors == "margent margent.errors margent.lazy_names margent.printable"


def test_a_chain_needs_nothing_of_spectral_learning_but_its_name_among_the_learners() -> None:
    code = TRAIN + "print(*sorted(name for name in sys.modules if name.startswith('margent.spectral.')))"
    assert run(f"import sys, margent\n{code}") == "margent.spectral.learner margent.spectral.singular_values"
