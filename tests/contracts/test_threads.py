"""What may be done from several threads (docs/models.md): all questions at the same time, while one thread trains.

For all kinds of models, features, weights and searches: those whose files are forged (tests/fuzz/kinds).
"""

from __future__ import annotations

import copy
import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone
from tests.fuzz.model_targets import ModelTarget, model_targets

import margent

TARGETS = [target for target in model_targets() if not target.compact]
AT_LEAST = 3
"""Of each question, and of trainings, so often."""


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads of Python take turns a hundred times as often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(before)


def questions(model: Any, X: Any, y: Any, path: Path) -> dict[str, Callable[[], object]]:
    def saved_and_loaded() -> object:
        model.save(path)
        return margent.load(path).predict(X)

    asked = {
        "predict": lambda: model.predict(X),
        "predict_k_best": lambda: model.predict_k_best(X, k=2),
        "score": lambda: model.score(X, y),
        "save": saved_and_loaded,
        "copy": lambda: copy.deepcopy(model).predict(X),
    }
    if hasattr(model, "predict_marginals") and getattr(getattr(model, "weights_", None), "exact", True):
        asked["predict_marginals"] = lambda: model.predict_marginals(X)
    if hasattr(model, "explain"):
        asked["explain"] = lambda: model.explain(X[0])
    return asked


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_all_questions_while_it_learns(target: ModelTarget, tmp_path: Path) -> None:
    X, y = target.X, target.y
    with redirect_stdout(io.StringIO()):
        model = clone(target.model).fit(X, y, progress=False)
        few = X[:2], y[:2]
        asked = questions(model, *few, tmp_path / "m")
        counts, errors, done = dict.fromkeys(asked, 0), [], threading.Event()

        def ask(name: str) -> None:
            try:
                while not done.is_set():
                    asked[name]()
                    counts[name] += 1
            except BaseException as error:
                errors.append((name, error))
                done.set()

        threads = [threading.Thread(target=ask, args=(name,)) for name in asked]
        for thread in threads:
            thread.start()
        learn = model.partial_fit if hasattr(model, "partial_fit") else model.fit
        learn = model.fit if isinstance(model.learner, margent.MaximumLikelihood) else learn
        part = 0
        while not done.is_set() and (part < AT_LEAST or min(counts.values()) < AT_LEAST):
            rest = [i for i in range(len(y)) if i % 3 != part % 3]
            numbers = range(len(y)) if learn == model.fit else rest
            some = [X[i] for i in numbers] if isinstance(X, list) else X
            learn(some, [y[i] for i in numbers] if isinstance(X, list) else y, progress=False)
            part += 1
        done.set()
        for thread in threads:
            thread.join()
        assert not errors and min(counts.values()) >= AT_LEAST
        again = copy.deepcopy(model)
    assert again.predict(X) == model.predict(X)
