"""The gradient clipped before the update."""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

from debugtracer.interventions.intervention import Intervention, Scope
from debugtracer.interventions.rerun import Rerun


class ClippedGradient(Intervention):
    """All gradients together scaled down to a norm. Adam hardly feels it, for it divides by the size of the gradient (CHECKS 5.4)."""

    scope: ClassVar[Scope] = "update"
    default: ClassVar[float | None] = 1.0
    unit: ClassVar[str] = "largest L2 norm of all gradients together"

    def refuses(self, rerun: Rerun) -> str:
        """It needs an update."""
        return "" if rerun.optimizers else "the update is not replayed"

    def apply(self, rerun: Rerun) -> str:
        """Scale in place."""
        limit = self.size if self.value is not None or rerun.grad_l2_usual is None else rerun.grad_l2_usual

        def clip(gradients: list[Tensor]) -> None:
            norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g.float()) for g in gradients]))
            scale = (limit / (norm + 1e-6)).clamp(max=1.0)
            for gradient in gradients:
                gradient.mul_(scale.to(gradient.dtype))

        rerun.on_gradients.append(clip)
        return f"all gradients clipped to L2 norm {limit:.3g}"
