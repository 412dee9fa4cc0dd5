"""Domains of the public corpora: from small files in their form, and the public ones where they are there."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from margent.datasets import load_atis_domain, load_geoquery_domain, load_jobs_domain
from margent.errors import CorpusError, DataNotFoundError
from margent.formats import read_domain, write_domain
from margent.meaning import infer_type, parse_meaning

HOME = os.environ.get("MARGENT_DATA", "")


def types_in(domain, *names):
    return [" | ".join(map(str, domain.types_of(name))) for name in names]


@pytest.fixture
def home(tmp_path):
    for name in ("geoquery/typed", "jobs", "atis"):
        (tmp_path / name).mkdir(parents=True)
    geo = tmp_path / "geoquery"
    rows = [
        ("(population:i austin_tx:c)", "(population:<lo,i> austin_tx:c)"),
        ("(density:i ohio_river:r)", "(density:<lo,i> ohio_river:r)"),
        ("(loc:t mount_x:m texas:s)", "(loc:<lo,<lo,t>> mount_x:m texas:s)"),
    ]
    lines = "".join(f"x\ttrain\t0\tq\t{one}\t{two}\n" for one, two in rows)
    (geo / "geo880.tsv").write_text("id\tsplit\tfold\tsentence\tlambda\tlambda_typed\n" + lines)
    (geo / "typed" / "geo.types").write_text("(\n(i e) // integer\n(lo e)\n(s lo)\n(c lo)\n(r lo)\n(m lo)\n(p lo)\n)\n")
    (geo / "typed" / "geo.preds.ont").write_text(
        "(\ncapital:<c,t>\ncapital2:<s,<c,t>>\npopulation:<lo,i>\ndensity:<lo,i>\nloc:<lo,<lo,t>>\nequals:<e,<e,t>>\n)\n"
    )
    (geo / "typed" / "geo.consts.ont").write_text("(\naustin_tx:c\nrio_x_river:r\nohio_river:r\ntexas:s\n)\n")
    (geo / "typed" / "np-list.lex").write_text("Lone Star :- NP : texas:s\nohio :- NP : ohio_river:r\n")
    (tmp_path / "jobs" / "jobs640.tsv").write_text(
        "id\tsplit\tsentence\tlambda\nx\ttrain\tq\t(lambda $0:e (and (job $0) (platform $0 ibm) (loc $0 5)))\n"
        "x\ttest\tq\t(lambda $0:e (platform $0 secret))\n"
    )
    (tmp_path / "jobs" / "jobs.types.txt").write_text(
        "job\t\t<: e\npolity <: e\nplatform <: e\n\njob : job -> t\nloc : job -> polity -> t\n"
        "platform\t\t: job -> platform -> t\n'visual c++'\t: platform\n'IBM' : platform\n"
    )
    (tmp_path / "jobs" / "jobs.lexicon.txt").write_text(
        "% words\nparse(N_CONSTANT, [visual,'c++'], 'visual c++').\nparse(N_CONSTANT, [vax], vax).\n"
    )
    (tmp_path / "atis" / "atis.tsv").write_text(
        "id\tsplit\tsentence\tlambda\nx\ttrain\tq\t(lambda $0 e (and (flight $0) (to $0 bos:ap) (< (at $0) 900:ti)))\n"
        "x\ttrain\tq\tap_80:rc\nx\ttest\tq\t(via secret:ci)\n"
    )
    (tmp_path / "atis" / "atis.ontology.txt").write_text(
        "entity:\tci\tno\nentity:\tap\tno\nentity:\tti\tyes\nentity:\trc\tyes\nunary:\tflight\n"
        "cat:\tairport\tap\nbinary:\ttype:flight\tto\ttype:ci\nbinary:\ttype:flight\tto\ttype:ap\n"
        "binary:\ttype:flight\tat\ttype:ti\n"
    )
    (tmp_path / "atis" / "np-list.lex").write_text("boston  :- NP :  boston:ci\n")
    return tmp_path


def test_geoquery_from_small_files(home):
    domain = load_geoquery_domain(data_home=home)
    assert types_in(domain, "capital:t", "loc:t") == ["c -> t | s -> c -> t", "lo -> au -> t"]
    assert types_in(domain, "population:i", "density:i") == ["au -> i", "lo -> i"]  # a river has one in training
    assert types_in(domain, "equals:t", "ohio_river:r", "mount_x:m") == ["'a -> 'a -> t", "r", "m"]
    assert domain.constants_of(["lone", "star"]) == ("texas:s",)
    assert domain.constants_of(["rio", "x"]) == ("rio_x_river:r",) and domain.constants_of(["ohio"]) == (
        "ohio_river:r",
    )
    assert domain.constants_of(["austin"]) == ("austin_tx:c",) and domain.constants_of(["mount", "x"]) == ("mount_x:m",)
    assert set(domain.simplified().hierarchy.names) == {"e", "i", "t"}
    typed = load_geoquery_domain(notation="typed", data_home=home)
    assert types_in(typed, "capital2:<s,<c,t>>", "population:<lo,i>") == ["s -> c -> t", "au -> i"]
    (home / "geoquery" / "typed" / "geo.types").write_text("(s lo) x\n")
    with pytest.raises(CorpusError, match=r"geo.types, line 1: expected \(TYPE TYPE\)"):
        load_geoquery_domain(data_home=home)


def test_jobs_from_small_files(home):
    domain = load_jobs_domain(data_home=home)
    assert types_in(domain, "platform", "visual c++", "country", "ibm", "40000", "secret") == [
        *("job -> platform -> t", "platform", "job -> polity -> t", "", "i", ""),
    ]  # the meaning with ibm has no type as a whole
    assert domain.constants_of(["visual", "'c++'"]) == ("visual c++",) and domain.constants_of(["vax"]) == ("vax",)
    assert domain.constants_of(["ibm"]) == ("IBM",) and domain.constants_of(["$40,000"]) == ("40000",)
    path = home / "jobs" / "jobs640.tsv"
    path.write_text(path.read_text().replace("(loc $0 5)", "(job $0)"))
    domain = load_jobs_domain(data_home=home)
    assert types_in(domain, "ibm", "secret") == ["platform", ""] and domain.constants_of(["ibm"]) == ("IBM", "ibm")
    for name, text in (("jobs.types.txt", "job x\n"), ("jobs.lexicon.txt", "parse(N_CONSTANT, x).\n")):
        path = home / "jobs" / name
        old = path.read_text()
        path.write_text(text)
        with pytest.raises(CorpusError, match=f"{name}, line 1: expected"):
            load_jobs_domain(data_home=home)
        path.write_text(old)


def test_atis_from_small_files(home):
    domain = load_atis_domain(data_home=home)
    assert types_in(domain, "flight", "to", "at", "900:ti", "via") == ["fl -> t", "fl -> pl -> t", "fl -> ti", "ti", ""]
    assert domain.constants_of(["boston"]) == ("boston:ci",) and domain.constants_of(["bos"]) == ("bos:ap",)
    for words in (["ap", "80"], ["ap80"], ["ap/80"]):
        assert domain.constants_of(words) == ("ap_80:rc",)
    assert domain.constants_of(["9", "am"]) == ("900:ti",) and domain.constants_of(["secret"]) == ()
    meaning = parse_meaning("(lambda $0 e (and (flight $0) (to $0 bos:ap) (< (at $0) 900:ti)))")
    assert str(infer_type(meaning, domain)) == "fl -> t"
    (home / "atis" / "np-list.lex").write_text("boston NP boston:ci\n")
    with pytest.raises(CorpusError, match=r"line 1: expected 'words :- NP : constant'"):
        load_atis_domain(data_home=home)
    (home / "atis" / "atis.ontology.txt").write_text("ternary:\tx\n")
    with pytest.raises(CorpusError, match=r"atis.ontology.txt, line 1: expected entity:"):
        load_atis_domain(data_home=home)


def test_files_that_are_missing_are_named(tmp_path):
    (tmp_path / "geoquery").mkdir()
    with pytest.raises(DataNotFoundError, match=r"geo880\.tsv"):
        load_geoquery_domain(data_home=tmp_path)


@pytest.mark.skipif(not Path(HOME, "atis").is_dir() or not HOME, reason="no folder atis under MARGENT_DATA")
@pytest.mark.parametrize("load", [load_geoquery_domain, load_jobs_domain, load_atis_domain])
def test_the_public_ones_survive_their_file(load):
    domain = load()
    for each in (domain, domain.simplified()):
        target = io.BytesIO()
        write_domain(target, each)
        assert read_domain(target.getvalue()) == each
        assert type(each).from_json(each.to_json()) == each
    assert set(domain.simplified().hierarchy.names) == {"e", "i", "t"}
