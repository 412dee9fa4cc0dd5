"""The model file of a transcriber: what goes into it, and everything checked that comes out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from margent.learners import learner_name, learner_named
from margent.learners.em import EM
from margent.models.transcriber.joint_grams import JointGrams
from margent.models.transcriber.learned_search import LearnedSearch
from margent.models.transcriber.rescoring import N_WEIGHTS, Rescorer
from margent.parameters import LARGEST
from margent.storage import ModelFile

if TYPE_CHECKING:
    from margent.models.transcriber.transcriber import Transcriber

T = TypeVar("T", bound="Transcriber")
_LEARNED: dict[str, type[Rescorer | LearnedSearch]] = {"rescorer": Rescorer, "search": LearnedSearch}


def stored(transcriber: Transcriber) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a model file."""
    parameters = {name: _plain(value) for name, value in transcriber.get_params(deep=False).items()}
    parameters["sizes"] = [[int(number) for number in size] for size in transcriber.sizes]
    if transcriber.em is not None:
        parameters["em"] = {name: _plain(value) for name, value in asdict(transcriber.em).items()}
    learner = transcriber.learner
    if learner is not None and not isinstance(learner, str):
        name = learner_name(learner)
        values = {} if name is None else {key: _plain(value) for key, value in asdict(learner).items()}
        parameters["learner"] = None if name is None else {"name": name, **values}
        if name is None:  # of no use without it; which kind of weights there are is seen by their array
            parameters["update"] = None
    arrays = transcriber.model_.stored()
    for name, kind in _LEARNED.items():
        if isinstance(transcriber.learned_, kind):
            arrays[name] = transcriber.learned_.weights
    header = {
        "parameters": parameters,
        "history": [{name: _plain(value) for name, value in epoch.items()} for epoch in transcriber.history_],
        "interrupted": bool(transcriber.interrupted_),
        "skipped": int(transcriber.n_skipped_),
    }
    return header, arrays


def restored(kind: type[T], file: ModelFile) -> T:
    """The transcriber in a file."""
    given = dict(file.value("parameters", dict))
    try:
        em = given.get("em")
        if isinstance(em, dict):
            given["em"] = EM(**em)
        if isinstance(given.get("learner"), dict):
            given["learner"] = learner_named(**given["learner"])
        given["sizes"] = tuple((letters, phonemes) for letters, phonemes in given["sizes"])
        transcriber = kind(**given)
        transcriber._checked()
    except (TypeError, ValueError, KeyError) as error:
        raise file.error(f"its parameters are wrong: {error}") from None
    transcriber.model_ = JointGrams.restored(file)
    transcriber.learned_ = None
    for name, learned in _LEARNED.items():
        if name in file.arrays:
            weights = file.array(name, np.float32, (N_WEIGHTS,), minimum=-LARGEST, maximum=LARGEST)
            transcriber.learned_ = learned(weights)
    transcriber.history_ = file.value("history", list)
    if not all(isinstance(epoch, dict) for epoch in transcriber.history_):
        raise file.error("its history should be a list of epochs")
    transcriber.interrupted_ = file.value("interrupted", bool)
    transcriber.n_skipped_ = file.value("skipped", int, minimum=0)
    return transcriber


def _plain(value: Any) -> Any:
    """What JSON can hold; a parameter search hands out numbers of numpy."""
    return value.item() if isinstance(value, np.generic) else value
