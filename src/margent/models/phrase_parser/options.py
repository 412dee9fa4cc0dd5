"""Parameters of a phrase-structure parser that only make sense together."""

from __future__ import annotations

from dataclasses import dataclass, field

from margent.features.span_templates import SpanTemplates
from margent.models.stored_parameters import storable
from margent.parameters import check_choice, check_whole, in_order

DIRECTIONS = ("right", "left")


@storable
@dataclass(frozen=True)
class Markovisation:
    """How trees become a grammar of rules with two parts; see `margent.annotation.binarised`.

    More context makes rules more precise, and rarer.

    >>> Markovisation(vertical=1)
    Markovisation(horizontal=1, vertical=1, direction='right')
    """

    horizontal: int = field(default=1, metadata={"help": "number of siblings that symbols remember"})
    vertical: int = field(default=2, metadata={"help": "number of labels remembered towards the root, with its own"})
    direction: str = field(
        default="right", metadata={"help": "the side on which remaining children are grouped", "choices": DIRECTIONS}
    )

    def __post_init__(self) -> None:
        check_whole(self, "horizontal", minimum=0, maximum=8)
        check_whole(self, "vertical", minimum=1, maximum=8)
        check_choice(self, "direction", DIRECTIONS)


@storable
@dataclass(frozen=True)
class SpanFeatures:
    """The features of phrases.

    templates : lines as in `margent.features.span_templates`; None: those that ship with Margent
    """

    templates: tuple[str, ...] | None = None
    min_count: int = field(default=1, metadata={"help": "leave out features of fewer phrases in the training trees"})

    def __post_init__(self) -> None:
        if self.templates is not None:
            object.__setattr__(self, "templates", tuple(in_order(self.templates)))
            SpanTemplates.of(self.templates)
        check_whole(self, "min_count", minimum=1)
