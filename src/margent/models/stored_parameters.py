"""Parameters in a model file: values that JSON can hold, and back.

Numbers and text are themselves. A learner is {"name": its name, and its parameters}; templates and kernels are
{"templates": ...} and {"kernel": ...}; another value is {"type": the name of its class, and its fields}. What a file
cannot hold, functions and learners of the user's own, is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from margent.features.choice import Features
from margent.features.kernel import Kernel
from margent.features.templates import Templates
from margent.learners import EM, PCFG, MaximumLikelihood, learner_name, learner_named
from margent.parameters import in_order

_VALUES: dict[str, type[Any]] = {kind.__name__: kind for kind in (EM, Features, MaximumLikelihood, PCFG)}


_RENAMED = {"head_start": "warm_start"}
"""Parameters of learners that older files call otherwise."""


def storable(kind: type[Any]) -> type[Any]:
    """Makes a dataclass one that model files may hold: a decorator for parameters of models."""
    _VALUES[kind.__name__] = kind
    return kind


def stored_value(value: Any) -> Any:
    """For JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Templates):
        return {"templates": list(value.lines)}
    if isinstance(value, Kernel):
        return None if value.has_code else {"kernel": value.stored()}
    if isinstance(value, Mapping):
        items = [[stored_value(key), stored_value(item)] for key, item in value.items()]
        return {"type": "dict", "items": sorted(items, key=repr)}  # whatever order the dict had
    if isinstance(value, tuple):
        return {"type": "tuple", "items": [stored_value(item) for item in value]}
    if isinstance(value, (list, Set)):
        return [stored_value(item) for item in in_order(value)]
    if not is_dataclass(value) or isinstance(value, type):
        return None
    name = learner_name(value)
    if name is None and _VALUES.get(type(value).__name__) is not type(value):
        return None
    head = {"type": type(value).__name__} if name is None else {"name": name}
    return head | {field.name: stored_value(getattr(value, field.name)) for field in fields(value) if field.init}


def restored_value(stored: Any) -> Any:
    """The value again; TypeError, ValueError or KeyError for what is none."""
    if isinstance(stored, list):
        return [restored_value(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    if "kernel" in stored:
        return Kernel.restored(stored["kernel"])
    if stored.keys() == {"templates"}:
        return Templates(stored["templates"])
    given = {name: restored_value(value) for name, value in stored.items() if name not in ("type", "name")}
    if "name" in stored:
        if stored["name"] == "likelihood":  # what older files call it
            return MaximumLikelihood(**given)
        return learner_named(stored["name"], **{_RENAMED.get(name, name): value for name, value in given.items()})
    kind = stored["type"]
    if kind == "dict":
        return dict(given["items"])
    if kind == "tuple":
        return tuple(given["items"])
    if kind not in _VALUES:
        raise TypeError(f"{kind!r} is not a value that this version knows")
    return _VALUES[kind](**given)
