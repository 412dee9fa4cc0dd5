"""Sentences of a small English grammar with their dependency trees, where the words tell the tree.

Each phrase has a head word and slots on both sides of it, some of which may stay empty. What a phrase of "with" hangs
on is ambiguous for whoever only sees its tags: instruments belong to the verb ("saw the man with the telescope"),
features to the noun ("saw the man with the beard"), and the endings of words tell these classes apart, also of words
that are made up. So there is one right tree, which a parser can come to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from margent.annotation.dependency_tree import DependencyTree

LEXICON = """
person NOUN NN Number=Sing = man | woman | child | doctor | {start}ist | {start}ist | {start}ician
feature NOUN NN Number=Sing = beard | hat | smile | scar | {start}let | {start}let
instrument NOUN NN Number=Sing = telescope | camera | spoon | {start}oscope | {start}ograph
place NOUN NN Number=Sing = park | garden | street | station | {start}ville | {start}ton
thing NOUN NN Number=Sing = book | letter | house | cake | {start}ware | {start}ing
name PROPN NNP Number=Sing = Ann | Bob | Mary | {Start}a | {Start}o
pronoun PRON PRP Case=Nom = she | he | they | it
sees VERB VBD Tense=Past = saw | met | found | watched | {start}ed | {start}ed
says VERB VBD Tense=Past = said | thought | knew
comes VERB VBD Tense=Past = came | slept | left | arrived
the DET DT Definite=Def = the | this | that
a DET DT Definite=Ind = a | every | some
size ADJ JJ Degree=Pos = old | small | red | clever | {start}ish | {start}ous
often ADV RB _ = often | never | quickly | {start}ly
when ADV RB _ = yesterday | again | there
with ADP IN _ = with
at ADP IN _ = in | near | behind
of ADP IN _ = of
that SCONJ IN _ = that
who PRON WP PronType=Rel = who
and CCONJ CC _ = and
stop PUNCT . _ = . | !
start = bal | cor | dan | fel | gar | lin | mor | nel | pol | ran | sal | tor | ver | wil
Start = Bal | Cor | Dan | Fel | Gar | Lin | Mor | Nel | Pol | Ran | Sal | Tor | Ver | Wil
"""
"""A class, its tag, its tag in finer classes, its features, and its words; {start} is what words are made up from."""

GRAMMAR = """
clause = nsubj:someone advmod?15:manner HEAD*sees obj:someone|object obl?35:tool obl?25:location advmod?20:time
stay = nsubj:someone advmod?15:manner HEAD*comes obl?40:location advmod?30:time
report = nsubj:someone HEAD*says ccomp:content
content = mark:link nsubj:someone HEAD*sees obj:object obl?35:tool
someone = det:article amod?25:quality HEAD*person nmod?25:trait acl:relcl?15:relative conj?8:other
other = cc:joint det:article HEAD*person
object = det:article amod?30:quality HEAD*thing nmod?25:owner
trait = case:by det:indefinite amod?30:quality HEAD*feature
tool = case:by det:article HEAD*instrument
location = case:at_ det:article amod?20:quality HEAD*place
owner = case:of_ det:article HEAD*person nmod?15:trait
relative = nsubj:whoever HEAD*sees obj:object
article = HEAD*the
indefinite = HEAD*a
quality = advmod?10:manner HEAD*size
manner = HEAD*often
time = HEAD*when
by = HEAD*with
at_ = HEAD*at
of_ = HEAD*of
link = HEAD*that
whoever = HEAD*who
joint = HEAD*and
"""
"""A phrase and what it consists of: `label:phrase`, or `label?25:phrase` for what is there in 25 of 100; the head."""

_CLAUSES = ("clause", "clause", "clause", "stay", "report")
_DEEPEST = 4
_NAMED = 0.35


@dataclass(eq=False)
class _Word:
    """A word of a sentence, with its head; the root has none."""

    row: tuple[str, ...]
    label: str
    head: _Word | None

    def is_below(self, other: _Word) -> bool:
        return self is other or (self.head is not None and self.head.is_below(other))


def make_trees(
    n: int, *, crossing: float = 0.0, seed: int = 0
) -> tuple[list[list[tuple[str, ...]]], list[DependencyTree]]:
    """`n` sentences, the words of which are (form, upos, xpos, feats, lemma), and their trees.

    crossing : the share of sentences in which what belongs to the subject stands after the verb ("a man arrived with a
        beard"), so that arcs cross

    Of each sentence one tree is right, and its words tell it. Uniform random numbers alone: same seed, same corpus.

    Examples
    --------
    >>> X, y = make_trees(100, seed=1)
    >>> all(tree.is_projective() for tree in y), {sentence[-1][0] for sentence in X} == {".", "!"}
    (True, True)
    """
    if n < 0 or not 0 <= crossing <= 1:
        raise ValueError(f"expected n of at least 0 and crossing from 0 to 1, got {n!r} and {crossing!r}")
    random = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        crosses = random.random() < crossing
        # Only a clause without an object has no other word that what is moved could hang on.
        words = _phrase(random, "stay" if crosses else _pick(random, _CLAUSES), "root", None, 0)
        root = next(word for word in words if word.head is None)
        words = _extraposed(random, words, root) if crosses else words
        words.append(_Word(_row(random, "stop"), "punct", root))
        numbers = {id(word): number for number, word in enumerate(words, start=1)}
        heads = [0 if word.head is None else numbers[id(word.head)] for word in words]
        X.append([word.row for word in words])
        y.append(DependencyTree(heads, [word.label for word in words]))
    return X, y


def _extraposed(random: np.random.Generator, words: list[_Word], root: _Word) -> list[_Word]:
    """With what comes last of the subject, or a phrase of "with" for it, at the end of the clause."""
    subject = next(word for word in words if word.head is root and word.label == "nsubj")
    after = [word for word in words[words.index(subject) + 1 :] if word.head is subject]
    if not after:
        return words + _phrase(random, "trait", "nmod", subject, _DEEPEST)
    return [w for w in words if not w.is_below(after[-1])] + [w for w in words if w.is_below(after[-1])]


def _phrase(random: np.random.Generator, name: str, label: str, head: _Word | None, depth: int) -> list[_Word]:
    """The words of a phrase in order; what may be missing is missing below `_DEEPEST`."""
    slots = _grammar()[name]
    at = next(i for i, (kind, _, _) in enumerate(slots) if kind == "HEAD")
    kind = slots[at][2]
    if kind == "person" and label in ("nsubj", "obj") and random.random() < _NAMED:  # needs no article
        return [_Word(_row(random, "name" if label == "obj" or random.random() < 0.5 else "pronoun"), label, head)]
    own = _Word(_row(random, kind), label, head)
    words: list[_Word] = []
    for kind, chance, inner in slots:
        if kind == "HEAD":
            words.append(own)
        elif chance == 1 or (depth < _DEEPEST and random.random() < chance):
            words += _phrase(random, _pick(random, inner.split("|")), kind, own, depth + 1)
    return words


def _row(random: np.random.Generator, name: str) -> tuple[str, ...]:
    """A word of a class: form, upos, xpos, feats, lemma."""
    lexicon = _lexicon()
    (upos, xpos, feats), choices = lexicon[name]
    form = _pick(random, choices)
    for part in ("start", "Start"):
        if f"{{{part}}}" in form:
            form = form.replace(f"{{{part}}}", _pick(random, lexicon[part][1]))
    return form, upos, xpos, feats, form.lower()


@cache
def _lexicon() -> dict[str, tuple[tuple[str, ...], list[str]]]:
    """By class its tags and its words."""
    found = {}
    for line in LEXICON.strip().splitlines():
        left, _, words = line.partition(" = ")
        name, *tags = left.split()
        found[name] = (tuple(tags), words.split(" | "))
    return found


@cache
def _grammar() -> dict[str, list[tuple[str, float, str]]]:
    """By phrase its slots: label, how often it is there, and the phrases it may be; or HEAD, and the class of words."""
    found = {}
    for line in GRAMMAR.strip().splitlines():
        name, _, right = line.partition(" = ")
        slots = []
        for text in right.split():
            if text.startswith("HEAD*"):
                slots.append(("HEAD", 1.0, text[len("HEAD*") :]))
                continue
            label, _, inner = text.rpartition(":")
            label, _, chance = label.partition("?")
            slots.append((label, float(chance) / 100 if chance else 1.0, inner))
        found[name] = slots
    return found


def _pick(random: np.random.Generator, choices: list[str] | tuple[str, ...]) -> str:
    return choices[int(random.random() * len(choices))]
