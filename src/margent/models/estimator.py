"""scikit-learn's conventions without importing scikit-learn: parameters as given, `get_params`, `set_params`, tags."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, TypeVar

from margent.models.routing import MetadataRouting

Self = TypeVar("Self", bound="Estimator")


class Estimator(MetadataRouting):
    """Base of all models. `__init__` stores its arguments as they are; `fit` learns; learned names end in `_`.

    A parameter that is a dataclass, such as a learner, has its fields as nested parameters: `learner__epochs`. So has
    one that stands for a dataclass, as None does for the default learner (see `resolved`).
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of parameters that are dataclasses."""
        parameters = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name in list(parameters):
                value = self._nested(name)
                if _is_dataclass(value):
                    parameters |= {f"{name}__{field.name}": getattr(value, field.name) for field in _fields(value)}
        return parameters

    def set_params(self: Self, **parameters: Any) -> Self:
        """Sets parameters by name; `learner__epochs=5` replaces one field of the learner."""
        known = self._parameter_names()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in parameters.items():
            name, _, field = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}; expected one of {known}"
                )
            if field:
                nested.setdefault(name, {})[field] = value
            else:
                setattr(self, name, value)
        for name, fields in nested.items():
            replaced = self._replaced(name, fields)
            if replaced != self._nested(name):  # so that set_params(**get_params()) leaves a None as it is
                setattr(self, name, replaced)
        return self

    def resolved(self, name: str) -> Any:
        """The value of a parameter, or the one that it stands for."""
        return getattr(self, name)

    def _nested(self, name: str) -> Any:
        """The value whose fields are nested parameters, if it has any."""
        return self.resolved(name)

    def _replaced(self, name: str, fields: dict[str, Any]) -> Any:
        value = self._nested(name)
        if not _is_dataclass(value):
            raise ValueError(
                f"Invalid parameter {next(iter(fields))!r}: {name}={value!r} has no parameters of its own to set"
            )
        known = [field.name for field in _fields(value)]
        for field in fields:
            if field not in known:
                raise ValueError(f"Invalid parameter {field!r} for {value!r}; expected one of {', '.join(known)}")
        return dataclasses.replace(value, **fields)

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__).parameters
        given = {
            name: repr(value)
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(signature[name].default)
        }
        return f"{type(self).__name__}({', '.join(f'{name}={text}' for name, text in given.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=ClassifierTags(),
            regressor_tags=None,
            input_tags=InputTags(two_d_array=False, three_d_array=True, string=True, dict=True, sparse=True),
            requires_fit=True,
        )


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _fields(value: Any) -> list[dataclasses.Field[Any]]:
    """The fields that the constructor takes."""
    return [field for field in dataclasses.fields(value) if field.init]
