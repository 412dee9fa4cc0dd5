"""Loading a model of any kind."""

from __future__ import annotations

import os
from typing import Any

from margent import storage
from margent.models.base import StructuredModel
from margent.models.parser.parser import Parser
from margent.models.phrase_parser.phrase_parser import PhraseParser
from margent.models.segmenter.segmenter import Segmenter
from margent.models.tagger.tagger import Tagger
from margent.models.transcriber.transcriber import Transcriber

_MODELS: tuple[type[StructuredModel[Any]], ...] = (Tagger, Segmenter, Transcriber, Parser, PhraseParser)
KINDS = {kind.fitted.kind: kind for kind in _MODELS}
"""The kinds of models, by their names in model files."""


def load(path: str | os.PathLike[str], *, function: Any = None, mmap: bool = False) -> Any:
    """The model in a file.

    `function`: the feature function or the kernel function, for a model trained with one (model files hold no code);
    where it had both, the pair (kernel function, feature function). `mmap`: weights stay where they lie in the file,
    shared by all processes that load it; that file may be replaced (as `save` does it), but must not be overwritten in
    place while the model is in use. Otherwise they are read into memory, and what becomes of the file is all the same.

    Raises `ModelFileError` for anything but a sound model file.
    """
    file = storage.read(path, mmap=mmap)
    if file.kind not in KINDS:
        raise file.error(f"it holds a model of the kind {file.kind!r}, which this version does not know")
    return KINDS[file.kind].from_file(file, function)
