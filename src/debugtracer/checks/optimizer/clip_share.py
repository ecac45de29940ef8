"""Does the clipping limit fit the gradients?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import CLIP_RATIO, Window


@dataclass(frozen=True)
class ClipShare(Check):
    """Nearly every update is clipped, far below its norm.

    What it catches
        A max_norm that is a small fraction of the usual gradient norm.
    Why it matters
        Every update then has the same length: the learning rate alone decides, and a rare huge gradient is treated like
        any other. Many large models are trained so on purpose, therefore this is a note.
    How it decides
        More than 95 % of the last 500 updates were clipped and the median norm was above 10 times the limit.
    What to do
        Set the limit near the 90th percentile of the norm, or lower the learning rate knowingly.
    Example
        step 500, rank 0: 500 of the last 500 updates were clipped, the median norm is 42 times the limit; expected a
        limit near the 90th percentile of the norm. Raise max_norm if that is not meant.
    """

    needs: ClassVar[tuple[str, ...]] = (CLIP_RATIO,)
    remedies: ClassVar[tuple[str, ...]] = ("set max_norm near the 90th percentile of the gradient norm",)
    family: ClassVar[str] = "gradient"
    proved_by: ClassVar[str] = "optimizer/noise_removal"

    share: float = 0.95  # of the updates (ours)
    updates: int = 500  # looked at (ours: language models clip a lot early on)
    times: float = 10.0  # median norm / limit (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield at most one finding per run."""
        ratios = list(window.series.get(CLIP_RATIO, ()))[-self.updates :]
        memory = window.memory(self)
        if len(ratios) < self.updates or memory.get("told"):
            return
        clipped, median = sum(r > 1 for r in ratios), sorted(ratios)[len(ratios) // 2]
        if clipped > self.share * len(ratios) and median > self.times:
            memory["told"] = True
            yield self.finding(
                window,
                "note",
                f"{clipped} of the last {len(ratios)} updates were clipped, the median norm is {median:.3g} times the "
                "limit; expected a limit near the 90th "
                "percentile of the norm. Raise max_norm if that is not meant.",
                clipped=clipped,
                median=median,
            )
