"""The transcriber: learning, search against all unit sequences, alignment, errors, files."""

from __future__ import annotations

import copy
import math
import warnings
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import margent
from margent import EM, CorpusError, ModelFileError, NotFittedError, Transcriber, storage
from margent.corpus import make_pronunciations

WORDS, SPOKEN = make_pronunciations(1500, seed=0, noise=0)


@pytest.fixture(scope="module")
def fitted() -> Transcriber:
    return Transcriber(order=4, threads=2).fit(WORDS[:1200], SPOKEN[:1200])


def test_new_words_are_pronounced(fitted: Transcriber) -> None:
    report = fitted.evaluate(WORDS[1200:], SPOKEN[1200:])
    assert report.word_error < 0.05
    assert report.phoneme_error < 0.02
    assert fitted.score(WORDS[1200:], SPOKEN[1200:]) == 1 - report.word_error


def test_the_history_has_every_step(fitted: Transcriber) -> None:
    assert len(fitted.history_) == EM(order=4).epochs
    objectives = [epoch["objective"] for epoch in fitted.history_[:8]]
    assert all(later <= earlier for earlier, later in pairwise(objectives))
    assert not fitted.interrupted_
    assert fitted.n_skipped_ == 0


def test_log_probabilities_are_of_each_pronunciation() -> None:
    """Exact sums whatever beams are set; with one way to cut a pair, of probabilities that can be counted by hand."""
    model = Transcriber(em=EM(order=1, beam=1), sizes=((1, 1),), held_out=0, beam=1).fit(["ab", "a"], ["X Y", "X"])
    found = model.log_probabilities(["ab", "zz", "a"], [[["X", "Y"], ["Q", "Y"]], ["X", "X"], ["X", "Y"]])
    assert found.shape == (4,)  # ab:XY, ab:QY, zz:XX, a:XY
    p_a, p_b, p_end = 2 / 5, 1 / 5, 2 / 5
    assert found[0] == pytest.approx(math.log(p_a * p_b * p_end), abs=1e-5)
    assert (found[1:] == -math.inf).all()
    assert model.log_probabilities([], []).shape == (0,)


@pytest.mark.parametrize("sizes", [((1, 0), (1, 1), (1, 2), (2, 1)), ((0, 1), (1, 0), (1, 1))])
def test_search_without_a_beam_finds_the_best_of_all(sizes: Any) -> None:
    """All unit sequences for short words are listed, and scored by the sums of `log_probabilities` and `cut`."""
    words, spoken = ["ab", "ba", "aab", "b"], ["X Y", "Y", "X X Y", "Y"]
    model = Transcriber(em=EM(order=2, evidence=0), sizes=sizes, held_out=0).fit(words, spoken)
    phonemes = model.model_.phonemes.names
    for word in ("ab", "bb", "aba"):
        number = [model.model_.letters.ids[letter] for letter in word]
        listed = [list(way) for n in range(5) for way in product(range(len(phonemes)), repeat=n)]
        scores = model.model_.log_probabilities([number] * len(listed), listed, 1)
        best_cuts, _ = model.model_.cut([number] * len(listed), listed, 1)
        # With units without letters there is no end of pronunciations: there the beam is only large.
        exact = model.set_params(beam=None if (0, 1) not in sizes else 300, threshold=0)
        assert exact.set_params(summed=True).predict([word])[0] == [phonemes[p] for p in listed[np.argmax(scores)]]
        assert exact.set_params(summed=False).predict([word])[0] == [phonemes[p] for p in listed[np.argmax(best_cuts)]]
        order = np.argsort(-scores, kind="stable")[:3]
        assert np.isfinite(scores[order]).all()
        found = exact.predict_k_best([word], k=3)[0]
        assert [one.phonemes for one in found] == [[phonemes[p] for p in listed[i]] for i in order]
        ratios = [one.probability / found[0].probability for one in found]
        assert ratios == pytest.approx(np.exp(scores[order] - scores[order[0]]).tolist(), rel=1e-5)


def test_probabilities_are_sorted_and_sum_to_at_most_one(fitted: Transcriber) -> None:
    for several in fitted.predict_k_best(["cate", "phox", "tunquan"], k=4):
        probabilities = [one.probability for one in several]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < sum(probabilities) <= 1 + 1e-9
        assert len({tuple(one.phonemes) for one in several}) == len(several)


def test_the_alignment_spells_both_sides(fitted: Transcriber) -> None:
    cuts = fitted.align(WORDS[:50], SPOKEN[:50])
    for word, spoken, cut in zip(WORDS, SPOKEN, cuts):
        assert "".join(letter for unit in cut for letter in unit.letters) == word
        assert [phoneme for unit in cut for phoneme in unit.phonemes] == spoken
    (ending,) = fitted.align(["pate"], ["P EY T"])
    assert (("a",), ("EY",)) in ending
    assert (("e",), ()) in ending


def test_several_pronunciations_are_learned_and_any_is_right() -> None:
    words, spoken = ["a", "ab", "b"], [["X"], [["X", "Y"], ["Z", "Y"]], "Y"]
    model = Transcriber(order=2, held_out=0).fit(words, spoken)
    repeated = Transcriber(order=2, held_out=0).fit(["a", "ab", "ab", "b"], ["X", "X Y", "Z Y", "Y"])
    assert {tuple(one.phonemes) for one in model.predict_k_best(["ab"], 2)[0]} == {("X", "Y"), ("Z", "Y")}
    assert model.predict_k_best(["ab", "ba"]) == repeated.predict_k_best(["ab", "ba"])
    assert model.evaluate(["ab", "ab"], ["X Y", "Z Y"]).words == 1
    assert model.evaluate(["ab", "ab"], ["X Y", "Z Y"]).word_error == 0


def test_unseen_letters_are_left_out_with_a_warning_or_an_error(fitted: Transcriber) -> None:
    with pytest.warns(UserWarning, match="word 1, 'pßat', has the letter 'ß'"):
        assert fitted.predict(["pat", "pßat"])[1] == fitted.predict(["pat"])[0]
    strict = copy.deepcopy(fitted).set_params(unseen="error")
    with pytest.raises(CorpusError, match="'ß'"):
        strict.predict(["pßat"])
    assert fitted.predict([""]) == [[]]
    assert fitted.predict([]) == []


def test_words_may_be_sequences_of_symbols() -> None:
    model = Transcriber(order=2, held_out=0).fit([["sch", "a"], ["a"]], [["SH", "AA"], ["AA"]])
    assert model.predict([["sch", "a"]]) == [["SH", "AA"]]
    assert model.align([["sch", "a"]], [["SH", "AA"]])[0][0] == (("sch",), ("SH",))


def test_development_words_are_watched() -> None:
    model = Transcriber(order=3).fit(WORDS[:300], SPOKEN[:300], X_dev=WORDS[300:350], y_dev=SPOKEN[300:350])
    assert all(epoch["dev_score"] is not None for epoch in model.history_)
    assert max(epoch["dev_score"] for epoch in model.history_) == model.score(WORDS[300:350], SPOKEN[300:350])


def test_threads_do_not_change_anything() -> None:
    one, three = (Transcriber(order=3, threads=n).fit(WORDS[:200], SPOKEN[:200]) for n in (1, 3))
    assert one.predict_k_best(WORDS[200:260]) == three.predict_k_best(WORDS[200:260])


def test_pairs_that_cannot_be_cut_are_counted() -> None:
    model = Transcriber(order=1, sizes=((1, 1), (1, 0)), held_out=0).fit(["a", "b"], ["X", "Y Y Y"])
    assert model.n_skipped_ == 1
    with pytest.raises(CorpusError, match="word 0, 'a', cannot be cut"):
        model.align(["a"], ["X X"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 0}, "order of EM"),
        ({"em": "em"}, "em of Transcriber"),
        ({"beam": 0}, "beam of Transcriber"),
        ({"threshold": -1}, "threshold of Transcriber"),
        ({"held_out": 1.0}, "held_out of Transcriber"),
        ({"unseen": "guess"}, "unseen of Transcriber"),
        ({"sizes": ((0, 0),)}, "sizes should be"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Transcriber(**parameters).fit(["a"], ["X"])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ("word", ["X"], "a list of words"),
        ([3], ["X"], "word 0"),
        (["a"], [3], "pronunciation of word 0"),
        (["a"], [["X Y", "Z"]], "phonemes without blanks"),
        (["a", "b"], ["X"], "as many pronunciations"),
        ([], [], "words to learn from"),
    ],
)
def test_wrong_data_are_named(X: Any, y: Any, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        Transcriber().fit(X, y)


def test_it_must_be_fitted_first() -> None:
    with pytest.raises(NotFittedError):
        Transcriber().predict(["a"])


def test_a_file_brings_everything_back(fitted: Transcriber, tmp_path: Path) -> None:
    fitted.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent")
    assert repr(loaded) == repr(fitted)
    assert loaded.predict_k_best(WORDS[1200:1250]) == fitted.predict_k_best(WORDS[1200:1250])
    assert loaded.history_ == fitted.history_
    assert loaded.align(WORDS[:3], SPOKEN[:3]) == fitted.align(WORDS[:3], SPOKEN[:3])
    loaded.save(tmp_path / "again.margent")
    assert (tmp_path / "again.margent").read_bytes() == (tmp_path / "m.margent").read_bytes()


def test_hostile_files_are_refused(fitted: Transcriber, tmp_path: Path) -> None:
    path = tmp_path / "m.margent"
    fitted.save(path)
    file = storage.read(path)
    random = np.random.default_rng(0)
    numbers = [name for name, array in file.arrays.items() if array.dtype.kind in "if" and array.size]
    for trial in range(300):
        name = numbers[trial % len(numbers)]
        array = file.arrays[name].copy()
        place = random.integers(array.size)
        if array.dtype.kind == "f":
            array.flat[place] = random.choice([np.nan, np.inf, 5.0])
        else:
            array.flat[place] = random.choice([-1, -5, 2**30, int(array[place]) + 1, array.size])
        storage.write(path, file.header, {**file.arrays, name: array}, kind="transcriber")
        try:
            changed = margent.load(path)
        except ModelFileError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of letters that are other ones now
            changed.predict(["pate", "xophu"])  # sound, if another model
            changed.predict_k_best(["cate"], 3)


@pytest.mark.parametrize("change", [{"sizes": "x"}, {"order": "8"}, {"em": {"order": 99}}, {"beam": -1}, {"no": 1}])
def test_hostile_parameters_are_refused(fitted: Transcriber, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "m.margent"
    fitted.save(path)
    file = storage.read(path)
    header = {**file.header, "parameters": {**file.header["parameters"], **change}}
    storage.write(path, header, file.arrays, kind="transcriber")
    with pytest.raises(ModelFileError, match="parameters"):
        margent.load(path)


def test_copies_and_clones(fitted: Transcriber) -> None:
    from sklearn.base import clone

    assert copy.deepcopy(fitted).predict(WORDS[:5]) == fitted.predict(WORDS[:5])
    fresh = clone(fitted).set_params(em__iterations=3)
    assert fresh.em == EM(order=4, iterations=3)
    assert math.isclose(Transcriber(em=EM(order=2)).get_params()["em__order"], 2)


@pytest.mark.parametrize("learner", ["perceptron", margent.MIRA(C=0.01, k=3, epochs=3), margent.CRF(l2=0.5, epochs=15)])
def test_a_learner_puts_the_candidates_in_a_better_order(learner: Any, tmp_path: Path) -> None:
    train, test = slice(0, 600), slice(600, 900)
    joint = Transcriber(order=1).fit(WORDS[train], SPOKEN[train])
    model = Transcriber(order=1, learner=learner, candidates=8).fit(WORDS[train], SPOKEN[train])
    assert model.score(WORDS[test], SPOKEN[test]) > joint.score(WORDS[test], SPOKEN[test]) + 0.1
    assert len(model.history_) > len(joint.history_)
    model.save(tmp_path / "m.margent")
    loaded = margent.load(tmp_path / "m.margent")
    assert loaded.predict_k_best(WORDS[test]) == model.predict_k_best(WORDS[test])
    assert loaded.predict(WORDS[test]) == [several[0].phonemes for several in model.predict_k_best(WORDS[test])]
    assert repr(loaded) == repr(model)


def _interrupt(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_keeps_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(epoch: Any) -> None:
        if epoch.epoch == 10:
            _interrupt()

    model = Transcriber(order=3).fit(WORDS[:200], SPOKEN[:200], callbacks=[stop])
    assert model.interrupted_
    assert len(model.history_) == 10
    assert model.model_.order == 2
    assert model.score(WORDS[:200], SPOKEN[:200]) > 0.3
    monkeypatch.setattr("margent.models.transcribing.transcriber.training_oracle", _interrupt)
    model = Transcriber(order=2, learner="mira").fit(WORDS[:200], SPOKEN[:200])
    assert model.interrupted_
    assert model.rescorer_ is None
    assert model.predict(["pat"])


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        ("latent-svm", "LatentSVM is for label chains"),
        ("spectral", "Spectral learns from pairs"),
        (margent.CRF(method="sgd"), "choose lbfgs or owlqn"),
        (margent.CRF(search="beam"), "with_beam"),
        (EM(), "EM learns from words and pronunciations"),
    ],
)
def test_a_learner_that_cannot_is_told_so_before_all_work(learner: Any, said: str) -> None:
    def begun(_: Any) -> None:
        raise AssertionError("EM has begun")

    with pytest.raises(TypeError, match=said):
        Transcriber(order=2, learner=learner).fit(WORDS[:50], SPOKEN[:50], callbacks=[begun])


def test_em_is_not_for_taggers() -> None:
    with pytest.raises(TypeError, match="EM learns from words and pronunciations"):
        margent.Tagger(learner=EM()).fit([["a", "b"]], [["A", "B"]])
