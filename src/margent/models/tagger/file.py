"""A tagger in a model file: what is stored, and what is checked when it comes back."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent import __version__
from margent.annotation.schemes import SCHEMES, spans
from margent.errors import CorpusError
from margent.features.choice import restored_feature_map
from margent.features.feature_map import restored_strings
from margent.features.kernel import Kernel
from margent.features.templates import Templates
from margent.learners import learner_name, learner_named
from margent.models.labels import LabelSet
from margent.models.tagger.constraints import LabelDictionary
from margent.models.tagger.label_costs import restored_costs, stored_costs
from margent.models.tagger.parameters import check_parameters
from margent.models.tagger.support import SupportSet
from margent.models.tagger.weights_choice import restored_weights
from margent.models.temperature import LARGEST, SMALLEST
from margent.storage import ModelFile

NoneType = type(None)

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger

Stored = tuple[dict[str, Any], dict[str, NDArray[Any]]]

_PLAIN = (
    *("order", "hidden", "restarts", "growth", "decode", "scheme", "beam", "update"),
    *("restrict_labels", "min_count", "calibration", "layout", "seed", "threads"),
)

# What `_set_learned` sets.
_LEARNED = (
    *("feature_map_", "weights_", "classes_", "scheme_", "history_", "best_epoch_", "interrupted_"),
    *("temperature_", "_calibrated_for", "_warned"),
    *("_labels", "_ready", "_dictionary", "_support"),
)


def stored(tagger: Tagger, *, compact: bool) -> Stored:
    """Header and arrays of a fitted tagger."""
    weights, keep, keep_edges = tagger.weights_, None, None
    if compact and tagger.feature_map_.can_drop:
        weights, keep, keep_edges = weights.without_zero_rows()
    map_header, map_arrays = tagger.feature_map_.stored(keep, keep_edges)
    weight_header, weight_arrays = weights.stored(half=compact)
    header = {
        **map_header,
        **weight_header,
        "features": tagger.feature_map_.kind,
        "structure": weights.kind,
        "labels": list(tagger.classes_),
        "found_scheme": tagger.scheme_,
        "history": tagger.history_,
        "best_epoch": tagger.best_epoch_,
        "interrupted": tagger.interrupted_,
        "temperature": float(tagger.temperature_) if tagger.calibrated_ else None,
        "parameters": _parameters(tagger),
    }
    arrays = {**map_arrays, **weight_arrays}
    if tagger._dictionary is not None:
        words, ends = tagger._dictionary.words.dump()
        arrays |= {"dictionary": words, "dictionary.ends": ends, "dictionary.pairs": tagger._dictionary.pairs}
    if tagger._support is not None and not compact:
        support_header, support_arrays = tagger._support.stored()
        header, arrays = {**header, **support_header}, {**arrays, **support_arrays}
    return header, arrays


def _parameters(tagger: Tagger) -> dict[str, Any]:
    values: dict[str, Any] = {name: _plain(getattr(tagger, name)) for name in _PLAIN}
    # These as they were in training, for they may have been set anew since.
    values["order"], values["hidden"] = tagger.weights_.order, tagger.weights_.hidden
    values["restrict_labels"] = None if tagger._dictionary is None else tagger._dictionary.min_count
    features = tagger.features
    if isinstance(features, Kernel):
        features = None if features.has_code else {"kernel": features.stored()}
    elif isinstance(features, (Templates, list, tuple)):
        features = {"templates": list(Templates(features.lines if isinstance(features, Templates) else features).lines)}
    values["features"] = None if callable(features) else features
    values["constrain"] = (
        bool(tagger.constrain)
        if tagger.constrain is None or isinstance(tagger.constrain, bool)
        else [list(pair) for pair in tagger.constrain]
    )
    values["label_costs"] = stored_costs(tagger.label_costs)
    learner = tagger.learner
    if learner is not None and not isinstance(learner, str):
        name = learner_name(learner)
        learner = None if name is None else {"name": name, **{k: _plain(v) for k, v in asdict(learner).items()}}
    values["learner"] = learner
    return values


def _plain(value: Any) -> Any:
    """What JSON can hold; a parameter search hands out numbers of numpy."""
    return value.item() if isinstance(value, np.generic) else value


def restored(kind: type[Tagger], file: ModelFile, function: Any) -> Tagger:
    """The tagger in a file, everything in it checked."""
    tagger = _with_parameters(kind, file)
    _set_learned(tagger, file)
    if function is not None:
        tagger.features = tagger.feature_map_.give_function(function)
    if tagger.weights_.order != tagger.order:
        raise file.error("its weights are of another order than its parameters say")
    if tagger.weights_.hidden != tagger.hidden:
        raise file.error("its weights are of other hidden labels than its parameters say")
    try:
        type(tagger.weights_).check(tagger)
        tagger._structure()
    except ValueError as error:
        raise file.error(str(error)) from None
    return tagger


def _set_learned(tagger: Tagger, file: ModelFile) -> None:
    """Gives a tagger what a file says was learned. Its parameters may have been set anew since, so they say nothing."""
    labels = LabelSet(file.texts("labels"))
    if not len(labels) or len(labels.ids) != len(labels) + 1:
        raise file.error("its labels should be different from each other, and at least one")
    feature_map = restored_feature_map(file)
    tagger.feature_map_ = feature_map
    tagger.weights_ = restored_weights(file, len(labels), feature_map)
    tagger._set_labels(labels, _restored_scheme(tagger, file, labels))
    tagger.history_ = file.value("history", list)
    if not all(isinstance(epoch, dict) for epoch in tagger.history_):
        raise file.error("its history should be a list of epochs")
    tagger.best_epoch_ = None if file.header.get("best_epoch") is None else file.value("best_epoch", int)
    tagger.interrupted_ = file.value("interrupted", bool)
    tagger.calibrated_ = file.header.get("temperature") is not None  # older files have none
    tagger.temperature_, tagger._warned = 1.0, False
    if tagger.calibrated_:
        tagger.temperature_ = file.value("temperature", float, minimum=SMALLEST, maximum=LARGEST)
    tagger._ready = None
    tagger._dictionary = _restored_dictionary(file, len(labels))
    tagger._support = SupportSet.restored(file, len(labels))


def _restored_scheme(tagger: Tagger, file: ModelFile, labels: LabelSet) -> str | None:
    scheme = None
    if file.header.get("found_scheme") is not None:
        scheme = file.value("found_scheme", str, choices=SCHEMES)
        try:
            spans(labels.names, scheme)
        except CorpusError:
            raise file.error(f"its labels are not in the scheme {scheme}") from None
    if tagger.scheme not in (None, scheme):
        raise file.error(f"its parameters say that its labels are in the scheme {tagger.scheme}, which they are not")
    return scheme


def _with_parameters(kind: type[Tagger], file: ModelFile) -> Tagger:
    given = dict(file.value("parameters", dict))
    try:
        features = given.pop("features", None)
        if isinstance(features, dict):
            restore = Kernel.restored if "kernel" in features else Templates
            given["features"] = restore(features["kernel" if "kernel" in features else "templates"])
        else:
            given["features"] = features
        if not isinstance(given["features"], (Templates, Kernel, str, NoneType)):
            raise TypeError(f"features should not be {features!r}")
        learner = given.pop("learner", None)
        given["learner"] = learner_named(**learner) if isinstance(learner, dict) else learner
        if not isinstance(learner, (dict, str, NoneType)):
            raise TypeError(f"learner should not be {learner!r}")
        if not isinstance(given.get("constrain"), bool):
            given["constrain"] = [(left, right) for left, right in given["constrain"]]
        given["label_costs"] = restored_costs(given.get("label_costs"))
        tagger = kind(**given)
        check_parameters(tagger)
        tagger._learner()
    except (TypeError, ValueError, KeyError) as error:
        raise file.error(f"its parameters are wrong: {error}") from None
    return tagger


def _restored_dictionary(file: ModelFile, n_labels: int) -> LabelDictionary | None:
    restricted = file.value("parameters", dict).get("restrict_labels")
    if restricted is None:
        return None
    dictionary = LabelDictionary(int(restricted))
    dictionary.words = restored_strings(file, "dictionary")
    pairs = file.array("dictionary.pairs", np.int64, (None, 3), minimum=0)
    if len(pairs) and (pairs[:, 0].max() >= len(dictionary.words) or pairs[:, 1].max() >= n_labels):
        raise file.error("its label dictionary names words or labels that it does not have")
    if (np.diff(pairs[:, 0]) < 0).any():
        raise file.error("its label dictionary is not sorted")
    dictionary.pairs = pairs
    return dictionary


def copied_state(tagger: Tagger) -> dict[str, Any]:
    """What `copy` and process pools hand on: of a fitted tagger header and arrays, and all its other attributes."""
    state: dict[str, Any] = {"attributes": {k: v for k, v in vars(tagger).items() if k not in _LEARNED}}
    if "weights_" in vars(tagger):
        state["stored"] = stored(tagger, compact=False)
        state["function"] = getattr(tagger.feature_map_, "function", None)
    return state


def set_copied_state(tagger: Tagger, state: dict[str, Any]) -> None:
    vars(tagger).update(state["attributes"])
    if "stored" in state:
        header, arrays = state["stored"]
        _set_learned(tagger, ModelFile("<memory>", "tagger", __version__, header, arrays))
        if state["function"] is not None:
            tagger.feature_map_.give_function(state["function"])
