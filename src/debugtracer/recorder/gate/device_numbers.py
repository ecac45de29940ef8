"""The numbers by which an update on a device is judged, by torch's own operators; none waits for the host."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from debugtracer.recorder.gate.device_gate import bad_flag
from debugtracer.recorder.gate.late_numbers import each_l2, each_largest
from debugtracer.recorder.gate.norms import total_l2, worst_of


class Judged(NamedTuple):
    """What the device says of an update before it is written."""

    numbers: Tensor
    """float64 (3 + losses,): L2 of the gradients, L2 of the parameters, the flag, each loss."""
    flag: Tensor
    """float32 (): 1.0 where the update is bad."""


class DeviceNumbers:
    """One per process. No host sync."""

    @property
    def judges_at_once(self) -> bool:
        """Whether `judged` is one with the measuring, and exact_norms() need not come before it."""
        return False

    def each(self, tensors: list[Tensor]) -> list[Tensor] | None:
        """Return L2 norms (0-dim, one device) whose own L2 is that over all tensors: one of each where one call gives
        them, else a single one; None where there is nothing to measure."""
        norms = each_l2(tensors)
        if norms is not None:
            return norms
        together = self.l2(tensors)
        return None if together is None else [together]

    def exact_norms(self, gradients: list[Tensor]) -> tuple[list[Tensor], list[Tensor]] | None:
        """Return the norms of `each`, and the largest magnitudes where those norms may overflow before a value does;
        None where there is nothing to measure."""
        norms = each_l2(gradients)
        if norms and norms[0].dtype is torch.float64:
            return norms, []
        norms = norms or self.each(gradients)
        return (norms, self.largest(gradients)) if norms else None

    def largest(self, gradients: list[Tensor]) -> list[Tensor]:
        """Return the largest magnitudes (0-dim, one device) by which it is told exactly what is not finite: a norm
        overflows before its values do."""
        each = each_largest(gradients)
        if each is not None:
            return each
        worst = worst_of(gradients)
        return [] if worst is None else [worst]

    def l2(self, tensors: list[Tensor]) -> Tensor | None:
        """The L2 norm over all of them (); None where there is nothing to measure."""
        return total_l2(tensors)

    def judged(
        self, gradients: list[Tensor], losses: list[Tensor], param_l2: Tensor | None, exact: bool
    ) -> Judged | None:
        """Judge gradients and losses (float64, ()), all finite or not; None without a gradient. Where not `exact`, the
        norm decides alone."""
        norm = total_l2(gradients)
        if norm is None:
            return None
        losses = [loss.to(norm.device) for loss in losses]
        beside = torch.zeros_like(norm) if param_l2 is None else param_l2
        flag = bad_flag(gradients, losses, norm) if exact else (~torch.isfinite(norm)).float()
        return Judged(torch.stack([norm.double(), beside.double().to(norm.device), flag.double(), *losses]), flag)
