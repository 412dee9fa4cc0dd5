"""How much faster two threads are than one: tagging and training a conditional random field on CoNLL-2000.

    python -m benchmarks.micro.threads [--repeat 20] [--iterations 60]

Best of the repeats, in seconds of the clock, from columns in memory to labels, and from columns to a model. The machine
should have two processors and nothing else to do: how many of them the work had is printed beside. Prints the times and
writes benchmarks/results/threads.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from benchmarks.versus.crfsuite import TEMPLATES, data_path


def measured(repeat: int, work: Callable[[], object]) -> tuple[float, float]:
    """(seconds of the clock, seconds of processors), of the repeat that was fastest."""
    times = []
    for _ in range(repeat):
        clock, processors = time.perf_counter(), time.process_time()
        work()
        times.append((time.perf_counter() - clock, time.process_time() - processors))
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--iterations", type=int, default=60)
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "threads.json"))
    options = parser.parse_args()

    import margent

    X, y = margent.read_columns(data_path("conll2000/train.txt.gz")).split()
    templates = margent.Templates(TEMPLATES["conll2000"])

    def tagger(learner: Any, threads: int) -> Any:
        return margent.Tagger(features=templates, learner=learner, threads=threads)

    rows: dict[str, Any] = {}

    def compare(name: str, repeat: int, make: Callable[[int], Callable[[], object]]) -> None:
        seconds = []
        for threads in (1, 2):
            clock, processors = measured(repeat, make(threads))
            seconds.append(clock)
            rows[f"{name}, {threads} threads"] = {"seconds": clock, "processors": processors / clock}
            print(f"{name:12} {threads} threads {clock:8.3f} s on {processors / clock:.2f} processors")
        rows[f"{name}, ratio"] = seconds[0] / seconds[1]
        print(f"{name:12} ratio {seconds[0] / seconds[1]:.2f}")

    def tagging(threads: int) -> Callable[[], object]:
        model = tagger(margent.Perceptron(epochs=3), threads).fit(X, y, progress=False)
        return lambda: model.predict(X)

    def training(threads: int) -> Callable[[], object]:
        return lambda: tagger(margent.CRF(epochs=options.iterations), threads).fit(X, y, progress=False)

    compare("tag", options.repeat, tagging)
    compare("train a CRF", max(1, options.repeat // 5), training)
    Path(options.out).write_text(json.dumps({"machine": describe_machine(), "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
