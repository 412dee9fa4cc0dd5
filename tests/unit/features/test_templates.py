"""Templates and their feature map against a plain expansion of strings."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import margent
from margent import _core
from margent.errors import CorpusError
from margent.features import DERIVATIONS, PRESETS, Templates, preset_text
from margent.features.choice import feature_map_for
from margent.features.template_map import TemplateMap
from margent.formats.columns import Columns
from oracle.templates import PlainMap
from oracle.templates import name as plain_name

WORDS = st.sampled_from(["a", "A", "ab", "Ab", "x-1", "12", "Éa", "中文", "", "_B-1", "_B+1", "café"])


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[str], int, list[Any], list[Any], list[Any]]:
    """Templates, the number of columns, and three corpora."""
    n_columns = draw(st.integers(1, 3))
    columns = st.sampled_from([str(c) for c in range(n_columns)] + ["*"])
    derived = st.sampled_from(["", *(f".{name}" for name in DERIVATIONS)])
    rows = st.integers(-3, 3)

    def line(star: bool) -> st.SearchStrategy[str]:
        column = st.just("*") if star else columns.filter(lambda c: c != "*")
        cells = st.lists(st.builds("%x[{},{}{}]".format, rows, column, derived), min_size=1, max_size=3)
        return st.builds(
            lambda kind, label, cells: kind + label + "/".join(cells),
            st.sampled_from("UUUB"),
            st.sampled_from(["", "w=", "7:"]),
            cells,
        )

    lines = draw(
        st.lists(st.one_of(line(False), line(True), st.sampled_from(["B", "U", "Ubias"])), min_size=1, max_size=6)
    )
    sentences = st.lists(st.lists(st.tuples(*[WORDS] * n_columns), max_size=4), max_size=4)
    return lines, n_columns, draw(sentences), draw(sentences), draw(sentences)


def features(map_: TemplateMap, encoded: Any, kind: str) -> list[list[str]]:
    edge = kind == "B"
    ids, ptr = (encoded.edge_ids, encoded.edge_ptr) if edge else (encoded.ids, encoded.ptr)
    if ids is None:
        return [[] for _ in range(encoded.n_tokens)]
    return [[map_.name(int(i), edge=edge) for i in ids[a:b]] for a, b in itertools.pairwise(ptr)]


def same(map_: TemplateMap, plain: dict[str, PlainMap], sentences: Any, **options: Any) -> None:
    """Encoding gives the same names, and a feature of the twin one id of ours and the other way round."""
    encoded = map_.encode(sentences, **options)
    assert encoded.lengths.tolist() == [len(s) for s in sentences]
    assert encoded.values is None
    for kind, twin in plain.items():
        wanted = twin.encode(sentences, **options)
        assert features(map_, encoded, kind) == [[plain_name(f) for f in row] for row in wanted]
        ids = encoded.ids if kind == "U" else encoded.edge_ids
        pairs = set(zip([] if ids is None else ids.tolist(), (f for row in wanted for f in row)))
        assert len(pairs) == len({i for i, _ in pairs}) == len({f for _, f in pairs})
        assert (map_.n_edges if kind == "B" else map_.n_unigrams) == len(twin.known)


@settings(deadline=None, max_examples=120)
@given(problem=problems(), min_count=st.integers(1, 3))
def test_features_are_those_of_a_plain_expansion(problem: Any, min_count: int) -> None:
    lines, n_columns, first, second, third = problem
    first = [[("a",) * n_columns], *first]  # the number of columns is told by the first token
    map_ = TemplateMap(Templates(lines))
    plain = {kind: PlainMap(lines, n_columns, DERIVATIONS, kind) for kind in "UB"}
    same(map_, plain, first, grow=True, min_count=min_count)
    same(map_, plain, second)  # prediction: unknown words and features are left out
    same(map_, plain, second, grow=True, min_count=min_count)
    same(map_, plain, first)  # the old features have kept their ids and names
    same(map_, plain, third)


@settings(deadline=None, max_examples=50)
@given(problem=problems())
def test_prediction_does_not_change_the_map(problem: Any) -> None:
    lines, n_columns, first, second, _ = problem
    map_ = TemplateMap(Templates(lines))
    map_.encode([[("a",) * n_columns], *first], grow=True)
    before = map_.stored()
    map_.encode(second)
    after = map_.stored()
    assert before[0] == after[0]
    assert (
        all(np.array_equal(before[1][key], after[1][key]) for key in before[1]) and before[1].keys() == after[1].keys()
    )


def test_boundary_cells_read_as_in_crfpp() -> None:
    map_ = TemplateMap(Templates(["U0:%x[-2,0]/%x[-1,0]", "U1:%x[1,0]/%x[2,0]"]))
    encoded = map_.encode([["x", "y"]], grow=True)
    assert features(map_, encoded, "U") == [["U0:_B-2/_B-1", "U1:y/_B+1"], ["U0:_B-1/x", "U1:_B+1/_B+2"]]


def test_a_word_spelled_as_a_boundary_is_another_feature() -> None:
    map_ = TemplateMap(Templates(["U:%x[-1,0]"]))
    encoded = map_.encode([["_B-1", "x"]], grow=True)
    assert features(map_, encoded, "U") == [["U:_B-1"], ["U:_B-1"]]
    assert encoded.ids[0] != encoded.ids[1]


def test_templates_of_one_text_share_their_features() -> None:
    bag = TemplateMap(Templates(["Uw=%x[-1,0]", "Uw=%x[0,0]", "Uw=%x[1,0]"]))
    encoded = bag.encode([["x", "y", "x"]], grow=True)
    middle = encoded.ids[encoded.ptr[1] : encoded.ptr[2]]
    assert middle[0] == middle[2] != middle[1]
    other_columns = TemplateMap(Templates(["Uw=%x[0,0]", "Uw=%x[0,1]"]))
    assert other_columns.encode([[("x", "x")]], grow=True).ids.tolist() == [0, 1]


def test_star_stands_for_each_column_after_the_first() -> None:
    map_ = TemplateMap(Templates(["Ut[-1]=%x[-1,*]/%x[0,*]"]))
    encoded = map_.encode([[("w", "N", "x"), ("v", "V", "y")]], grow=True)
    assert features(map_, encoded, "U")[1] == ["U1:t[-1]=N/V", "U2:t[-1]=x/y"]
    alone = TemplateMap(Templates(["Ut=%x[0,*]", "Uw=%x[0,0]"]))
    assert features(alone, alone.encode([["w"]], grow=True), "U") == [["Uw=w"]]


def test_columns_and_views_of_them_are_read_as_lists_are() -> None:
    sentences = [[("a", "X"), ("b", "Y")], [("c", "Z")], [("a", "Z")]]
    columns = Columns.from_sentences(sentences)
    lines = ["U0:%x[0,0]", "U1:%x[-1,1]", "B1:%x[0,1]"]
    one, two = TemplateMap(Templates(lines)), TemplateMap(Templates(lines))
    one.encode(columns, grow=True), two.encode(sentences, grow=True)
    part = columns[[2, 0]]
    for kind in "UB":
        assert features(one, one.encode(part), kind) == features(two, two.encode([sentences[2], sentences[0]]), kind)
    turned = columns.select([1, 0])
    assert features(two, two.encode(turned), "U")[0] == ["U1:_B-1"]


def test_filter_keeps_growing_after_a_cut_off() -> None:
    map_ = TemplateMap(Templates(["U:%x[0,0]"]))
    map_.encode([["a", "a", "b"]], grow=True, min_count=2)
    assert [map_.name(i) for i in range(map_.n_unigrams)] == ["U:a"]
    encoded = map_.encode([["b", "c", "c", "a"]], grow=True, min_count=1)
    assert features(map_, encoded, "U") == [["U:b"], ["U:c"], ["U:c"], ["U:a"]]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_can_be_printed_and_used(preset: str) -> None:
    lines = Templates.preset(preset).lines
    assert lines == Templates(preset_text(preset)).lines and len(lines) > 3
    n_columns = {"letters": 1, "chunking": 2}.get(preset, 2)
    sentence = [("Word-1", "NN"), ("the", "DT")] if n_columns == 2 else [("w",), ("o",)]
    map_ = feature_map_for(preset, [sentence])
    assert map_.encode([sentence], grow=True).ids.size > 0
    assert map_.label_transitions


def test_generic_works_with_any_number_of_columns() -> None:
    for token in ("w", ("w",), ("w", "N"), ("w", "N", "x", "y")):
        map_ = feature_map_for(None, [[token]])
        assert map_.encode([[token, token]], grow=True).n_tokens == 2


def test_plain_b_asks_for_transitions() -> None:
    assert Templates(["U:%x[0,0]", "B"]).label_transitions
    assert Templates(["B01"]).label_transitions
    assert not Templates(["U:%x[0,0]", "B:%x[0,0]"]).label_transitions


def test_comments_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "template"
    path.write_text("# Unigram\nU00:%x[0,0]\n\n  \n# Bigram\nB\n")
    assert Templates.from_file(path) == Templates(["U00:%x[0,0]", "B"])
    assert Templates("U00:%x[0,0]\nB").lines == ("U00:%x[0,0]", "B")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("X:%x[0,0]", "must start with U"),
        ("U:%x[0,0", "expected cells as"),
        ("U:%x[0]", "expected cells as"),
        ("U:%x", "expected cells as"),
        ("U:%x[a,0]", "integers"),
        ("U:%x[0,b]", "integers"),
        ("U:%x[0.5,0]", "integers|expected"),
        ("U:%x[0,-1]", "column from 0"),
        ("U:%x[101,0]", "within 100"),
        ("U:%x[0,0.colour]", "no derived column 'colour'"),
        ("U:%x[0,*.colour]", "no derived column"),
    ],
)
def test_a_wrong_template_is_explained(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=words):
        Templates([line])
    path = tmp_path / "my.template"
    path.write_text(line + "\n")
    with pytest.raises(CorpusError, match=r"my\.template"):
        Templates.from_file(path)


def test_other_wrong_templates(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="lines of text"):
        Templates([5])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no feature templates named 'nothing'"):
        preset_text("nothing")
    (tmp_path / "latin").write_bytes(b"U:\xe9%x[0,0]")
    with pytest.raises(CorpusError, match="UTF-8"):
        Templates.from_file(tmp_path / "latin")
    with pytest.raises(FileNotFoundError):
        Templates.from_file(tmp_path / "missing")


def test_data_that_do_not_fit_are_refused() -> None:
    with pytest.raises(CorpusError, match="names column 2, counted from 0, but the data has 2 input columns"):
        TemplateMap(Templates(["U:%x[0,2]"])).encode([[("a", "b")]], grow=True)
    map_ = TemplateMap(Templates(["U:%x[0,0]"]))
    map_.encode([[("a", "b")]], grow=True)
    with pytest.raises(CorpusError, match="the data has 1 input column, but the templates were trained on 2"):
        map_.encode([["a"]])
    with pytest.raises(CorpusError, match="3 input columns, but the templates were trained on 2"):
        map_.encode(Columns.from_sentences([[("a", "b", "c")]]))
    for wrong, words in (
        ([["a", 5]], "sentence 0, token 1: expected str"),
        ([[("a", None)]], "token 0: expected str in column 1"),
        (["abc"], "sentence 0: expected a list of tokens"),
        ([["a"], 7], "sentence 1: expected a list of tokens"),
        ([[("a", "\ud800")]], "lone surrogate"),
    ):
        with pytest.raises(CorpusError, match=words):
            TemplateMap(Templates(["U:%x[0,0]"])).encode(wrong, grow=True)


def test_nothing_to_encode() -> None:
    map_ = TemplateMap(Templates(["U:%x[0,0]", "B:%x[0,0]"]))
    map_.encode([["a"]], grow=True)
    for X in ([], [[]], [[], []]):
        encoded = map_.encode(X)
        assert encoded.n_tokens == 0 and encoded.n_sequences == len(X)


@pytest.mark.parametrize(
    ("features_", "X", "kind"),
    [
        (None, [["a"]], "templates"),
        (None, [[("a", "b")]], "templates"),
        (None, [[], [{"a": 1}]], "attributes"),
        (None, [np.ones((2, 3))], "vectors"),
        (None, margent.TokenMatrix(np.ones((2, 3)), [2]), "vectors"),
        (None, Columns.from_sentences([["a"]]), "templates"),
        (None, [], "templates"),
        ("attributes", [[["a"]]], "attributes"),
        ("vectors", [[[1.0]]], "vectors"),
        ("ner", [["a"]], "templates"),
        (["U:%x[0,0]"], [["a"]], "templates"),
        (lambda sentence: [{"a": 1} for _ in sentence], [["a"]], "attributes"),
    ],
)
def test_the_feature_map_follows_what_was_said_and_the_data(features_: Any, X: Any, kind: str) -> None:
    assert feature_map_for(features_, X).kind == kind


def test_wrong_features_are_explained() -> None:
    with pytest.raises(ValueError, match="features='nerd' is not known; expected one of generic"):
        feature_map_for("nerd", [["a"]])
    with pytest.raises(TypeError, match="features should be a name"):
        feature_map_for(5, [["a"]])
    with pytest.raises(CorpusError, match="sentence 0: expected tokens as text"):
        feature_map_for(None, [[5]])
    with pytest.raises(CorpusError, match="sentence 0: expected a list of tokens, got int"):
        feature_map_for(None, [5])


def test_the_whole_line_and_the_columns_needed_are_named() -> None:
    lines = ["U:%x[0,0]", "Ux:%x[-1,3]/%x[0,0]"]
    with pytest.raises(CorpusError, match=r"template 'Ux:%x\[-1,3\]/%x\[0,0\]' names column 3.* at least 4 are needed"):
        Templates(lines).parse(1)
    with pytest.raises(CorpusError, match=r"has 1 input column; at least 2 are needed besides the label"):
        Templates.preset("chunking").parse(1)


def test_no_templates_at_all_are_refused() -> None:
    for lines in ([], "", "# nothing but a comment"):
        with pytest.raises(CorpusError, match="expected at least one template"):
            Templates(lines)


def test_ids_do_not_depend_on_the_threads() -> None:
    """Long enough for several stretches, with sentences that are longer than a stretch, empty ones, and edges."""
    random = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(500)])
    lengths = [0, 30_000, 0, *random.integers(0, 60, 500).tolist(), 20_000, 0]
    X = [words[random.integers(0, 500, n)].tolist() for n in lengths]
    known = TemplateMap(Templates(["U0:%x[0,0]", "U1:%x[-1,0]/%x[1,0]", "B0:%x[0,0]", "B"]))
    known.encode(X[2:300], grow=True)
    one, several = known.encode(X), known.encode(X, threads=3)
    assert one.n_tokens > 7 * 8192
    for name in ("sequence_ptr", "ids", "ptr", "edge_ids", "edge_ptr"):
        np.testing.assert_array_equal(getattr(one, name), getattr(several, name))


def test_words_are_looked_up_alike_by_any_number_of_threads() -> None:
    random = np.random.default_rng(0)
    words = [f"w{i}" for i in range(3000)]
    sentences = [[(str(w), "x") for w in random.choice(words, n)] for n in random.integers(0, 1200, 40)]
    columns = Columns.from_sentences(sentences)
    table = _core.StringTable()
    _core.encode_column(columns.table, 0, np.arange(10), table, True)
    known, chosen = len(table), np.array([3, 3, 30, 0, 12, 39, 7])
    for numbers in (None, chosen, chosen[:0]):
        one, fresh = _core.encode_column(columns.table, 0, numbers, table, False)
        cells = [w for s in (range(40) if numbers is None else numbers) for w, _ in sentences[s]]
        names = [*table.strings(0), *fresh]
        assert [names[code] for code in one] == cells and len(table) == known
        for threads in (2, 5):
            several, again = _core.encode_column(columns.table, 0, numbers, table, False, threads)
            assert one.tolist() == several.tolist() and fresh == again
    with pytest.raises(IndexError, match="no such sentence"):
        _core.encode_column(columns.table, 0, np.array([40]), table, False, 2)
