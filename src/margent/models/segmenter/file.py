"""A segmenter in a model file: what is stored, and what is checked when it comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.features.frame_map import FrameMap
from margent.features.segment_token_map import SegmentTokenMap
from margent.learners import learner_name, learner_named
from margent.learners.maximum_likelihood import MaximumLikelihood
from margent.models.segmenter.parameters import check_segmenter
from margent.models.segmenter.weights import SegmentWeights
from margent.models.temperature import LARGEST, SMALLEST
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.segmenter.segmenter import Segmenter

_PLAIN = ("transitions", "repeat", "outside", "frame_cost", "boundary_cost", "calibration", "seed", "threads")
_BY_LABEL = ("min_duration", "max_duration", "label_costs")
_MAPS: dict[str, Any] = {"frames": FrameMap, "tokens": SegmentTokenMap}
_LIKELIHOOD = "likelihood"


def stored(segmenter: Segmenter) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a fitted segmenter."""
    map_header, map_arrays = segmenter.feature_map_.stored()
    weight_header, weight_arrays = segmenter.weights_.stored()
    header = {
        **map_header,
        **weight_header,
        "features": segmenter.feature_map_.kind,
        "labels": list(segmenter.weights_.limits.labels),
        "history": segmenter.history_,
        "best_epoch": segmenter.best_epoch_,
        "interrupted": segmenter.interrupted_,
        "temperature": float(segmenter.temperature_) if segmenter.calibrated_ else None,
        "front_end": None if segmenter.front_end_ is None else dict(segmenter.front_end_),
        "parameters": _parameters(segmenter),
    }
    return header, {**map_arrays, **weight_arrays}


def _parameters(segmenter: Segmenter) -> dict[str, Any]:
    values: dict[str, Any] = {name: _plain(getattr(segmenter, name)) for name in _PLAIN}
    for name in _BY_LABEL:
        value = getattr(segmenter, name)
        values[name] = {label: _plain(n) for label, n in value.items()} if isinstance(value, Mapping) else _plain(value)
    for name in ("learner", "start"):
        value = getattr(segmenter, name)
        if value is not None and not isinstance(value, str):
            known = _LIKELIHOOD if isinstance(value, MaximumLikelihood) else learner_name(value)
            value = None if known is None else {"name": known, **{k: _plain(v) for k, v in asdict(value).items()}}
        values[name] = value
    values["features"] = segmenter.features is not None
    return values


def _plain(value: Any) -> Any:
    """What JSON can hold; a parameter search hands out numbers of numpy."""
    return value.item() if isinstance(value, np.generic) else value


def restored(kind: type[Segmenter], file: ModelFile, function: Any) -> Segmenter:
    """The segmenter in a file, everything in it checked. `function`: the functions of segments, one or a list."""
    labels = tuple(file.texts("labels"))
    if not labels or len(set(labels)) != len(labels):
        raise file.error("its labels should be different from each other, and at least one")
    feature_map = _MAPS[file.value("features", str, choices=_MAPS)].restored(file)
    weights = SegmentWeights.restored(file, labels, feature_map.duration_features, feature_map.n_content)
    if isinstance(feature_map, SegmentTokenMap):
        functions = () if function is None else tuple(function) if isinstance(function, (list, tuple)) else (function,)
        if file.value("needs_function", bool) != bool(functions):
            raise ValueError(
                "this model was trained with functions of segments, which a file cannot hold: load(path, function=...)"
                if not functions
                else "this model was not trained with a function of segments; leave out `function`"
            )
        wanted = file.value("n_functions", int) if functions and "n_functions" in file.header else len(functions)
        if wanted != len(functions):
            raise ValueError(
                f"this model was trained with {wanted} functions of segments, got {len(functions)}: give them all, in "
                "their order, load(path, function=[...])"
            )
        feature_map.features = replace(feature_map.features, functions=functions)
    elif function is not None:
        raise ValueError("this model was not trained with a function of segments; leave out `function`")
    segmenter = _with_parameters(kind, file, feature_map)
    segmenter._set_learned(feature_map, weights)
    segmenter.history_ = file.value("history", list)
    if not all(isinstance(epoch, dict) for epoch in segmenter.history_):
        raise file.error("its history should be a list of epochs")
    segmenter.best_epoch_ = None if file.header.get("best_epoch") is None else file.value("best_epoch", int)
    segmenter.interrupted_ = file.value("interrupted", bool)
    segmenter.calibrated_ = file.header.get("temperature") is not None
    segmenter.temperature_ = 1.0
    if segmenter.calibrated_:
        segmenter.temperature_ = file.value("temperature", float, minimum=SMALLEST, maximum=LARGEST)
    segmenter.front_end_ = None if file.header.get("front_end") is None else file.value("front_end", dict)
    return segmenter


def _with_parameters(kind: type[Segmenter], file: ModelFile, feature_map: Any) -> Segmenter:
    given = dict(file.value("parameters", dict))
    try:
        given["features"] = feature_map.features if given.pop("features", False) else None
        for name in ("learner", "start"):
            value = given.get(name)
            if isinstance(value, dict):
                parameters = dict(value)
                chosen = parameters.pop("name")
                given[name] = (
                    MaximumLikelihood(**parameters) if chosen == _LIKELIHOOD else learner_named(chosen, **parameters)
                )
        segmenter = kind(**given)
        check_segmenter(segmenter, None)
    except (TypeError, ValueError, KeyError) as error:
        raise file.error(f"its parameters are wrong: {error}") from None
    return segmenter
