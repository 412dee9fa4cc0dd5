"""What is known of a sentence's labels narrows the search, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from margent import Constraints, Perceptron, Tagger
from margent.annotation.schemes import Span, labels_of, spans
from margent.errors import ConstraintError
from oracle.tagging import labellings, probability

pytestmark = pytest.mark.filterwarnings("ignore::margent.CalibrationWarning")

SENTENCE = ["a", "b", "c", "a"]


def tagger_of(scheme: str, **options: Any) -> Tagger:
    random = np.random.default_rng(5)
    X = [[str(w) for w in random.choice(list("abc"), 6)] for _ in range(30)]
    choices = [[(0, 2, "X"), (3, 4, "Y")], [(1, 3, "Y"), (3, 5, "Y")], [(2, 6, "X")], [(0, 1, "X"), (1, 2, "X")]]
    y = [labels_of(choices[i], 6, scheme) for i in random.integers(0, 4, 30)]
    return Tagger(["U:%x[0,0]", "B"], Perceptron(epochs=1), scheme=scheme, **options).fit(X, y)


TAGGERS = {scheme: tagger_of(scheme) for scheme in ("iob1", "iob2", "iobes")}
TAGGERS["order 2"] = tagger_of("iob2", order=2)


def listed(tagger: Tagger, admit: Any) -> list[tuple[float, list[str]]]:
    names = [str(name) for name in tagger.classes_]
    encoded = tagger.feature_map_.encode([SENTENCE])
    found = labellings(tagger.weights_, encoded, lambda ids: admit([names[i] for i in ids]))
    return [(score, [names[i] for i in ids]) for score, ids in found]


@settings(deadline=None, max_examples=40)
@given(data=st.data(), which=st.sampled_from(["iob2", "order 2"]))
def test_labels_that_are_fixed_or_forbidden(data: st.DataObject, which: str) -> None:
    tagger = TAGGERS[which]
    some = st.lists(st.sampled_from([str(name) for name in tagger.classes_]), min_size=1, max_size=3, unique=True)
    places = st.dictionaries(st.integers(-4, 3), some, max_size=3)
    fixed, forbidden = data.draw(places), data.draw(places)

    def admit(labels: list[str]) -> bool:
        return all(labels[t] in names for t, names in fixed.items()) and not any(
            labels[t] in names for t, names in forbidden.items()
        )

    wanted = listed(tagger, admit)
    constraints = Constraints(labels=fixed, forbidden=forbidden)
    if not wanted:
        with pytest.raises(ConstraintError, match="sentence 0, position"):
            tagger.predict([SENTENCE], [constraints])
        return
    (found,) = tagger.predict([SENTENCE], [constraints])
    assert found in [labels for score, labels in wanted if score > wanted[0][0] - 1e-5]  # 32 bits tell no more apart
    readings = tagger.predict_k_best([SENTENCE], k=3, constraints=[constraints])[0]
    np.testing.assert_allclose([r.score for r in readings], [score for score, _ in wanted[:3]], atol=1e-4)
    (marginals,) = tagger.predict_marginals([SENTENCE], [constraints])
    p = [probability(wanted, lambda labels, name=name: labels[0] == name) for name in tagger.classes_]
    np.testing.assert_allclose(marginals[0], p, atol=1e-5)


@pytest.mark.parametrize("which", TAGGERS)
@pytest.mark.parametrize(
    "given",
    [
        [(0, 2, "X")],
        [(1, 2, "Y")],
        [(0, 4, "X")],
        [(3, 4, "X")],
        [(0, 1, "Y"), (2, 4, "X")],
        [(1, 2, "X"), (2, 3, "X")],
    ],
)
def test_spans_that_are_given_are_there_exactly(which: str, given: list[tuple[int, int, str]]) -> None:
    tagger = TAGGERS[which]
    constraints = Constraints(spans=given)
    everything = [
        *tagger.predict([SENTENCE], [constraints]),
        *(r.labels for r in tagger.predict_k_best([SENTENCE], k=20, constraints=[constraints])[0]),
    ]
    for labels in everything:
        assert {Span(*span) for span in given} <= set(spans(labels))
    assert set(given) <= {tuple(s[:3]) for s in tagger.predict_spans([SENTENCE], [constraints])[0]}
    if which != "iob1":  # where a neighbour of the same type is left out (see span_constraints)
        wanted = listed(tagger, lambda labels: {Span(*span) for span in given} <= set(spans(labels)))
        written = labels_of(given, 4, "iob2" if which == "order 2" else which)
        wanted = [r for r in wanted if all(r[1][t] == written[t] for s in given for t in range(s[0], s[1]))]
        assert everything[0] == wanted[0][1]


def test_a_dict_is_short_for_labels_and_none_says_nothing() -> None:
    tagger = TAGGERS["iob2"]
    free = tagger.predict([SENTENCE])[0]
    found = tagger.predict([SENTENCE] * 4, [None, {}, {0: "I-Y"}, {-1: ["B-X", "I-X"], np.int64(1): "O"}])
    assert found[:2] == [free, free]
    assert found[2][0] == "I-Y" and found[3][3] in ("B-X", "I-X") and found[3][1] == "O"


def test_constraints_and_a_constrained_model_work_together() -> None:
    tagger = tagger_of("iob2", constrain=True)
    assert tagger.predict([SENTENCE], [{2: "I-X"}])[0][1] in ("B-X", "I-X")
    with pytest.raises(ConstraintError, match="sentence 1: the constraints leave no labelling"):
        tagger.predict([SENTENCE, SENTENCE], [None, {0: "I-X"}])
    with pytest.raises(ConstraintError, match="sentence 0: the constraints leave no labelling"):
        tagger.predict_marginals([SENTENCE], [{0: "O", 1: "I-X"}])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({4: "O"}, "sentence 0: no position 4 in a sentence of 4 tokens"),
        ({-5: "O"}, "sentence 0: no position -5"),
        ({0: "Q"}, "sentence 0, position 0: no label 'Q' in this model"),
        ({0: None}, "expected labels, got None"),
        ({0: [None]}, "no label None"),
        ({0: 5}, "expected labels, got 5"),
        ({0: [["O"]]}, "no label"),
        ({0: []}, "position 0: the constraints leave no label"),
        ({"0": "O"}, "expected a position as an integer, got '0'"),
        ({0.5: "O"}, "expected a position as an integer"),
        (Constraints(labels={0: "O"}, forbidden={0: "O"}), "position 0: the constraints leave no label"),
        (Constraints(labels={0: "O", -4: "B-X"}), "position -4: the constraints leave no label"),
        (Constraints(spans=[(0, 5, "X")]), "sentence 0: .*outside of a sequence of 4 tokens"),
        (Constraints(spans=[(-2, -1, "X")]), "sentence 0: .*outside"),
        (Constraints(spans=[(2, 2, "X")]), "sentence 0: .*empty"),
        (Constraints(spans=[(0, 2, "X"), (1, 3, "X")]), "sentence 0: .*overlaps"),
        (Constraints(spans=[(0, 2, "Q")]), "sentence 0: .*needs the label 'B-Q'"),
        (Constraints(spans=[(0, 2)]), r"expected spans as \(start, end, type\)"),  # type: ignore[list-item]
        (Constraints(spans=[5]), r"expected spans as \(start, end, type\)"),  # type: ignore[list-item]
        (Constraints(labels={1: "O"}, spans=[(0, 2, "X")]), "position 1: the constraints leave no label"),
        (Constraints(labels=["O"]), "sentence 0: expected labels as a dict from position"),  # type: ignore[arg-type]
        (Constraints(forbidden="O"), "sentence 0: expected forbidden as a dict from position"),  # type: ignore[arg-type]
        (["O"], r"sentence 0: expected Constraints, a dict or None, got \['O'\]"),
    ],
)
def test_wrong_constraints_are_explained(given: Any, words: str) -> None:
    with pytest.raises(ConstraintError, match=words):
        TAGGERS["iob2"].predict([SENTENCE], [given])


def test_constraints_must_come_one_for_each_sentence() -> None:
    tagger = TAGGERS["iob2"]
    with pytest.raises(ConstraintError, match="constraints for 2 sentences, expected them for 1"):
        tagger.predict([SENTENCE], [None, None])
    with pytest.raises(ConstraintError, match="a list with the constraints of each sentence, got dict"):
        tagger.predict([SENTENCE], {0: "O"})  # type: ignore[arg-type]
    for wrong in (Constraints(), "O", 5):
        with pytest.raises(ConstraintError, match="a list with the constraints of each sentence, got"):
            tagger.predict([SENTENCE], wrong)  # type: ignore[arg-type]
    wanted = tagger.predict([SENTENCE], [{0: "O"}])
    several: list[Any] = [({0: "O"},), iter([{0: "O"}]), np.array([{0: "O"}], dtype=object)]
    assert all(tagger.predict([SENTENCE], listed) == wanted for listed in several)
    plain = Tagger().fit([["a"]], [["N"]])
    with pytest.raises(ConstraintError, match="spans can only be fixed where labels follow a scheme"):
        plain.predict([["a"]], [Constraints(spans=[(0, 1, "X")])])
