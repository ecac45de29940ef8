"""Gradients of no more than a norm for a while, just before each update: what the loop has clipped stays clipped."""

from __future__ import annotations

from typing import Any

import torch
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.recorder.gate.norms import scalar, total_l2
from debugtracer.recorder.run_state import parameters

CLIPPED = 100  # steps (ours: as long as a lowered rate and its way back)


class ClippedGradient:
    """Of one optimizer; it ends by itself."""

    def __init__(self, optimizer: Optimizer, limit: float, steps: int = CLIPPED) -> None:
        self.limit, self.left = limit, steps
        self.handles = [
            optimizer.register_step_pre_hook(self.clip),
            optimizer.register_step_post_hook(self.written),
        ]

    @guarded("responses.clipped_gradient")
    def clip(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Scale the gradients of a step that begins down to the limit."""
        gradients = [p.grad for p in parameters(optimizer) if p.grad is not None]
        norm = total_l2(gradients)
        size = scalar(norm) if norm is not None else 0.0
        if size > self.limit:
            with torch.no_grad():
                torch._foreach_mul_(gradients, self.limit / size)

    @guarded("responses.clipped_gradient")
    def written(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Count an update, and end where these were all."""
        self.left -= 1
        if self.left <= 0:
            self.end()

    def end(self) -> None:
        """Leave the optimizer as it was."""
        for handle in self.handles:
            handle.remove()
        self.handles = []
