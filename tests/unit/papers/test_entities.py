from __future__ import annotations

import numpy as np
from papers.kbest.entities import AGREEING, KINDS, columns, repaired, runs, second_stage


def words(text: str) -> list[str]:
    return text.split()


def test_runs_join_over_small_words_or_not():
    sentence = words("El Banco de la República y Juan hablan de 2M")
    wide, narrow = runs(sentence, joined=True), runs(sentence, joined=False)
    assert wide == [(0, 7)] * 7 + [None, None, (9, 10)]
    assert narrow == [(0, 2), (0, 2), None, None, (4, 5), None, (6, 7), None, None, (9, 10)]


def test_a_run_does_not_end_in_a_small_word():
    assert runs(words("Ana de la casa"), joined=True) == [(0, 1), None, None, None]


def test_case_is_what_other_places_say():
    text = ["Casa grande", "la casa", "en Casa grande"]
    rows = columns([words(line) for line in text])
    assert rows[0][0][6] == "capital,lower"  # the third and the second sentence
    assert rows[2][1][6] == ",lower"  # its own capital does not count
    assert rows[0][1][6] == "-"


def test_a_word_is_no_witness_for_itself():
    (rows,) = columns([words("en Lima hoy")])
    assert rows[1][6] == ","


def beliefs(labels: str) -> np.ndarray:
    return np.eye(len(KINDS))[[KINDS.index(kind) for kind in labels.split()]]


def test_second_stage_leaves_out_the_own_sentence_and_those_far_away():
    sentence, believed = words("en Lima"), beliefs("O LOC")
    rows = columns([sentence])
    assert second_stage(rows, [believed])[0][1][9:14] == ("-", "-", "-", "-", "S")

    rows = columns([sentence, *[words("nada")] * AGREEING, sentence])
    found = [believed, *[beliefs("O")] * AGREEING, believed]
    # The article goes on, however far it is.
    assert second_stage(rows, found)[0][1][9:14] == ("LOC!", "-", "LOC!", "-", "S")
    rows, found = rows[:1] + rows[2:], found[:1] + found[2:]
    assert second_stage(rows, found)[0][1][9:14] == ("LOC!", "LOC!", "LOC!", "LOC!", "S")


def test_second_stage_looks_at_the_article_and_beyond_it():
    header = words("Quito , 25 may ( EFE ) .")
    sentences = [words("en Lima"), header, words("en Lima"), words("en Lima")]
    found = [beliefs("O LOC"), beliefs("LOC O O O O ORG O O"), beliefs("O ORG"), beliefs("O ORG")]
    article, nearby, *_ = second_stage(columns(sentences), found)[3][1][9:]
    assert (article, nearby) == ("ORG!", "LOC?")  # equal beliefs: the first of the kinds


def test_second_stage_weighs_beliefs():
    sentences = [words("Lima")] * 4
    half = (beliefs("LOC") + beliefs("ORG")) / 2
    rows = second_stage(columns(sentences), [half, beliefs("LOC"), beliefs("LOC"), half])
    assert [row[0][9] for row in rows] == ["LOC+", "LOC?", "LOC?", "LOC+"]


def test_second_stage_says_what_kinds_of_names_an_article_has():
    sentences = [words("Lima Quito Ana Rosa Eva"), words("sí")]
    ((first, *_), (last,)) = second_stage(columns(sentences), [beliefs("LOC LOC PER PER PER"), beliefs("O")])
    assert first[14:] == last[14:] == ("2", "0", "0", "3")


def test_words_that_were_encoded_twice_are_repaired():
    assert repaired("él".encode().decode("latin-1")) == "él"
    assert [repaired(word) for word in ("él", "Lima", "“", "Ñu")] == ["él", "Lima", "“", "Ñu"]
