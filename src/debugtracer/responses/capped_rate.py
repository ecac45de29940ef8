"""Learning rates that rise no higher for a while than they had been before a state that was put back: what has raised
them since may come again, for a schedule went back with that state."""

from __future__ import annotations

from typing import Any

from torch.optim import Optimizer

from debugtracer.responses.lowered_rate import LoweredRate


class CappedRate(LoweredRate):
    """Of one optimizer; it ends by itself."""

    def __init__(self, optimizer: Optimizer, low: int, times: float = 1.0) -> None:
        """Build it for the next `low` steps: rates of so many times those of now, at most."""
        super().__init__(optimizer, low)
        self.caps = [group["lr"] * times for group in optimizer.param_groups]

    def lowered(self, group: int, rate: Any) -> Any:
        """The rate of a group at this step: no higher than its cap at first, then some of what is above it."""
        cap = self.caps[group] if group < len(self.caps) else rate
        return rate if rate <= cap else cap + (rate - cap) * self.back()
