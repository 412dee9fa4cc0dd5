"""A trained model as python-crfsuite's `Tagger` shows it."""

from __future__ import annotations

import io
import os
import sys
import warnings
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from margent.crfsuite.item_sequence import items_of
from margent.errors import CalibrationWarning, CorpusError
from margent.models import Tagger as MargentTagger
from margent.models import load
from margent.models.tagger.chain.weights import ChainWeights

Self = TypeVar("Self", bound="Tagger")


@dataclass(frozen=True)
class ParsedDump:
    """What is in a model: `Tagger.info`.

    header, labels, attributes : dicts of texts; of labels and attributes, from name to number
    transitions : (label, next label) to weight, where it is not zero
    state_features : (attribute, label) to weight, where it is not zero
    """

    header: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    transitions: dict[tuple[str, str], float] = field(default_factory=dict)
    state_features: dict[tuple[str, str], float] = field(default_factory=dict)


class Tagger:
    """Tags with a model in a file; `model` is the `margent.Tagger` behind it, with all that the original lacks.

    Examples
    --------
    >>> from margent.crfsuite import Trainer
    >>> trainer = Trainer("ap", verbose=False)
    >>> trainer.append([{"word": "the"}, {"word": "cat"}], ["D", "N"])
    >>> trainer.train("doctest.margent")
    >>> with Tagger().open("doctest.margent") as tagger:
    ...     tagger.tag([{"word": "the"}, {"word": "cat"}])
    ['D', 'N']
    >>> import os; os.remove("doctest.margent")
    """

    def __init__(self, model: MargentTagger | None = None) -> None:
        self._model = model
        self._sequence: Any = None
        self._marginals: Any = None

    # Which model

    def open(self: Self, name: str | os.PathLike[str]) -> Self:
        """Reads a model file of Margent; those of CRFsuite are refused with a `ModelFileError`."""
        return self._opened(load(name))

    def open_inmemory(self: Self, value: bytes) -> Self:
        """Reads a model from the bytes of its file."""
        return self._opened(load(io.BytesIO(value)))

    def _opened(self: Self, model: Any) -> Self:
        if not isinstance(model, MargentTagger) or not isinstance(model.weights_, ChainWeights):
            raise CorpusError("expected the model of a tagger over a label chain, as a Trainer makes it")
        self.close()
        self._model = model
        return self

    def close(self) -> None:
        """Forgets the model."""
        self._model = self._sequence = self._marginals = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def model(self) -> MargentTagger:
        if self._model is None:
            raise ValueError("the tagger is closed; open a model first")
        return self._model

    # Tagging

    def labels(self) -> list[str]:
        """The labels, sorted."""
        names: list[str] = self.model.classes_.tolist()
        return names

    def set(self, xseq: Any) -> None:
        """The sequence that `tag`, `probability` and `marginal` are about from now on."""
        items = items_of(xseq)
        self._sequence = items if isinstance(items, list) else list(items)
        self._marginals = None

    def tag(self, xseq: Any = None) -> list[str]:
        """The best labels of a sequence, or of the one that was `set`."""
        if xseq is not None:
            self.set(xseq)
        return self.model.predict([self._current()])[0]

    def marginal(self, y: str, pos: int) -> float:
        """The probability of a label at a position of the current sequence."""
        names = self.labels()
        if y not in names:
            raise ValueError(f"there is no label {y!r}; expected one of {', '.join(names)}")
        sequence = self._current()
        if not 0 <= pos < len(sequence):
            raise ValueError(f"there is no position {pos}; expected 0 to {len(sequence) - 1}")
        if self._marginals is None:
            self._marginals = self._probabilities([sequence], None)[0]
        return float(self._marginals[pos, names.index(y)])

    def probability(self, yseq: Any) -> float:
        """The probability of a labelling of the current sequence: the product of those of its labels, each with all
        labels before it known. O(n^2 L^2)."""
        sequence, labels = self._current(), list(yseq)
        names = self.labels()
        if len(labels) != len(sequence):
            raise ValueError(f"expected {len(sequence)} labels, got {len(labels)}")
        unknown = next((label for label in labels if label not in names), None)
        if unknown is not None:
            raise ValueError(f"there is no label {unknown!r}; expected one of {', '.join(names)}")
        known = [dict(enumerate(labels[:t])) for t in range(len(labels))]
        found = self._probabilities([sequence] * len(labels), known)
        return float(np.prod([found[t][t, names.index(label)] for t, label in enumerate(labels)]))

    def _probabilities(self, X: Any, constraints: Any) -> Any:
        with warnings.catch_warnings():  # the original says nothing, whatever the algorithm; docs do
            warnings.simplefilter("ignore", CalibrationWarning)
            return self.model.predict_marginals(X, constraints)

    def _current(self) -> list[Any]:
        if self._sequence is None:
            raise ValueError("there is no sequence yet; call set or tag first")
        current: list[Any] = self._sequence
        return current

    # What is in the model

    def info(self) -> ParsedDump:
        """Labels, attributes and weights."""
        model = self._still_open()
        weights = model.weights_
        assert isinstance(weights, ChainWeights)
        names, labels = model.feature_map_.name, self.labels()
        features, columns, values = weights.entries()
        attributes = {feature: names(feature) for feature in np.unique(features).tolist()}
        states = {
            (attributes[f], labels[label]): float(weight)
            for f, label, weight in zip(features.tolist(), columns.tolist(), values.tolist())
        }
        matrix = weights.transitions[0][: len(labels), : len(labels)]
        transitions = {(labels[i], labels[j]): float(matrix[i, j]) for i, j in np.argwhere(matrix).tolist()}
        _, arrays = model.model_.stored()
        header = {
            "type": "margent",
            "num_features": str(len(states) + len(transitions)),
            "num_labels": str(len(labels)),
            "num_attrs": str(len(attributes)),
            "size": str(sum(array.nbytes for array in arrays.values())),
        }
        return ParsedDump(
            header,
            {name: str(i) for i, name in enumerate(labels)},
            {name: str(i) for i, name in enumerate(attributes.values())},
            transitions,
            states,
        )

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Writes what `info` says as text, in the original's layout: to a file, or to standard output."""
        text = dump_text(self.info())
        if filename is None:
            sys.stdout.write(text)
        else:
            with open(filename, "w", encoding="utf-8") as file:
                file.write(text)

    def _still_open(self) -> MargentTagger:
        if self._model is None:
            raise RuntimeError("the tagger is closed; open a model first")
        return self._model


def dump_text(info: ParsedDump) -> str:
    """The contents of a model, in the layout of `crfsuite dump`."""
    sections = {
        "FILEHEADER": [f"{name}: {value}" for name, value in info.header.items()],
        "LABELS": [f"{number:>5}: {name}" for name, number in info.labels.items()],
        "ATTRIBUTES": [f"{number:>5}: {name}" for name, number in info.attributes.items()],
        "TRANSITIONS": [f"(1) {a} --> {b}: {weight:.6f}" for (a, b), weight in info.transitions.items()],
        "STATE_FEATURES": [f"(0) {a} --> {b}: {weight:.6f}" for (a, b), weight in info.state_features.items()],
    }
    lines = (line for name, body in sections.items() for line in (f"{name} = {{", *(f"  {x}" for x in body), "}", ""))
    return "".join(f"{line}\n" for line in lines)
