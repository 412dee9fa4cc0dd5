"""EM over co-segments against EM by enumeration; smoothing against Kneser and Ney on dicts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import margent
from margent import EM, _core
from margent.learners.em import CosegmentLikelihood
from margent.structures import Cosegments
from oracle import cosegments as oracle

SIZES = ((0, 1), (1, 0), (1, 1))
PAIRS = [([0, 1, 2], [0, 1]), ([1, 0], [1, 0, 2]), ([2, 2, 0], [2, 0]), ([1], [1]), ([0, 2, 1], [0, 2, 1])]


def problem(sizes: tuple[tuple[int, int], ...] = SIZES) -> Cosegments:
    return Cosegments([word for word, _ in PAIRS], [spoken for _, spoken in PAIRS], sizes)


def quiet(done: int) -> None:
    pass


@pytest.mark.parametrize("sizes", [SIZES, ((1, 0), (1, 1), (1, 2), (2, 1))])
def test_em_is_that_of_enumeration(sizes: tuple[tuple[int, int], ...]) -> None:
    pairs = [pair for pair in PAIRS if list(oracle.alignments(*pair, sizes))]
    data = Cosegments([word for word, _ in pairs], [spoken for _, spoken in pairs], sizes)
    likelihood = CosegmentLikelihood(data, threads=2, beam=0, prune_count=0.0)
    names = [*oracle.graphones_of_arrays(*data.graphones.arrays()), oracle.END, oracle.START]
    model, model_order = None, 1
    for order in (1, 1, 2, 2, 3, 3, 4):
        expected, _, model = oracle.em_step(pairs, sizes, model, model_order, order)
        model_order = order
        assert likelihood.step(order, quiet, smoothed=False) == pytest.approx(expected, abs=1e-9)
        for gram, p in model.items():
            *history, graphone = (names.index(name) for name in gram)
            assert np.exp(likelihood._model.log_probability(history, graphone)) == pytest.approx(p, abs=1e-9)


def test_the_likelihood_rises_at_every_exact_step() -> None:
    rng = np.random.default_rng(3)
    words = [rng.integers(0, 4, rng.integers(1, 8)).tolist() for _ in range(200)]
    spoken = [[letter for letter in word if letter or rng.random() < 0.5] for word in words]
    data = Cosegments(words, spoken, SIZES)
    learner = EM(order=4, iterations=4, beam=None, smoothing=False, min_expected_count=0, prune_count=0)
    history = margent.train(learner, data).history
    values = [-(epoch.objective or 0) for epoch in history]
    assert len(values) == 8 + 3 * 4
    assert all(later >= earlier - 1e-7 for earlier, later in pairwise(values))
    assert values[-1] > values[0] + 100


def test_a_beam_that_covers_the_lattice_is_exact_and_a_small_one_is_not() -> None:
    def values(beam: int | None) -> list[float]:
        learner = EM(order=3, beam=beam, smoothing=False, min_expected_count=0, prune_count=0)
        return [epoch.objective or 0 for epoch in margent.train(learner, problem()).history]

    assert values(10_000) == values(None)
    assert values(1)[-1] != values(None)[-1]


def test_smoothing_is_that_of_kneser_and_ney() -> None:
    rng = np.random.default_rng(0)
    n_graphones, order = 4, 3
    counts: dict[tuple[object, ...], float] = {}
    native = _core.GramCounts()
    for _ in range(12):
        alignment = [(int(u),) for u in rng.integers(0, n_graphones, rng.integers(1, 6))]
        for gram in oracle.grams(alignment, order):  # type: ignore[arg-type]
            count = float(rng.choice([0.2, 0.7, 1.0, 1.5, 2.3]))
            counts[gram] = counts.get(gram, 0) + count
            native.add([_number(graphone, n_graphones) for graphone in gram], count)
    discounts = [[0.3, 0.5, 0.6], [0.5, 0.8, 1.1], [0.7, 1.1, 1.4]]
    expected = oracle.kneser_ney(counts, discounts, n_graphones)  # type: ignore[arg-type]
    model = _core.GramModel.of(native, n_graphones)
    model.estimate(np.array(discounts))
    graphones: list[object] = [*((u,) for u in range(n_graphones)), oracle.END]
    for history in [(), ((1,),), ((0,), (2,)), (oracle.START,), (oracle.START, (3,)), ((2,), (2,))]:
        numbers = [_number(graphone, n_graphones) for graphone in history]
        for made in (model, model.trimmed(), _core.GramModel.stored(n_graphones, *model.trimmed().arrays())):
            found = [np.exp(made.log_probability(numbers, _number(graphone, n_graphones))) for graphone in graphones]
            assert found == pytest.approx([expected(graphone, history) for graphone in graphones], abs=1e-6)
            assert sum(found) == pytest.approx(1, abs=1e-6)


def _number(graphone: object, n_graphones: int) -> int:
    if graphone == oracle.END:
        return n_graphones
    return n_graphones + 1 if graphone == oracle.START else graphone[0]  # type: ignore[index, no-any-return]


def test_threads_do_not_change_the_model() -> None:
    rng = np.random.default_rng(1)
    words = [rng.integers(0, 5, 6).tolist() for _ in range(300)]
    data = [Cosegments(words, words, SIZES, n_held_out=30) for _ in range(2)]
    one, three = (margent.train(EM(order=3), d, threads=t).weights for d, t in zip(data, (1, 3)))
    assert all(np.array_equal(a, b) for a, b in zip(one["grams"], three["grams"]))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("order", 0),
        ("order", 13),
        ("beam", 0),
        ("iterations", 0),
        ("min_expected_count", -1),
        ("smoothing", "yes"),
        ("prune_count", 2),
    ],
)
def test_wrong_parameters_are_named(parameter: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"{parameter} of EM"):
        EM(**{parameter: value})  # type: ignore[arg-type]
