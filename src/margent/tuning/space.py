"""The space of a search: which parameters of a model are tried with which values, and the candidates taken from it."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import product
from typing import Any, Union, get_args, get_origin, get_type_hints

from margent.errors import CorpusError
from margent.learners import learner_named
from margent.models.estimator import Estimator
from margent.tuning.default_spaces import KINDS, default_space
from margent.tuning.values import Choice, Value, Values, cell, values_of

# What says how fast a model is, how lucky, or what its task is, instead of how good.
_NOT_SEARCHED = ("seed", "threads", "layout", "scheme", "calibration", "cache_mb", "outside", "unseen")
_LEARNER = "learner"


@dataclass(frozen=True)
class Candidate:
    """One choice of parameters. `parameters`: as tables show them; `settings`: for `set_params`."""

    parameters: dict[str, Any]
    settings: dict[str, Any]

    def model(self, base: Estimator) -> Estimator:
        """A new model like `base` with these parameters. Wrong values raise what their owner says of them."""
        return unfitted(base).set_params(**self.settings)


@dataclass(frozen=True)
class Branch:
    """A learner with the parameters that are searched together with it.

    learner : the learner as a parameter of the model, by name; None: the model's own, which is not searched
    values : by the name that the user gave
    paths : from that name to the parameter's own, such as learner__C
    keys : from that name to what Optuna calls the parameter
    """

    learner: Value | None
    values: dict[str, Values]
    paths: dict[str, str]
    keys: dict[str, str]

    def suggest(self, trial: Any) -> Candidate:
        """What an Optuna trial has, or gets, for each parameter."""
        chosen = {name: values.suggest(trial, self.keys[name]) for name, values in self.values.items()}
        parameters = {} if self.learner is None else {_LEARNER: self.learner.name}
        settings = {} if self.learner is None else {_LEARNER: self.learner.value}
        parameters |= {name: value.name for name, value in chosen.items()}
        return Candidate(parameters, settings | {self.paths[name]: value.value for name, value in chosen.items()})


class SearchSpace:
    """All that may be tried.

    `given`: a dict from parameter to values, a list of such dicts of which any may be tried, or None for the default
    space of the model's learner. A parameter goes by its own name (`order`), by its path (`learner__C`), or without
    the path where that says enough (`C`): the learner's goes before one of the model, and that before others. The
    parameter "learner" names learners or gives them; a parameter that only some of them have is left out for the
    others. Where nothing but learners is given, the default space of each is searched.

    What the model refuses is refused here: every value of a list and both ends of each range are tried on it.
    """

    def __init__(self, model: Estimator, given: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None) -> None:
        spaces: list[Mapping[str, Any]] = [given or {}] if given is None or isinstance(given, Mapping) else list(given)
        if not spaces or not all(isinstance(space, Mapping) for space in spaces):
            raise TypeError(f"space should be a dict from parameter to values or a list of such dicts, got {given!r}")
        self.branches = _with_keys([branch for space in spaces for branch in _branches(model, dict(space))])

    @property
    def parameters(self) -> list[str]:
        """The names of what is searched, in the order given."""
        learner = [_LEARNER] if any(branch.learner is not None for branch in self.branches) else []
        return list(dict.fromkeys([*learner, *(name for branch in self.branches for name in branch.values)]))

    @property
    def is_grid(self) -> bool:
        """Whether there are lists only."""
        return all(isinstance(values, Choice) for branch in self.branches for values in branch.values.values())

    def suggest(self, trial: Any) -> Candidate:
        """What an Optuna trial, running or finished, has for each parameter; a running one may be given it now."""
        names = _branch_names(self.branches)
        which = names.index(trial.suggest_categorical(self._branch_key(), names)) if len(names) > 1 else 0
        return self.branches[which].suggest(trial)

    def grid(self) -> list[dict[str, Any]]:
        """All combinations as Optuna has them, from its names of parameters to values; for lists only."""
        result = []
        for name, branch in zip(_branch_names(self.branches), self.branches):
            first = {self._branch_key(): name} if len(self.branches) > 1 else {}
            lists = [[cell(v.name) for v in values.values] for values in branch.values.values()]  # type: ignore[union-attr]
            keys = [branch.keys[name] for name in branch.values]
            result += [{**first, **dict(zip(keys, combination))} for combination in product(*lists)]
        return result

    def _branch_key(self) -> str:
        return _LEARNER if _LEARNER in self.parameters else "space"

    def described(self) -> list[dict[str, Any]]:
        """The space as plain data, the same in every process."""
        return [
            {"learner": repr(branch.learner), **{name: values.described() for name, values in branch.values.items()}}
            for branch in self.branches
        ]


def unfitted(model: Estimator) -> Estimator:
    """A new model with the same parameters."""
    return type(model)(**model.get_params(deep=False))


def check_model(model: Estimator) -> None:
    """Raises what the model says of wrong parameters. They are looked at before the data, so none are needed."""
    try:
        unfitted(model).fit([], [])  # type: ignore[attr-defined]
    except CorpusError:  # there is nothing to learn from
        return


def searchable(model: Estimator) -> dict[str, str]:
    """From what a parameter may be called in a space to its path, for all that can be searched."""
    paths = [path for path in model.get_params(deep=True) if path.split("__")[-1] not in _NOT_SEARCHED]
    short: dict[str, list[str]] = {}
    for path in sorted(paths, key=lambda path: (not path.startswith(f"{_LEARNER}__"), "__" in path)):
        short.setdefault(path.split("__")[-1], []).append(path)
    result = {}
    for name, owners in short.items():
        if name == _LEARNER:
            continue
        nested = [path for path in owners if "__" in path and not path.startswith(f"{_LEARNER}__")]
        if owners[0] not in nested or len(nested) == 1:  # otherwise two others have it, and the path must say which
            result[name] = owners[0]
    whole = {path: path for path in paths if "__" in path}
    return result | whole | {path.replace("__", "_"): path for path in whole}  # as the command line spells options


def is_integer(model: Estimator, path: str) -> bool:
    """Whether a parameter is an integer by its declared type."""
    name, _, field = path.partition("__")
    kind: Any = type(model).__init__
    if field:
        value = getattr(model, name)
        kind = type(value) if is_dataclass(value) else KINDS.get(str(learner_kind(model)))
    hint = get_type_hints(kind).get(field or name) if kind is not None else None
    return hint is int or (get_origin(hint) in (Union, types.UnionType) and int in get_args(hint))


def learner_kind(model: Estimator) -> str | None:
    """The name of the model's learner: what it was given, or what its nested parameters tell of it."""
    parameters = model.get_params(deep=True)
    learner = parameters.get(_LEARNER)
    if learner is None:
        owner = _LEARNER if any(path.startswith(f"{_LEARNER}__") for path in parameters) else "em"
        names = {path.partition("__")[2] for path in parameters if path.startswith(f"{owner}__")}
        kinds = (name for name, kind in KINDS.items() if {field.name for field in fields(kind)} == names)
        return next(kinds, None)
    if isinstance(learner, str):
        return learner
    return next((name for name, kind in KINDS.items() if type(learner) is kind), type(learner).__name__)


def _branches(model: Estimator, space: dict[str, Any]) -> list[Branch]:
    searches_learner = _LEARNER in space
    learners = _learners(space.pop(_LEARNER)) if searches_learner else [None]
    models = [model if learner is None else unfitted(model).set_params(learner=learner.value) for learner in learners]
    known = [searchable(each) for each in models]
    for name in space:
        if name.split("__")[-1] == "patience":
            raise ValueError(
                "patience watches development data, which a search keeps for its scores: search over epochs instead"
            )
        if not any(name in paths for paths in known):
            raise ValueError(_unknown(name, models))
    result = []
    for learner, each, paths in zip(learners, models, known):
        if each.get_params(deep=True).get("learner__patience") is not None:
            raise ValueError(
                "patience watches development data, which a search keeps for its scores: search over epochs instead"
            )
        check_model(each)
        searched = {name: given for name, given in space.items() if name in paths} if space else None
        if searched is None:
            searched = default_space(learner_kind(each) or type(each).__name__)
        names = {name.removeprefix(f"{_LEARNER}__"): name for name in searched}
        own = {name: paths[given] for name, given in names.items()}
        values = {
            name: values_of(name, searched[given], integer=is_integer(each, own[name])) for name, given in names.items()
        }
        for name, choices in values.items():
            for value in choices.probes():
                _check_value(each, own[name], name, value)
        result.append(Branch(learner, values, own, {}))
    return result


def _check_value(model: Estimator, path: str, name: str, value: Any) -> None:
    try:
        check_model(unfitted(model).set_params(**{path: value}))
    except (ValueError, TypeError) as error:
        raise type(error)(f"{name} cannot be {cell(value)} in this search: {error}") from None


def _with_keys(branches: list[Branch]) -> list[Branch]:
    """Gives each parameter a name in the study, with its branch where branches have different values for it."""
    described: dict[str, set[str]] = {}
    for branch in branches:
        for name, values in branch.values.items():
            described.setdefault(name, set()).add(repr(values.described()))
    return [
        Branch(
            branch.learner,
            branch.values,
            branch.paths,
            {name: name if len(described[name]) == 1 else f"{label}/{name}" for name in branch.values},
        )
        for label, branch in zip(_branch_names(branches), branches)
    ]


def _branch_names(branches: list[Branch]) -> list[str]:
    """The learners where these tell branches apart, else numbers."""
    names = [cell(None if branch.learner is None else branch.learner.name) for branch in branches]
    return names if len(set(names)) == len(names) else [str(i + 1) for i in range(len(names))]


def _learners(given: Any) -> list[Value | None]:
    """The learners to try by name."""
    values = values_of(_LEARNER, given)
    if not isinstance(values, Choice):
        raise TypeError(f"learner should be a list of learners or their names, got {given!r}")
    for _, learner in values.values:
        if isinstance(learner, str):
            learner_named(learner)
        elif learner is not None and (isinstance(learner, type) or not is_dataclass(learner)):
            raise TypeError(f"learner should be a learner such as CRF(), its name or None, got {learner!r}")
    return list(values.values)


def _unknown(name: str, models: list[Estimator]) -> str:
    kinds = [str(learner_kind(model)) for model in models]
    owner = type(models[0]).__name__
    whose = f"the learner {kinds[0]}" if len(kinds) == 1 else f"any of the learners {', '.join(kinds)}"
    expected = dict.fromkeys(path for model in models for path in searchable(model) if "__" not in path)
    return f"a {owner} with {whose} has no parameter {name!r} to search; expected one of {', '.join(expected)}"
