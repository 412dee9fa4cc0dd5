from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from margent.errors import CorpusError
from margent.metrics import SentenceMetric, mcnemar_test, paired_bootstrap, span_scores, token_scores


def outcomes(only_first: int, only_second: int, both: int = 3) -> tuple[list[list[str]], ...]:
    """Three sides, one token a sentence, with so many tokens right in only one of the systems."""
    total = only_first + only_second + both
    first = [["a"]] * only_first + [["b"]] * only_second + [["a"]] * both
    second = [["b"]] * only_first + [["a"]] * (only_second + both)
    return [["a"]] * total, first, second


@pytest.mark.parametrize(("b", "c"), [(0, 0), (3, 3), (0, 6), (10, 4), (24, 0), (12, 13), (40, 20), (300, 310)])
def test_mcnemar_is_the_textbook_test(b: int, c: int) -> None:
    result = mcnemar_test(*outcomes(b, c))
    assert (result.only_first, result.only_second, result.exact) == (b, c, b + c < 25)
    exact = mcnemar_test(*outcomes(b, c), exact=True).p_value
    assert exact == pytest.approx(scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0)
    rough = mcnemar_test(*outcomes(b, c), exact=False)
    statistic = max(abs(b - c) - 1, 0) ** 2 / max(b + c, 1)
    assert rough.statistic == pytest.approx(statistic)
    assert rough.p_value == pytest.approx(scipy.stats.chi2.sf(statistic, 1))


def test_two_wrong_systems_do_not_count() -> None:
    assert mcnemar_test([["a", "a"]], [["b", "c"]], [["c", "b"]])[:2] == (0, 0)


def corpus(errors: float, seed: int, gold: list[list[str]]) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    return [[label if generator.random() > errors else "O" for label in labels] for labels in gold]


GOLD = [["B-X", "I-X", "O", "B-Y"], ["O", "B-X"], ["B-Y", "I-Y", "I-Y"]] * 60


def test_bootstrap_agrees_with_a_plain_loop() -> None:
    first, second = corpus(0.2, 1, GOLD), corpus(0.15, 2, GOLD)
    result = paired_bootstrap(GOLD, first, second, samples=3000, seed=5)
    assert result.first == pytest.approx(span_scores(GOLD, first).f1)
    assert result.second == pytest.approx(span_scores(GOLD, second).f1)
    assert result.difference == pytest.approx(result.second - result.first)
    generator = np.random.default_rng(99)
    differences = []
    for _ in range(400):
        drawn = generator.integers(len(GOLD), size=len(GOLD))
        gold, one, two = ([side[i] for i in drawn] for side in (GOLD, first, second))
        differences.append(span_scores(gold, two).f1 - span_scores(gold, one).f1)
    assert [result.low, result.high] == pytest.approx(np.quantile(differences, [0.025, 0.975]), abs=0.015)
    plain = np.mean(np.abs(np.array(differences) - result.difference) >= abs(result.difference))
    assert result.p_value == pytest.approx(plain, abs=0.08)


def test_bootstrap_tells_luck_from_skill() -> None:
    first = corpus(0.3, 1, GOLD)
    assert paired_bootstrap(GOLD, first, corpus(0.02, 2, GOLD), samples=2000).p_value < 0.01
    assert paired_bootstrap(GOLD, first, corpus(0.3, 3, GOLD), samples=2000).p_value > 0.05
    assert paired_bootstrap(GOLD, first, first, samples=100).p_value == 1


def test_bootstrap_is_repeatable_and_symmetric() -> None:
    first, second = corpus(0.2, 1, GOLD), corpus(0.1, 2, GOLD)
    one = paired_bootstrap(GOLD, first, second, samples=500, seed=3)
    assert one == paired_bootstrap(GOLD, first, second, samples=500, seed=3)
    assert one != paired_bootstrap(GOLD, first, second, samples=500, seed=4)
    back = paired_bootstrap(GOLD, second, first, samples=500, seed=3)
    assert back.p_value == one.p_value and back.low == pytest.approx(-one.high)


@pytest.mark.parametrize("metric", ["accuracy", "sentence_accuracy", "inside_f1"])
def test_other_metrics(metric: str) -> None:
    first, second = corpus(0.2, 1, GOLD), corpus(0.1, 2, GOLD)
    result = paired_bootstrap(GOLD, first, second, metric, samples=50)
    for side, value in ((first, result.first), (second, result.second)):
        report = token_scores(GOLD, side)
        assert value == pytest.approx(report.inside.f1 if metric == "inside_f1" else getattr(report, metric))


def test_a_metric_of_ones_own() -> None:
    recall_of_x = SentenceMetric(
        lambda gold, predicted: np.array(
            [[sum(a == b == "B-X" for a, b in zip(g, p)), list(g).count("B-X")] for g, p in zip(gold, predicted)]
        ),
        lambda sums: sums[:, 0] / np.maximum(sums[:, 1], 1),
    )
    first, second = corpus(0.2, 1, GOLD), corpus(0.1, 2, GOLD)
    result = paired_bootstrap(GOLD, first, second, recall_of_x, samples=50)
    rows = {row.label: row for row in token_scores(GOLD, second).rows}
    assert result.second == pytest.approx(rows["B-X"].recall)
    wrong = SentenceMetric(lambda gold, predicted: np.zeros(3), lambda sums: sums)
    with pytest.raises(CorpusError, match=r"shape \(3,\), but one row for each of 180"):
        paired_bootstrap(GOLD, first, second, wrong)


def test_wrong_input_is_named() -> None:
    assert paired_bootstrap([], [], []).p_value == 1
    with pytest.raises(CorpusError, match="unknown metric 'bleu'; the metrics are span_f1"):
        paired_bootstrap(GOLD, GOLD, GOLD, "bleu")
    with pytest.raises(CorpusError, match="samples is 0"):
        paired_bootstrap(GOLD, GOLD, GOLD, samples=0)
    for test in (mcnemar_test, paired_bootstrap):
        with pytest.raises(CorpusError, match="sentence 0 has 1 gold labels, but 2 predicted ones"):
            test([["a"]], [["a"]], [["a", "a"]])
