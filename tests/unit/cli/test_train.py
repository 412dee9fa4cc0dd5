from __future__ import annotations

import gzip
import json
import os
import shutil
import signal

import pytest

import margent as library
from margent.cli.epoch_table import EpochTable


def test_table_and_model(margent, folder, tmp_path):
    model = tmp_path / "model.margent"
    outcome = margent("train", folder / "train.txt", "--dev", folder / "dev.txt", "-m", model, "--epochs", 3)
    assert outcome.status == 0 and outcome.errors == ""
    assert "300 sentences" in outcome.output
    assert [line.split()[0] for line in outcome.output.splitlines() if line.strip()[:1].isdigit()][1:] == [
        "1",
        "2",
        "3",
    ]
    assert "POSTCODE" in outcome.output and "all spans" in outcome.output
    assert f"saved {model}" in outcome.output
    tagger = library.load(model)
    assert tagger.learner == library.PassiveAggressive(epochs=3)
    assert tagger.scheme_ == "iob2"


def test_a_conditional_random_field_shows_its_objective(margent, folder, tmp_path):
    model = tmp_path / "crf.margent"
    options = ["--learner", "crf", "--method", "owlqn", "--l1", "0.2", "--l2", "0.1", "--epochs", "4"]
    outcome = margent("train", folder / "train.txt", "--dev", folder / "dev.txt", "-m", model, *options)
    assert outcome.status == 0 and outcome.errors == ""
    assert "objective" in outcome.output and "accuracy  " not in outcome.output.splitlines()[2]
    tagger = library.load(model)
    assert tagger.learner == library.CRF(method="owlqn", l1=0.2, l2=0.1, epochs=4)
    assert "objective" in margent("inspect", model).output
    wrong = margent("train", folder / "train.txt", "-m", model, "--learner", "crf", "--l1", "1")
    assert wrong.status == 2 and "l1=1.0 of CRF needs method='owlqn'" in wrong.errors


def test_json(margent, folder, tmp_path):
    arguments = ("--dev", folder / "dev.txt", "-m", tmp_path / "m", "--epochs", 2, "--json")
    report = json.loads(margent("train", folder / "train.txt", *arguments).output)
    assert len(report["epochs"]) == 2
    assert report["best_epoch"] in (1, 2)
    assert report["interrupted"] is False
    assert report["bytes"] == (tmp_path / "m").stat().st_size
    assert report["dev"]["f1"] == pytest.approx(report["epochs"][report["best_epoch"] - 1]["dev_score"])
    assert report["dev"]["types"]["CITY"]["gold"] > 0


def test_all_parameters_reach_the_tagger(margent, folder, tmp_path):
    options = (
        "--learner perceptron --epochs 2 --no-average --no-shuffle --margin 0.5 --order 2 --scheme iob2 --constrain"
    )
    more = "--label-costs O=0.5 --label-costs B-CITY=2 --pair-cost O B-CITY 3 --seed 7 --threads 1 --features ner"
    model = tmp_path / "m"
    assert margent("train", folder / "train.txt", "-m", model, *options.split(), *more.split(), "--compact").status == 0
    tagger = library.load(model)
    assert tagger.learner == library.Perceptron(epochs=2, average=False, shuffle=False, margin=0.5)
    wanted = {"order": 2, "scheme": "iob2", "constrain": True, "seed": 7}
    wanted |= {"threads": 1, "features": "ner", "label_costs": {"O": 0.5, "B-CITY": 2.0, ("O", "B-CITY"): 3.0}}
    assert {name: getattr(tagger, name) for name in wanted} == wanted


def test_same_seed_same_model(margent, folder, tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        margent("train", folder / "train.txt", "-m", tmp_path / name, "--epochs", 2, "--seed", seed, "--no-average")
    one, two, three = ((tmp_path / name).read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_template_file_and_several_gzip_files(margent, folder, tmp_path):
    (tmp_path / "templates.txt").write_text("# mine\nU0:%x[0,0]\nB\n")
    with gzip.open(tmp_path / "more.txt.gz", "wb") as file:
        file.write((folder / "dev.txt").read_bytes())
    arguments = ("train", folder / "train.txt", "-m", tmp_path / "m", tmp_path / "more.txt.gz", "--epochs", 1)
    outcome = margent(*arguments, "--template", tmp_path / "templates.txt")
    assert "360 sentences" in outcome.output
    assert library.load(tmp_path / "m").features.lines == ("U0:%x[0,0]", "B")


def test_restrictions_that_leave_no_labelling_end_nothing(margent, tmp_path):
    """A word that is always within a span, alone: neither the words' labels nor the scheme allow another label."""
    (tmp_path / "train.txt").write_text("the O\nold B-X\nof I-X\nbank I-X\n\na O\nbank B-X\nof I-X\n\n" * 8)
    (tmp_path / "dev.txt").write_text("of B-X\n\nthe O\nbank B-X\nof I-X\n\n")
    restrict = ("--constrain", "--tag-dictionary", "5", "--dev", tmp_path / "dev.txt", "--epochs", "3")
    outcome = margent("train", tmp_path / "train.txt", "-m", tmp_path / "m", *restrict, "--json")
    assert outcome.status == 0
    assert [epoch["dev_lifted"] for epoch in json.loads(outcome.output)["epochs"]] == [1, 1, 1]
    assert outcome.errors.count("the tag dictionary for 1 sentence (the first: 0)") == 1
    (tmp_path / "words.txt").write_text("of\n\nthe\nof\n\n")
    outcome = margent("tag", tmp_path / "m", tmp_path / "words.txt")
    assert outcome.status == 0 and outcome.output.startswith("of\tO\n") and "the\tO\nof\tI-X" not in outcome.output
    assert outcome.errors.count("warning") == 1
    assert margent("evaluate", tmp_path / "m", tmp_path / "dev.txt").status == 0


def test_patience_ends_the_training(margent, folder, tmp_path):
    arguments = ("--dev", folder / "dev.txt", "-m", tmp_path / "m", "--epochs", 200, "--patience", 2, "--json")
    report = json.loads(margent("train", folder / "train.txt", *arguments).output)
    assert len(report["epochs"]) == report["best_epoch"] + 2 < 200


def test_columns_in_another_order(margent, tmp_path):
    (tmp_path / "data.txt").write_text("D x the\nN y cat\n\nD x a\nN y dog\n\n")
    assert margent("train", tmp_path / "data.txt", "-m", tmp_path / "m", "--columns", "2,0").status == 0
    tagger = library.load(tmp_path / "m")
    assert tagger.classes_.tolist() == ["D", "N"]
    assert tagger.predict([["the", "dog"]]) == [["D", "N"]]


def test_comments_and_tabs(margent, tmp_path):
    (tmp_path / "data.txt").write_text("# one\nNew York\tCITY\nis\tO\n\n# two\nOslo\tCITY\n\n")
    arguments = ("train", tmp_path / "data.txt", "-m", tmp_path / "m", "--tabs", "--comment", "#")
    assert "2 sentences (3 tokens)" in margent(*arguments).output


def test_wrong_usage(fails, folder, tmp_path):
    train = ("train", folder / "train.txt", "-m", tmp_path / "m")
    fails(2, "--model", "train", folder / "train.txt")
    fails(2, "order of Tagger should be", *train, "--order", 0)
    fails(2, "--epochs: expected an integer, got 'many'", *train, "--epochs", "many")
    fails(2, "epochs of PassiveAggressive", *train, "--epochs", 0)
    fails(2, "margin of Perceptron", *train, "--learner", "perceptron", "--margin", -1)
    fails(2, "--dev", *train, "--patience", 2)
    fails(2, "--label-costs: expected NAME=VALUE", *train, "--label-costs", "O")
    fails(2, "--label-costs O: expected a number, got 'x'", *train, "--label-costs", "O=x")
    fails(2, "--pair-cost: expected a cost of at least 0, got 'x'", *train, "--pair-cost", "O", "B-CITY", "x")
    fails(2, "--pair-cost: expected two different labels", *train, "--pair-cost", "O", "O", 1)
    fails(2, "gap of StructuredSVM", *train, "--learner", "ssvm", "--method", "subgradient", "--gap", 0.1)
    fails(2, "'magic'", *train, "--learner", "magic")
    fails(2, "'magic'", *train, "--features", "magic")
    fails(2, "not allowed", *train, "--features", "ner", "--template", "x")
    fails(2, "numbers from 0", *train, "--columns", "word,label")
    fails(2, "different formats", "train", folder / "train.txt", "more.jsonl", "-m", tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_failures(fails, folder, tmp_path):
    train = ("train", folder / "train.txt", "-m", tmp_path / "m")
    for name, text in {"empty": "", "one": "a\nb\n", "ragged": "a B\nc\n", "three": "a B C\n", "rule": "x\n"}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "latin").write_bytes("caf\xe9 N\n".encode("latin-1"))
    fails(1, "nothing.txt: No such file", "train", "nothing.txt", "-m", tmp_path / "m")
    fails(1, "Is a directory", "train", tmp_path, "-m", tmp_path / "m")
    fails(1, "found no tokens", "train", tmp_path / "empty", "-m", tmp_path / "m")
    fails(1, "found 1 column", "train", tmp_path / "one", "-m", tmp_path / "m")
    fails(1, "ragged, line 2", "train", tmp_path / "ragged", "-m", tmp_path / "m")
    fails(1, "latin, line 1", "train", tmp_path / "latin", "-m", tmp_path / "m")
    fails(1, "'klingon'", *train, "--encoding", "klingon")
    fails(1, "--columns 0,9: there is no column 9", *train, "--columns", "0,9")
    fails(1, "2 input columns", *train, "--dev", tmp_path / "three")
    fails(1, "No such file", *train, "--template", tmp_path / "nothing")
    fails(1, "must start with U", *train, "--template", tmp_path / "rule")
    fails(1, "names column 1", *train, "--features", "chunking")
    fails(1, "label_costs names 'X'", *train, "--label-costs", "X=2")
    fails(1, "no such folder", "train", folder / "train.txt", "-m", tmp_path / "no" / "m")
    fails(1, "Is a directory", "train", folder / "train.txt", "-m", tmp_path)
    assert not (tmp_path / "m").exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that cannot be written to")
def test_folder_that_cannot_be_written_to(fails, folder, tmp_path):
    tmp_path.chmod(0o500)
    fails(1, "cannot be written to", "train", folder / "train.txt", "-m", tmp_path / "m")


def test_latin_1(margent, tmp_path):
    (tmp_path / "latin").write_bytes("caf\xe9 N\nnoir A\n".encode("latin-1"))
    assert margent("train", tmp_path / "latin", "-m", tmp_path / "m", "--encoding", "latin-1").status == 0
    assert library.load(tmp_path / "m").predict([["café"]]) == [["N"]]


def test_interruption_keeps_a_model(margent, folder, tmp_path, monkeypatch):
    from margent.cli import epoch_table

    def add(self, epoch):
        if epoch.epoch == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(epoch_table.EpochTable, "add", add)
    arguments = ("train", folder / "train.txt", "--dev", folder / "dev.txt", "-m", tmp_path / "m", "--epochs", 1000)
    outcome = margent(*arguments)
    assert outcome.status == 130
    assert "interrupted after 3 epochs" in outcome.output
    assert library.load(tmp_path / "m").interrupted_
    outcome = margent("train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 1000)
    assert "interrupted" in outcome.output


def test_an_interruption_that_matters_is_not_lost_in_json(margent, folder, tmp_path, monkeypatch):
    from margent.cli import epoch_table

    def add(self, epoch):
        raise KeyboardInterrupt

    monkeypatch.setattr(epoch_table.EpochTable, "add", add)
    outcome = margent("train", folder / "train.txt", "-m", tmp_path / "m", "--json")
    assert outcome.status == 130
    assert json.loads(outcome.output)["interrupted"] is True


def test_the_gap_is_shown_and_missed(margent, folder, tmp_path):
    train = ("train", folder / "dev.txt", "-m", tmp_path / "m", "--learner", "ssvm", "--epochs", 2)
    output = margent(*train, "--gap", 1e-6).output
    heading = next(line for line in output.splitlines() if line.startswith("epoch"))
    assert heading.split() == ["epoch", "accuracy", "objective", "primal", "gap", "updates", "seconds"]
    gap = library.load(tmp_path / "m").history_[-1]["gap"]
    assert f"the gap is {gap:.2g}, wanted 1e-06: it takes more --epochs" in output
    assert "it takes more" not in margent(*train, "--gap", 0.99).output
    assert "primal" not in margent(*train).output


def test_a_hidden_markov_model(margent, fails, folder, tmp_path):
    model = tmp_path / "hmm.margent"
    options = ["--learner", "hmm", "--smoothing", "0.05", "--transition-smoothing", "0.2"]
    outcome = margent("train", folder / "train.txt", "--dev", folder / "dev.txt", "-m", model, *options)
    assert outcome.status == 0 and outcome.errors == "" and "objective" in outcome.output
    tagger = library.load(model)
    assert tagger.learner == library.HiddenMarkov(smoothing=0.05, transition_smoothing=0.2) and tagger.calibrated_
    assert margent("tag", model, folder / "test.txt").status == 0
    train = ("train", folder / "train.txt", "-m", model, "--learner", "hmm")
    fails(2, "smoothing of HiddenMarkov should be a number above 0, got 0.0", *train, "--smoothing", "0")
    fails(2, "; the learner is hmm", *train, "--epochs", "3")


def test_a_folder_that_goes_during_a_training_costs_no_model(margent, folder, tmp_path, monkeypatch):
    gone, here, add = tmp_path / "gone", tmp_path / "here", EpochTable.add
    gone.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)

    def add_and_remove(self, epoch):
        add(self, epoch)
        shutil.rmtree(gone, ignore_errors=True)

    monkeypatch.setattr(EpochTable, "add", add_and_remove)
    outcome = margent("train", folder / "train.txt", "-m", gone / "best.margent", "--epochs", 2)
    [saved] = here.iterdir()
    assert outcome.status == 1
    assert outcome.errors == (
        f"margent: error: {gone / 'best.margent'}: there is no such folder to write to; the model is saved as {saved} "
        "instead\n"
    )
    assert saved.name.startswith("best-") and margent("tag", saved, folder / "one.txt").status == 0


def test_ctrl_c_waits_until_the_model_is_saved(margent, folder, tmp_path, monkeypatch):
    save = library.Tagger.save

    def interrupted(self, path, **options):
        signal.raise_signal(signal.SIGINT)
        save(self, path, **options)

    monkeypatch.setattr(library.Tagger, "save", interrupted)
    outcome = margent("train", folder / "train.txt", "-m", tmp_path / "m", "--epochs", 2)
    assert outcome.status == 130 and outcome.errors == "margent: error: interrupted\n"
    assert library.load(tmp_path / "m").history_
