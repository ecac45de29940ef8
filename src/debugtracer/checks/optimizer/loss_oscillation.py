"""Does the loss swing to and fro, wider and wider?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.lines import lines
from debugtracer.spikes.monitor import monitor
from debugtracer.spikes.residual import WIDTH
from debugtracer.spikes.swing import EVERY
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import LOSS, LR, Window


class LossOscillation(Check, frozen=True):
    """The loss alternates around its trend with a growing swing.

    What it catches
        A learning rate at the edge of stability: each update overshoots and the next one comes back.
    Why it matters
        Most of each step is undone by the next; a little more and the run diverges.
    How it decides
        Over 64 losses around their line: the residual changes its sign at more than 65 % of the steps or has an
        autocorrelation below -0.3 at lag 1, its median size has doubled since the 64 losses before, is more than 0.5 %
        of the level, and none lies beyond 6 of them; twice in a row, 16 steps apart.
        A warning only if the level does not fall any more: gradient descent that learns at the edge of stability is
        healthy. Losses that always took turns (two tasks, two optimizers) do not get wider and stay silent.
        Silent where the target moves (see loss-divergence) unless the gradient norm exploded.
    What to do
        Halve the learning rate, use a larger batch, or lower the momentum.
    Example
        step 351, rank 0: the loss swings around 0.412 by 0.09, 4.1 times as wide as 64 steps before, its sign changes
        at 95 % of the steps; expected below 65 %. Halve the learning rate.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, LR, StepOrder, TurnsTaken, Wiring)
    least_values: ClassVar[int] = 2 * WIDTH + EVERY  # the second of two looks, each against one width before
    kind: ClassVar[str | None] = "lr_too_high"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.55
    family: ClassVar[str] = "loss"
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high",)
    remedies: ClassVar[tuple[str, ...]] = ("halve the learning rate", "use a larger batch or a lower momentum")
    proved_by: ClassVar[str] = "optimizer/endless_warmup"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding when the second measurement in a row agrees."""
        seen = monitor(window)
        swing = seen.swing
        if swing is None or seen.excused:
            return
        falling = swing.level < swing.level_before
        yield self.finding(
            window,
            "note" if falling else "warning",
            f"the loss swings around {swing.level:.4g} by {swing.mad:.2g}, "
            f"{swing.mad / swing.before if swing.before else float('inf'):.3g} times as wide as {WIDTH} steps before, "
            f"its sign changes at {swing.flips:.0%} of the steps; expected below 65 %. "
            f"{'Nothing while it falls.' if falling else 'Halve the learning rate.'}",
            place=lines(window),
            flips=swing.flips,
            lag1=swing.lag1,
            mad=swing.mad,
            before=swing.before,
            level=swing.level,
        )
