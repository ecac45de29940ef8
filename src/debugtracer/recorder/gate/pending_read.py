"""What a vector of numbers on its way from a device belongs to, and what it says when it has arrived."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch.optim import Optimizer

from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.trace.window import GRAD_L2, LOSS, PARAM_L2, SCALE


class ReadNumbers(NamedTuple):
    """The numbers of one step, on the host."""

    grad_l2: float
    losses: list[float]
    bad: bool
    """A gradient or a loss is not finite."""
    param_l2: float
    """After the update; 0 where nobody measured it."""
    scale: float | None = None
    """Of the scaler that judges the gradients itself."""

    def after_clip(self, weights_bad: bool) -> ReadNumbers:
        """Return them as they are judged where the norm of the loop's own clipping was infinite: a gradient that was so
        itself is NaN after it and makes weights bad, one whose norm has overflowed became 0."""
        return self._replace(bad=weights_bad or not all(map(math.isfinite, self.losses)))

    def series(self) -> dict[str, float]:
        """Return what is published, by the names of the run folder."""
        values = {GRAD_L2: self.grad_l2}
        if self.losses:
            values[LOSS] = self.losses[-1]
        if self.scale is not None:
            values[SCALE] = self.scale
        if self.param_l2:
            values[PARAM_L2] = self.param_l2
        return values


@dataclass
class PendingRead:
    """One step whose numbers were sent."""

    optimizer: Optimizer
    segment: Segment
    step: int
    gated: bool
    """The device skipped the update if it was bad, so the weights are still those of the step."""
    gradients: int = 0
    """How many norms of gradients come first in the vector; 0 where the device has judged them: then their L2, another
    number and a flag."""
    losses: int = 0
    largest: int = 0
    """How many largest magnitudes of gradients follow their norms: what is bad is told by them alone, exactly."""
    clipped: bool = False
    """The one norm is that of the loop's own clipping."""
    scaler: Any = None
    """Who judges the gradients; its scale comes after the losses."""
    numbers: dict[str, float] = field(default_factory=dict)
    """What is published with them."""

    def read(self, values: Sequence[float]) -> ReadNumbers:
        """Take the vector apart."""
        first = self.gradients + self.largest or 3  # numbers of the gradients
        losses, rest = list(values[first : first + self.losses]), list(values[first + self.losses :])
        scale = rest.pop(0) if self.scaler is not None else None
        grad_l2 = math.hypot(*values[: self.gradients]) if self.gradients else values[0]
        told = values[self.gradients : first] if self.largest else [grad_l2]
        bad = bool(values[2]) if not self.gradients else scale is None and not all(map(math.isfinite, told))
        return ReadNumbers(grad_l2, losses, bad or not all(map(math.isfinite, losses)), math.hypot(*rest), scale)
