"""The tree-LSTM of all trees of a batch, level by level, against recursion, node by node: nodes per second.

    python -m benchmarks.micro.entailment [--pairs 64] [--size 150] [--repeat 5] [--threads 1]

Forwards and backwards, on generated pairs or, where MARGENT_DATA has SICK, on its trees. Needs torch.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine
from margent.annotation import BinaryTree
from margent.datasets import load_sick, make_entailment
from margent.extras import optional
from margent.models.entailment.network.levels import Levels
from margent.models.entailment.network.tree_lstm import tree_states


def recursion(torch: Any, trees: list[BinaryTree], rows: list[int], G: Any, U: Any) -> Any:
    """h of all nodes, in order of trees; each node a product of its own."""
    k = U.shape[0] // 2
    found, at = [], 0
    for tree in trees:
        states: list[tuple[Any, Any]] = []
        for node in range(tree.n_nodes):
            g = G[rows[at + node]]
            if node >= len(tree):
                left, right = tree.parts[node - len(tree)]
                g = g + torch.cat([states[left][0], states[right][0]]) @ U
            i, o, f1, f2 = (torch.sigmoid(g[a * k : (a + 1) * k]) for a in (0, 1, 3, 4))
            c = i * torch.tanh(g[2 * k : 3 * k])
            if node >= len(tree):
                c = c + f1 * states[left][1] + f2 * states[right][1]
            states.append((o * torch.tanh(c), c))
        found += [h for h, _ in states]
        at += tree.n_nodes
    return torch.stack(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in (("pairs", 64), ("size", 150), ("repeat", 5), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    arguments = parser.parse_args()
    torch = optional("torch", "the benchmark needs", "neural")
    torch.set_num_threads(arguments.threads)
    home = os.environ.get("MARGENT_DATA")
    sick = home is not None and Path(home, "sick").is_dir()
    X = load_sick().train.X if sick else make_entailment(arguments.pairs)[0]
    trees = [tree for pair in X[: arguments.pairs] for tree in pair]
    levels = Levels.of(trees)
    generator = torch.Generator().manual_seed(0)
    k = arguments.size
    G = torch.randn((levels.n_nodes, 5 * k), generator=generator).mul_(0.1).requires_grad_()
    U = torch.randn((2 * k, 5 * k), generator=generator).mul_(0.1).requires_grad_()
    ptr, children, row = levels.ptr.tolist(), torch.as_tensor(levels.children), torch.as_tensor(levels.row)

    def timed(states: Callable[[], Any], repeat: int) -> tuple[float, Any]:
        seconds, h = [], None
        for _ in range(repeat):
            G.grad = U.grad = None
            begin = time.perf_counter()
            h = states()
            h.sum().backward()
            seconds.append(time.perf_counter() - begin)
        return float(np.median(seconds)), h

    fast, by_level = timed(lambda: tree_states(G, U, ptr, children)[row], arguments.repeat)
    gradient = U.grad.clone()
    slow, by_node = timed(lambda: recursion(torch, trees, levels.row.tolist(), G, U), max(1, arguments.repeat // 5))
    assert torch.allclose(by_level, by_node, atol=1e-5) and torch.allclose(gradient, U.grad, rtol=1e-3, atol=1e-3)
    machine = describe_machine()
    print(f"{machine.get('processor', machine)}, torch {torch.__version__}, {arguments.threads} thread(s)")
    print(f"{len(trees)} trees of {'SICK' if sick else 'generated pairs'}, {levels.n_nodes} nodes, "
          f"{len(ptr) - 1} levels, size {k}; forwards and backwards")  # fmt: skip
    print(f"level by level {levels.n_nodes / fast:12,.0f} nodes per second")
    print(f"node by node   {levels.n_nodes / slow:12,.0f} nodes per second: {slow / fast:.1f} times as slow")


if __name__ == "__main__":
    main()
