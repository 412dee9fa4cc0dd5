"""The generated parts of the papers' pages, made again from the results that are there, without any training.

python -m papers.pages
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from papers.experiment import with_generated
from papers.hmsvm import report as hmsvm
from papers.kbest import report as kbest
from papers.semi_markov import report as semi_markov
from papers.spectral import report as spectral

HERE = Path(__file__).parent
REPORTS = {"hmsvm": hmsvm, "kbest": kbest, "semi_markov": semi_markov, "spectral": spectral}


def read(path: Path) -> dict[str, Any]:
    """Results as they were before they became JSON, which has no numbers as keys."""

    def restored(pairs: list[tuple[str, Any]]) -> dict[Any, Any]:
        return {int(key) if key.isdecimal() else key: value for key, value in pairs}

    found: dict[str, Any] = json.loads(path.read_text("utf-8"), object_pairs_hook=restored)
    return found


def pages() -> Iterator[tuple[Path, str]]:
    """Each page with the text that it should have."""
    for name, report in REPORTS.items():
        page = HERE / name / "README.md"
        results = read(page.parent / "results" / "results.json")
        yield page, with_generated(page.read_text("utf-8"), report.parts(results, plots="results/"))
        written = page.parent / "results" / "report.md"
        yield written, report.page(report.parts(results))


def main() -> None:
    for path, text in pages():
        if path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"{path.relative_to(HERE.parent)} is written anew")


if __name__ == "__main__":
    main()
