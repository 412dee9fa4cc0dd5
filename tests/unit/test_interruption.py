"""Ctrl-C is answered within a second, whatever native code is at work."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import margent
from margent import _core
from margent.datasets import make_phrases, make_trees
from margent.structures import arcs, chain, segments
from margent.structures.forest import ForestBuilder

Work = Callable[[], object]


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def best_of_a_chain() -> Work:
    """Of the second order: what a labelling of 200,000 tokens takes most of its time for."""
    scores = chain.ChainScores(zeros(1000, 200), zeros(201**2, 200))
    return lambda: chain.best(scores)


def best_of_a_wide_chain() -> Work:
    scores = chain.ChainScores(zeros(8000, 2000), zeros(2001, 2000))
    return lambda: chain.best(scores)


def k_best_of_a_chain() -> Work:
    scores = chain.ChainScores(np.random.default_rng(0).normal(size=(2000, 50)), np.zeros((51**2, 50)))
    return lambda: chain.k_best(scores, 20_000)


def marginals_of_a_chain() -> Work:
    scores = chain.ChainScores(zeros(2000, 60), zeros(61**2, 60))
    return lambda: chain.marginals(scores, pairs=False)


def samples_of_a_chain() -> Work:
    scores = chain.ChainScores(zeros(10_000, 40), zeros(41, 40))
    return lambda: chain.sample(scores, 3000)


def long_sentence(n_labels: int, times: int = 1) -> tuple[list[list[str]], list[list[str]]]:
    words = [f"w{i}" for i in range(n_labels)] * times
    return [words], [[word.upper() for word in words]]


def tagging(method: str, *arguments: Any, n_labels: int = 1500, times: int = 8, **parameters: Any) -> Work:
    """One sentence, and a model that knows many labels."""
    tagger = margent.Tagger(learner=margent.Perceptron(epochs=1), threads=1, **parameters)
    tagger.fit(*long_sentence(n_labels), progress=False)
    X, _ = long_sentence(n_labels, times)
    return lambda: getattr(tagger, method)(X, *arguments)


def predicted_marginals() -> Work:
    """In single precision, by kernels that see the sentence as a whole."""
    return tagging("predict_marginals")


def predicted_by_threads() -> Work:
    """The thread that asks for signals has little to do, and waits for the other."""
    tagger = margent.Tagger(learner=margent.Perceptron(epochs=1), order=2, threads=2)
    tagger.fit(*long_sentence(100), progress=False)
    [words], _ = long_sentence(100, 200)
    return lambda: tagger.predict([words[:10], words])


def predicted_spans() -> Work:
    tagger = margent.Tagger(learner=margent.Perceptron(epochs=1), order=2, threads=1)
    labels = [f"{kind}-{i}" for i in range(40) for kind in "BI"]
    words = [label.lower() for label in labels]
    tagger.fit([words], [labels], progress=False)
    return lambda: tagger.predict_spans([words * 40])


def hidden_labels() -> Work:
    return tagging("predict_k_best", 100, n_labels=20, times=200, hidden=3, order=2)


def beam_of_labels() -> Work:
    return tagging("predict", n_labels=300, times=500, search=margent.Beam(1000), order=2)


def training(learner: Any, n_labels: int = 60, times: int = 60, **parameters: Any) -> Work:
    tagger = margent.Tagger(learner=learner, threads=2, **parameters)
    X, y = long_sentence(n_labels, times)

    def fit() -> None:
        if tagger.fit(X, y, progress=False).interrupted_:  # what it learned so far is kept
            raise KeyboardInterrupt

    return fit


def an_example_of_the_perceptron() -> Work:
    return training(margent.Perceptron(epochs=1), n_labels=200, times=20, order=2)


def an_example_of_the_k_best() -> Work:
    return training(margent.MIRA(epochs=1, k=2000), n_labels=60, times=60)


def an_evaluation_of_the_likelihood() -> Work:
    return training(margent.CRF(epochs=1), order=2)


def a_step_of_the_likelihood() -> Work:
    return training(margent.CRF(epochs=1, method="sgd", eta=0.1), order=2)


def segment_scores(length: int, longest: int, n_labels: int = 8) -> Any:
    return segments.SegmentScores(
        np.zeros((n_labels, n_labels)), durations=np.zeros((longest, n_labels)), length=length
    )


def best_of_segments() -> Work:
    scores = segment_scores(200_000, 8000)
    return lambda: segments.best(scores)


def k_best_of_segments() -> Work:
    scores = segment_scores(500, 500)
    return lambda: segments.k_best(scores, 20_000)


def marginals_of_segments() -> Work:
    scores = segment_scores(50_000, 1000)
    return lambda: segments.marginals(scores)


def samples_of_segments() -> Work:
    scores = segment_scores(3000, 3000)
    return lambda: segments.sample(scores, 5000)


def long_forest() -> Any:
    """A chain of 2,000 nodes with two edges into each."""
    builder = ForestBuilder()
    node = builder.add_node()
    builder.add_edge(node)
    for _ in range(2000):
        above = builder.add_node()
        for score in (0.0, -0.1):
            builder.add_edge(above, [node], score)
        node = above
    return builder.build()


def k_best_of_a_forest() -> Work:
    forest = long_forest()
    return lambda: forest.k_best(30_000)


def samples_of_a_forest() -> Work:
    forest = long_forest()
    return lambda: forest.sample(60_000)


def projective_tree() -> Work:
    n = 201
    scores = arcs.ArcScores(np.zeros((n, n)), grandparents=np.zeros((n, n, n)))
    return lambda: arcs.best(scores)


def sum_of_spanning_trees() -> Work:
    scores = arcs.ArcScores(np.zeros((2501, 2501)), projective=False)
    return lambda: arcs.log_partition(scores)


def k_best_spanning_trees() -> Work:
    scores = arcs.ArcScores(np.random.default_rng(0).normal(size=(301, 301)), projective=False)
    return lambda: arcs.k_best(scores, 1000)


def transcriber(**parameters: Any) -> Any:
    words = ["abcdefgh", "hgfedcba", "adgbehcf"]
    spoken = [list(word.upper()) for word in words]
    return margent.Transcriber(order=3, **parameters).fit(words, spoken, progress=False)


def transcription() -> Work:
    model = transcriber()
    word = "abcdefgh" * 20_000
    return lambda: model.predict([word] * 20)


def alignment() -> Work:
    model = transcriber()
    words = ["abcdefgh" * 100] * 5000
    spoken = [list(word.upper()) for word in words]
    return lambda: model.align(words, spoken)


def expected_graphones() -> Work:
    model = margent.Transcriber(order=4)
    words = [("abcdefgh" * 12)[i % 8 :] for i in range(5000)]
    return lambda: model.fit(words, [list(word.upper()) for word in words], progress=False)


def reading() -> Work:
    text = b"#\n" * 250_000_000
    return lambda: _core.ColumnParser(comment="#").feed(text)


def rows_from_python() -> Work:
    sentences = [[("a", "b", "c")] * 1000] * 50_000
    return lambda: _core.ColumnTable.from_rows(sentences)


def rows_to_python() -> Work:
    table = _core.ColumnTable.from_rows([[("a", "b", "c")] * 1000])
    indices, columns = np.zeros(20_000, np.int64), np.arange(3)
    return lambda: _core.ColumnTable.sentences(table, indices, columns)


def writing() -> Work:
    table = _core.ColumnTable.from_rows([[("a", "b", "c")] * 1000])
    part = (table, np.zeros(100_000, np.int64), np.arange(3))
    return lambda: _core.format_columns([part], " ")


def attributes() -> Work:
    tagger = margent.Tagger(features="attributes", learner=margent.Perceptron(epochs=1))
    sentence = [{f"name{i}": 0.5 for i in range(50)}] * 1000
    tagger.fit([sentence], [["A", "B"] * 500], progress=False)
    return lambda: tagger.predict([sentence] * 2000)


def templates() -> Work:
    tagger = margent.Tagger(learner=margent.Perceptron(epochs=1))
    sentence = ["a", "b"] * 5000
    tagger.fit([sentence], [["A", "B"] * 5000], progress=False)
    columns = margent.Columns.from_sentences([sentence] * 1000)
    return lambda: tagger.feature_map_.encode(columns)


TREES, PHRASES = make_trees(60, seed=1), make_phrases(60, seed=1)


def parsing(method: str, *arguments: Any, n: int = 990, times: int = 20, **parameters: Any) -> Work:
    """Sentences of some hundred words."""
    parser = margent.Parser(learner=margent.Perceptron(epochs=1), threads=1, **parameters)
    parser.fit(*TREES, progress=False)
    sentence = [token for sentence in TREES[0] * 3 for token in sentence][:n]
    return lambda: getattr(parser, method)([sentence] * times, *arguments)


def trees_of_pairs_of_arcs() -> Work:
    return parsing("predict")


def probabilities_of_arcs() -> Work:
    return parsing("predict_marginals", order=1, times=60)


def k_best_trees_of_pairs_of_arcs() -> Work:
    return parsing("predict_k_best", 50)


def trees_by_a_beam() -> Work:
    return parsing("predict", search=margent.Beam(64), times=200)


def training_parser(learner: Any, **parameters: Any) -> Work:
    parser = margent.Parser(learner=learner, threads=2, **parameters)
    X, y = (list(each) * 60 for each in TREES)

    def fit() -> None:
        if parser.fit(X, y, progress=False).interrupted_:
            raise KeyboardInterrupt

    return fit


def a_filter_of_arcs() -> Work:
    return training_parser(margent.Perceptron(epochs=1), order=1)


def taggers_of_a_parser() -> Work:
    """In threads of Python, which hear of no signal."""
    tagger = margent.Tagger(features="pos", learner=margent.CRF(epochs=100_000, tol=0.0))
    return training_parser(margent.Perceptron(epochs=1), tagger=tagger)


def a_likelihood_of_actions() -> Work:
    """Its parameters are found by searches before the first step."""
    return training_parser(margent.CRF(epochs=1, search="beam", method="sgd"), search=margent.Beam(64))


def phrases(method: str, *arguments: Any, n: int, times: int, pruning: float) -> Work:
    parser = margent.PhraseParser(learner=margent.Perceptron(epochs=1), pruning=pruning, threads=1)
    parser.fit(*PHRASES, progress=False)
    sentence = [word for sentence in PHRASES[0] * 6 for word in sentence][:n]
    return lambda: getattr(parser, method)([sentence] * times, *arguments)


def trees_of_phrases() -> Work:
    return phrases("predict", n=1500, times=20, pruning=8.0)


def k_best_trees_of_phrases() -> Work:
    return phrases("predict_k_best", 20_000, n=300, times=20, pruning=30.0)


def probabilities_of_phrases() -> Work:
    return phrases("predict_marginals", n=700, times=60, pruning=30.0)


WORK: dict[str, Callable[[], Work]] = {
    made.__name__: made
    for made in (
        best_of_a_chain,
        best_of_a_wide_chain,
        k_best_of_a_chain,
        marginals_of_a_chain,
        samples_of_a_chain,
        predicted_marginals,
        predicted_by_threads,
        predicted_spans,
        hidden_labels,
        beam_of_labels,
        an_example_of_the_perceptron,
        an_example_of_the_k_best,
        an_evaluation_of_the_likelihood,
        a_step_of_the_likelihood,
        best_of_segments,
        k_best_of_segments,
        marginals_of_segments,
        samples_of_segments,
        k_best_of_a_forest,
        samples_of_a_forest,
        projective_tree,
        sum_of_spanning_trees,
        k_best_spanning_trees,
        transcription,
        alignment,
        expected_graphones,
        reading,
        rows_from_python,
        rows_to_python,
        writing,
        attributes,
        templates,
        trees_of_pairs_of_arcs,
        probabilities_of_arcs,
        k_best_trees_of_pairs_of_arcs,
        trees_by_a_beam,
        a_filter_of_arcs,
        taggers_of_a_parser,
        a_likelihood_of_actions,
        trees_of_phrases,
        k_best_trees_of_phrases,
        probabilities_of_phrases,
    )
}


SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")  # some ten times as slow


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal there")
@pytest.mark.filterwarnings("ignore::margent.errors.CalibrationWarning")
@pytest.mark.parametrize("name", WORK)
def test_ctrl_c_is_answered_within_a_second(name: str) -> None:
    """All of this takes seconds; the timer is of the system, so that it rings while native code has the GIL.

    Seconds of this process are counted, as the machine may do other work. What a callback of the garbage collector
    raises is lost, and some libraries have one: it waits meanwhile.
    """
    work, rings = WORK[name](), 0.2

    def handler(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()
    try:
        started = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, rings)
        with pytest.raises(KeyboardInterrupt):
            work()
        assert time.process_time() - started < rings + (3 if SANITIZED else 1)
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
