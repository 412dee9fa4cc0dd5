"""One training, in a process of its own: from the description of a task to its figures."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import margent
from margent.datasets import Dataset, Part, load_conll2000, load_conll2002, load_ocr_letters, load_treebank_sample
from margent.learners import learner_named
from margent.metrics import span_scores
from papers.experiment import Result, Task, data_fingerprint, generated_addresses

HERE = Path(__file__).parent


def _made_letters() -> Dataset:
    """Six letters of 24 pixels, some of which are wrong; a letter is most often followed by the next one."""
    random = np.random.default_rng(0)
    shapes = random.random((6, 24)) < 0.5
    words = [np.cumsum(random.choice([1, 1, 1, 2, 4], size=5)) % 6 for _ in range(200)]
    X = [(shapes[word] ^ (random.random((len(word), 24)) < 0.2)).astype(np.uint8) for word in words]
    part = Part(X, [["abcdef"[letter] for letter in word] for word in words])
    folds = np.arange(len(words)) % 10
    return Dataset("made-letters", part, None, None, description="Generated letters.", terms="", folds=folds)


LOADERS = {
    "conll2002-esp": load_conll2002,
    "treebank-sample": load_treebank_sample,
    "conll2000": load_conll2000,
    "ocr-letters": load_ocr_letters,
    "addresses": lambda: generated_addresses(400, None, 150),
    "made-letters": _made_letters,
}
_KERNEL, _TAGGER = ("degree", "gamma", "window", "cache_mb"), ("order",)
"""Parameters that are not the learner's."""


@lru_cache(maxsize=1)
def corpus(name: str) -> Dataset:
    return LOADERS[name]()


def fingerprint() -> str:
    """Of the features, so that results with other features are not taken for these."""
    return sha256("\n".join(token_features().lines).encode()).hexdigest()[:8]


def corpus_fingerprint(name: str) -> str:
    """Of the data, for the same name may stand for other files in another folder."""
    return data_fingerprint(corpus(name))


def token_features() -> margent.Templates:
    """What is seen of one token."""
    return margent.Templates.from_file(HERE / "features.txt")


def window_features(window: int) -> margent.Templates:
    """What is seen of the tokens around, each line once for each of them: what a kernel with this window sees."""
    lines = []
    for line in token_features().lines:
        name, equals, cells = line.partition("=")
        for place in range(-(window // 2), window // 2 + 1) if equals else ():
            lines.append(f"{name}[{place:+}]={re.sub(r'%x.0,', f'%x[{place},', cells)}")
        if not equals:
            lines.append(line)
    return margent.Templates(lines)


def window_pixels(X: Any, window: int) -> list[Any]:
    """The pixels of the letters around side by side, zeros beyond the ends: what a kernel with this window sees."""
    reach = window // 2
    padded = [np.pad(x, ((reach, reach), (0, 0))) for x in X]
    return [np.hstack([x[place : len(x) - 2 * reach + place] for place in range(window)]) for x in padded]


# What to learn from, and what to look at


def split(task: Task) -> tuple[Part, Part]:
    """By the part of the experiment that the task belongs to, and whether something is to be chosen."""
    return {"section 8": _folds_split, "curve": _curve_split, "letters": _letters_split}[task["part"]](task)


def _folds_split(task: Task) -> tuple[Part, Part]:
    """Words alone, from a random sample; parameters are chosen on other sentences than the error is measured on."""
    data = corpus(task["corpus"]).train
    n, fold, folds = task["n"], task["fold"], task["folds"]
    first = n if task["choice"] else 0
    sample = np.random.default_rng(0).permutation(len(data.X))[first : first + n]
    held = np.arange(len(sample)) % folds == fold
    train, test = (_words(_take(data, sample[mask])) for mask in (~held, held))
    return train, test


def _curve_split(task: Task) -> tuple[Part, Part]:
    """The first sentences of the training data; to choose, those after the largest size, and as many again."""
    data, n, after = corpus(task["corpus"]), task["n"], task["after"]
    if not task["choice"]:
        assert data.test is not None
        return _take(data.train, range(n)), _take(data.test, range(min(task["n_test"], len(data.test.X))))
    return _take(data.train, range(after, after + n)), _take(data.train, range(after + n, after + 3 * n))


def _letters_split(task: Task) -> tuple[Part, Part]:
    """Fold by fold; parameters are chosen within fold 0, which is then never looked at for an error.

    large: learn from all folds but `fold`, and look at it. Otherwise learn from `fold`, and look at all others but 0.
    To choose: learn from four fifths of fold 0, and look at the last.
    """
    data, fold = corpus(task["corpus"]), task["fold"]
    assert data.folds is not None
    of_fold = [np.flatnonzero(data.folds == f) for f in range(10)]
    if task["n_words"] is not None:  # from all over the fold, for the same word by many writers stands together
        of_fold = [numbers[:: max(len(numbers) // task["n_words"], 1)][: task["n_words"]] for numbers in of_fold]
    if task["choice"]:
        kept = np.arange(len(of_fold[0])) % 5 > 0
        numbers = of_fold[0][kept], of_fold[0][~kept]
    elif task["large"]:
        numbers = np.concatenate([of_fold[f] for f in range(10) if f != fold]), of_fold[fold]
    else:
        numbers = of_fold[fold], np.concatenate([of_fold[f] for f in range(1, 10) if f != fold])
    train, test = (_take(data.train, side) for side in numbers)
    return train, test


def _take(part: Part, numbers: Any) -> Part:
    return Part([part.X[i] for i in numbers], [list(part.y[i]) for i in numbers])


def _words(part: Part) -> Part:
    """The first column alone: the paper has no parts of speech for names."""
    return Part([[token if isinstance(token, str) else token[0] for token in x] for x in part.X], part.y)


# Training


def tagger(task: Task) -> margent.Tagger:
    """As the task says; `split` data of letters are windows already where there is no kernel."""
    parameters, pixels = task["parameters"], task["part"] == "letters"
    own = {name: value for name, value in parameters.items() if name not in (*_KERNEL, *_TAGGER)}
    features: Any = "vectors" if pixels else window_features(task["window"])
    if task["kernel"] is not None:
        shape = {name: parameters[name] for name in _KERNEL if name in parameters}
        of_token = None if pixels else token_features()
        features = margent.Kernel(task["kernel"], features=of_token, **{"window": task["window"], **shape})
    # Nothing here asks for probabilities, and a temperature for them would cost more than the training.
    order = parameters.get("order", 1)
    learner = learner_named(task["learner"], **own)
    return margent.Tagger(features, learner, order=order, calibration=0, threads=task["threads"])


def run_training(task: Task) -> Result:
    """Trains on one part and labels the other, once.

    `wrong` of `tokens`, `f1` of spans where labels spell them, seconds of one processor for both, and `support`:
    features with a weight, which for a kernel are the different support tokens. `right`, where it is to be kept: for
    each token 1 or 0, for McNemar's test.
    """
    train, test = split(task)
    if task["part"] == "letters" and task["kernel"] is None:
        train, test = (Part(window_pixels(part.X, task["window"]), part.y) for part in (train, test))
    model = tagger(task)
    started = time.process_time()
    model.fit(*train, progress=False)
    trained = time.process_time()
    if model.interrupted_:  # a half training is not a result
        raise KeyboardInterrupt
    found = model.predict(test.X)
    predicted = time.process_time()
    right = "".join(str(int(a == b)) for x, y in zip(test.y, found) for a, b in zip(x, y))
    result = {
        "wrong": right.count("0"),
        "tokens": len(right),
        "f1": None if model.scheme_ is None else span_scores(test.y, found).f1,
        "seconds": trained - started,
        "predict_seconds": predicted - trained,
        "support": len(np.unique(model.weights_.entries()[0])),
    }
    if task["keep_right"]:
        result["right"] = right
    if task["keep_example"]:
        result["example"] = support_example(model, *train)
    return result


def support_example(model: margent.Tagger, X: Any, y: Any) -> dict[str, Any]:
    """The training sentence of 10 to 20 tokens, some in spans, with most support sequences, and these: Fig. 2."""
    numbers = [i for i, labels in enumerate(y) if 10 <= len(labels) <= 20 and len(set(labels)) > 2]
    sequences = {i: support_sequences(model, i, y[i]) for i in numbers or range(len(y))}
    chosen = max(sequences, key=lambda i: len(sequences[i]))
    return {"words": list(X[chosen]), "sequences": sequences[chosen]}


def support_sequences(model: Any, example: int, gold: Any) -> list[tuple[list[str], float]]:
    """Labels and weight of each support sequence of a training sentence, the heaviest first.

    Before them the right labels, whose dual variable is the sum of the others: the constraint of (16).
    """
    found = [(list(sequence.labels), sequence.weight) for sequence in model.support_sequences(example).sequences]
    return [(list(gold), sum(weight for _, weight in found)), *found]
