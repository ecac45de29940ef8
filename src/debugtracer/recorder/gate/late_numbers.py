"""What is read of a step when its update is written already: the norm of each gradient and each weight and the losses,
in one vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from debugtracer.recorder.gate.norms import FUSABLE, grouped

Each = Callable[[Sequence[Tensor]], list[Tensor] | None]


class LateNumbers:
    """The numbers of one step on their device: some four operators, whatever the number of tensors. No host sync."""

    def __init__(self, norms: list[Tensor], losses: Sequence[Tensor]) -> None:
        """Take the norms of the gradients (0-dim, one device) and the losses as they are."""
        self.gradients, self.losses = len(norms), len(losses)
        self.parts = [*norms, *(as_number(loss, norms[0]) for loss in losses)]

    def add_weights(self, norms: Sequence[Tensor]) -> None:
        """Take the norms of the weights after the update."""
        self.parts += [norm.to(self.parts[0].device) for norm in norms]

    def vector(self) -> Tensor:
        """Return all of them, (gradients + losses + weights,)."""
        with torch.no_grad():
            return torch.stack(self.parts)


def each_l2(tensors: Sequence[Tensor]) -> list[Tensor] | None:
    """Return one L2 norm (float32, 0-dim) for each of the tensors, by one call; None where they are of several dtypes
    or devices, or of double precision."""
    with torch.no_grad():
        groups = grouped(tensors)
        if len(groups) != 1 or groups[0][0].dtype not in FUSABLE:
            return None
        return list(torch._foreach_norm(groups[0], 2, dtype=torch.float32))


def as_number(loss: Tensor, beside: Tensor) -> Tensor:
    """The loss as one number (0-dim) on the device of the norms; double precision stays."""
    value = loss.detach()
    value = value.reshape(()) if value.numel() == 1 else value.double().mean()
    wide = torch.float64 in (value.dtype, beside.dtype)
    return value.to(beside.device, torch.float64 if wide else torch.float32, non_blocking=True)
