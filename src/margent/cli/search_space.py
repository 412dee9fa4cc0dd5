"""`--search NAME=VALUES`: what `margent tune` may try, from text to a space.

C=0.01..10:log      a number from 0.01 to 10, on the log scale
epochs=5..20        an integer from 5 to 20, for epochs are integers
k=1,2,5             one of these
features=ner,my.txt a preset or a template file
gamma=0.01..1:log   of the kernel, where there is one
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from margent.cli.command_line import UsageError
from margent.features.templates import Templates
from margent.tuning import Range, default_space
from margent.tuning.space import learner_kind, searchable

_WORDS = {"yes": True, "true": True, "on": True, "no": False, "false": False, "off": False, "none": None}


def search_space(
    items: Sequence[str] | None, models: Mapping[str, Any], fixed: Collection[str]
) -> list[dict[str, Any]]:
    """The space that --search describes, or the default spaces of the learners without what is fixed by options.

    models : by the name of the learner; a single one is not searched
    fixed : names of parameters that options have set
    """
    several = len(models) > 1
    learners = {name: model.learner for name, model in models.items()}
    if items:
        values = dict(_parsed(item, models, fixed) for item in items)
        if len(values) < len(items):
            raise UsageError("--search: a parameter is given twice")
        return [{"learner": learners, **values} if several else values]
    defaults = {name: default_space(learner_kind(model) or name) for name, model in models.items()}
    if all(key in fixed for default in defaults.values() for key in default):
        whose = f"the learner{'s' * several} {', '.join(models)}"
        raise UsageError(f"the options leave nothing to search for {whose}: give --search NAME=VALUES")
    spaces = []
    for name, default in defaults.items():
        own = {key: values for key, values in default.items() if key not in fixed}
        # Beside others, a learner whose parameters are all fixed is tried once, as it is.
        own = own or {key: [getattr(learners[name], key)] for key in default}
        spaces.append({"learner": {name: learners[name]}, **own} if several else own)
    return spaces


def _parsed(item: str, models: Mapping[str, Any], fixed: Collection[str]) -> tuple[str, Any]:
    written, equals, text = item.partition("=")
    name = written.replace("-", "_")
    if not equals or not name or not text:
        raise UsageError(
            f"--search: expected NAME=VALUES such as k=1,2,5 or C=0.01..10:log, got {item!r}; files go before --search"
        )
    if not any(name in searchable(model) for model in models.values()):
        known = dict.fromkeys(key for model in models.values() for key in searchable(model) if "__" not in key)
        raise UsageError(
            f"--search: {written} is not a parameter of the learner{'s' * (len(models) > 1)} {', '.join(models)} or of "
            f"the model; expected one of {', '.join(known)}"
        )
    if name in fixed:
        raise UsageError(f"{written} is both given as an option and searched: choose one")
    if ".." in text and name != "features":
        return name, _range(f"--search {written}", text)
    return name, {part: _value(name, part) for part in text.split(",")} if name == "features" else [
        _value(name, part) for part in text.split(",")
    ]


def _value(name: str, text: str) -> Any:
    """A number, a flag, nothing, or a word, as it looks; whether the parameter takes it, the model will say."""
    if name == "features":
        return Templates.from_file(text) if os.path.isfile(text) else text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _range(what: str, text: str) -> Range:
    ends, _, scale = text.partition(":")
    low, _, high = ends.partition("..")
    first, last = _value("", low), _value("", high)
    if scale not in ("", "log", "linear") or not {type(first), type(last)} <= {int, float}:
        raise UsageError(f"{what}: expected a range LOW..HIGH, LOW..HIGH:log or LOW..HIGH:linear, got {text!r}")
    try:
        return Range(first, last, log=scale == "log")
    except ValueError as error:
        raise UsageError(f"{what}: {error}") from None
