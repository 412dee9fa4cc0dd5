"""What is run: tasks, methods and the values that parameters are chosen from, in full and in the quick version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """A learner, and what is chosen about it on development data.

    Attributes
    ----------
    title : in tables
    kind : "spectral", "counts", "features" or "latent": what is learned
    learner : Margent's name of the learner of features
    fixed : parameters that are not chosen
    grid : parameters that are, in this order, with their values; until its turn the first of them stands
    iterations : how many times those of the plan it takes
    most : words it is tried with; more would take too long
    """

    title: str
    kind: str
    learner: str = ""
    iterations: float = 1.0
    most: int | None = None
    fixed: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)


_TO_THE_END = {"tol": 0.0}
"""Development data say which iterate is best, so none is left out."""

METHODS = {
    "spectral": Method(
        "spectral, k-grams",
        "spectral",
        fixed=_TO_THE_END,
        grid={"tau": (7.0, 5.0, 10.0, 3.0), "step": (1000.0, 300.0, 100.0)},
    ),
    "spectral-up-to-k": Method(
        "spectral, up to k-grams",
        "spectral",
        iterations=0.8,
        fixed={**_TO_THE_END, "loss": "up-to-k"},
        grid={"tau": (5.0, 10.0), "step": (30.0, 100.0, 300.0)},
    ),
    "l2": Method(
        "L2",
        "spectral",
        fixed={**_TO_THE_END, "regulariser": "frobenius"},
        grid={"tau": (30.0, 10.0, 3.0, 100.0), "step": (300.0, 100.0, 1000.0)},
    ),
    "none": Method(
        "unregularised",
        "spectral",
        fixed={**_TO_THE_END, "regulariser": None},
        grid={"step": (100.0, 30.0, 10.0, 300.0, 1000.0)},
    ),
    "none-up-to-k": Method(
        "unregularised, up to k-grams",
        "spectral",
        iterations=0.8,
        fixed={**_TO_THE_END, "loss": "up-to-k", "regulariser": None},
        grid={"step": (30.0, 100.0, 10.0, 300.0)},
    ),
    "counts": Method("spectral IO-HMM by counts", "counts", grid={"states": (50, 20, 100, 10, 5)}),
    "latent": Method(
        "latent SVM",
        "latent",
        most=4000,
        fixed={"C": 1.0, "epochs": 5, "passes": 10},
        grid={"hidden": (4, 2)},
    ),
    # The slowest of all, so that l2 is not chosen.
    "crf": Method("CRF with features", "features", "crf", fixed={"order": 2, "tag_dictionary": 1, "l2": 0.3}),
    "perceptron": Method(
        "averaged perceptron with features",
        "features",
        "perceptron",
        fixed={"order": 2, "tag_dictionary": 1},
        grid={"epochs": (10, 20)},
    ),
    # What the spectral scores see, and no smaller pieces of it.
    "perceptron-whole": Method(
        "averaged perceptron, whole trigrams alone",
        "features",
        "perceptron",
        fixed={"order": 2, "tag_dictionary": 1, "windows": [[-2, -1, 0], [-1, 0, 1], [0, 1, 2]]},
        grid={"epochs": (10, 20)},
    ),
}
"""The methods of section 5 by our names of them."""


@dataclass(frozen=True)
class Plan:
    """The size of the experiment.

    Attributes
    ----------
    methods : names in METHODS
    corpus : of the learning curve: "nettalk", or "spelling", which is generated
    parts : how many words there are to learn from, to choose with and to test with
    sizes : of the learning curve
    seeds : how many draws of words there are for each size
    marked_sizes, marked_methods : where the words are also learned with a sign at either end, and how
    path_size, path_taus, path_iterations : of the regularisation path, with each kind of norm
    solver_size, solver_tau, solver_iterations : where the solvers are compared
    noise : what is added to a Hankel matrix, as a share of its own size, in so many trials each
    typo_sizes, typo_methods : of the second task, words with typos
    full_size : of the training whose time and memory are measured
    iterations : of the spectral learners
    n_values : at most so many values of each parameter are tried; None: all
    """

    methods: tuple[str, ...] = tuple(METHODS)
    corpus: str = "nettalk"
    parts: tuple[int, int, int] = (15000, 1034, 3974)
    sizes: tuple[int, ...] = (500, 1000, 2000, 4000, 8000, 15000)
    seeds: int = 3
    marked_sizes: tuple[int, ...] = (2000,)
    marked_methods: tuple[str, ...] = ("spectral", "l2", "none", "crf", "perceptron")
    path_size: int = 2000
    path_taus: dict[str, tuple[float, ...]] = field(
        default_factory=lambda: {
            "nuclear": (100.0, 50.0, 30.0, 20.0, 14.0, 10.0, 7.0, 5.0, 3.0, 2.0, 1.0, 0.5),
            "frobenius": (300.0, 200.0, 140.0, 100.0, 70.0, 50.0, 30.0, 20.0, 10.0, 5.0, 2.0, 1.0),
        }
    )
    path_iterations: int = 60
    solver_size: int = 2000
    solver_tau: float = 5.0
    solver_iterations: int = 200
    noise: tuple[float, ...] = (1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
    noise_trials: int = 20
    typo_sizes: tuple[int, ...] = (500, 2000)
    typo_methods: tuple[str, ...] = ("spectral", "l2", "none", "perceptron")
    full_size: int = 15000
    iterations: int = 200
    n_values: int | None = None


FULL = Plan()
QUICK = Plan(
    parts=(2000, 500, 500),
    sizes=(250, 500),
    seeds=2,
    marked_sizes=(500,),
    path_size=500,
    path_taus={"nuclear": (20.0, 5.0, 1.0), "frobenius": (100.0, 30.0, 5.0)},
    path_iterations=20,
    solver_size=500,
    solver_iterations=40,
    noise=(1e-6, 1e-3),
    noise_trials=3,
    typo_sizes=(250, 500),
    typo_methods=("spectral", "none"),
    full_size=2000,
    iterations=20,
    n_values=2,
)
