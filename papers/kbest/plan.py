"""What is run: corpora, learners and the grids that parameters are chosen from, in full and in the quick version."""

from __future__ import annotations

from dataclasses import dataclass

import margent.learners

METHODS = {
    "perceptron": "Perceptron",
    "pa": "PA",
    "rpa": "RPA",
    "mira": "MIRA",
    "sdm": "SDM",
    "larank": "LaRank, one pass",
}
"""Learners by Margent's names, and what the paper calls them."""

TITLES = {
    "conll2000": "Shallow parsing (CoNLL-2000)",
    "conll2002-esp": "Named entities, Spanish (CoNLL-2002)",
    "muc7": "Named entities, English (MUC-7)",
    "wnut17": "Named entities, English (WNUT-17, in place of MUC-7)",
    "addresses": "Addresses (generated)",
}


@dataclass(frozen=True)
class Plan:
    """The size of the experiment.

    Attributes
    ----------
    corpora : which; MUC-7 joins them where it is there
    n_train, n_test : at most so many sentences are used; None: all
    methods, ks : the rows of Table 1
    Cs : the grid for C
    C_epochs : C is chosen after at most so many epochs, the number of epochs after it
    epochs : the grid for the number of epochs, for chunking and for entities
    folds : of cross-validation, where there is no development set
    timed_epochs : of each run that is timed for Fig. 2
    table_reprocess : n_R of LaRank in Table 1 and Fig. 2
    reprocess : values of n_R in Fig. 3, where LaRank learns from the first `reprocess_train` sentences
    repetitions : of each run of LaRank in Fig. 3, each with another seed
    """

    corpora: tuple[str, ...] = ("conll2000", "conll2002-esp", "wnut17")
    n_train: int | None = None
    n_test: int | None = None
    methods: tuple[str, ...] = tuple(METHODS)
    ks: tuple[int, ...] = (1, 2, 5, 10)
    Cs: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)
    C_epochs: int = 5
    chunking_epochs: tuple[int, ...] = (5, 10, 15, 20)
    entity_epochs: tuple[int, ...] = (5, 10, 15, 20, 30)
    folds: int = 5
    timed_epochs: int = 5
    table_reprocess: int = 1
    reprocess: tuple[int, ...] = (0, 1, 2, 5)
    reprocess_train: int = 500
    repetitions: int = 20

    def epochs(self, corpus: str, method: str) -> tuple[int, ...]:
        if method == "larank":
            return (1,)
        return self.chunking_epochs if corpus == "conll2000" else self.entity_epochs

    def C_grid(self, method: str) -> tuple[float | None, ...]:
        """The perceptron has no C."""
        return (None,) if method == "perceptron" else self.Cs

    @property
    def known_methods(self) -> tuple[str, ...]:
        """Those that this version of Margent has."""
        return tuple(method for method in self.methods if method in margent.learners.LEARNERS)


FULL = Plan()
QUICK = Plan(
    n_train=500,
    n_test=300,
    ks=(1, 5),
    Cs=(0.01, 1.0),
    C_epochs=3,
    chunking_epochs=(5, 10),
    entity_epochs=(5, 10),
    folds=3,
    timed_epochs=5,
    reprocess=(0, 2),
    reprocess_train=100,
    repetitions=3,
)
