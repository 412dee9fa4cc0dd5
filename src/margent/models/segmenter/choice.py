"""What a segmenter means where its parameters leave it open: features and learner that suit its data, a start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from margent.features.frame_map import FrameFeatures, FrameMap
from margent.features.segment_map import SegmentMap
from margent.features.segment_token_map import SegmentTokenMap, TokenFeatures
from margent.learners import Learner, PassiveAggressive, StructuredSVM, learner_named
from margent.learners.maximum_likelihood import MaximumLikelihood

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter


def meant_map(segmenter: Segmenter, X: Any) -> SegmentMap:
    """A new feature map: of tokens where the first sequence has words, of frames where it has numbers."""
    features = segmenter.features
    if features is None:
        first: Any = next((x for x in X if len(x)), None)
        features = TokenFeatures() if first is not None and isinstance(first[0], str) else FrameFeatures()
    return FrameMap(features) if isinstance(features, FrameFeatures) else SegmentTokenMap(features)


def meant_learner(segmenter: Segmenter, seen: SegmentMap | None) -> Any:
    """The learner that is meant; which one that is by default, what is seen of the data decides."""
    learner = segmenter.learner
    if learner is None:
        tokens = isinstance(segmenter.features, TokenFeatures) or isinstance(seen, SegmentTokenMap)
        return PassiveAggressive() if tokens else StructuredSVM(C=0.001, method="subgradient")
    if isinstance(learner, str):
        return learner_named(learner)
    if not isinstance(learner, Learner):
        raise TypeError(f"learner should be a learner such as CRF(), its name or None, got {learner!r}")
    return learner


def meant_start(segmenter: Segmenter, feature_map: SegmentMap) -> MaximumLikelihood | None:
    """The generative model that the weights begin as, or None."""
    learner = meant_learner(segmenter, feature_map)
    if isinstance(learner, MaximumLikelihood):
        return learner
    if isinstance(segmenter.start, str):
        return MaximumLikelihood() if isinstance(feature_map, FrameMap) else None
    return segmenter.start  # type: ignore[no-any-return]
