"""What is run: corpora, methods and the values that parameters are chosen from, in full and in the quick version."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TITLES = {
    "conll2002-esp": "Named entities, Spanish (CoNLL-2002)",
    "treebank-sample": "Parts of speech, English (Penn Treebank sample)",
    "conll2000": "Shallow parsing (CoNLL-2000)",
    "ocr-letters": "Handwritten letters",
    "addresses": "Addresses (generated)",
    "made-letters": "Letters (generated)",
}


@dataclass(frozen=True)
class Method:
    """A learner, what it sees, and what is chosen about it.

    Attributes
    ----------
    title : in tables
    learner : Margent's name of it
    kernel : its kind, or None for a linear method
    window : how many tokens it sees
    fixed : parameters of learner, kernel and tagger that are not chosen
    grid : parameters that are, in this order, with their values; until its turn the first of them stands
    """

    title: str
    learner: str
    kernel: str | None = None
    window: int = 3
    fixed: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, tuple[Any, ...]] = field(default_factory=dict)


_QUADRATIC: dict[str, Any] = {"kernel": "polynomial", "fixed": {"degree": 2}}
_C = (1.0, 0.1, 10.0, 0.01, 100.0)

SECTION8 = {
    "hmm": Method("HMM", "hmm", grid={"smoothing": (0.01, 0.1, 0.001, 1.0)}),
    "crf": Method("CRF", "crf", fixed={"l2": 1e-6, "tol": 1e-5}),
    "crf-b": Method("CRF-B, regularised", "crf", grid={"l2": (0.1, 0.3, 0.03, 1.0, 0.01)}),
    "perceptron": Method("HM-perceptron", "dual-perceptron", grid={"epochs": (10, 5, 20)}, **_QUADRATIC),
    "svm": Method("HM-SVM", "hmsvm", grid={"C": _C}, **_QUADRATIC),
    "hamming": Method(
        "HM-SVM with Hamming margin (not in the paper)",
        "hmsvm",
        "polynomial",
        fixed={"degree": 2, "loss": "hamming"},
        grid={"C": (1.0, 10.0, 0.1)},
    ),
    "linear": Method("SVM without kernel (not in the paper)", "ssvm", grid={"C": (0.1, 1.0, 0.01)}),
}
"""The methods of section 8 by our names of them; in all of them the window is 3, and the kernel is of degree 2."""

CURVE = {
    "pa": Method("PA, k = 5", "pa", fixed={"k": 5}, grid={"C": (0.1, 1.0, 0.01), "epochs": (10, 20)}),
    "crf-b": Method("CRF", "crf", grid={"l2": (0.1, 0.3, 0.03)}),
    "perceptron": Method("HM-perceptron", "dual-perceptron", grid={"epochs": (10, 5, 20)}, **_QUADRATIC),
    "svm": Method("HM-SVM", "hmsvm", grid={"C": _C[:3], "loss": ("hamming", "sequence")}, **_QUADRATIC),
}
"""Those of the learning curve."""

# Cut short, as nine folds take minutes for each epoch. The cache holds a third of the kernel matrix of nine folds.
_CUT = {"loss": "hamming", "epochs": 10, "rounds": 3, "cache_mb": 6144}
_LETTERS: dict[str, Any] = {"learner": "hmsvm", "fixed": _CUT}
LETTERS = {
    "letter": Method("linear, the letter alone", "ssvm", window=1, grid={"C": (0.1, 0.01, 1.0)}),
    "linear": Method("linear, three letters", "ssvm", grid={"C": (0.1, 0.01, 1.0)}),
    "polynomial": Method(
        "polynomial kernel", kernel="polynomial", grid={"window": (1, 3), "degree": (3, 2, 5), "C": _C[:3]}, **_LETTERS
    ),
    "rbf": Method(
        "RBF kernel", kernel="rbf", grid={"window": (1, 3), "gamma": (0.05, 0.03, 0.1), "C": _C[:3]}, **_LETTERS
    ),
}
"""Those of the handwritten letters."""


@dataclass(frozen=True)
class Plan:
    """The size of the experiment.

    Attributes
    ----------
    methods, curve_methods, letter_methods : names in SECTION8, CURVE, LETTERS
    corpora : of section 8: `n_sentences` of each, and as many others from which parameters are chosen
    folds : of cross-validation; parameters are chosen with the first `choice_folds` of those of the other sentences
    curve_corpus : of the learning curve over `sizes` sentences, tested on the first `n_test` sentences of the test data
    choice_size : sentences to learn from when parameters of the curve are chosen, none of which is in the curve
    letters : the corpus of letters; `orders` of the chain, whose other parameters are chosen with the first of them
    small_folds : from how many single folds to learn; `large_folds`: from how many sets of nine, for each of the orders
    n_words : of each fold of the letters; None: all
    n_values : at most so many values of each parameter are tried; None: all
    """

    methods: tuple[str, ...] = tuple(SECTION8)
    corpora: tuple[str, ...] = ("conll2002-esp", "treebank-sample")
    n_sentences: int = 300
    folds: int = 5
    choice_folds: int = 2
    curve_methods: tuple[str, ...] = tuple(CURVE)
    curve_corpus: str = "conll2000"
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000, 3000)
    n_test: int = 1000
    choice_size: int = 200
    letter_methods: tuple[str, ...] = tuple(LETTERS)
    letters: str = "ocr-letters"
    orders: tuple[int, ...] = (1, 2)
    small_folds: int = 10
    large_folds: tuple[int, ...] = (5, 1)
    n_words: int | None = None
    n_values: int | None = None


FULL = Plan()
QUICK = Plan(
    n_sentences=60,
    folds=3,
    choice_folds=1,
    sizes=(50, 100),
    n_test=200,
    choice_size=50,
    small_folds=1,
    large_folds=(1, 1),
    n_words=60,
    n_values=2,
)
