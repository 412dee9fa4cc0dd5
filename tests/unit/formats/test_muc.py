"""MUC stories: a small file in the format of MUC-7, written here, for the corpus itself is licensed."""

from __future__ import annotations

import gzip

import pytest

from margent.annotation import spans
from margent.errors import CorpusError
from margent.formats import iter_muc, read_muc

STORY = """\
<DOC>
<DOCID> nyt960214.0704 </DOCID>
<STORYID cat=f pri=u> A4479 </STORYID>
<SLUG fv=taf-z> BC-<ENAMEX TYPE="LOCATION">ROME</ENAMEX>-NYT </SLUG>
<DATE> <TIMEX TYPE="DATE">02-14</TIMEX> </DATE>
<NWORDS> 0608 </NWORDS>
<PREAMBLE>
BC-ROME-NYT
</PREAMBLE>
<TEXT>
<p>
\t<ENAMEX TYPE="LOCATION">ROME</ENAMEX> &MD; Mr. <ENAMEX TYPE="PERSON" STATUS="OPT">J. Lee</ENAMEX>'s firm,
<ENAMEX TYPE="ORGANIZATION" MIN="Lee &AMP; Co.">Lee &AMP; Co. of
<ENAMEX TYPE='LOCATION'>Rome</ENAMEX></ENAMEX>, paid <NUMEX TYPE=MONEY>$1.5 million</NUMEX>.  ``It was
<NUMEX TYPE="PERCENT">5 percent</NUMEX>.'' It rose &LR; after <TIMEX TYPE="TIME">5 p.m.</TIMEX>
<p>
Did <ENAMEX TYPE="ORGANIZATION|LOCATION">Chelsea</ENAMEX> win?
Yahoo! of <ENAMEX TYPE="LOCATION">St. Louis</ENAMEX>-based
<ENAMEX TYPE="ORGANIZATION">Guess? Inc.</ENAMEX> lost.
</TEXT>
<TRAILER>
NYT-02-14-96 <TIMEX TYPE="DATE">1645EST</TIMEX>
</TRAILER>
</DOC>
"""


def found(document):
    return [(" ".join(document.tokens[a:b]), kind) for a, b, kind in spans(document.labels)]


def test_sentences_and_entities_of_the_text():
    documents = list(iter_muc(STORY.encode()))
    assert [" ".join(d.tokens) for d in documents] == [
        "ROME -- Mr. J. Lee 's firm , Lee & Co. of Rome , paid $ 1.5 million .",
        "` ` It was 5 percent . ' '",
        "It rose after 5 p.m.",
        "Did Chelsea win ?",
        "Yahoo !",
        "of St. Louis - based Guess ? Inc. lost .",
    ]
    assert [found(d) for d in documents] == [
        [
            ("ROME", "LOCATION"),
            ("J. Lee", "PERSON"),
            ("Lee & Co. of Rome", "ORGANIZATION"),  # the outer of two
            ("$ 1.5 million", "MONEY"),
        ],
        [("5 percent", "PERCENT")],
        [("5 p.m.", "TIME")],
        [("Chelsea", "ORGANIZATION")],  # the first of two alternatives
        [],
        [("St. Louis", "LOCATION"), ("Guess ? Inc.", "ORGANIZATION")],  # no cut within an entity
    ]


def test_offsets_point_into_the_sentence():
    for document in iter_muc(STORY.encode()):
        assert document.text.startswith(document.tokens[0]) and document.text.endswith(document.tokens[-1])


def test_other_parts_and_schemes(tmp_path):
    path = tmp_path / "keys.gz"
    path.write_bytes(gzip.compress(2 * STORY.encode()))
    documents = list(iter_muc(path, parts=["slug", "DATE", "TRAILER"], scheme="iobes"))
    assert [f for d in documents for f in found(d)] == 2 * [
        ("ROME", "LOCATION"),
        ("02 - 14", "DATE"),
        ("1645EST", "DATE"),
    ]
    assert documents[0].labels == ["O", "O", "S-LOCATION", "O", "O"]


def test_columns():
    X, y = read_muc(STORY.encode()).split()
    assert (X[3], y[3]) == (["Did", "Chelsea", "win", "?"], ["O", "B-ORGANIZATION", "O", "O"])
    assert len(read_muc(b"")) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Rome\n<DOC>", "line 1: found 'Rome' outside of a story, expected <DOC>"),
        ("<DOC>\n<TEXT>\n", "line 1: found <DOC> without </DOC>, the file is cut off"),
        ("<DOC>\n<TEXT>\n<DOC>\n", "line 3: found <DOC> before the story of line 1 ended"),
        ("<DOC>\n<TEXT>\na\n</DOC>", "line 4: found </DOC>, expected </TEXT> before it"),
        (
            '<DOC>\n<TEXT>\n<ENAMEX TYPE="DATE">a</ENAMEX>\n</TEXT></DOC>',
            "line 3: found the type 'DATE' of <ENAMEX>, ex",
        ),
        (
            "<DOC>\n<TEXT>\n<ENAMEX>a</ENAMEX>\n</TEXT></DOC>",
            "line 3: found the type '' of <ENAMEX>, expected PERSON or",
        ),
        ('<DOC><TEXT>\n<TIMEX TYPE="DATE">a\n</TEXT></DOC>', "line 3: found </TEXT>, expected </TIMEX> before it"),
        ('<DOC><TEXT>\n<TIMEX TYPE="DATE">a</NUMEX></TEXT></DOC>', "line 2: found </NUMEX>, expected </TIMEX> here"),
        ("<DOC><TEXT>\n</NUMEX></TEXT></DOC>", "line 2: found </NUMEX>, expected no end of an entity here"),
        ("<DOC>\n<HL>a</HL>\n</DOC>", "line 1: found a story with <HL>, expected <TEXT> or <TXT> in it"),
        ("<DOC>\n<BODY>a</BODY>\n</DOC>", "line 1: found a story with none of the known parts, expected <TEXT> or"),
    ],
)
def test_wrong_markup_is_named_with_its_line(text, message):
    with pytest.raises(CorpusError) as caught:
        list(iter_muc(text.encode()))
    assert message in str(caught.value)


def test_unknown_parts():
    with pytest.raises(CorpusError, match="parts names 'BODY', expected some of SLUG, DATE"):
        list(iter_muc(b"", parts=["body"]))


MUC6 = """\
<DOC id="1">
<DOCNO> 930119-0013. </DOCNO>
<HL> <ENAMEX TYPE="ORGANIZATION">Acme</ENAMEX> Names a Chief </HL>
<DD> <TIMEX TYPE="DATE">01/19/93</TIMEX> </DD>
<DATELINE> <ENAMEX TYPE="LOCATION">ROME</ENAMEX> </DATELINE>
<TXT>
<p> <s><ENAMEX TYPE="PERSON">Ann Lee</ENAMEX> leads it.</s>
</TXT>
</doc>
"""


def test_stories_of_muc_6():
    assert [found(d) for d in iter_muc(MUC6.encode())] == [[("Ann Lee", "PERSON")]]
    documents = iter_muc(MUC6.encode(), parts=["HL", "dd", "DATELINE"])
    assert [f for d in documents for f in found(d)] == [
        ("Acme", "ORGANIZATION"),
        ("01 / 19 / 93", "DATE"),
        ("ROME", "LOCATION"),
    ]


def test_one_part_may_be_given_by_name():
    assert [found(d) for d in iter_muc(MUC6.encode(), parts="DATELINE")] == [[("ROME", "LOCATION")]]


def test_another_encoding_is_named():
    with pytest.raises(CorpusError, match=r"line 1: the text is not valid utf-8.*encoding"):
        read_muc("<DOC><TEXT>é</TEXT></DOC>".encode("latin-1"))
    assert len(read_muc("<DOC><TEXT>é</TEXT></DOC>".encode("latin-1"), encoding="latin-1")) == 1
