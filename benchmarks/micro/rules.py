"""How long it takes to extract the rules of a translator, and what comes of it.

    python -m benchmarks.micro.rules [--threads 1 2] [--out benchmarks/results/rules.json]

Extracts hierarchical rules from all 26,702 training pairs of Tatoeba Chinese-English with their automatic alignments,
with what each sentence adds, and prints seconds, rules and size of the table for several limits.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from benchmarks.machine import describe_machine
from margent import RuleExtraction, RuleTable
from margent.datasets import load_tatoeba, load_tatoeba_alignments

RESULTS = Path(__file__).parents[1] / "results" / "rules.json"
EXTRACTIONS = {
    "tight phrases": RuleExtraction(),
    "tight phrases, 30 translations each": RuleExtraction(max_targets=30),
    "loose phrases": RuleExtraction(tight=False),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    data, alignments = load_tatoeba(), load_tatoeba_alignments()
    rows = []
    for name, extraction in EXTRACTIONS.items():
        for threads in options.threads:
            wall, processor = time.perf_counter(), time.process_time()
            table, _ = RuleTable.extracted(
                data.train.X, data.train.y, alignments, extraction, left_out=True, threads=threads
            )
            row = {
                "limits": name,
                "threads": threads,
                "seconds": round(time.perf_counter() - wall, 2),
                "processor_seconds": round(time.process_time() - processor, 2),
                "rules": len(table),
                "megabytes": round(sum(array.nbytes for array in table.arrays) / 1e6, 1),
            }
            rows.append(row)
            print("  ".join(f"{key} {value}" for key, value in row.items()), flush=True)
    options.out.write_text(json.dumps({"machine": describe_machine(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
