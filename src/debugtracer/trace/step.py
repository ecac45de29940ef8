"""Where in a run something happened."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

Phase = Literal["load", "forward", "loss", "backward", "reduce", "unscale", "clip", "update", "schedule"]


def step_id(run: str, rank: int, iteration: int) -> str:
    """The trace id of a step, which its events, capsule and notifications carry: `<run>-<rank>-<iteration>`."""
    return f"{run}-{rank}-{iteration}"


class StepLoss(NamedTuple):
    """What one step had: its loss, and the learning rate of the first parameter group; NaN where it is not known."""

    step: int
    loss: float
    lr: float


class StepRef(msgspec.Struct, frozen=True, kw_only=True):
    """One place in a run: iteration counts outermost backward calls, step counts optimizer updates, both 0-based."""

    iteration: int
    step: int
    microbatch: int = 0
    rank: int = 0
    phase: Phase = "loss"

    def __str__(self) -> str:
        """The where of a message: `step 1204, microbatch 2, rank 0`."""
        micro = f", microbatch {self.microbatch}" if self.microbatch else ""
        return f"step {self.step}{micro}, rank {self.rank}"
