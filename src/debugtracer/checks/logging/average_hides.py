"""Does the logged loss show the spikes?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.logged import Logged
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class AverageHides(Check, frozen=True):
    """The logged loss is a mean that hides a spike.

    What it catches
        A running mean over an epoch or over 100 steps.
    Why it matters
        A spike of one step in 100 is 100 times smaller in the log.
    How it decides
        Between two logged values of a name with `loss` in it, the largest loss is more than `factor` times the logged
        value and the median of the losses is within half and twice of it. Always a note.
    What to do
        Log the largest loss beside the mean.
    Example
        step 99, rank 0: train/loss (train.py:40) says 0.52 while one loss since the last log was 41.3; expected it to
        be seen. Log the largest loss beside the mean.
    """

    needs: ClassVar[tuple[type[Logged] | str, ...]] = (Logged, LOSS)
    remedies: ClassVar[tuple[str, ...]] = ("log the largest loss since the last log beside the mean",)
    proved_by: ClassVar[str] = "logging/hourly_mean"

    factor: float = 10.0  # spike over logged value, dimensionless (ours)
    steps: int = 8  # fewest losses between two logs (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding at a log whose value hides a large loss."""
        memory = window.memory(self)
        now = window.now(LOSS)
        losses = memory.setdefault("losses", [])
        if now is not None:
            losses.append(now)
        for fact in window.new(Logged):
            value = as_float(fact.value)
            if fact.ratio is None:
                continue
            middle = sorted(losses)[len(losses) // 2] if losses else 0.0
            top = max(losses, default=0.0)
            if (
                len(losses) >= self.steps
                and 0 < value < 2 * middle
                and middle < 2 * value
                and top > self.factor * value
            ):
                yield self.finding(
                    window,
                    "note",
                    f"{fact.name}{spot(fact.frame)} says {value:.4g} while one loss since the last log was {top:.4g}; "
                    "expected it to be seen. "
                    "Log the largest loss beside the mean.",
                    ref=fact.ref,
                    place=Place(frame=fact.frame),
                    largest=top,
                )
            losses.clear()
        del losses[:-1024]
