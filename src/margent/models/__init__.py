"""What users import: the estimators."""

from __future__ import annotations

from margent.models.base import StructuredModel
from margent.models.beam import Beam
from margent.models.confident_span import ConfidentSpan
from margent.models.loading import load
from margent.models.parser.answers import ArcProbabilities, ScoredTree
from margent.models.parser.options import ParserFeatures
from margent.models.parser.parser import Parser
from margent.models.phrase_parser.answers import PhraseExplanation, PhraseProbabilities, PhraseReading
from margent.models.phrase_parser.options import Markovisation, SpanFeatures
from margent.models.phrase_parser.phrase_parser import PhraseParser
from margent.models.segmenter.answers import SegmentProbabilities, SegmentReading
from margent.models.segmenter.constraints import SegmentConstraints
from margent.models.segmenter.options import Durations, SegmentCosts
from margent.models.segmenter.segmenter import Segmenter
from margent.models.tagger.constraints import Constraints
from margent.models.tagger.options import HiddenLabels
from margent.models.tagger.support import SupportSequence, SupportSequences
from margent.models.tagger.tagger import Reading, Tagger
from margent.models.transcriber.options import AlignmentBeam
from margent.models.transcriber.transcriber import Cosegment, Pronunciation, Transcriber

__all__ = [
    "AlignmentBeam",
    "ArcProbabilities",
    "Beam",
    "ConfidentSpan",
    "Constraints",
    "Cosegment",
    "Durations",
    "HiddenLabels",
    "Markovisation",
    "Parser",
    "ParserFeatures",
    "PhraseExplanation",
    "PhraseParser",
    "PhraseProbabilities",
    "PhraseReading",
    "Pronunciation",
    "Reading",
    "ScoredTree",
    "SegmentConstraints",
    "SegmentCosts",
    "SegmentProbabilities",
    "SegmentReading",
    "Segmenter",
    "SpanFeatures",
    "StructuredModel",
    "SupportSequence",
    "SupportSequences",
    "Tagger",
    "Transcriber",
    "load",
]
