"""Parameters in model files: what goes in comes back."""

from __future__ import annotations

from margent import StructuredSVM
from margent.models.stored_parameters import restored_value, stored_value


def test_older_names_of_learners_parameters_are_read() -> None:
    learner = StructuredSVM(method="subgradient", warm_start=3.0)
    stored = stored_value(learner)
    stored["head_start"] = stored.pop("warm_start")
    assert restored_value(stored) == learner
