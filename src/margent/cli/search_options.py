"""`--search NAME=VALUES`: what `margent tune` may try, from text to a space.

C=0.01..10:log      a number from 0.01 to 10, drawn evenly on the log scale
epochs=5..20        a whole number from 5 to 20, for epochs are whole numbers
k=1,2,5             one of these
features=ner,my.txt a preset or a template file
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from margent.cli.command_line import UsageError
from margent.cli.learner_options import given_parameters, parsed_value
from margent.features.templates import PRESETS, Templates
from margent.models import Tagger
from margent.tuning import Range, default_space

_TAGGER_HINTS: dict[str, Any] = {
    "features": Templates,
    "order": int,
    "hidden": int,
    "search": Literal["viterbi", "sum", "posterior"],
    "constrain": bool,
    "tag_dictionary": Union[int, None],  # noqa: UP007
    "min_count": int,
}
_SCALES = ("log", "linear")


def learner_names(text: str) -> list[str]:
    """The type of --learner: names separated by commas."""
    from margent.learners import LEARNERS

    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in LEARNERS:
            raise argparse.ArgumentTypeError(f"invalid choice: {name!r} (choose from {', '.join(LEARNERS)})")
    return names


def search_space(arguments: argparse.Namespace, learners: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The space that --search describes, or the default spaces of the learners without what is fixed by options."""
    several = len(learners) > 1
    if arguments.search:
        values = dict(_parsed(item, arguments, learners) for item in arguments.search)
        if len(values) < len(arguments.search):
            raise UsageError("--search: a parameter is given twice")
        return [{"learner": dict(learners), **values} if several else values]
    fixed = given_parameters(arguments)
    if all(key in fixed for name in learners for key in default_space(name)):
        whose = f"the learner{'s' * several} {', '.join(learners)}"
        raise UsageError(f"the options leave nothing to search for {whose}: give --search NAME=VALUES")
    spaces = []
    for name, learner in learners.items():
        default = default_space(name)
        own = {key: values for key, values in default.items() if key not in fixed}
        # Beside others, a learner whose parameters are all fixed is tried once, as it is.
        own = own or {key: [getattr(learner, key)] for key in default}
        spaces.append({"learner": {name: learner}, **own} if several else own)
    return spaces


def _parsed(item: str, arguments: argparse.Namespace, learners: Mapping[str, Any]) -> tuple[str, Any]:
    written, equals, text = item.partition("=")
    name = written.replace("-", "_")
    if not equals or not name or not text:
        raise UsageError(
            f"--search: expected NAME=VALUES such as k=1,2,5 or C=0.01..10:log, got {item!r}; files go before --search"
        )
    hint = _hint(name, learners)
    _check_free(name, written, arguments)
    what = f"--search {written}"
    if name == "features":
        return name, {part: _features(what, part) for part in text.split(",")}
    if ".." in text and _is_number(hint):
        return name, _range(what, text, hint)
    return name, [parsed_value(what, part, hint) for part in text.split(",")]


def _hint(name: str, learners: Mapping[str, Any]) -> Any:
    """The type of a parameter of the tagger or of a learner."""
    if name in _TAGGER_HINTS:
        return _TAGGER_HINTS[name]
    hints = {key: hint for learner in learners.values() for key, hint in get_type_hints(type(learner)).items()}
    if name not in hints:
        raise UsageError(
            f"--search: {name} is no parameter of the learner{'s' * (len(learners) > 1)} {', '.join(learners)}, "
            f"nor one of {', '.join(_TAGGER_HINTS)}"
        )
    return hints[name]


def _check_free(name: str, written: str, arguments: argparse.Namespace) -> None:
    """A parameter that an option has fixed cannot be searched as well."""
    several = {"features": ("features", "template", "kernel"), "search": ("decode", "beam_search")}
    usual = (None, "viterbi", {"min_count": 1, "hidden": 1}.get(name, getattr(Tagger(), name, None)))
    options = several.get(name, (name,))
    if name in given_parameters(arguments) or any(getattr(arguments, key, None) not in usual for key in options):
        raise UsageError(f"{written} is both given as an option and searched: choose one")


def _features(what: str, text: str) -> Any:
    if text in (*PRESETS, "symbols"):
        return text
    if not os.path.isfile(text):
        raise UsageError(f"{what}: expected one of {', '.join(PRESETS)}, symbols or a template file, got {text!r}")
    return Templates.from_file(text)


def _is_number(hint: Any) -> bool:
    return bool({int, float} & set(_kinds(hint)))


def _kinds(hint: Any) -> Sequence[Any]:
    return get_args(hint) if get_origin(hint) is not None else (hint,)


def _range(what: str, text: str, hint: Any) -> Range:
    ends, _, scale = text.partition(":")
    low, _, high = ends.partition("..")
    if scale not in ("", *_SCALES):
        raise UsageError(f"{what}: expected a range LOW..HIGH, LOW..HIGH:log or LOW..HIGH:linear, got {text!r}")
    number = float if float in _kinds(hint) else int
    try:
        return Range(
            parsed_value(what, low, number),
            parsed_value(what, high, number),
            log=scale == "log",
            whole=number is int,
        )
    except ValueError as error:
        raise UsageError(f"{what}: {error}") from None
