"""The parser against UDPipe 1 (Straka and Straková 2017), both trained on the same treebanks by the same command.

    pip install ufal.udpipe gensim
    python -m benchmarks.versus.udpipe [--treebanks english-ewt chinese-gsd] [--tags gold own]
                                       [--sides udpipe eisner beam8 beam1] [--iterations 30]
                                       [--part test] [--core 0] [--data DIR] [--quick]

Both sides learn from the words of the training part (form, lemma, tags, head, label) and are scored by the same
function on the words of the test part: with gold tags, or with tags that each side has learned itself from the same
words. UDPipe is trained with the parameters that its authors publish for these treebanks, and as they do with word
embeddings that were made of the training data before (word2vec, here that of gensim); its lemmatizer is left out, as
its parser does not look at lemmas. We are trained with our defaults, and taggers
that look two tags back, which are better on development data. Both sides are given the development data.

Each training and each parse is a process of its own, pinned to one core. Seconds are of the processor, of the training
or the parsing alone, without starting, reading and writing; memory is the most that the process had. UDPipe needs an
hour or two for English. So each row is written as soon as it is there, with commit, date and parameters, into
benchmarks/results/udpipe.json, and rows of other treebanks, tags and sides stay. `--quick`: a few hundred sentences and
passes, and development data in place of test data, to see that everything works; writes nothing.
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.machine import describe_machine
from benchmarks.rows import add_row, publish, rows_of
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
DEFAULT_SEARCHES = ("eisner", "beam8", "beam1")
QUICK = {"train": 300, "dev": 100, "test": 100}
RESULTS = Path(__file__).resolve().parents[1] / "results" / "udpipe.json"

_PARSER = "embedding_form=50;embedding_upostag=20;embedding_feats=20;embedding_deprel=20;learning_rate_final=0.001"
_PARSER += (
    ";hidden_layer=200;batch_size=10;transition_system=projective;transition_oracle=dynamic;structured_interval=8"
)
_TAGGER = "models=1;templates=tagger;guesser_suffix_rules=12;guesser_prefixes_max=0;use_lemma=1;provide_lemma=0"
_TAGGER += ";use_xpostag=1;provide_xpostag=1;use_feats=1;provide_feats=1;prune_features=0"
PUBLISHED = {
    "english-ewt": (f"{_TAGGER};guesser_enrich_dictionary=6", f"{_PARSER};learning_rate=0.01;l2=0.5"),
    "chinese-gsd": (f"{_TAGGER};guesser_enrich_dictionary=5", f"{_PARSER};learning_rate=0.02;l2=0.3"),
}
"""Parameters of tagger and parser in training/models-ud-2.0 of UDPipe's repository."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--treebanks", nargs="+", choices=TREEBANKS, default=TREEBANKS)
    parser.add_argument("--sides", nargs="+", choices=("udpipe", *SEARCHES), default=("udpipe", *DEFAULT_SEARCHES))
    parser.add_argument("--tags", nargs="+", choices=("gold", "own"), help="default: both; with --quick gold tags")
    parser.add_argument("--iterations", type=int, default=30, help="of UDPipe's parser; published: 30, its default: 10")
    parser.add_argument("--part", choices=("dev", "test"), default="test", help="what is scored")
    parser.add_argument("--core", type=int, default=0)
    parser.add_argument("--data", help="folder of the data sets (default: as MARGENT_DATA says)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--table", action="store_true", help="only put what was measured into docs/parser.md again")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--child", nargs=5, metavar=("STEP", "FOLDER", "TREEBANK", "TAGS", "SIDE"),
                        help=argparse.SUPPRESS)  # fmt: skip
    options = parser.parse_args()
    if options.child:
        step, folder, treebank, tags, side = options.child
        print(json.dumps(STEPS[step](Step(Path(folder), treebank, tags, side, options.iterations, options.quick))))
        return
    if options.table:
        publish("parser.md", "udpipe", table(rows_of(options.out)))
        return
    options.tags = options.tags or (("gold",) if options.quick else ("gold", "own"))
    for treebank in options.treebanks:
        for row in compare(treebank, options):
            print(line_of(row), flush=True)
            if not options.quick:
                add_row(options.out, row, _KEY)
    if not options.quick:
        print(f"\nwritten to {os.path.relpath(options.out)}")
        if options.out == RESULTS:
            publish("parser.md", "udpipe", table(rows_of(RESULTS)))


_KEY = ("treebank", "tags", "side", "part")


def table(rows: list[dict[str, Any]]) -> str:
    """As docs/parser.md has it."""
    rows = [row for row in rows if row["part"] == "test"]
    lines = [
        "| treebank | tags | parser | UAS | LAS | CLAS | training, s | words/s | MB to train | to parse | model |",
        "| --- | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for row in sorted(rows, key=lambda row: (TREEBANKS.index(row["treebank"]), row["tags"], row["side"] != "udpipe")):
        scores = " | ".join(f"{100 * row[name]:.2f}" for name in ("uas", "las", "clas"))
        costs = " | ".join(
            f"{row[name]:,.0f}" for name in ("train_seconds", "tokens_per_second", "train_megabytes", "parse_megabytes")
        )
        name = "UDPipe 1" if row["side"] == "udpipe" else row["side"]
        lines.append(
            f"| {row['treebank']} | {row['tags']} | {name} | {scores} | {costs} | {row['model_megabytes']:.0f} |"
        )
    return "\n".join(lines)


def line_of(row: dict[str, Any]) -> str:
    who = f"{row['treebank']:12} {row['tags']:4} {row['side']:8}"
    trained = f"training {row['train_seconds']:.0f} s and {row['train_megabytes']:.0f} MB"
    parsed = f"parsing {row['tokens_per_second']:,.0f} words/s and {row['parse_megabytes']:.0f} MB"
    scores = f"UAS {100 * row['uas']:.2f}, LAS {100 * row['las']:.2f}"
    return f"{who} {scores}, {trained}, {parsed}, model {row['model_megabytes']:.1f} MB"


def compare(treebank: str, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Scores, times and memory of both sides on one treebank."""
    data = load_ud_dependencies(treebank, data_home=options.data)
    scored = data.dev if options.part == "dev" or options.quick else data.test
    assert data.dev is not None and scored is not None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part, given in (("train", data.train), ("dev", data.dev), ("test", scored)):
            n = QUICK[part] if options.quick else len(given.X)
            write_dependencies(folder / f"{part}.conllu", list(given.X)[:n], list(given.y)[:n])
        X, gold = read_dependencies(folder / "test.conllu")
        for tags in options.tags:
            for side in options.sides:
                who = "udpipe" if side == "udpipe" else "margent"
                trained, parsed = (
                    child(f"{who}-{step}", folder, treebank, tags, side, options) for step in ("train", "parse")
                )
                report = dependency_scores(gold, read_dependencies(folder / "found.conllu", single_root=False)[1], X)
                yield {
                    "treebank": treebank,
                    "tags": tags,
                    "side": side,
                    "part": options.part,
                    "parameters": trained.pop("parameters"),
                    "uas": report.uas,
                    "las": report.las,
                    "clas": report.clas,
                    "las_without_punctuation": report.without_punctuation.las,
                    "train_seconds": trained["seconds"],
                    "train_megabytes": trained["megabytes"],
                    "tokens_per_second": report.counts.words / parsed["seconds"],
                    "parse_megabytes": parsed["megabytes"],
                    "model_megabytes": (folder / "model").stat().st_size / 1e6,
                    "machine": describe_machine(),
                }


def child(step: str, folder: Path, treebank: str, tags: str, side: str, options: argparse.Namespace) -> dict[str, Any]:
    """One step in a process of its own on one core."""
    command = [sys.executable, "-m", "benchmarks.versus.udpipe", "--child", step, str(folder), treebank, tags, side]
    command += ["--iterations", str(options.iterations), *(["--quick"] if options.quick else [])]
    found = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, {options.core}),
        cwd=Path(__file__).resolve().parents[2],
    )
    result: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return result


class Step(NamedTuple):
    """What a process is to do, and where; iterations: of UDPipe's parser."""

    folder: Path
    treebank: str
    tags: str
    side: str
    iterations: int
    quick: bool


def measured(begin: float) -> dict[str, Any]:
    """The processor's seconds since then, and the most memory that this process had."""
    seconds = time.process_time() - begin
    return {"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def udpipe_train(step: Step) -> dict[str, Any]:
    from ufal import udpipe

    train, dev = (udpipe.Sentences(_udpipe_sentences(step.folder / f"{part}.conllu")) for part in ("train", "dev"))
    tagger, parser = PUBLISHED[step.treebank]
    tagger = "none" if step.tags == "gold" else f"{tagger};iterations={2 if step.quick else 20}"
    parser += f";iterations={2 if step.quick else step.iterations}"
    begin = time.process_time()
    vectors = _word_vectors(step.folder)
    error = udpipe.ProcessingError()
    given = f"{parser};embedding_form_file={vectors}"
    model = udpipe.Trainer.train("morphodita_parsito", train, dev, "none", tagger, given, error)
    if error.occurred():
        raise RuntimeError(error.message)
    result = measured(begin)
    (step.folder / "model").write_bytes(model)
    return result | {"parameters": {"tagger": tagger, "parser": parser}}


def _word_vectors(folder: Path) -> Path:
    """Made of the training data, as UDPipe's manual says that its models are made."""
    from gensim.models import Word2Vec

    forms = [
        [word[0].replace(" ", "\N{NO-BREAK SPACE}") for word in x]
        for x in read_dependencies(folder / "train.conllu")[0]
    ]
    made = Word2Vec(
        forms, sg=1, vector_size=50, window=10, negative=5, sample=0.1, epochs=15, min_count=2, workers=1, seed=0
    )
    made.wv.save_word2vec_format(str(folder / "vectors"))
    return folder / "vectors"


def udpipe_parse(step: Step) -> dict[str, Any]:
    from ufal import udpipe

    model = udpipe.Model.load(str(step.folder / "model"))
    sentences = _udpipe_sentences(step.folder / "test.conllu")
    for sentence in sentences:
        sentence.unlinkAllNodes()
    error = udpipe.ProcessingError()
    begin = time.process_time()
    for sentence in sentences:
        if step.tags == "own":
            model.tag(sentence, udpipe.Pipeline.DEFAULT, error)
        model.parse(sentence, udpipe.Pipeline.DEFAULT, error)
        if error.occurred():
            raise RuntimeError(error.message)
    result = measured(begin)
    output = udpipe.OutputFormat.newConlluOutputFormat()
    text = "".join(output.writeSentence(sentence) for sentence in sentences)
    (step.folder / "found.conllu").write_text(text, encoding="utf-8")
    return result


def _udpipe_sentences(path: Path) -> list[Any]:
    from ufal import udpipe

    reader, sentences = udpipe.InputFormat.newConlluInputFormat(), []
    reader.setText(path.read_text(encoding="utf-8"))
    error, sentence = udpipe.ProcessingError(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return sentences


def margent_train(step: Step) -> dict[str, Any]:
    (X, y), (X_dev, y_dev) = (read_dependencies(step.folder / f"{part}.conllu") for part in ("train", "dev"))
    tagger = Tagger("pos", order=2, search=Beam(8)) if step.tags == "own" else None
    parser = Parser(**SEARCHES[step.side], tagger=tagger, calibration=0, threads=1)
    if step.quick:
        parser.set_params(learner__epochs=2)
    begin = time.process_time()
    parser.fit(X, y, X_dev=X_dev, y_dev=y_dev, progress=False)
    result = measured(begin)
    parser.save(step.folder / "model", compact=True)
    return result | {"parameters": {"parser": repr(parser), "learner": repr(parser.resolved("learner"))}}


def margent_parse(step: Step) -> dict[str, Any]:
    parser = load(step.folder / "model").set_params(threads=1)
    X, _ = read_dependencies(step.folder / "test.conllu")
    parser.predict(X[:1])
    begin = time.process_time()
    found = parser.predict(X)
    result = measured(begin)
    write_dependencies(step.folder / "found.conllu", X, found)
    return result


STEPS = {
    "udpipe-train": udpipe_train,
    "udpipe-parse": udpipe_parse,
    "margent-train": margent_train,
    "margent-parse": margent_parse,
}


if __name__ == "__main__":
    main()
