"""The transcriber: learning, search against all graphone sequences, alignment, errors, files."""

from __future__ import annotations

import copy
import math
import warnings
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.model_files import timeless

import margent
from margent import EM, AlignmentBeam, CorpusError, ModelFileError, NotFittedError, Transcriber, storage
from margent.datasets import make_pronunciations
from margent.models.stored_parameters import restored_value, stored_value
from margent.structures.cosegments import native_pairs
from oracle.cosegments import alignments

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
    """Exact sums whatever beams are set; with one alignment of a pair, of probabilities that can be counted by hand."""
    model = Transcriber(em=EM(order=1, beam=1), sizes=((1, 1),), held_out=0, search=AlignmentBeam(width=1)).fit(
        ["ab", "a"], ["X Y", "X"]
    )
    found = model.log_probabilities(["ab", "zz", "a"], [[["X", "Y"], ["Q", "Y"]], ["X", "X"], ["X", "Y"]])
    assert found.shape == (4,)  # ab:XY, ab:QY, zz:XX, a:XY
    p_a, p_b, p_end = 2 / 5, 1 / 5, 2 / 5
    assert found[0] == pytest.approx(math.log(p_a * p_b * p_end), abs=1e-5)
    assert (found[1:] == -math.inf).all()
    assert model.log_probabilities([], []).shape == (0,)


@pytest.mark.parametrize("sizes", [((1, 0), (1, 1), (1, 2), (2, 1)), ((0, 1), (1, 0), (1, 1))])
def test_search_without_a_beam_finds_the_best_of_all(sizes: Any) -> None:
    """All graphone sequences for short words are listed, and scored by the sums of `log_probabilities` and `align`."""
    words, spoken = ["ab", "ba", "aab", "b"], ["X Y", "Y", "X X Y", "Y"]
    model = Transcriber(em=EM(order=2, min_expected_count=0), sizes=sizes, held_out=0).fit(words, spoken)
    phonemes = model.joint_.phonemes.names
    for word in ("ab", "bb", "aba"):
        number = [model.joint_.letters.ids[letter] for letter in word]
        listed = [list(way) for n in range(5) for way in product(range(len(phonemes)), repeat=n)]
        scores = model.joint_.log_probabilities([number] * len(listed), listed, 1)
        best_alignments, _ = model.joint_.align([number] * len(listed), listed, 1)
        # With graphones without letters there is no end of pronunciations: there the beam is only large.
        exact = AlignmentBeam(width=None if (0, 1) not in sizes else 300, threshold=0)
        for summed, values in ((True, scores), (False, best_alignments)):
            model.set_params(search=replace(exact, sum_alignments=summed))
            assert model.predict([word])[0] == [phonemes[p] for p in listed[np.argmax(values)]]
        for summed, values in ((True, scores), (False, best_alignments)):
            order = np.argsort(-values, kind="stable")[:3]
            assert np.isfinite(values[order]).all()
            found = model.set_params(search=replace(exact, sum_alignments=summed)).predict_k_best([word], k=3)[0]
            places = [listed.index([phonemes.index(p) for p in one.phonemes]) for one in found]
            assert len(set(places)) == 3
            assert values[places] == pytest.approx(values[order], abs=1e-5)  # alignments may be as good as each other
            ratios = [one.probability / found[0].probability for one in found]
            assert ratios == pytest.approx(np.exp(values[order] - values[order[0]]).tolist(), rel=1e-4)


def test_probabilities_are_sorted_and_sum_to_at_most_one(fitted: Transcriber) -> None:
    for several in fitted.predict_k_best(["cate", "phox", "tunquan"], k=4):
        probabilities = [one.probability for one in several]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < sum(probabilities) <= 1 + 1e-9
        assert len({tuple(one.phonemes) for one in several}) == len(several)


def test_the_alignment_spells_both_sides(fitted: Transcriber) -> None:
    alignments = fitted.align(WORDS[:50], SPOKEN[:50])
    for word, spoken, alignment in zip(WORDS, SPOKEN, alignments):
        assert "".join(letter for graphone in alignment for letter in graphone.letters) == word
        assert [phoneme for graphone in alignment for phoneme in graphone.phonemes] == spoken
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
    for ask in (strict.predict, strict.predict_k_best):
        with pytest.raises(CorpusError, match="word 1"):
            ask(["pat", "pßat", "ß"])
        found = ask(["pat", "pßat", "ß", "pat"], on_error="none")
        assert found[1:3] == [None, None] and found[0] == found[3] == ask(["pat"])[0]
        with pytest.raises(ValueError, match="on_error should be one of raise, none"):
            ask(["pat"], on_error="None")
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
    model = Transcriber(order=1, sizes=((1, 1), (1, 0)), held_out=0)
    with pytest.warns(UserWarning, match="1 of 2 entries cannot be aligned, and were not learned from"):
        model.fit(["a", "b"], ["X", "Y Y Y"])
    assert model.n_skipped_ == 1
    with pytest.raises(CorpusError, match="none of 2 entries can be aligned by graphones of the sizes"):
        Transcriber(order=1, sizes=((1, 1),)).fit(["a", "b"], ["X X", "Y Y Y"])
    with pytest.raises(CorpusError, match="word 0, 'a', cannot be aligned"):
        model.align(["a"], ["X X"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"order": 0}, "order of EM"),
        ({"em": "em"}, "em of Transcriber"),
        ({"search": 5}, "search of Transcriber should be an AlignmentBeam"),
        ({"decoder": "both"}, "decoder of Transcriber should be one of rerank, direct"),
        ({"candidates": 3 * 10**9}, "candidates of Transcriber should be an integer of at most"),
        ({"threads": 10**12}, "threads of Transcriber should be an integer of at most"),
        ({"held_out": 1.0}, "held_out of Transcriber"),
        ({"unseen": "guess"}, "unseen of Transcriber"),
        ({"sizes": ((0, 0),)}, "sizes should be"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        Transcriber(**parameters).fit(["a"], ["X"])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"width": 0}, "width of AlignmentBeam"),
        ({"width": 2**40}, "width of AlignmentBeam should be an integer of at most"),
        ({"sum_alignments": "x"}, "sum_alignments of AlignmentBeam should be True or False"),
        ({"threshold": -1}, "threshold of AlignmentBeam"),
    ],
)
def test_wrong_values_of_the_search_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AlignmentBeam(**parameters)


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
    assert loaded.history_ == timeless(fitted.history_)
    assert loaded.align(WORDS[:3], SPOKEN[:3]) == fitted.align(WORDS[:3], SPOKEN[:3])
    loaded.save(tmp_path / "again.margent")
    assert (tmp_path / "again.margent").read_bytes() == (tmp_path / "m.margent").read_bytes()


def test_hostile_files_are_refused(fitted: Transcriber, tmp_path: Path) -> None:
    """Numbers that no model can have are refused in every array; others give an error, or another model that works."""
    path = tmp_path / "m.margent"
    fitted.save(path)
    file = storage.read(path)
    random = np.random.default_rng(0)
    numbers = [name for name, array in file.arrays.items() if array.dtype.kind in "if" and array.size]
    assert len(numbers) > 8

    def written(name: str, value: Any) -> None:
        array = file.arrays[name].copy()
        place = random.integers(array.size)
        array.flat[place] = int(array.flat[place]) + 1 if value == "next" else value
        storage.write(path, file.header, {**file.arrays, name: array}, kind="transcriber")

    for name in numbers:
        floats = file.arrays[name].dtype.kind == "f"
        for impossible in [np.nan, np.inf, -np.inf] if floats else [-1, -5, 2**30]:
            for _ in range(3):
                written(name, impossible)
                with pytest.raises(ModelFileError):
                    margent.load(path)
        for possible in [5.0, -5.0] if floats else ["next", file.arrays[name].size]:
            for _ in range(6):
                written(name, possible)
                try:
                    changed = margent.load(path)
                except ModelFileError:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of letters that are other ones now
                    changed.predict(["pate", "xophu"])
                    changed.predict_k_best(["cate"], 3)


@pytest.mark.parametrize(
    "change",
    [
        {"sizes": "x"},
        {"order": "8"},
        {"em": {"type": "EM", "order": 99}},
        {"search": {"type": "AlignmentBeam", "width": -1}},
        {"no": 1},
    ],
)
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
    assert model.joint_.order == 2
    assert model.score(WORDS[:200], SPOKEN[:200]) > 0.3
    monkeypatch.setattr("margent.models.transcriber.problem.reranking_oracle", _interrupt)
    model = Transcriber(order=2, learner="mira").fit(WORDS[:200], SPOKEN[:200])
    assert model.interrupted_
    assert model.decoder_ is None
    assert model.predict(["pat"])


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        ("latent-svm", "LatentSVM fixes the best right answer"),
        ("spectral", "Spectral learns tables of k-gram scores"),
        (margent.CRF(method="sgd"), "method='sgd'.*, and the structure 'listed answers' has only"),
        (margent.CRF(boundaries=False), "the structure 'listed answers' has no labels"),
        (EM(), "EM counts graphones over latent alignments, and the structure 'listed answers' has none"),
    ],
)
def test_a_learner_that_cannot_is_told_so_before_all_work(learner: Any, said: str) -> None:
    def begun(_: Any) -> None:
        raise AssertionError("EM has begun")

    with pytest.raises(TypeError, match=said):
        Transcriber(order=2, learner=learner).fit(WORDS[:50], SPOKEN[:50], callbacks=[begun])


def test_em_is_not_for_taggers() -> None:
    with pytest.raises(
        TypeError, match="EM counts graphones over latent alignments, and the structure 'chain' has none"
    ):
        margent.Tagger(learner=EM()).fit([["a", "b"]], [["A", "B"]])


def test_words_that_cannot_be_read_are_told() -> None:
    model = Transcriber(order=2, sizes=((2, 1), (1, 1)), held_out=0).fit(["ab", "cd"], ["A", "B"])
    for predict in (model.predict, model.predict_k_best):
        with pytest.warns(UserWarning, match=r"word 1, 'abc', gets no phonemes \(and 1 more such words\)"):
            found = predict(["ab", "abc", "a"])  # there is no graphone for a letter alone
        assert len(found[0]) == 1 and found[1:] == [[], []]


def test_a_word_of_unseen_letters_alone() -> None:
    model = Transcriber(order=2).fit(["cab", "bac"], ["K AE B", "B AE K"])
    with pytest.warns(UserWarning, match="of 1 words, the first 'zz', nothing is left to read"):
        assert model.predict(["caz", "zz"]) == [["K", "AE"], []]
    with pytest.warns(UserWarning, match="nothing is left to read"):
        assert model.predict_k_best(["zz"]) == [[]]
    assert model.predict_k_best([""])[0][0].probability == 1


@pytest.mark.parametrize(
    ("words", "spoken", "said"),
    [
        (["", "cat"], ["K", "K AE T"], "word 0 has no letters"),
        (["b", "cat"], ["B", ""], "a pronunciation of word 1, 'cat', has no phonemes"),
        (["b", "cat"], [[[]], ["K"]], "a pronunciation of word 0, 'b', has no phonemes"),
    ],
)
def test_entries_with_an_empty_side(words: Any, spoken: Any, said: str) -> None:
    with pytest.raises(CorpusError, match=said):
        Transcriber(order=2).fit(words, spoken)


def test_development_words_are_warned_about_once_and_there_must_be_some() -> None:
    with pytest.warns(UserWarning, match="has the letter 'z'") as caught:
        Transcriber(order=2).fit(WORDS[:50], SPOKEN[:50], X_dev=["zz"], y_dev=["P"])
    assert len(caught) == 1
    with pytest.raises(CorpusError, match="expected development words, got none"):
        Transcriber(order=2).fit(WORDS[:50], SPOKEN[:50], X_dev=[], y_dev=[])


@pytest.mark.parametrize(
    "parameters", [{"search": AlignmentBeam(sum_alignments=False)}, {"learner": "mira", "candidates": 3}]
)
def test_the_first_of_the_best_is_what_is_predicted(parameters: dict[str, Any]) -> None:
    noisy = make_pronunciations(300, seed=0)
    model = Transcriber(order=2, **parameters).fit(*noisy)
    several = model.predict_k_best(noisy[0], k=20)
    assert [found[0].phonemes for found in several] == model.predict(noisy[0])
    assert max(map(len, several)) <= parameters.get("candidates", 20)


def test_models_of_folds_are_counted_as_em_counts() -> None:
    """Without smoothing, with a beam of its own: a fold that takes nothing away gives the probabilities of a step."""
    em = EM(order=2, smoothing=False, beam=None, prune_count=0.0, iterations=30)
    model = Transcriber(em=em, held_out=0).fit(WORDS[:40], SPOKEN[:40]).joint_
    words = [[model.letters.ids[letter] for letter in word] for word in WORDS[:40]]
    spoken = [[model.phonemes.ids[p] for p in phonemes] for phonemes in SPOKEN[:40]]
    assert model.discounts is not None and not model.discounts.any()
    again = model.without(native_pairs(words, spoken), 0, 0, model.discounts, 1)
    ours, theirs = (one.log_probabilities(words, spoken, 1) for one in (model, again))
    assert theirs.sum() >= ours.sum() - 1e-3  # a step of EM raises it, unless it is done


def test_align_says_which_word_and_what_may_help() -> None:
    model = Transcriber(order=2).fit(["cab", "bac"], ["K AE B", "B AE K"])
    with pytest.raises(CorpusError, match=r"word 0, 'cab', has the phoneme 'AE1'.* but 'AE' did: .*--no-stress"):
        model.align(["cab"], ["K AE1 B"])
    with pytest.raises(CorpusError, match=r"word 0, 'caz', has the letter 'z', which did not occur in training$"):
        model.align(["caz"], ["K AE B"])


@pytest.mark.parametrize("sizes", [((0, 1), (1, 0), (1, 1)), ((1, 0), (1, 1), (1, 2), (2, 1))])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_the_best_cut_under_grams_is_that_of_enumeration(sizes: Any, order: int) -> None:
    words, spoken = make_pronunciations(120, seed=0)
    model = Transcriber(em=EM(order=order, min_expected_count=0), sizes=sizes).fit(words, spoken)
    joint = model.joint_
    numbers = {joint.graphone(number): number for number in range(joint.n_graphones)}

    def score(alignment: list[Any]) -> float:
        history, total = [joint.n_graphones + 1], 0.0  # the start; the end is n_graphones
        for graphone in [*(numbers[graphone] for graphone in alignment), joint.n_graphones]:
            total += joint._grams.log_probability(history[1 - order :] if order > 1 else [], graphone)
            history.append(graphone)
        return total

    short = [(word, phonemes) for word, phonemes in zip(words, spoken) if len(word) <= 5][:15]
    assert len(short) == 15
    for word, phonemes in short:
        scores = {tuple(alignment): score(alignment) for alignment in alignments(list(word), phonemes, sizes)}
        found = model.align([word], [phonemes])[0]
        best = tuple((graphone.letters, graphone.phonemes) for graphone in found)
        assert scores[best] == pytest.approx(max(scores.values()))
        total = np.logaddexp.reduce(list(scores.values()))
        assert model.log_probabilities([word], [phonemes])[0] == pytest.approx(total, abs=1e-4)


def test_older_names_of_the_parameters_of_em_are_read() -> None:
    older = {"type": "EM", "order": 3, "unit_iterations": 4, "evidence": 0.25, "least": 0.001}
    em = EM(order=3, unigram_iterations=4, min_expected_count=0.25, prune_count=0.001)
    assert restored_value(Transcriber._upgraded({"order": 3, "em": older})["em"]) == em
    assert restored_value(Transcriber._upgraded({"em": stored_value(em)})["em"]) == em
