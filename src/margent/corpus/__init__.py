"""Corpora: readers and writers of the usual file formats, and loaders of public data sets. See docs/corpora.md.

As in the package itself, a name is imported when it is first used: a command that reads columns need not wait for JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.corpus.columns import Columns as Columns
    from margent.corpus.columns import format_columns as format_columns
    from margent.corpus.columns import iter_columns as iter_columns
    from margent.corpus.columns import read_columns as read_columns
    from margent.corpus.columns import write_columns as write_columns
    from margent.corpus.conllu import CONLLU_COLUMNS as CONLLU_COLUMNS
    from margent.corpus.conllu import ConlluSentence as ConlluSentence
    from margent.corpus.conllu import iter_conllu as iter_conllu
    from margent.corpus.conllu import read_conllu as read_conllu
    from margent.corpus.conllu import write_conllu as write_conllu
    from margent.corpus.crfsuite import iter_crfsuite as iter_crfsuite
    from margent.corpus.crfsuite import read_crfsuite as read_crfsuite
    from margent.corpus.crfsuite import write_crfsuite as write_crfsuite
    from margent.corpus.datasets import Dataset as Dataset
    from margent.corpus.datasets import Part as Part
    from margent.corpus.datasets import load_cmudict as load_cmudict
    from margent.corpus.datasets import load_conll2000 as load_conll2000
    from margent.corpus.datasets import load_conll2002 as load_conll2002
    from margent.corpus.datasets import load_muc7 as load_muc7
    from margent.corpus.datasets import load_nettalk as load_nettalk
    from margent.corpus.datasets import load_ocr_letters as load_ocr_letters
    from margent.corpus.datasets import load_treebank_sample as load_treebank_sample
    from margent.corpus.datasets import load_ud as load_ud
    from margent.corpus.datasets import load_wnut17 as load_wnut17
    from margent.corpus.generated import ChainModel as ChainModel
    from margent.corpus.generated import SeparableModel as SeparableModel
    from margent.corpus.generated import iter_addresses as iter_addresses
    from margent.corpus.generated import make_addresses as make_addresses
    from margent.corpus.generated import make_chain as make_chain
    from margent.corpus.generated import make_separable as make_separable
    from margent.corpus.generated_series import SeriesModel as SeriesModel
    from margent.corpus.generated_series import make_series as make_series
    from margent.corpus.generated_speech import GENERATED_PHONES as GENERATED_PHONES
    from margent.corpus.generated_speech import make_speech as make_speech
    from margent.corpus.intervals import Interval as Interval
    from margent.corpus.intervals import fold_segments as fold_segments
    from margent.corpus.intervals import intervals_of_segments as intervals_of_segments
    from margent.corpus.intervals import nearest_frame as nearest_frame
    from margent.corpus.intervals import segments_of_intervals as segments_of_intervals
    from margent.corpus.invented_spelling import make_pronunciations as make_pronunciations
    from margent.corpus.jsonl import Document as Document
    from margent.corpus.jsonl import character_offsets as character_offsets
    from margent.corpus.jsonl import iter_jsonl as iter_jsonl
    from margent.corpus.jsonl import read_jsonl as read_jsonl
    from margent.corpus.jsonl import word_offsets as word_offsets
    from margent.corpus.jsonl import write_jsonl as write_jsonl
    from margent.corpus.label_files import LABEL_FORMATS as LABEL_FORMATS
    from margent.corpus.label_files import read_labels as read_labels
    from margent.corpus.label_files import read_mlf as read_mlf
    from margent.corpus.label_files import write_labels as write_labels
    from margent.corpus.label_files import write_mlf as write_mlf
    from margent.corpus.muc import iter_muc as iter_muc
    from margent.corpus.muc import news_offsets as news_offsets
    from margent.corpus.muc import read_muc as read_muc
    from margent.corpus.pronunciations import iter_pronunciations as iter_pronunciations
    from margent.corpus.pronunciations import read_pronunciations as read_pronunciations
    from margent.corpus.pronunciations import write_pronunciations as write_pronunciations
    from margent.corpus.schemes import SCHEMES as SCHEMES
    from margent.corpus.schemes import Span as Span
    from margent.corpus.schemes import convert as convert
    from margent.corpus.schemes import detect_scheme as detect_scheme
    from margent.corpus.schemes import labels_of as labels_of
    from margent.corpus.schemes import span_constraints as span_constraints
    from margent.corpus.schemes import spans as spans
    from margent.corpus.schemes import transition_mask as transition_mask
    from margent.corpus.segments import Segmentation as Segmentation
    from margent.corpus.segments import check_segmentation as check_segmentation
    from margent.corpus.segments import frame_labels as frame_labels
    from margent.corpus.segments import segments_of as segments_of
    from margent.corpus.speech_datasets import load_russian_speech as load_russian_speech
    from margent.corpus.svmhmm import iter_svmhmm as iter_svmhmm
    from margent.corpus.svmhmm import read_svmhmm as read_svmhmm
    from margent.corpus.svmhmm import write_svmhmm as write_svmhmm
    from margent.corpus.textgrid import read_textgrid as read_textgrid
    from margent.corpus.textgrid import write_textgrid as write_textgrid
    from margent.corpus.timit import TIMIT_39 as TIMIT_39
    from margent.corpus.timit import TIMIT_48 as TIMIT_48
    from margent.corpus.timit import TimitUtterance as TimitUtterance
    from margent.corpus.timit import load_timit as load_timit
    from margent.corpus.timit import read_timit as read_timit
    from margent.corpus.timit import timit_fold as timit_fold
    from margent.corpus.timit import timit_part as timit_part
    from margent.corpus.timit import timit_utterances as timit_utterances

_HOME = {
    "CONLLU_COLUMNS": "conllu",
    "ChainModel": "generated",
    "Columns": "columns",
    "ConlluSentence": "conllu",
    "Dataset": "datasets",
    "Document": "jsonl",
    "GENERATED_PHONES": "generated_speech",
    "Interval": "intervals",
    "LABEL_FORMATS": "label_files",
    "Part": "datasets",
    "SCHEMES": "schemes",
    "Segmentation": "segments",
    "SeparableModel": "generated",
    "SeriesModel": "generated_series",
    "Span": "schemes",
    "TIMIT_39": "timit",
    "TIMIT_48": "timit",
    "TimitUtterance": "timit",
    "character_offsets": "jsonl",
    "check_segmentation": "segments",
    "convert": "schemes",
    "detect_scheme": "schemes",
    "fold_segments": "intervals",
    "format_columns": "columns",
    "frame_labels": "segments",
    "intervals_of_segments": "intervals",
    "iter_addresses": "generated",
    "iter_columns": "columns",
    "iter_conllu": "conllu",
    "iter_crfsuite": "crfsuite",
    "iter_jsonl": "jsonl",
    "iter_muc": "muc",
    "iter_pronunciations": "pronunciations",
    "iter_svmhmm": "svmhmm",
    "labels_of": "schemes",
    "load_cmudict": "datasets",
    "load_conll2000": "datasets",
    "load_conll2002": "datasets",
    "load_muc7": "datasets",
    "load_nettalk": "datasets",
    "load_ocr_letters": "datasets",
    "load_russian_speech": "speech_datasets",
    "load_timit": "timit",
    "load_treebank_sample": "datasets",
    "load_ud": "datasets",
    "load_wnut17": "datasets",
    "make_addresses": "generated",
    "make_chain": "generated",
    "make_pronunciations": "invented_spelling",
    "make_separable": "generated",
    "make_series": "generated_series",
    "make_speech": "generated_speech",
    "nearest_frame": "intervals",
    "news_offsets": "muc",
    "read_columns": "columns",
    "read_conllu": "conllu",
    "read_crfsuite": "crfsuite",
    "read_jsonl": "jsonl",
    "read_labels": "label_files",
    "read_mlf": "label_files",
    "read_muc": "muc",
    "read_pronunciations": "pronunciations",
    "read_svmhmm": "svmhmm",
    "read_textgrid": "textgrid",
    "read_timit": "timit",
    "segments_of": "segments",
    "segments_of_intervals": "intervals",
    "span_constraints": "schemes",
    "spans": "schemes",
    "timit_fold": "timit",
    "timit_part": "timit",
    "timit_utterances": "timit",
    "transition_mask": "schemes",
    "word_offsets": "jsonl",
    "write_columns": "columns",
    "write_conllu": "conllu",
    "write_crfsuite": "crfsuite",
    "write_jsonl": "jsonl",
    "write_labels": "label_files",
    "write_mlf": "label_files",
    "write_pronunciations": "pronunciations",
    "write_svmhmm": "svmhmm",
    "write_textgrid": "textgrid",
}
"""Public name to the module that defines it."""

__all__ = [*_HOME]


__getattr__ = lazy_names(__name__, {name: f"{__name__}.{module}" for name, module in _HOME.items()})


def __dir__() -> list[str]:
    return sorted(__all__)
