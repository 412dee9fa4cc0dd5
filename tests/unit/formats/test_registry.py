"""The registry of formats: what files of the package declare, and what is said of a format that is not there."""

from __future__ import annotations

import sys

import pytest

import margent.formats
from margent.annotation.binary_tree import BinaryTree
from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.intervals import Interval
from margent.annotation.phrase_tree import PhraseTree
from margent.errors import CorpusError
from margent.formats.pairs import SentencePair
from margent.formats.registry import (
    Format,
    FormatOptions,
    all_formats,
    format_named,
    format_names,
    formats_named,
    guessed_format,
)
from margent.meaning import parse_meaning


def test_formats_are_found_by_name_and_extension():
    assert set(format_names("tokens")) == {"columns", "conllu", "jsonl", "muc"}
    assert set(format_names("attributes")) == {"crfsuite", "svmhmm"}
    assert set(format_names("dependencies")) == {"columns", "conllu", "conllx"}
    assert set(format_names("dependencies", read=False)) == {"columns", "conllu", "conllx", "sentences"}
    assert format_names("phrases") == ("brackets",) and guessed_format("wsj_0001.MRG.gz") == "brackets"
    assert format_names("meanings") == ("questions",) and guessed_format("geo.questions.gz") == "questions"
    assert set(format_names("pairs")) == {"jsonl", "pairs"} and guessed_format("a.jsonl", "pairs") == "jsonl"
    assert guessed_format("a.jsonl") == "jsonl" and format_named("jsonl").gives == "tokens"
    assert format_names("translations") == ("parallel-text",)
    assert guessed_format("zh-en.parallel.gz") == "parallel-text"
    assert format_names("pronunciations") == ("pronunciations",)
    assert set(format_names("intervals", write=True)) == {"timit", "htk", "xwaves", "textgrid", "audacity"}
    assert guessed_format("a.JSONL.gz") == "jsonl" and guessed_format("a.txt", "tokens") is None
    assert guessed_format("a.txt", "intervals") == "audacity"
    assert guessed_format("a.conll", "dependencies") == "conllx" and guessed_format("a.conll", "tokens") is None
    with pytest.raises(CorpusError, match="there is no format 'doc'; expected one of brackets, "):
        format_named("doc")
    with pytest.raises(
        CorpusError, match="there is no format 'muc'; expected one of conllu, conllx, columns, sentences"
    ):
        format_named("muc", "dependencies")


def test_a_name_may_hold_several_things():
    assert [format.gives for format in formats_named("conllu")] == ["tokens", "dependencies"]
    assert [format.gives for format in formats_named("conllu", "dependencies", "tokens")] == ["dependencies", "tokens"]
    assert format_named("conllu", "dependencies").gives == "dependencies" and format_named("conllu").gives == "tokens"


X, Y = [["Ann", "sings"], ["no"]], [["B-PER", "O"], ["O"]]
SAMPLES = {
    "tokens": (X, Y),
    "attributes": ([[{"1": 1.0}, {"2": 0.5}]], [["1", "2"]]),
    "pronunciations": (["a", "b"], [["AH"], ["B", "IY"]]),
    "dependencies": (
        [[("Ann", "PROPN", "NNP", "_", "Ann"), ("sings", "VERB", "_", "Tense=Pres", "sing")], [("no", *"____")]],
        [DependencyTree([2, 0], ["nsubj", "root"]), DependencyTree([0], ["root"])],
    ),
    "phrases": (
        [[("Ann", "NNP"), ("sings", "VBZ")], [("no", "UH")]],
        [PhraseTree.from_brackets("(S (NP (NNP Ann)) (VP (VBZ sings)))"), PhraseTree(["no"], ["UH"])],
    ),
    "meanings": ([["how", "many"], ["utah"]], [parse_meaning("(count $0 (state:t $0))"), parse_meaning("utah:s")]),
    "pairs": (
        [SentencePair("It rains.", "It is wet."), SentencePair(BinaryTree.from_brackets("( a b )"), "b")],
        ["entailment", "neutral"],
    ),
    "translations": ([["un", "chat"], ["non"]], [["a", "cat"], ["no"]]),
    "intervals": [Interval(0.0, 0.5, "a"), Interval(0.5, 1.0, "b")],
}


@pytest.mark.parametrize(
    "format", [f for f in all_formats() if f.read and f.write], ids=lambda f: f"{f.name}-{f.gives}"
)
def test_what_is_written_is_read_again(format, tmp_path):
    path, sample = tmp_path / "file", SAMPLES[format.gives]
    if format.gives == "intervals":
        format.write(path, sample, FormatOptions())
        assert format.read(path, FormatOptions()) == sample
    else:
        format.write(path, *sample, FormatOptions())
        read = format.read(str(path), FormatOptions())
        assert tuple(map(list, read)) == sample


def test_a_new_format_is_one_file(tmp_path, monkeypatch):
    (tmp_path / "upper.py").write_text(
        "from margent.formats.registry import Format\n"
        "def read(path, reading):\n"
        "    from pathlib import Path\n"
        "    rows = [line.split() for line in Path(path).read_text().splitlines()]\n"
        "    labels = [['U' if word.isupper() else 'L' for word in row] for row in rows]\n"
        "    return [[word.lower() for word in row] for row in rows], labels\n"
        "FORMATS = (Format('upper', 'tokens', 'labels by case', ('.upper',), read),)\n"
    )
    monkeypatch.setattr(margent.formats, "__path__", [*margent.formats.__path__, str(tmp_path)])
    all_formats.cache_clear()
    try:
        assert isinstance(format_named("upper"), Format) and guessed_format("a.upper") == "upper"
        (tmp_path / "train.upper").write_text("THE cat\nA dog\n")
        from margent.cli import main

        assert main(["train", str(tmp_path / "train.upper"), "-m", str(tmp_path / "m")]) == 0
        assert main(["convert", str(tmp_path / "train.upper"), str(tmp_path / "out.jsonl")]) == 0
        assert (tmp_path / "out.jsonl").read_text().startswith('{"tokens": ["the", "cat"], "labels": ["U", "L"]}')
    finally:
        monkeypatch.undo()
        all_formats.cache_clear()
        sys.modules.pop("margent.formats.upper", None)


def test_label_files_are_converted(tmp_path):
    from margent.cli import main
    from margent.formats import read_labels, write_labels

    write_labels(tmp_path / "a.TextGrid", SAMPLES["intervals"], tier="phones")
    assert main(["convert", str(tmp_path / "a.TextGrid"), str(tmp_path / "a.lab"), "--tier", "phones"]) == 0
    assert read_labels(tmp_path / "a.lab", "htk") == SAMPLES["intervals"]
