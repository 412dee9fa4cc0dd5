"""What a network learns from: batches of pairs, the loss of each, and its gradient."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from margent.models.entailment.network.batch import EncodedTrees, PairBatch
from margent.models.entailment.network.forward import forward, pair_losses
from margent.models.entailment.network.options import Network
from margent.models.entailment.network.parameters import Shapes, parts_of, size_of
from margent.models.entailment.network.tree_lstm import torch_module

Ints = NDArray[np.int64]
STRUCTURE = "network of trees"


@contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """Sums of torch depend on the number of its threads, and models must not."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def tensors_of(values: Any, shapes: Shapes) -> dict[str, Any]:
    """Views of one tensor by name."""
    return dict(parts_of(values, shapes))


class NetworkOracle:
    """The mean of -log p(right label) over n pairs, as a function of the weights.

    values : (n_parameters,) the weights, changed in place by the learner
    right : (n,) numbers of labels; sample_weight : (n,) or None
    """

    structure = STRUCTURE

    def __init__(
        self,
        network: Network,
        shapes: Shapes,
        values: NDArray[np.float32],
        given: NDArray[Any] | None,
        encoded: EncodedTrees,
        right: Ints,
        sample_weight: NDArray[np.float64] | None = None,
        device: str = "cpu",
    ) -> None:
        torch = torch_module()
        self._torch, self._network, self._device = torch, network, device
        self.values = torch.tensor(values, device=device)
        self._gradient = torch.zeros_like(self.values)
        self._leaves = {}
        gradients = tensors_of(self._gradient, shapes)
        for name, view in tensors_of(self.values, shapes).items():
            leaf = view.detach().requires_grad_(True)  # shares memory with `values`
            leaf.grad = gradients[name]
            self._leaves[name] = leaf
        self._given = None if given is None else torch.tensor(given.astype(values.dtype), device=device)
        self._encoded = encoded
        self._right = torch.tensor(right, device=device)
        self._weight = (
            None if sample_weight is None else torch.tensor(sample_weight.astype(values.dtype), device=device)
        )
        assert size_of(shapes) == len(values)

    def __len__(self) -> int:
        return len(self._encoded)

    @property
    def n_features(self) -> int:
        return len(self.values)

    def gradient(self, examples: Ints, seed: int) -> tuple[float, Any]:
        """The loss of these examples, and the gradient of its mean. `seed`: of dropout and sampled alignments."""
        torch = self._torch
        with one_thread(torch):
            generator = torch.Generator(self._device).manual_seed(seed)
            batch = PairBatch.of(self._encoded, examples, self._network.encoder != "tree")
            self._gradient.zero_()
            found = forward(self._network, self._leaves, self._given, batch, generator)
            at = torch.as_tensor(examples, device=self._device)
            losses, objective = pair_losses(torch, found, self._right[at])
            if self._weight is not None:
                losses, objective = losses * self._weight[at], objective * self._weight[at]
            objective.mean().backward()
            return float(losses.detach().sum()), self._gradient

    def weights(self, average: bool = False) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self.values.detach().cpu().numpy().copy()
        return found
