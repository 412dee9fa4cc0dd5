"""A kernel between tokens in their surroundings: what two observations have in common, as one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.errors import CorpusError
from margent.features.templates import Templates

Floats = NDArray[np.float32]

KINDS = ("linear", "polynomial", "rbf", "string-spectrum")


@dataclass(frozen=True, repr=False)
class Kernel:
    """For `Tagger(features=Kernel(...))`: labels by similarity to tokens of the training data.

    The observation x of a token is the features of `window` tokens around it, side by side. A kernel model scores label
    y at x by sum_j K(x, s_j) beta[j, y] over the support observations s_j of the training data (Altun, Tsochantaridis
    and Hofmann 2003, "Hidden Markov support vector machines", Section 3), and label transitions as ever.

    Parameters
    ----------
    kind : "linear", "polynomial", "rbf", "string-spectrum" or a function
        gamma <x, x'>; (gamma <x, x'> + coef0)^degree; exp(-gamma |x - x'|^2); gamma times the number of pairs of equal
        substrings of `degree` letters in words at the same place of the window, their ends marked. A function from
        vectors A (a, d) and B (b, d) to values (a, b): feature f at place p of the window is column p d / window + f,
        scipy CSR matrices or float32 arrays as the data are. It should leave them as they are.
    degree : int
        Of the polynomial: 2 sees pairs of features. For "string-spectrum" the length of substrings.
    gamma : float or None
        None: 1 over the mean of |x|^2 of the different observations of the training data, so that K(x, x) is of one
        size whatever the features. 1 makes the linear kernel the plain inner product.
    coef0 : float
        Of the polynomial: how much single features count beside pairs.
    window : int
        How many tokens are seen, an odd number with the token in the middle. A feature of the neighbour is another
        feature than the same of the token. Nothing is seen beyond the ends of a sentence.
    features : as of `Tagger`, or None
        What is seen of each token by itself. None: vectors for arrays, attributes for dicts, for text the preset
        "spelling": the word, its beginnings and ends, its shape, and further columns.
    cache_mb : float
        Memory for rows of kernel values that are kept in training, in MiB, besides some dozen rows in the making: more
        is faster, and changes nothing else (but for the last bits of products of dense arrays, which BLAS rounds as
        they come together).

    >>> from margent import Kernel, Tagger
    >>> Tagger(Kernel("polynomial", degree=3), "hmsvm")
    Tagger(features=Kernel('polynomial', degree=3), learner='hmsvm')
    """

    kind: Any = "polynomial"
    degree: int = 2
    gamma: float | None = None
    coef0: float = 1.0
    window: int = 3
    features: Any = None
    cache_mb: float = 1024

    def __post_init__(self) -> None:
        if not callable(self.kind) and (not isinstance(self.kind, str) or self.kind not in KINDS):
            raise ValueError(f"kind of Kernel should be one of {', '.join(KINDS)} or a function, got {self.kind!r}")
        if not _whole(self.degree, 1, 100):
            raise ValueError(f"degree of Kernel should be an integer from 1 to 100, got {self.degree!r}")
        if self.gamma is not None and not (_number(self.gamma) and self.gamma > 0):
            raise ValueError(f"gamma of Kernel should be a number above 0, or None, got {self.gamma!r}")
        if not _number(self.coef0) or self.coef0 < 0:
            raise ValueError(f"coef0 of Kernel should be a number of at least 0, got {self.coef0!r}")
        if not _whole(self.window, 1, 201) or self.window % 2 == 0:
            raise ValueError(f"window of Kernel should be an odd number of tokens from 1 to 201, got {self.window!r}")
        if not _number(self.cache_mb) or self.cache_mb <= 0:
            raise ValueError(f"cache_mb of Kernel should be a number above 0, got {self.cache_mb!r}")
        if isinstance(self.features, Kernel):
            raise TypeError("features of Kernel should be what is seen of a token, not another Kernel")
        if self.kind == "string-spectrum" and self.features is not None:
            raise ValueError("features of Kernel should be None for string-spectrum, which looks at the letters alone")

    def __repr__(self) -> str:
        chosen = [field.name for field in fields(self)[1:] if getattr(self, field.name) != field.default]
        others = [f"{name}={_shown(getattr(self, name))}" for name in chosen]
        return f"Kernel({', '.join([_shown(self.kind), *others])})"

    @property
    def has_code(self) -> bool:
        """Whether a function is part of it, which no file can hold."""
        return callable(self.kind) or callable(self.features)

    def values(self, products: Floats, norms: Floats, other_norms: Floats, gamma: float) -> Floats:
        """The kernel from inner products (a, b) and squared norms (a,) and (b,), instead of the products."""
        if self.kind == "rbf":
            # |x - x'|^2 = |x|^2 + |x'|^2 - 2 <x, x'>, which rounding may make a little less than 0.
            products *= np.float32(-2)
            products += norms[:, None]
            products += other_norms
            np.maximum(products, 0, out=products)
            products *= np.float32(-gamma)
            return np.exp(products, out=products)
        products *= np.float32(gamma)
        if self.kind == "polynomial":
            products += np.float32(self.coef0)
            _raise_to(products, int(self.degree))
        return products

    def stored(self) -> dict[str, Any]:
        """Its parameters for a model file; a function is None there."""
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in vars(self).items()}
        features = self.features
        if isinstance(features, (Templates, list, tuple)):
            lines = Templates(features.lines if isinstance(features, Templates) else features).lines
            plain["features"] = {"templates": list(lines)}
        return {name: None if callable(value) else value for name, value in plain.items()}

    @classmethod
    def restored(cls, stored: Mapping[str, Any]) -> Kernel:
        """From what was stored; raises TypeError or ValueError for anything else."""
        names = {field.name for field in fields(cls)}
        if not isinstance(stored, Mapping) or set(stored) != names:
            raise TypeError(f"a kernel should have {', '.join(sorted(names))}, got {stored!r}")
        features = stored["features"]
        if isinstance(features, Mapping):
            try:
                features = Templates(features["templates"])
            except (CorpusError, KeyError) as error:
                raise ValueError(f"the templates of its kernel are wrong: {error}") from None
        elif not (features is None or isinstance(features, str)):
            raise TypeError(f"features of a kernel should not be {features!r}")
        return cls(**{**stored, "features": features})


def _shown(value: Any) -> str:
    """A function by its name, for its address says nothing."""
    return str(getattr(value, "__qualname__", None) or repr(value))


def _raise_to(numbers: Floats, degree: int) -> None:
    """numbers ** degree, in place; multiplication is several times as fast as `np.power`."""
    if degree == 2:
        numbers *= numbers
    elif degree > 2:
        base = numbers.copy()
        for bit in bin(degree)[3:]:
            numbers *= numbers
            if bit == "1":
                numbers *= base


def _number(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    except OverflowError:  # an integer with hundreds of digits
        return False


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= int(value) <= most
