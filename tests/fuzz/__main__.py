"""`python -m tests.fuzz`: forged model files and damaged corpora by the thousand, with limits of time and memory.

    python -m tests.fuzz --cases 1000                     so many of each target
    python -m tests.fuzz --total 1000000 --seed 7         so many of all together
    python -m tests.fuzz --only tagger --only npz         targets whose names begin so
    python -m tests.fuzz --only tagger/hidden --case 123  one case again, with its traceback

Prints a line for each fault that was not seen before, then how many cases of each target were run and refused. Ends
with status 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.verdict import fault
from tests.fuzz.workers import Limits, Outcome, all_targets, dice_of, run_case, run_cases

_PIECE = 500
"""Cases of a target before the next one has its turn."""
_ONE_ARENA = -8
"""M_ARENA_MAX of glibc: what threads reserve and do not use would count as memory."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=200, metavar="N", help="of each target (default: 200)")
    parser.add_argument("--total", type=int, metavar="N", help="of all targets together, instead")
    parser.add_argument("--seed", type=int, default=0, help="other cases (default: 0)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="targets whose names begin so")
    parser.add_argument("--case", type=int, metavar="NUMBER", help="this case alone, in this process")
    parser.add_argument("--keep", metavar="FOLDER", help="with --case: write the file there")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="of processor time, of each case")
    parser.add_argument("--megabytes", type=int, default=Limits.megabytes, help="of memory, of each case")
    parser.add_argument("--minutes", type=float, metavar="N", help="stop after so long")
    parser.add_argument("--report", metavar="FILE", help="write counts and faults there as JSON")
    arguments = parser.parse_args()
    targets = [t for t in all_targets() if not arguments.only or t.name.startswith(tuple(arguments.only))]
    if not targets:
        parser.error("no target has a name that begins so")
    if arguments.case is not None:
        return _again(targets[0], arguments)
    if sys.platform == "linux":
        ctypes.CDLL(None).mallopt(_ONE_ARENA, 1)
    for target in targets:
        target.prepare()
    wanted = arguments.cases if arguments.total is None else -(-arguments.total // len(targets))
    limits = Limits(arguments.seconds, arguments.megabytes)
    outcomes = {target.name: Outcome(target.name) for target in targets}
    seen: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    for first in range(0, wanted, _PIECE):
        for target in targets:
            if arguments.minutes is not None and time.monotonic() - began > 60 * arguments.minutes:
                break
            found = run_cases(target, arguments.seed, range(first, min(first + _PIECE, wanted)), limits)
            known = outcomes[target.name]
            outcomes[target.name] = Outcome(
                target.name, known.cases + found.cases, known.refused + found.refused, known.findings + found.findings
            )
            for finding in found.findings:
                kind = target.name.partition("/")[0], finding.what
                seen[kind] += 1
                if seen[kind] == 1:
                    print(f"{finding.target} case {finding.case}: {finding.what}", flush=True)
        if arguments.report:
            _write(arguments.report, outcomes, seen, arguments.seed)
    for outcome in outcomes.values():
        print(f"{outcome.target:40} {outcome.cases:9,} cases, {outcome.refused:9,} refused", end="")
        print(f", {len(outcome.findings)} FAULTS" if outcome.findings else "")
    total = sum(outcome.cases for outcome in outcomes.values())
    print(f"{total:,} cases in {time.monotonic() - began:.0f} s, {sum(seen.values())} faults of {len(seen)} kinds")
    return 1 if seen else 0


def _again(target: object, arguments: argparse.Namespace) -> int:
    if arguments.keep:
        raw = target.forged(dice_of(arguments.seed, target.name, arguments.case))
        path = Path(arguments.keep) / f"{target.name.replace('/', '-')}-{arguments.case}"
        path.write_bytes(raw)
        print(f"wrote {path} ({len(raw)} bytes)")
    with tempfile.TemporaryDirectory() as folder:
        error = run_case(target, arguments.seed, arguments.case, Path(folder))
    if error is None:
        print(f"{target.name} case {arguments.case}: sound")
        return 0
    traceback.print_exception(error)
    what = fault(error)
    print(f"{target.name} case {arguments.case}: {what or 'refused in one sentence'}")
    return 1 if what else 0


def _write(path: str, outcomes: dict[str, Outcome], seen: Counter[tuple[str, str]], seed: int) -> None:
    """A report so far."""
    whole = {
        "seed": seed,
        "cases": {name: [outcome.cases, outcome.refused] for name, outcome in outcomes.items()},
        "faults": [vars(finding) for outcome in outcomes.values() for finding in outcome.findings[:20]],
        "counts": [[*kind, count] for kind, count in seen.most_common()],
    }
    Path(path).write_text(json.dumps(whole, indent=1), encoding="utf-8")


sys.exit(main())
