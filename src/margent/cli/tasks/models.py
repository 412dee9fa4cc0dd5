"""What the commands ask of models besides training and prediction, in one place."""

from __future__ import annotations

import warnings
from typing import Any


def resolved(model: Any, name: str) -> Any:
    """A parameter as the model uses it, where None or a name stands for it."""
    if hasattr(model, "resolved"):
        return model.resolved(name)
    if name == "learner":
        return model._learner() if hasattr(model, "_learner") else model._meant(name)
    return getattr(model, name)


def check_parameters(model: Any) -> None:
    """Refuses parameters before any data are read."""
    if hasattr(model, "check_parameters"):
        model.check_parameters()
    elif hasattr(model, "_checked"):
        model._checked()
    elif type(model).__name__ == "Tagger":
        from margent.models.tagger.parameters import check_parameters as check

        check(model)
    else:
        from margent.models.segmenter.parameters import check_segmenter

        check_segmenter(model, None)


def support_set(tagger: Any) -> Any:
    """The support sequences of a tagger that was learned in the dual, or None."""
    return tagger._support if hasattr(tagger, "_support") else tagger.model_.support


def joint_model(transcriber: Any) -> Any:
    """The joint model of letters and phonemes."""
    return transcriber.joint_ if hasattr(transcriber, "joint_") else transcriber.model_


def learned_decoder(transcriber: Any) -> Any:
    """The weights on top of the joint model, or None."""
    return transcriber.decoder_ if hasattr(transcriber, "decoder_") else transcriber.learned_


def keep_front_end(segmenter: Any, stored: dict[str, Any]) -> None:
    """Puts into a segmenter how its frames were made."""
    if hasattr(segmenter, "with_front_end"):
        segmenter.with_front_end(stored)
    else:
        segmenter.front_end_ = stored


def curves(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """How far probabilities can be trusted, calibrated or not; nothing where there is no way to tell."""
    from margent.errors import CalibrationWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        if hasattr(model, "reliability"):
            return dict(model.reliability(X, y))
        if type(model).__name__ != "Tagger":
            return {}
        from margent.models import reliability

        return dict(reliability(model, X, y))
