"""The scores of the dependency trees of one sentence: checked, read-only."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.structures.chain_scores import check_values, real_array


@dataclasses.dataclass(frozen=True, init=False, eq=False, repr=False)
class ArcScores:
    """The scores of all dependency trees of n words. A value: its arrays are read-only.

    Nodes are numbered from 0, the root, to n; N = n + 1. A tree gives each word m a head h and, where there are labels,
    a label l; it scores the sum over words of

        arcs[h, m] + labels[h, m, l] + siblings[h, s, m] + grandparents[g, h, m],

    where s is the modifier of h next to m on the way from m to h (s = h where m is the first on its side), and g the
    head of h; arcs from the root have no grandparent. -inf forbids, in all arrays; diagonals and column 0 of `arcs` are
    not read.

    Parameters
    ----------
    arcs : (N, N)
        By head and modifier.
    labels : (N, N, L), optional
        By head, modifier and label.
    siblings, grandparents : (N, N, N), optional
        Parts of second order, for projective trees alone.
    projective : bool
        Whether arcs may not cross.
    single_root : bool
        Whether exactly one word is attached to the root; otherwise at least one.
    """

    arcs: npt.NDArray[np.float64]
    labels: npt.NDArray[np.float64] | None
    siblings: npt.NDArray[np.float64] | None
    grandparents: npt.NDArray[np.float64] | None
    projective: bool
    single_root: bool

    def __init__(
        self,
        arcs: npt.ArrayLike,
        labels: npt.ArrayLike | None = None,
        siblings: npt.ArrayLike | None = None,
        grandparents: npt.ArrayLike | None = None,
        *,
        projective: bool = True,
        single_root: bool = True,
    ) -> None:
        given = {"arcs": arcs, "labels": labels, "siblings": siblings, "grandparents": grandparents}
        arrays = {name: real_array(value, name) for name, value in given.items() if value is not None}
        n = len(arrays["arcs"]) if arrays["arcs"].ndim else 0
        for name, array in arrays.items():
            wanted = {"arcs": (n, n), "labels": (n, n, array.shape[-1] if array.ndim else 0)}.get(name, (n, n, n))
            if n == 0 or array.shape != wanted or array.shape[-1] == 0:
                shape = {"arcs": "(N, N)", "labels": "(N, N, L)"}.get(name, "(N, N, N)")
                raise ValueError(
                    f"{name} has shape {array.shape}; expected {shape} for {max(n - 1, 0)} words and a root"
                )
            check_values(array, name)
        for name in ("siblings", "grandparents"):
            if name in arrays and not projective:
                raise ValueError(f"{name} are given for trees that need not be projective; expected arcs and labels")
        for name in given:
            value = None
            if name in arrays:
                value = arrays[name].astype(np.float64)
                value.setflags(write=False)
            object.__setattr__(self, name, value)
        object.__setattr__(self, "projective", bool(projective))
        object.__setattr__(self, "single_root", bool(single_root))

    def __repr__(self) -> str:
        kind = "projective" if self.projective else "spanning"
        return f"ArcScores(n_words={self.n_words}, n_labels={self.n_labels}, {kind} trees)"

    @property
    def n_words(self) -> int:
        return len(self.arcs) - 1

    @property
    def n_labels(self) -> int:
        """0: arcs have no labels."""
        return 0 if self.labels is None else self.labels.shape[2]

    def replace(self, **changes: Any) -> ArcScores:
        """The same scores but for some arrays."""
        return dataclasses.replace(self, **changes)

    def native(self) -> _core.TreeScores:
        return _core.TreeScores(
            self.arcs, self.labels, self.siblings, self.grandparents, self.projective, self.single_root
        )
