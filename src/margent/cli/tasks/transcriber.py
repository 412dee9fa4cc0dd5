"""Transcribers on the command line: pronunciation dictionaries, words and their phonemes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from margent.cli.command_line import UsageError
from margent.cli.files import listed, number_of
from margent.cli.options import add_format, integer, limits_of, reading_options
from margent.cli.tasks.task import Inspection, Task

if TYPE_CHECKING:
    from margent.formats.limits import Limits
    from margent.models.transcriber.transcriber import Transcriber

_EXAMPLES = {
    "train": """\
  margent train --task transcriber cmudict.txt -m english.margent
  margent g2p train cmudict.txt --dev dev.txt --em-order 8 -m english.margent
  margent g2p train cmudict.txt --learner mira --C 0.01 --epochs 3 -m english.margent
  margent g2p train cmudict.txt --em-iterations 3 --em-smoothing --unseen error -m english.margent

Dictionaries have a word and its phonemes on each line, separated by blanks or a tab, gzipped or not. CMUdict's format
is understood: ';;;' before comments, 'WORD(2)' for a second pronunciation. Without FILE, standard input is read.
""",
    "apply": """\
  margent apply english.margent words.txt
  echo phoenix | margent apply english.margent --k 3

The input has one word per line. The output is the word, a tab and its phonemes; with --k also the probability, after
another tab.
""",
    "align": """\
  margent align english.margent cmudict.txt

The output is the word, a tab and its graphones, as in ph:F o:- e:IY n:N i:IH x:K+S.
""",
    "evaluate": """\
  margent evaluate english.margent test.txt

Every pronunciation that the dictionary lists for a word counts as right.
""",
    "calibrate": "  margent calibrate english.margent held-out.txt\n",
    "inspect": "  margent inspect english.margent --top 20\n",
}


class TranscriberTask(Task):
    name = "transcriber"
    about = "pronounce words, learned from a dictionary"
    examples = _EXAMPLES
    unit, part, files = "entry", "letter", "DICTIONARY"
    applied = ("search", "unseen")

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        from margent.cli.model_options import changed_model

        return changed_model(model, arguments, self)

    # Data

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        group = parser.add_argument_group("how files are read")
        add_format(group, "pronunciations", what="dictionaries")
        group.add_argument(
            "--no-stress", action="store_true", help="strip the digits from phonemes: AH0 and AH1 become AH"
        )

    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        from margent.formats.registry import format_named

        options = reading_options(arguments, stress=not arguments.no_stress)
        read = format_named(arguments.format or "pronunciations", "pronunciations").read
        assert read is not None
        parts = [read(path, options) for path in paths]
        return [word for words, _ in parts for word in words], [spoken for _, each in parts for spoken in each]

    # Answers

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--k", type=integer(1), metavar="K", help="print the K best pronunciations of each word with probabilities"
        )

    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        ask = model.predict if arguments.k is None else partial(model.predict_k_best, k=arguments.k)
        for words in _words(paths, arguments.encoding or "utf-8", limits_of(arguments)):
            found = ask(words, on_error="none")
            rows = []
            for word, answer in zip(words, found):
                if answer is None:
                    arguments.failures.ask(repr(word), lambda: model.predict([word]))  # noqa: B023
                elif arguments.k is None:
                    rows.append(f"{word}\t{' '.join(answer)}\n")
                else:
                    rows += [f"{word}\t{' '.join(phonemes)}\t{share:.6f}\n" for phonemes, share in answer]
            yield "".join(rows)

    def alignments(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        words, spoken = self.read(paths, arguments, model)
        for word, phonemes, graphones in zip(words, spoken, model.align(words, spoken, on_error="none")):
            if graphones is None:
                arguments.failures.ask(repr(word), lambda: model.align([word], [phonemes]))  # noqa: B023
            else:
                yield f"{word}\t{' '.join(_graphone(*graphone) for graphone in graphones)}\n"

    # What a model is

    def size(self, model: Any) -> str:
        skipped = f", {number_of(model.n_skipped_, 'entry')} left out" if model.n_skipped_ else ""
        return f"{model.joint_.n_graphones:,} graphones, {model.joint_.n_grams:,} n-grams{skipped}"

    def trained(self, model: Any) -> dict[str, Any]:
        return {
            "letters": model.letters_,
            "phonemes": model.phonemes_,
            "graphones": model.joint_.n_graphones,
            "grams": model.joint_.n_grams,
            "skipped": model.n_skipped_,
        }

    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection:
        import numpy as np

        from margent.models.transcriber.direct_decoding import DirectDecoder

        if arguments.label:
            raise UsageError("--label is for models with labels, and this is a transcriber")
        joint, learned = model.joint_, model.decoder_
        graphones = _most_probable(model, arguments.top)
        facts = {
            "letters": model.letters_,
            "phonemes": model.phonemes_,
            "order": joint.order,
            "graphones": joint.n_graphones,
            "grams": joint.grams_by_order(),
            "discounts": None if joint.discounts is None else joint.discounts.tolist(),
            "direct": isinstance(learned, DirectDecoder),
            "learned_weights": None if learned is None else len(learned.weights),
            "learned_weights_not_zero": None if learned is None else int(np.count_nonzero(learned.weights)),
            "skipped": model.n_skipped_,
        }
        return Inspection(
            facts,
            _lines(facts),
            [("graphones:", [f"{probability:10.4f}  {name}" for name, probability in graphones])],
            {"top_graphones": [{"graphone": name, "probability": probability} for name, probability in graphones]},
        )


def _words(paths: Sequence[str], encoding: str, limits: Limits) -> Iterator[list[str]]:
    """Words, one a line. From standard input each is answered at once; from files many together."""
    from margent.formats.source import Source

    for path in paths:
        batch: list[str] = []
        for _, line in Source(path, encoding, limits).lines():
            word = line.strip()
            if word:
                batch.append(word)
            if batch and (path == "-" or len(batch) == 10_000):
                yield batch
                batch = []
        if batch:
            yield batch


def _graphone(letters: Sequence[str], phonemes: Sequence[str]) -> str:
    return f"{''.join(letters) or '-'}:{'+'.join(phonemes) or '-'}"


def _most_probable(transcriber: Transcriber, top: int) -> list[tuple[str, float]]:
    """The most probable graphones without any history, written as `margent align` does."""
    joint = transcriber.joint_
    probabilities = joint.graphone_probabilities()
    chosen = (-probabilities).argsort(kind="stable")[:top].tolist()
    return [(_graphone(*joint.graphone(number)), float(probabilities[number])) for number in chosen]


def _lines(facts: dict[str, Any]) -> dict[str, str]:
    discounts = facts["discounts"]
    plain = discounts is None or discounts == [[0.0] * 3]
    use = "search by" if facts["direct"] else "rerank candidates by"
    return {
        "kind": f"transcriber of order {facts['order']}",
        "letters": listed(facts["letters"]),
        "phonemes": listed(facts["phonemes"]),
        "graphones": f"{facts['graphones']:,}",
        "grams": ", ".join(f"{count:,} of {k}" for k, count in enumerate(facts["grams"], 1)),
        "discounts": "none" if plain else ", ".join("/".join(f"{d:.2f}" for d in row) for row in discounts),
        "weights": "none: the joint model decides"
        if facts["learned_weights"] is None
        else f"{facts['learned_weights']:,} to {use}, of which {facts['learned_weights_not_zero']:,} are not zero",
        "left out": number_of(facts["skipped"], "entry"),
    }


TASK = TranscriberTask()
