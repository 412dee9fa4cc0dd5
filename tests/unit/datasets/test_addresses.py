"""Generated addresses: the same on every machine, well labelled, varied, and as hard as the noise says."""

from __future__ import annotations

import hashlib
import json
import re
from itertools import islice, pairwise

import pytest

from margent.datasets.address_grammar import COMMON, COUNTRIES
from margent.datasets.addresses import ADDRESS_COUNTRIES, iter_addresses, make_addresses

LABELS = {"NAME", "ORG", "POBOX", "HOUSE", "STREET", "UNIT", "POSTCODE", "CITY", "REGION", "COUNTRY"}


def spans(tokens: list[str], labels: list[str]) -> list[tuple[str, str]]:
    found: list[tuple[str, list[str]]] = []
    for token, label in zip(tokens, labels):
        if label.startswith("B-"):
            found.append((label[2:], [token]))
        elif label != "O":
            found[-1][1].append(token)
    return [(label, " ".join(words)) for label, words in found]


def test_the_stream_never_changes() -> None:
    """A changed rule changes what published figures were measured on: change this sum only on purpose."""
    corpus = [make_addresses(300, seed=seed, noise=noise) for seed, noise in [(0, 0.1), (1, 0.0), (2, 1.0)]]
    assert (
        hashlib.sha256(json.dumps(corpus).encode()).hexdigest()
        == "8b664e38ca4c197cc24ef5a2e7291bc0870d0a02af7ae4af1621254e1f78c639"
    )


def test_seed_decides() -> None:
    assert make_addresses(50, seed=3) == make_addresses(50, seed=3)
    assert make_addresses(50, seed=3) != make_addresses(50, seed=4)
    assert make_addresses(50, noise=0) != make_addresses(50, noise=0.5)


@pytest.mark.parametrize("n", [0, 1, 7, 200])
def test_make_is_the_beginning_of_iter(n: int) -> None:
    sentences, labels = make_addresses(n, seed=5, noise=0.2)
    assert list(zip(sentences, labels)) == list(islice(iter_addresses(5, noise=0.2), n))
    longer = make_addresses(n + 3, seed=5, noise=0.2)
    assert (longer[0][:n], longer[1][:n]) == (sentences, labels)


@pytest.mark.parametrize("noise", [0.0, 0.1, 1.0])
def test_labels_are_valid_iob2(noise: float) -> None:
    seen = set()
    for tokens, labels in zip(*make_addresses(2000, seed=11, noise=noise)):
        assert len(tokens) == len(labels) >= 2
        assert all(token and not re.search(r"\s|[{}^|]", token) for token in tokens)
        for previous, label in zip(["O", *labels], labels):
            assert label == "O" or label[:2] in ("B-", "I-")
            assert not label.startswith("I-") or previous[2:] == label[2:]
        assert sum(label.startswith("B-") for label in labels) >= 2
        assert labels[-1] != "O" and tokens[0] not in {",", "-", "/"}
        assert all((first, second) != (",", ",") for first, second in pairwise(tokens))
        seen.update(label[2:] for label in labels if label != "O")
    assert seen == LABELS


def test_no_part_occurs_twice() -> None:
    for tokens, labels in zip(*make_addresses(1000, noise=0.5)):
        kinds = [kind for kind, _ in spans(tokens, labels)]
        assert len(kinds) == len(set(kinds))


@pytest.mark.parametrize(
    ("country", "pattern"),
    [
        ("us", r"\d{5}(-\d{4})?"),
        ("gb", r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"),
        ("de", r"(D-)?\d{5}"),
        ("fr", r"(F-)?\d{5}"),
        ("es", r"(E-)?\d{5}"),
        ("in", r"\d{3} ?\d{3}"),
        ("br", r"\d{2}\.?\d{3}-?\d{3}"),
        ("nl", r"(NL-)?\d{4} ?[A-Z]{2}"),
    ],
)
def test_postcodes_are_those_of_the_country(country: str, pattern: str) -> None:
    sentences, labels = make_addresses(300, noise=0, countries=[country])
    codes = [text for pair in zip(sentences, labels) for kind, text in spans(*pair) if kind == "POSTCODE"]
    assert len(codes) > 200
    assert all(re.fullmatch(pattern, code) for code in codes)


def test_every_country_is_drawn() -> None:
    _, labels = make_addresses(400, noise=0, countries=["us", "gb"])
    assert any("B-HOUSE" in row for row in labels)
    names = {text for pair in zip(*make_addresses(2000, noise=0)) for kind, text in spans(*pair) if kind == "COUNTRY"}
    assert {"USA", "UK", "Deutschland", "France", "España", "India", "Brasil", "Nederland"} <= names


def test_words_are_ambiguous_and_the_vocabulary_is_endless() -> None:
    sentences, labels = make_addresses(6000, noise=0)
    kinds: dict[str, set[str]] = {}
    for pair in zip(sentences, labels):
        for kind, text in spans(*pair):
            for word in text.split():
                kinds.setdefault(word, set()).add(kind)
    assert {"NAME", "STREET", "CITY", "ORG"} <= kinds["Paris"]
    assert {"NAME", "STREET", "CITY", "REGION"} <= kinds["Washington"]
    halves = [{word for row in half for word in row if word.isalpha()} for half in (sentences[:3000], sentences[3000:])]
    assert len(halves[1] - halves[0]) > 300


def test_noise_is_what_it_says() -> None:
    clean, dirty = (make_addresses(1000, noise=noise)[0] for noise in (0, 1))
    assert sum(row.count(",") for row in clean) > 1500
    assert not any(" ".join(row).islower() for row in clean)
    assert sum(" ".join(row).islower() for row in dirty) > 500
    assert sum(" ".join(row).isupper() for row in dirty) > 200


def test_every_rule_that_is_named_exists() -> None:
    common = set(re.findall(r"^(\w+) = ", COMMON, re.MULTILINE))
    for country, grammar in COUNTRIES.items():
        defined = common | set(re.findall(r"^(\w+) = ", grammar, re.MULTILINE))
        used = set(re.findall(r"\{(\w+)\}", grammar)) | set(re.findall(r"\b[A-Z]+:(\w+)", grammar))
        assert used <= defined, country
        assert defined - common - used == {"address"}, country


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": -1}, "n must be at least 0"),
        ({"noise": 1.5}, "noise must be between 0 and 1"),
        ({"noise": float("nan")}, "noise must be between 0 and 1"),
        ({"countries": ["us", "atlantis"]}, "countries must be some of us, gb"),
        ({"countries": []}, "countries must be some of"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_addresses(**{"n": 3, **options})  # type: ignore[arg-type]


def test_wrong_options_are_found_before_the_first_address() -> None:
    with pytest.raises(ValueError):
        iter_addresses(0, noise=2)
    assert set(ADDRESS_COUNTRIES) == set(COUNTRIES)
