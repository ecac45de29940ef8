"""What is read of a step when its update is written already: the norm of each gradient and each weight and the losses,
in one vector."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from debugtracer.devices.present import device
from debugtracer.recorder.gate.norms import FUSABLE, grouped


class LateNumbers:
    """The numbers of one step on their device: some five operators, whatever the number of tensors. No host sync."""

    def __init__(self, norms: list[Tensor], losses: Sequence[Tensor], largest: Sequence[Tensor] = ()) -> None:
        """Take the norms of the gradients (0-dim, one device), the losses as they are, and the largest magnitude of
        each gradient where its norm may overflow before it does."""
        self.home = norms[0].device
        self.gradients, self.largest, self.losses = len(norms), len(largest), len(losses)
        self.parts = [*norms, *(one.to(self.home) for one in largest), *(as_number(loss, norms[0]) for loss in losses)]
        self.stacked: Tensor | None = None
        """What was put together for the device's own judgement."""

    def flag(self) -> Tensor:
        """Return 1.0 (float32, 0-dim) where a gradient or a loss is not finite; exact."""
        with torch.no_grad():
            self.stacked = torch.stack(self.parts)
            self.parts = []
            # nothing finite is left of a finite number times 0 but 0
            exact = self.stacked[self.gradients :] if self.largest else self.stacked
            return ((exact * 0).sum() != 0).float()

    def add_weights(self, norms: Sequence[Tensor]) -> None:
        """Take the norms of the weights after the update, which may lie elsewhere."""
        self.parts += [norm.to(self.home, non_blocking=True) for norm in norms]

    def vector(self) -> Tensor:
        """Return all of them, (gradients + largest + losses + weights,)."""
        with torch.no_grad():
            if self.stacked is None:
                return torch.stack(self.parts)
            return torch.cat([self.stacked, torch.stack(self.parts)]) if self.parts else self.stacked


def each_l2(tensors: Sequence[Tensor]) -> list[Tensor] | None:
    """Return one L2 norm (0-dim) for each of the tensors, by one call; None where they are of several dtypes or
    devices, or of double precision. In float64 where the device sums in it: then finite only where every value is."""
    return each(tensors, 2.0)


def each_largest(tensors: Sequence[Tensor]) -> list[Tensor] | None:
    """Return the largest magnitude (float32, 0-dim) of each in the same way; not finite where a value is not."""
    return each([tensor for tensor in tensors if tensor.numel()], math.inf)  # of an empty one this norm raises


def each(tensors: Sequence[Tensor], order: float) -> list[Tensor] | None:
    """Return the norm of that order of each."""
    with torch.no_grad():
        groups = grouped(tensors)
        if len(groups) != 1 or groups[0][0].dtype not in FUSABLE:
            return None
        wide = order == 2.0 and device(groups[0][0].device.type).sums_float64
        return list(torch._foreach_norm(groups[0], order, dtype=torch.float64 if wide else torch.float32))


def as_number(loss: Tensor, beside: Tensor) -> Tensor:
    """The loss as one number (0-dim) on the device of the norms; double precision stays."""
    value = loss.detach()
    value = value.reshape(()) if value.numel() == 1 else value.double().mean()
    wide = torch.float64 in (value.dtype, beside.dtype)
    return value.to(beside.device, torch.float64 if wide else torch.float32, non_blocking=True)
