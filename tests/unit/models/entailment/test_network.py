"""The network against plain recursion, its gradients against finite differences, its files and its edges."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import margent
from margent import Adam, BinaryTree, EntailmentClassifier, Network, WordVectors
from margent.datasets import make_entailment
from margent.errors import CapabilityError, CorpusError
from margent.models.entailment.data import PairData
from margent.models.entailment.network.batch import EncodedTrees, PairBatch
from margent.models.entailment.network.network_weights import NetworkWeights
from margent.models.entailment.network.parameters import parts_of, shapes_of
from margent.models.entailment.network.vocabulary import Vocabulary
from oracle import tree_network as twin

torch = pytest.importorskip("torch", reason="networks need torch")

from margent.models.entailment.network.forward import forward, pair_losses  # noqa: E402
from margent.models.entailment.network.oracle import NetworkOracle  # noqa: E402
from margent.models.entailment.network.tree_lstm import tree_states  # noqa: E402

PAIRS = [
    ("( ( the old ) ( cat sleeps ) )", "( ( a cat ) sleeps )"),
    ("rain", "( it rains )"),
    ("( it ( is ( very wet ) ) )", "rain"),
    ("wet", "wet"),
]
DATA = PairData.of([tuple(map(BinaryTree.from_brackets, pair)) for pair in PAIRS])
SMALL = Network(size=3, relation=4, words=5, min_count=1, dropout=0, start=0.5)
TREES = [
    {"composition": composition, "attention": attention, "dual": dual}
    for composition, attention, dual in product(("lstm", "rnn"), ("difference", "affine"), (False, True))
]
OTHERS: list[dict[str, Any]] = [
    {"composition": "none"},
    *({"composition": "none", "encoder": encoder} for encoder in ("sequence", "decomposable", "esim")),
    {"alignment": "sampled"},
    {"alignment": "sampled", "gradient": "straight-through", "dual": False},
    {"unknown": "spelling", "output": "tanh"},
]


def made(network: Network, n_labels: int = 3) -> NetworkWeights:
    weights = NetworkWeights(network, Vocabulary(None), 0, np.zeros(0, np.float32))
    return weights.grown(DATA, n_labels, True, 0)


def batch_of(weights: NetworkWeights, numbers: list[int]) -> PairBatch:
    encoded = EncodedTrees.of(DATA, weights.vocabulary, weights.network.unknown == "spelling")
    return PairBatch.of(encoded, np.array(numbers), weights.network.encoder != "tree")


@pytest.mark.parametrize("changes", TREES, ids=lambda changes: "-".join(map(str, changes.values())))
def test_levels_are_the_recursion(changes):
    weights = made(replace(SMALL, **changes))
    w = {name: part.astype(np.float64) for name, part in parts_of(weights.values, weights.shapes).items()}
    tensors = {name: torch.tensor(part) for name, part in w.items()}
    found = forward(weights.network, tensors, None, batch_of(weights, [0, 1, 2, 3]))
    for i, (premise, hypothesis) in enumerate(zip(DATA.premises, DATA.hypotheses)):
        sides = []
        for tree in (premise, hypothesis):
            words = [w["words"][number] for number in weights.vocabulary.numbers(tree.words)]
            sides.append(twin.meanings(words, list(tree.parts), w))
        P, Q = sides
        A = twin.alignment(P, Q, w, changes["attention"] == "affine", changes["dual"])
        E = twin.relations(P, Q, list(hypothesis.parts), A, w, changes["composition"] == "rnn")
        seen = found.alignment[i, : len(Q)].numpy()
        assert np.column_stack([seen[:, : len(P)], seen[:, -1]]) == pytest.approx(A, abs=1e-9)
        logits = np.array(E) @ w["output.W"].T + w["output.b"]
        assert found.relations[i, : len(Q)].numpy() == pytest.approx(logits, abs=1e-9)
        assert found.logits[i].numpy() == pytest.approx(logits[-1], abs=1e-9)
        if changes["attention"] == "affine" and not changes["dual"]:  # as printed: one alignment for all nodes
            assert pytest.approx(np.repeat(A[:1], len(Q), axis=0)) == A


def test_sequences_are_the_recursion():
    weights = made(replace(SMALL, encoder="sequence", composition="none"))
    w = {name: part.astype(np.float64) for name, part in parts_of(weights.values, weights.shapes).items()}
    found = forward(
        weights.network, {name: torch.tensor(part) for name, part in w.items()}, None, batch_of(weights, [2, 0])
    )
    for place, i in enumerate((2, 0)):
        p, q = (
            twin.sequence([w["words"][number] for number in weights.vocabulary.numbers(tree.words)], w)
            for tree in (DATA.premises[i], DATA.hypotheses[i])
        )
        joint = np.concatenate([p, q, np.abs(p - q), p * q]) @ w["joint.W"] + w["joint.b"]
        wanted = w["output.W"] @ np.tanh(joint) + w["output.b"]
        assert found.logits[place].numpy() == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("simple", [False, True])
def test_gradients_of_cells_are_finite_differences(simple):
    weights = made(SMALL)
    levels = batch_of(weights, [0, 1, 2, 3]).levels
    k = 3
    generator = torch.Generator().manual_seed(0)
    G = torch.randn((levels.n_nodes, k if simple else 5 * k), generator=generator, dtype=torch.double)
    U = torch.randn((2 * k, G.shape[1]), generator=generator, dtype=torch.double)
    children = torch.as_tensor(levels.children)
    assert torch.autograd.gradcheck(
        lambda G, U: tree_states(G, U, levels.ptr.tolist(), children, simple=simple),
        (G.requires_grad_(), U.requires_grad_()),
    )


@pytest.mark.parametrize("changes", [*TREES, *OTHERS], ids=str)
def test_gradients_of_the_loss_are_finite_differences(changes):
    """Of all weights, among them those of alignments; where something is drawn, with the same draws."""
    weights = made(replace(SMALL, **changes))
    shapes, right = weights.shapes, np.array([0, 2, 1, 0])
    oracle = NetworkOracle(
        weights.network, shapes, weights.values.astype(np.float64), None, weights.encoded(DATA), right
    )
    examples = np.array([0, 1, 2, 3])
    if changes.get("alignment") == "sampled":  # not the derivative of what it returns
        _, gradient = oracle.gradient(examples, 5)
        assert np.isfinite(gradient.numpy()).all() and float((gradient * gradient).sum()) > 0
        return
    loss, gradient = oracle.gradient(examples, 5)
    gradient = gradient.clone()
    random = np.random.default_rng(0)
    for _ in range(4):
        direction = torch.tensor(random.normal(size=len(gradient)))
        values = []
        for step in (1e-6, -2e-6):
            oracle.values += step * direction
            values.append(oracle.gradient(examples, 5)[0] / 4)
        oracle.values += 1e-6 * direction
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(float(gradient @ direction), rel=1e-4, abs=1e-7)
    assert loss > 0


def test_the_score_function_is_an_estimate_of_the_gradient():
    """Its mean over many draws is the derivative of the expected loss, which enumeration of alignments gives."""
    network = replace(SMALL, alignment="sampled", dual=True)
    weights = made(network)
    tensors = {
        name: torch.tensor(part.astype(np.float64)).requires_grad_()
        for name, part in parts_of(weights.values, weights.shapes).items()
    }
    batch = batch_of(weights, [1])  # a hypothesis of three nodes, a premise of one and null
    right = torch.tensor([1])
    soft = forward(replace(network, alignment="expected"), tensors, None, batch).alignment[0]
    total = torch.zeros((), dtype=torch.double)
    for choice in product(range(2), repeat=3):
        hard = torch.nn.functional.one_hot(torch.tensor(choice), 2).double()
        share = (soft * hard).sum(1).prod()
        total = total + share * _loss_of(network, tensors, batch, hard[None], right)
    wanted = torch.autograd.grad(total, tensors["attention.v"])[0]
    generator, mean, n = torch.Generator().manual_seed(0), torch.zeros_like(wanted), 4000
    for _ in range(n):
        found = forward(network, tensors, None, batch, generator)
        _, objective = pair_losses(torch, found, right)
        mean += torch.autograd.grad(objective.sum(), tensors["attention.v"])[0] / n
    scale = float(wanted.abs().max())
    assert scale > 0 and float((mean - wanted).abs().max()) < 0.25 * scale + 0.01


def _loss_of(network: Network, tensors: Any, batch: PairBatch, hard: Any, right: Any) -> Any:
    """-log p of the right label where the alignment is given."""

    class Fixed(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is torch.nn.functional.one_hot:
                return hard
            return func(*args, **(kwargs or {}))

    with Fixed():
        found = forward(network, tensors, None, batch)
    return torch.nn.functional.cross_entropy(found.logits, right)


@pytest.mark.parametrize("changes", [{}, *OTHERS], ids=str)
def test_networks_learn_are_stored_and_say_the_same_again(changes, tmp_path):
    X, y, _ = make_entailment(24, seed=2)
    model = EntailmentClassifier(
        network=replace(SMALL, dropout=0.1, **changes), learner=Adam(epochs=3, learning_rate=0.02, batch=8), seed=3
    ).fit(X, y, progress=False)
    again = EntailmentClassifier(**model.get_params(deep=False)).fit(X, y, progress=False)
    assert (again.weights_.values == model.weights_.values).all()  # the same seed, the same bits
    assert model.history_[-1]["loss"] < model.history_[0]["loss"]
    model.save(tmp_path / "m")
    other = margent.load(tmp_path / "m")
    assert other.predict(X) == model.predict(X) and other.network == model.network
    shares = model.predict_proba(X)
    assert shares.sum(axis=1) == pytest.approx(1) and model.calibrated_
    one = model.predict_proba(X[5:6])[0]
    assert one == pytest.approx(shares[5], abs=1e-5)  # whatever is answered with it
    for found, (_, hypothesis) in zip(model.predict_marginals(X[:3]), X):
        assert found.relations.shape == (hypothesis.n_nodes, 3)
        assert found.relations.sum(axis=1) == pytest.approx(1) and found.alignment.sum(axis=1) == pytest.approx(1)
    why = model.explain(X[0])
    assert why.alignment_svg().startswith("<svg ") and why.composition_svg().count("<rect") > why.hypothesis.n_nodes
    model.partial_fit([("a new idea", "an idea")], ["paraphrase"], progress=False)
    assert "paraphrase" in model.classes_ and len(model.history_) == 6


def test_vectors_of_words_stay_and_others_are_learned(tmp_path):
    vectors = WordVectors(["cat", "dog"], np.array([[1.0, 0.0], [0.0, 1.0]], np.float16))
    X = [("the cat", "The dog"), ("the dog", "the cat"), ("a cat", "the CAT")]
    y = ["no", "no", "yes"]
    model = EntailmentClassifier(network=SMALL, vectors=vectors, learner=Adam(epochs=1)).fit(X, y, progress=False)
    vocabulary = model.weights_.vocabulary
    assert vocabulary.learned == ("a", "the") and vocabulary.numbers(["dog", "CAT", "The", "?"]).tolist() == [
        4,
        3,
        2,
        0,
    ]
    model.save(tmp_path / "m")
    assert (margent.load(tmp_path / "m").weights_.vocabulary.given.vectors == vectors.vectors).all()
    assert dict(shapes_of(SMALL, 2, 3, 2))["words"] == (3, 2)


def test_what_does_not_fit_is_refused():
    X, y, _ = make_entailment(4, seed=2)
    with pytest.raises(CapabilityError, match="Perceptron"):
        EntailmentClassifier(network=SMALL, learner=margent.Perceptron()).fit(X, y)
    with pytest.raises(CapabilityError, match="Adam"):
        EntailmentClassifier(learner=Adam()).fit(X, y)
    with pytest.raises(ValueError, match="composition of Network should be 'none' where encoder is 'sequence'"):
        Network(encoder="sequence")
    with pytest.raises(ValueError, match="are for a network, and network is None"):
        EntailmentClassifier(vectors="x").fit(X, y)
    with pytest.raises(TypeError, match=r"should be Network\(...\) or None"):
        EntailmentClassifier(network=3).fit(X, y)
    with pytest.raises(CorpusError, match="has no words"):
        EntailmentClassifier(network=SMALL).fit([("", "a")], ["x"])
    model = EntailmentClassifier(network=SMALL, learner=Adam(epochs=1)).fit(X, y, progress=False)
    with pytest.raises(ValueError, match="partial_fit continues as training began"):
        model.set_params(network=None, learner=None).partial_fit(X, y)
