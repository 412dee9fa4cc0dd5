"""Learning with beam search: which part of an answer is learned from when the search goes wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from margent import _core
from margent.errors import CorpusError
from margent.parameters import check_count
from margent.structures.transitions import BeamAnswer, TransitionSystem, check_beam, outputs

UPDATES = ("max-violation", "early", "standard", "skip")


class BeamOracle(_core.TransitionOracle):
    """A transition system with training data, for `margent.train`.

    A perceptron that moves towards the right answer and away from the one that the beam found may move for ever: the
    right one may score more, and only have fallen out of the beam (paper 003, Fig. 3.1). `update` chooses what is
    learned from when the answer is wrong:

        max-violation   both answers up to the step at which the best in the beam is furthest ahead of the right one
        early           both up to the step at which the right one falls out of the beam
        skip            the whole answers, and only where the wrong one scores no less
        standard        the whole answers, as if the search were exact

    With the first three every update is about a wrong answer that scores no less than the right one, which is what
    makes the perceptron converge (Huang, Fayong and Guo 2012): with `skip` where whole answers can be separated, with
    the others where all prefixes of the same length can, as they learn from these. Learners with a margin
    want max-violation: costs push the right answer out of the beam as long as one of its first steps lacks its margin,
    so that early updates hardly ever see the later ones.

    Parameters
    ----------
    system : a `TransitionSystem` with `gold_actions` or `correct`
    X, y : inputs and right answers
    beam : how many states go on at each step; None: all
    update : see above
    sample_weight : (n_examples,) what each example counts
    max_steps : more actions than that are an error

    The search, the oracle and the weights are native; features are numbered when they are first seen (`features`), and
    `n_features` grows in training. `weights` of `margent.train` go into `predict`. A `CRF` learns the probabilities of
    answers among those in the last beam and the right one.
    """

    def __init__(
        self,
        system: TransitionSystem,
        X: Iterable[Any],
        y: Iterable[Any],
        *,
        beam: int | None = 8,
        update: Literal["max-violation", "early", "standard", "skip"] = "max-violation",
        sample_weight: Sequence[float] | None = None,
        max_steps: int = 10_000,
    ) -> None:
        check_beam(beam)
        if update not in UPDATES:
            raise ValueError(f"update should be one of {', '.join(UPDATES)}, got {update!r}")
        inputs, answers = list(X), list(y)
        if len(inputs) != len(answers):
            raise CorpusError(f"there are {len(inputs)} inputs and {len(answers)} answers; expected as many")
        weights = [1.0] * len(inputs) if sample_weight is None else [float(w) for w in sample_weight]
        if len(weights) != len(inputs):
            raise CorpusError(f"there are {len(inputs)} inputs and {len(weights)} sample_weights")
        if not np.isfinite(weights).all():
            raise CorpusError("sample_weight has a number that is not finite")
        if not (hasattr(system, "gold_actions") or hasattr(system, "correct")):
            raise TypeError(
                f"{type(system).__name__} has neither gold_actions(x, y) nor correct(state, y); to learn, a transition "
                "system needs one of them"
            )
        policy = getattr(_core.BeamUpdate, update.replace("-", "_"))
        super().__init__(system, inputs, answers, weights, beam or 0, policy, max_steps)
        for example in range(len(self)):
            self.ask(example, 1, 0.0)  # to know the features of the first searches

    @property
    def beam(self) -> int | None:
        """How many states go on at each step, in training and in prediction; None: all. May be set."""
        return self.width or None

    @beam.setter
    def beam(self, beam: int | None) -> None:
        check_beam(beam)
        self.set_width(beam or 0)

    def predict(self, x: Any, weights: npt.ArrayLike, k: int = 1) -> list[BeamAnswer]:
        """The k best answers in the last beam for an input, best first."""
        check_count("k", k, 1)
        system: Any = self.system
        return outputs(system, self.search(x, np.ascontiguousarray(weights, np.float64), k))
