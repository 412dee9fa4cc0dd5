"""What a compact model costs: file size and accuracy of `save(compact=True)` beside the full model.

    python -m benchmarks.micro.compact

Trains with the preset that suits each task and writes benchmarks/results/compact.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from benchmarks.machine import describe_machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "compact.json"))
    options = parser.parse_args()

    import margent
    from margent.datasets import load_conll2000, load_conll2002, load_ud

    tasks = {
        "CoNLL-2000 chunking": (load_conll2000(), "chunking"),
        "CoNLL-2002 Spanish NER": (load_conll2002("esp"), "ner"),
        "UD English POS": (load_ud("english-ewt"), "pos"),
    }
    rows = []
    print(f"{'':24}{'full, MiB':>12}{'compact':>10}{'score, %':>10}{'compact':>10}{'changed':>10}")
    for name, (data, preset) in tasks.items():
        tagger = margent.Tagger(features=preset).fit(*data.train)
        with tempfile.TemporaryDirectory() as folder:
            sizes, models = [], []
            for compact in (False, True):
                path = Path(folder) / f"model{compact}"
                tagger.save(path, compact=compact)
                sizes.append(path.stat().st_size / 2**20)
                models.append(margent.load(path))
        scores = [100 * model.score(*data.test) for model in models]
        labels = [[label for sentence in model.predict(data.test.X) for label in sentence] for model in models]
        changed = sum(a != b for a, b in zip(*labels)) / len(labels[0])
        rows.append({"task": name, "mib": sizes, "score": scores, "changed_labels": changed})
        print(f"{name:24}{sizes[0]:12.1f}{sizes[1]:10.1f}{scores[0]:10.3f}{scores[1]:10.3f}{changed:10.2%}")
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps({"machine": describe_machine(), "rows": rows}, indent=2) + "\n")
    print(f"written to {os.path.relpath(options.out)}")


if __name__ == "__main__":
    main()
