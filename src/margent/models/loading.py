"""Loading a model of any kind."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from margent import storage

KINDS = {
    "tagger": "Tagger",
    "segmenter": "Segmenter",
    "transcriber": "Transcriber",
    "parser": "Parser",
    "phrase-parser": "PhraseParser",
    "semantic-parser": "SemanticParser",
    "translator": "Translator",
    "entailment": "EntailmentClassifier",
}
"""The kinds of models: from their names in model files, and on the command line, to those of their classes."""


def model_class(kind: str) -> Any:
    """The class of one of `KINDS`, imported when it is first asked for."""
    return getattr(import_module("margent.models"), KINDS[kind])


def load(path: storage.Source, *, function: Any = None, mmap: bool = False) -> Any:
    """The model in a file: its path, its bytes, or a binary file that is open for reading.

    `function`: the feature function or the kernel function, for a model trained with one (model files hold no code);
    where it had both, the pair (kernel function, feature function). `mmap`: weights stay where they lie in the file,
    shared by all processes that load it; that file may be replaced (as `save` does it), but must not be overwritten in
    place while the model is in use. Otherwise they are read into memory, and what becomes of the file is all the same.

    Raises `ModelFileError` for anything but a sound model file.
    """
    file = storage.read(path, mmap=mmap)
    if file.kind not in KINDS:
        raise file.error(f"it holds a model of the kind {file.kind!r}, which this version does not know")
    return model_class(file.kind).from_file(file, function)
