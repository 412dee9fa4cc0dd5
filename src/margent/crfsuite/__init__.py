"""A drop-in for sklearn-crfsuite and python-crfsuite: the same names, the same calls, trained and run by Margent.

`CRF` is the estimator of sklearn-crfsuite; `metrics` and `scorers` are its modules of these names. `Trainer`, `Tagger`
and `ItemSequence` are those of python-crfsuite. docs/from-sklearn-crfsuite.md says what differs.
"""

from margent.crfsuite.estimator import CRF
from margent.crfsuite.item_sequence import ItemSequence
from margent.crfsuite.tagger import ParsedDump, Tagger
from margent.crfsuite.trainer import Trainer

CRFSUITE_VERSION = "0.12.2"
"""The release of CRFsuite whose algorithms and options these are."""

__all__ = ["CRF", "CRFSUITE_VERSION", "ItemSequence", "ParsedDump", "Tagger", "Trainer"]
