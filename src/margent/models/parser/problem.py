"""The training of a parser: from sentences and trees to encoded examples, and from weights to a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.pseudo_projective import LIFTED, PATH, projectivize
from margent.errors import CorpusError
from margent.features.token_atoms import TokenAtoms
from margent.models.base import Problem, Run
from margent.models.failures import check_lengths
from margent.models.fitted import learned_fields
from margent.models.inputs import training_weights
from margent.models.parser.answers import ParserAnswers, check_attachment_metric, found_arcs
from margent.models.parser.data import UNKNOWN, ParserData
from margent.models.parser.kinds import weights_kind
from margent.models.parser.model import ParserModel
from margent.models.parser.sentences import Arcs, as_columns, right_arcs
from margent.models.parser.setting import ParserSetting
from margent.models.parser.tagging import OwnTags, jackknifed
from margent.models.parser.weights import ParserTraining
from margent.models.training_data import TrainingData, check_unchanged

if TYPE_CHECKING:
    from margent.models.parser.parser import Parser

MARKS = ("head", "path", "head+path")
"""How labels mark arcs that were lifted: see `margent.annotation.projectivize`."""
CROSSING = (*MARKS, "lift", "error")
"""What is done with trees whose arcs cross, where the search makes projective ones: their arcs are lifted, and labels
say so, or do not; or they are refused."""


@dataclass(frozen=True)
class ParserProblem(Problem[ParserModel]):
    """`data`: what is learned from, with lifted arcs; `given`: the same sentences with the arcs that were given."""

    parser: Parser
    learner: Any
    atoms: TokenAtoms
    labels: tuple[str, ...]
    setting: ParserSetting
    data: ParserData
    given: ParserAnswers
    own: OwnTags | None
    start: ParserModel | None = None
    development: ParserAnswers | None = None
    metric: str | None = None

    @classmethod
    def of(cls, parser: Parser, given: TrainingData, start: ParserModel | None, grow: bool) -> ParserProblem:
        """Encodes the training and development data, each once. New atoms are added to a copy of the map."""
        check_attachment_metric(given.dev_metric)
        given.check_development()
        setting, features, threads = parser.setting, parser.resolved("features"), parser.resolved("threads")
        if start is not None:
            check_continues(setting, start)
        kind = weights_kind(setting)
        templates = kind.templates(setting)
        columns = as_columns(given.X)
        longest, why = kind.most_words(setting), f"as search={setting.search!r} takes"
        check_lengths(columns.lengths.tolist(), longest, "X", why)
        arcs = right_arcs(given.y, columns.lengths.tolist(), setting.single_root)
        if not columns.n_tokens:
            raise CorpusError("there is nothing to learn from: the training data have no word")
        weights = training_weights(given.sample_weight, len(columns))
        learnable = arcs if kind.makes_crossing_arcs(setting) else projective_arcs(arcs, parser.crossing)
        own: OwnTags | None = None
        if start is not None and start.own is not None:
            own, columns = start.own.continued(columns, threads)
        elif parser.tagger is not None and start is None:
            own, columns = jackknifed(parser.tagger, columns, templates, int(parser.seed), threads)
        if start is None:
            atoms = TokenAtoms(templates.token_atoms, features.word_clusters())
        else:
            atoms = start.atoms.copy() if grow else start.atoms
        tokens = atoms.encode(columns, grow=grow, min_count=int(features.min_count))
        labels = _labels(() if start is None else start.labels, learnable)
        data = ParserData(tokens, *_encoded(learnable, labels), weights)
        if not (data.known & (data.labels != UNKNOWN)).any():
            raise CorpusError("there is nothing to learn from: the training data have no word with a head and a label")
        development = None
        if given.X_dev is not None:
            X_dev = as_columns(given.X_dev)
            check_lengths(X_dev.lengths.tolist(), longest, "X_dev", why)
            arcs_dev = right_arcs(given.y_dev, X_dev.lengths.tolist(), False, "y_dev")
            X_dev = X_dev if own is None else own.tagged(X_dev, threads)
            development = ParserAnswers.of(X_dev, atoms.encode(X_dev), arcs_dev)
            development.check_known("the development data")
        answers = ParserAnswers.of(columns, tokens, arcs, weights)
        return cls(
            parser, parser.resolved("learner"), atoms, labels, setting, data, answers, own, start, development,
            given.dev_metric,
        )  # fmt: skip

    # Learning

    @property
    def calibrated_by_learner(self) -> bool:
        """A beam has no sums over all trees, so that there is nothing to calibrate."""
        return bool(self.learner.probabilistic) or not weights_kind(self.setting).exact

    @property
    def lifted(self) -> bool:
        return any(LIFTED in label or PATH in label for label in self.labels)

    def learned(self, run: Run) -> ParserModel:
        given = ParserTraining(self.data, self.atoms, self.labels, self.setting, int(self.parser.seed))
        start = None if self.start is None else self.start.searched(self.setting)
        trainable = weights_kind(self.setting).trainable(given, start)
        evaluate = self._evaluation(trainable.weights)
        result = run(self.learner, trainable.oracle, evaluate)
        probabilistic = bool(self.learner.probabilistic) and weights_kind(self.setting).exact
        return ParserModel(
            **learned_fields(self.learner, result, self.start, probabilistic),
            atoms=self.atoms,
            labels=self.labels,
            weights=trainable.weights(result.weights),
            setting=self.setting,
            lifted=self.lifted,
            own=self.own,
        )

    def _evaluation(self, weights_of: Callable[[Any], Any]) -> Callable[[Any], float] | None:
        """From weights to their score on the development data."""
        data, threads, lifted = self.development, self.parser.resolved("threads"), self.lifted
        if data is None:
            return None

        def evaluate(exported: Any) -> float:
            parses = weights_of(exported).best(data.tokens, threads)
            ptr = data.tokens.sequence_ptr
            return data.score(found_arcs(parses.heads, parses.labels, self.labels, ptr, lifted=lifted), self.metric)

        return evaluate

    # Parts

    def part(self, numbers: NDArray[np.int64]) -> ParserProblem:
        return replace(self, data=self.data.part(numbers), given=self.given.part(numbers), development=None)

    def answers(self, numbers: NDArray[np.int64]) -> ParserAnswers:
        return self.given.part(numbers)


def check_continues(setting: ParserSetting, start: ParserModel) -> None:
    """ValueError where the parameters have changed so that `partial_fit` cannot continue."""
    for name, now, then in (
        ("search", setting.search, start.setting.search),
        ("system", setting.system, start.setting.system),
        ("templates", setting.templates, start.setting.templates),
        ("order", setting.order, start.setting.order),
        ("single_root", setting.single_root, start.setting.single_root),
    ):
        if name == "search" and setting.beam is not None and start.setting.beam is not None:
            continue  # of another width
        check_unchanged("Parser", name, now, then)


def projective_arcs(arcs: Sequence[Arcs], crossing: str) -> list[Arcs]:
    """Arcs that do not cross: as they are, or lifted as one of `CROSSING` says."""
    found = []
    for number, (heads, labels) in enumerate(arcs):
        if UNKNOWN in heads:
            if _cross(heads):
                raise CorpusError(
                    f"sentence {number} has some heads that are not known, and others whose arcs cross, which this "
                    "search cannot make; expected search='mst' or system='swap'"
                )
            found.append((heads, labels))
            continue
        tree = DependencyTree.unchecked(heads, labels)
        if tree.is_projective():
            found.append((heads, labels))
            continue
        if crossing == "error":
            raise CorpusError(
                f"sentence {number} has arcs that cross, which this search cannot make; expected projective trees, or "
                f"crossing to be one of {', '.join(CROSSING[:-1])}"
            )
        lifted = projectivize(tree, crossing if crossing in MARKS else "head")  # type: ignore[arg-type]
        found.append((lifted.heads, lifted.labels if crossing in MARKS else labels))
    return found


def _cross(heads: Sequence[int]) -> bool:
    """Whether two of the known arcs cross."""
    arcs = sorted((min(h, m), max(h, m)) for m, h in enumerate(heads, start=1) if h != UNKNOWN)
    return any(a < c < b < d for i, (a, b) in enumerate(arcs) for c, d in arcs[i + 1 :])


def _labels(known: tuple[str, ...], arcs: Sequence[Arcs]) -> tuple[str, ...]:
    """The known labels and, after them, new ones in the order in which they first come."""
    found = dict.fromkeys(known)
    for _, labels in arcs:
        found |= dict.fromkeys(label for label in labels if label)
    return tuple(found)


def _encoded(arcs: Sequence[Arcs], labels: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Heads and labels (T,) of all sentences."""
    ids = {label: i for i, label in enumerate(labels)} | {"": UNKNOWN}
    heads = [head for each, _ in arcs for head in each]
    return np.array(heads, dtype=np.int32), np.array([ids[name] for _, each in arcs for name in each], dtype=np.int32)
