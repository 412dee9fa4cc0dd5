"""The inner loops of the chain against each other and against plain recursions: scoring and searching in one loop or in
two, with and without pruning, in both instruction sets, from several threads, and with numbers that are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from margent import _core
from margent.structures import ChainScores
from oracle import recursions

I32, F32 = np.int32, np.float32
LENGTHS = [0, 1, 2, 3, 17, 127, 128, 129, 130, 256, 257, 300]  # alpha is shifted to zero every 128 positions


@pytest.fixture(autouse=True)
def kernels_as_before() -> Iterator[None]:
    yield
    _core.use_avx2(True)


def in_both_instruction_sets(ask: Callable[[], Any]) -> Any:
    """The answer of the machine's own kernels, to the bit that of the portable ones."""
    _core.use_avx2(True)
    own = ask()
    _core.use_avx2(False)
    other = ask()
    _core.use_avx2(True)
    for left, right in zip(own, other, strict=True):
        if left is not None:
            np.testing.assert_array_equal(left, right)
    return own


class Model:
    """A random order-1 chain: weights in padded rows, and sequences of features of the given lengths."""

    def __init__(self, seed: int, n_labels: int, weighted: bool, ties: bool, lengths: list[int]) -> None:
        rng = np.random.default_rng(seed)
        self.n_labels, self.width, self.lengths = n_labels, _core.padded_width(n_labels), lengths
        n_features, n_tokens = 50, sum(lengths)

        def draw(*shape: int) -> np.ndarray:
            return (rng.integers(-1, 2, shape) if ties else rng.normal(size=shape) * 2).astype(F32)

        self.rows = np.zeros((n_features, self.width), F32)
        self.rows[:, :n_labels] = draw(n_features, n_labels)
        self.transitions = np.zeros((n_labels + 1, self.width), F32)
        self.transitions[:, :n_labels] = draw(n_labels + 1, n_labels)
        self.end = np.zeros((1, self.width), F32)
        self.end[0, :n_labels] = draw(n_labels)
        self.sequence_ptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self.ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 6, n_tokens))])
        self.ids = rng.integers(0, n_features, self.ptr[-1]).astype(I32)
        self.values = draw(len(self.ids)) if weighted else None

    def examples(self, **more: Any) -> _core.Examples:
        nothing = dict.fromkeys(("edge_ids", "edge_values", "edge_ptr", "allowed", "allowed_ptr", "labels", "weights"))
        return _core.Examples(self.sequence_ptr, self.ids, self.values, self.ptr, **{**nothing, **more})

    def chain(self, sparse: bool = False) -> _core.LinearChain:
        n = len(self.rows)
        columns = np.tile(np.arange(self.n_labels, dtype=I32), n)
        compressed = np.arange(n + 1) * self.n_labels, columns, self.rows[:, : self.n_labels].reshape(-1).copy()
        return _core.LinearChain(
            self.n_labels, 1, compressed if sparse else self.rows, None, self.transitions, self.end
        )

    def emissions(self, sequence: int) -> np.ndarray:
        """Summed feature by feature in float32, as the kernels do."""
        begin, end = self.sequence_ptr[sequence : sequence + 2]
        out = np.zeros((end - begin, self.width), F32)
        for t in range(begin, end):
            for k in range(self.ptr[t], self.ptr[t + 1]):
                row = self.rows[self.ids[k]]
                out[t - begin] += row if self.values is None else self.values[k] * row
        return out

    def tokens(self, sequence: int) -> slice:
        return slice(*self.sequence_ptr[sequence : sequence + 2])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_labels", [*range(1, 41), 48, 49, 64, 65, 130])
def test_scoring_and_searching_in_one_loop_changes_no_bit(n_labels: int, weighted: bool, ties: bool) -> None:
    model = Model(n_labels, n_labels, weighted, ties, LENGTHS)
    given, chain = model.examples(), model.chain()
    labels, scores = in_both_instruction_sets(lambda: chain.best(given, 1))
    for s, length in enumerate(model.lengths):
        emissions = model.emissions(s)
        score, twin = _core.ChainScores32(n_labels, 1, emissions, model.transitions, model.end, None).best()
        assert scores[s] == score
        assert labels[model.tokens(s)].tolist() == twin.tolist()
        if length and ties:  # sums of small integers are exact, so the tie rule decides
            cut = slice(n_labels)
            exact, known = recursions.viterbi(emissions[:, cut], model.transitions[:, cut], model.end[0, cut])
            assert score == exact
            assert twin.tolist() == known.tolist()
    # Everything that stands in the way of the one loop, and forbids nothing.
    empty = model.examples(allowed=np.empty(0, I32), allowed_ptr=np.zeros(len(model.ptr), np.int64))
    for other in (
        lambda: model.chain(sparse=True).best(given, 1),
        lambda: chain.best(empty, 1),
        lambda: chain.best(given, 3),
    ):
        for left, right in zip(in_both_instruction_sets(other), (labels, scores)):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_labels", [2, 9, 40, 256, 300])
def test_few_allowed_labels(n_labels: int, ties: bool) -> None:
    model = Model(n_labels, n_labels, False, ties, [1, 5, 140])
    rng = np.random.default_rng(1)
    n_tokens = len(model.ptr) - 1
    rows = [rng.choice(n_labels, rng.integers(0, 3), replace=False) for _ in range(n_tokens)]  # none: all are allowed
    allowed_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    given = model.examples(allowed=np.concatenate(rows).astype(I32), allowed_ptr=allowed_ptr)
    labels, scores = in_both_instruction_sets(lambda: model.chain().best(given, 1))
    for s in range(3):
        emissions = model.emissions(s)
        for t, row in enumerate(rows[model.tokens(s)]):
            if len(row):
                emissions[t, np.setdiff1d(np.arange(model.width), row)] = -np.inf
        score, twin = _core.ChainScores32(n_labels, 1, emissions, model.transitions, model.end, None).best()
        assert scores[s] == score
        assert labels[model.tokens(s)].tolist() == twin.tolist()


@pytest.mark.parametrize("n_labels", [2, 9, 40, 256, 300])
def test_k_best_among_allowed_labels(n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    model = Model(n_labels, n_labels, False, True, [1, 5, 140])
    rows = [rng.choice(n_labels, rng.integers(0, 3), replace=False) for _ in range(len(model.ptr) - 1)]
    allowed_ptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    given = model.examples(allowed=np.concatenate(rows).astype(I32), allowed_ptr=allowed_ptr)
    k = 6
    labels, values, counts = in_both_instruction_sets(lambda: model.chain().k_best(given, k, 1))
    for left, right in zip(model.chain().k_best(given, k, 3), (labels, values, counts)):
        np.testing.assert_array_equal(left, right)
    for s, length in enumerate(model.lengths):
        emissions = model.emissions(s).astype(np.float64)
        for t, row in enumerate(rows[model.tokens(s)]):
            if len(row):
                emissions[t, np.setdiff1d(np.arange(model.width), row)] = -np.inf
        arrays = (a.astype(np.float64) for a in (model.transitions, model.end))
        wanted, twins = _core.ChainScores64(n_labels, 1, emissions, *arrays, None).k_best(k)
        assert counts[s] == len(wanted)
        assert values.reshape(-1, k)[s, : counts[s]].tolist() == wanted.tolist()
        begin = k * model.sequence_ptr[s]
        assert labels[begin : begin + counts[s] * length].tolist() == twins.reshape(-1).tolist()


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n_labels", [255, 256, 257, 520])
def test_the_bound_changes_no_bit(n_labels: int, ties: bool) -> None:
    model = Model(n_labels, n_labels, True, ties, [1, 2, 30, 140])
    given, chain = model.examples(), model.chain()
    whole = in_both_instruction_sets(lambda: chain.best(given, 1, False))
    for left, right in zip(in_both_instruction_sets(lambda: chain.best(given, 2, True)), whole):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("n_labels", [3, 32, 40])
@pytest.mark.parametrize("dtype", [F32, np.float64])
def test_sums_and_searches_have_the_same_bits_in_both_instruction_sets(dtype: Any, n_labels: int) -> None:
    rng = np.random.default_rng(n_labels)
    for order in (1, 2) if n_labels == 3 else (1,):
        base = n_labels + 1
        shapes = (140, n_labels), (base**order, n_labels), (base ** (order - 1), n_labels)
        native = ChainScores(*(rng.normal(size=shape).astype(dtype) for shape in shapes)).native()
        for ask in (
            native.best,
            lambda n=native: n.k_best(20),
            lambda n=native: n.marginals(True),
            lambda n=native: n.sample(5, 3),
        ):
            in_both_instruction_sets(ask)


@pytest.mark.parametrize("spread", [1.0, 300.0, 800.0, 5000.0, 1e6])
@pytest.mark.parametrize("dtype", [F32, np.float64])
def test_sums_over_transitions_that_no_exponential_can_hold(dtype: Any, spread: float) -> None:
    """exp(transition - largest) underflows: the step through exponentials must notice and go back to log space."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n_tokens, n_labels = 40, 5
        arrays = [(rng.normal(size=s) * spread).astype(dtype) for s in ((n_labels + 1, n_labels), (1, n_labels))]
        emissions = (rng.normal(size=(n_tokens, n_labels)) * (spread if seed % 2 else 1)).astype(dtype)
        arrays[0][rng.random(arrays[0].shape) < 0.1] = -np.inf
        arrays[0][:, seed % n_labels] = -2 * spread  # a way that is always open, and always bad
        scores = ChainScores(emissions, arrays[0], arrays[1])
        log_z, labels, pairs = scores.native().marginals(True)
        # Edge scores of zero say the same, and keep the sums in log space from the beginning.
        slow = scores.replace(edges=np.zeros((n_tokens, n_labels + 1, n_labels), dtype)).native().marginals(True)
        known, twin, _ = recursions.forward_backward(emissions, arrays[0], arrays[1][0])
        assert np.isfinite(log_z)
        assert log_z == pytest.approx(slow[0], rel=1e-5 if dtype == F32 else 1e-12)
        assert log_z == pytest.approx(known, rel=1e-5 if dtype == F32 else 1e-12)
        near = {"atol": 5e-7 * max(spread, 10) if dtype == F32 else 1e-14 * max(spread, 100)}
        if near["atol"] < 0.01:  # beyond, the digits of a float decide which labelling is the best
            np.testing.assert_allclose(labels, slow[1], **near)
            np.testing.assert_allclose(labels, twin, atol=100 * near["atol"])
            np.testing.assert_allclose(pairs, slow[2], **near)
        np.testing.assert_allclose(labels.sum(axis=1), 1)


POISONS = [(np.nan,), (np.inf,), (-np.inf,), (np.nan, np.inf, -np.inf), (3e38, -3e38)]


@pytest.mark.parametrize("poison", POISONS, ids=str)
@pytest.mark.parametrize(("n_labels", "order"), [(1, 1), (8, 1), (32, 1), (40, 1), (300, 1), (8, 2), (3, 3)])
def test_what_is_no_number_gives_labels_all_the_same(n_labels: int, order: int, poison: tuple[float, ...]) -> None:
    rng = np.random.default_rng(n_labels)
    base, width, lengths = n_labels + 1, _core.padded_width(n_labels), [1, 2, 7, 131 if n_labels < 50 else 3]
    n_tokens = sum(lengths)

    def poisoned(shape: tuple[int, ...], share: float, dtype: Any = F32) -> np.ndarray:
        array = rng.normal(size=shape).astype(dtype)
        where = rng.random(shape) < share
        array[where] = rng.choice(poison, where.sum())
        return array

    for share in (0.01, 0.3, 1.0):
        shapes = (n_tokens, width), (base**order, width), (base ** (order - 1), width)
        rows, transitions, end = (poisoned(shape, share) for shape in shapes)
        each = np.arange(n_tokens + 1)
        nothing = dict.fromkeys(("edge_values", "allowed", "allowed_ptr", "labels", "weights"))
        compressed = np.array([0, base * width]), np.arange(base * width, dtype=I32), poisoned((base * width,), share)
        examples, models = [], []
        for edge_ids in (None, np.zeros(n_tokens, I32)) if n_labels < 50 else (None,):
            edge_ptr = None if edge_ids is None else each
            sequence_ptr = np.concatenate([[0], np.cumsum(lengths)])
            ids = each[:-1].astype(I32)
            examples.append(
                _core.Examples(sequence_ptr, ids, None, each, edge_ids=edge_ids, edge_ptr=edge_ptr, **nothing)
            )
            edges = None if edge_ids is None else compressed
            models.append(_core.LinearChain(n_labels, order, rows, edges, transitions, end))
        for avx2 in (True, False):
            _core.use_avx2(avx2)
            for model, given in zip(models, examples):
                found = [model.best(given, 1)[0], model.k_best(given, 3, 1)[0], model.samples(given, 1.0, 0, 2, 1)[0]]
                for labels in found:
                    assert ((labels >= 0) & (labels < n_labels)).all()
                model.marginals(given, 1.0, n_labels < 50, 1)
                masks = np.ones((1, base), np.uint8)
                span = [np.array(a, I32) for a in ([1], [3])]
                model.span_log_probabilities(
                    given, 1.0, np.array([2]), *span, np.array([0, 2]), np.zeros(2, I32), masks, masks, 1
                )
            for make, dtype in ((_core.ChainScores32, F32), (_core.ChainScores64, np.float64)):
                arrays = [a.astype(dtype) for a in (rows, transitions, end)]
                native = make(n_labels, order, *arrays, None)
                found = [native.best()[1], native.k_best(3)[1], native.sample(2, 0)[1]]
                for labels in found:
                    assert ((labels >= 0) & (labels < n_labels)).all()
                native.marginals(n_labels < 50)


@pytest.mark.parametrize("poison", POISONS, ids=str)
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("order", [1, 2])
def test_training_survives_weights_that_are_no_numbers(order: int, sparse: bool, poison: tuple[float, ...]) -> None:
    """Also where labels are missing, and the gold side is itself the result of a search."""
    rng = np.random.default_rng(0)
    n_labels, lengths = 8, [1, 3, 140]
    n_tokens = sum(lengths)
    each = np.arange(n_tokens + 1)
    labels = rng.integers(-1, n_labels, n_tokens).astype(I32)
    for share in (0.05, 1.0):
        given = _core.Examples(
            np.concatenate([[0], np.cumsum(lengths)]),
            rng.integers(0, 20, n_tokens).astype(I32),
            None,
            each,
            rng.integers(0, 3, n_tokens).astype(I32),
            None,
            each,
            None,
            None,
            labels,
            None,
        )
        oracle = _core.ChainOracle(given, n_labels, order, True, 20, 3, sparse, [])
        weights = oracle.weights(False)
        rows = np.where(rng.random((20, 8)) < share, rng.choice(poison, (20, 8)), 1).astype(F32)
        every = np.arange(21) * 8, np.tile(np.arange(8, dtype=I32), 20), rows.reshape(-1)
        weights["unigrams"] = every if sparse else rows
        for name in ("transitions", "ends"):
            for array in weights[name]:
                where = rng.random(array.shape) < share / 10
                array[where] = rng.choice(poison, where.sum())
        oracle.start_from(weights)
        _core.run(oracle, _core.PerceptronRule(0.0), np.tile(np.arange(3), 3))
        _core.run(oracle, _core.PerceptronRule(1.0), np.arange(3))
        for example in range(3):
            oracle.ask(example, 4, 0.5)
