"""Is the logged loss the loss?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LossScaleLeak(Check, frozen=True):
    """The logged loss is the true loss times the loss scale.

    What it catches
        `loss = scaler.scale(loss)` and a log of that name after it.
    Why it matters
        The curve shows the scale: it jumps by two whenever the scaler does, and no run can be compared with another.
    How it decides
        A GradScaler is in use, and `logs` values in a row are the loss of the last backward (before scaling) times a
        power of two of at least `factor`, to 5 digits.
    What to do
        Log the loss before it is scaled.
    Example
        step 7, rank 0: train/loss (train.py:31) is 65536 times the loss that was computed, 8 times in a row; expected
        the loss itself. Log it before scaler.scale.
    """

    needs: ClassVar[tuple[type[Logged]]] = (Logged,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "log_loss_scale_leak"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "log the loss before scaler.scale: scaled = scaler.scale(loss); log(loss.item())",
    )
    family: ClassVar[str] = "scale"
    proved_by: ClassVar[str] = "logging/curve_of_sixteen_bits"

    logs: int = 4  # values in a row (ours)
    factor: float = 4.0  # smallest power of two, dimensionless; 2 could be a sum of two equal losses (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per logged name."""
        for fact in window.new(Logged):
            ratio = as_float(fact.ratio) if fact.ratio is not None else 0.0
            memory = window.memory(self)
            leaks = (
                fact.scaler
                and ratio >= self.factor * (1 - 1e-5)
                and abs(math.log2(ratio) - round(math.log2(ratio))) < 1e-5
            )
            memory[fact.name] = memory.get(fact.name, 0) + 1 if leaks else 0
            if memory[fact.name] == self.logs:
                yield self.finding(
                    window,
                    "warning",
                    f"{fact.name}{spot(fact.frame)} is {ratio:.0f} times the loss that was computed, {self.logs} times "
                    "in a row; expected the loss itself. "
                    "Log it before scaler.scale.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    ratio=ratio,
                )
