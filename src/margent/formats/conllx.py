"""CoNLL-X, the format of the shared tasks on dependency parsing of 2006 and 2007 (Buchholz and Marsi 2006): ten columns
separated by tabs, as in CoNLL-U, without multiword tokens and empty nodes.

The columns are id, form, lemma, cpostag, postag, feats, head, deprel, phead and pdeprel. A sentence is a
`ConlluSentence`, in which each goes by the name of its place in CoNLL-U: upos is the coarse tag, xpos the fine one,
deps and misc are the projective head and its relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from margent.errors import CorpusError
from margent.formats.conllu import ConlluSentence, sentences_of_lines, write_conllu
from margent.formats.limits import DEFAULT_LIMITS, Limits
from margent.formats.source import Source, SourceLike, TargetLike


def iter_conllx(
    source: SourceLike, *, encoding: str = "utf-8", limits: Limits = DEFAULT_LIMITS
) -> Iterator[ConlluSentence]:
    """Read a CoNLL-X file sentence by sentence; lines before a sentence that begin with "#" are comments."""
    opened = Source(source, encoding, limits)
    return words_alone(opened, sentences_of_lines(opened, opened.lines_with_ends()))


def words_alone(source: Source, sentences: Iterable[ConlluSentence]) -> Iterator[ConlluSentence]:
    """The sentences, once they are known to have neither multiword tokens nor empty nodes."""
    for sentence in sentences:
        for line, row in enumerate(sentence.rows, start=sentence.line + len(sentence.comments)):
            if not row[0].isdecimal():
                raise source.error(line, f"found the id {row[0]}, expected an integer: CoNLL-X has words alone")
        yield sentence


def write_conllx(target: TargetLike, sentences: Iterable[ConlluSentence], *, encoding: str = "utf-8") -> None:
    """Write sentences as CoNLL-X: what `iter_conllx` gives comes out as it was."""

    def checked() -> Iterator[ConlluSentence]:
        for number, sentence in enumerate(sentences):
            if len(sentence) < len(sentence.rows):
                message = "expected words alone, for CoNLL-X has neither multiword tokens nor empty nodes"
                raise CorpusError(f"sentence {number}: {message}")
            yield sentence

    write_conllu(target, checked(), encoding=encoding)
