from __future__ import annotations

import io

import pytest

from margent import DependencyTree
from margent.cli import main
from margent.errors import CorpusError
from margent.formats import (
    DEPENDENCY_COLUMNS,
    FormatOptions,
    TreePrediction,
    dependency_batches,
    read_dependencies,
    write_dependencies,
)

FILE = """\
# sent_id = dine-1
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	V	Mood=Imp	0	root	0:root	_
2	nos	nosotros	PRON	P	_	1	obj	1:obj	_
2.1	y	_	_	_	_	_	_	2:conj	_
3	.	.	PUNCT	.	_	1	punct	1:punct	SpaceAfter=No

# a comment alone

1	#	#	SYM	_	_	0	root	_	_

"""
TREES = [DependencyTree([0, 1, 1], ["root", "obj", "punct"]), DependencyTree([0], ["root"])]


def test_words_and_trees_are_read():
    X, y = read_dependencies(FILE.encode())
    assert DEPENDENCY_COLUMNS == ("form", "upos", "xpos", "feats", "lemma")
    assert X[0] == [
        ("Vamos", "VERB", "V", "Mood=Imp", "ir"), ("nos", "PRON", "P", "_", "nosotros"), (".", "PUNCT", ".", "_", ".")
    ]  # fmt: skip
    assert len(X) == 2 and y == TREES


def test_what_is_written_is_read_again():
    X, y = read_dependencies(FILE.encode())
    file = io.BytesIO()
    write_dependencies(file, X, y)
    assert [*map(list, read_dependencies(file.getvalue()))] == [list(X), y]
    file = io.BytesIO()
    write_dependencies(file, [["It", "rains"]], [DependencyTree([2, 0])])
    assert file.getvalue().decode() == "1\tIt" + "\t_" * 4 + "\t2" + "\t_" * 3 + "\n2\trains" + "\t_" * 4 + (
        "\t0" + "\t_" * 3 + "\n\n"
    )
    with pytest.raises(CorpusError, match="sentence 0: expected a tree of 1 words, got one of 2"):
        write_dependencies(file, [["It"]], [DependencyTree([2, 0])])


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ("_", "line 6: sentence 'dine-1': word 3 has the head '_'; expected an integer from 0 to 3"),
        ("9" * 5000, "line 6: sentence .dine-1.: word 3 has the head .999"),
        ("²", "line 6: sentence 'dine-1': word 3 has the head '²'"),
        ("4", "line 6: sentence 'dine-1': word 3 has the head 4; expected an integer from 0 to 3"),
        ("3", "line 6: sentence 'dine-1': word 3 is its own head"),
        ("0", "line 6: sentence 'dine-1': words 1 and 3 are both attached to the root"),
    ],
)
def test_what_is_not_a_tree_is_refused_with_its_place(head, message, tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(FILE.replace("_\t1\tpunct", f"_\t{head}\tpunct"))
    with pytest.raises(CorpusError, match=message) as caught:
        read_dependencies(path)
    assert str(caught.value).startswith(f"{path}, line 6")
    if head == "0":
        assert read_dependencies(path, single_root=False)[1][0].heads == (0, 1, 0)


def test_cycles_are_refused_with_the_number_of_a_sentence_without_a_name():
    rows = FILE + "1" + "\t_" * 5 + "\t2\ta\t_\t_\n2" + "\t_" * 5 + "\t1\ta\t_\t_\n"
    with pytest.raises(CorpusError, match=r"line 12: sentence 3: word 1 is on a cycle of heads \(1 -> 2 -> 1\)"):
        read_dependencies(rows.encode())


def test_columns_are_named():
    text = b"Ann\tNNP\t2\nsings\tVBZ\t0\n\n\nNo\tUH\t0\n"
    X, y = read_dependencies(text, "columns", columns="form,xpos,head")
    assert X[0] == [("Ann", "_", "NNP", "_", "_"), ("sings", "_", "VBZ", "_", "_")]
    assert y == [DependencyTree([2, 0]), DependencyTree([0])]
    assert read_dependencies(text, "columns", columns="form,_,head")[0][1] == [("No", *"____")]
    with pytest.raises(CorpusError, match="line 5: sentence 2: word 1 has the head 'x'"):
        read_dependencies(text.replace(b"UH\t0", b"UH\tx"), "columns", columns="form,xpos,head")
    for columns, message in [
        (None, "expected head to be among them"),
        ("form,head,head", "expected what each column of the file is"),
        ("xpos,head", "with form among them"),
        ("form,pos,head", "expected what each column"),
    ]:
        with pytest.raises(ValueError, match=f"columns: .*{message}"):
            read_dependencies(text, "columns", columns=columns)
    with pytest.raises(CorpusError, match="line 1: found 3 columns, expected 2: form, head"):
        read_dependencies(text, "columns", columns="form,head")
    with pytest.raises(CorpusError, match="sentences files hold no trees"):
        read_dependencies(text, "sentences")


def answered(path, answers, options=None, format=None):
    """What is written when each sentence of a file has these answers."""
    batches = list(dependency_batches(str(path), options or FormatOptions(), format))
    return "".join(batch.text([answers(len(x)) for x in batch.X]) for batch in batches)


def chain(n):
    return DependencyTree(range(n), ["root", *["dep"] * (n - 1)][:n])


def test_trees_are_put_into_the_sentences(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(FILE.removesuffix("\n"))
    text = answered(path, lambda n: [TreePrediction(chain(n))])
    new = FILE.replace("1\tobj\t1:obj", "1\tdep\t_").replace("1\tpunct\t1:punct", "2\tdep\t_").replace("0:root", "_")
    assert text == new
    same = answered(path, lambda n: [TreePrediction(next(t for t in [*TREES, chain(0)] if len(t) == n))])
    assert same == FILE  # the enhanced graph stays where the tree does


def test_tags_probabilities_and_readings(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(FILE)
    text = answered(
        path,
        lambda n: [
            TreePrediction(chain(n), {"upos": ["X"] * n, "feats": ["A=b"] * n}, [("0.5",)] * n, reading, 1.5)
            for reading in (1, 2)
        ],
    )
    first = text.split("\n\n")[0].splitlines()
    assert first[:2] == ["# reading 1 score=1.5", "# sent_id = dine-1"]
    assert first[3] == "1\tVamos\tir\tX\tV\tA=b\t0\troot\t_\tProbability=0.5"
    assert first[6].endswith("SpaceAfter=No|Probability=0.5") and text.count("# reading 2") == 3


def test_conllx_loses_the_projective_tree(tmp_path):
    path = tmp_path / "a.conllx"
    row = "1\ta\t_\t_\t_\t_\t0\troot\t0\troot\n2\tb\t_\t_\t_\t_\t{}\tx\t1\tx\n\n"
    path.write_text(row.format(0))
    text = answered(path, lambda n: [TreePrediction(DependencyTree([0, 1], ["root", "x"]))])
    assert text == row.format(1).replace("0\troot\t0\troot", "0\troot\t_\t_").replace("1\tx\t1\tx", "1\tx\t_\t_")
    with pytest.raises(CorpusError, match="no column for probabilities"):
        answered(path, lambda n: [TreePrediction(chain(n), cells=[("1",)] * n)])


def test_plain_words_become_conllu(tmp_path):
    path = tmp_path / "words"
    wanted = "1\tIt" + "\t_" * 4 + "\t0\troot\t_\t_\n2\trains" + "\t_" * 4 + "\t1\tdep\t_\t_\n\n"
    predict = lambda n: [TreePrediction(chain(n))]  # noqa: E731
    path.write_text("\n It  rains \n")
    assert answered(path, predict) == answered(path, predict, format="sentences") == f"# text = It rains\n{wanted}"
    path.write_text("It\nrains\n\n")
    assert answered(path, predict, format="columns") == wanted
    path.write_text("It PRP\nrains VBZ\n")
    text = answered(path, predict, FormatOptions(columns="form,xpos"), "columns")
    assert "1\tIt\t_\t_\tPRP\t_\t0\troot" in text
    path.write_text("It\trains\n")
    with pytest.raises(CorpusError, match="line 1: found a tab, expected a sentence a line"):
        answered(path, predict)


def test_conllu_is_known_by_its_first_line(tmp_path):
    for text in (FILE, FILE.partition("\n")[2]):
        path = tmp_path / "no-extension"
        path.write_text(text)
        assert answered(path, lambda n: [TreePrediction(chain(n))]).count("\tdep\t") == 2
    path.write_text(" \n")
    assert answered(path, lambda n: []) == ""


def test_trees_are_converted(tmp_path):
    source, target = tmp_path / "a.conllu", tmp_path / "a.conllx"
    source.write_text(FILE)
    assert main(["convert", str(source), str(target)]) == 0
    X, y = read_dependencies(target)
    assert y == TREES and X[0][0] == ("Vamos", "VERB", "V", "Mood=Imp", "ir")
    assert main(["convert", str(target), str(tmp_path / "b.conllu")]) == 0
    assert read_dependencies(tmp_path / "b.conllu")[1] == TREES
    assert main(["convert", str(source), str(tmp_path / "words.txt")]) == 0  # as before: form and upos
    assert (tmp_path / "words.txt").read_text().startswith("Vamos\tVERB\n")
    columns = tmp_path / "trees.txt"
    columns.write_text("Ann\t2\nsings\t0\n")
    command = ["convert", str(columns), str(target), "--format", "columns", "--columns", "form,head"]
    assert main([*command, "--tabs"]) == 0 and read_dependencies(target)[1] == [DependencyTree([2, 0])]


def test_what_cannot_be_converted(tmp_path, capsys):
    (tmp_path / "a.conllx").write_text("1" + "\t_" * 5 + "\t0\ta\t_\t_\n")
    assert main(["convert", str(tmp_path / "a.conllx"), str(tmp_path / "out"), "--to", "jsonl"]) == 2
    assert "conllx files hold dependencies, from which jsonl cannot be made" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "a.conllx"), str(tmp_path / "a.conllu"), "--scheme", "iob2"]) == 2
    assert "--scheme is for labels of spans" in capsys.readouterr().err
