"""`margent g2p`: learn to pronounce words, and do it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.options import add_threads, not_negative, share, whole
from margent.structures.beam_oracle import UPDATES

if TYPE_CHECKING:
    from margent.models.transcriber.options import AlignmentBeam
    from margent.models.transcriber.transcriber import Transcriber

_EXAMPLES = """\
ACTION is one of
  train     learn from dictionaries:        margent g2p train cmudict.txt -m english.margent
  apply     pronounce words, one a line:    margent g2p apply english.margent words.txt
  align     cut dictionary entries in units: margent g2p align english.margent cmudict.txt
  evaluate  word and phoneme error:         margent g2p evaluate english.margent test.txt

Dictionaries have a word and its phonemes on each line, between blanks or after a tab, gzip or not; CMUdict's own format
is read as it is: ';;;' before comments, 'WORD(2)' for a second pronunciation. Without FILE, standard input is read.

'apply' writes the word, a tab and its phonemes; with --k also the probability, after another tab. 'align' writes the
word, a tab and its units, as in ph:F o:- e:IY n:N i:IH x:K+S.

examples:
  margent g2p train cmudict.txt --dev dev.txt --order 8 -m english.margent
  margent g2p train cmudict.txt --learner mira --learner-option C=0.01 --learner-option epochs=3 -m english.margent
  margent g2p train cmudict.txt --learner mira --learner-option C=0.01 --update skip --beam 20 -m english.margent
  margent g2p train cmudict.txt --learner crf --learner-option search=beam --learner-option l2=10 -m english.margent
  echo phoenix | margent g2p apply english.margent --k 3
"""
ACTIONS = ("train", "apply", "align", "evaluate")
_TRAIN_ONLY = (
    *("model", "dev", "order", "em_beam", "em_option", "sizes", "held_out", "learner", "update", "learner_option"),
    *("candidates", "folds", "seed"),
)
_ALL = "all"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = "Learn to pronounce words from dictionaries, and do it."
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("action", metavar="ACTION", choices=ACTIONS, help="train, apply, align or evaluate")
    add("files", metavar="FILE", nargs="*", help="dictionaries; first the model, for all actions but train")
    add("-m", "--model", metavar="OUT", help="train: where to write the model")
    add("-o", "--output", metavar="OUT", default="-", help="apply, align: where to write (default: standard output)")
    add("--dev", metavar="FILE", help="train: words to choose the smoothing on (default: a share of those to train on)")
    add("--order", type=whole(1), metavar="N", help="train: how many units the model sees at once (default: 8)")
    add("--em-beam", type=_width, metavar="N", help="train: states that EM keeps, or all, which is exact (default: 50)")
    add(
        "--em-option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="train: another parameter of EM, such as iterations=3, evidence=1 or smoothing=no; may be repeated",
    )
    add("--beam", type=_width, metavar="N", help="states that the search keeps at each letter, or all (default: 40)")
    add(
        "--threshold",
        type=not_negative,
        metavar="X",
        help="states that the joint model puts so far below the best of their letter are dropped, by log-probability; "
        "0: none (default: 10)",
    )
    add("--best-cut", action="store_true", help="the best cut of a pronunciation counts, not all together; quicker")
    add(
        "--sizes",
        type=_sizes,
        metavar="L:P,...",
        help="train: how many letters and phonemes a unit may have (default: 0:1,1:0,1:1)",
    )
    add("--held-out", type=share, metavar="SHARE", help="train: the share of words without --dev (default: 0.05)")
    add(
        "--learner",
        metavar="NAME",
        help="train: a learner on top, such as mira or crf: it puts candidates in a better order, or leads the search "
        "with --update or, for crf, with --learner-option search=beam",
    )
    add(
        "--update",
        choices=UPDATES,
        help="train: let the learner lead the search; this is what it learns from where it goes wrong",
    )
    add(
        "--learner-option",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="train: a parameter of the learner, such as C=0.01 or epochs=3; may be repeated. The beam of a crf is "
        "that of its training, --beam that of prediction",
    )
    add("--candidates", type=whole(1), metavar="N", help="train: how many the learner chooses from (default: 10)")
    add("--folds", type=whole(2), metavar="N", help="train: parts that words are dealt in for the learner (default: 5)")
    add("--seed", type=whole(0), metavar="N", help="train: of what is drawn by chance (default: 0)")
    add(
        "--k",
        type=whole(1),
        metavar="K",
        help="apply: print the K best pronunciations with probabilities, "
        "which are only an order where a learner leads the search",
    )
    add("--no-stress", action="store_true", help="take the digits off the end of phonemes: AH0 and AH1 are AH")
    add("--unseen", choices=("skip", "error"), help="what to do with letters that did not occur in training")
    add("--encoding", default="utf-8", metavar="NAME", help="of the text (default: utf-8)")
    add_threads(parser, "training and prediction")


def _width(text: str) -> int | str:
    return _ALL if text == _ALL else whole(1)(text)


def _sizes(text: str) -> tuple[tuple[int, int], ...]:
    try:
        pairs = [tuple(map(int, pair.split(":"))) for pair in text.split(",")]
        return tuple((letters, phonemes) for letters, phonemes in pairs)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected pairs of numbers such as 1:0,1:1,2:1, got {text!r}") from None


def run(arguments: argparse.Namespace) -> int:
    if arguments.action == "train":
        return _train(arguments)
    for option in _TRAIN_ONLY:
        if getattr(arguments, option) not in (None, []):
            raise UsageError(f"--{option.replace('_', '-')} is for 'margent g2p train'")
    if arguments.k is not None and arguments.action != "apply":
        raise UsageError("--k is for 'margent g2p apply'")
    if not arguments.files:
        raise UsageError(f"'margent g2p {arguments.action}' needs a model, a file that 'margent g2p train' wrote")
    model, *paths = arguments.files
    transcriber = _loaded(model, arguments)
    if arguments.action == "evaluate":
        print(transcriber.evaluate(*_entries(paths or ["-"], arguments)))
        return 0
    from margent.cli.data_files import check_target
    from margent.formats.source import open_target

    check_target(arguments.output)
    lines = _applied if arguments.action == "apply" else _aligned
    with open_target(arguments.output, arguments.encoding) as write:
        for text in lines(transcriber, paths or ["-"], arguments):
            write(text)
            if arguments.output == "-":
                sys.stdout.buffer.flush()
    return 0


def _train(arguments: argparse.Namespace) -> int:
    from margent.cli.data_files import check_target
    from margent.learners import CRF
    from margent.models.transcriber.options import AlignmentBeam
    from margent.models.transcriber.transcriber import Transcriber

    if arguments.model is None:
        raise UsageError("'margent g2p train' needs -m OUT, where to write the model")
    if arguments.k is not None:
        raise UsageError("--k is for 'margent g2p apply'")
    check_target(arguments.model)
    names = ("order", "sizes", "held_out", "candidates", "folds", "seed", "unseen")
    options = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    learner = _learner(arguments)
    direct = arguments.update is not None or (isinstance(learner, CRF) and learner.search == "beam")
    options |= {"em": _em(arguments), "decoder": "direct" if direct else "rerank"}
    try:
        search = _search(AlignmentBeam(), arguments)
        transcriber = Transcriber(threads=arguments.threads, learner=learner, search=search, **options)
        transcriber.check_parameters()  # before any file is read
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from None
    if getattr(transcriber.learner, "patience", None) is not None and arguments.dev is None:
        raise UsageError("--learner-option patience=N needs --dev FILE to watch")
    words, pronunciations = _entries(arguments.files or ["-"], arguments)
    development: dict[str, Any] = {}
    if arguments.dev is not None:
        development["X_dev"], development["y_dev"] = _entries([arguments.dev], arguments)
    with _warnings_told():
        transcriber.fit(words, pronunciations, **development)
    transcriber.save(arguments.model)
    said = f"{len(words)} entries, {transcriber.joint_.n_units} units, {transcriber.joint_.n_grams} grams"
    skipped = f", {transcriber.n_skipped_} entries left out" if transcriber.n_skipped_ else ""
    print(f"margent: {said}{skipped}; wrote {arguments.model}", file=sys.stderr)
    if development:
        print(f"margent: development: {transcriber.evaluate(*development.values())}", file=sys.stderr)
    return 130 if transcriber.interrupted_ else 0


def _search(search: AlignmentBeam, arguments: argparse.Namespace) -> AlignmentBeam:
    """The search with what the options change."""
    changed: dict[str, Any] = {} if arguments.beam is None else {"width": _beam(arguments.beam)}
    changed |= {
        name: getattr(arguments, name) for name in ("threshold", "update") if getattr(arguments, name) is not None
    }
    changed |= {"sum_alignments": False} if arguments.best_cut else {}
    return replace(search, **changed)


def _beam(width: int | str) -> int | None:
    return None if isinstance(width, str) else width


def _em(arguments: argparse.Namespace) -> Any:
    """The EM that the options describe, or None."""
    from margent.learners import EM

    parameters = _parameters("--em-option", arguments.em_option, EM, "EM")
    if arguments.em_beam is not None:
        parameters["beam"] = _beam(arguments.em_beam)
    try:
        return EM(**parameters) if parameters else None
    except ValueError as error:
        raise UsageError(str(error)) from None


def _learner(arguments: argparse.Namespace) -> Any:
    """The learner that the options describe, or None."""
    from margent.learners import LEARNERS, learner_named

    if arguments.learner is None:
        for option in ("update", "learner_option"):
            if getattr(arguments, option):
                raise UsageError(f"--{option.replace('_', '-')} needs --learner NAME")
        return None
    if arguments.learner not in LEARNERS:
        raise UsageError(f"--learner should be one of {', '.join(LEARNERS)}, got {arguments.learner!r}")
    parameters = _parameters(
        "--learner-option", arguments.learner_option, LEARNERS[arguments.learner], f"the learner {arguments.learner}"
    )
    try:
        return learner_named(arguments.learner, **parameters)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _parameters(option: str, given: list[str], kind: type, whose: str) -> dict[str, Any]:
    """Parameters of a dataclass, each given as NAME=VALUE."""
    from typing import get_type_hints

    from margent.cli.learner_options import parsed_value

    hints = get_type_hints(kind)
    parameters = {}
    for text in given:
        name, _, value = text.partition("=")
        if name not in hints or not value:
            raise UsageError(f"{option} should be NAME=VALUE of {whose}, got {text!r}")
        parameters[name] = parsed_value(f"{option} {name}", value, hints[name])
    return parameters


def _loaded(path: str, arguments: argparse.Namespace) -> Transcriber:
    from margent.models.transcriber.transcriber import Transcriber

    transcriber = Transcriber.load(path)
    if arguments.threads is not None:
        transcriber.threads = arguments.threads
    if arguments.unseen is not None:
        transcriber.unseen = arguments.unseen
    transcriber.search = _search(transcriber.resolved("search"), arguments)
    return transcriber


def _entries(paths: list[str], arguments: argparse.Namespace) -> tuple[list[str], list[list[str]]]:
    from margent.formats.pronunciations import read_pronunciations

    words: list[str] = []
    pronunciations: list[list[str]] = []
    for path in paths:
        more, spoken = read_pronunciations(path, stress=not arguments.no_stress, encoding=arguments.encoding)
        words += more
        pronunciations += spoken
    return words, pronunciations


def _applied(transcriber: Transcriber, paths: list[str], arguments: argparse.Namespace) -> Iterator[str]:
    for words in _batches(paths, arguments.encoding):
        with _warnings_told():
            if arguments.k is None:
                rows = [(w, " ".join(p)) for w, p in zip(words, transcriber.predict(words))]
            else:
                several = transcriber.predict_k_best(words, arguments.k)
                rows = [(w, f"{' '.join(p)}\t{x:.6f}") for w, found in zip(words, several) for p, x in found]
        yield "".join(f"{word}\t{text}\n" for word, text in rows)


@contextmanager
def _warnings_told() -> Iterator[None]:
    """What Python would print with the line of code, in one line."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        print(f"margent: warning: {warning.message}", file=sys.stderr)


def _aligned(transcriber: Transcriber, paths: list[str], arguments: argparse.Namespace) -> Iterator[str]:
    words, pronunciations = _entries(paths, arguments)
    for word, cut in zip(words, transcriber.align(words, pronunciations)):
        units = (f"{''.join(unit.letters) or '-'}:{'+'.join(unit.phonemes) or '-'}" for unit in cut)
        yield f"{word}\t{' '.join(units)}\n"


def _batches(paths: list[str], encoding: str) -> Iterator[list[str]]:
    """Words, one a line. From standard input each is answered at once; from files many together."""
    from margent.formats.source import Source

    for path in paths:
        batch: list[str] = []
        for _, line in Source(path, encoding).lines():
            word = line.strip()
            if word:
                batch.append(word)
            if batch and (path == "-" or len(batch) == 10_000):
                yield batch
                batch = []
        if batch:
            yield batch
