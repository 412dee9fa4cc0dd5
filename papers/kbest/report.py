"""The results as pages for people: Table 1 with the paper's column beside ours, and what held of what it claims."""

from __future__ import annotations

from statistics import fmean, stdev
from typing import Any

from margent.metrics import mcnemar_test
from papers.experiment import markdown_table
from papers.kbest.plan import METHODS, TITLES
from papers.kbest.table1 import PAPER
from papers.verdict import FAILED, HELD

LEVEL = 0.05
"""The paper's level of significance."""
SLIGHTLY, ALIKE = 1.25, 1.5
"""How many times as long we take "slightly slower" and "similar" to be."""


def p_value(first: str, second: str) -> float:
    """McNemar's test between two systems, each given as a string with 1 for each token that is right, else 0."""
    return float(mcnemar_test([["1"] * len(first)], [list(first)], [list(second)]).p_value)


def parts(results: dict[str, Any], plots: str = "") -> dict[str, str]:
    """Name of a generated part of a page to its text; `plots`: the way from the page to the folder of the plots."""
    return {
        "table 1": _table1(results),
        "figures": _figures(results, plots),
        "claims": _claims(results),
        "run": _run(results),
    }


def page(texts: dict[str, str]) -> str:
    return "# k best: results\n\n" + "\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in texts.items())


def _percent(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{100 * value:.{digits}f}"


def _rows(results: dict[str, Any], corpus: str) -> list[dict[str, Any]]:
    return [row for row in results["table"] if row["corpus"] == corpus]


def _corpora(results: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["corpus"] for row in results["table"]))


def _table1(results: dict[str, Any]) -> str:
    head = ("method", "k", "C", "epochs", "token F", "paper", "chunk F1", "p against k = 1")
    text = []
    for corpus in _corpora(results):
        rows = _rows(results, corpus)
        best = {row["method"]: max(r["token_f"] for r in rows if r["method"] == row["method"]) for row in rows}
        lines = []
        for row in rows:
            ours = _percent(row["token_f"])
            theirs = PAPER.get(corpus, {}).get(row["method"], {}).get(row["k"])
            lines.append(
                (
                    METHODS[row["method"]],
                    str(row["k"]),
                    "" if row["C"] is None else f"{row['C']:g}",
                    str(row["epochs"]),
                    f"**{ours}**" if row["token_f"] == best[row["method"]] else ours,
                    "" if theirs is None else f"{theirs:.2f}",
                    _percent(row["chunk_f"]),
                    "" if row["p"] is None else "< 0.001" if row["p"] < 0.001 else f"{row['p']:.3f}",
                )
            )
        text.append(f"### {TITLES[corpus]}\n\n{markdown_table(head, lines)}")
    return "\n".join(text)


def _figures(results: dict[str, Any], plots: str) -> str:
    times = [
        (METHODS[row["method"]], str(row["k"]), f"{fmean(row['seconds']):.3f}", _percent(max(row["scores"])))
        for row in results["times"]
    ]
    text = f"![Fig. 2]({plots}figure2.png)\n\n" + markdown_table(
        ("method", "k", "seconds per epoch", "best token F, held out"), times
    )
    if not results["larank"]:
        return text + "\nFig. 3 is missing: this version of Margent has no LaRank.\n"
    rows = [
        (
            TITLES[row["corpus"]],
            str(row["n_reprocess"]),
            str(row["k"]),
            f"{row['C']:g}",
            f"{_percent(fmean(row['token_f']))} ± {_percent(_deviation(row['token_f']))}",
        )
        for row in results["larank"]
    ]
    return f"{text}\n![Fig. 3]({plots}figure3.png)\n\n" + markdown_table(("corpus", "n_R", "k", "C", "token F"), rows)


def _deviation(values: list[float]) -> float:
    return stdev(values) if len(values) > 1 else 0.0


def _claims(results: dict[str, Any]) -> str:
    """Each claim that figures can decide, with the figures that decide it."""
    rows = [*_best(results), *_k_best(results), *_significant(results), *_harm(results)]
    rows += [*_speed(results), *_one_pass(results)]
    return markdown_table(("the paper says", "here", "because"), rows, left=3)


def _best(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    claims = []
    for corpus in _corpora(results):
        if corpus in PAPER:
            theirs = max(f for ks in PAPER[corpus].values() for f in ks.values())
            row = max(_rows(results, corpus), key=lambda row: row["token_f"])
            because = f"{_percent(row['token_f'])} by {METHODS[row['method']]} with k = {row['k']}"
            claims.append(
                (f"{TITLES[corpus]}: best token F {theirs:.2f}", _held(100 * row["token_f"] >= theirs), because)
            )
    return claims


def _held(held: bool) -> str:
    return HELD if held else FAILED


def _k_best(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    gains = []
    for corpus in _corpora(results):
        for method in dict.fromkeys(row["method"] for row in _rows(results, corpus)):
            own = {row["k"]: row["token_f"] for row in _rows(results, corpus) if row["method"] == method}
            if len(own) > 1:
                gains.append(max(f for k, f in own.items() if k > 1) - own[1])
    better = sum(gain > 0 for gain in gains)
    mean = _percent(fmean(gains))
    because = f"{better} of {len(gains)} pairs of corpus and algorithm; the mean gain of the best k is {mean}"
    return [("every algorithm gains from k best over 1 best", _held(better == len(gains)), because)]


def _significant(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    claims = []
    for method in dict.fromkeys(row["method"] for row in results["table"]):
        if method == "larank":
            continue
        found = []
        for corpus in _corpora(results):
            own = [row for row in _rows(results, corpus) if row["method"] == method]
            one = next(row["token_f"] for row in own if row["k"] == 1)
            best = max((row for row in own if row["k"] > 1), key=lambda row: row["token_f"], default=None)
            if best is not None:
                found.append(best["token_f"] > one and best["p"] < LEVEL)
        claimed = method != "sdm"
        text = f"{METHODS[method]}: k best over 1 best is {'' if claimed else 'not '}significant (McNemar, {LEVEL})"
        held = all(found) if claimed else not any(found)
        claims.append((text, _held(held), f"the best k > 1 is, on {sum(found)} of {len(found)} corpora"))
    return claims


def _harm(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The paper has no such row, and says that large values of k may cost a little."""
    pairs, worse = 0, []
    for corpus in _corpora(results):
        own = _rows(results, corpus)
        one = {row["method"]: row for row in own if row["k"] == 1}
        several = [row for row in own if row["k"] > 1]
        pairs += len(several)
        found = [(row, one[row["method"]]) for row in several if row["p"] < LEVEL]
        named = ", ".join(
            f"{METHODS[row['method']]} with k = {row['k']} ({_percent(row['token_f'] - first['token_f'])})"
            for row, first in found
            if row["token_f"] < first["token_f"]
        )
        if named:
            worse.append(f"{TITLES[corpus]}: {named}")
    because = f"of {pairs} rows these are: {'; '.join(worse)}" if worse else f"none of {pairs} rows is"
    return [("k best is nowhere significantly worse than 1 best", _held(not worse), because)]


def _speed(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    seconds = {(row["method"], row["k"]): row["seconds"] for row in results["times"]}
    mean = {key: fmean(values) for key, values in seconds.items()}
    k = max(k for _, k in mean)

    def compared(slow: str, fast: str) -> tuple[bool, str]:
        return mean[slow, k] > mean[fast, k], f"{mean[slow, k]:.2f} against {mean[fast, k]:.2f} s an epoch with k = {k}"

    claims = []
    times = {method: mean[method, k] for method in ("perceptron", "pa", "mira") if (method, k) in mean}
    if len(times) == 3:
        because = (
            f"{', '.join(f'{seconds:.2f} s ({METHODS[m]})' for m, seconds in times.items())} an epoch with k = {k}"
        )
        slightly = times["perceptron"] < times["pa"] <= SLIGHTLY * times["perceptron"]
        claims.append(
            (f"the perceptron is slightly faster than PA: by up to {SLIGHTLY - 1:.0%}", _held(slightly), because)
        )
        alike = max(times.values()) <= ALIKE * min(times.values())
        claims.append((f"perceptron, PA and MIRA take about as long: within {ALIKE - 1:.0%}", _held(alike), because))
    for text, slow, fast in (
        ("RPA, which searches once more, is slower than PA", "rpa", "pa"),
        ("SDM needs significantly more time", "sdm", "mira"),
    ):
        if {(slow, k), (fast, k)} <= set(mean):
            held, because = compared(slow, fast)
            claims.append((text, _held(held), because))
    return claims


def _one_pass(results: dict[str, Any]) -> list[tuple[str, str, str]]:
    mean = {(row["corpus"], row["n_reprocess"], row["k"]): fmean(row["token_f"]) for row in results["larank"]}
    if not mean:
        return []
    corpora, ns, ks = (sorted({key[i] for key in mean}) for i in range(3))
    low, high = min(ns), max(ns)
    k_gain = {n: fmean(max(mean[c, n, k] for k in ks) - mean[c, n, 1] for c in corpora) for n in ns}
    more = [mean[c, high, k] > mean[c, low, k] for c in corpora for k in ks]
    return [
        (
            "LaRank in one pass gains from k best, most with a low n_R",
            _held(min(k_gain.values()) > 0 and k_gain[low] > k_gain[high]),
            f"mean gain {_percent(k_gain[low])} with n_R = {low}, {_percent(k_gain[high])} with n_R = {high}",
        ),
        (
            "a higher n_R is better",
            _held(all(more)),
            f"n_R = {high} beats {low} in {sum(more)} of {len(more)} pairs of corpus and k",
        ),
    ]


def _run(results: dict[str, Any]) -> str:
    plan = results["plan"]
    sizes = "all sentences" if plan["n_train"] is None else f"{plan['n_train']} sentences of each corpus"
    grid = ", ".join(f"{C:g}" for C in plan["Cs"])
    return (
        f"On {sizes}; C from {grid}, chosen by {plan['folds']}-fold cross-validation or on the development set after "
        f"at most {plan['C_epochs']} epochs, and then the number of epochs in the same way; "
        f"LaRank in Table 1 with n_R = {plan['table_reprocess']}; {plan['repetitions']} repetitions in Fig. 3, on the "
        f"first {plan['reprocess_train']} sentences. Commit {', '.join(results['commits'])}.\n"
    )
