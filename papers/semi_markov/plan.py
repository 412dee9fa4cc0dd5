"""What is run: models, corpora and the values that parameters are chosen from, in full and in the quick version."""

from __future__ import annotations

from dataclasses import dataclass, field

TITLES = {
    "speech-ru-festvox": "Russian phones (festvox-ru)",
    "timit": "English phones (TIMIT)",
    "series": "time series (generated)",
    "conll2002-esp": "named entities, Spanish (CoNLL-2002)",
    "wnut17": "emerging entities, English (WNUT-17)",
    "addresses": "parts of addresses (generated)",
}


@dataclass(frozen=True)
class Model:
    """A structure, what it sees, and how it learns.

    frames : one label a frame (HMM) instead of one a segment (SMM)
    learner : "likelihood", "margin" or "perceptron", which is "margin" with the cost of mistakes set to 0
    transitions, durations, binned : whether it sees these
    averaged : statistics of frames are averaged over each bin, as equation (7) is printed, instead of added up
    """

    title: str
    learner: str
    frames: bool = False
    transitions: bool = True
    durations: bool = True
    binned: bool = True
    averaged: bool = False


_SEEN = {
    "": {},
    "-transitions": {"transitions": False},
    "-durations": {"durations": False},
    "-bins": {"binned": False},
}
MODELS = {
    "ml-hmm": Model("ML (HMM)", "likelihood", frames=True),
    "lm-hmm": Model("large-margin HMM", "margin", frames=True),
    **{f"ml-smm{seen}": Model("ML (SMM)", "likelihood", **without) for seen, without in _SEEN.items()},
    **{f"lm-smm{seen}": Model("large-margin SMM", "margin", **without) for seen, without in _SEEN.items()},
    "perceptron": Model("SMM, perceptron", "perceptron"),
    "ml-smm-mean": Model("ML (SMM), (7) as printed", "likelihood", averaged=True),
    "lm-smm-mean": Model("large-margin SMM, (7) as printed", "margin", averaged=True),
    "lm-smm-mean-durations": Model("large-margin SMM, (7) as printed", "margin", averaged=True, durations=False),
}
TABLE1 = ("ml-hmm", "lm-hmm", "ml-smm", "lm-smm")
TABLE2 = tuple(_SEEN)[1:]
"""What is left out of `ml-smm` and `lm-smm`."""
AVERAGED = ("ml-smm-mean", "lm-smm-mean", "lm-smm-mean-durations")
"""With one mixture; the paper's own figures for these are those of `ml-smm` and `lm-smm`."""

WITHOUT = {"-transitions": "transitions", "-durations": "durations", "-bins": "bins"}

PAPER: dict[tuple[str, int], float] = {
    **{("ml-hmm", m): e for m, e in zip((1, 2, 4, 8), (42.8, 36.8, 34.3, 32.1))},
    **{("lm-hmm", m): e for m, e in zip((1, 2, 4, 8), (34.2, 32.6, 30.7, 29.9))},
    **{("ml-smm", m): e for m, e in zip((1, 2, 4, 8), (37.4, 32.7, 30.8, 29.5))},
    **{("lm-smm", m): e for m, e in zip((1, 2, 4, 8), (30.0, 28.7, 28.5, 28.5))},
    **{("perceptron", m): e for m, e in zip((1, 2, 4, 8), (34.3, 31.8, 29.9, 29.1))},
    **{(f"ml-smm{seen}", 1): e for seen, e in zip(TABLE2, (41.9, 36.8, 39.7))},
    **{(f"lm-smm{seen}", 1): e for seen, e in zip(TABLE2, (32.3, 30.7, 31.4))},
    **{(model, 1): e for model, e in zip(AVERAGED, (37.4, 30.0, 30.7))},
}
"""Phone error rates in percent on TIMIT, Tables 1 to 3, by model and mixtures."""


def model_name(model: str) -> str:
    """For people: the title, and what is left out."""
    seen = next((seen for seen in TABLE2 if model.endswith(seen)), None)
    return MODELS[model].title + ("" if seen is None else f" without {WITHOUT[seen]}")


TOKEN_MODELS = {
    "tagger": "Tagger (IOB2)",
    "segmenter-words": "Segmenter, words alone",
    "segmenter": "Segmenter, with whole segments",
}


@dataclass(frozen=True)
class Plan:
    """The size of the experiment.

    Attributes
    ----------
    corpus : of Tables 1 to 3; with `n_train` and `n_test` of its sequences, None: all
    mixtures : of Tables 1 and 3, with the passes that large-margin training makes
    bins, longest, steps : what is tried on development data, in `choice_passes` passes; the first stands until its
        turn. `longest`: no segment lasts longer, None: than those of its label in training. `steps`: `warm_start` and C
        of `StructuredSVM`; `averaged_steps`: those for models that average, whose gradients are smaller;
        `series_steps`: those for the generated series
    series : sizes of training, development and test data of the generated series; empty: left out
    tokens : corpora of named entities, with the first `n_sentences`; `token_C` and `token_epochs` are chosen
    """

    corpus: str = "speech-ru-festvox"
    n_train: int | None = None
    n_test: int | None = None
    mixtures: dict[int, int] = field(default_factory=lambda: {1: 10, 2: 8, 4: 5, 8: 4})
    choice_passes: int = 3
    bins: tuple[int, ...] = (3, 2, 4, 5)
    longest: tuple[int | None, ...] = (None, 50, 30)
    steps: tuple[tuple[float, float], ...] = ((1, 1e-3), (1, 1e-4), (1, 3e-3), (30, 3e-3))
    averaged_steps: tuple[tuple[float, float], ...] = ((30, 0.1), (30, 0.01), (30, 1.0))
    series_steps: tuple[tuple[float, float], ...] = ((30, 3e-3), (100, 1e-4), (1000, 1e-5))
    series: tuple[int, ...] = (300, 100, 300)
    tokens: tuple[str, ...] = ("conll2002-esp", "wnut17")
    n_sentences: int | None = None
    token_C: tuple[float, ...] = (0.1, 0.01, 1.0)
    token_epochs: int = 10


FULL = Plan()
QUICK = Plan(
    n_train=30,
    n_test=15,
    mixtures={1: 3, 2: 2},
    choice_passes=1,
    bins=(3, 2),
    longest=(None, 50),
    steps=((1, 1e-3), (30, 3e-3)),
    averaged_steps=((30, 0.1),),
    series=(40, 20, 40),
    n_sentences=300,
    token_C=(0.1, 0.01),
    token_epochs=3,
)
