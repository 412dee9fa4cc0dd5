"""The parameters of the learners as options: a field of a learner's dataclass is an option of `margent train`."""

from __future__ import annotations

import argparse
import dataclasses
import types
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from margent.cli.command_line import UsageError
from margent.learners import LEARNERS, learner_name, learner_named

_PREFIX = "learner_"
_OF_THE_TAGGER = ("order",)
# Other options have these names already.
_SPELLED = {"search": "crf_search", "beam": "crf_beam"}
"""Options of the tagger that go to the learner instead where it has them, too."""
_FALSE, _TRUE = ("no", "false", "off", "0"), ("yes", "true", "on", "1")


def add_learner_options(parser: argparse.ArgumentParser) -> None:
    """An option for each field of each learner; what it means and its default are said once for all that agree."""
    group = parser.add_argument_group("parameters of the learner")
    defaults: dict[str, dict[str, dict[str, str]]] = {}  # option to what it means to learner to default
    for learner, kind in LEARNERS.items():
        for field in dataclasses.fields(kind):
            if field.name in _OF_THE_TAGGER:
                continue
            meanings = defaults.setdefault(field.name, {})
            meanings.setdefault(field.metadata.get("help", ""), {})[learner] = _shown(field.default)
    for name, meanings in defaults.items():
        options: dict[str, Any] = {"dest": _PREFIX + name, "default": None, "help": _help(meanings).replace("%", "%%")}
        if _is_flag(name):
            group.add_argument(_option(name), action=argparse.BooleanOptionalAction, **options)
        else:
            group.add_argument(_option(name), metavar=name.upper()[:8], **options)


def _help(meanings: dict[str, dict[str, str]]) -> str:
    """Each meaning with its learners, their usual default, and those whose default is another.

    Where all learners but one or two have the option, of the meaning that most of them share only those are named.
    """
    without = [name for name in LEARNERS if not any(name in defaults for defaults in meanings.values())]
    texts: list[str] = []
    for text, defaults in sorted(meanings.items(), key=lambda item: -len(item[1])):
        usual = Counter(defaults.values()).most_common(1)[0][0]
        facts = [", ".join(defaults)]
        if len(without) <= 2 and 2 * len(defaults) > len(LEARNERS):
            facts = [f"all but {', '.join(without)}"] if without else []
        facts += [f"default: {usual}"] + [f"{name}: {value}" for name, value in defaults.items() if value != usual]
        texts.append(f"{text} ({'; '.join(facts)})".strip())
    return "; ".join(texts)


def chosen_learner(arguments: argparse.Namespace) -> Any:
    """The learner that the options describe; a parameter it does not have is wrong usage."""
    kind = LEARNERS[arguments.learner]
    hints = get_type_hints(kind)
    parameters = {name: vars(arguments)[name] for name in _OF_THE_TAGGER if name in hints and name in arguments}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for key, value in vars(arguments).items():
        if not key.startswith(_PREFIX) or value is None:
            continue
        name = key.removeprefix(_PREFIX)
        if name not in hints:
            raise UsageError(f"{_option(name)} is no parameter of the learner {arguments.learner}")
        parameters[name] = value if isinstance(value, bool) else parsed_value(_option(name), value, hints[name])
    try:
        return learner_named(arguments.learner, **parameters)
    except ValueError as error:
        raise UsageError(str(error)) from None


def chosen_learners(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """Several learners by name, with the same options; a parameter that none of them has is wrong usage."""
    owned = {name: {field.name for field in dataclasses.fields(LEARNERS[name])} for name in names}
    for parameter in given_parameters(arguments):
        if not any(parameter in own for own in owned.values()):
            whose = f"the learner {names[0]}" if len(names) == 1 else f"the learners {', '.join(names)}"
            raise UsageError(f"{_option(parameter)} is no parameter of {whose}")
    for name in _OF_THE_TAGGER:
        having = [learner for learner, own in owned.items() if name in own]
        if getattr(arguments, name, None) is not None and having and len(having) < len(names):
            raise UsageError(
                f"{_option(name)} means something else to {', '.join(having)} than to the others: search it"
            )
    result = {}
    for name, own in owned.items():
        options = {key: value for key, value in vars(arguments).items() if key.removeprefix(_PREFIX) in own}
        result[name] = chosen_learner(argparse.Namespace(learner=name, **options))
    return result


def given_parameters(arguments: argparse.Namespace) -> list[str]:
    """The names of the parameters of learners that were given as options."""
    return [
        key.removeprefix(_PREFIX)
        for key, value in vars(arguments).items()
        if key.startswith(_PREFIX) and value is not None
    ]


def as_options(learner: Any) -> list[str]:
    """The options of `margent train` that make this learner: `chosen_learner` the other way round."""
    name = learner_name(learner)
    options = ["--learner", str(name)]
    for field in dataclasses.fields(learner):
        value = getattr(learner, field.name)
        if value == field.default:
            continue
        if isinstance(value, bool) and _is_flag(field.name):
            options.append(_option(field.name) if value else _option(f"no_{field.name}"))
        else:
            options += [_option(field.name), value if isinstance(value, str) else _shown(value)]
    return options


def _is_flag(parameter: str) -> bool:
    """Whether a parameter is yes or no for every learner that has it."""
    hints = [get_type_hints(kind) for kind in LEARNERS.values()]
    return all(hint[parameter] is bool for hint in hints if parameter in hint)


def _option(name: str) -> str:
    return "--" + _SPELLED.get(name, name).replace("_", "-")


def _shown(default: Any) -> str:
    return {True: "yes", False: "no"}[default] if isinstance(default, bool) else str(default).lower()


def parsed_value(what: str, text: str, hint: Any) -> Any:
    """The text as the type of a field: a number, a word, yes or no, one of some, or none. `what`: for the message."""
    choices = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if type(None) in choices and text.lower() == "none":
        return None
    for choice in choices:
        if get_origin(choice) is Literal:
            found = next((value for value in get_args(choice) if str(value) == text), None)
            if found is not None:
                return found
        elif choice is bool and text.lower() in (*_TRUE, *_FALSE):
            return text.lower() in _TRUE
        elif choice in (int, float, str):
            try:
                return choice(text)
            except ValueError:
                continue
    wanted = " or ".join(_wanted(choice) for choice in choices)
    raise UsageError(f"{what}: expected {wanted}, got {text!r}")


def _wanted(choice: Any) -> str:
    if get_origin(choice) is Literal:
        return " or ".join(map(str, get_args(choice)))
    return {int: "a whole number", float: "a number", bool: "yes or no", type(None): "none"}.get(choice, "a word")
