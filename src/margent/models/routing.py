"""scikit-learn's metadata routing: which arguments besides X and y a meta-estimator hands on to an estimator.

With `sklearn.set_config(enable_metadata_routing=True)`, a Pipeline or GridSearchCV passes `sample_weight` to
`Tagger.fit` only where `tagger.set_fit_request(sample_weight=True)` asked for it.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any, TypeVar

from margent.extras import optional

Self = TypeVar("Self", bound="MetadataRouting")

_OWN = ("self", "X", "y")  # arguments that need no routing


class Requests(dict[str, dict[str, Any]]):
    """By method and argument: True, False, the name under which it comes, or None where nothing was said."""

    def __sklearn_clone__(self) -> Requests:
        return copy.deepcopy(self)


class MetadataRouting:
    """What an estimator says of the arguments of its methods."""

    _metadata_request: Requests  # the name that scikit-learn's clone looks for

    def set_fit_request(self: Self, **requests: bool | str | None) -> Self:
        """Whether `fit` wants its arguments besides X and y: `set_fit_request(sample_weight=True)`."""
        return self._request("fit", requests)

    def set_partial_fit_request(self: Self, **requests: bool | str | None) -> Self:
        """Whether `partial_fit` wants its arguments besides X and y."""
        return self._request("partial_fit", requests)

    def set_predict_request(self: Self, **requests: bool | str | None) -> Self:
        """Whether `predict` wants its arguments besides X: `set_predict_request(constraints=True)`."""
        return self._request("predict", requests)

    def set_score_request(self: Self, **requests: bool | str | None) -> Self:
        """Whether `score` wants its arguments besides X and y."""
        return self._request("score", requests)

    def get_metadata_routing(self) -> Any:
        """scikit-learn's MetadataRequest of this estimator."""
        routing = optional("sklearn.utils.metadata_routing", "metadata routing needs", "sklearn")
        result = routing.MetadataRequest(owner=self)
        for method in ("fit", "partial_fit", "predict", "score"):
            asked = self._requests().get(method, {})
            for name in self._extra_arguments(method):
                getattr(result, method).add_request(param=name, alias=asked.get(name))
        return result

    def _request(self: Self, method: str, requests: dict[str, bool | str | None]) -> Self:
        if not optional("sklearn", "metadata routing needs", "sklearn").get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                f"set_{method}_request has no effect as long as scikit-learn's metadata routing is switched off; "
                "switch it on with sklearn.set_config(enable_metadata_routing=True)"
            )
        known = self._extra_arguments(method)
        for name in requests:
            if name not in known:
                raise TypeError(
                    f"{type(self).__name__}.{method} has no argument {name!r} to hand on; "
                    f"expected one of {', '.join(known) or 'none'}"
                )
        old = self._requests()
        self._metadata_request = Requests({**old, method: {**old.get(method, {}), **requests}})
        return self

    def _requests(self) -> Requests:
        return self._metadata_request if hasattr(self, "_metadata_request") else Requests()

    def _extra_arguments(self, method: str) -> list[str]:
        if not hasattr(type(self), method):
            return []
        return [name for name in inspect.signature(getattr(type(self), method)).parameters if name not in _OWN]
