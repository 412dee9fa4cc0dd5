"""Loaders of public data sets, and generated corpora. See docs/corpora.md and docs/generated.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.datasets.generated import ChainModel as ChainModel
    from margent.datasets.generated import SeparableModel as SeparableModel
    from margent.datasets.generated import iter_addresses as iter_addresses
    from margent.datasets.generated import make_addresses as make_addresses
    from margent.datasets.generated import make_chain as make_chain
    from margent.datasets.generated import make_separable as make_separable
    from margent.datasets.generated_series import SeriesModel as SeriesModel
    from margent.datasets.generated_series import make_series as make_series
    from margent.datasets.generated_speech import GENERATED_PHONES as GENERATED_PHONES
    from margent.datasets.generated_speech import make_speech as make_speech
    from margent.datasets.invented_spelling import make_pronunciations as make_pronunciations
    from margent.datasets.speech import load_russian_speech as load_russian_speech
    from margent.datasets.text import Dataset as Dataset
    from margent.datasets.text import Part as Part
    from margent.datasets.text import load_cmudict as load_cmudict
    from margent.datasets.text import load_conll2000 as load_conll2000
    from margent.datasets.text import load_conll2002 as load_conll2002
    from margent.datasets.text import load_muc7 as load_muc7
    from margent.datasets.text import load_nettalk as load_nettalk
    from margent.datasets.text import load_ocr_letters as load_ocr_letters
    from margent.datasets.text import load_treebank_sample as load_treebank_sample
    from margent.datasets.text import load_ud as load_ud
    from margent.datasets.text import load_wnut17 as load_wnut17
    from margent.datasets.timit import TIMIT_39 as TIMIT_39
    from margent.datasets.timit import TIMIT_48 as TIMIT_48
    from margent.datasets.timit import TimitUtterance as TimitUtterance
    from margent.datasets.timit import load_timit as load_timit
    from margent.datasets.timit import read_timit as read_timit
    from margent.datasets.timit import timit_fold as timit_fold
    from margent.datasets.timit import timit_part as timit_part
    from margent.datasets.timit import timit_utterances as timit_utterances
    from margent.datasets.treebank import load_treebank_trees as load_treebank_trees
    from margent.datasets.treebank import parse_brackets as parse_brackets
    from margent.datasets.treebank import without_traces as without_traces
    from margent.datasets.treebank import words_of as words_of

_HOME = {
    "ChainModel": "generated",
    "Dataset": "text",
    "GENERATED_PHONES": "generated_speech",
    "Part": "text",
    "SeparableModel": "generated",
    "SeriesModel": "generated_series",
    "TIMIT_39": "timit",
    "TIMIT_48": "timit",
    "TimitUtterance": "timit",
    "iter_addresses": "generated",
    "load_cmudict": "text",
    "load_conll2000": "text",
    "load_conll2002": "text",
    "load_muc7": "text",
    "load_nettalk": "text",
    "load_ocr_letters": "text",
    "load_russian_speech": "speech",
    "load_timit": "timit",
    "load_treebank_sample": "text",
    "load_treebank_trees": "treebank",
    "parse_brackets": "treebank",
    "without_traces": "treebank",
    "words_of": "treebank",
    "load_ud": "text",
    "load_wnut17": "text",
    "make_addresses": "generated",
    "make_chain": "generated",
    "make_pronunciations": "invented_spelling",
    "make_separable": "generated",
    "make_series": "generated_series",
    "make_speech": "generated_speech",
    "read_timit": "timit",
    "timit_fold": "timit",
    "timit_part": "timit",
    "timit_utterances": "timit",
}
"""Public name to the module that defines it."""

__all__ = [*_HOME]


__getattr__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
