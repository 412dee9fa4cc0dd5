"""Signals that wait: what was learned is not lost to a Ctrl-C at the wrong moment."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from tests.contracts.test_models import CASES

from margent.held_signals import HeldSignals
from margent.models import fitted


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


def test_a_signal_is_noted_while_closed_and_a_second_one_is_not() -> None:
    with HeldSignals(closed=True) as held:
        ctrl_c()
        assert held.came
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
    with HeldSignals(closed=False) as held, pytest.raises(KeyboardInterrupt):
        ctrl_c()
    assert not held.came
    with pytest.raises(KeyboardInterrupt):  # the handlers are those of before
        ctrl_c()


def test_what_is_opened_hears_of_what_came_before() -> None:
    with HeldSignals(closed=True) as held:
        with held.opened():
            pass
        ctrl_c()
        with pytest.raises(KeyboardInterrupt), held.opened():
            pytest.fail("it was begun")
        assert held.closed


def test_handlers_that_do_not_raise_are_called_at_once() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with HeldSignals(closed=True) as held:
            signal.raise_signal(signal.SIGTERM)
            assert heard == [signal.SIGTERM] and not held.came
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("kind", CASES)
def test_ctrl_c_after_the_last_epoch_keeps_the_model(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the model is made of what was learned."""
    case, made = CASES[kind], fitted.learned_fields

    def interrupted(*given: Any) -> dict[str, Any]:
        ctrl_c()
        return made(*given)

    monkeypatch.setattr(f"{case.model.__module__.rpartition('.')[0]}.problem.learned_fields", interrupted)
    model = type(case.model)(**case.model.get_params(deep=False)).fit(case.X, case.y, progress=False)
    assert model.interrupted_ and model.history_
    monkeypatch.undo()
    straight = type(case.model)(**case.model.get_params(deep=False)).fit(case.X, case.y, progress=False)
    assert model.predict(case.X) == straight.predict(case.X) and not straight.interrupted_
