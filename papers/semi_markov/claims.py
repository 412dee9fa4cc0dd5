"""What held of what the paper says, and of what was asked of this library beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from papers.semi_markov.plan import PAPER, TABLE2, TITLES, TOKEN_MODELS, WITHOUT, model_name
from papers.verdict import FAILED, HELD, LEVEL, p_value, told, verdict

WANTED = 0.1
"""By how much of the error the better model should be better, with one mixture."""
PASS_SECONDS = 30
EARLY = 5
"""Within so many passes most of the gain is made, says the paper of its Fig. 2."""
PAIRS = (("lm-smm", "ml-smm"), ("lm-hmm", "ml-hmm"), ("ml-smm", "ml-hmm"), ("lm-smm", "lm-hmm"))
"""Which model errs less than which: large margins less than likelihood, segments less than frames."""
LESS, UNASKED, UNSAID = "less than a tenth", "", "not in the paper"


class Claim(NamedTuple):
    """What is claimed, whether it held as the paper says it (a direction), whether as we asked it, and why."""

    title: str
    said: str
    asked: str
    because: str


def claims(results: dict[str, Any]) -> list[Claim]:
    """A row for each; those that the plan did not run are left out."""
    rows = {(row["model"], row["mixtures"]): row for row in results["models"]}
    found: list[Claim] = []
    for m in results["plan"]["mixtures"]:
        found += [_better(rows, *pair, m, asked=m == 1) for pair in PAIRS]
        found.append(_better(rows, "lm-smm", "perceptron", m))
    found += [_better(rows, "lm-smm", f"lm-smm{seen}", 1, asked=True) for seen in TABLE2]
    found += [_better(rows, "lm-smm-mean", worse, 1) for worse in ("ml-smm-mean", "lm-smm-mean-durations")]
    found.append(_order(rows))
    found += [_early(rows, m) for m in results["plan"]["mixtures"] if len(rows["lm-smm", m]["passes"]) > EARLY]
    found.append(_fast(results["cost"]))
    series = {(row["model"], row["mixtures"]): row for row in results["series"]}
    if series:
        found += [_better(series, *pair, 1, asked=True, where="time series, ") for pair in PAIRS]
    entities: dict[str, dict[str, Any]] = {}
    for row in results["tokens"]:
        entities.setdefault(row["corpus"], {})[row["model"]] = row
    for corpus, models in entities.items():
        found += [_entities(corpus, models, name) for name in TOKEN_MODELS if name != "tagger"]
    return found


def _better(
    rows: dict[tuple[str, int], Any], better: str, worse: str, m: int, *, asked: bool = False, where: str = ""
) -> Claim:
    """`asked`: the error should fall by a tenth, not just at all. `where`: not a corpus of the paper."""
    ours, theirs = (100 * rows[model, m]["test"]["phone_error"] for model in (better, worse))
    fall = 1 - ours / theirs if theirs else 0.0
    p = p_value(*(rows[model, m]["test"]["counts"] for model in (worse, better)))
    said = "" if where else f" (paper: {100 * (1 - PAPER[better, m] / PAPER[worse, m]):.0f} %)"
    change = f"{abs(100 * fall):.1f} % {'fewer' if fall >= 0 else 'more'} errors"
    direction = verdict(fall > 0, p)
    tenth = direction if fall <= 0 or fall >= WANTED else LESS if p < LEVEL else f"{LESS}, which may be chance"
    return Claim(
        f"{where}{m} mixture{'s' * (m > 1)}: {model_name(better)} errs less than {model_name(worse)}"
        + (", by a tenth or more" if asked else ""),
        UNSAID if where else direction,
        tenth if asked else UNASKED,
        f"{ours:.1f} against {theirs:.1f} %, {change}{said}, {told(p)}",
    )


def _order(rows: dict[tuple[str, int], Any]) -> Claim:
    """Table 2: transitions and content together do better than durations and content."""
    without = {seen: rows[f"lm-smm{seen}", 1]["test"] for seen in ("-transitions", "-durations")}
    worse, better = (100 * test["phone_error"] for test in without.values())
    p = p_value(*(test["counts"] for test in without.values()))
    return Claim(
        "Table 2: the large-margin SMM misses transitions more than durations",
        verdict(worse > better, p),
        UNASKED,
        f"{worse:.1f} % without {WITHOUT['-transitions']}, {better:.1f} % without {WITHOUT['-durations']} "
        f"(paper: {PAPER['lm-smm-transitions', 1]} and {PAPER['lm-smm-durations', 1]} %), {told(p)}",
    )


def _early(rows: dict[tuple[str, int], Any], m: int) -> Claim:
    """Fig. 2, on development data: of what the best pass gains over the start, more than half within five."""
    start, passes = rows["ml-smm", m]["dev"], rows["lm-smm", m]["passes"]
    gain, early = start - min(passes), start - min(passes[:EARLY])
    title = f"Fig. 2, {m} mixture{'s' * (m > 1)}: most of the gain comes within {EARLY} passes"
    if gain <= 0:
        return Claim(title, FAILED, UNASKED, f"{len(passes)} passes gain nothing on development data")
    because = f"{100 * early / gain:.0f} % of what {len(passes)} passes gain on development data"
    return Claim(title, HELD if early > gain / 2 else FAILED, UNASKED, because)


def _fast(cost: dict[str, Any]) -> Claim:
    seconds = min(cost["pass_seconds"])
    held = HELD if seconds < PASS_SECONDS else FAILED
    because = f"{seconds:.1f} s for {cost['train_frames']:,} frames"
    return Claim(f"one pass with one mixture takes less than {PASS_SECONDS} s", UNSAID, held, because)


def _entities(corpus: str, models: dict[str, Any], name: str) -> Claim:
    """F1 of entities on the test data; sentences are drawn anew for p."""
    ours, theirs = (models[model]["test"] for model in (name, "tagger"))
    p = p_value(models["tagger"]["counts"], models[name]["counts"], score=_f1)
    return Claim(
        f"{TITLES[corpus]}: {TOKEN_MODELS[name]}, finds names better than {TOKEN_MODELS['tagger']}",
        UNSAID,
        verdict(ours > theirs, p),
        f"F1 {100 * ours:.2f} against {100 * theirs:.2f}, {told(p)}",
    )


def _f1(sums: Any) -> Any:
    return 2 * sums[:, 0] / np.maximum(sums[:, 1] + sums[:, 2], 1)
