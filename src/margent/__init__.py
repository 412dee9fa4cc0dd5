"""Margent: structured prediction for sequences, on an ordinary CPU, in seconds.

Everything that most people need is here, flat; the rest is in the subpackages, `margent.formats` and so on. All of it
is imported when first used, so that `import margent` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

__version__ = "0.1.0"

_HOME: dict[str, str] = {
    "SegmentCosts": "margent.models",
    "HiddenLabels": "margent.models",
    "Features": "margent.features",
    "Durations": "margent.models",
    "Beam": "margent.models",
    "AlignmentBeam": "margent.models",
    "Answer": "margent.learners",
    "CRF": "margent.learners",
    "CalibrationWarning": "margent.errors",
    "Columns": "margent.formats.columns",
    "ConfidentSpan": "margent.models",
    "ConstraintError": "margent.errors",
    "Constraints": "margent.models",
    "CorpusError": "margent.errors",
    "DataNotFoundError": "margent.errors",
    "DualPerceptron": "margent.learners",
    "EM": "margent.learners",
    "Forest": "margent.structures",
    "ForestBuilder": "margent.structures",
    "FrameFeatures": "margent.features",
    "HiddenMarkov": "margent.learners",
    "HiddenMarkovSVM": "margent.learners",
    "Kernel": "margent.features",
    "LaRank": "margent.learners",
    "LatentSVM": "margent.learners",
    "MargentError": "margent.errors",
    "MaximumLikelihood": "margent.learners",
    "MIRA": "margent.learners",
    "MissingExtraError": "margent.errors",
    "ModelFileError": "margent.errors",
    "NotFittedError": "margent.errors",
    "OperatorModel": "margent.structures",
    "Oracle": "margent.learners",
    "PassiveAggressive": "margent.learners",
    "Perceptron": "margent.learners",
    "Range": "margent.tuning",
    "Reading": "margent.models",
    "RestrictedPassiveAggressive": "margent.learners",
    "Rival": "margent.learners",
    "SDM": "margent.learners",
    "SegmentConstraints": "margent.models",
    "Segmenter": "margent.models",
    "Spectral": "margent.learners",
    "StructuredSVM": "margent.learners",
    "Tagger": "margent.models",
    "Templates": "margent.features",
    "TokenFeatures": "margent.features",
    "TokenMatrix": "margent.features",
    "TrainingWarning": "margent.errors",
    "Transcriber": "margent.models",
    "TuningResult": "margent.tuning",
    "load": "margent.models",
    "make_addresses": "margent.datasets.generated",
    "read_columns": "margent.formats.columns",
    "read_pronunciations": "margent.formats.pronunciations",
    "reliability": "margent.models",
    "spectral_path": "margent.models",
    "train": "margent.learners",
    "tune": "margent.tuning",
}
"""Public name to the module that defines it."""

_SUBPACKAGES = (
    "annotation",
    "audio",
    "crfsuite",
    "datasets",
    "errors",
    "features",
    "formats",
    "learners",
    "metrics",
    "models",
    "storage",
    "structures",
    "tuning",
)

__all__ = ["__version__", *_HOME]

__getattr__ = lazy_names(__name__, {**_HOME, **{name: f"{__name__}.{name}" for name in _SUBPACKAGES}})


def __dir__() -> list[str]:
    return sorted([*__all__, *_SUBPACKAGES])


if TYPE_CHECKING:
    from margent import annotation as annotation
    from margent import audio as audio
    from margent import crfsuite as crfsuite
    from margent import datasets as datasets
    from margent import errors as errors
    from margent import features as features
    from margent import formats as formats
    from margent import learners as learners
    from margent import metrics as metrics
    from margent import models as models
    from margent import storage as storage
    from margent import structures as structures
    from margent import tuning as tuning
    from margent.datasets.generated import make_addresses as make_addresses
    from margent.errors import CalibrationWarning as CalibrationWarning
    from margent.errors import ConstraintError as ConstraintError
    from margent.errors import CorpusError as CorpusError
    from margent.errors import DataNotFoundError as DataNotFoundError
    from margent.errors import MargentError as MargentError
    from margent.errors import MissingExtraError as MissingExtraError
    from margent.errors import ModelFileError as ModelFileError
    from margent.errors import NotFittedError as NotFittedError
    from margent.errors import TrainingWarning as TrainingWarning
    from margent.features import Features as Features
    from margent.features import FrameFeatures as FrameFeatures
    from margent.features import Kernel as Kernel
    from margent.features import Templates as Templates
    from margent.features import TokenFeatures as TokenFeatures
    from margent.features import TokenMatrix as TokenMatrix
    from margent.formats.columns import Columns as Columns
    from margent.formats.columns import read_columns as read_columns
    from margent.formats.pronunciations import read_pronunciations as read_pronunciations
    from margent.learners import CRF as CRF
    from margent.learners import EM as EM
    from margent.learners import MIRA as MIRA
    from margent.learners import SDM as SDM
    from margent.learners import Answer as Answer
    from margent.learners import DualPerceptron as DualPerceptron
    from margent.learners import HiddenMarkov as HiddenMarkov
    from margent.learners import HiddenMarkovSVM as HiddenMarkovSVM
    from margent.learners import LaRank as LaRank
    from margent.learners import LatentSVM as LatentSVM
    from margent.learners import MaximumLikelihood as MaximumLikelihood
    from margent.learners import Oracle as Oracle
    from margent.learners import PassiveAggressive as PassiveAggressive
    from margent.learners import Perceptron as Perceptron
    from margent.learners import RestrictedPassiveAggressive as RestrictedPassiveAggressive
    from margent.learners import Rival as Rival
    from margent.learners import Spectral as Spectral
    from margent.learners import StructuredSVM as StructuredSVM
    from margent.learners import train as train
    from margent.models import AlignmentBeam as AlignmentBeam
    from margent.models import Beam as Beam
    from margent.models import ConfidentSpan as ConfidentSpan
    from margent.models import Constraints as Constraints
    from margent.models import Durations as Durations
    from margent.models import HiddenLabels as HiddenLabels
    from margent.models import Reading as Reading
    from margent.models import SegmentConstraints as SegmentConstraints
    from margent.models import SegmentCosts as SegmentCosts
    from margent.models import Segmenter as Segmenter
    from margent.models import Tagger as Tagger
    from margent.models import Transcriber as Transcriber
    from margent.models import load as load
    from margent.models import reliability as reliability
    from margent.models import spectral_path as spectral_path
    from margent.structures import Forest as Forest
    from margent.structures import ForestBuilder as ForestBuilder
    from margent.structures import OperatorModel as OperatorModel
    from margent.tuning import Range as Range
    from margent.tuning import TuningResult as TuningResult
    from margent.tuning import tune as tune
