"""A loss scale that was lowered and does not grow for a while."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from debugtracer.errors import guarded

HELD = 50  # written updates without growth (ours: as long as full precision for a segment)
START = 2.0**16  # what a GradScaler begins with
DOWN = 2.0**5  # times lower where it is there already (ours: five of a scaler's own halvings)


class HeldScale:
    """Of one GradScaler; it ends by itself. Factors and interval stay as they are: a program may save them."""

    def __init__(self, scaler: Any, optimizer: Optimizer) -> None:
        """Lower the scale, not below 1. Syncs the host."""
        self.scaler, self.left = scaler, HELD
        self.before = float(scaler._scale.item())
        self.now = max(1.0, min(START, self.before / DOWN))
        scaler._scale.fill_(self.now)
        self.handles = [optimizer.register_step_post_hook(self.written)]

    @guarded("responses.held_scale")
    def written(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Let the count of good updates begin anew, and end where these were all."""
        if self.scaler._growth_tracker is not None:
            self.scaler._growth_tracker.zero_()
        self.left -= 1
        if self.left <= 0:
            self.end()

    def end(self) -> None:
        """Let the scale grow again."""
        for handle in self.handles:
            handle.remove()
        self.handles = []
