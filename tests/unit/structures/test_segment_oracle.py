"""The oracle of semi-Markov models: scores, rivals, deltas and likelihood against plain definitions and enumeration."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import _core
from oracle import enumeration, segment_features, segmentations


class Frames:
    """A small model of frames: native, and as a dense feature vector of a segmentation."""

    def __init__(self, seed, lengths=(5, 4), n_labels=3, dimensions=2, full=True, mean=True, components=1, timed=True):
        rng = np.random.default_rng(seed)
        self.n_labels, self.full, self.mean, self.components = n_labels, full, mean, components
        self.bins = rng.integers(1, 4, n_labels)
        self.longest = rng.integers(2, 5, n_labels)
        self.shortest = np.ones(n_labels, dtype=int)
        self.frames = [rng.normal(size=(length, dimensions)).astype(np.float32) for length in lengths]
        self.ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.data = _core.FrameData(
            self.bins.tolist(), self.longest.tolist(), components, full, mean, np.concatenate(self.frames), self.ptr
        )
        self.statistics, self.columns, self.place = self.data.columns
        self.gold = [self.random_segments(rng, length) for length in lengths]
        self.setup(rng, timed)

    components = 1

    def setup(self, rng, timed):
        self.kept = {}
        self.timed = timed
        most = int(self.longest.max())
        rows = np.array([segment_features.gamma_durations(max(d, 1)) for d in range(most + 1)])
        self.model = _core.SegmentModel(self.n_labels, self.shortest.tolist(), self.longest.tolist(), rows, None, True)
        self.at = self.model.layout(self.data.n_weights)
        self.used = np.zeros(self.at[-1], dtype=bool)  # weights that stand for something: not padding
        for label in range(self.n_labels):
            self.used |= self.features_of_all(label)
        self.weights = np.where(self.used, rng.normal(size=self.at[-1]), 0).astype(np.float32)

    def teach(self):
        """What is right is now what the weights say; they are forgotten."""
        _, (ptr, found) = self.model.best(self.data, self.weights, 1)
        self.gold = [tuple(map(tuple, found[a:b].tolist())) for a, b in pairwise(ptr)]
        self.weights[:] = 0
        return self

    def oracle(self, boundary_cost=0.0, label_costs=()):
        ptr = np.concatenate([[0], np.cumsum([len(g) for g in self.gold])]).astype(np.int64)
        flat = np.array([s for g in self.gold for s in g], dtype=np.int32)
        timed = np.full(len(self.gold), self.timed, np.uint8)
        given = _core.GoldSegments(ptr, flat[:, 2].copy(), flat[:, 1].copy(), timed, None)
        oracle = _core.SegmentOracle(self.model, self.data, given, 1.0, boundary_cost, list(label_costs))
        oracle.start_from(self.weights)
        return oracle

    def random_segments(self, rng, length):
        while True:
            segments, end = [], 0
            while end < length:
                label = int(rng.integers(self.n_labels))
                begin, end = end, end + int(rng.integers(1, self.longest[label] + 1))
                segments.append((begin, end, label))
            if end == length:
                return tuple(segments)

    def features_of_all(self, label):
        used = np.zeros(self.at[-1], dtype=bool)
        width = _core.padded_width(self.n_labels)
        for column in self.place[label].ravel():
            if column >= 0:
                used[column : self.statistics * self.columns : self.columns] = True
        used[[self.at[0] + f * width + label for f in range(3)]] = True
        used[[self.at[1] + label * width + other for other in range(self.n_labels)]] = True
        used[[self.at[2] + label, self.at[3] + label]] = True
        return used

    def content(self, i, begin, end, label, out):
        """Adds the content of a segment; of several components, the best for each frame."""
        B = int(self.bins[label])
        shares = segment_features.bin_shares(end - begin, B) * (B / (end - begin) if self.mean else 1)
        table = self.weights[: self.statistics * self.columns].reshape(self.statistics, self.columns)
        for k in range(B):
            for t in range(begin, end):
                z = segment_features.statistics(self.frames[i][t], self.full)
                columns = self.place[label, k]
                column = columns[int(np.argmax(z @ table[:, columns]))]
                out[np.arange(self.statistics) * self.columns + column] += shares[k, t - begin] * z

    def segment(self, i, begin, end, label):
        """The features of a segment by itself; those of the best components change with the weights."""
        key = i, begin, end, label
        if key not in self.kept:
            out = np.zeros(self.at[-1])
            self.content(i, begin, end, label, out)
            durations = self.at[0] + _core.padded_width(self.n_labels) * np.arange(3) + label
            out[durations] += segment_features.gamma_durations(end - begin)
            self.kept[key] = out
        return self.kept[key]

    def features(self, i, segments):
        width = _core.padded_width(self.n_labels)
        out = sum(self.segment(i, *segment) for segment in segments)
        for (_, _, before), (_, _, label) in pairwise(segments):
            out[self.at[1] + before * width + label] += 1
        out[self.at[2] + segments[0][2]] += 1
        out[self.at[3] + segments[-1][2]] += 1
        return out

    def listed(self, i):
        def score(segments):
            for begin, end, label in segments:
                if not self.shortest[label] <= end - begin <= self.longest[label]:
                    return -np.inf
            return float(self.features(i, segments) @ self.weights)

        length = int(self.ptr[i + 1] - self.ptr[i])
        return segmentations.segmentations(length, self.n_labels, int(self.longest.max()), score)


class Tokens(Frames):
    """A small model of tokens with features of their inside, their ends and the whole."""

    def __init__(self, seed, lengths=(5, 4), n_labels=3, timed=True):
        rng = np.random.default_rng(seed)
        self.n_labels, self.n_features = n_labels, 7
        self.longest = rng.integers(2, 4, n_labels)
        self.shortest = np.ones(n_labels, dtype=int)
        self.ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        n, most = int(self.ptr[-1]), int(self.longest.max())
        self.most = most
        self.parts = [self.random_part(rng, rows) for rows in (n, n, n, n * most)]
        arrays = [self.compressed(part) for part in self.parts]
        self.data = _core.TokenData(n_labels, self.n_features, most, self.ptr, *arrays)
        self.gold = [self.random_segments(rng, length) for length in lengths]
        self.setup(rng, timed)

    def random_part(self, rng, rows):
        return [
            [(int(f), float(np.float32(rng.normal()))) for f in rng.integers(0, self.n_features, rng.integers(0, 3))]
            for _ in range(rows)
        ]

    @staticmethod
    def compressed(part):
        ids = np.array([f for row in part for f, _ in row], dtype=np.int32)
        values = np.array([x for row in part for _, x in row], dtype=np.float32)
        return ids, values, np.concatenate([[0], np.cumsum([len(row) for row in part])]).astype(np.int64)

    def features_of_all(self, label):
        used = np.zeros(self.at[-1], dtype=bool)
        width = _core.padded_width(self.n_labels)
        used[label : self.at[0] : width] = True
        used[[self.at[0] + f * width + label for f in range(3)]] = True
        used[[self.at[1] + label * width + other for other in range(self.n_labels)]] = True
        used[[self.at[2] + label, self.at[3] + label]] = True
        return used

    def content(self, i, begin, end, label, out):
        inside, first, last, whole = self.parts
        at = int(self.ptr[i])
        rows = [inside[at + t] for t in range(begin, end)]
        rows += [first[at + begin], last[at + end - 1], whole[(at + begin) * self.most + end - begin - 1]]
        for row in rows:
            for feature, value in row:
                out[feature * _core.padded_width(self.n_labels) + label] += value


NEAR = {"rel": 1e-4, "abs": 1e-4}
cases = st.one_of(
    st.builds(Frames, st.integers(0, 10**6), full=st.booleans(), mean=st.booleans(), components=st.integers(1, 3)),
    st.builds(Tokens, st.integers(0, 10**6)),
)


def dense(vector, size):
    out = np.zeros(size)
    for index, value in vector.items():
        out[index] = value
    return out


@settings(deadline=None, max_examples=25)
@given(cases, st.sampled_from([0.0, 1.0, 2.5]), st.sampled_from([0.0, 0.5]), st.booleans(), st.integers(1, 6))
def test_answers_agree_with_definitions(problem, cost, boundary_cost, weighted, k):
    costs = [0.5 + label for label in range(problem.n_labels)] if weighted else None
    oracle = problem.oracle(boundary_cost, costs or ())
    for i in range(len(problem.gold)):
        listed = problem.listed(i)
        scores = {item: score for score, item in listed}
        gold = problem.gold[i]
        gold_score, rivals = oracle.ask(i, k, cost)
        assert gold_score == pytest.approx(scores[gold], **NEAR)
        loss = {item: segmentations.losses(item, gold, boundary_cost, costs) for item in scores}
        best = sorted((scores[item] + cost * loss[item] for item in scores), reverse=True)[:k]
        assert [score + cost * lost for score, lost, _, _ in rivals] == pytest.approx(best, **NEAR)
        for j, (score, lost, errors, delta) in enumerate(rivals):
            vector = dense(delta, problem.at[-1])
            assert vector @ problem.weights == pytest.approx(gold_score - score, **NEAR)
            # Which segmentation it was: the one with this difference of features.
            close = [item for item in scores if abs(scores[item] - score) < 1e-3 and loss[item] == pytest.approx(lost)]
            wanted = problem.features(i, gold)
            assert any(np.allclose(vector, wanted - problem.features(i, item), atol=1e-4) for item in close)
            assert (errors == 0) == (not np.any(vector))
            assert oracle.dot(0, j) == pytest.approx(dense(rivals[0][3], problem.at[-1]) @ vector, **NEAR)


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([Frames, Tokens]))
def test_unknown_times_are_filled_in(seed, kind):
    problem = kind(seed, timed=False)
    oracle = problem.oracle()
    for i, gold in enumerate(problem.gold):
        labels = [label for _, _, label in gold]
        listed = [(s, item) for s, item in problem.listed(i) if [label for _, _, label in item] == labels]
        assert oracle.ask(i, 1, 1.0)[0] == pytest.approx(enumeration.best(listed)[0], **NEAR)


@settings(deadline=None, max_examples=12)
@given(cases, st.booleans(), st.integers(1, 3))
def test_likelihood_is_that_of_the_list_and_its_gradient_that_of_finite_differences(problem, timed, threads):
    if not timed:
        problem = type(problem)(7, timed=False)
    oracle = problem.oracle()
    likelihood = oracle.likelihood(all_pairs=True, all_transitions=True, threads=threads)
    start = likelihood.parameters()
    value, gradient = likelihood.evaluate(start)
    expected = 0.0
    for i, gold in enumerate(problem.gold):
        listed = problem.listed(i)
        labels = [label for _, _, label in gold]
        right = [
            (s, item) for s, item in listed if (item == gold if timed else [label for _, _, label in item] == labels)
        ]
        expected += enumeration.log_partition(listed) - enumeration.log_partition(right)
    assert value == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert likelihood.value() == pytest.approx(value, rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(4):
        direction = rng.normal(size=len(start))
        direction /= np.linalg.norm(direction)
        h = 2e-3
        # Parameters are kept in single precision, so the step is what was really made.
        likelihood.set_parameters(start + h * direction)
        up = likelihood.parameters()
        likelihood.set_parameters(start - h * direction)
        down = likelihood.parameters()
        slope = likelihood.evaluate(up)[0] - likelihood.evaluate(down)[0]
        assert gradient @ (up - down) == pytest.approx(slope, rel=2e-2, abs=2e-4)


@pytest.mark.parametrize("kind", [Frames, Tokens])
def test_the_best_completion_may_stand_for_all(kind):
    problem = kind(9, timed=False)
    likelihood = problem.oracle().likelihood(all_pairs=True, all_transitions=True, best_completion=True)
    expected = 0.0
    for i, gold in enumerate(problem.gold):
        listed, labels = problem.listed(i), [label for _, _, label in gold]
        right = [(s, item) for s, item in listed if [label for _, _, label in item] == labels]
        expected += enumeration.log_partition(listed) - enumeration.best(right)[0]
    assert likelihood.evaluate(likelihood.parameters())[0] == pytest.approx(expected, rel=1e-4)


def test_the_same_bits_for_any_number_of_threads():
    problem = Frames(3, lengths=(20,) * 40)
    values = []
    for threads in (1, 3):
        likelihood = problem.oracle().likelihood(all_pairs=True, all_transitions=True, threads=threads)
        values.append(likelihood.evaluate(likelihood.parameters()))
        assert likelihood.threads == threads
    assert values[0][0] == values[1][0]
    np.testing.assert_array_equal(values[0][1], values[1][1])
    best = [problem.model.best(problem.data, problem.weights, threads) for threads in (1, 4)]
    np.testing.assert_array_equal(best[0][0], best[1][0])
    np.testing.assert_array_equal(best[0][1][1], best[1][1][1])


def test_only_parameters_that_were_seen():
    problem = Tokens(5)
    few = problem.oracle().likelihood()
    everything = problem.oracle().likelihood(all_pairs=True, all_transitions=True)
    assert few.n_parameters <= everything.n_parameters == problem.used.sum()
    problem.weights[:] = 0
    few = problem.oracle().likelihood()
    seen = np.zeros(problem.at[-1], dtype=bool)
    for i, gold in enumerate(problem.gold):
        seen |= problem.features(i, gold) != 0
    width = _core.padded_width(problem.n_labels)
    seen[problem.at[0] : problem.at[1]] = np.arange(problem.at[1] - problem.at[0]) % width < problem.n_labels
    assert few.n_parameters == seen.sum()


@pytest.mark.parametrize("kind", [Frames, Tokens])
def test_subgradient_reaches_the_optimum_of_the_primal(kind):
    from scipy.optimize import minimize

    problem = kind(11, lengths=(4, 4, 3), n_labels=2)
    C = 0.05
    tables = []
    for i, gold in enumerate(problem.gold):
        items = [item for _, item in problem.listed(i)]
        features = np.array([problem.features(i, item) for item in items])
        losses = np.array([segmentations.losses(item, gold) for item in items])
        tables.append((problem.features(i, gold) - features, losses))

    def objective(w):
        slack = [max(0.0, float((losses - deltas @ w).max())) for deltas, losses in tables]
        return 0.5 * float(w @ w) + C * sum(slack)

    # min 1/2 |w|^2 + C sum xi as a smooth problem with constraints, in the span of the deltas.
    basis = np.linalg.svd(np.concatenate([d for d, _ in tables]), full_matrices=False)[2]
    basis = basis[: np.linalg.matrix_rank(np.concatenate([d for d, _ in tables]))]
    n = len(basis)
    constraints = [
        {"type": "ineq", "fun": lambda v, d=d @ basis.T, c=c, i=i: d @ v[:n] - c + v[n + i]}
        for i, (d, c) in enumerate(tables)
    ]
    found = minimize(
        lambda v: 0.5 * v[:n] @ v[:n] + C * v[n:].sum(),
        np.concatenate([np.zeros(n), [losses.max() for _, losses in tables]]),
        constraints=constraints,
        bounds=[(None, None)] * n + [(0, None)] * len(tables),
        options={"maxiter": 500},
    )
    assert found.success
    problem.weights[:] = 0
    for method, epochs in (("subgradient", 1500), ("frank-wolfe", 200)):
        result = margent.train(
            margent.StructuredSVM(C=C, method=method, epochs=epochs), problem.oracle(), progress=False
        )
        assert objective(result.weights.astype(float)) == pytest.approx(found.fun, rel=0.02)


@pytest.mark.parametrize(
    "learner",
    [
        margent.Perceptron(epochs=20),
        margent.Perceptron(epochs=20, k=3),
        margent.PassiveAggressive(epochs=20),
        margent.MIRA(epochs=10, k=3),
        margent.SDM(epochs=10, k=3),
        margent.LaRank(epochs=10, k=2),
        margent.StructuredSVM(epochs=50, C=10),
        margent.CRF(l2=1e-3),
        margent.CRF(l2=1e-3, method="sgd", epochs=100),
    ],
    ids=lambda learner: f"{type(learner).__name__}-{getattr(learner, 'method', '')}{getattr(learner, 'k', '')}",
)
@pytest.mark.parametrize("kind", [Frames, Tokens])
def test_every_learner_fits_a_small_problem(learner, kind):
    problem = kind(2, lengths=(6, 5, 6, 4)).teach()
    result = margent.train(learner, problem.oracle(), progress=False)
    _, (ptr, found) = problem.model.best(problem.data, result.weights, 1)
    right = sum(np.array_equal(found[ptr[i] : ptr[i + 1]], np.array(gold)) for i, gold in enumerate(problem.gold))
    assert right == len(problem.gold)


def test_the_perceptron_step_by_step():
    problem = Frames(4, lengths=(4, 3, 4))
    start = problem.weights.copy()  # not zero: there all answers are equally good
    weights = start.astype(float)
    for _ in range(3):
        for i, gold in enumerate(problem.gold):
            problem.weights[:] = weights
            item = enumeration.best(problem.listed(i))[1]
            if item != gold:
                weights += problem.features(i, gold) - problem.features(i, item)
    problem.weights[:] = start
    learner = margent.Perceptron(epochs=3, average=False, shuffle=False)
    result = margent.train(learner, problem.oracle(), progress=False)
    np.testing.assert_allclose(result.weights, weights, atol=1e-3)
