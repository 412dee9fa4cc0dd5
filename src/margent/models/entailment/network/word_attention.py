"""Two networks that align words instead of nodes of trees, to compare with.

"decomposable" (Parikh et al. 2016): words are projected to k numbers, aligned both ways by F(a) . F(b), compared with
what they are aligned to by G([a; aligned a]), summed up, and the sums of both sentences classified.

"esim" (Chen et al. 2017, the sequential one): LSTMs in both directions read the words; these are aligned both ways by
their product; [a; aligned; a - aligned; a * aligned] is projected, read by LSTMs again, and their means and maxima are
classified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from margent.models.entailment.network.batch import PairBatch
from margent.models.entailment.network.levels import Levels
from margent.models.entailment.network.tree_lstm import torch_module, tree_states

Tensors = Mapping[str, Any]
Shapes = dict[str, tuple[int, ...]]


def word_shapes(encoder: str, d: int, k: int, r: int) -> Shapes:
    """Of numbers that are learned, but for words and the output."""
    if encoder == "decomposable":
        return {
            "project.W": (d, k), "project.b": (k,),
            **{name: shape for part, n in (("attend", k), ("compare", 2 * k), ("classify", 2 * k))
               for name, shape in _two_layers(part, n, r if part == "classify" else k).items()},
        }  # fmt: skip
    shapes = {**_both_ways("read", d, k), "project.W": (8 * k, k), "project.b": (k,), **_both_ways("compose", k, k)}
    return shapes | {"classify.W": (8 * k, r), "classify.b": (r,)}


def _two_layers(name: str, n: int, k: int) -> Shapes:
    return {f"{name}.W1": (n, k), f"{name}.b1": (k,), f"{name}.W2": (k, k), f"{name}.b2": (k,)}


def _both_ways(name: str, d: int, k: int) -> Shapes:
    return {
        f"{name}.{way}.{part}": shape
        for way in ("forward", "backward")
        for part, shape in (("W", (d, 4 * k)), ("U", (k, 4 * k)), ("b", (4 * k,)))
    }


def word_attention(
    encoder: str, weights: Tensors, x: Any, batch: PairBatch, put: Callable[[Any], Any], dropped: Callable[[Any], Any]
) -> tuple[Any, Any]:
    """(B, r) what the output is made of, and (B, q, p + 1) the alignment of the hypothesis, nothing in its last column.
    `x` (N, d): words, in rows of `batch.levels`, which are sequences."""
    torch = torch_module()
    p_mask, q_mask = put(batch.premise_mask), put(batch.hypothesis_mask)
    p_rows, q_rows = put(batch.premise), put(batch.hypothesis)
    if encoder == "decomposable":
        h = x @ weights["project.W"] + weights["project.b"]
        attended = _layers(torch, weights, "attend", h, dropped)
        P, Q, a, b = h[p_rows], h[q_rows], attended[p_rows], attended[q_rows]
    else:
        h = dropped(_read(torch, weights, "read", x, batch.levels, put))
        P, Q = a, b = h[p_rows], h[q_rows]
    s = b @ a.transpose(1, 2)
    of_q = s.masked_fill(~p_mask[:, None, :], -torch.inf).softmax(2)
    of_p = s.masked_fill(~q_mask[:, :, None], -torch.inf).softmax(1).transpose(1, 2)
    aligned = ((P, of_p @ Q, p_mask), (Q, of_q @ P, q_mask))
    nothing = torch.nn.functional.pad(of_q, (0, 1))
    if encoder == "decomposable":
        sums = [
            (_layers(torch, weights, "compare", torch.cat([own, other], 2), dropped) * mask[:, :, None]).sum(1)
            for own, other, mask in aligned
        ]
        return _layers(torch, weights, "classify", torch.cat(sums, 1), dropped), nothing
    m = h.new_zeros((len(h), 4 * h.shape[1]))
    for (own, other, mask), rows in zip(aligned, (p_rows, q_rows)):
        both = torch.cat([own, other, own - other, own * other], 2)
        m = m.index_copy(0, rows[mask], both[mask])
    m = dropped(torch.relu(m @ weights["project.W"] + weights["project.b"]))
    v = _read(torch, weights, "compose", m, batch.levels, put)
    pooled = []
    for rows, mask in ((p_rows, p_mask[:, :, None]), (q_rows, q_mask[:, :, None])):
        own = v[rows]
        pooled += [(own * mask).sum(1) / mask.sum(1), own.masked_fill(~mask, -torch.inf).amax(1)]
    joint = dropped(torch.cat(pooled, 1))
    return torch.tanh(joint @ weights["classify.W"] + weights["classify.b"]), nothing


def _layers(torch: Any, weights: Tensors, name: str, x: Any, dropped: Any) -> Any:
    for i in (1, 2):
        x = torch.relu(dropped(x) @ weights[f"{name}.W{i}"] + weights[f"{name}.b{i}"])
    return x


def _read(torch: Any, weights: Tensors, name: str, x: Any, levels: Levels, put: Any) -> Any:
    """(N, 2 k) states of LSTMs in both directions."""
    ptr, children = levels.ptr.tolist(), put(levels.children)
    found = []
    for way in ("forward", "backward"):
        turned = put(turned_rows(levels)) if way == "backward" else None
        own = x if turned is None else x[turned]
        h = tree_states(own @ weights[f"{name}.{way}.W"] + weights[f"{name}.{way}.b"], weights[f"{name}.{way}.U"],
                        ptr, children)  # fmt: skip
        found.append(h if turned is None else h[turned])
    return torch.cat(found, 1)


def turned_rows(levels: Levels) -> np.typing.NDArray[np.int64]:
    """(N,) of each row of sequences the row of the word that stands there when they are read from the end."""
    starts, ends = levels.node_ptr[:-1], levels.node_ptr[1:]
    counts = ends - starts
    place = np.arange(levels.n_nodes)
    mirrored = np.repeat(starts + ends - 1, counts) - place
    turned = np.empty(levels.n_nodes, np.int64)
    turned[levels.row] = levels.row[mirrored]
    return turned
