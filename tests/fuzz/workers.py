"""Cases by the thousand in one process, which is replaced when a case ends it.

A worker is forked when all targets are made. Before each case it sets its own limits: processor time, and address space
beyond what it has by then. What Python can report (an exception, memory refused, an alarm) the worker writes to a pipe
and goes on. What it cannot (a signal, native code that does not come back) the parent sees by the worker's end, names
the case by the number that the worker left in shared memory, and a new worker goes on after it.

A case follows from the seed, the target's name and its number alone, so that any can be run again by itself.
"""

from __future__ import annotations

import faulthandler
import json
import mmap
import os
import random
import resource
import select
import signal
import struct
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.fuzz.verdict import fault

from margent.errors import MargentError

_WAIT = 30
"""So many times the limit of processor time may pass by the clock: the machine may be busy."""


class Target(Protocol):
    """Something that reads files: makes bad ones, and reads them."""

    @property
    def name(self) -> str: ...

    def prepare(self) -> None: ...

    def forged(self, dice: random.Random) -> bytes: ...

    def run(self, path: Path, dice: random.Random) -> None: ...


@dataclass(frozen=True)
class Limits:
    """Of one case: seconds of processor time, and memory in MiB."""

    seconds: float = 2.0
    megabytes: int = 256


@dataclass(frozen=True)
class Finding:
    """A fault: what, in which case of which target."""

    target: str
    case: int
    what: str
    trace: str = ""


@dataclass
class Outcome:
    """What came of the cases of one target."""

    target: str
    cases: int = 0
    refused: int = 0
    findings: tuple[Finding, ...] = ()


class _Stall(BaseException):
    """The alarm rang: not an `Exception`, so that no reader takes it for one of its own."""


def dice_of(seed: int, target: str, case: int) -> random.Random:
    return random.Random(f"{seed} {target} {case}")


def run_case(target: Target, seed: int, case: int, folder: Path) -> BaseException | None:
    """One case in this process, without limits: the exception that it ended with."""
    dice = dice_of(seed, target.name, case)
    path = folder / "case"
    path.write_bytes(target.forged(dice))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            target.run(path, dice)
        except Exception as error:
            return error
    return None


def run_cases(target: Target, seed: int, cases: Iterable[int], limits: Limits) -> Outcome:
    """Runs these cases of a target in workers of their own."""
    outcome, remaining = Outcome(target.name), list(cases)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="margent-fuzz-", dir=memory) as folder:
        while remaining:
            done, findings, refused = _one_worker(target, seed, remaining, limits, Path(folder))
            outcome.cases += done
            outcome.refused += refused
            outcome.findings += tuple(findings)
            remaining = remaining[done:]
    return outcome


def _one_worker(
    target: Target, seed: int, cases: list[int], limits: Limits, folder: Path
) -> tuple[int, list[Finding], int]:
    """How many of the cases were done (the one that ended the worker among them), their faults, and how many files
    were refused."""
    shared = mmap.mmap(-1, 24)  # the place of the case at work, how many were refused, whether all are done
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            _work(target, seed, cases, limits, folder, shared, writing)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(3)
    os.close(writing)
    try:
        findings, ending = _watched(child, reading, shared, limits, target.name, cases)
    finally:
        os.close(reading)
    place, refused, complete = struct.unpack("<qqq", shared[:])
    if complete:
        return len(cases), findings, refused
    return place + 1, [*findings, Finding(target.name, cases[place], ending)], refused


def _work(
    target: Target, seed: int, cases: list[int], limits: Limits, folder: Path, shared: mmap.mmap, writing: int
) -> None:
    def ring(*_: Any) -> None:
        raise _Stall

    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # callbacks of native libraries print there what they ignore

    faulthandler.disable()  # a crash is what is looked for
    signal.signal(signal.SIGPROF, ring)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    refused = 0
    for place, case in enumerate(cases):
        struct.pack_into("<qq", shared, 0, place, refused)
        _set_limits(limits)
        error: BaseException | None = None
        try:
            signal.setitimer(signal.ITIMER_PROF, limits.seconds)
            error = run_case(target, seed, case, folder)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except _Stall as stall:
            error = stall
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if error is None:
            continue
        refused += isinstance(error, MargentError)
        what = "stall" if isinstance(error, _Stall) else fault(error)
        if what is not None:
            trace = "".join(traceback.format_exception(error))[-4000:]
            line = json.dumps([case, what if what != "stall" else f"stall: {_stalled_at(error)}", trace])
            os.write(writing, line.encode() + b"\n")
    struct.pack_into("<qqq", shared, 0, len(cases) - 1, refused, 1)


def _stalled_at(error: BaseException) -> str:
    frames = [f"{Path(frame.filename).name} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return next((frame for frame in frames[2:] if frame), "?") + " ... " + frames[-2]


def _set_limits(limits: Limits) -> None:
    """The system ends the process some time after the alarm, which native code does not hear."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + 3 * limits.seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + (limits.megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))


def _watched(
    child: int, reading: int, shared: mmap.mmap, limits: Limits, target: str, cases: list[int]
) -> tuple[list[Finding], str]:
    """The faults that the worker reported, and how it ended."""
    raw, last, since = b"", -1, time.monotonic()
    stalled = False
    while True:
        ready, _, _ = select.select([reading], [], [], 1.0)
        if ready:
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            raw += piece
        place = struct.unpack_from("<q", shared)[0]
        if place != last:
            last, since = place, time.monotonic()
        elif time.monotonic() - since > _WAIT * limits.seconds and not stalled:
            stalled = True
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    findings = [Finding(target, *json.loads(line)) for line in raw.splitlines()]
    code = os.waitstatus_to_exitcode(status)
    if stalled or code == -signal.SIGXCPU:
        return findings, "stall: native code does not come back"
    return findings, f"crash: {signal.Signals(-code).name}" if code < 0 else f"the worker ended with status {code}"


def all_targets() -> Iterator[Target]:
    """Every kind of model and every reader."""
    from tests.fuzz.format_targets import reader_targets
    from tests.fuzz.model_targets import model_targets

    yield from model_targets()
    yield from reader_targets()
