from __future__ import annotations

from papers.kbest.topics import documents, topics

HEADER = ["Lima", "(", "Perú", ")", ",", "25", "may", "(", "EFE", ")", "."]
SPORT, MONEY = ["gol", "equipo", "partido", "árbitro"], ["banco", "bolsa", "euros", "acciones"]


def test_an_article_begins_with_place_date_and_agency():
    text = [
        ["-"],
        HEADER,
        SPORT,
        ["Quito", ",", "1", "jun", "(", "EFECOM", ")", "."],
        ["Lo", "dijo", "(", "EFE", ")", "ayer", "."],
    ]
    assert documents(text) == [0, 1, 1, 2, 2]
    assert documents([]) == []


def test_articles_with_the_same_words_have_one_topic(monkeypatch):
    monkeypatch.setattr("papers.kbest.topics.TOPICS", 3)
    filler = [[HEADER, [f"palabra{number}"]] for number in range(20)]
    articles = [[HEADER, SPORT], [HEADER, MONEY]] * 6
    train = [sentence for article in [*articles, *filler] for sentence in article]
    found, other = topics(train, [HEADER, MONEY, HEADER, SPORT])
    assert len(set(found[0:24:4])) == 1 and len(set(found[2:24:4])) == 1
    assert other[0] == other[1] == found[3] and other[2] == other[3] == found[1] != found[3]
