"""What the articles of a news corpus are about: groups of articles with similar words.

`Sevilla` is a club in a report on football and a city elsewhere. The groups are found in the text to learn from alone,
without its labels; other text is put into the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence

TOPICS = 5
_DIMENSIONS = 50


def documents(sentences: Sequence[Sequence[str]]) -> list[int]:
    """The number of the article of each sentence. One begins with place, date and agency: `Lima , 25 may ( EFE ) .`"""
    result: list[int] = []
    for words in sentences:
        begins = 3 < len(words) < 30 and (words[-4], *words[-2:]) == ("(", ")", ".") and words[-3].startswith("EFE")
        result.append(result[-1] + begins if result else 0)
    return result


def topics(train: Sequence[Sequence[str]], other: Sequence[Sequence[str]]) -> tuple[list[str], list[str]]:
    """The topic of each sentence: that of its article, by k-means on the main directions of tf-idf."""
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    weighting = TfidfVectorizer(analyzer=list, min_df=3, max_df=0.3, sublinear_tf=True)
    weights = weighting.fit_transform(_articles(train))
    directions = TruncatedSVD(min(_DIMENSIONS, *weights.shape), random_state=0)
    groups = make_pipeline(directions, Normalizer(), KMeans(min(TOPICS, weights.shape[0]), n_init=5, random_state=0))
    groups.fit(weights)

    def named(sentences: Sequence[Sequence[str]]) -> list[str]:
        found = groups.predict(weighting.transform(_articles(sentences)))
        return [f"T{found[number]}" for number in documents(sentences)]

    return named(train), named(other)


def _articles(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    numbers = documents(sentences)
    result: list[list[str]] = [[] for _ in range(numbers[-1] + 1)]
    for number, words in zip(numbers, sentences):
        result[number] += [word.lower() for word in words]
    return result
