"""The results as pages for people: tables, and what held of what the paper claims."""

from __future__ import annotations

from statistics import fmean, median, stdev
from typing import Any

from papers.experiment import markdown_table
from papers.spectral.plan import METHODS
from papers.verdict import FAILED, HELD

Row = dict[str, Any]
Claim = tuple[str, str, str]


def parts(results: dict[str, Any], plots: str = "") -> dict[str, str]:
    """Name of a generated part of a page to its text; `plots`: the way from the page to the folder of the plots."""
    return {
        "claims": markdown_table(("the paper says, or we want", "here", "because"), _claims(results), left=3),
        "learning curve": f"![Learning curves]({plots}curve.png)\n\n{_curve(results['curve'])}",
        "marked words": _curve(results["marked"]),
        "regularisation path": f"![Regularisation path]({plots}path.png)\n\n{_path(results['path'])}",
        "words with typos": f"![Typos]({plots}typos.png)\n\n{_curve(results['typos'])}",
        "solvers": f"![Solvers]({plots}solvers.png)\n\n{_solvers(results['solvers'])}",
        "recovered operators": f"![Noise]({plots}noise.png)\n\n{_noise(results['noise'])}",
        "run": _run(results),
    }


def page(texts: dict[str, str]) -> str:
    head = "# Spectral regularisation: results\n\n"
    return head + "\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in texts.items())


def accuracies(row: Row, part: str = "test", *, words: bool = False) -> list[float]:
    """The share of right letters, or of words without a mistake, of each draw."""
    right, of = ("whole", "words") if words else ("right", "letters")
    return [draw[part][right] / max(draw[part][of], 1) for draw in row["draws"] if part in draw]


def _mean(row: Row) -> float:
    return 100 * fmean(accuracies(row))


def _shown(values: list[float]) -> str:
    if not values:
        return ""
    spread = f" ± {100 * stdev(values):.2f}" if len(values) > 1 else ""
    return f"{100 * fmean(values):.2f}{spread}"


def _parameters(row: Row) -> str:
    names = METHODS[row["method"]].grid
    return ", ".join(f"{name}={row['parameters'][name]:g}" for name in names)


def _curve(rows: list[Row]) -> str:
    lines = []
    for n in dict.fromkeys(row["n"] for row in rows):
        for row in (row for row in rows if row["n"] == n):
            ranks = [draw["rank"] for draw in row["draws"] if draw["rank"] is not None]
            lines.append(
                (
                    f"{n:,}",
                    METHODS[row["method"]].title,
                    _parameters(row),
                    _shown(accuracies(row)),
                    _shown(accuracies(row, words=True)),
                    _shown(accuracies(row, "test-recovered")),
                    f"{median(ranks):g}" if ranks else "",
                    f"{fmean(draw['seconds'] for draw in row['draws']):.1f}",
                )
            )
    head = ("words", "method", "chosen", "letters %", "words %", "letters %, by recovered operators", "rank", "seconds")
    return markdown_table(head, lines, left=3)


def _path(paths: dict[str, list[Row]]) -> str:
    lines = [
        (
            "spectral" if name == "nuclear" else "L2",
            f"{point['tau']:g}",
            f"{100 * point['accuracy']:.2f}",
            f"{100 * point['sequence_accuracy']:.2f}",
            "" if point["rank"] is None else str(point["rank"]),
            f"{point['size']:,}",
        )
        for name, points in paths.items()
        for point in points
    ]
    return markdown_table(("norm", "tau", "letters %", "words %", "rank", "numbers"), lines)


def _solvers(solvers: dict[str, Any]) -> str:
    lines = []
    for name, found in solvers.items():
        same = [f["objectives"][-1] for other, f in solvers.items() if ("up to k" in other) == ("up to k" in name)]
        goal = 1.05 * min(same)
        at = next((t for t, value in enumerate(found["objectives"], 1) if value <= goal), None)
        lines.append(
            (
                name,
                f"{found['objectives'][-1]:.0f}",
                f"{found['seconds'][-1]:.1f}",
                "never" if at is None else str(at),
                "" if at is None else f"{found['seconds'][at - 1]:.1f}",
            )
        )
    head = ("solver", "objective at the end", "seconds", "iterations to 5 % above the lowest", "seconds to there")
    return markdown_table(head, lines)


def _noise(rows: list[Row]) -> str:
    lines = [(str(row["length"]), f"{row['noise']:g}", f"{median(row['errors']):.2g}") for row in rows]
    return markdown_table(("length of the sequences", "noise", "median error"), lines)


# What held


def _claims(results: dict[str, Any]) -> list[Claim]:
    curve, marked = results["curve"], results["marked"]
    small, large = 2000, max((row["n"] for row in curve), default=0)
    if not any(row["n"] == small for row in curve):
        small = large
    few = min((row["n"] for row in curve), default=0)
    return [
        *_half_as_many(curve, few),
        *_gain(curve, few, "crf", 0.0, "is at least as good as the CRF, with few words", _K_GRAMS),
        *_gain(curve, small, "none", 1.5, "beats the unregularised scores by 1.5 points", _K_GRAMS),
        *_gain(curve, small, "l2", _BEATS, "beats L2", _K_GRAMS),
        *_l2(curve, small),
        *_gain(curve, small, "none-up-to-k", _BEATS, "beats the unregularised scores, up to k-grams", _UP_TO_K),
        *_gain(curve, small, "latent", _BEATS, "beats the latent SVM", _K_GRAMS),
        *_gain(curve, large, "crf", 0.0, "is at least as good as the CRF"),
        *_gain(curve, large, "perceptron", 0.0, "is at least as good as the perceptron"),
        *_gain(
            curve, large, "perceptron-whole", 0.0, "is at least as good as the perceptron with whole trigrams alone"
        ),
        *_gain(marked, small, "none", _BEATS, "beats the unregularised scores, words marked", _K_GRAMS),
        *_gain(marked, small, "crf", 0.0, "is at least as good as the CRF, words marked"),
        *_gain(results["typos"], 2000, "none", _BEATS, "beats the unregularised scores, typos", _K_GRAMS),
        *_path_claims(results["path"]),
        *_cost(results["full"]),
    ]


def _held(held: bool) -> str:
    return HELD if held else FAILED


def _row(rows: list[Row], n: int, method: str) -> Row | None:
    return next((row for row in rows if (row["n"], row["method"]) == (n, method)), None)


_BEATS = 0.01
"""In points: one letter in ten thousand."""
_K_GRAMS, _UP_TO_K = ("spectral",), ("spectral-up-to-k",)


def _gain(
    rows: list[Row], n: int, other: str, least: float, what: str, methods: tuple[str, ...] = _K_GRAMS + _UP_TO_K
) -> list[Claim]:
    """The best of the spectral methods, by development data, against another."""
    ours = [row for name in methods if (row := _row(rows, n, name)) is not None]
    theirs = _row(rows, n, other)
    if not ours or theirs is None:
        return []
    best = max(ours, key=lambda row: fmean(accuracies(row, "dev")))
    gain = _mean(best) - _mean(theirs)
    because = f"{_mean(best):.2f} ({METHODS[best['method']].title}) against {_mean(theirs):.2f} % of the letters"
    return [(f"{n:,} words: spectral {what}", _held(gain >= least), because)]


def _half_as_many(rows: list[Row], n: int) -> list[Claim]:
    ours, theirs = _row(rows, n, "spectral"), _row(rows, 2 * n, "none")
    if ours is None or theirs is None:
        return []
    because = f"{_mean(ours):.2f} with {n:,} against {_mean(theirs):.2f} % of the letters with {2 * n:,}"
    text = f"few words: {n:,} are enough for spectral where the unregularised scores need {2 * n:,}"
    return [(text, _held(_mean(ours) >= _mean(theirs)), because)]


def _l2(rows: list[Row], n: int) -> list[Claim]:
    ours, theirs = _row(rows, n, "l2"), _row(rows, n, "none")
    if ours is None or theirs is None:
        return []
    because = f"{_mean(ours):.2f} against {_mean(theirs):.2f} % of the letters"
    text = f"{n:,} words: L2 beats the unregularised scores by 1.1 points"
    return [(text, _held(_mean(ours) - _mean(theirs) >= 1.1), because)]


def _path_claims(paths: dict[str, list[Row]]) -> list[Claim]:
    best = {name: max(100 * point["accuracy"] for point in points) for name, points in paths.items()}
    if set(best) != {"nuclear", "frobenius"}:
        return []
    because = f"{best['nuclear']:.2f} against {best['frobenius']:.2f} % of the letters of the development data"
    return [("the best tau of the spectral path beats that of L2", _held(best["nuclear"] > best["frobenius"]), because)]


def _cost(full: Row) -> list[Claim]:
    because = f"{full['seconds']:.0f} s for {full['iterations']} iterations, {full['megabytes']:.0f} MB"
    return [("one training with all words takes less than five minutes", _held(full["seconds"] < 300), because)]


def _run(results: dict[str, Any]) -> str:
    plan = results["plan"]
    train, dev, test = plan["parts"]
    full = results["full"]
    return (
        f"{train:,} words to draw from, {dev:,} to choose with and {test:,} to test with; {plan['seeds']} draws at "
        f"each size, parameters chosen with the first of them. One training with {plan['full_size']:,} words and two "
        f"threads: {full['seconds']:.1f} s, {full['megabytes']:.0f} MB. Commit {', '.join(results['commits'])}.\n"
    )
