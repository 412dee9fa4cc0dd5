"""Corpora: readers and writers of the usual file formats, and loaders of public data sets. See docs/corpora.md."""

from __future__ import annotations

from margent.corpus.columns import Columns, iter_columns, read_columns, write_columns
from margent.corpus.conllu import CONLLU_COLUMNS, ConlluSentence, iter_conllu, read_conllu, write_conllu
from margent.corpus.crfsuite import iter_crfsuite, read_crfsuite, write_crfsuite
from margent.corpus.datasets import (
    Dataset,
    Part,
    load_conll2000,
    load_conll2002,
    load_nettalk,
    load_ocr_letters,
    load_treebank_sample,
    load_ud,
    load_wnut17,
)
from margent.corpus.jsonl import Document, character_offsets, iter_jsonl, read_jsonl, word_offsets, write_jsonl
from margent.corpus.svmhmm import iter_svmhmm, read_svmhmm, write_svmhmm

__all__ = [
    "CONLLU_COLUMNS",
    "Columns",
    "ConlluSentence",
    "Dataset",
    "Document",
    "Part",
    "character_offsets",
    "iter_columns",
    "iter_conllu",
    "iter_crfsuite",
    "iter_jsonl",
    "iter_svmhmm",
    "load_conll2000",
    "load_conll2002",
    "load_nettalk",
    "load_ocr_letters",
    "load_treebank_sample",
    "load_ud",
    "load_wnut17",
    "read_columns",
    "read_conllu",
    "read_crfsuite",
    "read_jsonl",
    "read_svmhmm",
    "word_offsets",
    "write_columns",
    "write_conllu",
    "write_crfsuite",
    "write_jsonl",
    "write_svmhmm",
]
