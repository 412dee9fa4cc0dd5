"""The joint model against sequitur-g2p (Bisani and Ney): CMUdict's classic split, the same words, one run.

    pip install sequitur-g2p
    python -m benchmarks.versus.sequitur [--words 5000] [--order 5] [--test-words 2000] [--core 0] [--data DIR]

Both sides learn from the same words (`--words 0`: all, which takes sequitur many hours) with graphones of at most one
letter and one phoneme and grow to the same order; both choose their smoothing on 5 % of these words. Both pronounce the
same test words, and are scored by the same function: any reference for words, the nearest for phonemes. Each training
and each prediction is a process of its own, pinned to one core; its processor time counts, start and reading included.

The release 1.0.1668.30 needs NumPy below 2 and an old SWIG. `REPAIRS` lets it run with recent ones: names that NumPy
has dropped, and an attribute that must not be set any more, as its makers found too (their pull request 111). Without
it sequitur does not free all memory, which bounds the number of words.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from margent.datasets import load_cmudict
from margent.formats import iter_pronunciations, write_pronunciations
from margent.metrics import transcription_scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=5000, help="to learn from; 0: all")
    parser.add_argument("--test-words", type=int, default=2000, help="0: all")
    parser.add_argument("--order", type=int, default=5)
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "sequitur.json"))
    options = parser.parse_args()
    program = shutil.which("g2p.py", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if program is None:
        parser.error("g2p.py of sequitur-g2p is not installed: pip install sequitur-g2p")
    results = {"machine": describe_machine(), **compare(options, program)}
    for name in ("sequitur", "margent"):
        row = results[name]
        print(
            f"{name:10} word error {100 * row['word_error']:.2f} %, phoneme error {100 * row['phoneme_error']:.2f} %, "
            f"training {row['train_seconds']:.1f} s, {row['words_per_second']:.0f} words/s"
        )
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten to {os.path.relpath(options.out)}")


def compare(options: argparse.Namespace, program: str) -> dict[str, Any]:
    """Errors and processor times of both sides."""
    data = load_cmudict(data_home=options.data)
    assert data.test is not None
    train = chosen(data.train.X, data.train.y, options.words)
    test = chosen(data.test.X, data.test.y, options.test_words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        entries = [(word, spoken) for word, several in train.items() for spoken in several]
        write_pronunciations(folder / "train.txt", [word for word, _ in entries], [spoken for _, spoken in entries])
        (folder / "words.txt").write_text("".join(f"{word}\n" for word in test), encoding="utf-8")

        repaired(folder)

        def run(*command: str) -> float:
            return timed(command, folder, options.core)

        sequitur = [sys.executable, program, "--encoding=UTF-8"]
        seconds = run(*sequitur, "--train=train.txt", "--devel=5%", "--size-constraints=0,1,0,1", "--write-model=1")
        for order in range(2, options.order + 1):
            given = (f"--model={order - 1}", "--ramp-up", "--train=train.txt", "--devel=5%", f"--write-model={order}")
            seconds += run(*sequitur, *given)
        applied = run(*sequitur, f"--model={options.order}", "--apply=words.txt")
        theirs = scores(test, folder / "out.txt", seconds, applied)

        margent = [sys.executable, "-m", "margent", "g2p"]
        order = str(options.order)
        seconds = run(*margent, "train", "train.txt", "--order", order, "-m", "ours", "--threads", "1")
        applied = run(*margent, "apply", "ours", "words.txt", "--threads", "1")
        ours = scores(test, folder / "out.txt", seconds, applied)
    settings = {"words": len(train), "test_words": len(test), "order": options.order}
    return {"settings": settings, "sequitur": theirs, "margent": ours}


REPAIRS = ((r"\S+\.thisown = True", "pass"), (r"num\.sometrue", "num.any"), (r"num\.alltrue", "num.all"))


def repaired(folder: Path) -> None:
    """Puts a copy of sequitur's main module that runs into the folder; PYTHONPATH finds it first."""
    source = importlib.util.find_spec("sequitur")
    assert source is not None and source.origin is not None
    text = Path(source.origin).read_text(encoding="utf-8")
    for pattern, replacement in REPAIRS:
        text = re.sub(pattern, replacement, text)
    (folder / "sequitur.py").write_text(text, encoding="utf-8")


def chosen(words: Sequence[str], pronunciations: Sequence[list[str]], limit: int) -> dict[str, list[list[str]]]:
    """Evenly spread words with all their pronunciations."""
    entries: dict[str, list[list[str]]] = defaultdict(list)
    for word, spoken in zip(words, pronunciations):
        entries[word].append(spoken)
    names = list(entries)
    step = max(1, len(names) // limit) if limit else 1
    return {name: entries[name] for name in names[::step][: limit or None]}


def timed(command: Sequence[str], folder: Path, core: int) -> float:
    """The processor time of a command; what it prints goes to out.txt."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(folder / "out.txt", "w", encoding="utf-8") as out, open(folder / "log.txt", "w") as log:
        pinned: dict[str, Any] = {"preexec_fn": lambda: os.sched_setaffinity(0, {core})}
        path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
        found: dict[str, Any] = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": path}, **pinned}
        status = subprocess.run(command, stdout=out, stderr=log, check=False, **found).returncode
    if status:
        raise RuntimeError(f"{' '.join(command)} failed:\n{(folder / 'log.txt').read_text()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def scores(test: dict[str, list[list[str]]], path: Path, trained: float, applied: float) -> dict[str, Any]:
    """A word that was not answered counts as one without phonemes."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if len(line.split()) > 1]
    found = dict(iter_pronunciations("\n".join(lines).encode())) if lines else {}
    report = transcription_scores(test.values(), [found.get(word, []) for word in test])
    return {
        "word_error": report.word_error,
        "phoneme_error": report.phoneme_error,
        "train_seconds": trained,
        "words_per_second": len(test) / applied,
    }


if __name__ == "__main__":
    main()
