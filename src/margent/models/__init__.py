"""What users import: the estimators."""

from __future__ import annotations

from margent.models.confident_span import ConfidentSpan
from margent.models.loading import load
from margent.models.segmenting.answers import SegmentProbabilities, SegmentReading
from margent.models.segmenting.constraints import SegmentConstraints
from margent.models.segmenting.segmenter import Segmenter
from margent.models.tagging.calibration import reliability
from margent.models.tagging.constraints import Constraints
from margent.models.tagging.k_grams.path import PathPoint, SpectralPath, spectral_path
from margent.models.tagging.support import SupportSequence, SupportSequences
from margent.models.tagging.tagger import Reading, Tagger
from margent.models.transcribing.transcriber import Cosegment, Pronunciation, Transcriber

__all__ = [
    "ConfidentSpan",
    "Constraints",
    "Cosegment",
    "PathPoint",
    "Pronunciation",
    "Reading",
    "SegmentConstraints",
    "SegmentProbabilities",
    "SegmentReading",
    "Segmenter",
    "SpectralPath",
    "SupportSequence",
    "SupportSequences",
    "Tagger",
    "Transcriber",
    "load",
    "reliability",
    "spectral_path",
]
