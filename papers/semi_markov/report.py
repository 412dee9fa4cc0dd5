"""The results as pages for people: tables with the paper's figures beside ours."""

from __future__ import annotations

from typing import Any

from papers.experiment import markdown_table
from papers.semi_markov.claims import claims
from papers.semi_markov.plan import AVERAGED, MODELS, PAPER, TABLE1, TABLE2, TITLES, TOKEN_MODELS, WITHOUT, model_name


def parts(results: dict[str, Any], plots: str = "") -> dict[str, str]:
    """Name of a generated part of a page to its text; `plots`: the way from the page to the folder of the plots."""
    return {
        "claims": markdown_table(("claim", "the paper says so", "asked here", "because"), claims(results), left=4),
        "table 1": _table1(results),
        "table 2": _table2(results),
        "table 3": _table3(results),
        "figure 2": f"![Error by pass]({plots}figure2.png)\n",
        "other scores": _scores(results["models"]),
        "series": _series(results["series"]),
        "entities": _tokens(results["tokens"]),
        "cost": _cost(results["cost"]),
        "run": _run(results),
    }


def page(texts: dict[str, str]) -> str:
    head = "# Large-margin semi-Markov models: results\n\n"
    return head + "\n".join(f"## {name.capitalize()}\n\n{text}" for name, text in texts.items())


def errors(rows: list[dict[str, Any]]) -> dict[tuple[str, int], float]:
    """Phone error rates in percent by model and mixtures, on the test data."""
    return {(row["model"], row["mixtures"]): 100 * row["test"]["phone_error"] for row in rows}


def _both(found: dict[tuple[str, int], float], key: tuple[str, int]) -> str:
    return f"{found[key]:.1f} ({PAPER[key]})" if key in found else f"({PAPER[key]})"


def _table1(results: dict[str, Any]) -> str:
    found = errors(results["models"])
    rows = [(str(m), *(_both(found, (model, m)) for model in TABLE1)) for m in results["plan"]["mixtures"]]
    return markdown_table(("mixtures", *(MODELS[model].title for model in TABLE1)), rows)


def _table2(results: dict[str, Any]) -> str:
    found = errors(results["models"])
    rows = [
        (MODELS[f"{kind}-smm"].title, *(_both(found, (f"{kind}-smm{seen}", 1)) for seen in ("", *TABLE2)))
        for kind in ("ml", "lm")
    ]
    for model in AVERAGED:
        if not model.endswith("-durations"):
            without = f"{model}-durations"
            cell = _both(found, (without, 1)) if without in MODELS else ""
            rows.append((MODELS[model].title, _both(found, (model, 1)), *(cell * (s == "-durations") for s in TABLE2)))
    return markdown_table(("one mixture", "everything", *(f"without {WITHOUT[seen]}" for seen in TABLE2)), rows)


def _table3(results: dict[str, Any]) -> str:
    found = errors(results["models"])
    mixtures = list(results["plan"]["mixtures"])
    rows = [
        (MODELS[model].title, *(_both(found, (model, m)) for m in mixtures))
        for model in ("ml-smm", "perceptron", "lm-smm")
    ]
    return markdown_table(("", *(f"{m} mixture{'s' * (m > 1)}" for m in mixtures)), rows)


def _scores(rows: list[dict[str, Any]]) -> str:
    lines = [
        (
            model_name(row["model"]),
            str(row["mixtures"]),
            _steps(row["parameters"]["steps"]),
            "" if row["best_pass"] is None else f"{row['best_pass']} of {len(row['passes'])}",
            f"{100 * row['dev']:.1f}",
            *(
                f"{100 * row['test'][score]:.1f}"
                for score in ("phone_error", "boundary_f1", "r_value", "frame_accuracy", "segment_f1")
            ),
            f"{row['cpu_seconds']:.0f}",
        )
        for row in rows
    ]
    head = (
        "model",
        "mixtures",
        "warm start, C",
        "best pass",
        "phone error, development",
        "phone error, test",
        "F of boundaries",
        "R-value",
        "frames right",
        "F of segments",
        "seconds of a processor",
    )
    return markdown_table(head, lines)


def _series(rows: list[dict[str, Any]]) -> str:
    return _scores(rows) if rows else "Not run.\n"


def _tokens(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "Not run.\n"
    lines = [
        (
            TITLES[row["corpus"]],
            TOKEN_MODELS[row["model"]],
            f"{row['C']:g}",
            str(row["best_epoch"]),
            f"{100 * row['dev']:.2f}",
            f"{100 * row['test']:.2f}",
            f"{row['cpu_seconds']:.0f}",
        )
        for row in rows
    ]
    head = ("corpus", "model", "C", "best epoch", "F1, development", "F1, test", "seconds of a processor")
    return markdown_table(head, lines, left=2)


def _cost(cost: dict[str, Any]) -> str:
    speed = cost["predict_frames"] / max(cost["predict_seconds"], 1e-9)
    cpu_speed = cost["predict_frames"] / max(cost["predict_cpu_seconds"], 1e-9)
    return (
        f"Large-margin SMM with one mixture, {cost['train_frames']:,} frames to learn from, alone on the machine: a "
        f"pass takes {min(cost['pass_seconds']):.1f} s. The start by maximum likelihood, {len(cost['pass_seconds'])} "
        f"passes and the searches of the development data take {cost['cpu_seconds']:.0f} s of processor time. It "
        f"labels {speed:,.0f} frames a second ({cpu_speed:,.0f} a second of processor time); with 100 frames to a "
        f"second of speech that is {speed / 100:,.0f} times as fast as people speak. Memory at most "
        f"{cost['memory_mb']:,.0f} MB, with all data.\n"
    )


def _run(results: dict[str, Any]) -> str:
    plan, chosen = results["plan"], results["chosen"]["lm-smm"]
    passes = ", ".join(f"{n} with {m}" for m, n in plan["mixtures"].items())
    choice = f"{plan['choice_passes']} pass{'es' * (plan['choice_passes'] != 1)}"
    longest = "as in training" if chosen["longest"] is None else f"{chosen['longest']} frames"
    size = "all" if plan["n_train"] is None else f"{plan['n_train']}"
    tried = (
        f"bins {_listed(plan['bins'])}, longest {_listed(plan['longest'])}, warm start and C {_listed(plan['steps'])}, "
        f"for (7) as printed {_listed(plan['averaged_steps'])}, for series {_listed(plan['series_steps'])}"
    )
    return (
        f"{TITLES[plan['corpus']]}, {size} training utterances. Chosen on development data: {chosen['bins']} bins and "
        f"longest segments {longest}, for the large-margin SMM alone and then used for all models; warm start and C, "
        f"for each model its own, as in the table. Tried: {tried}, with {choice} and one mixture. Passes by "
        f"mixtures: {passes}; the weights of the pass that did best on development data were "
        f"tried on the test data, once. Commit {', '.join(results['commits'])}.\n"
    )


def _listed(values: Any) -> str:
    return "; ".join(
        _steps(value) if isinstance(value, (tuple, list)) else "as in training" if value is None else f"{value:g}"
        for value in values
    )


def _steps(steps: Any) -> str:
    return "" if steps is None else f"{steps[0]:g}, {steps[1]:g}"
