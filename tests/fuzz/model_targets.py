"""Forged model files of every kind of model: each is refused, or holds a model that works.

Kinds join by themselves: the battery of tests/contracts has one model of each, and more of a kind are a file with
`CASES` in kinds/. A case takes the file of a model apart, changes its header, its arrays or its bytes, makes the
checksums right, loads it as a user would, and asks for predictions, explanations, copies and further training.
"""

from __future__ import annotations

import contextlib
import copy
import io
import json
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.base import clone
from tests.contracts import test_models as battery
from tests.fuzz.model_bytes import header_of, packed, reseal, resized, seal
from tests.fuzz.mutation import NUMBERS, mutate_arrays, mutate_bytes, mutate_value

import margent
from margent import storage
from margent.cli import main

FEW = 12
"""Examples of the battery that are enough for a file."""
_DEEP = 0.05
"""The share of models that are saved, shown and trained further, which takes more time than all else."""


@dataclass(frozen=True)
class ModelTarget:
    """Forged files of one model; `model` is not fitted yet."""

    name: str
    model: Any
    X: Any
    y: Any
    compact: bool = False
    constraints: Callable[[Any], list[Any]] | None = None

    @cached_property
    def raw(self) -> bytes:
        with TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "m"
            clone(self.model).fit(self.X, self.y).save(path, compact=self.compact)
            return path.read_bytes()

    @cached_property
    def file(self) -> storage.ModelFile:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "m"
            path.write_bytes(self.raw)
            return storage.read(path)

    def prepare(self) -> None:
        """All that cases share is made before the first."""
        assert self.file.arrays and self.raw

    def forged(self, dice: random.Random) -> bytes:
        """A file that lies."""
        kind = dice.random()
        if kind < 0.1:
            return _damaged(self.raw, dice)
        header, arrays, shapes = self.file.header, self.file.arrays, {}
        for _ in range(dice.choice([1, 1, 1, 2, 3])):
            with np.errstate(all="ignore"):
                if dice.random() < 0.5:
                    key = dice.choice(list(header) or ["labels"])
                    header = {**header, key: mutate_value(header.get(key), dice)}
                    if dice.random() < 0.05:
                        del header[key]
                else:
                    arrays = mutate_arrays(arrays, dice)
        if dice.random() < 0.03:
            name = dice.choice(list(arrays))
            shapes = {name: dice.choice([[0, 2**40], [2**40, 0], [2**59, 0], [*arrays[name].shape, 1], [1] * 9])}
        return packed(self.file.kind, header, arrays, shapes)

    def run(self, path: Path, dice: random.Random) -> None:
        """Loads the file and uses the model; exceptions are for the judge."""
        model = margent.load(path, mmap=dice.random() < 0.2)
        X, y = self.X[:3], self.y[:3]
        asked = dice.random()
        model.predict(X)
        if asked < 0.5:
            model.predict_k_best(X, k=2)
        if asked > 0.7 and hasattr(model, "predict_marginals"):
            model.predict_marginals(X)
        if 0.5 < asked < 0.6 and self.constraints is not None:
            model.predict(X[:1], self.constraints(model))
        if 0.6 < asked < 0.7 and hasattr(model, "sample"):
            model.sample(X, n=2)
        if asked > 0.9 and hasattr(model, "explain"):
            model.explain(X[0])
        if asked < 0.1 and hasattr(model, "top_features"):
            for label in getattr(model, "classes_", [])[:3]:
                model.top_features(label, 3)
        if dice.random() < _DEEP:
            model.score(X, y)
            self._shown(path)
            self._kept(model, path)
            self._trained(model, X, y)

    def _shown(self, path: Path) -> None:
        """`margent inspect`; what it cannot do, it says in one line itself."""
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            main(["inspect", str(path)])

    def _kept(self, model: Any, path: Path) -> None:
        """What was loaded can be saved, and loaded again."""
        again = path.with_name("again")
        copy.deepcopy(model).save(again)
        margent.load(again)

    def _trained(self, model: Any, X: Any, y: Any) -> None:
        """With the learner of the test, as that of the file may ask for a million epochs."""
        if hasattr(model, "partial_fit"):
            model.set_params(**self.model.get_params(deep=False)).partial_fit(X, y, progress=False)


def _damaged(raw: bytes, dice: random.Random) -> bytes:
    """Bytes changed below the grammar: with right checksums, and now and then without."""
    kind = dice.random()
    if kind < 0.1:
        return mutate_bytes(raw, dice)
    header, end = header_of(raw)
    if kind < 0.5:
        return resized(raw[:end] + mutate_bytes(raw[end:], dice)) if end < len(raw) else reseal(raw)
    if kind < 0.8:
        return seal(mutate_bytes(json.dumps(header).encode(), dice), raw[end:])
    row = dice.choice(header["arrays"])
    key = dice.choice(list(row))
    if key == "shape" and row[key]:
        row[key][dice.randrange(len(row[key]))] = dice.choice(NUMBERS)
    else:
        row[key] = row[key] + dice.choice([-64, -1, 1, 64]) if type(row[key]) is int else mutate_value(row[key], dice)
    return seal(header, raw[end:])


def model_targets() -> Iterator[ModelTarget]:
    for kind, case in battery.CASES.items():
        yield ModelTarget(f"{kind}/battery", case.model, case.X[:FEW], case.y[:FEW])
    for found in iter_modules([str(Path(__file__).parent / "kinds")]):
        module = import_module(f"tests.fuzz.kinds.{found.name}")
        for name, (model, X, y) in module.CASES.items():
            if any(map(callable, _code(model))):
                continue  # files that cannot be loaded without it
            for compact in (True,) if name in getattr(module, "LARGE", ()) else (False, True):
                ending = "/compact" if compact else ""
                full_name = f"{model.fitted.kind}/{name.replace(' ', '-')}{ending}"
                yield ModelTarget(full_name, model, X, y, compact, getattr(module, "constraints", None))


def _code(model: Any) -> Iterator[Any]:
    """What may be a function, which no file holds."""
    features = getattr(model, "features", None)
    yield features
    yield from (getattr(features, name, None) for name in ("kind", "features"))
