"""The parser: a dependency tree for each sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from margent.annotation.dependency_tree import DependencyTree
from margent.features.token_atoms import EncodedTokens, TokenAtoms
from margent.formats.columns import Columns
from margent.learners import check_fits
from margent.models.base import Confidences, Finds, StructuredModel
from margent.models.beam import Beam
from margent.models.contribution import Contribution, largest
from margent.models.failures import check_on_error, spread, too_long
from margent.models.inputs import sentence_weights
from margent.models.labels import Predictions
from margent.models.parser.answers import (
    ArcProbabilities,
    FoundArcs,
    ParserAnswers,
    ScoredTree,
    found_arcs,
    trees,
)
from margent.models.parser.explanation import Arc, ArcExplanation
from margent.models.parser.kinds import weights_kind
from margent.models.parser.model import ParserModel
from margent.models.parser.options import ParserFeatures
from margent.models.parser.problem import CROSSING, ParserProblem, check_continues
from margent.models.parser.sentences import as_columns, forms_of, right_arcs
from margent.models.parser.setting import EXACT_SEARCHES, SYSTEMS, ParserSetting
from margent.models.parser.weights import ParserWeights, Parses, ScoredParse
from margent.models.tagger.tagger import Tagger
from margent.models.training_data import TrainingData
from margent.parameters import MOST_ANSWERS, check_choice, check_count, check_flag, check_number

if TYPE_CHECKING:
    from margent.metrics.dependency import DependencyReport


class Parser(StructuredModel[ParserModel]):
    """Learns dependency trees: the head of each word of a sentence, and a label for the arc between them.

    X is a sequence of sentences: lists of words, or of tuples of form, upos, xpos, feats and lemma, or the first of
    these ("_" for unknown values); or the `Columns` that `margent.formats.read_dependencies` returns. y has a
    `DependencyTree` for each, or a pair (heads, labels) in which None means unknown; the best completion then counts as
    right. `score` is the labelled attachment score (LAS); `dev_metric` may be "las", "uas", "label_accuracy" or "clas".

    Parameters
    ----------
    features : str, list of str, ParserFeatures or None
        Templates over named atoms such as `s0.word n0.upos` (as text or lines), the name of a preset, or
        `ParserFeatures(templates, clusters=..., min_count=2)`. None: the templates that suit the search. docs/parser.md
        lists all atoms.
    learner : learner, str or None
        An object such as `MIRA()` or a name such as "crf". None: one that suits the search.
    search : "eisner", "mst" or Beam
        "eisner": the best projective tree, exactly. "mst": the best of all trees, exactly. `Beam(8)`: actions of a
        transition system, keeping the 8 best sequences; `Beam(1)` is greedy, and the fastest.
    system : "arc-standard", "arc-hybrid", "arc-eager" or "swap"
        The transition system of a beam search. "swap" can build trees with crossing arcs.
    order : 1 or 2
        With "eisner": 1 scores single arcs, 2 also pairs of arcs: siblings, and a word with its grandparent.
    crossing : "head", "path", "head+path", "lift" or "error"
        What to do with training trees with crossing arcs if the search is projective. The first three are
        pseudo-projective: arcs are lifted until none cross, and labels record where they came from, so that predicted
        trees may cross. "lift": without such labels. "error": refuse them.
    tagger : Tagger or None
        An unfitted tagger such as `Tagger(features="pos")`, which learns the tags that the templates look at from the
        same sentences. The parser then needs nothing but words; in training it sees tags from ten-fold jackknifing.
        None: tags are given.
    exploration : float
        With `Beam(1)` and "arc-hybrid" or "arc-eager": the probability, from 0 to 1, that training continues with the
        parser's own wrong choice, so that it learns what to do after a mistake (dynamic oracles); 0.9 is a good choice.
    single_root : bool
        Whether exactly one word is attached to the root, as in Universal Dependencies.
    calibration : float or None
        A share of the training sentences to hold out for calibrating the probabilities of arcs, if the search is exact.
        None: calibrate on development data only; 0: never.
    seed : int
        Determines the order of examples in training, and the folds of jackknifing.
    threads : int or None
        Threads for prediction, and for training a `CRF` or taggers; None: one per processor. Does not change the
        results.

    Attributes
    ----------
    model_ : ParserModel, everything that was learned; the other attributes are views of it
    classes_ : array of the labels of arcs, in the order of the columns of `predict_marginals`
    history_ : list of dicts, one per epoch
    weights_, atoms_ : the weights of features, and the atoms of words
    taggers_ : the tagger of each column (upos, xpos, feats), if `tagger` was given
    best_epoch_, interrupted_ : how the last training ended
    temperature_, calibrated_ : for the probabilities of arcs, if the search is exact

    Examples
    --------
    >>> from margent import Parser
    >>> from margent.annotation import DependencyTree
    >>> X = [["she", "reads"], ["old", "books", "sleep"], ["she", "sleeps"]]
    >>> y = [DependencyTree([2, 0], ["nsubj", "root"]), DependencyTree([2, 3, 0], ["amod", "nsubj", "root"])]
    >>> y.append(y[0])
    >>> Parser().fit(X, y).predict([["old", "books", "sleep"]])[0].heads
    (2, 3, 0)
    """

    fitted: ClassVar[type[ParserModel]] = ParserModel

    def __init__(
        self,
        features: Any = None,
        learner: Any = None,
        *,
        search: Beam | str = "eisner",
        system: str = "arc-standard",
        order: int = 2,
        crossing: str = "head",
        tagger: Tagger | None = None,
        exploration: float = 0.0,
        single_root: bool = True,
        calibration: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.features = features
        self.learner = learner
        self.search = search
        self.system = system
        self.order = order
        self.crossing = crossing
        self.tagger = tagger
        self.exploration = exploration
        self.single_root = single_root
        self.calibration = calibration
        self.seed = seed
        self.threads = threads

    # Prediction

    def predict(self, X: Any, *, on_error: str = "raise") -> Predictions[DependencyTree]:
        """The best tree of each sentence.

        A sentence with more words than the search takes (`weights_.longest`) is a `ConstraintError`; with
        `on_error="none"` its answer is None, here and below.
        """

        def best(model: ParserModel, tokens: EncodedTokens) -> list[DependencyTree]:
            return trees(model.found(self._best(model, tokens), tokens), tokens.sequence_ptr)

        return Predictions(self._answered(X, on_error, best))

    def predict_k_best(self, X: Any, k: int = 5, *, on_error: str = "raise") -> list[list[ScoredTree]]:
        """Up to k trees of each sentence with their scores, best first, all different; the best there are where the
        search is exact, else the best of those that survive the beam."""
        check_count("k", k, 1, maximum=MOST_ANSWERS)

        def several(model: ParserModel, tokens: EncodedTokens) -> list[list[ScoredTree]]:
            found = self._searched(model).k_best(tokens, int(k), self.resolved("threads"))
            return [self._readings(model, parses) for parses in found]

        return self._answered(X, on_error, several)

    def predict_marginals(self, X: Any, *, on_error: str = "raise") -> list[ArcProbabilities]:
        """How probable each head and each label of each word is; where the search is exact.

        Probabilities are exp(score / temperature_) over the sum of all trees. The scores of a perceptron or a margin
        learner are not made for that: without a fitted temperature there is a `CalibrationWarning`. Of lifted arcs
        (`crossing`), the probabilities are those of the projective trees that are searched.
        """
        weights = self._searched(self._fitted())
        scale = self._scale(self._fitted()) if weights.exact else 1.0

        def sums(model: ParserModel, tokens: EncodedTokens) -> list[ArcProbabilities]:
            nothing = np.zeros(tokens.n_tokens, dtype=np.int32)
            found = self._searched(model).marginals(tokens, nothing, nothing, scale, self.resolved("threads"))
            spans = pairwise(tokens.sequence_ptr.tolist())
            return [ArcProbabilities(heads, found.labels[a:b]) for heads, (a, b) in zip(found.heads, spans)]

        return self._answered(X, on_error, sums)

    def _answered(self, X: Any, on_error: str, ask: Callable[[ParserModel, EncodedTokens], list[Any]]) -> list[Any]:
        """What is answered of each sentence that is not too long."""
        check_on_error(on_error)
        model, columns = self._fitted(), as_columns(X)
        failures = self._too_long(model, columns)
        check_on_error(on_error, failures)
        kept = np.array([i for i in range(len(columns)) if i not in failures], dtype=np.int64)
        found = ask(model, self._encoded(model, columns[kept] if failures else columns))
        return spread(found, failures, len(columns)) if failures else found

    def _too_long(self, model: ParserModel, columns: Columns) -> dict[int, Exception]:
        """By the number of a sentence: that it has more words than the search takes."""
        return too_long(columns.lengths.tolist(), self._searched(model).longest, f"as search={self.search!r} takes")

    def _readings(self, model: ParserModel, parses: Sequence[ScoredParse]) -> list[ScoredTree]:
        """Parses of one sentence as trees, all different."""
        readings: dict[DependencyTree, float] = {}
        for score, heads, labels in parses:
            ptr = np.array([0, len(heads)])
            found = found_arcs(heads, labels, model.labels, ptr, lifted=model.lifted)
            readings.setdefault(trees(found, ptr)[0], float(score))  # lifted arcs may lead to the same place
        return [ScoredTree(score, tree) for tree, score in readings.items()]

    def tag(self, X: Any) -> Columns:
        """The sentences with the tags that the parser predicts itself: form, upos, xpos, feats and lemma.

        Of a parser without taggers, the sentences as they are.
        """
        return self._fitted().tagged(as_columns(X), self.resolved("threads"))

    def explain(self, sentence: Any, word: int | None = None, *, top: int = 10) -> list[ArcExplanation]:
        """Why each word (or the one that is given, counted from 1) got its arc: which features, over which rival.

        The rival is the best tree of the whole sentence that was found in which the word has another head or label. An
        explanation lists the `top` contributions to the difference of the two scores; printed, it is a small table.
        """
        model = self._fitted()
        columns = as_columns([sentence])
        check_on_error("raise", self._too_long(model, columns))
        tokens = self._encoded(model, columns)
        check_count("top", top, 0)
        n = tokens.n_tokens
        whole = isinstance(word, (int, np.integer)) and not isinstance(word, bool)
        if word is not None and (not whole or not 1 <= word <= n):
            raise ValueError(f"word should be a number from 1 to {n}, as many as the sentence has, got {word!r}")
        weights, names, forms = self._searched(model), model.labels, forms_of(columns)[0]
        best = weights.best(tokens, 1)
        score, parts = weights.breakdown(model.atoms, names, tokens, best.heads, best.labels)
        explanations = []
        for each in range(1, n + 1) if word is None else [int(word)]:
            arc = int(best.heads[each - 1]), int(best.labels[each - 1])
            chosen = Arc(arc[0], names[arc[1]])
            rival = weights.rival(tokens, each, arc)
            if rival is None:
                explanations.append(ArcExplanation(each, forms[each - 1], chosen, None, float("inf"), (), 0.0))
                continue
            other = Arc(int(rival.heads[each - 1]), names[rival.labels[each - 1]])
            less, against = weights.breakdown(model.atoms, names, tokens, rival.heads, rival.labels)
            differences = [
                Contribution(name, parts.get(name, 0.0) - against.get(name, 0.0)) for name in {**parts, **against}
            ]
            margin = score - less
            shown = largest(differences, margin, top)
            explanations.append(ArcExplanation(each, forms[each - 1], chosen, other, margin, *shown))
        return explanations

    # What was learned

    @property
    def classes_(self) -> NDArray[np.object_]:
        return np.array(self.model_.labels, dtype=object)

    @property
    def weights_(self) -> ParserWeights:
        return self.model_.weights

    @property
    def atoms_(self) -> TokenAtoms:
        return self.model_.atoms

    @property
    def taggers_(self) -> dict[str, Tagger]:
        return {} if self.model_.own is None else dict(self.model_.own.taggers)

    def top_features(self, label: str, n: int = 20) -> list[tuple[str, float]]:
        """The highest-weighted features of a label, and after them the lowest-weighted, from high to low."""
        model = self._fitted()
        check_count("n", n, 1)
        if label not in model.labels:
            raise ValueError(f"there is no label {label!r}; expected one of {', '.join(model.labels)}")
        return model.weights.top_features(model.atoms, model.labels, model.labels.index(label), int(n))

    # What the template asks of a parser

    def _problem(self, data: TrainingData, start: ParserModel | None, grow: bool) -> ParserProblem:
        return ParserProblem.of(self, data, start, grow)

    def _answers(self, model: ParserModel, X: Any, y: Any, sample_weight: Any = None) -> ParserAnswers:
        columns = as_columns(X)
        check_on_error("raise", self._too_long(model, columns))
        arcs = right_arcs(y, columns.lengths.tolist(), False)
        return ParserAnswers.of(
            columns, self._encoded(model, columns), arcs, sentence_weights(sample_weight, len(columns))
        )

    def _score(self, model: ParserModel, answers: ParserAnswers) -> float:
        return answers.score(self._found(model, answers))

    def _report(self, model: ParserModel, answers: ParserAnswers) -> DependencyReport:
        return answers.report(self._found(model, answers))

    def _found(self, model: ParserModel, answers: ParserAnswers) -> FoundArcs:
        return model.found(self._best(model, answers.tokens), answers.tokens)

    def _finds(self, model: ParserModel, answers: ParserAnswers) -> Finds | None:
        """The labelled arcs of the best trees. Costs a search for the two best and about ten passes for the sums."""
        weights, tokens, threads = self._searched(model), answers.tokens, self.resolved("threads")
        parses = self._best(model, tokens)
        known, _, right = answers.right(model.found(parses, tokens))
        return Finds.that_count(
            lambda scale: weights.marginals(tokens, parses.heads, parses.labels, scale, threads).arcs,
            *(right, np.where(known, answers.counts, 0.0), weights.k_best(tokens, 2, threads)),
        )

    def _confidences(self, model: ParserModel, answers: ParserAnswers) -> Confidences:
        """Of the head of each word, and of head and label together."""
        weights, tokens = self._searched(model), answers.tokens
        parses = self._best(model, tokens)
        scale = self._scale(model, stacklevel=4) if weights.exact else 1.0
        found = weights.marginals(tokens, parses.heads, parses.labels, scale, self.resolved("threads"))
        known, attached, both = answers.right(model.found(parses, tokens))
        spans = pairwise(tokens.sequence_ptr.tolist())
        heads = [p[np.arange(b - a), parses.heads[a:b]] for p, (a, b) in zip(found.heads, spans)]
        of_heads = np.concatenate(heads) if heads else np.zeros(0)
        return {"heads": (of_heads[known], attached[known]), "arcs": (found.arcs[known], both[known])}

    # Search

    @property
    def setting(self) -> ParserSetting:
        """What the weights look at."""
        return ParserSetting(
            self.search,
            self.system,
            self.resolved("features").chosen_templates,
            int(self.order),
            single_root=bool(self.single_root),
            exploration=float(self.exploration),
        )

    def _searched(self, model: ParserModel) -> ParserWeights:
        """The weights of a model, searched as the parameters say now."""
        trained = model.setting
        setting = replace(self.setting, label_cost=trained.label_cost, exploration=trained.exploration)
        if setting != model.setting:
            self._check_search()
            check_continues(setting, model)
        return model.searched(setting)

    def _encoded(self, model: ParserModel, columns: Columns) -> EncodedTokens:
        return model.encode(columns, self.resolved("threads"))

    def _best(self, model: ParserModel, tokens: EncodedTokens) -> Parses:
        return self._searched(model).best(tokens, self.resolved("threads"))

    # Parameters

    def _default_learner(self) -> Any:
        return weights_kind(self.setting).default_learner(self.setting)

    def resolved(self, name: str) -> Any:
        return ParserFeatures.of(self.features) if name == "features" else super().resolved(name)

    def check_parameters(self) -> None:
        self._check_search()
        self.check_common()
        self.resolved("features")
        check_choice(self, "system", SYSTEMS)
        check_count("order of Parser", self.order, 1, maximum=2)
        check_choice(self, "crossing", CROSSING)
        check_number(self, "exploration", minimum=0, maximum=1)
        check_flag(self, "single_root")
        if self.tagger is not None:
            _check_tagger(self.tagger)
        setting = self.setting
        kind = weights_kind(setting)
        kind.check(setting)
        if self.calibration and not kind.exact:
            raise ValueError(
                f"calibration of Parser is for probabilities of arcs, which search={self.search!r} does not have; "
                "expected None or 0, or search='eisner' or 'mst'"
            )
        check_fits(self.resolved("learner"), kind.structure(setting))
        kind.templates(setting)

    def _check_search(self) -> None:
        given = self.search
        if isinstance(given, Beam):
            if given.decode != "viterbi":
                raise ValueError(f"search of Parser should be a Beam with decode='viterbi', got {given!r}")
            given.check_reference("Parser")
        elif not isinstance(given, str) or given not in EXACT_SEARCHES:
            raise ValueError(
                f"search of Parser should be a Beam(...) or one of {', '.join(EXACT_SEARCHES)}, got {given!r}"
            )

    # Files

    def _stored_parameters(self, model: ParserModel) -> dict[str, Any]:
        """The tagger and the clusters are in what was learned."""
        given = self.features
        features = replace(given, clusters=None, vectors=None) if isinstance(given, ParserFeatures) else given
        return super()._stored_parameters(model) | {"features": features, "tagger": None}

    @classmethod
    def _restored_parameters(cls, given: dict[str, Any], model: ParserModel) -> dict[str, Any]:
        if model.atoms.clusters is not None:
            features = ParserFeatures.of(given.get("features"))
            given = given | {"features": replace(features, clusters=model.atoms.clusters)}
        taggers = [] if model.own is None else list(model.own.taggers.values())
        return given | {"tagger": Tagger(**taggers[0].get_params(deep=False)) if taggers else None}

    def _check_model(self, model: ParserModel) -> None:
        check_continues(self.setting, model)


def _check_tagger(tagger: Any) -> None:
    if not isinstance(tagger, Tagger):
        raise TypeError(f"tagger of Parser should be a Tagger(...) or None, got {tagger!r}")
    tagger.check_parameters()
    source = tagger.resolved("features").source
    if callable(source) or source in ("attributes", "vectors"):
        raise ValueError(f"tagger of Parser should read words, by templates or a preset, got features={source!r}")
