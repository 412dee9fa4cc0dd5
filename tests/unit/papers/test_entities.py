from __future__ import annotations

from papers.kbest.entities import AGREEING, columns, runs, second_stage


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


def test_second_stage_leaves_out_the_own_sentence_and_those_far_away():
    sentence, labels = words("en Lima"), ["O", "B-LOC"]
    rows = columns([sentence])
    assert second_stage(rows, [labels])[0][1][9:] == ("-", "-", "-", "S")

    filler = [words("nada")] * AGREEING
    rows = columns([sentence, *filler, sentence])
    found = [labels, *[["O"]] * AGREEING, labels]
    assert second_stage(rows, found)[0][1][9] == "-"
    rows, found = rows[:1] + rows[2:], found[:1] + found[2:]
    assert second_stage(rows, found)[0][1][9:] == ("LOC!", "LOC!", "LOC!", "S")


def test_second_stage_takes_the_majority():
    sentences = [words("en Lima")] * 4
    labels = [["O", "O"], ["O", "B-LOC"], ["O", "B-LOC"], ["O", "B-ORG"]]
    assert second_stage(columns(sentences), labels)[0][1][9] == "LOC?"
