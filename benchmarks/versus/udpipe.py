"""The parser against UDPipe 1 (Straka and Straková 2017), both trained on the same treebanks in the same run.

    pip install ufal.udpipe
    python -m benchmarks.versus.udpipe [--treebanks english-ewt chinese-gsd] [--searches eisner beam8 beam1]
                                       [--tags gold own] [--part test] [--core 0] [--data DIR] [--quick]

Both sides learn from the words of the training part (form, lemma, tags, head, label) and are scored by the same
function on the words of the test part: with gold tags, or with tags that each side has learned itself from the same
words. UDPipe is trained with its own defaults; what it does with development data, it is given them for, and so are we.
Each training and each parse is a process of its own, pinned to one core. Seconds are of the training or the parsing
alone, without starting, reading and writing; memory is the most that the process had. `--quick`: a few hundred
sentences and passes, and development data in place of test data, to see that everything works.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import describe_machine
from margent import Beam, Parser, Tagger, load, read_dependencies
from margent.datasets import load_ud_dependencies
from margent.formats import write_dependencies
from margent.metrics import dependency_scores

TREEBANKS = ("english-ewt", "chinese-gsd")
SEARCHES: dict[str, dict[str, Any]] = {
    "eisner": {"search": "eisner"},
    "mst": {"search": "mst"},
    "beam8": {"search": Beam(8)},
    "beam1": {"search": Beam(1)},
}
QUICK = {"train": 300, "dev": 100, "test": 100}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--treebanks", nargs="+", choices=TREEBANKS, default=TREEBANKS)
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=("eisner", "beam8", "beam1"))
    parser.add_argument("--tags", nargs="+", choices=("gold", "own"), help="default: both; with --quick gold tags")
    parser.add_argument("--part", choices=("dev", "test"), default="test", help="what is scored")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "results" / "udpipe.json"))
    parser.add_argument("--child", nargs=4, metavar=("STEP", "FOLDER", "TAGS", "SEARCH"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        step, folder, tags, search = options.child
        print(json.dumps(STEPS[step](Path(folder), tags, search, options.quick)))
        return
    options.tags = options.tags or (("gold",) if options.quick else ("gold", "own"))
    rows = []
    for treebank in options.treebanks:
        for row in compare(treebank, options):
            rows.append(row)
            print(line_of(row), flush=True)
    if options.quick:
        return
    results = {"machine": describe_machine(), "part": options.part, "rows": rows}
    Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    Path(options.out).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    print(f"\nwritten to {os.path.relpath(options.out)}")


def line_of(row: dict[str, Any]) -> str:
    who = f"{row['treebank']:12} {row['tags']:4} {row['side']:16}"
    trained = f"training {row['train_seconds']:.0f} s and {row['train_megabytes']:.0f} MB"
    parsed = f"parsing {row['tokens_per_second']:,.0f} words/s and {row['parse_megabytes']:.0f} MB"
    scores = f"UAS {100 * row['uas']:.2f}, LAS {100 * row['las']:.2f}"
    return f"{who} {scores}, {trained}, {parsed}, model {row['model_megabytes']:.1f} MB"


def compare(treebank: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Scores, times and memory of both sides on one treebank."""
    data = load_ud_dependencies(treebank, data_home=options.data)
    scored = data.dev if options.part == "dev" or options.quick else data.test
    assert data.dev is not None and scored is not None
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, given in (("train", data.train), ("dev", data.dev), ("test", scored)):
            n = QUICK[part] if options.quick else len(given.X)
            write_dependencies(folder / f"{part}.conllu", list(given.X)[:n], list(given.y)[:n])
        X, gold = read_dependencies(folder / "test.conllu")
        for tags in options.tags:
            for side, search in (("udpipe", "-"), *(("margent", search) for search in options.searches)):
                given_steps = (f"{side}-train", f"{side}-parse")
                trained, parsed = (child(step, folder, tags, search, options) for step in given_steps)
                report = dependency_scores(gold, read_dependencies(folder / "found.conllu", single_root=False)[1], X)
                rows.append(
                    {
                        "treebank": treebank,
                        "tags": tags,
                        "side": side if search == "-" else f"{side} {search}",
                        "uas": report.uas,
                        "las": report.las,
                        "clas": report.clas,
                        "las_without_punctuation": report.without_punctuation.las,
                        "train_seconds": trained["seconds"],
                        "train_megabytes": trained["megabytes"],
                        "tokens_per_second": report.counts.words / parsed["seconds"],
                        "parse_megabytes": parsed["megabytes"],
                        "model_megabytes": (folder / "model").stat().st_size / 1e6,
                    }
                )
    return rows


def child(step: str, folder: Path, tags: str, search: str, options: argparse.Namespace) -> dict[str, float]:
    """One step in a process of its own on one core."""
    command = [sys.executable, "-m", "benchmarks.versus.udpipe", "--child", step, str(folder), tags, search]
    command += ["--quick"] if options.quick else []
    found = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {options.core}),
        cwd=Path(__file__).resolve().parents[2],
    )
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def measured(begin: float) -> dict[str, float]:
    """The seconds since then, and the most memory that this process had."""
    seconds = time.perf_counter() - begin
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def udpipe_train(folder: Path, tags: str, search: str, quick: bool) -> dict[str, float]:
    from ufal import udpipe

    train, dev = _udpipe_sentences(folder / "train.conllu"), _udpipe_sentences(folder / "dev.conllu")
    passes = "iterations=2" if quick else ""
    tagger = "none" if tags == "gold" else passes
    begin = time.perf_counter()
    error = udpipe.ProcessingError()
    model = udpipe.Trainer.train("morphodita_parsito", train, dev, "none", tagger, passes, error)
    if error.occurred():
        raise RuntimeError(error.message)
    result = measured(begin)
    (folder / "model").write_bytes(model)
    return result


def udpipe_parse(folder: Path, tags: str, search: str, quick: bool) -> dict[str, float]:
    from ufal import udpipe

    model = udpipe.Model.load(str(folder / "model"))
    sentences = _udpipe_sentences(folder / "test.conllu")
    error = udpipe.ProcessingError()
    begin = time.perf_counter()
    for sentence in sentences:
        if tags == "own":
            model.tag(sentence, udpipe.Pipeline.DEFAULT, error)
        model.parse(sentence, udpipe.Pipeline.DEFAULT, error)
        if error.occurred():
            raise RuntimeError(error.message)
    result = measured(begin)
    output = udpipe.OutputFormat.newConlluOutputFormat()
    text = "".join(output.writeSentence(sentence) for sentence in sentences)
    (folder / "found.conllu").write_text(text, encoding="utf-8")
    return result


def _udpipe_sentences(path: Path) -> Any:
    from ufal import udpipe

    reader, sentences = udpipe.InputFormat.newConlluInputFormat(), udpipe.Sentences()
    reader.setText(path.read_text(encoding="utf-8"))
    error, sentence = udpipe.ProcessingError(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return sentences


def margent_train(folder: Path, tags: str, search: str, quick: bool) -> dict[str, float]:
    (X, y), (X_dev, y_dev) = (read_dependencies(folder / f"{part}.conllu") for part in ("train", "dev"))
    tagger = Tagger("pos") if tags == "own" else None
    parser = Parser(**SEARCHES[search], tagger=tagger, calibration=0, threads=1)
    if quick:
        parser.set_params(learner__epochs=2)
    begin = time.perf_counter()
    parser.fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    result = measured(begin)
    parser.save(folder / "model", compact=True)
    return result


def margent_parse(folder: Path, tags: str, search: str, quick: bool) -> dict[str, float]:
    parser = load(folder / "model").set_params(threads=1)
    X, _ = read_dependencies(folder / "test.conllu")
    parser.predict(X[:1])
    begin = time.perf_counter()
    found = parser.predict(X)
    result = measured(begin)
    write_dependencies(folder / "found.conllu", X, found)
    return result


STEPS = {
    "udpipe-train": udpipe_train,
    "udpipe-parse": udpipe_parse,
    "margent-train": margent_train,
    "margent-parse": margent_parse,
}


if __name__ == "__main__":
    main()
