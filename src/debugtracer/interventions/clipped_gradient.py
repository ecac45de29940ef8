"""The gradient clipped before the update."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import torch
from torch import Tensor

from debugtracer.errors import ReplayRefused
from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.offline_rerun import OfflineRerun
from debugtracer.interventions.rerun import Rerun
from debugtracer.interventions.update_rows import gradients, update_rows


class ClippedGradient(Intervention):
    """All gradients together scaled down to a norm. Adam hardly feels it, for it divides by the size of the
    gradient."""

    scope: ClassVar[Scope] = "update"
    default: ClassVar[float | None] = 1.0
    unit: ClassVar[str] = "largest L2 norm of all gradients together"

    def refuses(self, rerun: Rerun) -> str:
        """Refuse if the update is not replayed."""
        return "" if rerun.optimizers else "the update is not replayed"

    def apply(self, rerun: Rerun) -> str:
        """Scale the gradients in place before the update."""
        limit = self.size if self.value is not None or rerun.grad_l2_usual is None else rerun.grad_l2_usual
        norms: list[float] = []
        rerun.on_gradients.append(lambda gradients: norms.append(clip(gradients, limit)))
        rerun.doubts.append(
            lambda: f"the gradients are within L2 norm {limit:.3g} as they are" if norms and max(norms) <= limit else ""
        )
        return f"all gradients clipped to L2 norm {limit:.3g}"

    def offline(self, tape: OfflineRerun) -> str:
        """Scale what the recorded backward made, just before the first operator of the update."""
        rows, found = update_rows(tape.program), gradients(tape.program)
        if not rows:
            raise ReplayRefused("the capsule holds no update: the step stopped before it")
        if not found:
            raise ReplayRefused("no gradient is recognised in the recorded update")

        def scale(read: Callable[[int], Tensor]) -> None:
            clip([read(ref) for ref in found], self.size)

        tape.between.setdefault(rows[0][0], []).append(scale)
        return f"all gradients clipped to L2 norm {self.size:.3g}"


def clip(gradients: list[Tensor], limit: float) -> float:
    """Scale them together to an L2 norm, in place; return the norm before, 0 without any. Syncs the host."""
    if not gradients:
        return 0.0
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g.float()) for g in gradients]))
    scale = (limit / (norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(scale.to(gradient.dtype))
    return float(norm)
