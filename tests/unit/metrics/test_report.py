from __future__ import annotations

import io

from rich.console import Console

from margent.metrics import (
    classification_table,
    confusion_matrix,
    confusion_table,
    rich_table,
    span_scores,
    token_scores,
)

GOLD = [["B-NP", "I-NP", "O"], ["B-VP"]]
PREDICTED = [["B-NP", "I-NP", "B-VP"], ["O"]]


def test_span_table() -> None:
    assert classification_table(span_scores(GOLD, PREDICTED)) == (
        "type              precision  recall      F1  gold  found\n"
        "--------------------------------------------------------\n"
        "NP                   100.00  100.00  100.00     1      1\n"
        "VP                     0.00    0.00    0.00     1      1\n"
        "--------------------------------------------------------\n"
        "all spans             50.00   50.00   50.00     2      2\n"
        "macro average         50.00   50.00   50.00     2      2\n"
        "weighted average      50.00   50.00   50.00     2      2\n"
        "--------------------------------------------------------\n"
        "accuracy 50.00 % of 4 tokens\n"
    )


def test_token_table_shows_chunks_only_where_there_are_any() -> None:
    table = classification_table(token_scores(GOLD, PREDICTED))
    assert "tokens in chunks      66.67   66.67   66.67     3      3" in table
    assert table.endswith("accuracy 50.00 % of 4 tokens, 0.00 % of 2 sentences\n")
    assert "tokens in chunks" not in classification_table(token_scores([["NN", "VB"]], [["NN", "NN"]]))


def test_tables_of_nothing() -> None:
    for report in (span_scores([], []), token_scores([], [])):
        assert "accuracy 0.00 % of 0 tokens" in classification_table(report)
        rich_table(report)
    assert "(no type)" in classification_table(span_scores([["B"]], [["B"]]))


def test_rich_table_has_the_same_numbers() -> None:
    stream = io.StringIO()
    report = token_scores([["[b]", "O"]], [["[b]", "[b]"]])
    Console(file=stream, width=100).print(rich_table(report, "Labels"))
    shown = stream.getvalue()
    assert "Labels" in shown and "[b]" in shown and "tokens in chunks" in shown
    numbers = [line.split()[-5:] for line in classification_table(report).splitlines() if line.startswith("[b]")]
    assert numbers == [line.split()[-5:] for line in shown.splitlines() if line.strip().startswith("[b]")]


def test_confusion_table() -> None:
    matrix = confusion_matrix(GOLD, PREDICTED)
    assert confusion_table(matrix) == "count  gold  predicted\n    1  B-VP  O\n    1  O     B-VP\n"
    assert confusion_table(matrix, top=1).count("\n") == 2
