"""Feature maps: what is seen. Templates over columns, attributes, functions of a sentence, numbers, kernels."""

from __future__ import annotations

from margent.features.choice import Features, feature_map_for
from margent.features.derived import DERIVATIONS
from margent.features.feature_map import FeatureMap
from margent.features.frame_map import FrameFeatures
from margent.features.kernel import Kernel
from margent.features.segment_token_map import TokenFeatures
from margent.features.templates import PRESETS, Templates, preset_text
from margent.features.token_matrix import TokenMatrix

__all__ = [
    "DERIVATIONS",
    "PRESETS",
    "FeatureMap",
    "Features",
    "FrameFeatures",
    "Kernel",
    "Templates",
    "TokenFeatures",
    "TokenMatrix",
    "feature_map_for",
    "preset_text",
]
