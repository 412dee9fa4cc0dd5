"""What loading a large model costs: read into memory, as `margent.load` does it, and mapped (`mmap=True`).

    python -m benchmarks.micro.loading --features 1000000

A tagger with so many features and 23 labels is saved to a temporary folder and loaded some times; printed are the
processor time of the fastest, in seconds, and the size of the file.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    import margent

    X = [[f"w{i + j}" for j in range(100)] for i in range(0, options.features, 100)]
    y = [[f"L{(7 * i + j) % 23}" for j in range(100)] for i in range(len(X))]
    tagger = margent.Tagger(["U:%x[0,0]", "B"], margent.Perceptron(epochs=1)).fit(X, y, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        tagger.save(path)
        print(f"{path.stat().st_size / 2**20:.0f} MiB")
        for name, mapped in (("read into memory", False), ("mapped", True)):
            times = []
            for _ in range(options.repeats):
                began = time.process_time()
                margent.load(path, mmap=mapped)
                times.append(time.process_time() - began)
            print(f"{name:18}{min(times):8.2f} s")


if __name__ == "__main__":
    main()
