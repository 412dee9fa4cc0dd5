"""Options from declared parameters: the fields of a learner, and what the constructor of a model takes.

A parameter of a model is the option `--order`, a field of a learner `--C`. Where a parameter is a value with fields of
its own, each field is an option: `--search-width` is the field `width` of the parameter `search`. A learner is such a
value too, and its fields have the long form (`--learner-search`) where a parameter of a model has the short name.
Types come from annotations, defaults from the declaration, help from the field's metadata or from the docstring.
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import re
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from margent.cli.command_line import UsageError

_FALSE, _TRUE = ("no", "false", "off", "0"), ("yes", "true", "on", "1")
_PREFIX = "parameter "
_ENTRY = re.compile(r"(\w+(?:, \w+)*) : (.*)")


class Parameter(NamedTuple):
    """One option: `path` says where its value goes, ("order",), ("search", "width") or ("learner", "C")."""

    path: tuple[str, ...]
    option: str
    hint: Any
    default: Any
    help: str

    @property
    def destination(self) -> str:
        return _PREFIX + ".".join(self.path)

    @property
    def is_flag(self) -> bool:
        """Yes or no, and nothing else that can be typed."""
        return [choice for choice in _choices(self.hint) if _is_typed(choice)] == [bool]


def learner_parameters(kind: type, taken: Collection[str] = ()) -> list[Parameter]:
    """The fields of a learner; those whose name is `taken` by a parameter of a model have the long form."""
    return [
        parameter if parameter.path[1] in taken else parameter._replace(option=_option(parameter.path[1]))
        for parameter in field_parameters("learner", kind)
    ]


def model_parameters(kind: type, hints: Mapping[str, Any], without: Collection[str] = ()) -> list[Parameter]:
    """What the constructor of a model takes, by `hints` of types, those `without` options aside."""
    told = documented(kind)
    found: list[Parameter] = []
    for name, declared in inspect.signature(kind).parameters.items():
        if name in without:
            continue
        hint = hints.get(name, Any)
        value = value_class(hint)
        plain = [choice for choice in _choices(hint) if choice is not type(None) and _is_typed(choice)]
        if value is not None:  # words stand beside it, numbers for one of its fields
            plain = [choice for choice in plain if choice is str or get_origin(choice) is Literal]
        if plain:
            found.append(Parameter((name,), _option(name), hint, declared.default, told.get(name, "")))
        if value is not None:
            found += field_parameters(name, value, declared.default)
    return found


def field_parameters(name: str, kind: type, usual: Any = None) -> list[Parameter]:
    """The fields of a value that the parameter `name` takes; defaults are those of `usual`, where it is one."""
    told, hints = documented(kind), types_of(kind)
    hints |= {
        f.name: Literal[tuple(f.metadata["choices"])] for f in dataclasses.fields(kind) if "choices" in f.metadata
    }
    return [
        Parameter(
            (name, field.name),
            _option(f"{name}_{field.name}"),
            hints.get(field.name, Any),
            getattr(usual, field.name) if isinstance(usual, kind) else _default(field),
            field.metadata.get("help") or told.get(field.name, ""),
        )
        for field in dataclasses.fields(kind)
        if any(_is_typed(choice) for choice in _choices(hints.get(field.name, Any)) if choice is not type(None))
    ]


def value_class(hint: Any) -> type | None:
    """The dataclass that a parameter takes, or None."""
    return next((c for c in _choices(hint) if isinstance(c, type) and dataclasses.is_dataclass(c)), None)


def add_parameters(
    parser: argparse._ActionsContainer, parameters: Iterable[Parameter], facts: Mapping[str, str] | None = None
) -> None:
    """An option for each. `facts`: by option, what the help says instead of the default, for several learners."""
    for parameter in parameters:
        fact = (facts or {}).get(parameter.option) or f"default: {shown(parameter.default)}"
        text = f"{parameter.help} ({fact})".strip().replace("%", "%%")
        options: dict[str, Any] = {"dest": parameter.destination, "default": None, "help": text}
        if parameter.is_flag:
            parser.add_argument(parameter.option, action=argparse.BooleanOptionalAction, **options)
        elif _is_mapping(parameter.hint):
            parser.add_argument(parameter.option, action="append", metavar="NAME=VALUE,...", **options)
        else:
            parser.add_argument(parameter.option, metavar=_metavar(parameter), **options)


def given_values(arguments: argparse.Namespace, parameters: Iterable[Parameter]) -> dict[tuple[str, ...], Any]:
    """The values of the options that were given, by path."""
    found = {}
    for parameter in parameters:
        value = vars(arguments).get(parameter.destination)
        if value is None:
            continue
        if not isinstance(value, bool):
            text = ",".join(value) if isinstance(value, list) else value
            value = parsed_value(parameter.option, text, parameter.hint)
        found[parameter.path] = value
    return found


def keywords(
    found: Mapping[tuple[str, ...], Any], kinds: Mapping[str, type], usual: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments of a constructor: fields that were given change the value that is `usual`, or a new one."""
    result: dict[str, Any] = {path[0]: value for path, value in found.items() if len(path) == 1}
    fields: dict[str, dict[str, Any]] = {}
    for path, value in found.items():
        if len(path) == 2:
            fields.setdefault(path[0], {})[path[1]] = value
    for name, changes in fields.items():
        if name in result:
            raise UsageError(
                f"{_option(name)} {result[name]} leaves no choice to {_option(f'{name}_{next(iter(changes))}')}"
            )
        base: Any = usual.get(name)
        try:
            kept = isinstance(base, kinds[name])
            result[name] = dataclasses.replace(base, **changes) if kept else kinds[name](**changes)
        except (TypeError, ValueError) as error:
            raise UsageError(str(error)) from None
    return result


def words_of(parameters: Iterable[Parameter], values: Mapping[tuple[str, ...], Any]) -> list[str]:
    """The options that give these values: `given_values` the other way round. Defaults are left out."""
    words: list[str] = []
    for parameter in parameters:
        if parameter.path not in values or values[parameter.path] == parameter.default:
            continue
        value = values[parameter.path]
        if isinstance(value, Mapping):  # pairs of labels have an option of their own
            value = {name: each for name, each in value.items() if isinstance(name, str)}
            if not value:
                continue
        if parameter.is_flag:
            words.append(parameter.option if value else f"--no-{parameter.option[2:]}")
        else:
            words += [parameter.option, value if isinstance(value, str) else shown(value)]
    return words


def shown(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ",".join(f"{name}={shown(each)}" for name, each in value.items())
    if isinstance(value, (tuple, list)):
        return ",".join(":".join(map(str, pair)) if isinstance(pair, (tuple, list)) else str(pair) for pair in value)
    return "none" if value is None else str(value)


def parsed_value(what: str, text: str, hint: Any) -> Any:
    """The text as the type of a parameter. `what`: for the message."""
    choices = [choice for choice in _choices(hint) if _is_typed(choice)]
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
        elif _is_mapping(choice) and "=" in text:
            return _mapping(what, text, (*get_args(choice), str, float)[1])
        elif _is_pairs(choice):
            try:
                left_and_right = [tuple(map(int, pair.split(":"))) for pair in text.split(",")]
                return tuple((left, right) for left, right in left_and_right)
            except ValueError:
                continue
    raise UsageError(f"{what}: expected {' or '.join(map(_wanted, choices))}, got {text!r}")


def _mapping(what: str, text: str, hint: Any) -> dict[str, Any]:
    """LABEL=VALUE,...; a comma without a value behind it belongs to the label."""
    result, label = {}, ""
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals:
            label += f"{part},"
            continue
        name, label = label + name, ""
        if not name or name in result:
            raise UsageError(f"{what}: expected NAME=VALUE with each name once, got {text!r}")
        result[name] = parsed_value(f"{what} {name}", value, hint)
    if label:
        raise UsageError(f"{what}: expected NAME=VALUE,..., got {text!r}")
    return result


@cache
def documented(kind: type) -> dict[str, str]:
    """What the docstring says of each parameter: the first sentence of its entry."""
    text = inspect.cleandoc(kind.__doc__ or "")
    _, section, rest = text.partition("Parameters\n----------\n")
    lines = (rest if section else text).splitlines()
    found: dict[str, str] = {}
    names: list[str] = []
    for line in lines:
        entry = _ENTRY.fullmatch(line)
        if entry:
            names = entry[1].split(", ")
            found |= dict.fromkeys(names, "" if section else entry[2])
        elif line and not line[0].isspace():
            if section and line.startswith("---"):
                break
            names = []
        else:
            found |= {name: f"{found[name]} {line.strip()}".strip() for name in names}
    return {name: _first_sentence(told) for name, told in found.items()}


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=[a-z0-9)`\"])\. ", text + " ")[0].strip().rstrip(".").replace("`", "")
    return sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() or sentence[1:2] == " " else sentence


def types_of(declared: Any) -> dict[str, Any]:
    """The annotations of a class or a constructor; one that cannot be evaluated is left out."""
    try:
        return get_type_hints(declared)
    except NameError:
        names = vars(sys.modules[declared.__module__])
        return dict(_evaluated(inspect.get_annotations(declared), names))


def _evaluated(annotations: Mapping[str, Any], names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, annotation in annotations.items():
        try:
            yield name, eval(annotation, names) if isinstance(annotation, str) else annotation
        except NameError:
            continue


def _choices(hint: Any) -> Sequence[Any]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _is_typed(choice: Any) -> bool:
    """Whether a value of this type can be typed on the command line."""
    simple = choice in (int, float, str, bool, type(None)) or get_origin(choice) is Literal
    return simple or _is_mapping(choice) or _is_pairs(choice)


def _is_mapping(hint: Any) -> bool:
    return any(get_origin(choice) in (Mapping, dict) for choice in _choices(hint))


def _is_pairs(choice: Any) -> bool:
    return get_origin(choice) in (Sequence, tuple, list) and tuple[int, int] in get_args(choice)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _metavar(parameter: Parameter) -> str:
    choices = [choice for choice in _choices(parameter.hint) if _is_typed(choice)]
    words = [str(value) for choice in choices if get_origin(choice) is Literal for value in get_args(choice)]
    if words:
        return "{" + ",".join([*words, *(["none"] if type(None) in choices else [])]) + "}"
    return {int: "N", float: "X", str: "NAME"}.get(choices[0], "A:B,..." if _is_pairs(choices[0]) else "VALUE")


def _wanted(choice: Any) -> str:
    if get_origin(choice) is Literal:
        return " or ".join(map(str, get_args(choice)))
    names = {int: "an integer", float: "a number", bool: "yes or no", type(None): "none", str: "a word"}
    return names.get(choice, "pairs such as 1:0,1:1" if _is_pairs(choice) else "NAME=VALUE,...")


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")
