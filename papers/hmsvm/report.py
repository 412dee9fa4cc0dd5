"""The results as pages for people: tables, a picture of support sequences, and what held of what the paper claims."""

from __future__ import annotations

from itertools import pairwise
from statistics import stdev
from typing import Any

from margent.metrics import mcnemar_test
from papers.experiment import markdown_table
from papers.hmsvm.plan import CURVE, LETTERS, SECTION8, TITLES, Method
from papers.verdict import FAILED, HELD, verdict

ORDER = ("svm", "crf-b", "perceptron", "hmm")
"""From the smallest to the largest error, as the paper says."""
AIMS = {False: 0.13, True: 0.08}
"""Letter errors that we want, learned from one fold and from nine."""

Claim = tuple[str, str, str]


def parts(results: dict[str, Any], plots: str = "") -> dict[str, str]:
    """Name of a generated part of a page to its text; `plots`: the way from the page to the folder of the plots."""
    return {
        "claims": _claims(results),
        "section 8": _section8(results, plots),
        "support sequences": _example(results["example"]),
        "learning curve": _curve(results["curve"], plots),
        "letters": _letters(results["letters"], plots),
        "run": _run(results),
    }


def page(texts: dict[str, str]) -> str:
    head = "# Hidden Markov SVMs: results\n\n"
    return head + "\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in texts.items())


def error(folds: list[dict[str, Any]]) -> float:
    """Wrong tokens over all tokens."""
    return float(sum(fold["wrong"] for fold in folds) / max(sum(fold["tokens"] for fold in folds), 1))


def deviation(folds: list[dict[str, Any]]) -> float:
    """Of the errors of the folds."""
    return stdev(error([fold]) for fold in folds) if len(folds) > 1 else 0.0


def p_value(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> float:
    """McNemar's test between two methods, on the tokens of the same folds."""
    sides = [[list(fold["right"]) for fold in folds] for folds in (first, second)]
    return float(mcnemar_test([["1"] * len(fold) for fold in sides[0]], *sides).p_value)


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _chosen(method: Method, parameters: dict[str, Any]) -> str:
    """What was chosen, or where nothing was, what was given."""
    shown = {name: parameters[name] for name in method.grid or method.fixed}
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in shown.items()
    )


def _section8(results: dict[str, Any], plots: str) -> str:
    text = [f"![Errors]({plots}errors.png)\n"]
    for corpus in dict.fromkeys(row["corpus"] for row in results["section8"]):
        rows = {row["method"]: row for row in results["section8"] if row["corpus"] == corpus}
        svm = rows.get("svm")
        lines = []
        for method, row in rows.items():
            f1 = [fold["f1"] for fold in row["folds"]]
            lines.append(
                (
                    SECTION8[method].title,
                    _chosen(SECTION8[method], row["parameters"]),
                    f"{_percent(error(row['folds']))} ± {_percent(deviation(row['folds']))}",
                    "" if None in f1 else _percent(sum(f1) / len(f1)),
                    "" if svm is None or method == "svm" else _p(svm["p"][method]),
                )
            )
        head = ("method", "parameters", "error", "F1 of spans", "p against HM-SVM")
        text.append(f"### {TITLES[corpus]}\n\n{markdown_table(head, lines, left=2)}")
    return "\n".join(text)


def _example(example: dict[str, Any] | None) -> str:
    """As Fig. 2: one letter for each label, and of the support sequences only what differs from the right labels."""
    if example is None:
        return "Not run: it needs the HM-SVM.\n"
    gold, *others = ["".join(map(_letter, labels)) for labels, _ in example["sequences"]]
    weights = [weight for _, weight in example["sequences"]]
    shown = [gold, *("".join(b if a != b else "-" for a, b in zip(gold, other)) for other in others)]
    lines = [f"{sequence}  {weight:.4f}" for sequence, weight in list(zip(shown, weights))[:12]]
    more = len(shown) - len(lines)
    words = " ".join(f"{word}/{letter}" for word, letter in zip(example["words"], gold))
    rest = f"\n\nand {more} more, with smaller weights." if more > 0 else ""
    return f"{words}\n\n```text\n" + "\n".join(lines) + f"\n```{rest}\n"


def _letter(label: str) -> str:
    """N for no span, the first letter of the type elsewhere: a capital where a span begins."""
    kind, dash, name = label.partition("-")
    if not dash:
        return "N" if label == "O" else label[:1]
    return name[:1].lower() if kind == "I" else name[:1].upper()


def _curve(rows: list[dict[str, Any]], plots: str) -> str:
    if not rows:
        return "Not run.\n"
    lines = [
        (
            CURVE[row["method"]].title,
            str(row["n"]),
            _percent(row["f1"]),
            f"{row['seconds']:.2f}",
            f"{row['predict_seconds']:.2f}",
            str(row["support"]),
        )
        for row in rows
    ]
    chosen = {CURVE[row["method"]].title: _chosen(CURVE[row["method"]], row["parameters"]) for row in rows}
    said = "; ".join(f"{title}: {parameters}" for title, parameters in chosen.items())
    head = (
        "method",
        "sentences",
        "F1 of chunks",
        "seconds to train",
        "to label the test data",
        "features or tokens with a weight",
    )
    return f"![Learning curve]({plots}curve.png)\n\n{said}.\n\n{markdown_table(head, lines)}"


def _letters(rows: list[dict[str, Any]], plots: str) -> str:
    lines = [
        (
            LETTERS[row["method"]].title,
            "nine folds" if row["large"] else "one fold",
            str(row["order"]),
            _chosen(LETTERS[row["method"]], row["parameters"]),
            f"{_percent(error(row['folds']))} ± {_percent(deviation(row['folds']))}",
            str(len(row["folds"])),
            f"{sum(fold['seconds'] for fold in row['folds']) / len(row['folds']):.1f}",
            str(sum(fold["support"] for fold in row["folds"]) // len(row["folds"])),
        )
        for row in rows
    ]
    head = (
        "method",
        "learned from",
        "order",
        "parameters",
        "error",
        "runs",
        "seconds to train",
        "features or letters with a weight",
    )
    return f"![Letters]({plots}letters.png)\n\n{markdown_table(head, lines, left=4)}"


# What held


def _claims(results: dict[str, Any]) -> str:
    rows = [*_order(results["section8"]), *_pays(results["curve"]), *_aims(results["letters"])]
    return markdown_table(("the paper says, or we want", "here", "because"), rows, left=3)


def _held(held: bool) -> str:
    return HELD if held else FAILED


def _order(section8: list[dict[str, Any]]) -> list[Claim]:
    claims: list[Claim] = []
    for corpus in dict.fromkeys(row["corpus"] for row in section8):
        rows = {row["method"]: row["folds"] for row in section8 if row["corpus"] == corpus}
        p_values = {row["method"]: row["p"] for row in section8 if row["corpus"] == corpus}
        known = [method for method in ORDER if method in rows]
        for better, worse in pairwise(known):
            gain = error(rows[worse]) - error(rows[better])
            titles = [SECTION8[method].title.partition(",")[0] for method in (better, worse)]
            because = (
                f"{_percent(error(rows[better]))} against {_percent(error(rows[worse]))} % wrong; "
                f"p = {_p(p_values[better][worse])}".replace("p = <", "p <")
            )
            found_so = verdict(gain > 0, p_values[better][worse])
            claims.append((f"{TITLES[corpus]}: {titles[0]} errs less than {titles[1]}", found_so, because))
        if len(known) > 1:
            errors = {method: error(rows[method]) for method in known}
            found = " < ".join(SECTION8[m].title.partition(",")[0] for m in sorted(known, key=lambda m: errors[m]))
            said = " < ".join(SECTION8[method].title.partition(",")[0] for method in known)
            in_order = all(errors[a] < errors[b] for a, b in pairwise(known))
            held = verdict(in_order, max(p_values[a][b] for a, b in pairwise(known)))
            claims.append((f"{TITLES[corpus]}: the order of errors is {said}", held, f"here it is {found}"))
    return claims


def _pays(curve: list[dict[str, Any]]) -> list[Claim]:
    """Where the kernel pays: not a claim of the paper, which has one size alone."""
    claims: list[Claim] = []
    kernels = [method for method in ("svm", "perceptron") if any(row["method"] == method for row in curve)]
    for method in kernels[:1]:
        better, margins = [], []
        for n in sorted({row["n"] for row in curve}):
            own = next(row for row in curve if row["n"] == n and row["method"] == method)
            linear = [row for row in curve if row["n"] == n and CURVE[row["method"]].kernel is None]
            if linear:
                margin = own["f1"] - max(row["f1"] for row in linear)
                margins.append(f"{100 * margin:+.2f} with {n}")
                better.append(margin > 0)
        if better:
            title = f"{CURVE[method].title} with a kernel beats the best linear learner at each size of the curve"
            claims.append((title, _held(all(better)), f"F1 {', '.join(margins)} sentences"))
    return claims


def _aims(letters: list[dict[str, Any]]) -> list[Claim]:
    claims: list[Claim] = []
    for large, aim in AIMS.items():
        for order in dict.fromkeys(row["order"] for row in letters):
            own = [row for row in letters if (row["large"], row["order"]) == (large, order)]
            kernels = [row for row in own if LETTERS[row["method"]].kernel is not None]
            linear = [row for row in own if LETTERS[row["method"]].kernel is None]
            if not kernels or not linear:
                continue
            best, line = (min(rows, key=lambda row: error(row["folds"])) for rows in (kernels, linear))
            ours, theirs = error(best["folds"]), error(line["folds"])
            what = f"letters, learned from {'nine folds' if large else 'one fold'}, order {order}"
            found = f"{_percent(ours)} % by the {LETTERS[best['method']].title}"
            claims.append((f"{what}: at most {100 * aim:g} % wrong", _held(ours <= aim), found))
            against = f"{found}, {_percent(theirs)} % by the best linear chain of that order"
            claims.append((f"{what}: under the linear chain", _held(ours < theirs), against))
    return claims


def _run(results: dict[str, Any]) -> str:
    plan = results["plan"]
    words = "all words" if plan["n_words"] is None else f"{plan['n_words']} words"
    return (
        f"Section 8 on {plan['n_sentences']} sentences with {plan['folds']} folds; parameters from "
        f"{plan['choice_folds']} folds of as many other sentences. The curve is tested on the first {plan['n_test']} "
        f"sentences of the test data, its parameters chosen by learning from {plan['choice_size']} others of the "
        f"training data. Letters: {words} of each fold; parameters within fold 0. Commit "
        f"{', '.join(results['commits'])}.\n"
    )
