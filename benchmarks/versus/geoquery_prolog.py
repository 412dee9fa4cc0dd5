"""Answers to meanings of GeoQuery against those of its own queries in Prolog, from the same facts.

    apt-get install swi-prolog-nox
    python -m benchmarks.versus.geoquery_prolog [--data DIR] [--differences N]

Both columns of geo880.tsv are answered: `lambda` by `margent.meaning.answer`, `prolog` by SWI-Prolog with the
definitions of geoquery.pl. Where the meaning asks for names, those of the things are compared.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import time
from pathlib import Path

from margent.datasets import load_geoquery_facts
from margent.meaning import answer, parse_meaning

_SUFFIXES = {"stateid": "s", "lakeid": "l", "countryid": "co", "placeid": "p"}
_TERM = re.compile(r"(\w+id)\((?:'([^']*)'|([^,()]*))(?:,(\w+))?\)|(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--differences", type=int, default=0, metavar="N", help="show so many that differ")
    options = parser.parse_args()
    folder = Path(options.data or os.environ.get("MARGENT_DATA", "."), "geoquery")
    header, *lines = (folder / "geo880.tsv").read_text(encoding="utf-8").splitlines()
    rows = [dict(zip(header.split("\t"), line.split("\t"))) for line in lines if line]
    places = {}
    for line in (folder / "typed" / "geo.consts.ont").read_text(encoding="utf-8").split():
        base, _, suffix = line.rpartition(":")
        if suffix in ("m", "lo"):
            places[base] = line
    expected = [things_in(line, places) for line in prolog([row["prolog"] for row in rows], folder)]
    facts = load_geoquery_facts(data_home=options.data)
    started, differ = time.perf_counter(), []
    for row, theirs in zip(rows, expected, strict=True):
        found = answer(parse_meaning(row["lambda"]), facts)
        ours = {found} if isinstance(found, bool) else {rounded(value) for value in found}
        if ours and all(str(value).endswith(":n") for value in ours):
            ours, theirs = {str(value)[:-2] for value in ours}, {name_of(value) for value in theirs}
        if ours != theirs:
            differ.append((row, ours, theirs))
    seconds = time.perf_counter() - started
    print(f"{len(rows) - len(differ)} of {len(rows)} answers agree; ours took {seconds:.1f} s")
    for row, ours, theirs in differ[: options.differences]:
        print(row["sentence"], row["lambda"], row["prolog"], sep="\n    ")
        print("    ours:  ", *sorted(map(str, ours))[:8])
        print("    theirs:", *sorted(map(str, theirs))[:8])


def prolog(queries: list[str], folder: Path) -> list[str]:
    """The answers as Prolog prints them."""
    facts, rules = folder / "geobase.pl", Path(__file__).with_name("geoquery.pl")
    command = ["swipl", "-q", "-g", f"consult(['{facts}', '{rules}']), answer_all, halt"]
    text = "".join(f"{query}.\n" for query in queries)
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    if len(found) != len(queries):
        raise SystemExit(f"expected {len(queries)} answers of Prolog, got {len(found)}")
    return found


def things_in(text: str, places: dict[str, str]) -> set[object]:
    """The things and numbers of a printed answer, by the names that meanings use."""
    found: set[object] = set()
    for kind, quoted, plain, code, number in _TERM.findall(text):
        name = "_".join((quoted or plain).replace(".", "").split())
        if number:
            found.add(rounded(float(number)))
        elif kind == "cityid":
            found.add(f"{name}_{code}:c")
        elif kind in ("riverid", "mountainid"):
            found.add(f"{name}_river:r" if kind == "riverid" else f"mount_{name}:m")
        else:
            found.add(places.get(name, f"{name}:p") if kind == "placeid" else f"{name}:{_SUFFIXES[kind]}")
    return found


def rounded(value: object) -> object:
    return round(float(value), 6) if isinstance(value, (int, float)) else value


def name_of(value: object) -> str:
    return re.sub(r"(_[a-z]{2})?:c$|(_river)?:r$|:[a-z]+$", "", str(value))


if __name__ == "__main__":
    main()
