"""Weights as they were before an update, to measure what it changed: all of small ones, else an even sample."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from debugtracer.observers.numerics.even_sample import matrices, sample_size, strided
from debugtracer.observers.numerics.tensor_health import l2s_of

WHOLE = 1 << 20  # values up to which all weights together are copied whole (ours): as many as a sample of 64 tensors


class WeightsBefore:
    """The weights of one optimizer. Taken and measured under no_grad."""

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        """Copy what can be read of dense tensors, and measure all of it."""
        self.most = WHOLE if sum(t.numel() for t in tensors) <= WHOLE else sample_size(len(tensors))
        self.samples = {id(t): self.sample(t).clone() for t in tensors}
        self.norms = dict(zip(map(id, tensors), l2s_of(tensors), strict=True))

    def sample(self, tensor: Tensor) -> Tensor:
        """The values of one tensor that are compared."""
        return strided(tensor.detach().reshape(-1), self.most)

    def changes(self, tensors: Sequence[Tensor]) -> dict[int, Tensor]:
        """What the update changed in those that were copied: the sample, float32."""
        known = [t for t in tensors if id(t) in self.samples]
        return {id(t): self.sample(t).float() - self.samples[id(t)].float() for t in known}

    def sizes(self, tensors: Sequence[Tensor], changes: dict[int, Tensor]) -> dict[int, float]:
        """The norm of each change, told of the whole tensor by that of its sample."""
        told: dict[int, float] = {}
        known = [t for t in tensors if id(t) in changes]
        for places, matrix in matrices([changes[id(t)] for t in known]):
            norms = torch.linalg.vector_norm(matrix, dim=1).double().tolist()
            for place, norm in zip(places, norms, strict=True):
                tensor = known[place]
                told[id(tensor)] = norm * (tensor.numel() / max(matrix.shape[1], 1)) ** 0.5
        return told
