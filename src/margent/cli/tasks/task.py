"""What a task tells the commands, and what is the same for all of them."""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from margent.cli.command_line import UsageError, with_article
from margent.cli.files import number_of, told, warn
from margent.cli.parameters import Parameter, model_parameters, types_of
from margent.processors import ahead


class Task(ABC):
    """One kind of model on the command line.

    name : of the task, and of the kind in model files
    about : what the models do, for the help
    examples : command lines of each command
    unit, part : what an example is called, and what it consists of
    files, data : what the arguments are called that name data to learn from and data to apply the model to
    default_learner : its name, with `learner_defaults`, parameters that differ from the learner's own; None: no learner
    applied : parameters of the model that can be changed when it is applied
    own : parameters that have options of the task's own
    """

    name: str
    about: str
    examples: Mapping[str, str]
    unit: str
    part: str
    files: str
    default_learner: str | None = None
    learner_defaults: Mapping[str, Any] = {}
    applied: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    reads_standard_input = True

    # The model and its parameters

    def model_class(self) -> Any:
        from margent.models.loading import model_class

        return model_class(self.name)

    def learners(self) -> dict[str, type]:
        """The learners by name."""
        from margent.learners import LEARNERS

        return dict(LEARNERS)

    def hints(self) -> dict[str, Any]:
        """The types of the parameters of the model; a task adds what annotations do not say."""
        return types_of(self.model_class().__init__)

    def parameters(self) -> list[Parameter]:
        """The parameters of the model that are options."""
        return model_parameters(self.model_class(), self.hints(), ("learner", *self.own))

    def own_values(self, arguments: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
        """The parameters of the model for which the task has its own options; `found`: the others."""
        return {}

    def own_given(self, arguments: argparse.Namespace) -> set[str]:
        """Which of the parameters with options of the task's own were given."""
        return set()

    def own_words(self, arguments: argparse.Namespace, model: Any, searched: Any = None) -> list[str]:
        """The options of the task's own for this model, and those of reading; `searched`: name of its features."""
        return []

    def check(self, model: Any, learner: str | None) -> None:
        """Refuses parameters before any file is read."""
        model.check_parameters()

    def prepared(self, model: Any, arguments: argparse.Namespace) -> Any:
        """The model that was loaded, ready to be applied."""
        return model

    # Options of its own

    def add_reading(self, parser: argparse.ArgumentParser) -> None:
        """How data are read."""
        return

    def add_training(self, parser: argparse.ArgumentParser) -> None:
        return

    def add_applying(self, parser: argparse.ArgumentParser) -> None:
        return

    def add_evaluating(self, parser: argparse.ArgumentParser) -> None:
        return

    def add_inspecting(self, parser: argparse.ArgumentParser) -> None:
        return

    # Data

    @abstractmethod
    def read(self, paths: Sequence[str], arguments: argparse.Namespace, model: Any) -> tuple[Any, Any]:
        """(X, y) of all files together, for a model that is trained already or is to be."""

    def remember(self, model: Any, arguments: argparse.Namespace) -> None:
        """Puts into a trained model how its data were made, where that is part of it."""
        return

    def size_of(self, X: Any) -> str:
        """How much data this is, in words."""
        parts = X.n_tokens if hasattr(X, "n_tokens") else sum(map(len, X))
        return f"{number_of(len(X), self.unit)} ({number_of(parts, self.part)})"

    def fitting(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """What `fit` is given besides what all models are."""
        return {}

    # Answers

    @abstractmethod
    def answers(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        """What `apply` writes, piece by piece."""

    def alignments(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        """What `align` writes, piece by piece."""
        raise UsageError(f"{with_article(self.name)} has nothing to align; segmenters and transcribers have")

    def write(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace, *, align: bool) -> None:
        """Answers or alignments as text, as they come; a file appears when it is complete."""
        import sys

        from margent.cli.files import check_target, named_files
        from margent.formats.source import open_target

        target = arguments.output or "-"
        check_target(target, [*paths, *named_files(arguments, "output")])
        pieces = (self.alignments if align else self.answers)(model, paths, arguments)
        if all(map(os.path.isfile, paths)):  # else somebody may type, and wants to see each answer at once
            pieces = ahead(pieces)
        with open_target(target, arguments.encoding or "utf-8") as write:
            for text in pieces:
                write(text)
                if target == "-":
                    sys.stdout.buffer.flush()

    def explained(self, model: Any, paths: Sequence[str], arguments: argparse.Namespace) -> Iterator[str]:
        """What `explain` prints, piece by piece."""
        raise UsageError(
            f"{with_article(self.name)} cannot explain its answers; 'margent inspect' shows what it has learned"
        )

    # Results

    def report(self, model: Any, X: Any, y: Any, arguments: argparse.Namespace) -> Any:
        """How good the predictions are; None where that cannot be said of these data."""
        return model.evaluate(X, y)

    def report_text(self, report: Any) -> str:
        return str(report)

    def report_json(self, report: Any) -> dict[str, Any]:
        from margent.cli.reports import as_json

        return as_json(report)

    def evaluate(self, arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
        """What `evaluate` says, for people and for programs; `arguments.model` may be None."""
        from margent.cli.tasks import load_model

        if arguments.model is None:
            raise UsageError(f"to evaluate {with_article(self.name)}, give the model first, then the data")
        model = load_model(self, arguments)
        report = model.evaluate(*self.read(arguments.files or ["-"], arguments, model))
        return str(report), self.report_json(report)

    def curves(self, model: Any, X: Any, y: Any) -> dict[str, Any]:
        """How far probabilities can be trusted, where there is a way to tell."""
        from margent.errors import CalibrationWarning

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CalibrationWarning)
            return dict(model.reliability(X, y))

    def check_labels(self, model: Any, y: Any, where: str) -> None:
        """Refuses data none of whose labels is one of the model's."""
        from margent.errors import CorpusError

        known, given = self.labels(model, y)
        if given and not known & given:
            raise CorpusError(
                f"{where}: none of the labels there, such as {min(given)!r}, is one of the model's, "
                f"such as {min(known)!r}; expected data labelled in the same way"
            )

    def labels(self, model: Any, y: Any) -> tuple[set[str], set[str]]:
        """Those of the model, and those in right answers; nothing where they are not compared."""
        return set(), set()

    def check_calibrated(self, model: Any, arguments: argparse.Namespace) -> None:
        """Warns of probabilities that are asked for and are not calibrated, in terms of the command line."""
        if not model.calibrated_:
            warn(
                f"the probabilities of {arguments.model} are not calibrated; "
                "'margent calibrate' does that with labelled data that it was not trained on"
            )

    def check_token(self, arguments: argparse.Namespace, length: int) -> None:
        """Refuses a --token that a sentence does not have."""
        if arguments.token is not None and arguments.token >= length:
            raise UsageError(f"--token {arguments.token}: a sentence has {number_of(length, self.part)}, from 0")

    # What a model is

    @abstractmethod
    def size(self, model: Any) -> str:
        """What was learned, in a few words."""

    def trained(self, model: Any) -> dict[str, Any]:
        """What the JSON of `train` says besides what all say."""
        return {}

    @abstractmethod
    def inspected(self, model: Any, arguments: argparse.Namespace) -> Inspection: ...


@dataclasses.dataclass(frozen=True)
class Inspection:
    """What `inspect` shows of a model: facts for programs, lines for people, and what comes after them.

    `parts`: sections, each a heading with its lines; `always`: also where single labels were asked for.
    """

    facts: dict[str, Any]
    lines: dict[str, str]
    parts: list[tuple[str, list[str]]]
    extra: dict[str, Any] = dataclasses.field(default_factory=dict)


def described(value: Any) -> Any:
    """A value with fields as plain data with its name; a domain in short; other values as they are."""
    if hasattr(value, "to_json"):
        return repr(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"name": type(value).__name__, **dataclasses.asdict(value)}
    return value


def settings(parameters: Mapping[str, Any], without: Iterable[str]) -> str:
    """The parameters of a model in one line."""
    shown = {name: value for name, value in parameters.items() if name not in without}
    return ", ".join(
        f"{name}={told(value)}" for name, value in shown.items() if value is not None and value is not False
    )


def weight_parts(
    features: Mapping[str, Sequence[tuple[str, float]]], transitions: Sequence[tuple[str, str, float]]
) -> list[tuple[str, list[str]]]:
    """The highest-weighted features of each label, and transitions."""
    parts = [
        (f"features of {label}:", [f"{weight:+10.3f}  {name}" for name, weight in rows])
        for label, rows in features.items()
        if rows
    ]
    if transitions:
        width = max(len(left) for left, _, _ in transitions)
        rows = [f"{weight:+10.3f}  {left:{width}} -> {right}" for left, right, weight in transitions]
        parts.append(("transitions:", rows))
    return parts


def weights_json(
    features: Mapping[str, Sequence[tuple[str, float]]], transitions: Sequence[tuple[str, str, float]]
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "top_features": {
            label: [{"feature": name, "weight": weight} for name, weight in rows] for label, rows in features.items()
        },
        "top_transitions": [{"from": left, "to": right, "weight": weight} for left, right, weight in transitions],
    }
