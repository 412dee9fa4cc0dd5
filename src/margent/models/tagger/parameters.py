"""Checks of what a tagger was told: one sentence that names parameter, wanted and got."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

from margent.annotation.schemes import SCHEMES
from margent.models.tagger.decoding import DECODINGS
from margent.models.tagger.label_costs import check_label_costs
from margent.parameters import check_count
from margent.structures.beam_oracle import UPDATES

if TYPE_CHECKING:
    from margent.models.tagger.tagger import Tagger


MOST_HIDDEN = 256
"""No label may stand for more hidden ones."""


def check_parameters(tagger: Tagger) -> None:
    """All parameters that can be checked before the data are seen, but for features and learner."""
    for name, least in (("order", 1), ("hidden", 1), ("restarts", 1), ("min_count", 1), ("seed", 0)):
        check_count(f"{name} of Tagger", getattr(tagger, name), least)
    for name in ("restrict_labels", "threads", "beam"):
        check_count(f"{name} of Tagger", getattr(tagger, name), 1, optional=True)
    _check_hidden(tagger)
    check_decode(tagger.decode)
    check_label_costs(tagger.label_costs)
    share = tagger.calibration
    if share is not None and (isinstance(share, bool) or not isinstance(share, Real) or not 0 <= share < 1):
        raise ValueError(f"calibration of Tagger should be a share from 0 to less than 1, or None, got {share!r}")
    _check_constrain(tagger.constrain)
    if tagger.update not in UPDATES:
        raise ValueError(f"update of Tagger should be one of {', '.join(UPDATES)}, got {tagger.update!r}")
    if tagger.layout not in ("auto", "dense", "sparse"):
        raise ValueError(f"layout of Tagger should be auto, dense or sparse, got {tagger.layout!r}")
    if tagger.scheme is not None and tagger.scheme not in SCHEMES:
        raise ValueError(f"scheme of Tagger should be one of {', '.join(SCHEMES)} or None, got {tagger.scheme!r}")


def _check_hidden(tagger: Tagger) -> None:
    if tagger.hidden > MOST_HIDDEN:
        raise ValueError(f"hidden of Tagger should be at most {MOST_HIDDEN}, got {tagger.hidden}")
    if tagger.growth not in (None, "split-merge"):
        raise ValueError(f"growth of Tagger should be split-merge or None, got {tagger.growth!r}")
    if tagger.growth is not None and tagger.restarts > 1:
        raise ValueError("growth of Tagger begins with labels that are not split, so that restarts make no difference")


def check_decode(decode: Any) -> None:
    if decode not in DECODINGS:
        raise ValueError(f"decode of Tagger should be one of {', '.join(DECODINGS)}, got {decode!r}")


def _check_constrain(constrain: Any) -> None:
    if constrain is None or isinstance(constrain, bool):
        return
    wanted = "constrain of Tagger should be True, False or a list of pairs of labels"
    if isinstance(constrain, str) or not isinstance(constrain, Iterable):
        raise ValueError(f"{wanted}, got {constrain!r}")
    for pair in constrain:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(map(_is_label, pair)):
            raise ValueError(f"{wanted}, got {pair!r} in it")


def _is_label(value: Any) -> bool:
    return value is None or isinstance(value, str)
