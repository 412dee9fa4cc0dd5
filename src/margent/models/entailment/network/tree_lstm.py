"""The recurrent cells of trees and sequences, a level at a time, with their gradients.

With gate inputs G = x W + b of every node (N, (3 + a) k), the states of a node with parts 1..a are

    [i, o, u, f_1 .. f_a] = [sigma, sigma, tanh, sigma ..](G + [h_1; ..; h_a] U)
    c = i * u + sum_j f_j * c_j,      h = o * tanh(c)                                              (tree-LSTM, 5.6)

or h = tanh(G + [h_1; ..; h_a] U) of a simple cell. Differs from the text: both parts' h are in the affine map, and it
gives 5 k numbers of trees, where "d + 2k, k" and a repeated h are printed.

A level costs one product of matrices. Every node is a part of at most one other, so that the gradient of the states of
parts is written, not added up; that of U is a single product at the end.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from margent.extras import optional


def torch_module() -> Any:
    """torch, or an error that says how to get it."""
    return optional("torch", "a network needs", "neural")


@cache
def _functions() -> tuple[Any, Any]:
    """The two cells: classes that torch knows how to differentiate."""
    torch = torch_module()
    base: Any = torch.autograd.Function

    class TreeLSTM(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, G: Any, U: Any, ptr: list[int], children: Any) -> Any:
            k, a = U.shape[0] // children.shape[1], children.shape[1]
            gates = G.clone()
            H, C = G.new_empty((len(G), k)), G.new_empty((len(G), k))
            first = ptr[1]
            for s, e in pairwise(ptr):
                own, parts = gates[s:e], children[s - first : e - first] if s else None
                if parts is not None:
                    own.addmm_(H[parts].reshape(e - s, a * k), U)
                own[:, : 2 * k].sigmoid_()
                own[:, 2 * k : 3 * k].tanh_()
                own[:, 3 * k :].sigmoid_()
                c = own[:, :k] * own[:, 2 * k : 3 * k]
                if parts is not None:
                    c += (own[:, 3 * k :].reshape(e - s, a, k) * C[parts]).sum(1)
                C[s:e] = c
                H[s:e] = own[:, k : 2 * k] * c.tanh()
            ctx.save_for_backward(gates, H, C, U, children)
            ctx.ptr = ptr
            return H

        @staticmethod
        def backward(ctx: Any, dH: Any) -> Any:
            gates, H, C, U, children = ctx.saved_tensors
            ptr = ctx.ptr
            k, a = H.shape[1], children.shape[1]
            dH, dC, dG = dH.clone(), torch.zeros_like(C), torch.empty_like(gates)
            first = ptr[1]
            for s, e in reversed(list(pairwise(ptr))):
                own, out = gates[s:e], dG[s:e]
                i, o, u, f = own[:, :k], own[:, k : 2 * k], own[:, 2 * k : 3 * k], own[:, 3 * k :]
                t = C[s:e].tanh()
                dh = dH[s:e]
                dc = dC[s:e] + dh * o * (1 - t * t)
                out[:, :k] = dc * u * i * (1 - i)
                out[:, k : 2 * k] = dh * t * o * (1 - o)
                out[:, 2 * k : 3 * k] = dc * i * (1 - u * u)
                if s:
                    parts = children[s - first : e - first]
                    of_parts = dc[:, None, :] * C[parts]
                    out[:, 3 * k :] = of_parts.reshape(e - s, a * k) * f * (1 - f)
                    dC[parts] = dc[:, None, :] * f.reshape(e - s, a, k)
                    dH[parts] += (out @ U.T).reshape(e - s, a, k)
                else:
                    out[:, 3 * k :] = 0
            dU = H[children].reshape(len(children), a * k).T @ dG[first:]
            return dG, dU, None, None

    class TreeRNN(base):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, G: Any, U: Any, ptr: list[int], children: Any) -> Any:
            k, a = G.shape[1], children.shape[1]
            H = G.clone()
            first = ptr[1]
            for s, e in pairwise(ptr):
                if s:
                    H[s:e].addmm_(H[children[s - first : e - first]].reshape(e - s, a * k), U)
                H[s:e].tanh_()
            ctx.save_for_backward(H, U, children)
            ctx.ptr = ptr
            return H

        @staticmethod
        def backward(ctx: Any, dH: Any) -> Any:
            H, U, children = ctx.saved_tensors
            ptr = ctx.ptr
            k, a = H.shape[1], children.shape[1]
            dG = dH.clone()
            first = ptr[1]
            for s, e in reversed(list(pairwise(ptr))):
                dG[s:e] *= 1 - H[s:e] * H[s:e]
                if s:
                    dG[children[s - first : e - first]] += (dG[s:e] @ U.T).reshape(e - s, a, k)
            dU = H[children].reshape(len(children), a * k).T @ dG[first:]
            return dG, dU, None, None

    return TreeLSTM, TreeRNN


def tree_states(G: Any, U: Any, ptr: list[int], children: Any, *, simple: bool = False) -> Any:
    """h (N, k) of all nodes. `ptr`: rows of levels; `children` (N - ptr[1], a) rows of parts."""
    lstm, rnn = _functions()
    return (rnn if simple else lstm).apply(G, U, ptr, children)
