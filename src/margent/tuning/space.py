"""The space of a search: which parameters are tried with which values, and the candidates drawn from it."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import product
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from margent.learners import learner_name
from margent.models import HiddenLabels, Tagger
from margent.tuning.default_spaces import default_space
from margent.tuning.values import Choice, Value, Values, values_of

# Parameters of a tagger that change how good it is. The others are its task (scheme), its speed or its luck (seed).
TAGGER_PARAMETERS = (
    *("features", "order", "hidden", "search", "constrain", "label_costs", "tag_dictionary", "min_count"),
)
_WHOLE = ("order", "hidden", "tag_dictionary", "min_count")
_DEFAULT_TRIALS = 27
_PATIENCE = 100  # draws for each candidate wanted before a space counts as exhausted


@dataclass(frozen=True)
class Candidate:
    """One choice of parameters. `parameters`: as tables show them; the rest is what a tagger is made of."""

    parameters: dict[str, Any]
    learner: Any
    learner_fields: dict[str, Any]
    tagger_parameters: dict[str, Any]

    def tagger(self, base: Tagger) -> Tagger:
        """A new tagger like `base` with these parameters. Wrong values raise what the learner says of them."""
        learner = replace(self.learner, **self.learner_fields) if self.learner_fields else self.learner
        own = dict(self.tagger_parameters)
        if "hidden" in own and isinstance(base.hidden, HiddenLabels):
            own["hidden"] = replace(base.hidden, n=own["hidden"])
        nested = {"features__min_count": own.pop("min_count")} if "min_count" in own else {}
        return type(base)(**{**base.get_params(deep=False), **own, "learner": learner}).set_params(**nested)


@dataclass(frozen=True)
class Branch:
    """A learner with the parameters that are searched together with it."""

    name: Any
    learner: Any
    values: dict[str, Values]
    shows_learner: bool

    def draw(self, random: np.random.Generator) -> Candidate:
        return self._candidate([values.draw(random) for values in self.values.values()])

    def grid(self) -> list[Candidate]:
        """All combinations; the space must hold lists only."""
        lists = [values.values for values in self.values.values() if isinstance(values, Choice)]
        return [self._candidate(combination) for combination in product(*lists)]

    def _candidate(self, drawn: Iterable[Value]) -> Candidate:
        chosen = dict(zip(self.values, drawn))
        parameters = {"learner": self.name} if self.shows_learner else {}
        parameters |= {name: value.name for name, value in chosen.items()}
        names = _learner_parameters(self.learner)  # what both have, such as `order`, is the learner's
        own = {name: value.value for name, value in chosen.items() if name in names}
        of_tagger = {name: value.value for name, value in chosen.items() if name not in names}
        return Candidate(parameters, self.learner, own, of_tagger)


class SearchSpace:
    """All that may be tried.

    `given`: a dict from parameter to values, a list of such dicts of which any may be tried, or None for the default
    space of the tagger's learner. The parameter "learner" names learners or gives them; a parameter that only some of
    them have is left out for the others. Where nothing but learners is given, the default space of each is searched.
    """

    def __init__(self, tagger: Tagger, given: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None) -> None:
        spaces: list[Mapping[str, Any]] = [given or {}] if given is None or isinstance(given, Mapping) else list(given)
        if not spaces or not all(isinstance(space, Mapping) for space in spaces):
            raise TypeError(f"space should be a dict from parameter to values or a list of such dicts, got {given!r}")
        self.branches = [branch for space in spaces for branch in _branches(tagger, dict(space))]

    @property
    def parameters(self) -> list[str]:
        """The names of what is searched, in the order given."""
        learner = ["learner"] if any(branch.shows_learner for branch in self.branches) else []
        return list(dict.fromkeys([*learner, *(name for branch in self.branches for name in branch.values)]))

    def candidates(self, trials: int | None, seed: int) -> list[Candidate]:
        """The candidates to try: the whole grid where all values are lists and `trials` allows it, else a sample.

        The learners take turns in a sample, so that each gets its share. Where the space holds fewer different
        candidates than asked for, there are fewer.
        """
        random = np.random.default_rng([seed, 1])
        if all(isinstance(values, Choice) for branch in self.branches for values in branch.values.values()):
            grid = _different(candidate for branch in self.branches for candidate in branch.grid())
            if trials is None or trials >= len(grid):
                return grid
            return [grid[i] for i in np.sort(random.permutation(len(grid))[:trials])]
        wanted = _DEFAULT_TRIALS if trials is None else trials
        found: dict[str, Candidate] = {}
        for attempt in range(_PATIENCE * wanted):
            candidate = self.branches[attempt % len(self.branches)].draw(random)
            found.setdefault(repr(candidate.parameters), candidate)
            if len(found) == wanted:
                break
        return list(found.values())

    def described(self) -> list[dict[str, Any]]:
        """The space as plain data, the same in every process."""
        return [
            {"learner": repr(branch.learner), **{name: values.described() for name, values in branch.values.items()}}
            for branch in self.branches
        ]


def _different(candidates: Iterable[Candidate]) -> list[Candidate]:
    return list({repr(candidate.parameters): candidate for candidate in candidates}.values())


def _branches(tagger: Tagger, space: dict[str, Any]) -> list[Branch]:
    searches_learner = "learner" in space
    learners = _learners(tagger, space.pop("learner", None))
    space = {name.removeprefix("learner__"): given for name, given in space.items()}
    owned = {learner.name: _learner_parameters(learner.value) for learner in learners}
    for name in space:
        if name not in TAGGER_PARAMETERS and not any(name in own for own in owned.values()):
            raise ValueError(_unknown(name, owned))
    result = []
    for name, learner in learners:
        kind = learner_name(learner)
        if getattr(learner, "patience", None) is not None or "patience" in space:
            raise ValueError(
                "patience watches development data, which a search keeps for its scores: search over epochs instead"
            )
        searched = {key: given for key, given in space.items() if key in TAGGER_PARAMETERS or key in owned[name]}
        if not space:
            searched = default_space(kind if kind is not None else type(learner).__name__)
        values = {key: values_of(key, given, whole=_is_whole(learner, key)) for key, given in searched.items()}
        result.append(Branch(name, learner, values, searches_learner))
    return result


def _learners(tagger: Tagger, given: Any) -> list[Value]:
    """The learners to try by name: that of the tagger where none is given."""
    if given is None:
        learner = tagger.resolved("learner")
        return [Value(learner_name(learner) or type(learner).__name__, learner)]
    values = values_of("learner", given)
    if not isinstance(values, Choice):
        raise TypeError(f"learner should be a list of learners or their names, got {given!r}")
    return [Value(name, Tagger(learner=learner).resolved("learner")) for name, learner in values.values]


def _learner_parameters(learner: Any) -> list[str]:
    return [field.name for field in fields(learner) if field.init] if is_dataclass(learner) else []


def _unknown(name: str, owned: dict[Any, list[str]]) -> str:
    who = (
        f"the learner {next(iter(owned))} has no" if len(owned) == 1 else f"none of {', '.join(map(str, owned))} has a"
    )
    own = dict.fromkeys(parameter for parameters in owned.values() for parameter in parameters)
    return (
        f"{who} parameter {name!r} to search; expected one of {', '.join(own)}, "
        f"or of the tagger's {', '.join(TAGGER_PARAMETERS)}"
    )


def _is_whole(learner: Any, name: str) -> bool:
    if name in TAGGER_PARAMETERS and name not in _learner_parameters(learner):
        return name in _WHOLE
    hint = get_type_hints(type(learner)).get(name)
    return hint is int or (get_origin(hint) in (Union, types.UnionType) and int in get_args(hint))
