"""The experiments on semi-Markov models from end to end, on small generated corpora."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from papers.experiment import Options, with_generated
from papers.semi_markov import figures, report, training
from papers.semi_markov.plan import AVERAGED, FULL, MODELS, PAPER, QUICK, TABLE1, TABLE2, TOKEN_MODELS, Plan
from papers.semi_markov.run import HERE, Experiment, run

from margent.annotation import Span, intervals_of_segments
from margent.audio import write_sound
from margent.cli import main
from margent.datasets import GENERATED_PHONES, TIMIT_39, make_speech
from margent.formats import write_labels

TINY = Plan(
    corpus="series",
    mixtures={1: 2, 2: 1},
    choice_passes=1,
    bins=(3, 2),
    longest=(None, 12),
    steps=((1, 1e-3), (30, 1e-2)),
    averaged_steps=((30, 0.1),),
    series_steps=((1, 1e-3), (30, 1e-2)),
    series=(16, 6, 8),
    tokens=("addresses",),
    n_sentences=40,
    token_C=(0.1,),
    token_epochs=2,
)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("semi_markov")
    return read(run(Options(out=folder), TINY)), folder


def read(written):
    assert written.name == "report.md"
    return json.loads(written.with_name("results.json").read_text())


def test_a_whole_run(results):
    found, folder = results
    rows = {(row["model"], row["mixtures"]): row for row in found["models"]}
    assert set(rows) == {(model, m) for m in (1, 2) for model in (*TABLE1, "perceptron")} | {
        (f"{kind}-smm{seen}", 1) for kind in ("ml", "lm") for seen in TABLE2
    } | {(model, 1) for model in AVERAGED}
    for (model, m), row in rows.items():
        assert 0 <= row["test"]["phone_error"] < 2 and 0 < row["test"]["frame_accuracy"] <= 1
        errors, phones = (sum(side) for side in zip(*row["test"]["counts"]))
        assert errors / phones == pytest.approx(row["test"]["phone_error"])
        learns = MODELS[model].learner != "likelihood"
        assert len(row["passes"]) == (TINY.mixtures[m] if learns else 0)
        assert row["dev"] == pytest.approx(min(row["passes"])) if learns else row["best_pass"] is None
    assert rows["ml-smm", 1]["test"]["phone_error"] < rows["ml-hmm", 1]["test"]["phone_error"]
    assert found["chosen"]["lm-smm"]["bins"] in TINY.bins and tuple(found["chosen"]["lm-hmm"]["steps"]) in TINY.steps
    assert found["chosen"]["lm-smm-mean"]["steps"] == [30, 0.1]
    assert [row["model"] for row in found["series"]] == list(TABLE1)
    assert [row["model"] for row in found["tokens"]] == list(TOKEN_MODELS)
    for row in found["tokens"]:
        right, there, said = map(sum, zip(*row["counts"]))
        assert 0.2 < row["test"] < 1 and row["test"] == pytest.approx(2 * right / (there + said))
    assert len(found["cost"]["pass_seconds"]) == 2 and found["cost"]["memory_mb"] > 10
    assert (folder / "figure2.png").stat().st_size > 1000
    text = (folder / "report.md").read_text()
    assert "| large-margin SMM | 2 |" in text and "Segmenter, words alone" in text and "MB, with all data" in text


def test_the_second_run_trains_nothing(results, monkeypatch):
    found, folder = results
    monkeypatch.setattr("papers.semi_markov.run.run_training", lambda task: pytest.fail(f"{task} was run again"))
    assert read(run(Options(out=folder), TINY)) == found


def test_long_segments_are_cut_and_joined_again():
    segments = [Span(0, 7, "a"), Span(7, 9, "b"), Span(9, 11, "b")]
    limits = {"a": 3, "b": 4}
    pieces = training.cut(segments, limits)
    assert pieces == [Span(0, 2, "a"), Span(2, 4, "a"), Span(4, 7, "a"), *segments[1:]]
    assert training.joined(pieces, limits) == segments  # two b that could have been one stay two
    frames = training.cut(segments, 1)
    assert len(frames) == 11 and all(s.end - s.start == 1 for s in frames)
    assert training.joined(frames, 1) == [Span(0, 7, "a"), Span(7, 11, "b")]
    assert training.longest([segments], None) == {"a": 7, "b": 2}
    assert training.longest([segments], 5) == {"a": 5, "b": 2}


def task(model, **other):
    plain = {"mixtures": 1, "bins": 3, "longest": None, "steps": (5, 1e-3), "passes": 2, "threads": 1}
    return {"model": model, **plain, **other}


def test_models_see_what_their_names_say():
    gold = [[Span(0, 7, "a"), Span(7, 9, "b")]]
    full = training.segmenter(task("lm-smm", mixtures=2), gold)
    assert full.features.bins == 3 and full.features.durations == "gamma" and full.features.components == 2
    assert full.learner.C == 1e-3 and full.learner.warm_start == 5 and full.learner.epochs == 2
    assert full.transitions and full.costs.frame == 1 and full.durations.max == {"a": 7, "b": 2}
    assert not training.segmenter(task("lm-smm-transitions"), gold).transitions
    assert training.segmenter(task("lm-smm-durations"), gold).features.durations is None
    assert training.segmenter(task("lm-smm-bins"), gold).features.bins == 1
    assert training.segmenter(task("perceptron"), gold).costs.frame == 0
    assert full.features.content == "sum" and not full.calibration
    averaged = training.segmenter(task("lm-smm-mean-durations"), gold)
    assert averaged.features.content == "mean" and averaged.features.durations is None
    tokens = training.token_model({"model": "segmenter", "C": 1, "epochs": 1, "threads": 1})
    assert not tokens.calibration and tokens.features.string
    frames = training.segmenter(task("lm-hmm"), gold)
    assert frames.durations.max == 1 and frames.features.bins == 1 and frames.transitions


def made_up(**changed) -> dict:
    """Results in which large margins win, but durations help by less than a tenth, and bins harm."""
    errors = {"ml-hmm": 50, "lm-hmm": 40, "ml-smm": 30, "lm-smm": 20, "perceptron": 25}
    errors |= {f"{kind}-smm{seen}": e for kind in ("ml", "lm") for seen, e in zip(TABLE2, (30, 21, 19))}
    errors |= dict(zip(AVERAGED, (60, 35, 36))) | changed

    def row(model, m):
        counts = [[errors[model], 100]] * 20
        test = dict.fromkeys(("boundary_f1", "r_value", "frame_accuracy", "segment_f1"), 0.5)
        test |= {"phone_error": errors[model] / 100, "counts": counts}
        parameters = {"bins": 3, "longest": None, "steps": None if model.startswith("ml") else (30, 0.1)}
        passes = [] if model.startswith("ml") else [0.38, 0.37, 0.36, 0.35, 0.34, 0.3] if m == 1 else [0.3, 0.2]
        common = {"parameters": parameters, "dev": 0.4, "passes": passes, "best_pass": 2 if passes else None}
        return {"model": model, "mixtures": m, "test": test, "cpu_seconds": 1.0, **common}

    models = [row(model, m) for m in (1, 2) for model in errors if m == 1 or model in (*TABLE1, "perceptron")]
    cost = {"train_frames": 1000, "predict_frames": 100, "predict_seconds": 0.1, "predict_cpu_seconds": 0.2}
    cost |= {"pass_seconds": [2.0, 1.5], "cpu_seconds": 5.0, "memory_mb": 800.0}
    return {
        "plan": vars(FULL) | {"mixtures": {1: 10, 2: 8}},
        "chosen": {"lm-smm": {"bins": 3, "longest": 50, "steps": (30, 0.1)}},
        "models": models,
        "series": [],
        "tokens": [],
        "cost": cost,
        "commits": ["c"],
    }


def claims_of(results) -> dict:
    lines = report.parts(results)["claims"].splitlines()[2:]
    return {claim: rest for claim, *rest in (line.strip("| ").split(" | ") for line in lines)}


def test_claims_are_decided_by_figures():
    claims = claims_of(made_up())
    tenth = ", by a tenth or more"
    assert claims[f"1 mixture: large-margin SMM errs less than ML (SMM){tenth}"] == [
        "held", "held", "20.0 against 30.0 %, 33.3 % fewer errors (paper: 20 %), p < 0.001"
    ]  # fmt: skip
    without = {word: claims[f"1 mixture: large-margin SMM errs less than large-margin SMM without {word}{tenth}"][:2]
               for word in ("transitions", "durations", "bins")}  # fmt: skip
    assert without == {
        "transitions": ["held", "held"],
        "durations": ["held", "less than a tenth"],
        "bins": ["did not hold", "did not hold"],
    }
    assert claims["2 mixtures: large-margin SMM errs less than SMM, perceptron"][:2] == ["held", ""]
    averaged = "large-margin SMM, (7) as printed"
    assert claims[f"1 mixture: {averaged} errs less than ML (SMM), (7) as printed"][:2] == ["held", ""]
    assert claims[f"1 mixture: {averaged} errs less than {averaged} without durations"][:2] == ["held", ""]


def test_what_may_be_chance_is_called_so():
    results = made_up()
    for row in results["models"]:  # ml-hmm and lm-hmm err in turns
        if row["model"] in ("ml-hmm", "lm-hmm") and row["mixtures"] == 1:
            first = (90, 10) if row["model"] == "ml-hmm" else (5, 75)
            row["test"]["counts"] = [[n, 100] for n in first for _ in range(10)]
    held = claims_of(results)["1 mixture: large-margin HMM errs less than ML (HMM), by a tenth or more"]
    assert held[:2] == ["held, but may be chance"] * 2


def test_claims_beyond_pairs():
    title = "Table 2: the large-margin SMM misses transitions more than durations"
    assert claims_of(made_up())[title][0] == "held"
    assert claims_of(made_up(**{"lm-smm-transitions": 20}))[title][0] == "did not hold"
    held = claims_of(made_up())["Fig. 2, 1 mixture: most of the gain comes within 5 passes"]
    assert held == ["held", "", "60 % of what 6 passes gain on development data"]
    assert "Fig. 2, 2 mixtures: most of the gain comes within 5 passes" not in claims_of(made_up())
    slow = made_up()
    slow["cost"]["pass_seconds"] = [41.0, 40.0]
    fast = "one pass with one mixture takes less than 30 s"
    assert claims_of(made_up())[fast][:2] == ["not in the paper", "held"]
    assert claims_of(slow)[fast][1:] == ["did not hold", "40.0 s for 1,000 frames"]
    other = made_up()
    other["series"] = [row for row in other["models"] if row["model"] in TABLE1 and row["mixtures"] == 1]
    names = {"tagger": (0.5, [5, 10, 10]), "segmenter-words": (0.4, [4, 10, 10]), "segmenter": (0.6, [6, 10, 10])}
    common = {"corpus": "wnut17", "C": 1, "best_epoch": 1, "dev": 0.5, "cpu_seconds": 1.0}
    other["tokens"] = [{**common, "model": m, "test": f, "counts": [c] * 9} for m, (f, c) in names.items()]
    claims = claims_of(other)
    series = claims["time series, 1 mixture: ML (SMM) errs less than ML (HMM), by a tenth or more"]
    assert series == ["not in the paper", "held", "30.0 against 50.0 %, 40.0 % fewer errors, p < 0.001"]
    title = "emerging entities, English (WNUT-17): {}, finds names better than Tagger (IOB2)"
    assert claims[title.format("Segmenter, words alone")][1] == "did not hold"
    assert claims[title.format("Segmenter, with whole segments")][1] == "held"


def test_tables_have_the_figures_of_the_paper_beside_ours():
    parts = report.parts(made_up())
    assert "| 1 | 50.0 (42.8) | 40.0 (34.2) | 30.0 (37.4) | 20.0 (30.0) |" in parts["table 1"]
    assert "| large-margin SMM | 20.0 (30.0) | 30.0 (32.3) | 21.0 (30.7) | 19.0 (31.4) |" in parts["table 2"]
    assert "| large-margin SMM, (7) as printed | 35.0 (30.0) |  | 36.0 (30.7) |  |" in parts["table 2"]
    assert "| SMM, perceptron | 25.0 (34.3) | 25.0 (31.8) |" in parts["table 3"]
    assert "a pass takes 1.5 s" in parts["cost"] and "1,000 frames a second" in parts["cost"]
    assert parts["series"] == parts["entities"] == "Not run.\n"
    assert "with 3 passes and one mixture" in parts["run"] and "for the large-margin SMM alone" in parts["run"]
    once = made_up()
    once["plan"] = once["plan"] | {"choice_passes": 1}
    assert "with 1 pass and one mixture" in report.parts(once)["run"]


def test_plots_and_readme(tmp_path):
    figures.draw(made_up(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["figure2.png"]
    readme = (HERE / "README.md").read_text("utf-8")
    assert with_generated(readme, report.parts(made_up(), plots="results/")) != readme


def test_timit_takes_the_place_of_our_corpora(tmp_path, monkeypatch):
    seen = []

    class Stopped(Experiment):
        def __init__(self, plan, options):
            seen.append((plan, options.folder(HERE), training.os.environ.get(training.TIMIT_FOLDER)))
            raise KeyboardInterrupt

    monkeypatch.setattr("papers.semi_markov.run.Experiment", Stopped)
    with pytest.raises(KeyboardInterrupt):
        run(Options(out=tmp_path, timit=tmp_path))
    ((plan, folder, where),) = seen
    assert (plan.corpus, plan.series, plan.tokens, folder, where) == ("timit", (), (), tmp_path, str(tmp_path))
    assert plan.mixtures == FULL.mixtures and training.TIMIT_FOLDER not in training.os.environ
    assert training.FOLDS["timit"] is TIMIT_39


def test_the_plan_is_that_of_the_paper():
    assert tuple(FULL.mixtures) == (1, 2, 4, 8) and set(FULL.bins) <= {1, 2, 3, 4, 5}
    for kinds in (TABLE1, ("perceptron",)):
        for model in kinds:
            errors = [PAPER[model, m] for m in FULL.mixtures]
            assert all(a >= b for a, b in pairwise(errors))
    assert PAPER["lm-smm", 1] == 30.0 and PAPER["lm-smm-durations", 1] == 30.7


def tiny_timit(root):
    """A folder laid out like TIMIT: generated speech whose sounds are named as phones of TIMIT."""
    names = dict(zip(GENERATED_PHONES, "bdfgklmnprstvwyz"))
    names["pau"] = "h#"
    speakers = {"TRAIN/DR1/FCJF0": 4, "TRAIN/DR2/MARC0": 4, "TEST/DR4/FADG0": 1, "TEST/DR1/MDAB0": 2}
    for seed, (speaker, n) in enumerate(speakers.items()):
        (root / speaker).mkdir(parents=True)
        for i, (sound, segments) in enumerate(zip(*make_speech(n, words=2, seed=seed))):
            write_sound(root / speaker / f"SX{i}.WAV", sound.samples, sound.rate)
            phones = [Span(s.start, s.end, names[s.label]) for s in segments]
            write_labels(root / speaker / f"SX{i}.PHN", intervals_of_segments(phones), "timit", rate=sound.rate)
    return root


def test_the_experiment_of_the_paper_from_folder_to_report(tmp_path, monkeypatch):
    small = replace(QUICK, n_train=None, n_test=None, mixtures={1: 1}, bins=(2,), longest=(None,), steps=((1, 1e-3),))
    monkeypatch.setattr("papers.semi_markov.run.QUICK", small)
    training.corpus.cache_clear()
    command = ["reproduce", "semi-markov", "--quick", "--jobs", "1", "--timit", str(tiny_timit(tmp_path / "TIMIT"))]
    assert main([*command, "--out", str(tmp_path / "results")]) == 0
    training.corpus.cache_clear()
    found = json.loads((tmp_path / "results" / "results.json").read_text())
    rows = {row["model"]: row["test"] for row in found["models"]}
    assert found["plan"]["corpus"] == "timit" and found["series"] == found["tokens"] == []
    assert len(rows["lm-smm"]["counts"]) == 2
    assert rows["ml-smm"]["phone_error"] < 0.5 and rows["lm-smm"]["phone_error"] < 0.5
    text = (tmp_path / "results" / "report.md").read_text()
    assert "English phones (TIMIT)" in text and "Not run." in text
