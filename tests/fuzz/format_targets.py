"""Damaged corpora, label files, sounds, arrays and templates: each is refused in one sentence, or read.

Formats join by themselves: all that the registry knows is read as a whole and, where it can be, as it streams. What a
format writes is what its cases begin with, and the texts of all others.
"""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutation import mutate_bytes, mutate_text

from margent.annotation.binary_tree import BinaryTree
from margent.annotation.dependency_tree import DependencyTree
from margent.annotation.intervals import Interval
from margent.audio import write_sound
from margent.audio.sound import read_sound
from margent.cli.recordings import FrontEnd, find_recordings, read_frames
from margent.features.templates import PRESETS, Templates, preset_text
from margent.formats.batch import Expected
from margent.formats.domains import read_domain
from margent.formats.facts import read_facts
from margent.formats.label_files import read_mlf
from margent.formats.prolog_facts import iter_prolog_facts
from margent.formats.registry import Format, FormatOptions, all_formats
from margent.meaning.notation import parse_meaning

WORDS = [["Ann", "Lee", "left", "Kyiv"], ["rain"], ["Bé", "saw", "日本", "'s"]]
LABELS = [["B-PER", "I-PER", "O", "B-LOC"], ["O"], ["B-PER", "O", "B-LOC", "O"]]
TREES = [
    DependencyTree([2, 3, 0, 3], ["det", "nsubj", "root", "obj"]),
    DependencyTree([0], ["root"]),
    DependencyTree([2, 0, 2, 3], ["nsubj", "root", "obj", "case"]),
]
ATTRIBUTES = [[{"w": 1.0, "n": 0.5}, {"w": 2.0}], [{"a:b": -1.5}]]
NUMBERED = [[{"1": 1.0, "7": 0.5}, {"2": 2.0}], [{"3": -1.5}]]
MEANINGS = [
    parse_meaning("(lambda $0 e (and (state:t $0) (exists $1 (loc:t $1 $0))))"),
    parse_meaning('(argmax $0 (language $0 "visual c++") (size:i $0))'),
    parse_meaning("utah:s"),
]
DOMAIN = """type lo
type s < lo
type ti < i
predicate loc:t : lo -> lo -> t
constant texas:s : s = texas | state of texas
constant "visual c++" : lo
word how many = (lambda $0 <e,t> (count $0))
suffix ap = lo
value clock = {}:ti
"""
FACTS = b'# c\nin austin texas\nin "new york" ny\npopulation austin = 345496\nnear a b = 2.5\n'
PROLOG = b"% c\ncity('st. louis','mo',452.8e+3).\nriver(red,-16.5,['texas','it''s']). /* x */ state(utah).\n"
INTERVALS = [Interval(0.0, 0.5, "a"), Interval(0.5, 1.25, "b"), Interval(1.25, 2.0, "a")]

CONTENT: dict[str, tuple[Any, ...]] = {
    "tokens": (WORDS, LABELS),
    "attributes": (ATTRIBUTES, [["A", "B"], ["A"]]),
    "pronunciations": (["the", "a"], [["DH", "AH0"], ["AH0"]]),
    "intervals": (INTERVALS,),
    "dependencies": (WORDS, TREES),
    "meanings": (WORDS, MEANINGS),
    "pairs": ([("Ann left.", ["Ann"]), (BinaryTree.from_brackets("( ( Ann saw ) 日本 )"), "rain")], ["a", "b"]),
}
"""What is written, by what a format gives."""

TEXTS = [
    "Ann NNP B-PER\nleft VBD O\n\n# c\nKyiv NNP B-LOC\n",
    "1\tAnn\tann\tPROPN\tNNP\tNumber=Sing\t2\tnsubj\t_\t_\n2-3\tisnt\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tis\tbe\tVERB\tVBZ\t_\t0\troot\t_\t_\n3\tnt\tnot\tPART\t_\t_\t2\tadvmod\t2:advmod\tA=b\n\n",
    "<DOC>\n<TEXT>\n<ENAMEX TYPE='PERSON'>Ann</ENAMEX> left <TIMEX TYPE=\"DATE\">May 1</TIMEX> .\n</TEXT>\n</DOC>\n",
    "A\tw=Ann:1\tcap\nB\tw=x\\:y:0.5\n\nA\tq\n",
    "1 qid:1 1:0.5 3:1 # c\n2 qid:1 2:1\n1 qid:2 1:1\n",
    '{"text": "Ann sings", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n'
    '{"text": "Ann sings", "label": [[0, 3, "PER"]]}\n{"tokens": ["Ann"], "labels": ["B-PER"]}\n'
    '{"text": "Ann", "tokens": [{"start": 0, "end": 3}], "entities": [{"start_offset": 0, "end_offset": 3}]}\n',
    ";;; c\nTHE  DH AH0 # x\nTHE(2)\tDH IY0\n",
    "0 8000 a\n8000 20000 b\n",
    "0 5000000 a -1.5 w\n5000000 12500000 b\n",
    '#!MLF!#\n"*/one.lab"\n0 5000000 a\n5000000 9000000 b\n.\n"*/two.lab"\na\n.\n',
    "signal x\nnfields 1\n#\n0.5 121 a\n1.25 121 b\n",
    'File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 2\ntiers? <exists>\nsize = 1\nitem []:\n'
    '    item [1]:\n        class = "IntervalTier"\n        name = "labels"\n        xmin = 0\n        xmax = 2\n'
    "        intervals: size = 2\n        intervals [1]:\n            xmin = 0\n            xmax = 1\n"
    '            text = "a"\n        intervals [2]:\n            xmin = 1\n            xmax = 2\n'
    '            text = "b"\n',
    "0.5\t1.0\thello\n\\\t100\t200\n1.0\t1.5\tyou\n",
    "(TOP (S (NP-SBJ (DT the) (NN cat)) (VP (VBZ sits) (NP (-NONE- *T*-1))) (. .)))\n",
    "a b c\n",
]
"""For formats that cannot be written, and to be taken for something else."""

_OPTIONS: list[dict[str, Any]] = [
    {},
    {},
    {"tabs": True},
    {"comment": "#"},
    {"scheme": "iobes"},
    {"stress": False},
    {"columns": "0,-1"},
    {"columns": "form,upos"},
    {"columns": "form,upos,head,deprel"},
    {"encoding": "utf-16"},
    {"encoding": "latin-1"},
    {"single_root": False},
    {"rate": 1},
    {"tier": "labels"},
]
_EXPECTED = [Expected(1, False), Expected(1, True), Expected(2, False)]


@dataclass(frozen=True)
class ReaderTarget:
    """Damaged files for one reader. `read`: from a path and dice, everything in it."""

    name: str
    samples: tuple[bytes, ...]
    ending: str
    read: Callable[[Path, random.Random], Any]
    text: bool = True

    def prepare(self) -> None:
        assert self.samples

    def forged(self, dice: random.Random) -> bytes:
        raw = dice.choice(self.samples)
        if not self.text:
            for _ in range(dice.choice([1, 1, 2, 4])):
                # Most of what counts is at the beginning.
                near = dice.choice([len(raw), 64, 256])
                raw = mutate_bytes(raw[:near], dice) + raw[near:]
            return raw
        raw = mutate_text(raw, dice)
        if dice.random() < 0.03:
            packed = gzip.compress(raw, 1)
            return packed if dice.random() < 0.5 else mutate_bytes(packed, dice)
        return raw

    def run(self, path: Path, dice: random.Random) -> None:
        named = path.with_name(f"case{self.ending}")
        path.replace(named)
        self.read(named, dice)


def samples_of(format: Format) -> Iterator[bytes]:
    """What the format itself writes of its content, where it does."""
    if format.write is not None and format.gives in CONTENT:
        target = io.BytesIO()
        content = (NUMBERED, CONTENT["attributes"][1]) if format.name == "svmhmm" else CONTENT[format.gives]
        format.write(target, *content, FormatOptions())
        yield target.getvalue()


def _options(dice: random.Random) -> FormatOptions:
    return replace(FormatOptions(), **dice.choice(_OPTIONS))


def _reader(format: Format) -> Callable[[Path, random.Random], Any]:
    assert format.read is not None
    read = format.read

    def read_all(path: Path, dice: random.Random) -> None:
        found = read(str(path), _options(dice))
        for part in found if isinstance(found, tuple) else (found,):
            list(part)

    return read_all


def _streamer(format: Format) -> Callable[[Path, random.Random], Any]:
    assert format.stream is not None
    stream = format.stream

    def stream_all(path: Path, dice: random.Random) -> None:
        for batch in stream(str(path), _options(dice), dice.choice(_EXPECTED)):
            list(batch.X)

    return stream_all


@cache
def _sounds() -> tuple[bytes, ...]:
    samples = np.sin(np.arange(400) / 9)
    wav = io.BytesIO()
    write_sound(wav, samples, 16000)
    whole = (samples * 32767).astype("<i2").tobytes()
    head = "NIST_1A\n   1024\nsample_rate -i 16000\nsample_count -i 400\nchannel_count -i 1\nsample_n_bytes -i 2\n"
    sphere = f"{head}sample_byte_format -s2 01\nsample_coding -s3 pcm\nend_head\n".encode().ljust(1024)
    common = (1).to_bytes(2, "big") + (400).to_bytes(4, "big") + (16).to_bytes(2, "big")
    common += (0x400E).to_bytes(2, "big") + (16000 << 48).to_bytes(8, "big")
    data = bytes(8) + (samples * 32767).astype(">i2").tobytes()
    chunks = b"COMM" + len(common).to_bytes(4, "big") + common + b"SSND" + len(data).to_bytes(4, "big") + data
    aiff = b"FORM" + (4 + len(chunks)).to_bytes(4, "big") + b"AIFF" + chunks
    return wav.getvalue(), sphere + whole, aiff


@cache
def _arrays(many: bool) -> tuple[bytes, ...]:
    target, rows = io.BytesIO(), np.arange(24, dtype=np.float32).reshape(8, 3)
    if many:
        np.savez(target, one=rows, two=rows[:4].astype(np.int16))
        packed = io.BytesIO()
        np.savez_compressed(packed, one=rows)
        return target.getvalue(), packed.getvalue()
    np.save(target, rows)
    return (target.getvalue(),)


def _read_sound(path: Path, dice: random.Random) -> None:
    read_sound(path, rate=dice.choice([None, 16000]))


def _read_arrays(path: Path, dice: random.Random) -> None:
    for recording in find_recordings([str(path)]):
        read_frames(recording, FrontEnd(rate=None))


def _read_templates(path: Path, dice: random.Random) -> None:
    Templates.from_file(path).parse(dice.choice([1, 2, 5, 1000]))


def reader_targets() -> Iterator[ReaderTarget]:
    texts = tuple(text.encode() for text in TEXTS)
    for format in all_formats():
        samples = (*samples_of(format), *texts)
        own = samples * 1 if len(samples) == len(texts) else (samples[0],) * len(texts) + texts
        ending = format.extensions[0] if format.extensions else ".txt"
        name = f"{format.name}/{format.gives}"
        if format.read is not None:
            yield ReaderTarget(f"{name}/read", own, ending, _reader(format))
        if format.stream is not None:
            yield ReaderTarget(f"{name}/stream", own, ending, _streamer(format))
    yield ReaderTarget("mlf/all", texts, ".mlf", lambda path, dice: read_mlf(path))
    templates = tuple(preset_text(name).encode() for name in PRESETS)
    yield ReaderTarget("templates", (*templates, b"U0:%x[0,0]/%x[-1,1.suffix3]\nU1:%x[0,*]\nB\n"), "", _read_templates)
    yield ReaderTarget("domain", (DOMAIN.encode(), *texts), ".domain", lambda path, dice: read_domain(path))
    yield ReaderTarget("facts", (FACTS, *texts), ".facts", lambda path, dice: read_facts(path))
    yield ReaderTarget("prolog", (PROLOG, *texts), ".pl", lambda path, dice: list(iter_prolog_facts(path)))
    yield ReaderTarget("sound", _sounds(), ".wav", _read_sound, text=False)
    yield ReaderTarget("npy", _arrays(False), ".npy", _read_arrays, text=False)
    yield ReaderTarget("npz", _arrays(True), ".npz", _read_arrays, text=False)
