"""The database of GeoQuery: from a small file in its form, and the public one where it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from margent.datasets import load_geoquery, load_geoquery_facts
from margent.errors import CorpusError
from margent.meaning import answer, parse_meaning

HOME = os.environ.get("MARGENT_DATA", "")
GEOBASE = """\
city('texas','tx','austin',345496).
city('texas','tx','el paso',100).
state('texas','tx','austin',14229.0e+3,266.8e+3,28,'houston','dallas','san antonio','austin').
state('utah','ut','salt lake city',1461.0e+3,84.9e+3,45,'salt lake city','provo','ogden','orem').
river('rio x',3033,['utah','texas']).
lake('st. y',5180,['utah']).
border('utah','ut',['texas']).
border('texas','tx',['utah']).
highlow('texas','tx','guadalupe peak',2667,'gulf of mexico',0).
highlow('utah','ut','kings peak',4123,'beaver creek',610).
mountain('utah','ut','kings',4123).
road('66',['texas']).
country('usa',307890000,9826675).
"""


def folder_with(tmp_path, text):
    (tmp_path / "geoquery" / "typed").mkdir(parents=True, exist_ok=True)
    (tmp_path / "geoquery" / "geobase.pl").write_text(text)
    (tmp_path / "geoquery" / "typed" / "geo.consts.ont").write_text("(\nguadalupe_peak:m\ntexas:s\n)\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(lambda $0 e (and (city:t $0) (loc:t $0 texas:s)))", "austin dallas el_paso houston san_antonio"),
        ("(lambda $0 e (and (major:t $0) (loc:t $0 texas:s)))", "austin_tx:c rio_x_river:r"),
        ("(capital:c utah:s)", "salt_lake_city_ut:c"),
        ("(population:i austin_tx:c)", "345496"),
        ("(density:i texas:s)", "53.3"),
        ("(argmin $0 (state:t $0) (size:i $0))", "utah:s"),
        ("(lambda $0 e (next_to:t utah:s $0))", "rio_x_river:r texas:s"),
        ("(argmax $0 (place:t $0) (elevation:i $0))", "kings_peak:p"),
        ("(argmin $0 (and (place:t $0) (loc:t $0 texas:s)) (elevation:i $0))", "gulf_of_mexico:p"),
        ("(elevation:i guadalupe_peak:m)", "2667"),
        ("(lambda $0 e (or (high_point:t usa:co $0) (mountain:t $0)))", "kings_peak:p mount_kings:m"),
        ("(lambda $0 e (and (loc:t $0 usa:co) (lake:t $0)))", "st_y:l"),
        ("(lambda $0 e (and (named:t $0 austin:n) (city:t $0)))", "austin_tx:c"),
        ("(area:i usa:co)", "9826675"),
    ],
)
def test_a_small_database_in_its_form(tmp_path, text, expected):
    facts = load_geoquery_facts(data_home=folder_with(tmp_path, GEOBASE))
    found = [str(value)[:4] if isinstance(value, float) else str(value) for value in answer(parse_meaning(text), facts)]
    if ":" not in expected and "_" in expected:
        found = [value.removesuffix("_tx:c") for value in found]
    assert " ".join(found) == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("river('rio x',3033", "river('rio x','long'", "line 5: expected a number in river, got 'long'"),
        ("lake('st. y'", "lake('. '", "line 6: expected a name in lake, got '. '"),
        ("['utah']", "utah", "line 6: expected a list in lake, got 'utah'"),
        ("city('texas'", "city('ohio'", "line 1: expected a state that the file has, got 'ohio'"),
        ("border('utah','ut'", "border('utah'", "line 7: expected 3 arguments of border, got 2"),
    ],
)
def test_what_is_not_in_its_form_is_refused(tmp_path, old, new, message):
    with pytest.raises(CorpusError, match=message):
        load_geoquery_facts(data_home=folder_with(tmp_path, GEOBASE.replace(old, new, 1)))


@pytest.mark.skipif(not HOME or not Path(HOME, "geoquery").is_dir(), reason="no folder geoquery under MARGENT_DATA")
def test_questions_of_the_public_corpus_have_the_answers_of_its_database():
    facts, train = load_geoquery_facts(), load_geoquery().train
    questions = {" ".join(words): meaning for words, meaning in zip(train.X, train.y)}
    for question, expected in {
        "what is the highest point in florida": ("walton_county:p",),
        "which state border kentucky": tuple(f"{name}:s" for name in KENTUCKY),
        "how many people live in austin": (345496,),
        "what river runs through the most states": ("mississippi_river:r",),
        "how high is guadalupe peak": (2667,),
    }.items():
        assert answer(questions[question], facts) == expected
    answered = [answer(meaning, facts) for meaning in train.y[:150]]
    assert sum(found != () for found in answered) > 140


KENTUCKY = ("illinois", "indiana", "missouri", "ohio", "tennessee", "virginia", "west_virginia")
