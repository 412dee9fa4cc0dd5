"""What users import: the estimators."""

from __future__ import annotations

from margent.models.calibration import reliability
from margent.models.constraints import Constraints
from margent.models.loading import load
from margent.models.regularisation_path import PathPoint, SpectralPath, spectral_path
from margent.models.segmenter import Segmenter, SegmentProbabilities, SegmentReading
from margent.models.support import SupportSequence, SupportSequences
from margent.models.tagger import ConfidentSpan, Reading, Tagger
from margent.models.transcriber import Cosegment, Pronunciation, Transcriber

__all__ = [
    "ConfidentSpan",
    "Constraints",
    "Cosegment",
    "PathPoint",
    "Pronunciation",
    "Reading",
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
