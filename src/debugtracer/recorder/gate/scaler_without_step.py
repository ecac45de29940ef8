"""Takes one window of training out of a GradScaler: its scale and its count of good steps stay as they are."""

from __future__ import annotations

from typing import Any

from torch.amp.grad_scaler import OptState


def leave_out_of_scaler(scaler: Any, optimizer: Any) -> None:
    """Let the next `update` find a step without overflow that does not count; its gradients are cleared already."""
    state = scaler._per_optimizer_states[id(optimizer)]
    if state["stage"] is OptState.READY:
        scaler.unscale_(optimizer)  # `update` raises where no step has looked for overflow
    for found in state["found_inf_per_device"].values():
        found.zero_()
    state["stage"] = OptState.STEPPED
    if scaler._growth_tracker is not None:
        scaler._growth_tracker.sub_(1)
