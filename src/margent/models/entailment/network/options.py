"""The parameters of a network."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.models.stored_parameters import storable
from margent.parameters import check_choice, check_flag, check_number, check_whole

ENCODERS = ("tree", "sequence", "decomposable", "esim")
COMPOSITIONS = ("lstm", "rnn", "none")
ALIGNMENTS = ("expected", "sampled")
ATTENTIONS = ("difference", "affine")
GRADIENTS = ("score", "straight-through")
OUTPUTS = ("linear", "tanh")
UNKNOWN = ("vector", "spelling")
LARGEST_SIZE = 4096


@storable
@dataclass(frozen=True)
class Network:
    """A network over two binary trees (Zhao's thesis, section 5.3.1). The defaults are row 12 of its Table 5.7.

    >>> Network(encoder="sequence", composition="none").row
    'LSTM sent. embedding'
    """

    encoder: str = field(
        default="tree",
        metadata={
            "help": "what reads sentences: an LSTM of trees, of words; or a network that aligns words instead of nodes",
            "choices": ENCODERS,
        },
    )
    composition: str = field(
        default="lstm",
        metadata={"help": "how relations of phrases are made of those of their parts; none: the two sentences alone "
                  "are compared", "choices": COMPOSITIONS},
    )  # fmt: skip
    alignment: str = field(
        default="expected",
        metadata={"help": "whether relations see the expected alignment or, in training, a sampled one",
                  "choices": ALIGNMENTS},
    )  # fmt: skip
    attention: str = field(
        default="difference",
        metadata={"help": "how nodes are compared: tanh(W1 |hi - hj| + W2 hj + W3 hi), or an affine map of both",
                  "choices": ATTENTIONS},
    )  # fmt: skip
    dual: bool = field(default=True, metadata={"help": "multiply with the alignment from premise to hypothesis"})
    gradient: str = field(
        default="score",
        metadata={"help": "of a sampled alignment: by its score function, with a baseline, or straight through",
                  "choices": GRADIENTS},
    )  # fmt: skip
    size: int = field(default=150, metadata={"help": "numbers in the meaning of a node"})
    relation: int = field(default=150, metadata={"help": "numbers in the relation of a node"})
    words: int = field(default=100, metadata={"help": "numbers in the vector of a word, where no vectors are given"})
    dropout: float = field(default=0.2, metadata={"help": "share of numbers that are left out in training"})
    output: str = field(default="linear", metadata={"help": "what is between the relation of the root and the softmax",
                                                    "choices": OUTPUTS})  # fmt: skip
    unknown: str = field(
        default="vector",
        metadata={"help": "words without a vector have one in common, or one made of how they begin and end",
                  "choices": UNKNOWN},
    )  # fmt: skip
    start: float = field(default=0.05, metadata={"help": "numbers begin between -START and START"})
    min_count: int = field(default=2, metadata={"help": "words without a given vector that are seen less often in "
                                                "training share one"})  # fmt: skip

    def __post_init__(self) -> None:
        for name, choices in (
            ("encoder", ENCODERS), ("composition", COMPOSITIONS), ("alignment", ALIGNMENTS), ("attention", ATTENTIONS),
            ("gradient", GRADIENTS), ("output", OUTPUTS), ("unknown", UNKNOWN),
        ):  # fmt: skip
            check_choice(self, name, choices)
        check_flag(self, "dual")
        for name in ("size", "relation", "words"):
            check_whole(self, name, minimum=1, maximum=LARGEST_SIZE)
        check_number(self, "dropout", minimum=0, maximum=0.99)
        check_number(self, "start", minimum=0, maximum=10, above=True)
        check_whole(self, "min_count", minimum=1)
        if self.encoder != "tree" and self.composition != "none":
            raise ValueError(
                f"composition of Network should be 'none' where encoder is {self.encoder!r}, which has no phrases to "
                f"align, got {self.composition!r}"
            )

    @property
    def row(self) -> str:
        """What Table 5.7 calls it."""
        if self.composition == "none":
            return {"sequence": "LSTM sent. embedding", "tree": "Binary Tree-LSTM"}.get(self.encoder, self.encoder)
        if self.composition == "rnn":
            return "Binary Tree-LSTM + simple RNN w/ attention"
        kind = "Sampling" if self.alignment == "sampled" else "Expected Alignment"
        return f"Binary Tree-LSTM + {kind}{' + dual alignment' if self.dual else ''}"
