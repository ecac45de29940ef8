"""Smaller updates for a while after a roll-back: learning rates are lower inside each step alone, so that schedules and
logs of the program see their own."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from debugtracer.errors import guarded

FACTOR = 0.5  # of the learning rate (ours: restarts of large runs halved it)
LOW, RAMP = 50, 50  # steps at that rate, and steps in which it comes back (ours: a spike's usual length)


class LoweredRate:
    """Of one optimizer; it ends by itself."""

    def __init__(self, optimizer: Optimizer, low: int = LOW) -> None:
        """Lower the rates of the next `low` steps, and let them come back after those."""
        self.steps, self.low = 0, low
        self.kept: list[Any] = []
        self.handles = [
            optimizer.register_step_pre_hook(self.lower),
            optimizer.register_step_post_hook(self.put_back),
        ]

    def back(self) -> float:
        """How far the rates have come back, from 0 to 1."""
        return min(1.0, max(0, self.steps - self.low) / RAMP)

    def lowered(self, group: int, rate: Any) -> Any:
        """The rate of a group at this step, where the program has set `rate`."""
        return rate * (FACTOR + (1 - FACTOR) * self.back())

    @guarded("responses.lowered_rate")
    def lower(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Lower the rates of a step that begins."""
        self.restore(optimizer)  # of a step that raised, and so never came to its end
        self.kept = [group["lr"] for group in optimizer.param_groups]
        for number, group in enumerate(optimizer.param_groups):
            group["lr"] = self.lowered(number, group["lr"])

    @guarded("responses.lowered_rate")
    def put_back(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """Put the program's own rates back, and end where that is all of it."""
        self.restore(optimizer)
        self.steps += 1
        if self.steps >= self.low + RAMP:
            self.end()

    def restore(self, optimizer: Optimizer) -> None:
        """Give the groups the rates that the program set."""
        for group, rate in zip(optimizer.param_groups, self.kept, strict=False):
            group["lr"] = rate
        self.kept = []

    def end(self) -> None:
        """Leave the optimizer as it was."""
        for handle in self.handles:
            handle.remove()
        self.handles = []
