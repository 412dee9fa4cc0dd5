"""What is known already about the segments of a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from margent.errors import ConstraintError
from margent.structures import segments as structure
from margent.structures.segment_scores import SegmentScores

if TYPE_CHECKING:
    from margent.models.segmenter.model import SegmenterModel


@dataclass(frozen=True)
class SegmentConstraints:
    """What is known about the segments of one sequence. All conditions hold at once.

    labels : the labels of all segments, in their order; where they are is searched for
    boundaries : where segments end, all of them; the two ends of the sequence need not be named
    segments : (start, end, label), end exclusive: exactly this segment is there
    allowed : frame or token to the label, or the list of labels, that it may have

    >>> SegmentConstraints(boundaries=[3, 7], allowed={0: ["a", "b"]})
    SegmentConstraints(labels=None, boundaries=[3, 7], segments=(), allowed={0: ['a', 'b']})
    """

    labels: Sequence[str] | None = None
    boundaries: Sequence[int] | None = None
    segments: Sequence[tuple[int, int, str]] = ()
    allowed: Mapping[int, str | Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            raise ConstraintError(f"labels of SegmentConstraints should be a list of labels, got {self.labels!r}")
        if not isinstance(self.allowed, Mapping):
            raise ConstraintError(
                f"allowed of SegmentConstraints should be a dict from frame or token to labels, got {self.allowed!r}"
            )


def checked_constraints(given: Any, labels: Any, n: int) -> list[SegmentConstraints | None]:
    """One for each of n sequences, from constraints or from labels in their order."""
    if labels is not None:
        if given is not None:
            raise ConstraintError("labels and constraints were both given; expected labels within the constraints")
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            raise ConstraintError(f"expected a list with the labels of each sequence, got {labels!r}")
        listed = list(labels)
        for i, row in enumerate(listed):
            if isinstance(row, str) or not hasattr(row, "__len__"):
                raise ConstraintError(f"sequence {i}: expected a list of labels, got {row!r}")
        given = [SegmentConstraints(labels=row) for row in listed]
    if isinstance(given, SegmentConstraints) or not isinstance(given, Iterable):
        raise ConstraintError(f"expected a list with the constraints of each sequence, got {type(given).__name__}")
    constraints = list(given)
    if len(constraints) != n:
        raise ConstraintError(f"found constraints for {len(constraints)} sequences, expected them for {n}")
    for i, each in enumerate(constraints):
        if each is not None and not isinstance(each, SegmentConstraints):
            raise ConstraintError(f"sequence {i}: expected SegmentConstraints or None, got {each!r}")
    return constraints


def constrained(scores: SegmentScores, given: SegmentConstraints | None, names: Sequence[str], i: int) -> SegmentScores:
    """The scores of only those segmentations of sequence i that agree with what is known."""
    if given is None:
        return scores
    ids = {name: j for j, name in enumerate(names)}

    def label(name: Any) -> int:
        if name not in ids:
            raise ConstraintError(f"sequence {i}: there is no label {name!r}; expected one of {', '.join(names)}")
        return ids[name]

    try:
        allowed = {
            at: [label(name) for name in ([some] if isinstance(some, str) else some)]
            for at, some in given.allowed.items()
        }
        segments = [(begin, end, label(name)) for begin, end, name in given.segments]
        limited = structure.constrain(scores, allowed, given.boundaries, segments)
        return limited if given.labels is None else structure.force(limited, [label(name) for name in given.labels])
    except ConstraintError as error:
        text = str(error)
        raise ConstraintError(text if text.startswith("sequence ") else f"sequence {i}: {text}") from None
    except (TypeError, ValueError) as error:
        raise ConstraintError(f"sequence {i}: {given} is not as expected ({error})") from None


def constrained_scores(
    model: SegmenterModel, X: Sequence[Any], labels: Any, constraints: Any, scale: float, lifted: list[int]
) -> Iterator[SegmentScores | ConstraintError]:
    """The scores of each sequence, of only those segmentations that agree with what is known; one at a time, as each
    takes memory for T R L numbers. A sequence that has none of them has an error instead; one that has them only
    without the restrictions of the model is added to `lifted`."""
    wider: SegmenterModel | None = None
    for i, (x, given) in enumerate(zip(X, checked_constraints(constraints, labels, len(X)))):
        try:
            scores = constrained(model.scores(x, scale), given, model.labels, i)
            if not structure.possible(scores):
                wider = wider or model.without_restrictions()
                scores = constrained(wider.scores(x, scale), given, model.labels, i)
                if not structure.possible(scores):
                    raise ConstraintError(f"sequence {i}: durations, or what is known of it, leave no segmentation")
                lifted.append(i)
        except ConstraintError as error:
            yield error
        else:
            yield scores
