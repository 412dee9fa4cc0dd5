"""File formats: one file for each, with its readers and writers. See docs/corpora.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margent.lazy_names import lazy_names

if TYPE_CHECKING:
    from margent.formats.columns import Columns as Columns
    from margent.formats.columns import format_columns as format_columns
    from margent.formats.columns import iter_columns as iter_columns
    from margent.formats.columns import read_columns as read_columns
    from margent.formats.columns import write_columns as write_columns
    from margent.formats.conllu import CONLLU_COLUMNS as CONLLU_COLUMNS
    from margent.formats.conllu import ConlluSentence as ConlluSentence
    from margent.formats.conllu import iter_conllu as iter_conllu
    from margent.formats.conllu import read_conllu as read_conllu
    from margent.formats.conllu import write_conllu as write_conllu
    from margent.formats.crfsuite import iter_crfsuite as iter_crfsuite
    from margent.formats.crfsuite import read_crfsuite as read_crfsuite
    from margent.formats.crfsuite import write_crfsuite as write_crfsuite
    from margent.formats.jsonl import Document as Document
    from margent.formats.jsonl import character_offsets as character_offsets
    from margent.formats.jsonl import iter_jsonl as iter_jsonl
    from margent.formats.jsonl import read_jsonl as read_jsonl
    from margent.formats.jsonl import word_offsets as word_offsets
    from margent.formats.jsonl import write_jsonl as write_jsonl
    from margent.formats.label_files import LABEL_FORMATS as LABEL_FORMATS
    from margent.formats.label_files import read_labels as read_labels
    from margent.formats.label_files import read_mlf as read_mlf
    from margent.formats.label_files import write_labels as write_labels
    from margent.formats.label_files import write_mlf as write_mlf
    from margent.formats.muc import iter_muc as iter_muc
    from margent.formats.muc import news_offsets as news_offsets
    from margent.formats.muc import read_muc as read_muc
    from margent.formats.pronunciations import iter_pronunciations as iter_pronunciations
    from margent.formats.pronunciations import read_pronunciations as read_pronunciations
    from margent.formats.pronunciations import write_pronunciations as write_pronunciations
    from margent.formats.registry import Format as Format
    from margent.formats.registry import all_formats as all_formats
    from margent.formats.registry import format_named as format_named
    from margent.formats.svmhmm import iter_svmhmm as iter_svmhmm
    from margent.formats.svmhmm import read_svmhmm as read_svmhmm
    from margent.formats.svmhmm import write_svmhmm as write_svmhmm
    from margent.formats.textgrid import read_textgrid as read_textgrid
    from margent.formats.textgrid import write_textgrid as write_textgrid

_HOME = {
    "CONLLU_COLUMNS": "conllu",
    "Columns": "columns",
    "ConlluSentence": "conllu",
    "Document": "jsonl",
    "Format": "registry",
    "LABEL_FORMATS": "label_files",
    "all_formats": "registry",
    "character_offsets": "jsonl",
    "format_columns": "columns",
    "format_named": "registry",
    "iter_columns": "columns",
    "iter_conllu": "conllu",
    "iter_crfsuite": "crfsuite",
    "iter_jsonl": "jsonl",
    "iter_muc": "muc",
    "iter_pronunciations": "pronunciations",
    "iter_svmhmm": "svmhmm",
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
