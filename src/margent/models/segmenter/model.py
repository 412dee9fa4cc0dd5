"""What a segmenter learned, as one value: its reading and writing, and the search by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from margent import _core
from margent.features.frame_map import FrameMap
from margent.features.segment_map import EncodedSegments, SegmentMap
from margent.features.segment_token_map import SegmentTokenMap
from margent.models.fitted import FittedModel, Stored, restored_training
from margent.models.inputs import as_sentences
from margent.models.segmenter.search import SegmentSearch
from margent.models.segmenter.weights import SegmentWeights
from margent.storage import ModelFile
from margent.structures.segment_scores import SegmentScores

_MAPS: dict[str, type[SegmentMap]] = {"frames": FrameMap, "tokens": SegmentTokenMap}


@dataclass(frozen=True, eq=False, kw_only=True)
class SegmenterModel(FittedModel):
    """`front_end`: how the frames were made, where a program made them of recordings; None: not known."""

    kind: ClassVar[str] = "segmenter"

    feature_map: SegmentMap
    weights: SegmentWeights
    front_end: Mapping[str, Any] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        return self.weights.limits.labels

    @property
    def function(self) -> Any:
        return self.feature_map.functions or None

    @property
    def n_features_in(self) -> int | None:
        return self.feature_map.n_dimensions

    # Search

    def native(self, data: _core.SegmentData) -> _core.SegmentModel:
        """For the sequences of some data; made once, unless their length changes it."""
        longest = min(data.longest, self.weights.limits.most)
        ready: tuple[int, _core.SegmentModel] | None = vars(self).get("_ready")
        if ready is None or ready[0] != longest:
            ready = longest, self.weights.native(longest)
            vars(self)["_ready"] = ready
        return ready[1]

    def encode(self, X: Any) -> EncodedSegments:
        return self.feature_map.encode(as_sentences(X), self.weights.limits)

    def search(
        self, encoded: EncodedSegments, threads: int, data: _core.SegmentData | None = None, **given: Any
    ) -> SegmentSearch:
        """The segmentations of encoded sequences; `given`: as for `SegmentSearch`."""
        data = encoded.data(self.weights.limits) if data is None else data
        return SegmentSearch(self.weights, encoded, threads, native=self.native(data), data=data, **given)

    def without_restrictions(self) -> SegmenterModel:
        """The same model where no duration is too short, and any label may follow any."""
        return replace(self, weights=self.weights.without_restrictions())

    def scores(self, x: Any, scale: float) -> SegmentScores:
        """What every segmentation of one sequence scores, times a scale."""
        encoded = self.encode([x])
        data = encoded.data(self.weights.limits)
        transitions, start, end, durations, begins, ends, segments = self.native(data).scores(
            data, self.weights.weights, scale
        )
        length = int(encoded.sequence_ptr[-1])
        return SegmentScores(transitions, segments, durations, begins, ends, start, end, length=length)

    # Files

    def stored(self, *, compact: bool = False) -> Stored:
        keep = self.feature_map.weighted(self.weights.parts()["content"]) if compact else None
        map_header, map_arrays = self.feature_map.stored(keep)
        weight_header, weight_arrays = self.weights.stored(keep)
        header = {
            **map_header,
            **weight_header,
            **self.stored_training(),
            "features": self.feature_map.kind,
            "labels": list(self.labels),
            "front_end": None if self.front_end is None else dict(sorted(self.front_end.items())),
        }
        return header, {**map_arrays, **weight_arrays}

    @classmethod
    def restored(cls, file: ModelFile, function: Any = None) -> SegmenterModel:
        """`function`: the functions of segments, one or a list."""
        labels = tuple(file.texts("labels"))
        if not labels or len(set(labels)) != len(labels):
            raise file.error("its labels should be different from each other, and at least one")
        feature_map = _MAPS[file.value("features", str, choices=tuple(_MAPS))].restored(file)
        weights = SegmentWeights.restored(file, labels, feature_map)
        functions = () if function is None else tuple(function) if isinstance(function, (list, tuple)) else (function,)
        _check_functions(file, functions)
        if isinstance(feature_map, SegmentTokenMap):
            feature_map.features = replace(feature_map.features, functions=functions)
        front_end = None if file.header.get("front_end") is None else file.value("front_end", dict)
        return cls(**restored_training(file), feature_map=feature_map, weights=weights, front_end=front_end)


def _check_functions(file: ModelFile, functions: tuple[Any, ...]) -> None:
    needed = file.value("features", str) == SegmentTokenMap.kind and file.value("needs_function", bool)
    if needed != bool(functions):
        raise ValueError(
            "this model was trained with functions of segments, which a file cannot hold: load(path, function=...)"
            if needed
            else "this model was not trained with a function of segments; leave out `function`"
        )
    wanted = file.value("n_functions", int) if functions and "n_functions" in file.header else len(functions)
    if wanted != len(functions):
        raise ValueError(
            f"this model was trained with {wanted} functions of segments, got {len(functions)}: give them all, in "
            "their order, load(path, function=[...])"
        )
