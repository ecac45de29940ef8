"""The learning rate that came with the loaded state of an optimizer, and how many updates that state has seen."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.observers.scheduler.scheduler_plan import rates
from debugtracer.trace.birth import Frame


@dataclass(frozen=True)
class LoadedRate:
    """What an optimizer held when its state had just been loaded."""

    rate: float
    updates: int
    """0 where the state keeps no count (SGD)."""
    frame: Frame | None
    """The line that loaded it."""


def loaded_rate(optimizer: Optimizer, frame: Frame | None) -> LoadedRate | None:
    """Read it; None without a rate or a state of any parameter. Reads no tensor of a device."""
    given = rates(optimizer)
    states = [state for state in list(optimizer.state.values())[:1] if isinstance(state, dict) and state]
    count = states[0].get("step", 0) if states else 0
    if isinstance(count, Tensor):
        count = count.item() if count.device.type == "cpu" and count.numel() == 1 else 0
    return LoadedRate(max(given), int(count), frame) if given and states else None
