"""A few cases of every target, and the fuzzer itself: it finds what it looks for."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fuzz.format_targets import reader_targets
from tests.fuzz.model_bytes import packed
from tests.fuzz.model_targets import ModelTarget, model_targets
from tests.fuzz.workers import Limits, run_case, run_cases

import margent
from margent.errors import CorpusError
from margent.formats.registry import all_formats
from margent.models.loading import KINDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")

MODELS, READERS = list(model_targets()), list(reader_targets())
GENEROUS = Limits(seconds=20, megabytes=512)
"""For tests: other work on the machine must not look like a fault."""


def test_every_kind_of_model_and_every_format_is_a_target() -> None:
    names = [target.name for target in (*MODELS, *READERS)]
    assert len(set(names)) == len(names)
    assert {name.partition("/")[0] for name in names if name.endswith("/battery")} == set(KINDS)
    for format in all_formats():
        for way in (["read"] if format.read else []) + (["stream"] if format.stream else []):
            assert f"{format.name}/{format.gives}/{way}" in names


@pytest.mark.parametrize("kind", KINDS)
def test_no_forged_model_file_does_more_than_raise_the_right_error(kind: str) -> None:
    outcomes = [run_cases(target, 1, range(12), GENEROUS) for target in MODELS if target.name.startswith(f"{kind}/")]
    assert not [finding for outcome in outcomes for finding in outcome.findings]
    cases, refused = (sum(getattr(outcome, name) for outcome in outcomes) for name in ("cases", "refused"))
    assert cases == 12 * len(outcomes) and cases / 4 < refused < cases  # neither all sound nor all beyond repair


def test_no_damaged_file_of_any_format_does_more_than_raise_the_right_error() -> None:
    outcomes = [run_cases(target, 1, range(12), GENEROUS) for target in READERS]
    assert not [finding for outcome in outcomes for finding in outcome.findings]
    assert sum(outcome.refused for outcome in outcomes) > 100


@pytest.mark.parametrize("target", [MODELS[0], *READERS[:1]], ids=lambda target: target.name)
def test_a_case_follows_from_its_number(target: Any) -> None:
    assert target.forged(random.Random(5)) == target.forged(random.Random(5))
    assert len({target.forged(random.Random(number)) for number in range(20)}) > 15


@pytest.mark.parametrize("target", MODELS[:3], ids=lambda target: target.name)
def test_without_a_change_the_file_is_sound(target: ModelTarget, tmp_path: Path) -> None:
    path = tmp_path / "m"
    path.write_bytes(packed(target.file.kind, target.file.header, target.file.arrays))
    model = margent.load(path)
    path.write_bytes(target.raw)
    assert model.predict(target.X) == margent.load(path).predict(target.X)


@dataclass(frozen=True)
class Bad:
    """A reader that does what it must not in its third case."""

    does: Callable[[], Any]
    name: str = "bad"

    def prepare(self) -> None: ...

    def forged(self, dice: random.Random) -> bytes:
        return bytes([dice.randrange(256)])

    def run(self, path: Path, dice: random.Random) -> None:
        count = path.with_name("count")
        before = len(count.read_bytes()) if count.exists() else 0
        count.write_bytes(b"x" * (before + 1))
        if before == 2:
            self.does()


def _spin() -> None:
    while True:
        pass


def _deaf() -> None:
    """As native code that does not come back: signals wait."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPROF])
    _spin()


@pytest.mark.parametrize(
    ("does", "what"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "crash: SIGSEGV"),
        (lambda: os._exit(0), "the worker ended with status 0"),
        (_spin, "stall: "),
        (_deaf, "stall: native code does not come back"),
        (lambda: np.ones(1 << 27), "memory: "),
        (lambda: [][0], "IndexError: "),
        (lambda: int("x"), "ValueError: "),  # not raised by us
        (lambda: margent.load(__file__), None),
        (lambda: margent.Tagger().predict([]), None),
    ],
)
def test_each_kind_of_fault_is_found_and_the_cases_after_it_are_run(does: Callable[[], Any], what: str | None) -> None:
    outcome = run_cases(Bad(does), 0, range(6), Limits(seconds=0.3, megabytes=256))
    assert outcome.cases == 6
    if what is None:
        assert not outcome.findings and outcome.refused == 1
    else:
        (finding,) = outcome.findings
        assert finding.case == 2 and finding.what.startswith(what)


def test_what_a_case_may_do_depends_on_nothing_before_it(tmp_path: Path) -> None:
    """So that a fault can be looked at by itself."""
    target = READERS[0]
    once = [repr(run_case(target, 3, case, tmp_path)) for case in range(30)]
    again = [repr(run_case(target, 3, case, tmp_path)) for case in reversed(range(30))][::-1]
    assert once == again and len(Counter(once)) > 5


@pytest.mark.parametrize("text", ["x" * 10**6, "\n".join("x" * 100 for _ in range(100))])
@pytest.mark.parametrize("quoted", [repr, str])
def test_messages_stay_sentences_whatever_they_quote(text: str, quoted: Callable[[str], str]) -> None:
    message = str(CorpusError(f"file.txt, line 7: expected a number, got {quoted(text)}, which is none"))
    assert "\n" not in message
    assert len(message) < 700 and message.startswith("file.txt, line 7: ") and message.endswith("which is none")
