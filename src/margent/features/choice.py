"""Which feature map fits what the user said and the data given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from margent.errors import CorpusError
from margent.features.attribute_map import AttributeMap, VectorMap
from margent.features.feature_map import FeatureMap
from margent.features.kernel import Kernel
from margent.features.kernel_map import KernelMap
from margent.features.spectrum_map import SpectrumMap
from margent.features.template_map import TemplateMap
from margent.features.templates import PRESETS, Templates
from margent.features.token_matrix import TokenMatrix
from margent.formats.columns import Columns
from margent.parameters import check_choice, check_whole
from margent.storage import ModelFile

LAYOUTS = ("auto", "dense", "sparse")


@dataclass(frozen=True)
class Features:
    """The features of a tagger, and how many of them are kept.

    >>> Features("ner", min_count=2)
    Features(source='ner', min_count=2, layout='auto')
    """

    source: Any = field(
        default=None,
        metadata={
            "help": "a preset, templates, 'attributes', 'vectors', 'symbols', a Kernel or a function of a sentence; "
            "None: as the data are"
        },
    )
    min_count: int = field(
        default=1, metadata={"help": "leave out features that occur less often in the training data"}
    )
    layout: str = field(
        default="auto",
        metadata={
            "help": "how weights are kept: dense rows over all labels, or sparse, only those touched; the results are "
            "the same",
            "choices": LAYOUTS,
        },
    )

    def __post_init__(self) -> None:
        check_whole(self, "min_count", minimum=1)
        check_choice(self, "layout", LAYOUTS)

    @classmethod
    def of(cls, given: Any) -> Features:
        """As given, or with the usual settings."""
        return given if isinstance(given, cls) else cls(given)


def feature_map_for(features: Any, X: Any) -> FeatureMap:
    """A new, empty feature map.

    `features` is the name of a preset, `Templates`, a list of template lines, "attributes", "vectors", "symbols", a
    function from a sentence to the attributes of its tokens, or None: then the data decide. Strings and tuples of
    strings are columns for the "generic" preset, dicts are attributes, arrays and matrices are vectors. A `Kernel` has
    such features of its own, where strings and columns are for the "spelling" preset.
    """
    if isinstance(features, Kernel):
        return KernelMap(features, _inner_map(features, X))
    if isinstance(features, Templates):
        return TemplateMap(features)
    if isinstance(features, (list, tuple)):
        return TemplateMap(Templates(features))
    if callable(features):
        return AttributeMap(features)
    if features == "attributes":
        return AttributeMap()
    if features == "vectors":
        return VectorMap()
    if features == "symbols":
        from margent.spectral.symbol_map import SymbolMap

        return SymbolMap()
    if isinstance(features, str):
        if features not in PRESETS:
            raise ValueError(
                f"features={features!r} is not known; expected one of {', '.join(PRESETS)}, attributes, vectors, "
                "symbols, Templates, a list of template lines, or a function of a sentence"
            )
        return TemplateMap(Templates.preset(features))
    if features is not None:
        raise TypeError(
            f"features should be a name, Templates, a list of lines, a function or a Kernel, got {features!r}"
        )
    return _by_data(X, "generic")


def _inner_map(kernel: Kernel, X: Any) -> FeatureMap:
    if kernel.kind == "string-spectrum":
        return SpectrumMap(int(kernel.degree))
    return _by_data(X, "spelling") if kernel.features is None else feature_map_for(kernel.features, X)


def _by_data(X: Any, preset: str) -> FeatureMap:
    if isinstance(X, Columns):
        return TemplateMap(Templates.preset(preset))
    if isinstance(X, TokenMatrix):
        return VectorMap()
    for number, sentence in enumerate(X):
        if getattr(sentence, "ndim", 0) == 2 and sentence.dtype.kind in "buif":
            return VectorMap()
        if not isinstance(sentence, Iterable):
            raise CorpusError(f"sentence {number}: expected a list of tokens, got {type(sentence).__name__}")
        for token in sentence:
            if isinstance(token, (dict, set, frozenset)):
                return AttributeMap()
            if isinstance(token, (str, tuple, list)):
                return TemplateMap(Templates.preset(preset))
            raise CorpusError(
                f"sentence {number}: expected tokens as text, tuples of text, dicts of attributes or rows of numbers, "
                f"got {type(token).__name__}"
            )
    return TemplateMap(Templates.preset(preset))


def restored_feature_map(file: ModelFile) -> FeatureMap:
    """The feature map that a model file holds."""
    from margent.spectral.symbol_map import SymbolMap

    maps: tuple[type[FeatureMap], ...] = (TemplateMap, AttributeMap, VectorMap, KernelMap, SymbolMap)
    kinds = {kind.kind: kind for kind in maps}
    return kinds[file.value("features", str, choices=tuple(kinds))].restored(file)
