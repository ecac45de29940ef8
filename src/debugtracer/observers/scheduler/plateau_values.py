"""Reads what a ReduceLROnPlateau was called with."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.optim.lr_scheduler import ReduceLROnPlateau

from debugtracer.callsites.line import first
from debugtracer.observers.scheduler.scheduler_plan import SchedulerPlan, rates
from debugtracer.trace.facts.plateau_fed import PlateauFed
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

MOST = 64  # calls that are read (ours)


def plateau_value(
    plan: SchedulerPlan, scheduler: Any, args: tuple[Any, ...], kwargs: dict[str, Any], ref: StepRef
) -> PlateauFed | None:
    """The fact of one call; None for other schedulers, values on a device, and after many calls."""
    if not isinstance(scheduler, ReduceLROnPlateau) or plan.calls > MOST or scheduler.mode not in ("min", "max"):
        return None
    value = args[0] if args else kwargs.get("metrics")
    if isinstance(value, Tensor):
        value = value.item() if value.device.type == "cpu" and value.numel() == 1 else None
    given = rates(scheduler.optimizer)
    if not isinstance(value, (int, float)) or not given:
        return None
    return PlateauFed(
        ref=ref, scheduler=plan.number, frame=plan.frame, step_frame=first(plan.last), mode=scheduler.mode,
        patience=int(scheduler.patience), threshold=float(scheduler.threshold),
        relative=scheduler.threshold_mode == "rel", value=number(float(value)), rate=number(max(given)),
    )  # fmt: skip
