"""The network of section 5.3.1.2: from words to the relation of every node of the hypothesis, and to the label.

    h_i = LSTM(x_i, h_1, h_2)                               meaning of every node of both trees           (5.6)
    s_ij = v . tanh(W1 |h_i - h_j| + W2 h_j + W3 h_i + b)   or  a . [h_i; h_j]   ("affine", as printed)
    A_ij = exp(s_ij) / sum_t exp(s_it)                      node i of the hypothesis on node j or null    (5.4)
    A*_ij = A_ij R_ij / sum_t A_it R_it                     dual; R_ij over the i, with weights of its own
    e_i = LSTM([h_i; sum_j A*_ij h_j], e_1, e_2)            relation of every node of the hypothesis      (5.5)
    p(y) = softmax(W e_root + b)

Differs: there is a null node, with a learned h, to be aligned to what the premise does not say. The product of the dual
alignment is made to sum to 1 again over the premise, so that the input of (5.5) is a mean of states; the thesis does
not say. The affine form, as printed, gives s_ij = a1 . h_i + a2 . h_j, and a1 . h_i cancels in (5.4): all nodes of the
hypothesis have the same alignment. The form with tanh is what 0.9 million parameters allow for. The softmax takes W e
(output="tanh": tanh of it, as printed, which keeps every probability of three labels below 0.79).

A sampled alignment has one j for each i, drawn from A*. The loss is then -log p(y | A), an upper bound (section
5.3.2.1), and its gradient for A* that of (loss - baseline) log Pr(A): the baseline is the mean loss of the other pairs
of the batch. Outside of training each i takes the most probable j.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from margent.models.entailment.network.batch import PairBatch
from margent.models.entailment.network.options import Network
from margent.models.entailment.network.tree_lstm import torch_module, tree_states
from margent.models.entailment.network.word_attention import word_attention

Tensors = Mapping[str, Any]


@dataclass(frozen=True)
class Forward:
    """logits (B, L); relations (B, q, L) logits of all nodes, alignment (B, q, p + 1), the last column null, each
    None where there are none; log_alignment (B,) of what was sampled, or None."""

    logits: Any
    relations: Any = None
    alignment: Any = None
    log_alignment: Any = None


def forward(network: Network, weights: Tensors, given: Any, batch: PairBatch, generator: Any = None) -> Forward:
    """`given` (V, d): vectors of words that are not learned, or None. `generator`: of what is drawn in training."""
    torch = torch_module()
    device = weights["words"].device

    def put(array: Any) -> Any:
        return torch.as_tensor(array, device=device)

    def dropped(x: Any) -> Any:
        if generator is None or not network.dropout:
            return x
        kept = torch.rand(x.shape, generator=generator, device=device, dtype=x.dtype) >= network.dropout
        return x * kept / (1 - network.dropout)

    x = dropped(_words(torch, weights, given, put(batch.words), batch.spellings, put))
    if network.encoder in ("decomposable", "esim"):
        e, alignment = word_attention(network.encoder, weights, x, batch, put, dropped)
        return Forward(_output(torch, network, weights, dropped(e)), None, alignment)
    b = weights["meaning.b"]
    gates = x @ weights["meaning.W"] + b
    rest = batch.levels.n_nodes - len(gates)
    if rest:
        gates = torch.cat([gates, b.expand(rest, -1)])
    H = tree_states(gates, weights["meaning.U"], batch.levels.ptr.tolist(), put(batch.levels.children))
    if network.composition == "none":
        roots = H[put(batch.levels.roots)]
        n = len(roots) // 2
        p, q = roots[:n], roots[n:]
        joint = dropped(torch.cat([p, q, (p - q).abs(), p * q], 1))
        e = torch.tanh(joint @ weights["joint.W"] + weights["joint.b"])
        return Forward(_output(torch, network, weights, dropped(e)))
    assert batch.relations is not None
    H = dropped(H)
    P = torch.cat([H[put(batch.premise)], weights["null"].expand(len(batch.premise), 1, -1)], 1)
    Q = H[put(batch.hypothesis)]
    block = (Q.shape[0], Q.shape[1], P.shape[1])
    nodes = torch.cat([H, weights["null"][None]])
    log_a, *reverse = (
        torch.full(block, -torch.inf, dtype=s.dtype, device=device)
        .flatten()
        .scatter(0, put(batch.aligned[2]), s)
        .reshape(block)
        for s in scores(torch, network, weights, nodes, *put(batch.aligned[:2]))
    )
    rows = put(batch.hypothesis_mask)[:, :, None]
    log_a = log_a.masked_fill(~rows, 0.0).log_softmax(2)  # rows of no node are not looked at
    if network.dual:
        # Columns of no node are -inf throughout, of which there is no softmax.
        there = torch.cat([put(batch.premise_mask), torch.ones((len(P), 1), dtype=torch.bool, device=device)], 1)
        log_r = reverse[0].masked_fill(~there[:, None, :], 0.0).log_softmax(1)
        log_a = (log_a + log_r.masked_fill(~rows, 0.0)).log_softmax(2)
    A, log_alignment = log_a.exp(), None
    used = A
    if network.alignment == "sampled":
        if generator is None:
            chosen = A.argmax(2)
        else:
            flat = torch.multinomial(A.detach().reshape(-1, A.shape[2]), 1, generator=generator)
            chosen = flat.reshape(A.shape[:2])
        hard = torch.nn.functional.one_hot(chosen, A.shape[2]).to(A.dtype)
        if network.gradient == "straight-through":
            used = hard + A - A.detach()
        else:
            used = hard
            of_chosen = log_a.gather(2, chosen[:, :, None])[:, :, 0]
            log_alignment = (of_chosen * put(batch.hypothesis_mask)).sum(1)
    both = torch.cat([Q, used @ P], 2).flatten(0, 1)[put(batch.places)]
    gates = both @ weights["relation.W"] + weights["relation.b"]
    simple = network.composition == "rnn"
    children = put(batch.relations.children)
    E = tree_states(gates, weights["relation.U"], batch.relations.ptr.tolist(), children, simple=simple)
    logits = _output(torch, network, weights, dropped(E[put(batch.relations.roots)]))
    if generator is not None:
        return Forward(logits, log_alignment=log_alignment)
    relations = _output(torch, network, weights, E)
    spread = relations.new_zeros((Q.shape[0] * Q.shape[1], relations.shape[1]))
    spread[put(batch.places)] = relations
    return Forward(logits, spread.reshape(Q.shape[0], Q.shape[1], -1), A if used is A else used)


def _words(torch: Any, weights: Tensors, given: Any, words: Any, spellings: Any, put: Any) -> Any:
    """(W, d): learned vectors, and given ones after them."""
    n = len(weights["words"])
    x = weights["words"][words.clamp(max=n - 1)]
    if spellings is not None:
        spelled = x + weights["spellings"][put(spellings)].mean(1)
        x = torch.where((words == 0)[:, None], spelled, x)
    if given is not None:
        x = torch.where((words >= n)[:, None], given[(words - n).clamp(min=0)], x)
    return x


def scores(torch: Any, network: Network, weights: Tensors, nodes: Any, i: Any, j: Any) -> Any:
    """s_ij (E,) of nodes i of hypotheses with nodes j of premises, and with `dual` those of the other direction.

    Both directions are one product of matrices: it is most of the work, E k^2."""
    names = ["attention", "reverse"] if network.dual else ["attention"]
    if network.attention == "affine":
        k = nodes.shape[1]
        return [
            (nodes @ weights[f"{name}.W"][:k]).index_select(0, i)
            + (nodes @ weights[f"{name}.W"][k:]).index_select(0, j)
            for name in names
        ]

    def joined(part: str) -> Any:
        return torch.cat([weights[f"{name}.{part}"] for name in names], -1)

    hi, hj = nodes.index_select(0, i), nodes.index_select(0, j)
    inner = (hi - hj).abs() @ joined("W1")
    inner = inner + (nodes @ joined("W2") + joined("b")).index_select(0, j) + (nodes @ joined("W3")).index_select(0, i)
    parts = torch.tanh(inner).chunk(len(names), 1)
    return [part @ weights[f"{name}.v"] for name, part in zip(names, parts)]


def _output(torch: Any, network: Network, weights: Tensors, e: Any) -> Any:
    logits = e @ weights["output.W"].T + weights["output.b"]
    return torch.tanh(logits) if network.output == "tanh" else logits


def pair_losses(torch: Any, found: Forward, right: Any) -> tuple[Any, Any]:
    """-log p of the right labels (B,), and what to differentiate: the same, and for sampled alignments the score
    function with its baseline."""
    losses = torch.nn.functional.cross_entropy(found.logits, right, reduction="none")
    if found.log_alignment is None:
        return losses, losses
    plain = losses.detach()
    others = (plain.sum() - plain) / max(len(plain) - 1, 1)
    return losses, losses + (plain - others) * found.log_alignment
