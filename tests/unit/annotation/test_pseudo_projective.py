from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracle import pseudo_projective as twin
from tests.oracle.dependency_trees import trees as all_trees

from margent.annotation import DependencyTree, deprojectivize, projectivize
from margent.errors import CorpusError

SCHEMES = ("head", "path", "head+path")
SMALL = [heads for n in range(1, 6) for heads in all_trees(n, False, False)]


@st.composite
def trees(draw, max_words=9):
    """Each word, in some order, hangs on the root or on one that came before."""
    n = draw(st.integers(1, max_words))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for i, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:i]]))
    return DependencyTree(heads, draw(st.lists(st.sampled_from("abcd"), min_size=n, max_size=n)))


def test_the_example_of_the_paper():
    """Z nich je jen jedna na kvalitu. (Only one of them concerns quality.) Figures 1 and 2 of the paper: the
    preposition Z hangs on jedna, with the verb je between them, and is lifted to the verb."""
    labels = ["AuxP", "Atr", "Pred", "AuxZ", "Sb", "AuxP", "Adv", "AuxK"]
    tree = DependencyTree([5, 1, 0, 5, 3, 3, 6, 0], labels)
    lifted = projectivize(tree)
    assert lifted.heads == (3, 1, 0, 5, 3, 3, 6, 0) and lifted.labels[0] == "AuxP↑Sb"
    assert projectivize(tree, "path").labels[0] == "AuxP↑" and projectivize(tree, "path").labels[4] == "Sb↓"
    assert projectivize(tree, "head+path").labels[:5] == ("AuxP↑Sb", "Atr", "Pred", "AuxZ", "Sb↓")
    assert all(deprojectivize(projectivize(tree, scheme)) == tree for scheme in SCHEMES)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_all_small_trees_agree_with_the_twin(scheme):
    lifted = 0
    for heads in SMALL:
        tree = DependencyTree(heads, [chr(ord("a") + i) for i in range(len(heads))])
        encoded = projectivize(tree, scheme)
        assert (list(encoded.heads), list(encoded.labels)) == twin.projectivize(heads, tree.labels, scheme)
        n_lifted = sum("↑" in label for label in encoded.labels)
        lifted += n_lifted
        if scheme == "head" or n_lifted < 2:  # labels that all differ name the head; paths of several words may meet
            assert deprojectivize(encoded) == tree
    assert lifted > 100


@settings(deadline=None)
@given(trees(), st.sampled_from(SCHEMES))
def test_encoded_trees_are_projective_and_decoded_trees_are_trees(tree, scheme):
    encoded = projectivize(tree, scheme)
    assert encoded.is_projective()
    assert (encoded is tree) == tree.is_projective()
    assert (list(encoded.heads), list(encoded.labels)) == twin.projectivize(tree.heads, tree.labels, scheme)
    assert deprojectivize(encoded).labels == tree.labels
    assert deprojectivize(tree) is tree


@settings(deadline=None)
@given(trees(), st.data())
def test_any_labels_of_a_parser_are_decoded(tree, data):
    marked = [data.draw(st.sampled_from(["a", "b", "a↑b", "b↑a", "a↑", "a↓", "b↑a↓", "a↑↓"])) for _ in tree.labels]
    decoded = deprojectivize(DependencyTree(tree.heads, marked))
    assert set(decoded.labels) <= {"a", "b"}


def test_a_head_that_is_not_there_leaves_the_word_where_it_is():
    assert deprojectivize(DependencyTree([2, 0], ["a↑c", "root"])) == DependencyTree([2, 0], ["a", "root"])


def test_wrong_schemes_and_labels():
    with pytest.raises(ValueError, match="scheme must be one of head, path, head"):
        projectivize(DependencyTree([0]), "baseline")
    with pytest.raises(CorpusError, match="word 1 has the label 'a↑b'; expected one without"):
        projectivize(DependencyTree([0], ["a↑b"]))
