"""Counters of one scheduler: its calls, the updates of its optimizer, the backwards between them."""

from __future__ import annotations

import weakref
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames
from debugtracer.trace.birth import Frame

# attributes of torch's schedulers
HORIZONS = ("total_steps", "T_max", "total_iters", "step_size", "milestones", "total_size")
FALLEN = 1e-4  # share of its peak below which a rate is emitted (ours)
BEYOND = 1.25  # share of its horizon past which a scheduler is emitted (ours)


class SchedulerPlan:
    """Keeps no scheduler and no optimizer alive."""

    def __init__(self, scheduler: Any, number: int, frame: Frame | None) -> None:
        self.scheduler = weakref.ref(scheduler)
        self.number = number
        self.kind = type(scheduler).__name__
        self.frame = frame
        self.calls = self.updates = self.others = self.early = self.again = self.doubled = self.micro = (
            self.per_update
        ) = self.last_epoch = 0
        self.early_line: RawFrames = ()
        self.doubled_line: RawFrames = ()
        self.last: RawFrames = ()
        self.lines: list[RawFrames] = []
        """The lines that stepped it since the last update."""
        self.backwards = 0
        self.rate = self.peak = 0.0
        self.horizon, self.horizon_word = horizon_of(scheduler)
        self.exhausted = self.passed = False
        self.fallen_at: int | None = None
        self.length: int | None = None
        """Batches of one pass of the training loader, when last asked."""

    def optimizer(self) -> Any:
        """The optimizer it sets, unwrapped; None when the scheduler is gone."""
        return plain(getattr(self.scheduler(), "optimizer", None))

    def stepped(self, scheduler: Any, raw: RawFrames) -> bool:
        """Count one call of step; True when it has just gone far past its horizon."""
        self.calls += 1
        self.last = raw
        self.last_epoch = int(getattr(scheduler, "last_epoch", 0))
        self.horizon, self.horizon_word = horizon_of(scheduler)
        if not self.updates:
            self.early += 1
            self.early_line = self.early_line or raw
        elif raw == self.early_line:
            self.again += 1
        if self.lines and raw not in self.lines:
            self.doubled += 1
            self.doubled_line = raw
        self.lines.append(raw)
        passed = self.horizon is not None and self.last_epoch > BEYOND * self.horizon and not self.passed
        self.passed = self.passed or passed
        return passed

    def updated(self, mine: bool) -> None:
        """Count one update of some optimizer."""
        self.updates += mine
        self.others += not mine
        if mine:
            if len(self.lines) > 1 and len(self.lines) == self.backwards and len(set(self.lines)) == 1:
                self.micro += 1
                self.per_update = self.backwards
            self.lines, self.backwards = [], 0

    def rated(self, given: list[float]) -> bool:
        """Take the rates of an update; True when they have just fallen to almost nothing."""
        self.rate = max(given, default=0.0)
        self.peak = max(self.peak, self.rate)
        if self.fallen_at is not None or not self.rate < FALLEN * self.peak:
            return False
        self.fallen_at = self.updates
        return True


def rates(optimizer: Optimizer) -> list[float]:
    """The learning rate of each group that has one on the host."""
    given = [group.get("lr") for group in optimizer.param_groups]
    return [
        float(v.detach() if isinstance(v, Tensor) else v)
        for v in given
        if isinstance(v, (int, float)) or (isinstance(v, Tensor) and v.device.type == "cpu" and v.numel() == 1)
    ]


def horizon_of(scheduler: Any) -> tuple[int | None, str]:
    """The number of calls a scheduler is made for, and the argument that says so."""
    for word in HORIZONS:
        value = getattr(scheduler, word, None)
        if isinstance(value, (int, float)) and value > 0:
            return int(value), word
        if word == "milestones" and value:
            return int(max(value)), word
    return None, ""


def plain(optimizer: Any) -> Any:
    """The optimizer inside a wrapper."""
    return getattr(optimizer, "optimizer", optimizer)


def is_round(count: int) -> bool:
    """True for counts at which facts are emitted: 1, 2, 3, 5, 10, 20, 50, 100, ..."""
    digits = str(count)
    return count == 3 or (digits[0] in "125" and not digits[1:].strip("0"))
