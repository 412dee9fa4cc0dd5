from __future__ import annotations

import json

import margent as library


def test_summary(margent, folder):
    output = margent("inspect", folder / "model.margent").output
    assert "labels    21: B-CITY" in output
    assert "scheme    iob2" in output
    assert "features: generic" in output
    assert "PassiveAggressive(" in output and "epochs=5" in output
    assert "5 epochs" in output
    assert "certainty not calibrated, temperature 1\n" in output
    assert "features of B-CITY:" in output and "transitions:" in output


def test_top_features_of_a_label(margent, folder):
    output = margent("inspect", folder / "model.margent", "--label", "B-CITY", "--top", 2).output
    wanted = library.load(folder / "model.margent").top_features("B-CITY", 2)
    assert output.split("\n", 2)[1] == "features of B-CITY:"
    assert [line.split(None, 1)[1] for line in output.splitlines()[2:]] == [name for name, _ in wanted]


def test_json(margent, folder):
    report = json.loads(margent("inspect", folder / "model.margent", "--json", "--top", 1).output)
    assert report["kind"] == "tagger"
    assert (report["temperature"], report["calibrated"]) == (1.0, False)
    assert report["features"] > 1000 and report["weights_not_zero"] > 1000
    assert report["parameters"]["learner"]["epochs"] == 5
    assert len(report["history"]) == report["epochs"] == 5
    assert set(report["top_features"]) == set(report["labels"])
    assert len(report["top_transitions"]) == 2


def test_other_kinds_of_models(margent, tmp_path):
    library.Tagger().fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]]).save(tmp_path / "attributes")
    assert "input     attributes" in margent("inspect", tmp_path / "attributes").output
    library.Tagger(features=["U:%x[0,0]", "B:%x[0,0]"]).fit([["a", "b"]], [["A", "B"]]).save(tmp_path / "templates")
    output = margent("inspect", tmp_path / "templates").output
    assert "templates of its own" in output and "2 for pairs of labels" in output


def test_failures(fails, folder, tmp_path):
    fails(1, "No such file", "inspect", tmp_path / "nothing")
    fails(1, "does not begin as a Margent model", "inspect", folder / "train.txt")
    fails(1, "no label 'B-MOON'", "inspect", folder / "model.margent", "--label", "B-MOON")
    fails(2, "at least 1", "inspect", folder / "model.margent", "--top", 0)


def test_the_gap_is_told(margent, folder, tmp_path):
    margent("train", folder / "dev.txt", "-m", tmp_path / "m", "--learner", "ssvm", "--epochs", 2, "--gap", 1e-6)
    output = margent("inspect", tmp_path / "m").output
    gap = library.load(tmp_path / "m").history_[-1]["gap"]
    assert f"gap {gap:.2g} (wanted: 1e-06)" in output


def test_support_sequences(margent, fails, folder, tmp_path):
    model = tmp_path / "svm.margent"
    margent("train", folder / "dev.txt", "-m", model, "--learner", "hmsvm", "--slack", "l2", "--epochs", 3)
    output = margent("inspect", model).output
    assert output.count("support sequences\n") == 1 and " gold " in output
    assert margent("inspect", model, "--support", 3).output.count("support sequences\n") == 3
    assert "support sequences\n" not in margent("inspect", model, "--label", "O").output
    assert "support sequences\n" in margent("inspect", model, "--label", "O", "--support", 1).output
    report = json.loads(margent("inspect", model, "--json", "--support", 2).output)
    assert report["support_sequences"] >= len(report["support"]) == 2
    weights = [sum(s["weight"] for s in sentence["sequences"]) for sentence in report["support"]]
    assert weights[0] >= weights[1] > 0
    assert len(report["support"][0]["tokens"]) == len(report["support"][0]["sequences"][0]["labels"])
    margent("inspect", model, "--plot", tmp_path / "support.png")
    assert (tmp_path / "support.png").stat().st_size > 0
    fails(2, "support.xyz: expected the name of an image file", "inspect", model, "--plot", tmp_path / "support.xyz")
    plain = folder / "model.margent"
    fails(2, "and this one has none: they come with the learners hmsvm and", "inspect", plain, "--support", 1)
    library.load(model).save(tmp_path / "compact", compact=True)
    fails(2, "and are not in a compact model file", "inspect", tmp_path / "compact", "--support", 1)
    assert "support" not in margent("inspect", plain).output


def test_a_transcriber(margent, fails, tmp_path):
    words, spoken = library.datasets.make_pronunciations(200, seed=0)
    model = library.Transcriber(order=3, learner=library.MIRA(C=0.01, epochs=1)).fit(words, spoken)
    model.save(tmp_path / "m")
    output = margent("inspect", tmp_path / "m", "--top", 3).output
    assert "kind      transcriber of order 3" in output
    assert f"phonemes  {len(model.phonemes_)}: " in output
    assert "MIRA(" in output and "to rerank candidates by" in output
    assert len(output[output.index("\ngraphones:") :].split()) == 1 + 2 * 3
    report = json.loads(margent("inspect", tmp_path / "m", "--json").output)
    assert report["kind"] == "transcriber" and report["graphones"] == model.joint_.n_graphones
    assert len(report["grams"]) == 3 and sum(report["grams"]) == model.joint_.n_grams
    assert len(report["discounts"]) == 3 and all(len(row) == 3 for row in report["discounts"])
    assert report["learned_weights_not_zero"] > 0
    assert 0 < sum(each["probability"] for each in report["top_graphones"]) <= 1
    fails(2, "this is a transcriber", "inspect", tmp_path / "m", "--label", "AE")
    searching = library.Transcriber(
        order=2,
        learner=library.MIRA(C=0.01, epochs=1),
        decoder="direct",
        search=library.AlignmentBeam(width=8, update="skip"),
    )
    searching.fit(words, spoken).save(tmp_path / "searching")
    assert "to search by, of which" in margent("inspect", tmp_path / "searching").output
    library.Transcriber(order=1).fit(words, spoken).save(tmp_path / "plain")
    assert "none: the joint model decides" in margent("inspect", tmp_path / "plain").output
