"""scikit-learn's conventions without importing scikit-learn: parameters as given, `get_params`, `set_params`, tags."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any, TypeVar

from margent.errors import NotFittedError

Self = TypeVar("Self", bound="Estimator")


class Estimator:
    """Base of all models. `__init__` stores its arguments as they are; `fit` learns; learned names end in `_`.

    A parameter that is a dataclass, such as a learner, has its fields as nested parameters: `learner__epochs`.
    """

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; with `deep` also those of parameters that are dataclasses."""
        parameters = {name: getattr(self, name) for name in self._parameter_names()}
        if deep:
            for name, value in list(parameters.items()):
                if dataclasses.is_dataclass(value) and not isinstance(value, type):
                    for field in dataclasses.fields(value):
                        parameters[f"{name}__{field.name}"] = getattr(value, field.name)
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
            setattr(self, name, self._replaced(name, fields))
        return self

    def _replaced(self, name: str, fields: dict[str, Any]) -> Any:
        value = getattr(self, name)
        if not dataclasses.is_dataclass(value) or isinstance(value, type):
            raise ValueError(f"{name}={value!r} has no parameters of its own to set: {', '.join(fields)}")
        known = [field.name for field in dataclasses.fields(value)]
        for field in fields:
            if field not in known:
                raise ValueError(f"Invalid parameter {field!r} for {value!r}; expected one of {', '.join(known)}")
        return dataclasses.replace(value, **fields)

    def __repr__(self) -> str:
        defaults = {
            name: parameter.default for name, parameter in inspect.signature(type(self).__init__).parameters.items()
        }
        given = {name: value for name, value in self.get_params(deep=False).items() if value is not defaults[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def __sklearn_is_fitted__(self) -> bool:
        return any(name.endswith("_") and not name.startswith("_") for name in vars(self))

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit before using it")

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
