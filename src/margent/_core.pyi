"""Types of the native module. Written by `make stubs`."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Final, overload

import numpy
from numpy.typing import NDArray

def instruction_set() -> str: ...
def use_avx2(wanted: bool) -> bool: ...

class TreeScores:
    def __init__(
        self,
        arcs: NDArray[numpy.float64],
        labels: NDArray[numpy.float64] | None,
        siblings: NDArray[numpy.float64] | None,
        grandparents: NDArray[numpy.float64] | None,
        projective: bool,
        single_root: bool,
    ) -> None: ...
    def best(self) -> tuple[float, NDArray[numpy.int32], NDArray[numpy.int32]]: ...
    def k_best(self, k: int) -> list: ...
    def log_partition(self) -> float: ...
    def marginals(
        self,
    ) -> tuple[
        float, NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]
    ]: ...
    def score(self, heads: NDArray[numpy.int32], labels: NDArray[numpy.int32]) -> float: ...
    def forest(
        self,
    ) -> tuple[
        NDArray[numpy.int32],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        int,
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
    ]: ...

class Forests:
    def __init__(
        self,
        node_ptr: NDArray[numpy.int64],
        edge_ptr: NDArray[numpy.int64],
        roots: NDArray[numpy.int32],
        heads: NDArray[numpy.int32],
        tail_ptr: NDArray[numpy.int64],
        tails: NDArray[numpy.int32],
        allowed: NDArray[numpy.uint8],
        feature_ptr: NDArray[numpy.int64],
        features: NDArray[numpy.int32],
        values: NDArray[numpy.float32] | None = None,
    ) -> None: ...
    def scores(self, weights: NDArray[numpy.float64], threads: int) -> NDArray[numpy.float64]: ...
    def best(
        self, scores: NDArray[numpy.float64], threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
    def k_best(
        self, scores: NDArray[numpy.float64], k: int, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
    def sample(
        self, scores: NDArray[numpy.float64], n: int, seed: int, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
    def log_partition(self, scores: NDArray[numpy.float64], threads: int) -> NDArray[numpy.float64]: ...
    def count(self, scores: NDArray[numpy.float64], threads: int) -> NDArray[numpy.uint64]: ...
    def marginals(
        self, scores: NDArray[numpy.float64], threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def best_along(
        self, scores: NDArray[numpy.float64], slopes: NDArray[numpy.float64], threads: int
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32]]: ...
    def expectation(
        self, scores: NDArray[numpy.float64], values: NDArray[numpy.float64], threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

class SharedWork:
    def __init__(self) -> None: ...
    def run(self, work: Callable, argument: object | None) -> object: ...
    def stop(self) -> None: ...

class ColumnTable:
    @staticmethod
    def from_rows(sentences: object, n_columns: int = 0, first: int = 0) -> ColumnTable: ...
    @property
    def n_columns(self) -> int: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_sentences(self) -> int: ...
    @property
    def sentence_ptr(self) -> NDArray[numpy.int64]: ...
    def column(self, column: int) -> list: ...
    def rows(self, sentence: int, columns: NDArray[numpy.int64]) -> list: ...
    def sentences(self, indices: NDArray[numpy.int64], columns: NDArray[numpy.int64]) -> list: ...

def format_columns(
    parts: Sequence[tuple[ColumnTable, NDArray[numpy.int64], NDArray[numpy.int64]]], separator: str, first: int = 0
) -> str: ...

class ColumnParser:
    def __init__(
        self,
        tabs_only: bool = False,
        comment: str = "",
        drop_docstart: bool = True,
        line: int = 9223372036854775807,
        tokens: int = 9223372036854775807,
        sentence: int = 9223372036854775807,
        empty_lines: int = 9223372036854775807,
    ) -> None: ...
    def feed(self, bytes: bytes) -> None: ...
    def finish(self) -> None: ...
    def take(self) -> ColumnTable: ...

class ChainScores32:
    def __init__(
        self,
        n_labels: int,
        order: int,
        emissions: NDArray[numpy.float32],
        transitions: NDArray[numpy.float32],
        end: NDArray[numpy.float32],
        edges: NDArray[numpy.float32] | None,
    ) -> None: ...
    def score(self, arg: NDArray[numpy.int32], /) -> float: ...
    def best(self) -> tuple[float, NDArray[numpy.int32]]: ...
    def k_best(self, arg: int, /) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...
    def log_partition(self) -> float: ...
    def marginals(self, arg: bool, /) -> tuple[float, NDArray[numpy.float64], NDArray[numpy.float64] | None]: ...
    def sample(self, arg0: int, arg1: int, /) -> tuple[float, NDArray[numpy.int32]]: ...

class ChainScores64:
    def __init__(
        self,
        n_labels: int,
        order: int,
        emissions: NDArray[numpy.float64],
        transitions: NDArray[numpy.float64],
        end: NDArray[numpy.float64],
        edges: NDArray[numpy.float64] | None,
    ) -> None: ...
    def score(self, arg: NDArray[numpy.int32], /) -> float: ...
    def best(self) -> tuple[float, NDArray[numpy.int32]]: ...
    def k_best(self, arg: int, /) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...
    def log_partition(self) -> float: ...
    def marginals(self, arg: bool, /) -> tuple[float, NDArray[numpy.float64], NDArray[numpy.float64] | None]: ...
    def sample(self, arg0: int, arg1: int, /) -> tuple[float, NDArray[numpy.int32]]: ...

class StringTable:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, arg: int, /) -> str: ...
    def find(self, arg: str, /) -> int: ...
    def add(self, arg: str, /) -> int: ...
    def add_all(self, arg: list, /) -> NDArray[numpy.int32]: ...
    def find_all(self, arg: list, /) -> NDArray[numpy.int32]: ...
    def strings(self, begin: int = 0) -> list: ...
    def dump(self) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
    @staticmethod
    def restore(arg0: NDArray[numpy.uint8], arg1: NDArray[numpy.int64], /) -> StringTable: ...
    def copy(self) -> StringTable: ...
    def filter(self, arg: NDArray[numpy.bool_], /) -> StringTable: ...

def encode_column(
    table: ColumnTable,
    column: int,
    sentences: NDArray[numpy.int64] | None,
    strings: StringTable,
    grow: bool,
    threads: int = 1,
) -> tuple[NDArray[numpy.int32], list]: ...
def named_rows(ids: NDArray[numpy.int32], ptr: NDArray[numpy.int64], names: list) -> list: ...
def encode_attributes(
    sequences: object, strings: StringTable, grow: bool
) -> tuple[NDArray[numpy.int32], NDArray[numpy.float32] | None, NDArray[numpy.int64], NDArray[numpy.int64]]: ...

class TemplateColumns:
    def __init__(self, columns: Sequence[tuple[int, str | None]], derivations: dict) -> None: ...
    def copy(self) -> TemplateColumns: ...
    def strings(self, arg: int, /) -> StringTable: ...
    def string(self, arg0: int, arg1: int, /) -> str | None: ...
    def dump(self, arg: int, /) -> tuple[NDArray[numpy.uint8], NDArray[numpy.int64]]: ...
    def of_word(self, arg: int, /) -> NDArray[numpy.int32]: ...
    def restore(self, arg0: int, arg1: StringTable, arg2: NDArray[numpy.int32], /) -> None: ...

class TemplateEncoder:
    def __init__(self, templates: Sequence[tuple[int, bool, Sequence[tuple[int, int]]]], n_columns: int) -> None: ...
    def encode(
        self,
        columns: TemplateColumns,
        table: ColumnTable,
        indices: Sequence[int],
        sentences: NDArray[numpy.int64] | None,
        sentence_ptr: NDArray[numpy.int64],
        grow: bool,
        threads: int = 1,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
    def size(self, edge: bool) -> int: ...
    def name(self, arg0: bool, arg1: int, /) -> tuple[int, list[int]]: ...
    def dump(self, arg: bool, /) -> tuple[NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.int32]]: ...
    def restore(
        self, arg0: bool, arg1: NDArray[numpy.int32], arg2: NDArray[numpy.int64], arg3: NDArray[numpy.int32], /
    ) -> None: ...
    def filter(self, arg0: bool, arg1: NDArray[numpy.bool_], /) -> None: ...

def k_gram_search(
    order: int,
    n_symbols: int,
    candidate_ptr: NDArray[numpy.int64],
    candidates: NDArray[numpy.int32],
    contexts: NDArray[numpy.int32],
    tokens: NDArray[numpy.int32],
    sequence_ptr: NDArray[numpy.int64],
    tables: Sequence[tuple[int, NDArray[numpy.float64]]],
    gold: NDArray[numpy.int32],
    threads: int,
) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32]]: ...

class Oracle:
    def __len__(self) -> int: ...
    def ask(self, example: int, k: int, cost: float) -> tuple[float, list]: ...
    def dot(self, i: int, j: int) -> float: ...
    def move(self, arg0: int, arg1: float, /) -> None: ...
    def add(self, arg0: dict, arg1: float, /) -> None: ...
    def scale(self, arg: float, /) -> None: ...
    def squared_norm(self) -> float: ...
    def tick(self, weight: float = 1.0) -> None: ...
    def likelihood(
        self,
        *,
        all_pairs: bool = False,
        all_transitions: bool = False,
        boundaries: bool = True,
        beam: int = 0,
        best_completion: bool = False,
        threads: int = 1,
    ) -> Likelihood: ...

class BeamUpdate(enum.Enum):
    standard = 0

    early = 1

    max_violation = 2

    skip = 3

class ChainOracle(Oracle):
    def __init__(
        self,
        examples: Examples,
        n_labels: int,
        order: int,
        learn_transitions: bool,
        n_unigrams: int,
        n_edges: int,
        sparse: bool,
        label_costs: Sequence[float],
        kernel: object | None = None,
        cache_bytes: int = 0,
    ) -> None: ...
    @property
    def structure(self) -> str: ...
    @property
    def n_tokens(self) -> int: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def learn_transitions(self) -> bool: ...
    def set_beam(self, width: int, update: BeamUpdate) -> None: ...
    @property
    def label_costs(self) -> NDArray[numpy.float32]: ...
    def fix_gold(self) -> int: ...
    def free_gold(self) -> None: ...
    def soft_counts(self, threads: int = 1) -> tuple[dict, float]: ...
    def counts(self) -> dict: ...
    def weights(self, average: bool) -> dict: ...
    def start_from(self, weights: dict) -> None: ...

class FlatOracle(Oracle):
    @property
    def n_features(self) -> int: ...
    def weights(self, average: bool) -> NDArray[numpy.float64]: ...
    def start_from(self, weights: NDArray[numpy.float64]) -> None: ...

class PythonOracle(FlatOracle):
    def __init__(self, oracle: object, n_features: int) -> None: ...

class Rule:
    def penalty(self, oracle: Oracle) -> float | None: ...
    def losses(self, oracle: Oracle, examples: NDArray[numpy.int64]) -> float: ...
    def support(self) -> list: ...

class PerceptronRule(Rule):
    def __init__(self, margin: float, k: int = 1) -> None: ...

class PassiveAggressiveRule(Rule):
    def __init__(self, C: float, k: int, restricted: bool) -> None: ...

class MiraRule(Rule):
    def __init__(self, C: float, k: int, tol: float) -> None: ...

class DualRule(Rule):
    def __init__(
        self, C: float, k: int, tol: float, working_set: int, n_reprocess: int, kappa: float, seed: int
    ) -> None: ...

class FrankWolfeRule(Rule):
    def __init__(self, C: float) -> None: ...
    def bytes(self) -> int: ...

class SubgradientRule(Rule):
    def __init__(self, C: float, project: bool, warm_start: float = 1.0) -> None: ...

class DualPerceptronRule(Rule):
    def __init__(self) -> None: ...

class HiddenMarkovRule(Rule):
    def __init__(self, C: float, slack: int, hamming: bool, tol: float, rounds: int) -> None: ...

def smo(
    gram: NDArray[numpy.float64],
    hinge: NDArray[numpy.float64],
    values: NDArray[numpy.float64],
    tol: float,
    kappa: float,
    max_steps: int,
) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], float]: ...

class Outcome:
    @property
    def loss(self) -> float: ...
    @property
    def errors(self) -> int: ...
    @property
    def n_positions(self) -> int: ...
    @property
    def wrong_examples(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def objective(self) -> float | None: ...

def run(oracle: Oracle, rule: Rule, examples: NDArray[numpy.int64]) -> Outcome: ...

class SegmentScores:
    def __init__(
        self,
        n_labels: int,
        length: int,
        transitions: NDArray[numpy.float64],
        start: NDArray[numpy.float64],
        end: NDArray[numpy.float64],
        durations: NDArray[numpy.float64],
        begins: NDArray[numpy.float64] | None,
        ends: NDArray[numpy.float64] | None,
        rows: NDArray[numpy.float64] | None,
        limits: NDArray[numpy.int32] | None,
    ) -> None: ...
    def score(self, arg: NDArray[numpy.int32], /) -> float: ...
    def best(self) -> tuple[float, NDArray[numpy.int32]]: ...
    def k_best(self, arg: int, /) -> tuple[NDArray[numpy.float64], list]: ...
    def log_partition(self) -> float: ...
    def marginals(
        self, arg: bool, /
    ) -> tuple[float, NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64] | None]: ...
    def sample(self, arg0: int, arg1: int, /) -> tuple[NDArray[numpy.float64], list]: ...

class SegmentData:
    def __len__(self) -> int: ...
    @property
    def n_weights(self) -> int: ...
    @property
    def longest(self) -> int: ...

class FrameData(SegmentData):
    def __init__(
        self,
        bins: Sequence[int],
        longest: Sequence[int],
        components: int,
        full: bool,
        mean: bool,
        frames: NDArray[numpy.float32],
        sequence_ptr: NDArray[numpy.int64],
    ) -> None: ...
    @property
    def columns(self) -> tuple[int, int, NDArray[numpy.int32]]: ...

class TokenData(SegmentData):
    def __init__(
        self,
        n_labels: int,
        n_features: int,
        longest: int,
        sequence_ptr: NDArray[numpy.int64],
        inside: object | None,
        first: object | None,
        last: object | None,
        whole: object | None,
    ) -> None: ...

class SegmentModel:
    def __init__(
        self,
        n_labels: int,
        shortest: Sequence[int],
        longest: Sequence[int],
        durations: NDArray[numpy.float64],
        follows: NDArray[numpy.uint8] | None,
        learn_transitions: bool,
    ) -> None: ...
    def layout(self, n_content: int) -> tuple[int, int, int, int, int]: ...
    def best(
        self,
        data: SegmentData,
        weights: NDArray[numpy.float32],
        threads: int,
        forced_ptr: NDArray[numpy.int64] | None = None,
        forced: NDArray[numpy.int32] | None = None,
    ) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], NDArray[numpy.int32]]]: ...
    def scores(
        self, data: SegmentData, weights: NDArray[numpy.float32], scale: float
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.float64] | None,
        NDArray[numpy.float64] | None,
        NDArray[numpy.float64] | None,
    ]: ...
    def k_best(self, data: SegmentData, weights: NDArray[numpy.float32], k: int, threads: int) -> list: ...
    def beyond(
        self, data: SegmentData, weights: NDArray[numpy.float32], scale: float, limit: float, threads: int
    ) -> NDArray[numpy.uint8]: ...
    def marginals(
        self,
        data: SegmentData,
        weights: NDArray[numpy.float32],
        scale: float,
        threads: int,
        ptr: NDArray[numpy.int64],
        segments: NDArray[numpy.int32],
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...

class GoldSegments:
    def __init__(
        self,
        ptr: NDArray[numpy.int64],
        labels: NDArray[numpy.int32],
        ends: NDArray[numpy.int32],
        timed: NDArray[numpy.uint8],
        weights: NDArray[numpy.float32] | None,
    ) -> None: ...

class SegmentOracle(Oracle):
    def __init__(
        self,
        model: SegmentModel,
        data: SegmentData,
        gold: GoldSegments,
        frame_cost: float = 1.0,
        boundary_cost: float = 0.0,
        label_costs: Sequence[float] = [],
    ) -> None: ...
    @property
    def structure(self) -> str: ...
    def weights(self, average: bool) -> NDArray[numpy.float32]: ...
    def start_from(self, weights: NDArray[numpy.float32]) -> None: ...

class Likelihood:
    def __len__(self) -> int: ...
    @property
    def n_parameters(self) -> int: ...
    @property
    def threads(self) -> int: ...
    @property
    def widens(self) -> bool: ...
    def parameters(self) -> NDArray[numpy.float64]: ...
    def set_parameters(self, parameters: NDArray[numpy.float64]) -> None: ...
    def grow(self) -> bool: ...
    def evaluate(self, parameters: NDArray[numpy.float64]) -> tuple[float, NDArray[numpy.float64]]: ...
    def value(self, examples: NDArray[numpy.int64] | None = None) -> float: ...
    def descend(self, examples: NDArray[numpy.int64], eta: float, decay: float, first: float) -> float: ...

def dot(a: NDArray[numpy.float64], b: NDArray[numpy.float64], threads: int = 1) -> float: ...

class InverseHessian:
    def __init__(self, n: int, memory: int, threads: int) -> None: ...
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def add(
        self,
        before: NDArray[numpy.float64],
        after: NDArray[numpy.float64],
        gradient_before: NDArray[numpy.float64],
        gradient_after: NDArray[numpy.float64],
    ) -> None: ...
    def times(self, vector: NDArray[numpy.float64]) -> NDArray[numpy.float64]: ...

class PartTemplates:
    def __init__(
        self, templates: Sequence[tuple[int, Sequence[tuple[int, int, int]], bool, bool, bool, bool, int]], n_atoms: int
    ) -> None: ...

class TreeExamples:
    def __init__(
        self,
        sequence_ptr: NDArray[numpy.int64],
        atoms: NDArray[numpy.int32],
        heads: NDArray[numpy.int32] | None = None,
        labels: NDArray[numpy.int32] | None = None,
        weights: NDArray[numpy.float32] | None = None,
        n_labels: int = 0,
    ) -> None: ...

class ArcFilter:
    def __init__(
        self,
        templates: PartTemplates,
        weights: NDArray[numpy.float32],
        bits: int,
        n_labels: int,
        most_heads: int,
        most_labels: int,
        threshold: float,
    ) -> None: ...
    def kept(self, examples: TreeExamples) -> list: ...

class ArcFilterOracle(FlatOracle):
    def __init__(self, templates: PartTemplates, examples: TreeExamples, bits: int) -> None: ...

    structure: Final[str] = ...

class TreeProblem:
    def __init__(
        self,
        templates: PartTemplates,
        examples: TreeExamples,
        filter: ArcFilter | None,
        projective: bool,
        single_root: bool,
        bits: int,
        label_cost: float,
        threads: int = 1,
    ) -> None: ...

class TreeOracle(FlatOracle):
    def __init__(self, problem: TreeProblem) -> None: ...

    structure: Final[str] = ...

    def fix_gold(self) -> int: ...
    def free_gold(self) -> None: ...

class TreeModel:
    def __init__(
        self,
        templates: PartTemplates,
        weights: NDArray[numpy.float32],
        bits: int,
        n_labels: int,
        filter: ArcFilter | None,
        projective: bool,
        single_root: bool,
    ) -> None: ...
    def best(
        self, examples: TreeExamples, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
    def k_best(self, examples: TreeExamples, k: int, threads: int) -> list: ...
    def marginals(
        self,
        examples: TreeExamples,
        heads: NDArray[numpy.int32],
        labels: NDArray[numpy.int32],
        factor: float,
        threads: int,
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def contributions(self, example: TreeExamples) -> list: ...

class ForestOracle(FlatOracle):
    def __init__(
        self,
        answers: Forests,
        right: Forests | None,
        mask: NDArray[numpy.uint8] | None,
        costs: NDArray[numpy.float64],
        sample_weight: NDArray[numpy.float64] | None,
        n_features: int,
    ) -> None: ...

    structure: Final[str] = ...

    def fix_gold(self) -> int: ...
    def free_gold(self) -> None: ...

class PhraseGrammar:
    def __init__(
        self,
        binary: NDArray[numpy.int32],
        binary_scores: NDArray[numpy.float64],
        unary: NDArray[numpy.int32],
        unary_scores: NDArray[numpy.float64],
        root_scores: NDArray[numpy.float64],
        pieces: NDArray[numpy.uint8],
    ) -> None: ...

class PhraseForests:
    def __init__(
        self,
        grammar: PhraseGrammar,
        sentence_ptr: NDArray[numpy.int64],
        tag_ptr: NDArray[numpy.int64],
        tags: NDArray[numpy.int32],
        scores: NDArray[numpy.float64],
        margin: float,
        right_ptr: NDArray[numpy.int64] | None = None,
        right: NDArray[numpy.int32] | None = None,
        threads: int = 1,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    @property
    def edge_ptr(self) -> NDArray[numpy.int64]: ...
    @property
    def kinds(self) -> NDArray[numpy.uint8]: ...
    @property
    def places(self) -> NDArray[numpy.int32]: ...
    @property
    def scores(self) -> NDArray[numpy.float64]: ...
    @property
    def right(self) -> NDArray[numpy.uint8]: ...
    @property
    def costs(self) -> NDArray[numpy.float64]: ...
    def k_best(
        self, scores: NDArray[numpy.float64], k: int, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64]]: ...
    def marginals(
        self, scores: NDArray[numpy.float64], threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]: ...

class SpanTemplates:
    def __init__(self, terms: NDArray[numpy.int32], ptr: NDArray[numpy.int64]) -> None: ...
    def keys(self, atoms: NDArray[numpy.int32], begin: int, end: int, split: int) -> list: ...

class PhraseKeys:
    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, arg: NDArray[numpy.uint64], /) -> None: ...
    def __len__(self) -> int: ...
    def keys(self) -> NDArray[numpy.uint64]: ...
    def find(self, arg: NDArray[numpy.uint64], /) -> NDArray[numpy.int32]: ...
    def add_right(
        self, forests: PhraseForests, templates: SpanTemplates, atoms: NDArray[numpy.int32], min_count: int
    ) -> None: ...

class PhraseOracle(ForestOracle):
    pass

class PhrasePlaces:
    def __init__(
        self,
        forests: PhraseForests,
        templates: SpanTemplates,
        width: int,
        symbols: NDArray[numpy.int32],
        unary: NDArray[numpy.int32],
        atoms: NDArray[numpy.int32],
        keys: PhraseKeys,
        threads: int = 1,
    ) -> None: ...
    @property
    def n_weights(self) -> int: ...
    def scores(self, weights: NDArray[numpy.float64], threads: int) -> NDArray[numpy.float64]: ...
    def oracle(self, sample_weight: NDArray[numpy.float64] | None = None) -> PhraseOracle: ...

class Examples:
    def __init__(
        self,
        sequence_ptr: NDArray[numpy.int64],
        ids: NDArray[numpy.int32],
        values: NDArray[numpy.float32] | None,
        ptr: NDArray[numpy.int64],
        edge_ids: NDArray[numpy.int32] | None,
        edge_values: NDArray[numpy.float32] | None,
        edge_ptr: NDArray[numpy.int64] | None,
        allowed: NDArray[numpy.int32] | None,
        allowed_ptr: NDArray[numpy.int64] | None,
        labels: NDArray[numpy.int32] | None,
        weights: NDArray[numpy.float32] | None,
        hidden: NDArray[numpy.int32] | None = None,
    ) -> None: ...

class LinearChain:
    def __init__(
        self,
        n_labels: int,
        order: int,
        unigrams: object,
        edges: object | None,
        transitions: NDArray[numpy.float32],
        end: NDArray[numpy.float32],
        beam: int = 0,
    ) -> None: ...
    def best(
        self, examples: Examples, threads: int, pruned: bool = True
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...
    def gather_only(self, examples: Examples) -> float: ...
    def k_best(
        self, examples: Examples, k: int, threads: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.int32]]: ...
    def hidden_k_best(
        self, examples: Examples, scale: float, hidden: NDArray[numpy.int32], k: int, threads: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.int32]]: ...
    def marginals(
        self, examples: Examples, scale: float, pairs: bool, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64] | None, NDArray[numpy.float64]]: ...
    def span_log_probabilities(
        self,
        examples: Examples,
        scale: float,
        sequences: NDArray[numpy.int64],
        begins: NDArray[numpy.int32],
        ends: NDArray[numpy.int32],
        span_ptr: NDArray[numpy.int64],
        labels: NDArray[numpy.int32],
        before: NDArray[numpy.uint8],
        after: NDArray[numpy.uint8],
        threads: int,
        hidden: NDArray[numpy.int32] | None = None,
    ) -> NDArray[numpy.float64]: ...
    def scores(self, examples: Examples, labels: NDArray[numpy.int32], threads: int) -> NDArray[numpy.float64]: ...
    def beyond(self, examples: Examples, limit: float, threads: int) -> NDArray[numpy.uint8]: ...
    def samples(
        self, examples: Examples, scale: float, seed: int, count: int, threads: int
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64]]: ...

def padded_width(n_labels: int) -> int: ...

class SpellingPairs:
    def __init__(
        self,
        letter_ptr: NDArray[numpy.int64],
        letters: NDArray[numpy.int32],
        phoneme_ptr: NDArray[numpy.int64],
        phonemes: NDArray[numpy.int32],
    ) -> None: ...
    def __len__(self) -> int: ...

class Graphones:
    @staticmethod
    def of(
        letter_ptr: NDArray[numpy.int64],
        letters: NDArray[numpy.int32],
        phoneme_ptr: NDArray[numpy.int64],
        phonemes: NDArray[numpy.int32],
    ) -> Graphones: ...
    @staticmethod
    def discovered(pairs: SpellingPairs, sizes: NDArray[numpy.int32]) -> Graphones: ...
    def __len__(self) -> int: ...
    def arrays(
        self,
    ) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.int64], NDArray[numpy.int32]]: ...
    def arcs(self, pairs: SpellingPairs, pair: int) -> NDArray[numpy.int32]: ...

class GramCounts:
    def __init__(self) -> None: ...
    def add(self, gram: Sequence[int], count: float) -> None: ...
    def __len__(self) -> int: ...

class GramModel:
    @staticmethod
    def of(counts: GramCounts, n_graphones: int) -> GramModel: ...
    @staticmethod
    def stored(
        n_graphones: int,
        begin: NDArray[numpy.int32],
        graphone: NDArray[numpy.int32],
        suffix: NDArray[numpy.int32],
        log_p: NDArray[numpy.float32],
        backoff: NDArray[numpy.float32],
    ) -> GramModel: ...
    def estimate(self, discounts: NDArray[numpy.float64]) -> None: ...
    def trimmed(self) -> GramModel: ...
    def arrays(
        self,
    ) -> tuple[
        NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.int32], NDArray[numpy.float32], NDArray[numpy.float32]
    ]: ...
    def counts(self) -> NDArray[numpy.float64]: ...
    def graphones(self) -> NDArray[numpy.int32]: ...
    def levels(self) -> NDArray[numpy.int32]: ...
    @property
    def order(self) -> int: ...
    def __len__(self) -> int: ...
    def log_probability(self, history: Sequence[int], graphone: int) -> float: ...

def expect_grams(
    graphones: Graphones,
    model: GramModel,
    pairs: SpellingPairs,
    first: int,
    last: int,
    order: int,
    beam: int,
    prune_count: float,
    threads: int,
    counts: GramCounts | None,
) -> tuple[float, int]: ...
def align_pairs(
    graphones: Graphones, model: GramModel, pairs: SpellingPairs, beam: int, best: bool, threads: int
) -> tuple[NDArray[numpy.float64], tuple[NDArray[numpy.int64], NDArray[numpy.int32]]]: ...
def transcribe(
    graphones: Graphones,
    model: GramModel,
    words: SpellingPairs,
    k: int,
    beam: int,
    threshold: float,
    sum_alignments: bool,
    insertions: int,
    threads: int,
) -> tuple[
    NDArray[numpy.int32],
    NDArray[numpy.float64],
    tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
    tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
]: ...
def candidate_features(
    graphones: Graphones,
    letter_ptr: NDArray[numpy.int64],
    letters: NDArray[numpy.int32],
    candidate_ptr: NDArray[numpy.int64],
    graphone_ptr: NDArray[numpy.int64],
    alignments: NDArray[numpy.int32],
    scores: NDArray[numpy.float64],
    bits: int,
    threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float32]]: ...
def rerank(
    graphones: Graphones,
    letter_ptr: NDArray[numpy.int64],
    letters: NDArray[numpy.int32],
    candidate_ptr: NDArray[numpy.int64],
    graphone_ptr: NDArray[numpy.int64],
    alignments: NDArray[numpy.int32],
    scores: NDArray[numpy.float64],
    weights: NDArray[numpy.float32],
    threads: int,
) -> NDArray[numpy.float64]: ...

class Candidates:
    def __init__(
        self,
        example_ptr: NDArray[numpy.int64],
        feature_ptr: NDArray[numpy.int64],
        features: NDArray[numpy.int32],
        values: NDArray[numpy.float32],
        losses: NDArray[numpy.float32],
        n_positions: NDArray[numpy.int32],
    ) -> None: ...

class CandidateOracle(FlatOracle):
    def __init__(self, candidates: Candidates, n_features: int) -> None: ...

    structure: Final[str] = ...

def search_words(
    graphones: Graphones,
    model: GramModel,
    words: SpellingPairs,
    weights: NDArray[numpy.float32],
    k: int,
    beam: int,
    threshold: float,
    insertions: int,
    threads: int,
) -> tuple[
    NDArray[numpy.int32],
    NDArray[numpy.float64],
    tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
    tuple[NDArray[numpy.int64], NDArray[numpy.int32]],
]: ...

class TranscriptionExamples:
    def __init__(
        self, pairs: SpellingPairs, example_ptr: NDArray[numpy.int64], fold: NDArray[numpy.int32], models: tuple
    ) -> None: ...

class CosegmentOracle(FlatOracle):
    def __init__(
        self,
        graphones: Graphones,
        words: TranscriptionExamples,
        bits: int,
        beam: int,
        threshold: float,
        insertions: int,
        update: BeamUpdate,
    ) -> None: ...

    structure: Final[str] = ...

def beam_search(
    system: object, x: object | None, score: object, beam: int, k: int, recombine: bool, max_steps: int
) -> list: ...

class TransitionOracle(FlatOracle):
    def __init__(
        self, system: object, X: list, y: list, weights: Sequence[float], beam: int, update: BeamUpdate, max_steps: int
    ) -> None: ...

    structure: Final[str] = ...

    @property
    def system(self) -> object: ...
    @property
    def features(self) -> dict: ...
    @property
    def n_features(self) -> int: ...
    @property
    def width(self) -> int: ...
    def set_width(self, arg: int, /) -> None: ...
    def search(self, x: object | None, weights: NDArray[numpy.float64], k: int) -> list: ...

class ParsingTransitions(enum.Enum):
    arc_standard = 0

    arc_hybrid = 1

    arc_eager = 2

    swap = 3

class Treebank:
    def __init__(
        self,
        atoms: NDArray[numpy.int32],
        sequence_ptr: NDArray[numpy.int64],
        heads: NDArray[numpy.int32] | None = None,
        labels: NDArray[numpy.int32] | None = None,
        weights: NDArray[numpy.float64] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...

class ParserTemplates:
    def __init__(
        self,
        addresses: NDArray[numpy.int32],
        terms: NDArray[numpy.int32],
        template_ptr: NDArray[numpy.int32],
        template_terms: NDArray[numpy.int32],
    ) -> None: ...
    def __len__(self) -> int: ...
    def key(self, template: int, values: Sequence[int]) -> int: ...

class ParserActions:
    def __init__(self, transitions: NDArray[numpy.int32], labels: NDArray[numpy.int32]) -> None: ...
    def __len__(self) -> int: ...

class FeatureRows:
    def __init__(
        self,
        n_columns: int,
        keys: NDArray[numpy.uint64],
        row_ptr: NDArray[numpy.int64],
        columns: NDArray[numpy.int32],
        weights: NDArray[numpy.float32],
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_columns(self) -> int: ...
    def arrays(self) -> dict: ...
    def row(self, key: int) -> NDArray[numpy.float32]: ...

class ParserOracle(Oracle):
    structure: Final[str] = ...

    @staticmethod
    def searching(
        transitions: ParsingTransitions,
        treebank: Treebank,
        templates: ParserTemplates,
        actions: ParserActions,
        beam: int,
        update: BeamUpdate,
        label_cost: float,
        lazy: bool,
    ) -> ParserOracle: ...
    @property
    def n_features(self) -> int: ...
    def weights(self, average: bool) -> dict: ...
    def start_from(self, table: FeatureRows, columns: Sequence[int]) -> None: ...

class DecisionOracle(ParserOracle):
    @staticmethod
    def exploring(
        transitions: ParsingTransitions,
        treebank: Treebank,
        templates: ParserTemplates,
        actions: ParserActions,
        probability: float,
        seed: int,
        label_cost: float,
    ) -> DecisionOracle: ...

def parse(
    transitions: ParsingTransitions,
    treebank: Treebank,
    templates: ParserTemplates,
    actions: ParserActions,
    table: FeatureRows,
    beam: int,
    k: int,
    threads: int,
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int32], NDArray[numpy.int32]]: ...
def explain_tree(
    transitions: ParsingTransitions,
    treebank: Treebank,
    templates: ParserTemplates,
    actions: ParserActions,
    table: FeatureRows,
    beam: int,
) -> tuple[float, list[tuple[int, int, int, float, list[int]]]] | None: ...
def right_actions(
    transitions: ParsingTransitions, treebank: Treebank, actions: ParserActions, lazy: bool
) -> list[list[int]]: ...
def dynamic_costs(
    transitions: ParsingTransitions, treebank: Treebank, actions: ParserActions, taken: Sequence[int]
) -> list[tuple[int, float]]: ...

class Questions:
    def __init__(
        self,
        atoms: NDArray[numpy.int32],
        sequence_ptr: NDArray[numpy.int64],
        choice_ptr: NDArray[numpy.int64],
        lengths: NDArray[numpy.int32],
        pieces: NDArray[numpy.int32],
        evidence: NDArray[numpy.int32],
        priors: NDArray[numpy.float32],
        skips: NDArray[numpy.float32],
        piece_types: NDArray[numpy.int32],
        piece_atoms: NDArray[numpy.int32],
        name_ptr: NDArray[numpy.int64],
        names: NDArray[numpy.int32],
        weights: NDArray[numpy.float64] | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def n_choices(self) -> int: ...

class TypeTables:
    def __init__(
        self, apply: NDArray[numpy.int32], combine: NDArray[numpy.int32], answers: NDArray[numpy.uint8]
    ) -> None: ...

class QuestionTemplates:
    def __init__(
        self, terms: NDArray[numpy.int32], template_ptr: NDArray[numpy.int32], template_terms: NDArray[numpy.int32]
    ) -> None: ...
    def __len__(self) -> int: ...

class RightMeanings:
    def __init__(
        self,
        part_ptr: NDArray[numpy.int64],
        connectives: NDArray[numpy.uint8],
        member_ptr: NDArray[numpy.int64],
        members: NDArray[numpy.int32],
        way_ptr: NDArray[numpy.int64],
        pieces: NDArray[numpy.int32],
        arg_ptr: NDArray[numpy.int64],
        arguments: NDArray[numpy.int32],
        name_ptr: NDArray[numpy.int64],
        names: NDArray[numpy.int32],
    ) -> None: ...
    def find_reach(
        self, questions: Questions, types: TypeTables, most_expressions: int, most_states: int, threads: int
    ) -> None: ...
    def expect_choices(
        self, questions: Questions, types: TypeTables, most_expressions: int, most_states: int, threads: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64], NDArray[numpy.float64]]: ...
    def n_states(self) -> NDArray[numpy.int64]: ...

class QuestionOracle(ParserOracle):
    def __init__(
        self,
        questions: Questions,
        types: TypeTables,
        templates: QuestionTemplates,
        right: RightMeanings,
        beam: int,
        update: BeamUpdate,
        most_expressions: int,
        follows_answer: bool = False,
    ) -> None: ...

def understand(
    questions: Questions,
    types: TypeTables,
    templates: QuestionTemplates,
    table: FeatureRows,
    beam: int,
    most_expressions: int,
    k: int,
    threads: int,
) -> tuple[
    NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.int64], NDArray[numpy.uint8], NDArray[numpy.int32]
]: ...
def explain_meaning(
    questions: Questions,
    types: TypeTables,
    templates: QuestionTemplates,
    table: FeatureRows,
    most_expressions: int,
    actions: NDArray[numpy.uint8],
    choices: NDArray[numpy.int32],
) -> list[tuple[int, int, float, list[int]]]: ...

class RuleTable:
    def __init__(
        self,
        child_ptr: NDArray[numpy.int32],
        child_symbol: NDArray[numpy.int32],
        source_counts: NDArray[numpy.float64],
        rule_ptr: NDArray[numpy.int32],
        rule_target: NDArray[numpy.int32],
        rule_counts: NDArray[numpy.float64],
        lexical: NDArray[numpy.float32],
        target_ptr: NDArray[numpy.int64],
        target_symbols: NDArray[numpy.int32],
        target_counts: NDArray[numpy.float64],
        n_source_words: int,
        n_target_words: int,
    ) -> None: ...
    def features(self, sources: RuleSources | None = None, sentence: int = -1) -> NDArray[numpy.float32]: ...

class RuleSources:
    def __init__(
        self, table: RuleTable, ptr: NDArray[numpy.int64], rules: NDArray[numpy.int32], counts: NDArray[numpy.float64]
    ) -> None: ...

def dense_translation_features() -> list[str]: ...

FIRST_TABLE_FEATURE: int = 9

def extract_rules(
    source_ptr: NDArray[numpy.int64],
    source_words: NDArray[numpy.int32],
    target_ptr: NDArray[numpy.int64],
    target_words: NDArray[numpy.int32],
    link_ptr: NDArray[numpy.int64],
    links: NDArray[numpy.int32],
    n_source_words: int,
    n_target_words: int,
    max_span: int,
    max_source_symbols: int,
    max_nonterminals: int,
    tight: bool,
    fractional: bool,
    min_count: float,
    max_targets: int,
    with_sources: bool,
    threads: int,
) -> tuple[
    tuple[
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.int32],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
        NDArray[numpy.float32],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.float64],
    ],
    tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]],
]: ...

class TranslationUpdate(enum.Enum):
    max_violation = 0

    local = 1

    skip = 2

    standard = 3

class RuleTemplates:
    def __init__(self, terms: NDArray[numpy.int32], ptr: NDArray[numpy.int64]) -> None: ...

def dense_feature_key(feature: int) -> int: ...

class TargetModel:
    def __init__(self, grams: GramModel, words: NDArray[numpy.int32], unknown: int = -1) -> None: ...

class Translations:
    def __init__(
        self,
        table: RuleTable,
        models: Sequence[TargetModel],
        templates: RuleTemplates,
        sentence_ptr: NDArray[numpy.int64],
        words: NDArray[numpy.int32],
        atoms: NDArray[numpy.int32],
        pieces: NDArray[numpy.uint8],
        span_limit: int,
        most_options: int,
        sources: RuleSources | None = None,
        model_of: NDArray[numpy.int32] | None = None,
    ) -> None: ...
    def translate(
        self, weights: FeatureRows, k: int, distinct: bool, pop_limit: int, dense: bool = False, threads: int = 1
    ) -> tuple[
        NDArray[numpy.int64],
        NDArray[numpy.float64],
        NDArray[numpy.int64],
        NDArray[numpy.int32],
        NDArray[numpy.int64],
        tuple[NDArray[numpy.int32], NDArray[numpy.float64]],
        NDArray[numpy.float64],
    ]: ...
    def forests(self, weights: FeatureRows, pop_limit: int, threads: int = 1) -> dict: ...
    def explain(
        self,
        weights: FeatureRows,
        sentence: int,
        steps: NDArray[numpy.int32],
        log_probabilities: NDArray[numpy.float64],
    ) -> list[tuple[int, int, int, float, float]]: ...

class RightTranslations:
    def __init__(
        self,
        translations: Translations,
        sentence_ptr: NDArray[numpy.int64],
        ptr: NDArray[numpy.int64],
        words: NDArray[numpy.int32],
        most_edges: int = 0,
        search: bool = True,
        threads: int = 1,
    ) -> None: ...
    def reachable(self) -> NDArray[numpy.uint8]: ...
    def n_derivations(self) -> NDArray[numpy.float64]: ...
    def forests(self, translations: Translations) -> dict: ...

class TranslationOracle(ParserOracle):
    def __init__(
        self,
        translations: Translations,
        right: RightTranslations,
        update: TranslationUpdate,
        pop_limit: int,
        k_best: int = 100,
        batch: int = 1,
        threads: int = 1,
        sample_weight: NDArray[numpy.float64] | None = None,
        examples: NDArray[numpy.int64] | None = None,
        dense_step: float = 1.0,
        follows_answer: bool = False,
    ) -> None: ...
    @property
    def batch(self) -> int: ...
    def set_dense(self, weights: NDArray[numpy.float64]) -> None: ...
    def update_lengths(self) -> NDArray[numpy.int64]: ...
